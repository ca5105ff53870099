#include "common/price/formula.h"

#include "common/base/money.h"

#include <string.h>

static const char *text_of(const struct tg_json *object, const char *key)
{
    struct tg_span text;

    return tg_json_get_string(object, key, &text) == TG_JSON_GOT ? text.ptr : "?";
}

/* The terms of one kind, with + between them: tokens or calls times their price. */
static int add_terms(const struct tg_json *lines, const char *count_key, struct tg_buf *out)
{
    int terms = 0;

    for (size_t i = 0; i < tg_json_array_len(lines); i++) {
        const struct tg_json *line = tg_json_array_at(lines, i);
        int64_t count;

        if (tg_json_get_int(line, count_key, &count) != TG_JSON_GOT)
            continue;
        tg_buf_printf(out, "%s%lld x %s", terms++ > 0 ? " + " : "", (long long)count,
                      text_of(line, "price"));
    }
    return terms;
}

static bool add_value(void *context, const char *name, const struct tg_json *value)
{
    struct tg_buf *out = context;
    int64_t count;

    if (tg_json_int(value, &count))
        tg_buf_printf(out, "%s%s = %lld", out->len > 0 ? ", " : "", name, (long long)count);
    return true;
}

/* "p * 3 = 60 with p = 20" */
static int add_expression(const struct tg_json *lines, struct tg_buf *out)
{
    const struct tg_json *line = tg_json_array_at(lines, 0), *values;
    struct tg_buf names;

    if (tg_json_array_len(lines) == 0 || strcmp(text_of(line, "what"), "expression") != 0)
        return 0;
    tg_buf_init(&names, 0);
    if (tg_json_get_object(line, "values", &values) == TG_JSON_GOT)
        tg_json_each(values, add_value, &names);
    tg_buf_printf(out, "%s = %s%s%s", text_of(line, "expression"),
                  text_of(line, "usd_per_million"), names.len > 0 ? " with " : "",
                  tg_buf_text(&names));
    tg_buf_done(&names);
    return 1;
}

void tg_bill_formula(const struct tg_json *steps, struct tg_buf *out)
{
    const struct tg_json *lines = NULL;
    struct tg_buf tokens, calls;
    int64_t quota = 0;
    bool by_tokens;

    tg_buf_init(&tokens, 0);
    tg_buf_init(&calls, 0);
    (void)tg_json_get_array(steps, "lines", &lines);
    (void)tg_json_get_int(steps, "quota", &quota);
    by_tokens = lines != NULL && (add_expression(lines, &tokens) > 0 ||
                                  add_terms(lines, "tokens", &tokens) > 0);
    if (lines != NULL)
        add_terms(lines, "calls", &calls);
    if (by_tokens && calls.len > 0)
        tg_buf_printf(out, "((%s) / 1000000 + %s)", tg_buf_text(&tokens), tg_buf_text(&calls));
    else if (by_tokens)
        tg_buf_printf(out, "(%s) / 1000000", tg_buf_text(&tokens));
    else
        tg_buf_printf(out, "(%s)", calls.len > 0 ? tg_buf_text(&calls) : "0");
    tg_buf_printf(out, " USD x %lld x %s = %s, rounded to %lld quota",
                  (long long)TG_QUOTA_PER_USD, text_of(steps, "ratio"), text_of(steps, "exact"),
                  (long long)quota);
    tg_buf_done(&tokens);
    tg_buf_done(&calls);
}

static void write_calculation(const struct tg_buf *steps, int64_t quota,
                              struct tg_json_writer *out)
{
    char usd[TG_USD_TEXT];
    struct tg_json *root;
    struct tg_buf formula;

    tg_usd_format(quota, usd);
    tg_json_put_int(out, "quota", quota);
    tg_json_put_str(out, "usd", usd);
    tg_buf_init(&formula, 0);
    if (tg_json_parse(steps->data, steps->len, &root, NULL) == TG_OK) {
        tg_bill_formula(root, &formula);
        tg_json_free(root);
    }
    tg_json_put_str(out, "formula", tg_buf_text(&formula));
    tg_buf_done(&formula);
    tg_json_key(out, "bill");
    tg_json_write_raw(out, steps->data, steps->len);
}

enum tg_class tg_calculate(const struct tg_calculation *calculation, struct tg_json_writer *out,
                           struct tg_error *err)
{
    enum tg_class class = tg_price_check(calculation->price, err);
    struct tg_buf steps;
    int64_t quota;

    if (class != TG_OK)
        return class;
    tg_buf_init(&steps, 0);
    if (tg_bill(calculation->price, calculation->usage, calculation->group_ratio, &steps, &quota) ==
        TG_OK)
        write_calculation(&steps, quota, out);
    else
        class = tg_fail(err, TG_CLASS_INVALID, "calculation",
                        "this usage cannot be billed: the ratio is no decimal, or the formula "
                        "divides by zero");
    tg_buf_done(&steps);
    return class;
}
