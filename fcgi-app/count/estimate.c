#include "fcgi-app/count/estimate.h"

#include "fcgi-app/count/letters.h"

#include <string.h>
#include <strings.h>

enum { REPLACEMENT = 0xfffd };

enum feature {
    WORD,
    NUMBER,
    CJK,
    SYMBOL,
    MATH,
    URL_DELIMITER,
    AT,
    EMOJI,
    NEWLINE,
    SPACE,
    FEATURES
};

/* Hundredths of a token. */
static const int weights[][FEATURES] = {
    [TG_ESTIMATE_OPENAI] = {102, 155, 85, 40, 268, 100, 200, 212, 50, 42},
    [TG_ESTIMATE_CLAUDE] = {113, 163, 121, 40, 452, 126, 282, 260, 89, 39},
    [TG_ESTIMATE_GEMINI] = {115, 280, 68, 38, 105, 120, 250, 108, 115, 20},
};

struct range {
    uint32_t first, last;
};

/* Han with its radicals and extensions, kana, Hangul syllables. */
static const struct range cjk[] = {
    {0x2e80, 0x2e99},   {0x2e9b, 0x2ef3},   {0x2f00, 0x2fd5},   {0x3005, 0x3005},
    {0x3007, 0x3007},   {0x3021, 0x3029},   {0x3038, 0x303b},   {0x3040, 0x30ff},
    {0x3400, 0x4dbf},   {0x4e00, 0x9fff},   {0xac00, 0xd7a3},   {0xf900, 0xfa6d},
    {0xfa70, 0xfad9},   {0x16fe2, 0x16fe3}, {0x16ff0, 0x16ff1}, {0x20000, 0x2fa1f},
    {0x30000, 0x323af},
};
static const struct range emoji[] = {{0x2600, 0x27bf}, {0x1f300, 0x1f9ff}, {0x1fa00, 0x1faff}};
/* The blocks, and the signs outside them: ¬ ° ± × ÷, primes, super- and subscript operators. */
static const struct range math[] = {
    {0xac, 0xac},     {0xb0, 0xb1},     {0xd7, 0xd7},     {0xf7, 0xf7},       {0x2032, 0x2034},
    {0x207a, 0x207e}, {0x208a, 0x208e}, {0x2200, 0x22ff}, {0x2a00, 0x2aff},   {0x1d400, 0x1d7ff},
};
static const struct range blanks[] = {
    {0x85, 0x85},     {0xa0, 0xa0},     {0x1680, 0x1680}, {0x2000, 0x200a},
    {0x2028, 0x2029}, {0x202f, 0x202f}, {0x205f, 0x205f}, {0x3000, 0x3000},
};

static bool is_in(uint32_t code, const struct range *ranges, size_t count)
{
    for (size_t i = 0; i < count && code >= ranges[i].first; i++)
        if (code <= ranges[i].last)
            return true;
    return false;
}

#define IS_IN(code, ranges) is_in(code, ranges, TG_COUNT_OF(ranges))

static enum tg_letter letter_of(uint32_t code)
{
    if (code >= 0x80)
        return tg_letter_of(code);
    if (code >= '0' && code <= '9')
        return TG_LETTER_NUMBER;
    return (code | 0x20) >= 'a' && (code | 0x20) <= 'z' ? TG_LETTER_WORD : TG_LETTER_NONE;
}

static enum feature ascii_feature(uint32_t code)
{
    if (code == '\n' || code == '\t')
        return NEWLINE;
    if (code == ' ' || (code >= '\v' && code <= '\r'))
        return SPACE;
    if (code == '@')
        return AT;
    return code != '\0' && strchr("/:?&=;#%", (int)code) != NULL ? URL_DELIMITER : SYMBOL;
}

/* What <code> is when it is neither letter nor number of a run. */
static enum feature feature_of(uint32_t code)
{
    if (code < 0x80)
        return ascii_feature(code);
    if (IS_IN(code, blanks))
        return SPACE;
    return IS_IN(code, math) ? MATH : SYMBOL;
}

static void take(struct tg_estimate *estimate, uint32_t code)
{
    const int *weight = weights[estimate->table];
    enum tg_letter letter = TG_LETTER_NONE;

    if (code >= 0x80 && IS_IN(code, cjk))
        estimate->hundredths += weight[CJK];
    else if (code >= 0x80 && IS_IN(code, emoji))
        estimate->hundredths += weight[EMOJI];
    else if ((letter = letter_of(code)) == TG_LETTER_NONE)
        estimate->hundredths += weight[feature_of(code)];
    else if ((int)letter != estimate->run) /* one weight per run */
        estimate->hundredths += weight[letter == TG_LETTER_NUMBER ? NUMBER : WORD];
    estimate->run = (int)letter;
}

/* A byte that begins a sequence, or stands alone. */
static void lead(struct tg_estimate *estimate, unsigned char byte)
{
    if (byte < 0x80) {
        take(estimate, byte);
    } else if (byte >= 0xc2 && byte <= 0xf4) {
        estimate->need = 1 + (byte >= 0xe0) + (byte >= 0xf0);
        estimate->code = byte & (0x3fu >> estimate->need);
        estimate->least = estimate->need == 3 ? 0x10000 : estimate->need == 2 ? 0x800 : 0x80;
    } else {
        take(estimate, REPLACEMENT);
    }
}

void tg_estimate_init(struct tg_estimate *estimate, enum tg_estimate_table table)
{
    *estimate = (struct tg_estimate){.table = table};
}

/* One more letter of a word changes nothing, and most bytes are that. */
static bool goes_on(const struct tg_estimate *estimate, unsigned char byte)
{
    unsigned char lower = byte | 0x20;

    return estimate->run == TG_LETTER_WORD && lower >= 'a' && lower <= 'z' && estimate->need == 0;
}

void tg_estimate_add(struct tg_estimate *estimate, const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        unsigned char byte = (unsigned char)text[i];

        if (goes_on(estimate, byte))
            continue;
        if (estimate->need > 0 && (byte & 0xc0) == 0x80) {
            estimate->code = estimate->code << 6 | (byte & 0x3fu);
            if (--estimate->need == 0)
                take(estimate, estimate->code >= estimate->least ? estimate->code : REPLACEMENT);
            continue;
        }
        if (estimate->need > 0) { /* the sequence ended too early */
            estimate->need = 0;
            take(estimate, REPLACEMENT);
        }
        lead(estimate, byte);
    }
}

int64_t tg_estimate_total(const struct tg_estimate *estimate)
{
    struct tg_estimate end = *estimate;

    if (end.need > 0)
        take(&end, REPLACEMENT);
    return (end.hundredths + 99) / 100;
}

int64_t tg_estimate_text(enum tg_estimate_table table, const char *text, size_t len)
{
    struct tg_estimate estimate;

    tg_estimate_init(&estimate, table);
    tg_estimate_add(&estimate, text, len);
    return tg_estimate_total(&estimate);
}

enum tg_estimate_table tg_estimate_table_of(const char *model)
{
    if (strcasestr(model, "gemini") != NULL)
        return TG_ESTIMATE_GEMINI;
    if (strcasestr(model, "claude") != NULL)
        return TG_ESTIMATE_CLAUDE;
    return TG_ESTIMATE_OPENAI;
}
