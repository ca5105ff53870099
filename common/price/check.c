/* Is this price row one that a bill can be made from? */
#include "common/price/price.h"

#include "common/price/expression.h"

#include <stdio.h>
#include <string.h>

/* What the column DECIMAL(20,10) keeps without rounding; a price above a million dollars per
 * million tokens is a slip of the pen. */
enum { FRACTION_MAX = 10, PRICE_MAX_USD = 1000000, NAME_TEXT = 64 };

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

static enum tg_class check_text(const char *text, bool needed, const char *prefix,
                                const char *name, struct tg_error *err)
{
    char whole[NAME_TEXT];
    bool missing = *text == '\0' && needed;

    if (!missing && (*text == '\0' || is_in_bounds(text)))
        return TG_OK;
    snprintf(whole, sizeof whole, "%s%s", prefix, name);
    if (missing)
        return refuse(err, "price_incomplete", whole, "is needed by this form");
    return refuse(err, "price_invalid", whole,
                  "is no decimal from 0 to 1000000 with at most 10 places");
}

/* <like> (NULL: nothing): what these rates must set besides input and output. */
static enum tg_class check_rates(const struct tg_rates *rates, bool needed, const char *prefix,
                                 const struct tg_rates *like, struct tg_error *err)
{
    enum tg_class class = TG_OK;

    for (int i = 0; i < TG_RATE__COUNT && class == TG_OK; i++) {
        enum tg_rate rate = (enum tg_rate)i;
        bool wanted = needed && (rate == TG_RATE_INPUT || rate == TG_RATE_OUTPUT ||
                                 (like != NULL && *tg_rate_text(like, rate) != '\0'));

        class = check_text(tg_rate_text(rates, rate), wanted, prefix, tg_rate_name(rate), err);
    }
    return class;
}

/* A kind that the row prices must have its price in every tier: what a tier leaves out would follow
 * the tier's input, ten times what the row's own cache_read costs. */
static enum tg_class check_tiers(const struct tg_price *price, struct tg_error *err)
{
    enum tg_class class = TG_OK;

    if (price->tier_count == 0 || price->tier_count > TG_PRICE_TIERS)
        return refuse(err, "price_incomplete", "tiers", "are needed by this form: 1 to 4");
    for (size_t i = 0; i < price->tier_count && class == TG_OK; i++) {
        int64_t below = i > 0 ? price->tiers[i - 1].above : 0;
        char prefix[40];

        snprintf(prefix, sizeof prefix, "tiers.%zu.", i);
        if (price->tiers[i].above <= below || price->tiers[i].above > TG_USAGE_TOKENS_MAX) {
            snprintf(prefix, sizeof prefix, "tiers.%zu.above", i);
            return refuse(err, "price_invalid", prefix,
                          "is no number of tokens above that of the tier before it");
        }
        class = check_rates(&price->tiers[i].rates, true, prefix, &price->rates, err);
    }
    return class;
}

static enum tg_class check_expression(const struct tg_price *price, bool try, struct tg_error *err)
{
    struct tg_expression *expression;
    enum tg_class class;

    if (price->expression == NULL || price->expression[0] == '\0')
        return refuse(err, "price_incomplete", "expression", "is needed by this form");
    class = tg_expression_parse(price->expression, &expression, err);
    if (class == TG_OK) {
        if (try)
            class = tg_expression_try(expression, &price->rates, err);
        tg_expression_free(expression);
    }
    if (class != TG_OK && err != NULL)
        snprintf(err->param, sizeof err->param, "expression");
    return class;
}

static enum tg_class check_tools(const struct tg_price *price, struct tg_error *err)
{
    enum tg_class class = check_text(price->tool_call, false, "", "tool_call", err);

    for (int i = 0; i < TG_TOOL__COUNT && class == TG_OK; i++)
        class = check_text(price->tools[i], false, "tools.", tg_tool_name((enum tg_tool)i), err);
    return class;
}

static enum tg_class check(const struct tg_price *price, bool try, struct tg_error *err)
{
    bool by_tokens = price->form == TG_PRICE_TOKEN || price->form == TG_PRICE_TIER;
    enum tg_class class;

    if (price->form >= TG_PRICE_FORM__COUNT)
        return tg_fail(err, TG_CLASS_INVALID, "price_form_unsupported",
                       "prices of this form are not supported");
    if (price->max_output_tokens < 0)
        return refuse(err, "price_invalid", "max_output_tokens", "is negative");
    if (price->context_tokens < 0)
        return refuse(err, "price_invalid", "context_tokens", "is negative");
    class = check_rates(&price->rates, by_tokens, "", NULL, err);
    if (class == TG_OK)
        class = check_text(price->call, price->form == TG_PRICE_CALL, "", "call", err);
    if (class == TG_OK)
        class = check_tools(price, err);
    if (class == TG_OK && price->form == TG_PRICE_TIER)
        class = check_tiers(price, err);
    if (class == TG_OK && price->form == TG_PRICE_EXPRESSION)
        class = check_expression(price, try, err);
    return class;
}

enum tg_class tg_price_check(const struct tg_price *price, struct tg_error *err)
{
    return check(price, false, err);
}

enum tg_class tg_price_check_to_save(const struct tg_price *price, struct tg_error *err)
{
    return check(price, true, err);
}
