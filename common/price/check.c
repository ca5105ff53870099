/* Is this price row one that a bill can be made from? And its fingerprint. */
#include "common/price/price.h"

#include "common/crypto/crypto.h"

#include <stdio.h>
#include <string.h>

/* What the column DECIMAL(20,10) keeps without rounding; a price above a million dollars per
 * million tokens is a slip of the pen. */
enum { FRACTION_MAX = 10, PRICE_MAX_USD = 1000000 };

/* One row per price text: its name in messages and hashes, and which form cannot do without. */
static const struct {
    const char *name;
    size_t at;
    bool tokens_need, calls_need;
} fields[] = {
    {"input", offsetof(struct tg_price, input), true, false},
    {"output", offsetof(struct tg_price, output), true, false},
    {"cache_read", offsetof(struct tg_price, cache_read), false, false},
    {"cache_write_5m", offsetof(struct tg_price, cache_write_5m), false, false},
    {"cache_write_1h", offsetof(struct tg_price, cache_write_1h), false, false},
    {"image", offsetof(struct tg_price, image), false, false},
    {"audio_in", offsetof(struct tg_price, audio_in), false, false},
    {"audio_out", offsetof(struct tg_price, audio_out), false, false},
    {"tool_call", offsetof(struct tg_price, tool_call), false, false},
    {"call", offsetof(struct tg_price, call), false, true},
};

/* Digits, and a point with at most FRACTION_MAX more; read without rationals, because every deposit
 * and every bill asks. */
static bool is_in_bounds(const char *text)
{
    size_t len = strnlen(text, TG_DECIMAL_TEXT), whole = strspn(text, "0123456789");
    int64_t dollars = 0;

    if (len == TG_DECIMAL_TEXT || whole == 0)
        return false;
    for (size_t i = 0; i < whole && dollars <= PRICE_MAX_USD; i++)
        dollars = dollars * 10 + (text[i] - '0');
    if (text[whole] == '.') {
        const char *fraction = text + whole + 1;
        size_t places = strspn(fraction, "0123456789");

        return places > 0 && places <= FRACTION_MAX && fraction[places] == '\0' &&
               (dollars < PRICE_MAX_USD ||
                (dollars == PRICE_MAX_USD && strspn(fraction, "0") == places));
    }
    return text[whole] == '\0' && dollars <= PRICE_MAX_USD;
}

static enum tg_class refuse(struct tg_error *err, const char *code, const char *name,
                            const char *problem)
{
    enum tg_class class = tg_fail(err, TG_CLASS_INVALID, code, "price %s %s", name, problem);

    if (err != NULL)
        snprintf(err->param, sizeof(err->param), "%s", name);
    return class;
}

enum tg_class tg_price_check(const struct tg_price *price, struct tg_error *err)
{
    if (price->form != TG_PRICE_TOKEN && price->form != TG_PRICE_CALL)
        return tg_fail(err, TG_CLASS_INVALID, "price_form_unsupported",
                       "prices by tier or expression are not supported");
    if (price->max_output_tokens < 0)
        return refuse(err, "price_invalid", "max_output_tokens", "is negative");
    for (size_t i = 0; i < TG_COUNT_OF(fields); i++) {
        const char *text = (const char *)price + fields[i].at;
        bool needed = price->form == TG_PRICE_TOKEN ? fields[i].tokens_need : fields[i].calls_need;

        if (*text == '\0' && needed)
            return refuse(err, "price_incomplete", fields[i].name, "is needed by this form");
        if (*text != '\0' && !is_in_bounds(text))
            return refuse(err, "price_invalid", fields[i].name,
                          "is no decimal from 0 to 1000000 with at most 10 places");
    }
    return TG_OK;
}

void tg_price_hash(struct tg_price *price)
{
    char text[64 + TG_COUNT_OF(fields) * (16 + TG_DECIMAL_TEXT)];
    int len = snprintf(text, sizeof(text), "form=%d\nmax_output_tokens=%lld\n", (int)price->form,
                       (long long)price->max_output_tokens);

    for (size_t i = 0; i < TG_COUNT_OF(fields); i++)
        len += snprintf(text + len, sizeof(text) - (size_t)len, "%s=%.*s\n", fields[i].name,
                        TG_DECIMAL_TEXT - 1, (const char *)price + fields[i].at);
    tg_sha256_hex(text, (size_t)len, price->hash);
}
