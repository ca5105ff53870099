/* price set, price delete, price list, price unpriced, price check. */
#include "admin-cgi/ctl/commands.h"

#include <stdio.h>
#include <string.h>

#include "common/price/formula.h"
#include "common/price/price_json.h"
#include "common/price/price_text.h"
#include "common/store/list.h"
#include "common/store/price.h"

/* --- price set: its options become the JSON form, which has one reader ---------------------- */

/* The member that an option stands for; NULL: it is written on its own. */
static const struct {
    const char *option, *member;
    bool number;
} options[] = {
    {"--input", "input", false},
    {"--output", "output", false},
    {"--cache-read", "cache_read", false},
    {"--cache-write-5m", "cache_write_5m", false},
    {"--cache-write-1h", "cache_write_1h", false},
    {"--image", "image", false},
    {"--audio-in", "audio_in", false},
    {"--audio-out", "audio_out", false},
    {"--call", "call", false},
    {"--expression", "expression", false},
    {"--vendor", "vendor", false},
    {"--dated", "dated", false},
    {"--context", "context_tokens", true},
    {"--max-output", "max_output_tokens", true},
};

static enum tg_class put_options(struct ctl *ctl, const struct ctl_args *args,
                                 struct tg_json_writer *out)
{
    const char *tools = ctl_option(args, "--tools"), *tiers = ctl_option(args, "--tiers");
    enum tg_class class = TG_OK;

    for (size_t i = 0; i < TG_COUNT_OF(options) && class == TG_OK; i++) {
        const char *value = ctl_option(args, options[i].option);
        int64_t number = 0;

        if (value == NULL)
            continue;
        if (options[i].number) {
            class = ctl_option_int(args, options[i].option, &number, &ctl->err);
            tg_json_put_int(out, options[i].member, number);
        } else {
            tg_json_put_str(out, options[i].member, value);
        }
    }
    if (class == TG_OK && tools != NULL)
        class = tg_price_put_tools(tools, out, &ctl->err);
    if (class == TG_OK && tiers != NULL)
        class = tg_price_put_tiers(tiers, out, &ctl->err);
    return class;
}

/* A price by the call, by tiers and by expression are three; what else is given is part of one. */
static enum tg_class check_form(struct ctl *ctl, const struct ctl_args *args)
{
    bool by_call = ctl_option(args, "--call") != NULL;
    int forms = by_call + (ctl_option(args, "--tiers") != NULL) +
                (ctl_option(args, "--expression") != NULL);

    if (forms > 1 || (by_call && (ctl_option(args, "--input") != NULL ||
                                  ctl_option(args, "--output") != NULL)))
        return tg_fail(&ctl->err, TG_CLASS_INVALID, "usage",
                       "a price is per token, per call, by tiers or by an expression, not two of "
                       "them");
    return TG_OK;
}

static enum tg_class read_price(struct ctl *ctl, const struct ctl_args *args, struct tg_price *ret)
{
    struct tg_json_writer out;
    struct tg_json *root = NULL;
    const char *unused;
    struct tg_buf json;
    enum tg_class class = check_form(ctl, args);

    if (class != TG_OK)
        return class;
    tg_buf_init(&json, 0);
    tg_json_writer_init(&out, &json);
    tg_json_begin_object(&out);
    class = put_options(ctl, args, &out);
    tg_json_end_object(&out);
    if (class == TG_OK)
        class = tg_json_parse(json.data, json.len, &root, &ctl->err);
    if (class == TG_OK)
        class = tg_price_read(root, ctl->arena, ret, &unused, &ctl->err);
    if (class == TG_OK)
        class = tg_price_check_to_save(ret, &ctl->err);
    tg_json_free(root);
    tg_buf_done(&json);
    return class;
}

enum tg_class ctl_cmd_price_set(struct ctl *ctl, const struct ctl_args *args)
{
    const char *model = args->positionals[0];
    struct tg_price price;
    enum tg_class class = read_price(ctl, args, &price);

    if (class == TG_OK)
        class = ctl_open_main(ctl);
    if (class != TG_OK)
        return class;
    tg_price_hash(&price);
    class = tg_store_price_set(ctl->main_db, &ctl->actor, model, &price, &ctl->err);
    if (class != TG_OK)
        return class;
    tg_json_begin_object(&ctl->out);
    tg_json_put_str(&ctl->out, "model", model);
    tg_price_write(&price, &ctl->out);
    tg_json_end_object(&ctl->out);
    ctl_tell_workers(ctl, "prices");
    return TG_OK;
}

enum tg_class ctl_cmd_price_delete(struct ctl *ctl, const struct ctl_args *args)
{
    const char *model = args->positionals[0];
    enum tg_class class = ctl_open_main(ctl);

    if (class == TG_OK)
        class = tg_store_price_delete(ctl->main_db, &ctl->actor, model, &ctl->err);
    if (class != TG_OK)
        return class;
    tg_json_begin_object(&ctl->out);
    tg_json_put_str(&ctl->out, "deleted", model);
    tg_json_end_object(&ctl->out);
    ctl_tell_workers(ctl, "prices");
    return TG_OK;
}

/* --- looking -------------------------------------------------------------------------------- */

enum tg_class ctl_cmd_price_list(struct ctl *ctl, const struct ctl_args *args)
{
    struct tg_price_rows prices;
    enum tg_class class = ctl_open_main(ctl);

    (void)args;
    if (class == TG_OK)
        class = tg_store_prices(ctl->main_db, ctl->arena, &prices, &ctl->err);
    if (class != TG_OK)
        return class;
    ctl->columns = "model form input output cache_read call vendor dated";
    tg_json_begin_array(&ctl->out);
    for (size_t i = 0; i < prices.count; i++) {
        tg_json_begin_object(&ctl->out);
        tg_json_put_str(&ctl->out, "model", prices.rows[i].model);
        tg_price_write(&prices.rows[i].price, &ctl->out);
        tg_json_end_object(&ctl->out);
    }
    tg_json_end_array(&ctl->out);
    return TG_OK;
}

/* One page of the list: its rows go into the array; *ret_after is NULL at the end. */
static enum tg_class put_unpriced(struct ctl *ctl, const char **ret_after)
{
    const struct tg_page page = {.limit = TG_PAGE_MOST, .after = *ret_after};
    const struct tg_json *rows = NULL;
    struct tg_json *root = NULL;
    struct tg_json_writer out;
    struct tg_span text;
    struct tg_buf json;
    enum tg_class class;

    *ret_after = NULL;
    tg_buf_init(&json, 0);
    tg_json_writer_init(&out, &json);
    tg_json_begin_object(&out);
    class = tg_list_unpriced(ctl->main_db, &page, &out, &ctl->err);
    tg_json_end_object(&out);
    if (class == TG_OK)
        class = tg_json_parse(json.data, json.len, &root, &ctl->err);
    if (class == TG_OK) {
        (void)tg_json_get_array(root, "rows", &rows);
        for (size_t i = 0; rows != NULL && i < tg_json_array_len(rows); i++) {
            if (tg_json_get_string(tg_json_array_at(rows, i), "model", &text) != TG_JSON_GOT)
                continue;
            tg_json_begin_object(&ctl->out);
            tg_json_put_str(&ctl->out, "model", text.ptr);
            tg_json_end_object(&ctl->out);
        }
        if (tg_json_get_string(root, "next", &text) == TG_JSON_GOT)
            *ret_after = tg_arena_strdup(ctl->arena, text.ptr);
        tg_json_free(root);
    }
    tg_buf_done(&json);
    return class;
}

enum tg_class ctl_cmd_price_unpriced(struct ctl *ctl, const struct ctl_args *args)
{
    const char *after = NULL;
    enum tg_class class = ctl_open_main(ctl);

    (void)args;
    if (class != TG_OK)
        return class;
    ctl->columns = "model";
    tg_json_begin_array(&ctl->out);
    do
        class = put_unpriced(ctl, &after);
    while (class == TG_OK && after != NULL);
    tg_json_end_array(&ctl->out);
    return class;
}

/* --- the calculator ------------------------------------------------------------------------- */

static enum tg_class read_usage(struct ctl *ctl, const struct ctl_args *args, struct tg_usage *ret)
{
    const char *text = ctl_option(args, "--usage");
    struct tg_json *root;
    enum tg_class class;

    if (text == NULL)
        return tg_fail(&ctl->err, TG_CLASS_INVALID, "usage",
                       "--usage is missing: '{\"input\":1000,\"cache_read\":200,\"output\":50}'");
    class = tg_json_parse(text, strlen(text), &root, &ctl->err);
    if (class != TG_OK)
        return class;
    class = tg_usage_read(root, ret, &ctl->err);
    tg_json_free(root);
    return class;
}

enum tg_class ctl_cmd_price_check(struct ctl *ctl, const struct ctl_args *args)
{
    const char *model = args->positionals[0];
    const struct tg_price_row *row;
    struct tg_calculation calculation = {.group_ratio = ctl_option_or(args, "--ratio", "1")};
    struct tg_price_rows prices;
    struct tg_usage usage;
    enum tg_class class = read_usage(ctl, args, &usage);

    if (class == TG_OK)
        class = ctl_open_main(ctl);
    if (class == TG_OK)
        class = tg_store_prices(ctl->main_db, ctl->arena, &prices, &ctl->err);
    if (class != TG_OK)
        return class;
    row = tg_price_rows_find(&prices, model);
    if (row == NULL)
        return tg_fail(&ctl->err, TG_CLASS_NOT_FOUND, "price_not_configured",
                       "no price is configured for %s", model);
    calculation.price = &row->price;
    calculation.usage = &usage;
    tg_json_begin_object(&ctl->out);
    tg_json_put_str(&ctl->out, "model", model);
    if (strcmp(row->model, model) != 0)
        tg_json_put_str(&ctl->out, "pattern", row->model);
    class = tg_calculate(&calculation, &ctl->out, &ctl->err);
    tg_json_end_object(&ctl->out);
    return class;
}
