/* count-prompts CL100K O200K   prompt tokens of bodies, for tests/tokens
 *
 * Standard input: three strings a body, each a length (32 bits, little end first) and its bytes:
 * the dialect, the model, the body. Standard output: a number a line.
 */
#include "common/base/buf.h"
#include "common/base/memory.h"
#include "fcgi-app/count/prompt.h"

#include <stdio.h>
#include <stdlib.h>

static const struct {
    const char *name;
    tg_prompt_fn *count;
} dialects[] = {
    {"chat", tg_prompt_chat},         {"responses", tg_prompt_responses},
    {"messages", tg_prompt_messages}, {"gemini", tg_prompt_gemini},
    {"embeddings", tg_prompt_embeddings},
};

static void read_file(const char *path, struct tg_buf *out)
{
    FILE *file = fopen(path, "rb");
    char bytes[65536];
    size_t got;

    tg_assert(file != NULL);
    while ((got = fread(bytes, 1, sizeof bytes, file)) > 0)
        tg_buf_add(out, bytes, got);
    fclose(file);
}

static bool read_string(struct tg_buf *string)
{
    uint32_t len;
    char *bytes;

    tg_buf_reset(string);
    if (fread(&len, sizeof len, 1, stdin) != 1)
        return false;
    bytes = tg_malloc((size_t)len + 1);
    tg_assert(fread(bytes, 1, len, stdin) == len);
    tg_buf_add(string, bytes, len);
    free(bytes);
    return true;
}

static void print_count(const struct tg_encoders *encoders, const struct tg_buf text[3])
{
    struct tg_json *body;

    tg_assert(tg_json_parse(tg_buf_text(&text[2]), text[2].len, &body, NULL) == TG_OK);
    for (size_t i = 0; i < TG_COUNT_OF(dialects); i++)
        if (strcmp(tg_buf_text(&text[0]), dialects[i].name) == 0)
            printf("%lld\n",
                   (long long)dialects[i].count(encoders, body, tg_buf_text(&text[1])));
    tg_json_free(body);
}

int main(int argc, char **argv)
{
    struct tg_buf files[2], texts[3];
    struct tg_encoders encoders;

    if (argc != 3) {
        fputs("usage: count-prompts CL100K O200K\n", stderr);
        return 2;
    }
    for (size_t i = 0; i < 2; i++) {
        tg_buf_init(&files[i], 0);
        read_file(argv[i + 1], &files[i]);
    }
    for (size_t i = 0; i < 3; i++)
        tg_buf_init(&texts[i], 0);
    tg_assert(tg_bpe_new(TG_SPLIT_CL100K, (struct tg_span){files[0].data, files[0].len},
                         &encoders.cl100k, NULL) == TG_OK);
    tg_assert(tg_bpe_new(TG_SPLIT_O200K, (struct tg_span){files[1].data, files[1].len},
                         &encoders.o200k, NULL) == TG_OK);
    while (read_string(&texts[0]) && read_string(&texts[1]) && read_string(&texts[2]))
        print_count(&encoders, texts);
    for (size_t i = 0; i < 3; i++)
        tg_buf_done(&texts[i]);
    tg_bpe_free(encoders.cl100k);
    tg_bpe_free(encoders.o200k);
    for (size_t i = 0; i < 2; i++)
        tg_buf_done(&files[i]);
    return 0;
}
