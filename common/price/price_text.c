#include "common/price/price_text.h"

#include <stdio.h>
#include <string.h>

#include "common/json/scan.h"

enum { WORD_MOST = 64, ABOVE_DIGITS = 10 };

static enum tg_class refuse(struct tg_error *err, const char *param, const char *how)
{
    tg_fail(err, TG_CLASS_INVALID, "price_invalid", "price %s: %s", param, how);
    snprintf(err->param, sizeof err->param, "%s", param);
    return TG_CLASS_INVALID;
}

/* Behind blanks. */
static const char *skip(const char *at, const char *blanks)
{
    return at + strspn(at, blanks);
}

static enum tg_class put_json(const char *text, const char *member, struct tg_json_writer *out,
                              struct tg_error *err)
{
    enum tg_class class = tg_json_check(text, strlen(text), err);

    if (class != TG_OK) {
        snprintf(err->param, sizeof err->param, "%s", member);
        return class;
    }
    tg_json_key(out, member);
    tg_json_write_raw(out, text, strlen(text));
    return TG_OK;
}

/* "input=5", <len> bytes of it. */
static bool put_pair(const char *word, size_t len, struct tg_json_writer *out)
{
    const char *equals = memchr(word, '=', len);
    size_t name = equals != NULL ? (size_t)(equals - word) : 0;
    char key[WORD_MOST];

    if (name == 0 || name + 1 == len || len >= WORD_MOST)
        return false;
    snprintf(key, sizeof key, "%.*s", (int)name, word);
    tg_json_key(out, key);
    tg_json_write_strn(out, equals + 1, len - name - 1);
    return true;
}

/* --- tiers --- */

/* One tier, up to <end>. */
static bool put_tier(const char *at, const char *end, struct tg_json_writer *out)
{
    static const char blanks[] = " \t\r:";
    int64_t above = 0;
    size_t digits = strspn(at, "0123456789");

    if (digits == 0 || digits > ABOVE_DIGITS ||
        (at + digits < end && strchr(blanks, at[digits]) == NULL))
        return false;
    for (size_t i = 0; i < digits; i++)
        above = above * 10 + (at[i] - '0');
    tg_json_begin_object(out);
    tg_json_put_int(out, "above", above);
    for (at = skip(at + digits, blanks); at < end; at = skip(at, blanks)) {
        size_t len = strcspn(at, " \t\r:,\n");

        if (!put_pair(at, len, out))
            return false;
        at += len;
    }
    tg_json_end_object(out);
    return true;
}

enum tg_class tg_price_put_tiers(const char *text, struct tg_json_writer *out,
                                 struct tg_error *err)
{
    const char *at = skip(text, " \t\r\n,");

    if (*at == '\0')
        return TG_OK;
    if (*at == '[' || *at == '{')
        return put_json(at, "tiers", out, err);
    tg_json_key(out, "tiers");
    tg_json_begin_array(out);
    while (*at != '\0') {
        const char *end = at + strcspn(at, ",\n");

        if (!put_tier(at, end, out))
            return refuse(err, "tiers", "write 200000 input=5 output=15, one tier a line");
        at = skip(end, " \t\r\n,");
    }
    tg_json_end_array(out);
    return TG_OK;
}

void tg_price_tiers_text(const struct tg_price *price, struct tg_buf *out)
{
    for (size_t i = 0; i < price->tier_count; i++) {
        tg_buf_printf(out, "%s%lld", i > 0 ? "\n" : "", (long long)price->tiers[i].above);
        for (int rate = 0; rate < TG_RATE__COUNT; rate++) {
            const char *text = tg_rate_text(&price->tiers[i].rates, (enum tg_rate)rate);

            if (*text != '\0')
                tg_buf_printf(out, " %s=%s", tg_rate_name((enum tg_rate)rate), text);
        }
    }
}

/* --- tools --- */

enum tg_class tg_price_put_tools(const char *text, struct tg_json_writer *out,
                                 struct tg_error *err)
{
    const char *at = skip(text, " \t\r\n,");

    if (*at == '\0')
        return TG_OK;
    if (*at == '[' || *at == '{')
        return put_json(at, "tools", out, err);
    tg_json_key(out, "tools");
    tg_json_begin_object(out);
    while (*at != '\0') {
        size_t len = strcspn(at, " \t\r\n,");

        if (!put_pair(at, len, out))
            return refuse(err, "tools", "write web_search=0.01, one tool a line");
        at = skip(at + len, " \t\r\n,");
    }
    tg_json_end_object(out);
    return TG_OK;
}

static void put_tool(struct tg_buf *out, const char *name, const char *price)
{
    if (*price != '\0')
        tg_buf_printf(out, "%s%s=%s", out->len > 0 ? "\n" : "", name, price);
}

void tg_price_tools_text(const struct tg_price *price, struct tg_buf *out)
{
    put_tool(out, "default", price->tool_call);
    for (int i = 0; i < TG_TOOL__COUNT; i++)
        put_tool(out, tg_tool_name((enum tg_tool)i), price->tools[i]);
}
