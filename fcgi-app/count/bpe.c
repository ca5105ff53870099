#include "fcgi-app/count/bpe.h"

#include "common/base/memory.h"
#include "common/json/lex.h"
#include "common/regex/regex.h"

#include <stdlib.h>

struct tg_bpe {
    enum tg_split_rules rules;
    struct tg_vocabulary vocabulary;
    struct tg_regex *pattern;
};

enum tg_class tg_bpe_new(enum tg_split_rules rules, struct tg_span file, struct tg_bpe **ret,
                         struct tg_error *err)
{
    struct tg_bpe *bpe = tg_calloc(1, sizeof *bpe);
    enum tg_class class = tg_vocabulary_init(&bpe->vocabulary, file, err);

    bpe->rules = rules;
    if (class == TG_OK)
        class = tg_regex_new(tg_split_pattern(rules), &bpe->pattern, err);
    if (class != TG_OK) {
        tg_bpe_free(bpe);
        return class;
    }
    *ret = bpe;
    return TG_OK;
}

void tg_bpe_free(struct tg_bpe *bpe)
{
    if (bpe == NULL)
        return;
    tg_regex_free(bpe->pattern);
    tg_vocabulary_done(&bpe->vocabulary);
    free(bpe);
}

static bool is_utf8(struct tg_span text)
{
    const uint64_t beyond_ascii = UINT64_C(0x8080808080808080);
    size_t at = 0;

    while (at < text.len) {
        size_t size = 1;
        uint64_t word;

        if (text.len - at >= sizeof word) {
            memcpy(&word, text.ptr + at, sizeof word);
            if ((word & beyond_ascii) == 0) {
                at += sizeof word;
                continue;
            }
        }
        if ((unsigned char)text.ptr[at] >= 0x80)
            size = tg_utf8_len(text.ptr + at, text.len - at);
        if (size == 0)
            return false;
        at += size;
    }
    return true;
}

enum tg_class tg_bpe_encode(const struct tg_bpe *bpe, struct tg_span text,
                            struct tg_tokens *tokens, struct tg_error *err)
{
    struct tg_regex_run *run = NULL;
    struct tg_tokens added = *tokens;
    enum tg_class class = TG_OK;
    size_t at = 0;

    if (!is_utf8(text))
        return tg_fail(err, TG_CLASS_INVALID, "utf8_invalid", "the text is not valid UTF-8");
    while (at < text.len) {
        struct tg_span piece = {text.ptr + at, 0};

        piece.len = tg_split_ascii(bpe->rules, (const unsigned char *)piece.ptr, text.len - at);
        if (piece.len == 0) {
            run = run == NULL ? tg_regex_run_new() : run;
            piece.len = tg_regex_match_at(bpe->pattern, run, text, at);
        }
        if (piece.len == 0) {
            class = tg_fail(err, TG_CLASS_INTERNAL, "count_failed", "the text cannot be split");
            break;
        }
        tg_merge(&bpe->vocabulary, piece, &added);
        at += piece.len;
    }
    tg_regex_run_free(run);
    if (class == TG_OK)
        *tokens = added;
    return class;
}
