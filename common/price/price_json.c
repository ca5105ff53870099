#include "common/price/price_json.h"

#include <stdio.h>
#include <string.h>

/* One object being read: the first failure is kept. */
struct reading {
    struct tg_arena *arena;
    struct tg_price *price;
    const char *model, *form;
    const char *prefix; /* of field names in messages */
    enum tg_class class;
    struct tg_error *err;
};

static bool refuse(struct reading *reading, const char *field, const char *problem)
{
    if (reading->class == TG_OK) {
        reading->class = tg_fail(reading->err, TG_CLASS_INVALID, "price_invalid", "price %s%s %s",
                                 reading->prefix, field, problem);
        if (reading->err != NULL)
            snprintf(reading->err->param, sizeof reading->err->param, "%s%s", reading->prefix,
                     field);
    }
    return false;
}

static bool read_text(struct reading *reading, const char *field, const struct tg_json *value,
                      struct tg_span *ret)
{
    if (!tg_json_string(value, ret) || memchr(ret->ptr, '\0', ret->len) != NULL)
        return refuse(reading, field, "is no text");
    return true;
}

struct room {
    char *text;
    size_t size;
};

static bool read_short(struct reading *reading, const char *field, const struct tg_json *value,
                       struct room to)
{
    struct tg_span text;

    if (!read_text(reading, field, value, &text))
        return false;
    if (text.len >= to.size)
        return refuse(reading, field, "is too long");
    memcpy(to.text, text.ptr, text.len + 1);
    return true;
}

/* A decimal text, or a whole number; null is as good as nothing. */
static bool read_decimal(struct reading *reading, const char *field, const struct tg_json *value,
                         char to[TG_DECIMAL_TEXT])
{
    struct tg_span text;
    int64_t whole;

    if (tg_json_type(value) == TG_JSON_NULL)
        return true;
    if (tg_json_int(value, &whole)) {
        snprintf(to, TG_DECIMAL_TEXT, "%lld", (long long)whole);
        return true;
    }
    if (!tg_json_string(value, &text) || text.len >= TG_DECIMAL_TEXT || text.len == 0 ||
        memchr(text.ptr, '\0', text.len) != NULL)
        return refuse(reading, field, "is no decimal text like \"2.5\"");
    memcpy(to, text.ptr, text.len + 1);
    return true;
}

static bool read_count(struct reading *reading, const char *field, const struct tg_json *value,
                       int64_t *ret)
{
    if (tg_json_type(value) == TG_JSON_NULL)
        return true;
    if (!tg_json_int(value, ret) || *ret < 0)
        return refuse(reading, field, "is no whole number");
    return true;
}

/* The rate of that name, TG_RATE__COUNT for none. */
static enum tg_rate rate_of(const char *name)
{
    int rate = 0;

    while (rate < TG_RATE__COUNT && strcmp(name, tg_rate_name((enum tg_rate)rate)) != 0)
        rate++;
    return (enum tg_rate)rate;
}

/* --- tools and tiers ----------------------------------------------------------------------- */

static bool read_tool(void *context, const char *key, const struct tg_json *value)
{
    struct reading *reading = context;

    if (strcmp(key, "default") == 0)
        return read_decimal(reading, key, value, reading->price->tool_call);
    for (int i = 0; i < TG_TOOL__COUNT; i++)
        if (strcmp(key, tg_tool_name((enum tg_tool)i)) == 0)
            return read_decimal(reading, key, value, reading->price->tools[i]);
    return refuse(reading, key, "is no tool");
}

static bool read_tools(struct reading *reading, const struct tg_json *value)
{
    struct reading tools = *reading;

    if (tg_json_type(value) == TG_JSON_NULL)
        return true;
    if (tg_json_type(value) != TG_JSON_OBJECT)
        return refuse(reading, "tools", "is no object");
    tools.prefix = "tools.";
    tg_json_each(value, read_tool, &tools);
    reading->class = tools.class;
    return tools.class == TG_OK;
}

struct tier_reading {
    struct reading base;
    struct tg_price_tier *tier;
};

static bool read_tier_member(void *context, const char *key, const struct tg_json *value)
{
    struct tier_reading *reading = context;
    enum tg_rate rate = rate_of(key);

    if (strcmp(key, "above") == 0)
        return read_count(&reading->base, key, value, &reading->tier->above);
    if (rate == TG_RATE__COUNT)
        return refuse(&reading->base, key, "is no price of a tier");
    return read_decimal(&reading->base, key, value, tg_rate_slot(&reading->tier->rates, rate));
}

static bool read_tiers(struct reading *reading, const struct tg_json *value)
{
    size_t count = tg_json_array_len(value);

    if (tg_json_type(value) == TG_JSON_NULL)
        return true;
    if (tg_json_type(value) != TG_JSON_ARRAY || count > TG_PRICE_TIERS)
        return refuse(reading, "tiers", "is no list of at most 4 tiers");
    for (size_t i = 0; i < count; i++) {
        struct tier_reading tier = {*reading, &reading->price->tiers[i]};
        char prefix[40];

        snprintf(prefix, sizeof prefix, "tiers.%zu.", i);
        tier.base.prefix = prefix;
        if (tg_json_type(tg_json_array_at(value, i)) != TG_JSON_OBJECT)
            return refuse(reading, "tiers", "holds what is no object");
        tg_json_each(tg_json_array_at(value, i), read_tier_member, &tier);
        reading->class = tier.base.class;
        if (reading->class != TG_OK)
            return false;
    }
    reading->price->tier_count = count;
    return true;
}

/* --- the whole ----------------------------------------------------------------------------- */

static bool read_own_text(struct reading *reading, const char *key, const struct tg_json *value,
                          const char **ret)
{
    struct tg_span text;

    if (tg_json_type(value) == TG_JSON_NULL)
        return true;
    if (!read_text(reading, key, value, &text))
        return false;
    *ret = tg_arena_strndup(reading->arena, text.ptr, text.len);
    return true;
}

static bool read_member(void *context, const char *key, const struct tg_json *value)
{
    struct reading *reading = context;
    struct tg_price *price = reading->price;
    enum tg_rate rate = rate_of(key);

    if (rate != TG_RATE__COUNT)
        return read_decimal(reading, key, value, tg_rate_slot(&price->rates, rate));
    if (strcmp(key, "model") == 0)
        return read_own_text(reading, key, value, &reading->model);
    if (strcmp(key, "form") == 0)
        return read_own_text(reading, key, value, &reading->form);
    if (strcmp(key, "expression") == 0)
        return read_own_text(reading, key, value, &price->expression);
    if (strcmp(key, "call") == 0)
        return read_decimal(reading, key, value, price->call);
    if (strcmp(key, "tools") == 0)
        return read_tools(reading, value);
    if (strcmp(key, "tiers") == 0)
        return read_tiers(reading, value);
    if (strcmp(key, "context_tokens") == 0)
        return read_count(reading, key, value, &price->context_tokens);
    if (strcmp(key, "max_output_tokens") == 0)
        return read_count(reading, key, value, &price->max_output_tokens);
    if (strcmp(key, "vendor") == 0)
        return read_short(reading, key, value, (struct room){price->vendor, sizeof price->vendor});
    if (strcmp(key, "dated") == 0)
        return read_short(reading, key, value, (struct room){price->dated, sizeof price->dated});
    if (strcmp(key, "hash") == 0) /* an export has it; it is computed anew */
        return true;
    return refuse(reading, key, "is not known");
}

static enum tg_price_form implied_form(const struct tg_price *price)
{
    if (price->call[0] != '\0')
        return TG_PRICE_CALL;
    if (price->expression != NULL && price->expression[0] != '\0')
        return TG_PRICE_EXPRESSION;
    return price->tier_count > 0 ? TG_PRICE_TIER : TG_PRICE_TOKEN;
}

enum tg_class tg_price_read(const struct tg_json *object, struct tg_arena *arena,
                            struct tg_price *ret, const char **ret_model, struct tg_error *err)
{
    struct tg_price price = {.form = TG_PRICE_TOKEN};
    struct reading reading = {arena, &price, "", NULL, "", TG_OK, err};

    if (tg_json_type(object) != TG_JSON_OBJECT)
        return tg_fail(err, TG_CLASS_INVALID, "price_invalid", "a price is a JSON object");
    tg_json_each(object, read_member, &reading);
    *ret_model = reading.model;
    if (reading.class != TG_OK)
        return reading.class;
    price.form = reading.form != NULL ? tg_price_form_of(reading.form) : implied_form(&price);
    if (price.form == TG_PRICE_FORM__COUNT) {
        refuse(&reading, "form", "is none of token, call, tier, expression");
        return reading.class;
    }
    *ret = price;
    return TG_OK;
}

/* --- columns ------------------------------------------------------------------------------- */

typedef bool value_fn(struct reading *reading, const struct tg_json *value);

static void read_column(struct reading *reading, const char *text, value_fn *take)
{
    struct tg_json *root;

    if (*text == '\0' || reading->class != TG_OK)
        return;
    reading->class = tg_json_parse(text, strlen(text), &root, reading->err);
    if (reading->class != TG_OK)
        return;
    (void)take(reading, root);
    tg_json_free(root);
}

enum tg_class tg_price_read_columns(const char *tiers, const char *tools, struct tg_price *ret,
                                    struct tg_error *err)
{
    struct reading reading = {NULL, ret, "", NULL, "", TG_OK, err};

    read_column(&reading, tiers, read_tiers);
    read_column(&reading, tools, read_tools);
    return reading.class;
}
