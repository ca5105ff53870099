/* Forms, copies and fingerprints of prices. */
#include "common/price/price.h"

#include "common/crypto/crypto.h"

#include <string.h>

static const char *const form_names[TG_PRICE_FORM__COUNT] = {[TG_PRICE_TOKEN] = "token",
                                                             [TG_PRICE_CALL] = "call",
                                                             [TG_PRICE_TIER] = "tier",
                                                             [TG_PRICE_EXPRESSION] = "expression"};

const char *tg_price_form_name(enum tg_price_form form)
{
    return form < TG_PRICE_FORM__COUNT ? form_names[form] : "unknown";
}

enum tg_price_form tg_price_form_of(const char *name)
{
    int form = 0;

    while (form < TG_PRICE_FORM__COUNT && strcmp(name, form_names[form]) != 0)
        form++;
    return (enum tg_price_form)form;
}

struct tg_price tg_price_copy(struct tg_arena *arena, const struct tg_price *price)
{
    struct tg_price copy = *price;

    if (price->expression != NULL)
        copy.expression = tg_arena_strdup(arena, price->expression);
    return copy;
}

const struct tg_rates *tg_price_rates(const struct tg_price *price, int64_t input_tokens,
                                      int *ret_tier)
{
    int reached = -1;

    for (size_t i = 0; i < price->tier_count && input_tokens > price->tiers[i].above; i++)
        reached = (int)i;
    *ret_tier = reached;
    return reached < 0 ? &price->rates : &price->tiers[reached].rates;
}

/* --- the fingerprint ----------------------------------------------------------------------- */

/* What is not set adds nothing, so a member of a newer version leaves old fingerprints alone. */
static void add_text(struct tg_buf *out, const char *name, const char *text)
{
    if (*text != '\0')
        tg_buf_printf(out, "%s=%s\n", name, text);
}

/* "02.50" and "2.5" are one price. */
static void add_decimal(struct tg_buf *out, const char *name, const char *text)
{
    size_t len = strlen(text);

    while (text[0] == '0' && text[1] >= '0' && text[1] <= '9') {
        text++;
        len--;
    }
    if (strchr(text, '.') != NULL) {
        while (text[len - 1] == '0')
            len--;
        len -= text[len - 1] == '.';
    }
    if (len > 0)
        tg_buf_printf(out, "%s=%.*s\n", name, (int)len, text);
}

static void add_rates(struct tg_buf *out, const struct tg_rates *rates)
{
    for (int i = 0; i < TG_RATE__COUNT; i++)
        add_decimal(out, tg_rate_name((enum tg_rate)i), tg_rate_text(rates, (enum tg_rate)i));
}

void tg_price_hash(struct tg_price *price)
{
    struct tg_buf text;

    tg_buf_init(&text, 0);
    tg_buf_printf(&text, "form=%s\nmax_output_tokens=%lld\n", tg_price_form_name(price->form),
                  (long long)price->max_output_tokens);
    add_rates(&text, &price->rates);
    for (size_t i = 0; i < price->tier_count; i++) {
        tg_buf_printf(&text, "above=%lld\n", (long long)price->tiers[i].above);
        add_rates(&text, &price->tiers[i].rates);
    }
    add_decimal(&text, "call", price->call);
    add_decimal(&text, "tool_call", price->tool_call);
    for (int i = 0; i < TG_TOOL__COUNT; i++)
        add_decimal(&text, tg_tool_name((enum tg_tool)i), price->tools[i]);
    if (price->expression != NULL)
        add_text(&text, "expression", price->expression);
    tg_sha256_hex(text.data, text.len, price->hash);
    tg_buf_done(&text);
}
