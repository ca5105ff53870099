/* Prices, and models that have none. */
#include "common/store/paging.h"

#include "common/store/read.h"

#define PRICES \
    "SELECT model, form, input, output, cache_read, cache_write_5m, cache_write_1h, image, " \
    "audio_in, audio_out, call_price, tool_prices, tiers, expression, hash, context_tokens, " \
    "max_output_tokens, vendor, dated, updated_at, model, model FROM model_prices WHERE "
static const struct tg_column price_columns[] = {
    {"model", TG_TEXT}, {"form", TG_TEXT}, {"input", TG_DECIMAL}, {"output", TG_DECIMAL},
    {"cache_read", TG_DECIMAL}, {"cache_write_5m", TG_DECIMAL}, {"cache_write_1h", TG_DECIMAL},
    {"image", TG_DECIMAL}, {"audio_in", TG_DECIMAL}, {"audio_out", TG_DECIMAL},
    {"call_price", TG_DECIMAL}, {"tool_prices", TG_JSON}, {"tiers", TG_JSON},
    {"expression", TG_TEXT}, {"hash", TG_TEXT}, {"context_tokens", TG_INT},
    {"max_output_tokens", TG_INT}, {"vendor", TG_TEXT}, {"dated", TG_TEXT},
    {"updated_at", TG_TIME}};
static const struct tg_sort price_sorts[] = {
    TG_SORT("model", TG_SORT_TEXT, TG_SORT_TEXT,
            PRICES "model LIKE ? ESCAPE '!' AND form = COALESCE(?, form)", "model", "model"),
};
static const struct tg_list prices = {.columns = price_columns,
                                      .column_count = TG_COUNT_OF(price_columns),
                                      .sorts = price_sorts,
                                      .sort_count = TG_COUNT_OF(price_sorts),
                                      .usual = "model"};

enum tg_class tg_list_prices(struct tg_db *db, const struct tg_price_filter *filter,
                             const struct tg_page *page, struct tg_json_writer *out,
                             struct tg_error *err)
{
    struct tg_buf like;
    const struct tg_db_value filters[] = {tg_list_like(&like, filter->search),
                                          tg_list_text(filter->form)};
    const struct tg_list_query query = {&prices, filters, TG_COUNT_OF(filters), page};
    enum tg_class class = tg_list_write(db, &query, out, err);

    tg_buf_done(&like);
    return class;
}

enum tg_class tg_view_price(struct tg_db *db, const char *model, struct tg_json_writer *out,
                            struct tg_error *err)
{
    struct tg_db_rows *rows;
    enum tg_class class = tg_db_select(db, PRICES "model = ?",
                                       (struct tg_db_value[]){TG_DB_S(model)}, 1, &rows);

    if (class != TG_OK)
        return tg_store_failed(db, class, err);
    if (tg_db_next(rows))
        tg_columns_members(out, price_columns, TG_COUNT_OF(price_columns), rows);
    else
        class = tg_fail(err, TG_CLASS_NOT_FOUND, "price_not_found", "there is no price for %s",
                        model);
    tg_db_rows_free(rows);
    return class;
}

/* A pattern's '*' is LIKE's '%'; what LIKE would take for a wildcard is escaped. */
#define UNPRICED \
    "SELECT a.model, a.model, a.model FROM (SELECT DISTINCT model FROM abilities WHERE " \
    "enabled = 1) a WHERE NOT EXISTS (SELECT 1 FROM model_prices p WHERE a.model LIKE " \
    "REPLACE(REPLACE(REPLACE(REPLACE(p.model, '!', '!!'), '%', '!%'), '_', '!_'), '*', '%') " \
    "ESCAPE '!')"
static const struct tg_column unpriced_columns[] = {{"model", TG_TEXT}};
static const struct tg_sort unpriced_sorts[] = {
    TG_SORT("model", TG_SORT_TEXT, TG_SORT_TEXT, UNPRICED, "a.model", "a.model"),
};
static const struct tg_list unpriced = {.columns = unpriced_columns,
                                        .column_count = TG_COUNT_OF(unpriced_columns),
                                        .sorts = unpriced_sorts,
                                        .sort_count = TG_COUNT_OF(unpriced_sorts),
                                        .usual = "model"};

enum tg_class tg_list_unpriced(struct tg_db *db, const struct tg_page *page,
                               struct tg_json_writer *out, struct tg_error *err)
{
    const struct tg_list_query query = {&unpriced, NULL, 0, page};

    return tg_list_write(db, &query, out, err);
}
