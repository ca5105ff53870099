/* Runs a driver over a corpus: each file, each of its beginnings, each byte changed; with
 * TOLLGATE_FUZZ_ROUNDS that many times several changes at once. They are the same in every run, so
 * a failure is found again. */
#include "tests/fuzz/fuzz.h"

#include "common/base/buf.h"
#include "common/base/memory.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_LIMIT_BYTES = 1 << 20, CHANGE_LIMIT_BYTES = 2048, FILES_PER_CORPUS = 10 };

static size_t run_count;

/* In a heap block of exactly its size, so that a read behind the end is seen. */
static void run(const char *data, size_t len)
{
    char *copy = tg_malloc(len);

    if (len > 0)
        memcpy(copy, data, len);
    LLVMFuzzerTestOneInput((const uint8_t *)copy, len);
    free(copy);
    run_count++;
}

static void run_changed(char *data, size_t len)
{
    static const char changes[] = "\"\\{}[],:0-eE./u\0\x7f\x80\xc3\xed\xff \n";

    for (size_t i = 0; i < len; i++) {
        char old = data[i];

        for (size_t j = 0; j < sizeof changes - 1; j++) {
            data[i] = changes[j];
            run(data, len);
        }
        data[i] = old;
    }
}

/* xorshift64: a fixed seed, no secret hangs on it. */
static uint64_t next_number(void)
{
    static uint64_t state = UINT64_C(0x9e3779b97f4a7c15);

    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static void run_changed_at_random(const char *data, size_t len, long rounds)
{
    char *copy = tg_malloc(len);

    for (long round = 0; round < rounds && len > 0; round++) {
        memcpy(copy, data, len);
        for (uint64_t changes = 1 + next_number() % 8; changes > 0; changes--) {
            size_t at = next_number() % len, from = next_number() % len;

            copy[at] = next_number() % 2 == 0 ? (char)next_number() : copy[from];
        }
        run(copy, 1 + next_number() % len);
    }
    free(copy);
}

static long rounds_wanted(void)
{
    const char *rounds = getenv("TOLLGATE_FUZZ_ROUNDS");

    return rounds != NULL ? strtol(rounds, NULL, 10) : 0;
}

static bool run_file(const char *path)
{
    FILE *file = fopen(path, "re");
    char block[4096];
    struct tg_buf buf;
    size_t len;

    if (file == NULL)
        return false;
    tg_buf_init(&buf, FILE_LIMIT_BYTES);
    while ((len = fread(block, 1, sizeof block, file)) > 0)
        tg_buf_add(&buf, block, len);
    fclose(file);
    run(buf.data, buf.len);
    if (buf.len <= CHANGE_LIMIT_BYTES) {
        for (size_t i = 0; i < buf.len; i++)
            run(buf.data, i);
        run_changed(buf.data, buf.len);
        run_changed_at_random(buf.data, buf.len, rounds_wanted() / FILES_PER_CORPUS);
    }
    tg_buf_done(&buf);
    return true;
}

static bool run_folder(const char *path)
{
    DIR *dir = opendir(path);
    struct dirent *entry;
    struct tg_buf file;
    bool ok = true;

    if (dir == NULL)
        return false;
    tg_buf_init(&file, 0);
    while ((entry = readdir(dir)) != NULL) {
        if (entry->d_name[0] == '.')
            continue;
        tg_buf_reset(&file);
        tg_buf_printf(&file, "%s/%s", path, entry->d_name);
        ok = run_file(file.data) && ok;
    }
    tg_buf_done(&file);
    closedir(dir);
    return ok;
}

/* Arguments: files or folders; without any the driver's own corpus. */
int main(int argc, char **argv)
{
    const char *source = getenv("TOLLGATE_SOURCE");
    struct tg_buf corpus;
    bool ok = true;

    tg_buf_init(&corpus, 0);
    tg_buf_printf(&corpus, "%s/tests/fuzz/corpus/%s", source != NULL ? source : "..", FUZZ_NAME);
    if (argc == 1)
        ok = run_folder(corpus.data);
    for (int i = 1; i < argc; i++)
        ok = (run_folder(argv[i]) || run_file(argv[i])) && ok;
    tg_buf_done(&corpus);
    printf("%s: %zu inputs\n", FUZZ_NAME, run_count);
    return ok && run_count > 0 ? 0 : 1;
}
