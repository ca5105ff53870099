/* What is held before the upstream is asked. */
#include "common/price/price.h"

#include "common/base/money.h"
#include "common/price/rational.h"

enum { INPUT_LEAST = 500 };

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

static bool multiply(struct tg_rational *sum, const char *decimal)
{
    struct tg_rational *factor = tg_rational_new();
    bool ok = tg_rational_set_decimal(factor, decimal);

    if (ok)
        tg_rational_mul(sum, factor);
    tg_rational_free(factor);
    return ok;
}

static int64_t output_tokens(const struct tg_price *price, const struct tg_deposit_facts *facts)
{
    if (facts->max_output_tokens > 0)
        return facts->max_output_tokens;
    if (price->max_output_tokens > 0)
        return TG_MIN(facts->default_output, price->max_output_tokens);
    return facts->default_output;
}

static int64_t bounded(int64_t count, int64_t least)
{
    return TG_MIN(TG_MAX(count, least), TG_USAGE_TOKENS_MAX);
}

/* In quota: a price is USD per 1M tokens, and half a quota is a millionth of a dollar. */
static bool by_tokens(const struct tg_price *price, const struct tg_deposit_facts *facts,
                      struct tg_rational *sum)
{
    bool ok = add_product(sum, bounded(facts->input_tokens, INPUT_LEAST), price->input) &&
              add_product(sum, bounded(output_tokens(price, facts), 0), price->output);

    tg_rational_mul_int(sum, TG_QUOTA_PER_USD);
    tg_rational_div_int(sum, 1000000);
    return ok && multiply(sum, facts->factor);
}

static bool by_calls(const struct tg_price *price, const struct tg_deposit_facts *facts,
                     struct tg_rational *sum)
{
    bool ok = add_product(sum, bounded(facts->calls, 1), price->call);

    tg_rational_mul_int(sum, TG_QUOTA_PER_USD);
    return ok;
}

enum tg_class tg_deposit(const struct tg_price *price, const struct tg_deposit_facts *facts,
                         int64_t *ret_quota, struct tg_error *err)
{
    enum tg_class class = tg_price_check(price, err);
    struct tg_rational *sum;
    bool ok;

    if (class != TG_OK)
        return class;
    sum = tg_rational_new();
    ok = (price->form == TG_PRICE_CALL ? by_calls : by_tokens)(price, facts, sum) &&
         multiply(sum, facts->group_ratio);
    if (ok)
        *ret_quota = tg_rational_round_up(sum, NULL);
    else
        class = tg_fail(err, TG_CLASS_INVALID, "price_ratio_invalid",
                        "group ratio or deposit factor is no decimal");
    tg_rational_free(sum);
    return class;
}
