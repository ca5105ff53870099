/* Runs a driver over the files of a folder: each as it is, cut at every byte, and with every byte
 * replaced in turn. Usage: DRIVER [FOLDER]; without one the folder is named like the program. */
#include "tests/fuzz/fuzz.h"

#include "common/base/buf.h"
#include "common/base/memory.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Copies of exact size, so that a sanitizer sees every read beyond the input. */
static void run(const char *bytes, size_t len)
{
    char *copy = tg_malloc(len > 0 ? len : 1);

    if (len > 0)
        memcpy(copy, bytes, len);
    LLVMFuzzerTestOneInput((const uint8_t *)copy, len);
    free(copy);
}

static void run_mutations(struct tg_buf *text)
{
    static const char others[] = {'\0', '\n', '\r', '"', '\\', '{', ']', ':', ' ', '\xff'};

    for (size_t at = 0; at < text->len; at++) {
        char kept = text->data[at];

        run(text->data, at);
        for (size_t i = 0; i < sizeof(others); i++) {
            text->data[at] = others[i];
            run(text->data, text->len);
        }
        text->data[at] = kept;
    }
    run(tg_buf_text(text), text->len);
}

static bool run_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    struct tg_buf text;
    char block[4096];
    size_t len;

    if (file == NULL)
        return false;
    tg_buf_init(&text, 1024 * 1024);
    while ((len = fread(block, 1, sizeof(block), file)) > 0)
        tg_buf_add(&text, block, len);
    fclose(file);
    run_mutations(&text);
    tg_buf_done(&text);
    return true;
}

static int run_folder(const char *path)
{
    DIR *folder = opendir(path);
    struct dirent *entry;
    char file[1024];
    int count = 0;

    while (folder != NULL && (entry = readdir(folder)) != NULL) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(file, sizeof(file), "%s/%s", path, entry->d_name);
        count += run_file(file);
    }
    if (folder != NULL)
        closedir(folder);
    return count;
}

int main(int argc, char **argv)
{
    const char *source = getenv("TOLLGATE_SOURCE"), *name = strrchr(argv[0], '/');
    char path[768];
    int count;

    name = name != NULL ? name + 1 : argv[0];
    snprintf(path, sizeof(path), "%s/tests/fuzz/corpus/%s", source != NULL ? source : ".",
             strncmp(name, "fuzz-", 5) == 0 ? name + 5 : name);
    count = run_folder(argc > 1 ? argv[1] : path);
    printf("%s: %d files\n", name, count);
    return count > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
