/* Tokens give the text back, and what is cut by hand is what the patterns cut. */
#include "tests/fuzz/fuzz.h"

#include "common/json/lex.h"
#include "common/regex/regex.h"
#include "fcgi-app/count/bpe.h"

#include <stdio.h>
#include <stdlib.h>

enum { FILE_MOST = 4 << 20, TOKENS_MOST = 1 << 16 };

/* Read once and kept: every input is tried against both. */
static struct encoder {
    const char *file;
    struct tg_vocabulary vocabulary;
    struct tg_regex *pattern;
    struct tg_bpe *bpe;
} encoders[] = {
    [TG_SPLIT_CL100K] = {.file = "cl100k_base.ranks"},
    [TG_SPLIT_O200K] = {.file = "o200k_base.ranks"},
};
static char files[TG_COUNT_OF(encoders)][FILE_MOST];

static void make(enum tg_split_rules rules)
{
    struct encoder *encoder = &encoders[rules];
    const char *source = getenv("TOLLGATE_SOURCE");
    struct tg_span file = {files[rules], 0};
    char path[512];
    FILE *in;

    snprintf(path, sizeof path, "%s/fcgi-app/count/%s", source == NULL ? "." : source,
             encoder->file);
    in = fopen(path, "rb");
    tg_assert(in != NULL);
    file.len = fread(files[rules], 1, FILE_MOST, in);
    fclose(in);
    tg_assert(tg_bpe_new(rules, file, &encoder->bpe, NULL) == TG_OK);
    tg_assert(tg_vocabulary_init(&encoder->vocabulary, file, NULL) == TG_OK);
    tg_assert(tg_regex_new(tg_split_pattern(rules), &encoder->pattern, NULL) == TG_OK);
}

/* The bytes of the tokens are the bytes of the text. */
static void spell(const struct encoder *encoder, const struct tg_tokens *tokens,
                  struct tg_span text)
{
    size_t at = 0;

    for (size_t i = 0; i < tokens->count; i++) {
        const unsigned char *token;

        tg_assert(tokens->ids[i] < encoder->vocabulary.count);
        token = encoder->vocabulary.bytes + encoder->vocabulary.at[tokens->ids[i]];
        tg_assert(token[-1] <= text.len - at && memcmp(text.ptr + at, token, token[-1]) == 0);
        at += token[-1];
    }
    tg_assert(at == text.len);
}

static void cut(enum tg_split_rules rules, struct tg_span text)
{
    struct tg_regex_run *run = tg_regex_run_new();
    size_t at = 0;

    while (at < text.len) {
        size_t by_hand = tg_split_ascii(rules, (const unsigned char *)text.ptr + at, text.len - at);
        size_t size = tg_regex_match_at(encoders[rules].pattern, run, text, at);

        tg_assert(size > 0 && (by_hand == 0 || by_hand == size));
        at += size;
    }
    tg_assert(at == text.len);
    tg_regex_run_free(run);
}

static bool is_utf8(struct tg_span text)
{
    size_t at = 0, size = 1;

    for (; at < text.len && size > 0; at += size)
        size = tg_utf8_len(text.ptr + at, text.len - at);
    return size > 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    static uint32_t ids[TOKENS_MOST];
    struct tg_span text = {(const char *)bytes, TG_MIN(len, TOKENS_MOST)};
    struct tg_vocabulary vocabulary;

    if (tg_vocabulary_init(&vocabulary, text, NULL) == TG_OK)
        tg_vocabulary_done(&vocabulary);
    for (int rules = 0; rules < (int)TG_COUNT_OF(encoders); rules++) {
        struct tg_tokens tokens = {ids, TOKENS_MOST, 0};

        if (encoders[rules].bpe == NULL)
            make((enum tg_split_rules)rules);
        if (tg_bpe_encode(encoders[rules].bpe, text, &tokens, NULL) != TG_OK) {
            tg_assert(tokens.count == 0 && !is_utf8(text));
            continue;
        }
        spell(&encoders[rules], &tokens, text);
        cut((enum tg_split_rules)rules, text);
    }
    return 0;
}
