#include "common/store/channel_watch.h"

#include "common/base/money.h"

enum tg_class tg_store_channel_tested(struct tg_db *db, const struct tg_channel_test_row *row,
                                      struct tg_error *err)
{
    static const char sql[] = "UPDATE channels SET tested_at = UTC_TIMESTAMP(6), test_ms = ?, "
                              "test_code = LEFT(?, 64) WHERE id = ?";
    const struct tg_db_value values[] = {TG_DB_I(row->ms), TG_DB_S(row->code),
                                         TG_DB_I(row->channel_id)};

    return tg_db_run(db, sql, values, TG_COUNT_OF(values), err);
}

enum tg_class tg_store_channel_balance(struct tg_db *db, const struct tg_channel_balance_row *row,
                                       struct tg_error *err)
{
    static const char sql[] = "UPDATE channels SET balance_at = UTC_TIMESTAMP(6), "
                              "balance_usd = COALESCE(?, balance_usd), balance_code = LEFT(?, 64) "
                              "WHERE id = ?";
    char usd[TG_USD_TEXT];

    tg_usd_format(row->quota, usd);
    const struct tg_db_value values[] = {*row->code == '\0' ? TG_DB_S(usd) : TG_DB_N,
                                         TG_DB_S(row->code), TG_DB_I(row->channel_id)};

    return tg_db_run(db, sql, values, TG_COUNT_OF(values), err);
}

static enum tg_class put_breaker(struct tg_db *db, const char *node,
                                 const struct tg_breaker_row *row, struct tg_error *err)
{
    static const char sql[] =
        "INSERT INTO breaker_states (node, channel_id, model, state, until_at, seen_at) VALUES "
        "(?, ?, ?, ?, UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND, UTC_TIMESTAMP(6)) "
        "ON DUPLICATE KEY UPDATE state = VALUES(state), until_at = VALUES(until_at)";
    const struct tg_db_value values[] = {TG_DB_S(node), TG_DB_I(row->channel_id),
                                         TG_DB_S(row->model),
                                         TG_DB_S(row->probing ? "probing" : "open"),
                                         TG_DB_I(row->left_us)};

    return tg_db_run(db, sql, values, TG_COUNT_OF(values), err);
}

enum tg_class tg_store_breakers(struct tg_db *db, const char *node,
                                const struct tg_breaker_row *rows, size_t count,
                                struct tg_error *err)
{
    enum tg_class class = tg_db_begin(db, err);

    if (class != TG_OK)
        return class;
    class = tg_db_run(db, "DELETE FROM breaker_states WHERE node = ?",
                      (struct tg_db_value[]){TG_DB_S(node)}, 1, err);
    for (size_t i = 0; i < count && class == TG_OK; i++)
        class = put_breaker(db, node, &rows[i], err);
    if (class == TG_OK)
        return tg_db_commit(db, err);
    tg_db_rollback(db);
    return class;
}
