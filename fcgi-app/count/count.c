#include "fcgi-app/count/count.h"

#include <string.h>

enum { ENOUGH = 4096, TOO_MUCH = 65536, EXACT_MOST = 4 << 20 };

/* The tokens of one text by its encoding, or estimated when it has none or is no UTF-8. */
static int64_t tokens_of(const struct tg_bpe *bpe, enum tg_estimate_table table, const char *text,
                     size_t len)
{
    struct tg_tokens tokens = {NULL, 0, 0};

    if (bpe == NULL || len > EXACT_MOST ||
        tg_bpe_encode(bpe, (struct tg_span){text, len}, &tokens, NULL) != TG_OK)
        return tg_estimate_text(table, text, len);
    return (int64_t)tokens.count;
}

static bool is_alphanumeric(unsigned char c)
{
    return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
}

/* U+4E00 to U+9FFF in front of <at>: ideographs all. */
static bool is_ideograph_before(const unsigned char *text, size_t at)
{
    if (at < 3)
        return false;
    if (text[at - 3] == 0xe4)
        return text[at - 2] >= 0xb8;
    return text[at - 3] >= 0xe5 && text[at - 3] <= 0xe9;
}

/* Blanks and signs but the apostrophe, which may belong to the word; of others ，、。 */
static bool ends_words(const unsigned char *text, size_t left)
{
    if (text[0] < 0x80)
        return !is_alphanumeric(text[0]) && text[0] != '\'';
    return left >= 3 && (memcmp(text, "\xef\xbc\x8c", 3) == 0 ||
                         memcmp(text, "\xe3\x80\x81", 3) == 0 ||
                         memcmp(text, "\xe3\x80\x82", 3) == 0);
}

/* The last place where a word or number ends for every pattern and whatever follows; 0: none. */
static size_t last_cut(const char *text, size_t len)
{
    const unsigned char *bytes = (const unsigned char *)text;

    for (size_t at = len; at-- > 1;)
        if (ends_words(bytes + at, len - at) &&
            (is_alphanumeric(bytes[at - 1]) || is_ideograph_before(bytes, at)))
            return at;
    return 0;
}

/* The end of the last whole UTF-8 sequence, more or less. */
static size_t forced_cut(const char *text, size_t len)
{
    size_t at = len;

    while (at > len - 3 && ((unsigned char)text[at - 1] & 0xc0) == 0x80)
        at--;
    return (unsigned char)text[at - 1] >= 0xc0 ? at - 1 : len;
}

static void take_what_is_complete(struct tg_count *count)
{
    struct tg_buf *waiting = &count->waiting;
    size_t cut = last_cut(waiting->data, waiting->len);

    count->enough = ENOUGH;
    if (cut == 0 && waiting->len < TOO_MUCH) {
        count->enough = TG_MIN(waiting->len * 2, (size_t)TOO_MUCH); /* it is not looked for often */
        return;
    }
    if (cut == 0)
        cut = forced_cut(waiting->data, waiting->len);
    count->counted += tokens_of(count->bpe, count->table, waiting->data, cut);
    tg_buf_drop(waiting, cut);
    tg_estimate_init(&count->rough, count->table);
    tg_estimate_add(&count->rough, tg_buf_text(waiting), waiting->len);
}

void tg_count_init(struct tg_count *count, const struct tg_encoders *encoders,
                     const char *model)
{
    memset(count, 0, sizeof *count);
    count->bpe = tg_encoders_for(encoders, model);
    count->table = tg_estimate_table_of(model);
    tg_estimate_init(&count->rough, count->table);
    tg_buf_init(&count->waiting, 0);
    count->enough = ENOUGH;
}

void tg_count_done(struct tg_count *count)
{
    tg_buf_done(&count->waiting);
}

void tg_count_add(struct tg_count *count, const char *text, size_t len)
{
    if (len == 0)
        return;
    tg_estimate_add(&count->rough, text, len);
    if (count->bpe == NULL)
        return;
    tg_buf_add(&count->waiting, text, len);
    if (count->waiting.len >= count->enough)
        take_what_is_complete(count);
}

int64_t tg_count_so_far(const struct tg_count *count)
{
    return count->counted + tg_estimate_total(&count->rough);
}

int64_t tg_count_total(const struct tg_count *count)
{
    if (count->bpe == NULL)
        return tg_estimate_total(&count->rough);
    return count->counted + tokens_of(count->bpe, count->table, tg_buf_text(&count->waiting),
                                    count->waiting.len);
}

int64_t tg_count_text(const struct tg_encoders *encoders, const char *model, const char *text,
                      size_t len)
{
    return tokens_of(tg_encoders_for(encoders, model), tg_estimate_table_of(model), text, len);
}
