/* price_tools - the calculator; lists of prices in and out. */
#include "admin-cgi/pages/pages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/price/formula.h"
#include "common/store/price.h"

/* --- The calculator --- */

#define COUNT(name_, label_) {.name = (name_), .label = (label_), .kind = WEB_INTEGER, \
                              .most = TG_USAGE_TOKENS_MAX}

static const struct web_field fields[] = {
    {.name = "model", .label = "Model", .kind = WEB_TEXT, .most = 191},
    COUNT("input", "Input tokens"),
    COUNT("output", "Output tokens"),
    COUNT("cache_read", "Read from a cache"),
    COUNT("cache_write_5m", "Written for 5 minutes"),
    COUNT("cache_write_1h", "Written for 1 hour"),
    COUNT("image", "Image tokens"),
    COUNT("audio_in", "Audio tokens in"),
    COUNT("audio_out", "Audio tokens out"),
    COUNT("reasoning", "Reasoning tokens"),
    COUNT("web_search", "Web searches"),
    COUNT("file_search", "File searches"),
    COUNT("code_interpreter", "Code interpreters"),
    COUNT("image_generation", "Images made"),
    {.name = "excludes_cache",
     .label = "Input does not include what was cached",
     .kind = WEB_BOOL,
     .help = "as Anthropic counts"},
    {.name = "ratio", .label = "Ratio of the group", .kind = WEB_DECIMAL, .most = 10},
};
const struct web_form_def page_price_calculator_form = {
    .fields = fields, .count = TG_COUNT_OF(fields), .submit = "Calculate", .in_query = true};

static struct tg_usage read_usage(const struct web_page *page)
{
    struct tg_usage usage = {.source = TG_USAGE_UPSTREAM,
                             .semantics = web_number(page, "excludes_cache") != 0
                                              ? TG_USAGE_INPUT_EXCLUDES_CACHE
                                              : TG_USAGE_INPUT_INCLUDES_CACHE,
                             .input = web_number(page, "input"),
                             .output = web_number(page, "output"),
                             .cache_read = web_number(page, "cache_read"),
                             .cache_write_5m = web_number(page, "cache_write_5m"),
                             .cache_write_1h = web_number(page, "cache_write_1h"),
                             .image_in = web_number(page, "image"),
                             .audio_in = web_number(page, "audio_in"),
                             .audio_out = web_number(page, "audio_out"),
                             .reasoning = web_number(page, "reasoning")};

    for (int i = 0; i < TG_TOOL__COUNT; i++)
        tg_usage_add_tool(&usage, (enum tg_tool)i,
                          web_number(page, tg_tool_name((enum tg_tool)i)));
    return usage;
}

static enum tg_class calculate(struct web_page *page)
{
    const char *model = web_text(page, "model"), *ratio = web_text(page, "ratio");
    const struct tg_usage usage = read_usage(page);
    struct tg_calculation wish = {.usage = &usage, .group_ratio = *ratio != '\0' ? ratio : "1"};
    const struct tg_price_row *row;
    struct tg_price_rows rows;
    enum tg_class class = tg_store_prices(page->main_db, page->arena, &rows, &page->err);

    if (class != TG_OK)
        return class;
    row = tg_price_rows_find(&rows, model);
    if (row == NULL)
        return tg_fail(&page->err, TG_CLASS_NOT_FOUND, "price_not_configured",
                       "no price is configured for this model");
    wish.price = &row->price;
    tg_json_key(&page->out, "calculation");
    tg_json_begin_object(&page->out);
    tg_json_put_str(&page->out, "model", model);
    if (strcmp(row->model, model) != 0)
        tg_json_put_str(&page->out, "pattern", row->model);
    class = tg_calculate(&wish, &page->out, &page->err);
    tg_json_end_object(&page->out);
    return class;
}

enum tg_class page_price_calculator(struct web_page *page)
{
    enum tg_class class = web_main(page);

    tg_json_put_str(&page->out, "title", "Calculator");
    return class == TG_OK && *web_text(page, "model") != '\0' ? calculate(page) : class;
}

/* --- Lists --- */

static enum tg_class view_import(struct web_page *page)
{
    return page_prices_import_form(page);
}

static const struct web_field import_fields[] = {
    {.name = "list",
     .label = "List of prices",
     .kind = WEB_LONG,
     .flags = WEB_REQUIRED,
     .most = WEB_BODY_BYTES_MOST,
     .help = "as it is exported: {\"prices\":[{\"model\":\"gpt-x\",\"input\":\"2.5\","
             "\"output\":\"10\"}]}"},
    {.name = "missing_only",
     .label = "Only models that have no price of their own yet",
     .kind = WEB_BOOL},
};
const struct web_form_def page_prices_import_fields = {.fields = import_fields,
                                                       .count = TG_COUNT_OF(import_fields),
                                                       .view = view_import,
                                                       .submit = "Import"};

enum tg_class page_prices_import_form(struct web_page *page)
{
    tg_json_put_str(&page->out, "title", "Import prices");
    web_put_link(page, "back", "prices.cgi");
    tg_json_put_str(&page->out, "back_label", "Prices");
    return TG_OK;
}

enum tg_class page_prices_import(struct web_page *page)
{
    const char *list = web_text(page, "list");
    struct tg_price_import wish = {.missing_only = web_number(page, "missing_only") != 0};
    struct tg_price_rows rows = {NULL, 0};
    enum tg_class class = tg_price_list_read((struct tg_span){list, strlen(list)}, page->arena,
                                             &rows, &page->err);

    if (class != TG_OK)
        return web_refuse(page, "list", page->err.message);
    wish.rows = rows.rows;
    wish.count = rows.count;
    class = web_main(page);
    if (class == TG_OK)
        class = tg_store_price_import(page->main_db, &page->actor, &wish, &page->err);
    if (class != TG_OK)
        return class;
    tg_json_put_int(&page->out, "set", wish.set);
    tg_json_put_int(&page->out, "left", wish.left);
    web_tell(page, "prices");
    web_go(page,
           tg_arena_printf(page->arena, "%lld prices are set, %lld were left as they are.",
                           (long long)wish.set, (long long)wish.left),
           "prices.cgi");
    return TG_OK;
}

enum tg_class page_prices_export(struct web_page *page)
{
    struct tg_price_rows rows;
    struct tg_buf text;
    enum tg_class class = web_main(page);

    if (class == TG_OK)
        class = tg_store_prices(page->main_db, page->arena, &rows, &page->err);
    if (class != TG_OK)
        return class;
    tg_buf_init(&text, 0);
    tg_price_list_write(&rows, &text);
    web_stream_begin(page, "application/json", "prices.json");
    web_stream(page, tg_buf_text(&text), text.len);
    tg_buf_done(&text);
    return TG_OK;
}
