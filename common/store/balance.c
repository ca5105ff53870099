#include "common/store/balance.h"

#include <stdio.h>

#include "common/store/read.h"

/* One statement is one snapshot. */
enum tg_class tg_store_balance(struct tg_db *db, int64_t user_id, int64_t token_id,
                               int64_t plan_id, struct tg_balance *ret)
{
    static const char sql[] =
        "SELECT c.epoch, u.id, u.quota, u.authver, t.id, t.remain_quota, t.unlimited, s.id, "
        "s.remain_quota, s.period_number FROM ledger_cursor c "
        "LEFT JOIN users u ON u.id = ? "
        "LEFT JOIN tokens t ON t.id = ? AND t.user_id = u.id "
        "LEFT JOIN subscriptions s ON s.id = ? AND s.user_id = u.id WHERE c.shard = ?";
    const struct tg_db_value values[] = {TG_DB_I(user_id), TG_DB_I(token_id), TG_DB_I(plan_id),
                                         TG_DB_I(user_id % TG_SHARDS)};
    struct tg_db_rows *rows;
    enum tg_class class = tg_db_select(db, sql, values, TG_COUNT_OF(values), &rows);

    if (class != TG_OK)
        return class;
    *ret = (struct tg_balance){.epoch = 0};
    if (tg_db_next(rows))
        *ret = (struct tg_balance){.epoch = tg_db_int(rows, 0),
                                   .user_known = !tg_db_is_null(rows, 1),
                                   .user_quota = tg_db_int(rows, 2),
                                   .user_authver = tg_db_int(rows, 3),
                                   .token_known = !tg_db_is_null(rows, 4),
                                   .token_remain = tg_db_int(rows, 5),
                                   .token_unlimited = tg_db_int(rows, 6) != 0,
                                   .plan_known = !tg_db_is_null(rows, 7),
                                   .plan_remain = tg_db_int(rows, 8),
                                   .plan_period = tg_db_int(rows, 9)};
    tg_db_rows_free(rows);
    return TG_OK;
}

enum tg_class tg_store_cursors(struct tg_db *db, struct tg_cursor ret[TG_SHARDS],
                               struct tg_error *err)
{
    struct tg_db_rows *rows;
    int count = 0;
    enum tg_class class = tg_db_select(
        db, "SELECT shard, epoch, run_id, stream_id FROM ledger_cursor", NULL, 0, &rows);

    if (class != TG_OK)
        return tg_store_failed(db, class, err);
    while (tg_db_next(rows)) {
        int64_t shard = tg_db_int(rows, 0);

        if (shard < 0 || shard >= TG_SHARDS)
            continue;
        ret[shard].epoch = tg_db_int(rows, 1);
        snprintf(ret[shard].run_id, TG_RUN_ID_TEXT, "%s", tg_db_text(rows, 2));
        snprintf(ret[shard].stream_id, TG_STREAM_ID_TEXT, "%s", tg_db_text(rows, 3));
        count++;
    }
    tg_db_rows_free(rows);
    if (count != TG_SHARDS)
        return tg_fail(err, TG_CLASS_INTERNAL, "ledger_cursor", "%d of %d cursors are there",
                       count, TG_SHARDS);
    return TG_OK;
}
