#include "common/price/price_json.h"

#include <string.h>

static void put_set(struct tg_json_writer *out, const char *key, const char *text)
{
    if (text != NULL && *text != '\0')
        tg_json_put_str(out, key, text);
}

static void put_count(struct tg_json_writer *out, const char *key, int64_t count)
{
    if (count != 0)
        tg_json_put_int(out, key, count);
}

static void put_rates(struct tg_json_writer *out, const struct tg_rates *rates)
{
    for (int i = 0; i < TG_RATE__COUNT; i++)
        put_set(out, tg_rate_name((enum tg_rate)i), tg_rate_text(rates, (enum tg_rate)i));
}

bool tg_price_write_tiers(const struct tg_price *price, struct tg_json_writer *out)
{
    if (price->tier_count == 0)
        return false;
    tg_json_begin_array(out);
    for (size_t i = 0; i < price->tier_count; i++) {
        tg_json_begin_object(out);
        tg_json_put_int(out, "above", price->tiers[i].above);
        put_rates(out, &price->tiers[i].rates);
        tg_json_end_object(out);
    }
    tg_json_end_array(out);
    return true;
}

static bool has_tools(const struct tg_price *price)
{
    bool any = price->tool_call[0] != '\0';

    for (int i = 0; i < TG_TOOL__COUNT; i++)
        any |= price->tools[i][0] != '\0';
    return any;
}

bool tg_price_write_tools(const struct tg_price *price, struct tg_json_writer *out)
{
    if (!has_tools(price))
        return false;
    tg_json_begin_object(out);
    put_set(out, "default", price->tool_call);
    for (int i = 0; i < TG_TOOL__COUNT; i++)
        put_set(out, tg_tool_name((enum tg_tool)i), price->tools[i]);
    tg_json_end_object(out);
    return true;
}

void tg_price_write(const struct tg_price *price, struct tg_json_writer *out)
{
    tg_json_put_str(out, "form", tg_price_form_name(price->form));
    put_rates(out, &price->rates);
    put_set(out, "call", price->call);
    if (price->tier_count > 0) {
        tg_json_key(out, "tiers");
        tg_price_write_tiers(price, out);
    }
    if (has_tools(price)) {
        tg_json_key(out, "tools");
        tg_price_write_tools(price, out);
    }
    put_set(out, "expression", price->expression);
    put_count(out, "context_tokens", price->context_tokens);
    put_count(out, "max_output_tokens", price->max_output_tokens);
    put_set(out, "vendor", price->vendor);
    put_set(out, "dated", price->dated);
    put_set(out, "hash", price->hash);
}
