/* What a finished request costs, exactly, and the sum line by line. */
#include "common/price/price.h"

#include "common/base/money.h"
#include "common/json/writer.h"
#include "common/price/expression.h"

#include <stdio.h>

struct sum {
    struct tg_rational *total, *price, *part;
    struct tg_json_writer *steps; /* NULL: not wanted */
    char tier[TG_EXPRESSION_TIER_TEXT];
    bool clamped;
};

static void put_rational(struct tg_json_writer *out, const char *key,
                         const struct tg_rational *value)
{
    struct tg_buf text;

    tg_buf_init(&text, 0);
    tg_rational_write(value, &text);
    tg_json_put_str(out, key, tg_buf_text(&text));
    tg_buf_done(&text);
}

/* <count> at sum->price, which is USD each or per 1M tokens. */
static void add_line(struct sum *sum, const char *what, int64_t count, bool per_call)
{
    tg_rational_set(sum->part, sum->price);
    tg_rational_mul_int(sum->part, count);
    tg_rational_mul_int(sum->part, TG_QUOTA_PER_USD);
    if (!per_call)
        tg_rational_div_int(sum->part, 1000000);
    tg_rational_add(sum->total, sum->part);
    if (sum->steps == NULL)
        return;
    tg_json_begin_object(sum->steps);
    tg_json_put_str(sum->steps, "what", what);
    tg_json_put_int(sum->steps, per_call ? "calls" : "tokens", count);
    put_rational(sum->steps, "price", sum->price);
    put_rational(sum->steps, "quota", sum->part);
    tg_json_end_object(sum->steps);
}

static bool add_rates(struct sum *sum, const struct tg_rates *rates, const struct tg_usage *usage)
{
    for (int i = 0; i < TG_RATE__COUNT; i++) {
        enum tg_rate rate = (enum tg_rate)i;
        int64_t tokens = tg_rate_tokens(usage, rate);

        if (tokens == 0)
            continue;
        if (!tg_rate_value(rates, rate, sum->price))
            return false;
        add_line(sum, tg_rate_name(rate), tokens, false);
    }
    return true;
}

static bool add_tier(struct sum *sum, const struct tg_price *price, const struct tg_usage *usage)
{
    int tier;
    const struct tg_rates *rates = tg_price_rates(price, tg_usage_input_total(usage), &tier);

    if (tier >= 0)
        snprintf(sum->tier, sizeof sum->tier, "above %lld", (long long)price->tiers[tier].above);
    return add_rates(sum, rates, usage);
}

static void put_value(void *context, const char *name, int64_t value)
{
    tg_json_put_int(context, name, value);
}

/* {"what":"expression","expression":"p * 2","values":{"p":10},"usd_per_million":"20","quota":…} */
static void show_expression(struct sum *sum, const struct tg_price *price,
                            const struct tg_expression *parsed,
                            const struct tg_expression_input *input)
{
    tg_json_begin_object(sum->steps);
    tg_json_put_str(sum->steps, "what", "expression");
    tg_json_put_str(sum->steps, "expression", price->expression);
    tg_json_key(sum->steps, "values");
    tg_json_begin_object(sum->steps);
    tg_expression_each(parsed, input, put_value, sum->steps);
    tg_json_end_object(sum->steps);
    put_rational(sum->steps, "usd_per_million", sum->price);
    put_rational(sum->steps, "quota", sum->part);
    tg_json_end_object(sum->steps);
}

/* A formula that comes out negative for what nobody tried costs nothing, and says so. */
static bool add_expression(struct sum *sum, const struct tg_price *price,
                           const struct tg_usage *usage)
{
    const struct tg_expression_input input = {usage, &price->rates};
    struct tg_expression *parsed;
    bool ok;

    if (tg_expression_parse(price->expression, &parsed, NULL) != TG_OK)
        return false;
    ok = tg_expression_value(parsed, &input, sum->price, sum->tier, NULL) == TG_OK;
    if (ok) {
        if (tg_rational_is_negative(sum->price)) {
            tg_rational_set_int(sum->price, 0);
            sum->clamped = true;
        }
        tg_rational_set(sum->part, sum->price);
        tg_rational_mul_int(sum->part, TG_QUOTA_PER_USD);
        tg_rational_div_int(sum->part, 1000000);
        tg_rational_add(sum->total, sum->part);
        if (sum->steps != NULL)
            show_expression(sum, price, parsed, &input);
    }
    tg_expression_free(parsed);
    return ok;
}

static bool add_call(struct sum *sum, const struct tg_price *price)
{
    if (!tg_rational_set_decimal(sum->price, price->call))
        return false;
    add_line(sum, "call", 1, true);
    return true;
}

static bool add_calls(struct sum *sum, const char *what, int64_t calls, const char *price)
{
    if (calls == 0)
        return true;
    if (*price == '\0')
        tg_rational_set_int(sum->price, 0);
    else if (!tg_rational_set_decimal(sum->price, price))
        return false;
    add_line(sum, what, calls, true);
    return true;
}

/* A tool without a price of its own has that of any tool. */
static bool add_tools(struct sum *sum, const struct tg_price *price, const struct tg_usage *usage)
{
    for (int i = 0; i < TG_TOOL__COUNT; i++) {
        const char *own = price->tools[i];

        if (!add_calls(sum, tg_tool_name((enum tg_tool)i), usage->tools[i],
                       *own != '\0' ? own : price->tool_call))
            return false;
    }
    return add_calls(sum, "tool_call", tg_usage_other_tools(usage), price->tool_call);
}

static bool add_lines(struct sum *sum, const struct tg_price *price, const struct tg_usage *usage)
{
    bool ok = true;

    switch (price->form) {
    case TG_PRICE_TOKEN:
        ok = add_rates(sum, &price->rates, usage);
        break;
    case TG_PRICE_TIER:
        ok = add_tier(sum, price, usage);
        break;
    case TG_PRICE_CALL:
        if (usage->source != TG_USAGE_NONE)
            ok = add_call(sum, price);
        break;
    case TG_PRICE_EXPRESSION:
        if (usage->source != TG_USAGE_NONE)
            ok = add_expression(sum, price, usage);
        break;
    case TG_PRICE_FORM__COUNT:
        return false;
    }
    return ok && add_tools(sum, price, usage);
}

static void begin_steps(struct sum *sum, const char *group_ratio)
{
    tg_json_begin_object(sum->steps);
    tg_json_put_str(sum->steps, "ratio", group_ratio);
    tg_json_key(sum->steps, "lines");
    tg_json_begin_array(sum->steps);
}

static void end_steps(struct sum *sum, int64_t quota)
{
    tg_json_end_array(sum->steps);
    if (sum->tier[0] != '\0')
        tg_json_put_str(sum->steps, "tier", sum->tier);
    put_rational(sum->steps, "exact", sum->total);
    tg_json_put_int(sum->steps, "quota", quota);
    if (sum->clamped)
        tg_json_put_bool(sum->steps, "clamped", true);
    tg_json_end_object(sum->steps);
}

/* Lines, ratio, and the one rounding. */
static bool add_up(struct sum *sum, const struct tg_price *price, const struct tg_usage *usage,
                   const char *group_ratio, int64_t *ret_quota)
{
    bool cut;

    if (sum->steps != NULL)
        begin_steps(sum, group_ratio);
    if (!add_lines(sum, price, usage) || !tg_rational_set_decimal(sum->part, group_ratio))
        return false;
    tg_rational_mul(sum->total, sum->part);
    *ret_quota = tg_rational_round(sum->total, &cut);
    sum->clamped |= cut;
    if (*ret_quota == 0 && !tg_rational_is_zero(sum->total))
        *ret_quota = 1;
    if (sum->steps != NULL)
        end_steps(sum, *ret_quota);
    return true;
}

enum tg_class tg_bill(const struct tg_price *price, const struct tg_usage *usage,
                      const char *group_ratio, struct tg_buf *steps, int64_t *ret_quota)
{
    struct tg_usage sane = *usage;
    struct tg_json_writer writer;
    struct tg_buf written;
    struct sum sum;
    int64_t quota;
    bool ok;

    if (tg_price_check(price, NULL) != TG_OK)
        return TG_CLASS_INVALID;
    tg_usage_clamp(&sane);
    tg_buf_init(&written, 0);
    tg_json_writer_init(&writer, &written);
    sum = (struct sum){tg_rational_new(), tg_rational_new(), tg_rational_new(),
                       steps != NULL ? &writer : NULL, "", sane.clamped};
    ok = add_up(&sum, price, &sane, group_ratio, &quota);
    if (ok) {
        *ret_quota = quota;
        if (steps != NULL)
            tg_buf_add(steps, tg_buf_text(&written), written.len);
    }
    tg_rational_free(sum.total);
    tg_rational_free(sum.price);
    tg_rational_free(sum.part);
    tg_buf_done(&written);
    return ok ? TG_OK : TG_CLASS_INVALID;
}
