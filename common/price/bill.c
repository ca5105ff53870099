/* What a finished request costs, exactly, and the sum line by line. */
#include "common/price/price.h"

#include "common/base/money.h"
#include "common/json/writer.h"
#include "common/price/rational.h"

/* The price that stands in for one that is not set: <price> times <hundredths>/100. */
struct fallback {
    const char *price;
    int hundredths;
};

struct line {
    const char *what;
    int64_t count;
    const char *price; /* may be empty: the fallback's */
    struct fallback fallback;
    bool per_call; /* USD each, not per 1M tokens */
};

struct sum {
    struct tg_rational *total, *price, *part;
    struct tg_json_writer *steps; /* NULL: not wanted */
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

static bool line_price(const struct line *line, struct tg_rational *ret)
{
    bool is_set = *line->price != '\0';
    const char *text = is_set ? line->price : line->fallback.price;

    if (text == NULL || *text == '\0') {
        tg_rational_set_int(ret, 0);
        return true;
    }
    if (!tg_rational_set_decimal(ret, text))
        return false;
    if (!is_set) {
        tg_rational_mul_int(ret, line->fallback.hundredths);
        tg_rational_div_int(ret, 100);
    }
    return true;
}

static bool add_line(struct sum *sum, const struct line *line)
{
    if (line->count == 0)
        return true;
    if (!line_price(line, sum->price))
        return false;
    tg_rational_set(sum->part, sum->price);
    tg_rational_mul_int(sum->part, line->count);
    tg_rational_mul_int(sum->part, TG_QUOTA_PER_USD);
    if (!line->per_call)
        tg_rational_div_int(sum->part, 1000000);
    tg_rational_add(sum->total, sum->part);
    if (sum->steps == NULL)
        return true;
    tg_json_begin_object(sum->steps);
    tg_json_put_str(sum->steps, "what", line->what);
    tg_json_put_int(sum->steps, line->per_call ? "calls" : "tokens", line->count);
    put_rational(sum->steps, "price", sum->price);
    put_rational(sum->steps, "quota", sum->part);
    tg_json_end_object(sum->steps);
    return true;
}

static bool add_lines(struct sum *sum, const struct tg_price *price, const struct tg_usage *usage)
{
    const struct fallback none = {NULL, 0}, input = {price->input, 100};
    const bool by_token = price->form == TG_PRICE_TOKEN;
    const int64_t calls = !by_token && usage->source != TG_USAGE_NONE ? 1 : 0;
    const struct line token_lines[] = {
        {"input", tg_usage_base_tokens(usage), price->input, none, false},
        {"cache_read", usage->cache_read, price->cache_read, input, false},
        {"cache_write_5m", usage->cache_write_5m, price->cache_write_5m, {price->input, 125},
         false},
        {"cache_write_1h", usage->cache_write_1h, price->cache_write_1h, {price->input, 200},
         false},
        {"image", usage->image_in, price->image, input, false},
        {"audio_in", usage->audio_in, price->audio_in, input, false},
        {"output", usage->output - usage->audio_out, price->output, none, false},
        {"audio_out", usage->audio_out, price->audio_out, {price->output, 100}, false},
    };
    const struct line call = {"call", calls, price->call, none, true};
    const struct line tools = {"tool_call", usage->tool_calls, price->tool_call, none, true};
    bool ok = add_line(sum, &call);

    for (size_t i = 0; by_token && ok && i < TG_COUNT_OF(token_lines); i++)
        ok = add_line(sum, &token_lines[i]);
    return ok && add_line(sum, &tools);
}

/* Lines, ratio, and the one rounding. */
static bool add_up(struct sum *sum, const struct tg_price *price, const struct tg_usage *usage,
                   const char *group_ratio, int64_t *ret_quota)
{
    if (sum->steps != NULL) {
        tg_json_begin_object(sum->steps);
        tg_json_put_str(sum->steps, "ratio", group_ratio);
        tg_json_key(sum->steps, "lines");
        tg_json_begin_array(sum->steps);
    }
    if (!add_lines(sum, price, usage) || !tg_rational_set_decimal(sum->part, group_ratio))
        return false;
    tg_rational_mul(sum->total, sum->part);
    *ret_quota = tg_rational_round(sum->total, NULL);
    if (*ret_quota == 0 && !tg_rational_is_zero(sum->total))
        *ret_quota = 1;
    if (sum->steps != NULL) {
        tg_json_end_array(sum->steps);
        put_rational(sum->steps, "exact", sum->total);
        tg_json_put_int(sum->steps, "quota", *ret_quota);
        tg_json_end_object(sum->steps);
    }
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
                       steps != NULL ? &writer : NULL};
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
