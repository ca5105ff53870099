#include "common/store/price.h"

#include <stdio.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/price/price_json.h"
#include "common/store/check.h"
#include "common/store/read.h"

/* --- reading ------------------------------------------------------------------------------- */

struct tg_price_row tg_store_price_row(struct tg_arena *arena, const struct tg_db_rows *rows)
{
    /* in the order of the columns */
    static const enum tg_rate rates[] = {
        TG_RATE_INPUT,          TG_RATE_OUTPUT, TG_RATE_CACHE_READ, TG_RATE_CACHE_WRITE_5M,
        TG_RATE_CACHE_WRITE_1H, TG_RATE_IMAGE,  TG_RATE_AUDIO_IN,   TG_RATE_AUDIO_OUT};
    struct tg_price_row row = {.model = tg_store_text(arena, rows, 0)};
    struct tg_price *price = &row.price;
    struct tg_error err;

    price->form = tg_price_form_of(tg_db_text(rows, 1));
    for (size_t i = 0; i < TG_COUNT_OF(rates); i++)
        tg_store_decimal(rows, 2 + (int)i, tg_rate_slot(&price->rates, rates[i]), TG_DECIMAL_TEXT);
    tg_store_decimal(rows, 10, price->call, sizeof price->call);
    if (tg_price_read_columns(tg_store_text(arena, rows, 11), tg_store_text(arena, rows, 12),
                              price, &err) != TG_OK) {
        tg_log(TG_LOG_ERROR, "price", "the price of %s cannot be read: %s", row.model,
               err.message);
        price->form = TG_PRICE_FORM__COUNT;
    }
    price->expression = tg_db_is_null(rows, 13) ? NULL : tg_store_text(arena, rows, 13);
    price->max_output_tokens = tg_db_int(rows, 14);
    price->context_tokens = tg_db_int(rows, 15);
    snprintf(price->vendor, sizeof price->vendor, "%s", tg_db_text(rows, 16));
    snprintf(price->dated, sizeof price->dated, "%s", tg_db_text(rows, 17));
    snprintf(price->hash, sizeof price->hash, "%s", tg_db_text(rows, 18));
    return row;
}

static enum tg_class select_prices(struct tg_db *db, struct tg_arena *arena, const char *model,
                                   struct tg_price_rows *ret, struct tg_error *err)
{
    struct tg_price_rows got = {NULL, 0};
    struct tg_db_rows *rows;
    enum tg_class class = tg_db_select(db,
                                       "SELECT " TG_PRICE_COLUMNS " FROM model_prices "
                                       "WHERE model = COALESCE(?, model) ORDER BY model",
                                       (struct tg_db_value[]){TG_DB_S(model)}, 1, &rows);

    if (class != TG_OK)
        return tg_store_failed(db, class, err);
    while (tg_db_next(rows)) {
        got.rows = tg_store_grow(arena, got.rows, got.count, sizeof *got.rows);
        got.rows[got.count++] = tg_store_price_row(arena, rows);
    }
    tg_db_rows_free(rows);
    *ret = got;
    return TG_OK;
}

enum tg_class tg_store_prices(struct tg_db *db, struct tg_arena *arena, struct tg_price_rows *ret,
                              struct tg_error *err)
{
    return select_prices(db, arena, NULL, ret, err);
}

enum tg_class tg_store_price(struct tg_db *db, struct tg_arena *arena, const char *model,
                             const struct tg_price_row **ret, struct tg_error *err)
{
    struct tg_price_rows rows = {NULL, 0};
    enum tg_class class = select_prices(db, arena, model, &rows, err);

    if (class == TG_OK)
        *ret = rows.count > 0 ? rows.rows : NULL;
    return class;
}

/* --- writing ------------------------------------------------------------------------------- */

static const char *or_null(const char *text)
{
    return text == NULL || text[0] == '\0' ? NULL : text;
}

static void write_price(const struct tg_price *price, struct tg_buf *out)
{
    struct tg_json_writer json;

    tg_json_writer_init(&json, out);
    tg_json_begin_object(&json);
    tg_price_write(price, &json);
    tg_json_end_object(&json);
}

/* The price that is about to go; nothing when there is none. Locks it. */
static bool read_old(struct tg_change *change, const char *model, struct tg_buf *ret)
{
    struct tg_db_rows *rows = tg_change_select(
        change, "SELECT " TG_PRICE_COLUMNS " FROM model_prices WHERE model = ? FOR UPDATE",
        (struct tg_db_value[]){TG_DB_S(model)}, 1);
    struct tg_arena *arena;
    bool found = rows != NULL && tg_db_next(rows);

    if (found) {
        struct tg_price_row row;

        arena = tg_arena_new();
        row = tg_store_price_row(arena, rows);
        write_price(&row.price, ret);
        tg_arena_free(arena);
    }
    tg_db_rows_free(rows);
    return found;
}

static void note(struct tg_change *change, const char *model, const struct tg_buf *before,
                 const struct tg_price *price)
{
    struct tg_buf after;

    tg_buf_init(&after, 0);
    if (price != NULL)
        write_price(price, &after);
    tg_change_audit(change,
                    &(struct tg_audit_note){
                        .action = price != NULL ? "price.set" : "price.delete",
                        .object_type = "price",
                        .object_id = model,
                        .before_json = before->len > 0 ? tg_buf_text(before) : NULL,
                        .after_json = price != NULL ? tg_buf_text(&after) : NULL});
    tg_buf_done(&after);
}

/* A column's JSON, NULL for none; the buffer is the caller's. */
static const char *column(bool (*write)(const struct tg_price *, struct tg_json_writer *),
                          const struct tg_price *price, struct tg_buf *buf)
{
    struct tg_json_writer out;

    tg_buf_init(buf, 0);
    tg_json_writer_init(&out, buf);
    return write(price, &out) ? tg_buf_text(buf) : NULL;
}

static void put(struct tg_change *change, const char *model, const struct tg_price *price)
{
    const struct tg_rates *rates = &price->rates;
    struct tg_buf before, tiers, tools;
    char now[TG_TIME_TEXT];

    tg_buf_init(&before, 0);
    (void)read_old(change, model, &before);
    tg_time_format_sql(tg_unix_us(), now);
    const struct tg_db_value values[] = {
        TG_DB_S(model),
        TG_DB_S(tg_price_form_name(price->form)),
        TG_DB_S(or_null(rates->input)),
        TG_DB_S(or_null(rates->output)),
        TG_DB_S(or_null(rates->cache_read)),
        TG_DB_S(or_null(rates->cache_write_5m)),
        TG_DB_S(or_null(rates->cache_write_1h)),
        TG_DB_S(or_null(rates->image)),
        TG_DB_S(or_null(rates->audio_in)),
        TG_DB_S(or_null(rates->audio_out)),
        TG_DB_S(or_null(price->call)),
        TG_DB_S(column(tg_price_write_tiers, price, &tiers)),
        TG_DB_S(column(tg_price_write_tools, price, &tools)),
        TG_DB_S(or_null(price->expression)),
        TG_DB_I(price->max_output_tokens),
        TG_DB_I(price->context_tokens),
        TG_DB_S(price->vendor),
        TG_DB_S(price->dated),
        TG_DB_S(price->hash),
        TG_DB_S(now)};

    /* REPLACE: what is not set now is not set any more */
    tg_change_run(change,
                  "REPLACE INTO model_prices (" TG_PRICE_COLUMNS ", updated_at) "
                  "VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
                  values, TG_COUNT_OF(values));
    tg_buf_done(&tiers);
    tg_buf_done(&tools);
    note(change, model, &before, price);
    tg_buf_done(&before);
}

enum tg_class tg_store_price_set(struct tg_db *db, const struct tg_actor *actor, const char *model,
                                 const struct tg_price *price, struct tg_error *err)
{
    struct tg_change change;
    enum tg_class class = tg_check_model(model, err);

    if (class != TG_OK)
        return class;
    tg_change_begin(&change, db, actor, err);
    put(&change, model, price);
    tg_change_routing(&change);
    return tg_change_end(&change);
}

static bool exists(struct tg_change *change, const char *model)
{
    struct tg_buf unused;
    bool found;

    tg_buf_init(&unused, 0);
    found = read_old(change, model, &unused);
    tg_buf_done(&unused);
    return found;
}

enum tg_class tg_store_price_import(struct tg_db *db, const struct tg_actor *actor,
                                    struct tg_price_import *import, struct tg_error *err)
{
    struct tg_change change;

    for (size_t i = 0; i < import->count; i++) {
        enum tg_class class = tg_check_model(import->rows[i].model, err);

        if (class != TG_OK)
            return class;
    }
    import->set = import->left = 0;
    tg_change_begin(&change, db, actor, err);
    for (size_t i = 0; i < import->count; i++) {
        const struct tg_price_row *row = &import->rows[i];

        if (import->missing_only && exists(&change, row->model)) {
            import->left++;
            continue;
        }
        put(&change, row->model, &row->price);
        import->set++;
    }
    tg_change_routing(&change);
    return tg_change_end(&change);
}

enum tg_class tg_store_price_delete(struct tg_db *db, const struct tg_actor *actor,
                                    const char *model, struct tg_error *err)
{
    struct tg_change change;
    struct tg_buf before;

    tg_buf_init(&before, 0);
    tg_change_begin(&change, db, actor, err);
    if (!read_old(&change, model, &before) && change.class == TG_OK)
        change.class = tg_fail(err, TG_CLASS_NOT_FOUND, "price_not_found",
                               "there is no price for %s", model);
    tg_change_run(&change, "DELETE FROM model_prices WHERE model = ?",
                  (struct tg_db_value[]){TG_DB_S(model)}, 1);
    tg_change_routing(&change);
    note(&change, model, &before, NULL);
    tg_buf_done(&before);
    return tg_change_end(&change);
}
