/* prices - what models cost: listed, set in every form, dropped. */
#include "admin-cgi/pages/pages.h"

#include <string.h>

#include "admin-cgi/pages/price_form.h"
#include "common/price/price_json.h"
#include "common/store/price.h"

enum { UNPRICED_SHOWN = 20 };

static const struct web_field filter[] = {
    {.name = "search", .label = "Model", .kind = WEB_TEXT, .most = 191},
    {.name = "form", .label = "Form", .kind = WEB_CHOICE, .choices = page_price_forms},
};
const struct web_form_def page_prices_filter = {
    .fields = filter, .count = TG_COUNT_OF(filter), .submit = "Search", .in_query = true};

/* Models without a price, as a member of their own beside the list. */
static enum tg_class put_unpriced(struct web_page *page)
{
    const struct tg_page at = {.limit = UNPRICED_SHOWN};
    enum tg_class class;

    tg_json_key(&page->out, "unpriced");
    tg_json_begin_object(&page->out);
    class = tg_list_unpriced(page->main_db, &at, &page->out, &page->err);
    tg_json_end_object(&page->out);
    return class;
}

enum tg_class page_prices(struct web_page *page)
{
    const struct tg_price_filter wanted = {.search = web_text(page, "search"),
                                           .form = web_text(page, "form")};
    struct tg_page at;
    enum tg_class class = web_list_page(page, &at);

    tg_json_put_str(&page->out, "title", "Prices");
    if (class == TG_OK)
        class = web_main(page);
    if (class == TG_OK)
        class = tg_list_prices(page->main_db, &wanted, &at, &page->out, &page->err);
    return class == TG_OK ? put_unpriced(page) : class;
}

enum tg_class page_prices_unpriced(struct web_page *page)
{
    struct tg_page at;
    enum tg_class class = web_list_page(page, &at);

    tg_json_put_str(&page->out, "title", "Models without a price");
    if (class == TG_OK)
        class = web_main(page);
    return class == TG_OK ? tg_list_unpriced(page->main_db, &at, &page->out, &page->err) : class;
}

/* --- One price --- */

static enum tg_class view_new(struct web_page *page)
{
    return page_price_new(page);
}

static enum tg_class view(struct web_page *page)
{
    return page_price(page);
}

const struct web_form_def page_price_form = {.fields = page_price_fields,
                                             .count = PAGE_PRICE_FIELDS,
                                             .view = view_new,
                                             .action = "",
                                             .submit = "Set the price"};
const struct web_form_def page_price_edit_form = {.fields = page_price_fields,
                                                  .count = PAGE_PRICE_FIELDS,
                                                  .view = view,
                                                  .action = "/model"};

static const struct web_field delete_fields[] = {
    {.name = "model", .label = "Model", .kind = WEB_TEXT, .flags = WEB_REQUIRED, .most = 191},
};
const struct web_form_def page_price_delete_form = {.fields = delete_fields,
                                                    .count = TG_COUNT_OF(delete_fields)};

static void put_price(struct web_page *page, const struct tg_price_row *row)
{
    tg_json_key(&page->out, "price");
    tg_json_begin_object(&page->out);
    tg_json_put_str(&page->out, "model", row->model);
    tg_price_write(&row->price, &page->out);
    tg_json_end_object(&page->out);
}

/* Of a GET the model stands in the query, of a form that is shown again in its field. */
static const char *model_of(const struct web_page *page)
{
    const char *name = page->request->method == WEB_POST
                           ? web_text(page, "model")
                           : web_param(&page->request->query, "name");

    return name != NULL ? name : "";
}

static enum tg_class find(struct web_page *page, const char *model,
                          const struct tg_price_row **ret)
{
    enum tg_class class = web_main(page);

    if (class == TG_OK)
        class = tg_store_price(page->main_db, page->arena, model, ret, &page->err);
    return class;
}

enum tg_class page_price_new(struct web_page *page)
{
    const char *model = web_param(&page->request->query, "name");

    tg_json_put_str(&page->out, "title", "New price");
    web_put_text(page, "form", "token");
    if (model != NULL)
        web_put_text(page, "model", model);
    return TG_OK;
}

enum tg_class page_price(struct web_page *page)
{
    const char *model = model_of(page);
    const struct tg_price_row *row = NULL;
    enum tg_class class = find(page, model, &row);

    if (class == TG_OK && row == NULL)
        class = tg_fail(&page->err, TG_CLASS_NOT_FOUND, "price_not_found",
                        "there is no price for this model");
    if (class != TG_OK)
        return class;
    tg_json_put_str(&page->out, "title", row->model);
    put_price(page, row);
    page_price_fill(page, row);
    return TG_OK;
}

static enum tg_class save(struct web_page *page)
{
    struct tg_price_row row = {.model = web_text(page, "model")};
    enum tg_class class = page_price_read(page, &row.price);

    if (class == TG_OK)
        class = tg_store_price_set(page->main_db, &page->actor, row.model, &row.price, &page->err);
    if (class != TG_OK)
        return class;
    put_price(page, &row);
    web_tell(page, "prices");
    web_go(page, "The price is saved.", "prices.cgi");
    return TG_OK;
}

enum tg_class page_price_add(struct web_page *page)
{
    const struct tg_price_row *row = NULL;
    enum tg_class class = find(page, web_text(page, "model"), &row);

    if (class == TG_OK && row != NULL)
        return web_refuse(page, "model", "there is a price for this model already");
    page->status = 201;
    return class == TG_OK ? save(page) : class;
}

/* Sets all of it: what is left out is not set any more. */
enum tg_class page_price_change(struct web_page *page)
{
    const struct tg_price_row *row = NULL;
    enum tg_class class = find(page, web_text(page, "model"), &row);

    if (class == TG_OK && row == NULL)
        class = tg_fail(&page->err, TG_CLASS_NOT_FOUND, "price_not_found",
                        "there is no price for this model");
    return class == TG_OK ? save(page) : class;
}

enum tg_class page_price_delete(struct web_page *page)
{
    const char *model = web_text(page, "model");
    enum tg_class class = web_main(page);

    if (class == TG_OK)
        class = tg_store_price_delete(page->main_db, &page->actor, model, &page->err);
    if (class != TG_OK)
        return class;
    tg_json_put_str(&page->out, "deleted", model);
    web_tell(page, "prices");
    web_go(page, "The price is deleted.", "prices.cgi");
    return TG_OK;
}
