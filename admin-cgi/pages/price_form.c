#include "admin-cgi/pages/price_form.h"

#include <stdio.h>
#include <string.h>

#include "common/price/expression.h"
#include "common/price/price_json.h"
#include "common/price/price_text.h"

#define RATE(name_, label_) {.name = (name_), .label = (label_), .kind = WEB_DECIMAL, .most = 10}

const struct web_choice page_price_forms[] = {{"token", "per token"},
                                              {"call", "per call"},
                                              {"tier", "per token, by input length"},
                                              {"expression", "by a formula"},
                                              {NULL, NULL}};

const struct web_field page_price_fields[PAGE_PRICE_FIELDS] = {
    {.name = "model",
     .label = "Model",
     .kind = WEB_TEXT,
     .flags = WEB_REQUIRED | WEB_FIXED,
     .most = 191,
     .help = "with stars for many: gpt-4o-*"},
    {.name = "form",
     .label = "Form",
     .kind = WEB_CHOICE,
     .flags = WEB_REQUIRED,
     .choices = page_price_forms},
    RATE("input", "Input, USD per 1M tokens"),
    RATE("output", "Output"),
    RATE("cache_read", "Read from a cache"),
    RATE("cache_write_5m", "Written to a cache for 5 minutes"),
    RATE("cache_write_1h", "Written to a cache for 1 hour"),
    RATE("image", "Image input"),
    RATE("audio_in", "Audio input"),
    RATE("audio_out", "Audio output"),
    RATE("call", "USD per call"),
    {.name = "tiers",
     .label = "Tiers",
     .kind = WEB_LONG,
     .most = 2000,
     .help = "one a line: 200000 input=5 output=15; above that input all of a request costs so"},
    {.name = "expression",
     .label = "Formula",
     .kind = WEB_LONG,
     .most = TG_EXPRESSION_TEXT,
     .help = "USD per 1M tokens: len > 200000 ? p * 5 + c * 15 : p * 2.5 + cr * 0.25 + c * 10"},
    {.name = "tools",
     .label = "Tools, USD per call",
     .kind = WEB_LONG,
     .most = 1000,
     .help = "one a line: web_search=0.01; also file_search, code_interpreter, image_generation, "
             "default"},
    {.name = "context_tokens", .label = "Context, tokens", .kind = WEB_INTEGER, .most = 1000000000},
    {.name = "max_output_tokens",
     .label = "Longest output, tokens",
     .kind = WEB_INTEGER,
     .most = 1000000000},
    {.name = "vendor", .label = "Vendor", .kind = WEB_TEXT, .most = TG_PRICE_VENDOR_TEXT - 1},
    {.name = "dated",
     .label = "As of",
     .kind = WEB_TEXT,
     .most = TG_PRICE_DATE_TEXT - 1,
     .help = "2026-11-30"},
};

/* --- From the form: it becomes the JSON form, which has one reader --- */

static bool is_number(const struct web_field *field)
{
    return field->kind == WEB_INTEGER;
}

/* The fields that are members as they stand. */
static void put_fields(struct web_page *page, struct tg_json_writer *out)
{
    for (size_t i = 1; i < PAGE_PRICE_FIELDS; i++) {
        const struct web_field *field = &page_price_fields[i];
        const struct web_value *value = web_value(page, field->name);

        if (*value->text == '\0' || strcmp(field->name, "tiers") == 0 ||
            strcmp(field->name, "tools") == 0)
            continue;
        if (is_number(field))
            tg_json_put_int(out, field->name, value->number);
        else
            tg_json_put_str(out, field->name, value->text);
    }
}

static enum tg_class put_form(struct web_page *page, struct tg_json_writer *out)
{
    enum tg_class class;

    tg_json_begin_object(out);
    put_fields(page, out);
    class = tg_price_put_tiers(web_text(page, "tiers"), out, &page->err);
    if (class == TG_OK)
        class = tg_price_put_tools(web_text(page, "tools"), out, &page->err);
    tg_json_end_object(out);
    return class;
}

/* "tiers.0.input" is said at the field tiers. */
static enum tg_class name_field(struct web_page *page)
{
    char *param = page->err.param;

    if (strcmp(param, "tool_call") == 0)
        snprintf(param, sizeof page->err.param, "tools");
    param[strcspn(param, ".")] = '\0';
    return page->err.class;
}

enum tg_class page_price_read(struct web_page *page, struct tg_price *ret)
{
    struct tg_json_writer out;
    struct tg_json *root = NULL;
    struct tg_buf json;
    const char *unused;
    enum tg_class class;

    tg_buf_init(&json, 0);
    tg_json_writer_init(&out, &json);
    class = put_form(page, &out);
    if (class == TG_OK)
        class = tg_json_parse(json.data, json.len, &root, &page->err);
    if (class == TG_OK)
        class = tg_price_read(root, page->arena, ret, &unused, &page->err);
    if (class == TG_OK)
        class = tg_price_check_to_save(ret, &page->err);
    tg_json_free(root);
    tg_buf_done(&json);
    if (class != TG_OK)
        return name_field(page);
    tg_price_hash(ret);
    return TG_OK;
}

/* --- Into the form --- */

static void fill_text(struct web_page *page, const char *name,
                      void (*write)(const struct tg_price *, struct tg_buf *),
                      const struct tg_price *price)
{
    struct tg_buf text;

    tg_buf_init(&text, 0);
    write(price, &text);
    web_put_text(page, name, tg_buf_text(&text));
    tg_buf_done(&text);
}

void page_price_fill(struct web_page *page, const struct tg_price_row *row)
{
    const struct tg_price *price = &row->price;

    web_put_text(page, "model", row->model);
    web_put_text(page, "form", tg_price_form_name(price->form));
    for (int i = 0; i < TG_RATE__COUNT; i++)
        web_put_text(page, tg_rate_name((enum tg_rate)i),
                     tg_rate_text(&price->rates, (enum tg_rate)i));
    web_put_text(page, "call", price->call);
    fill_text(page, "tiers", tg_price_tiers_text, price);
    fill_text(page, "tools", tg_price_tools_text, price);
    web_put_text(page, "expression", price->expression);
    if (price->context_tokens != 0)
        web_put_number(page, "context_tokens", price->context_tokens);
    if (price->max_output_tokens != 0)
        web_put_number(page, "max_output_tokens", price->max_output_tokens);
    web_put_text(page, "vendor", price->vendor);
    web_put_text(page, "dated", price->dated);
}
