/* count-tokens ENCODING RANKS   the token ids of strings, for tests/tokens and tests/bench
 *
 * Standard input: strings, each a length (32 bits, little end first) and its bytes. Standard
 * output: for each the number of its ids, and those; NONE for what is no valid UTF-8.
 * With --time SECONDS: the first string is encoded over and over; prints bytes per second.
 */
#include "common/base/clock.h"
#include "common/base/memory.h"
#include "fcgi-app/count/bpe.h"

#include <stdio.h>
#include <stdlib.h>

#define NONE UINT32_MAX

static char *read_file(const char *path, size_t *ret_len)
{
    FILE *file = fopen(path, "rb");
    size_t room = 1 << 16, len = 0, got;
    char *bytes = tg_malloc(room);

    if (file == NULL) {
        perror(path);
        exit(1);
    }
    while ((got = fread(bytes + len, 1, room - len, file)) > 0) {
        len += got;
        if (len == room)
            bytes = tg_realloc(bytes, room *= 2);
    }
    fclose(file);
    *ret_len = len;
    return bytes;
}

static bool read_string(char **bytes, uint32_t *len)
{
    if (fread(len, sizeof *len, 1, stdin) != 1)
        return false;
    *bytes = tg_malloc((size_t)*len + 1);
    if (fread(*bytes, 1, *len, stdin) != *len) {
        fputs("standard input was cut off\n", stderr);
        exit(1);
    }
    return true;
}

static void print_ids(const struct tg_bpe *bpe, struct tg_span text)
{
    struct tg_tokens tokens = {tg_malloc((text.len + 1) * sizeof(uint32_t)), text.len + 1, 0};
    struct tg_tokens counted = {NULL, 0, 0};
    uint32_t none = NONE, count;
    struct tg_error err;

    if (tg_bpe_encode(bpe, text, &tokens, &err) == TG_OK) {
        count = (uint32_t)tokens.count;
        tg_assert(tg_bpe_encode(bpe, text, &counted, &err) == TG_OK && counted.count == count);
        fwrite(&count, sizeof count, 1, stdout);
        fwrite(tokens.ids, sizeof(uint32_t), count, stdout);
    } else {
        tg_assert(err.class == TG_CLASS_INVALID && tokens.count == 0);
        fwrite(&none, sizeof none, 1, stdout);
    }
    free(tokens.ids);
}

static void print_speed(const struct tg_bpe *bpe, struct tg_span text, double seconds)
{
    struct tg_tokens tokens = {tg_malloc((text.len + 1) * sizeof(uint32_t)), text.len + 1, 0};
    int64_t begun_us = tg_now_us(), now_us = begun_us;
    double bytes = 0;

    while ((double)(now_us - begun_us) < seconds * 1e6) {
        tokens.count = 0;
        tg_assert(tg_bpe_encode(bpe, text, &tokens, NULL) == TG_OK);
        bytes += (double)text.len;
        now_us = tg_now_us();
    }
    printf("%.0f\n", bytes * 1e6 / (double)(now_us - begun_us));
    free(tokens.ids);
}

int main(int argc, char **argv)
{
    const bool timed = argc == 5 && strcmp(argv[3], "--time") == 0;
    enum tg_split_rules rules;
    struct tg_span file, text;
    struct tg_bpe *bpe;
    struct tg_error err;
    uint32_t len;
    char *bytes;

    if (argc != 3 && !timed) {
        fputs("usage: count-tokens ENCODING RANKS [--time SECONDS]\n", stderr);
        return 2;
    }
    rules = strcmp(argv[1], "cl100k_base") == 0 ? TG_SPLIT_CL100K : TG_SPLIT_O200K;
    file.ptr = read_file(argv[2], &file.len);
    if (tg_bpe_new(rules, file, &bpe, &err) != TG_OK) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    while (read_string(&bytes, &len)) {
        text = (struct tg_span){bytes, len};
        if (timed)
            print_speed(bpe, text, strtod(argv[4], NULL));
        else
            print_ids(bpe, text);
        free(bytes);
    }
    tg_bpe_free(bpe);
    free((char *)(uintptr_t)file.ptr);
    return 0;
}
