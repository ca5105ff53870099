/* What is held before the upstream is asked. */
#include "common/price/price.h"

#include "common/base/money.h"
#include "common/price/expression.h"

enum { INPUT_LEAST = 500 };

static bool multiply(struct tg_rational *sum, const char *decimal)
{
    struct tg_rational *factor = tg_rational_new();
    bool ok = tg_rational_set_decimal(factor, decimal);

    if (ok)
        tg_rational_mul(sum, factor);
    tg_rational_free(factor);
    return ok;
}

static bool add_product(struct tg_rational *sum, int64_t tokens, const char *price)
{
    struct tg_rational *part = tg_rational_new();
    bool ok = tg_rational_set_decimal(part, price);

    if (ok) {
        tg_rational_mul_int(part, tokens);
        tg_rational_add(sum, part);
    }
    tg_rational_free(part);
    return ok;
}

static int64_t bounded(int64_t count, int64_t least)
{
    return TG_MIN(TG_MAX(count, least), TG_USAGE_TOKENS_MAX);
}

static int64_t input_tokens(const struct tg_deposit_facts *facts)
{
    return bounded(facts->input_tokens, INPUT_LEAST);
}

static int64_t calls(const struct tg_deposit_facts *facts)
{
    return bounded(facts->calls, 1);
}

/* Of all answers asked for. */
static int64_t output_tokens(const struct tg_price *price, const struct tg_deposit_facts *facts)
{
    int64_t tokens = facts->max_output_tokens;

    if (tokens <= 0 && price->max_output_tokens > 0)
        tokens = TG_MIN(facts->default_output, price->max_output_tokens);
    else if (tokens <= 0)
        tokens = facts->default_output;
    return bounded(bounded(tokens, 0) * calls(facts), 0);
}

/* In USD times one million. */
static bool by_tokens(const struct tg_price *price, const struct tg_deposit_facts *facts,
                      struct tg_rational *sum)
{
    int64_t input = input_tokens(facts);
    int tier;
    const struct tg_rates *rates = tg_price_rates(price, input, &tier);

    return add_product(sum, input, rates->input) &&
           add_product(sum, output_tokens(price, facts), rates->output) &&
           multiply(sum, facts->factor);
}

static bool by_expression(const struct tg_price *price, const struct tg_deposit_facts *facts,
                          struct tg_rational *sum)
{
    const struct tg_usage usage = {.semantics = TG_USAGE_INPUT_INCLUDES_CACHE,
                                   .source = TG_USAGE_COUNTED_LOCALLY,
                                   .input = input_tokens(facts),
                                   .output = output_tokens(price, facts)};
    const struct tg_expression_input input = {&usage, &price->rates};
    char tier[TG_EXPRESSION_TIER_TEXT];
    struct tg_expression *parsed;
    bool ok;

    if (tg_expression_parse(price->expression, &parsed, NULL) != TG_OK)
        return false;
    ok = tg_expression_value(parsed, &input, sum, tier, NULL) == TG_OK;
    tg_expression_free(parsed);
    if (ok && tg_rational_is_negative(sum))
        tg_rational_set_int(sum, 0);
    return ok && multiply(sum, facts->factor);
}

static bool by_calls(const struct tg_price *price, const struct tg_deposit_facts *facts,
                     struct tg_rational *sum)
{
    bool ok = add_product(sum, calls(facts), price->call);

    tg_rational_mul_int(sum, 1000000);
    return ok;
}

static bool sum_up(const struct tg_price *price, const struct tg_deposit_facts *facts,
                   struct tg_rational *sum)
{
    switch (price->form) {
    case TG_PRICE_TOKEN:
    case TG_PRICE_TIER:
        return by_tokens(price, facts, sum);
    case TG_PRICE_CALL:
        return by_calls(price, facts, sum);
    case TG_PRICE_EXPRESSION:
        return by_expression(price, facts, sum);
    case TG_PRICE_FORM__COUNT:
        break;
    }
    return false;
}

enum tg_class tg_deposit(const struct tg_price *price, const struct tg_deposit_facts *facts,
                         int64_t *ret_quota, struct tg_error *err)
{
    enum tg_class class = tg_price_check(price, err);
    struct tg_rational *sum;
    bool ok, cut = false;
    int64_t quota = 0;

    if (class != TG_OK)
        return class;
    sum = tg_rational_new();
    ok = sum_up(price, facts, sum) && multiply(sum, facts->group_ratio);
    if (ok) {
        tg_rational_mul_int(sum, TG_QUOTA_PER_USD);
        tg_rational_div_int(sum, 1000000);
        quota = tg_rational_round_up(sum, &cut);
    } else {
        class = tg_fail(err, TG_CLASS_INVALID, "price_ratio_invalid",
                        "price, group ratio or deposit factor cannot be used");
    }
    tg_rational_free(sum);
    if (cut)
        return tg_fail(err, TG_CLASS_FUNDS, "insufficient_quota",
                       "No balance is as large as what this request may cost.");
    if (class == TG_OK)
        *ret_quota = quota;
    return class;
}
