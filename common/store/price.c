#include "common/store/price.h"

#include <string.h>

#include "common/base/clock.h"
#include "common/json/writer.h"
#include "common/store/check.h"
#include "common/store/read.h"

static const char *const forms[] = {[TG_PRICE_TOKEN] = "token",
                                    [TG_PRICE_CALL] = "call",
                                    [TG_PRICE_TIER] = "tier",
                                    [TG_PRICE_EXPRESSION] = "expression"};

static const char *or_null(const char *decimal)
{
    return decimal[0] == '\0' ? NULL : decimal;
}

static void put_set(struct tg_json_writer *out, const char *key, const char *decimal)
{
    if (decimal[0] != '\0')
        tg_json_put_str(out, key, decimal);
}

static void note(struct tg_change *change, const char *model, const struct tg_price *price)
{
    struct tg_json_writer out;
    struct tg_buf after;

    tg_buf_init(&after, 0);
    tg_json_writer_init(&out, &after);
    tg_json_begin_object(&out);
    tg_json_put_str(&out, "form", forms[price->form]);
    put_set(&out, "input", price->input);
    put_set(&out, "output", price->output);
    put_set(&out, "cache_read", price->cache_read);
    put_set(&out, "cache_write_5m", price->cache_write_5m);
    put_set(&out, "cache_write_1h", price->cache_write_1h);
    put_set(&out, "image", price->image);
    put_set(&out, "audio_in", price->audio_in);
    put_set(&out, "audio_out", price->audio_out);
    put_set(&out, "call_price", price->call);
    put_set(&out, "tool_call", price->tool_call);
    tg_json_put_str(&out, "hash", price->hash);
    tg_json_end_object(&out);
    tg_change_audit(change, &(struct tg_audit_note){.action = "price.set",
                                                    .object_type = "price",
                                                    .object_id = model,
                                                    .after_json = tg_buf_text(&after)});
    tg_buf_done(&after);
}

enum tg_class tg_store_price_set(struct tg_db *db, const struct tg_actor *actor, const char *model,
                                 const struct tg_price *price, struct tg_error *err)
{
    char now[TG_TIME_TEXT];
    struct tg_change change;
    enum tg_class class = tg_check_model(model, err);

    if (class != TG_OK)
        return class;
    tg_time_format_sql(tg_unix_us(), now);
    const struct tg_db_value values[] = {TG_DB_S(model),
                                         TG_DB_S(forms[price->form]),
                                         TG_DB_S(or_null(price->input)),
                                         TG_DB_S(or_null(price->output)),
                                         TG_DB_S(or_null(price->cache_read)),
                                         TG_DB_S(or_null(price->cache_write_5m)),
                                         TG_DB_S(or_null(price->cache_write_1h)),
                                         TG_DB_S(or_null(price->image)),
                                         TG_DB_S(or_null(price->audio_in)),
                                         TG_DB_S(or_null(price->audio_out)),
                                         TG_DB_S(or_null(price->call)),
                                         TG_DB_S(or_null(price->tool_call)),
                                         TG_DB_S(or_null(price->tool_call)),
                                         TG_DB_S(price->hash),
                                         TG_DB_I(price->max_output_tokens),
                                         TG_DB_S(now)};

    tg_change_begin(&change, db, actor, err);
    /* REPLACE: what is not set now is not set any more */
    tg_change_run(&change,
                  "REPLACE INTO model_prices (model, form, input, output, cache_read, "
                  "cache_write_5m, cache_write_1h, image, audio_in, audio_out, call_price, "
                  "tool_prices, hash, max_output_tokens, updated_at) VALUES (?,?,?,?,?,?,?,?,?,?,?,"
                  "IF(? IS NULL, NULL, JSON_OBJECT('default', ?)),?,?,?)",
                  values, TG_COUNT_OF(values));
    tg_change_routing(&change);
    note(&change, model, price);
    return tg_change_end(&change);
}
