#include "common/store/plan_reset.h"

#include "common/base/clock.h"
#include "common/base/id.h"
#include "common/store/read.h"

enum tg_class tg_plan_due(struct tg_db *db, struct tg_arena *arena, int most,
                          struct tg_plan_due_list *ret, struct tg_error *err)
{
    static const char sql[] =
        "SELECT s.id, s.user_id, s.period_number, p.quota_per_period, p.period, u.time_zone,"
        " s.period_end_at, NOW(6) FROM subscriptions s JOIN plans p ON p.id = s.plan_id"
        " JOIN users u ON u.id = s.user_id WHERE s.period_end_at <= NOW(6)"
        " AND s.status = 'active' AND (s.ends_at IS NULL OR s.ends_at > NOW(6))"
        " AND NOT EXISTS (SELECT 1 FROM plan_resets r WHERE r.subscription_id = s.id"
        " AND r.applied_at IS NULL) ORDER BY s.period_end_at LIMIT ?";
    const struct tg_db_value values[] = {TG_DB_I(most)};
    struct tg_db_rows *rows;
    enum tg_class class = tg_db_select(db, sql, values, 1, &rows);

    if (class != TG_OK)
        return tg_store_failed(db, class, err);
    ret->plans = tg_arena_calloc(arena, (size_t)most, sizeof *ret->plans);
    ret->count = 0;
    while (ret->count < (size_t)most && tg_db_next(rows))
        ret->plans[ret->count++] =
            (struct tg_plan_due){.subscription_id = tg_db_int(rows, 0),
                                 .user_id = tg_db_int(rows, 1),
                                 .period_number = tg_db_int(rows, 2),
                                 .quota = tg_db_int(rows, 3),
                                 .period = tg_store_text(arena, rows, 4),
                                 .zone = tg_store_text(arena, rows, 5),
                                 .end_unix_us = tg_store_time(rows, 6),
                                 .now_unix_us = tg_store_time(rows, 7)};
    tg_db_rows_free(rows);
    return TG_OK;
}

static enum tg_class put(struct tg_db *db, const struct tg_plan_due *due, int64_t end_unix_us,
                         struct tg_error *err)
{
    static const char move[] =
        "UPDATE subscriptions SET period_end_at = ? WHERE id = ? AND period_number = ?"
        " AND period_end_at = ?";
    static const char insert[] =
        "INSERT INTO plan_resets (entry_id, subscription_id, user_id, period_number, quota)"
        " VALUES (?, ?, ?, ?, ?) ON DUPLICATE KEY UPDATE plan_resets.id = plan_resets.id";
    const struct tg_id id = tg_id_new();
    char end[TG_TIME_TEXT], before[TG_TIME_TEXT];
    const struct tg_db_value row[] = {TG_DB_B(id.bytes, TG_ID_BYTES),
                                      TG_DB_I(due->subscription_id), TG_DB_I(due->user_id),
                                      TG_DB_I(due->period_number + 1), TG_DB_I(due->quota)};
    enum tg_class class;

    tg_time_format_sql(end_unix_us, end);
    tg_time_format_sql(due->end_unix_us, before);
    const struct tg_db_value moved[] = {TG_DB_S(end), TG_DB_I(due->subscription_id),
                                        TG_DB_I(due->period_number), TG_DB_S(before)};
    class = tg_db_run(db, move, moved, TG_COUNT_OF(moved), err);
    if (class != TG_OK || tg_db_done(db).affected == 0)
        return class;
    return tg_db_run(db, insert, row, TG_COUNT_OF(row), err);
}

enum tg_class tg_plan_reset_put(struct tg_db *db, const struct tg_plan_due *due,
                                int64_t end_unix_us, struct tg_error *err)
{
    enum tg_class class = tg_db_begin(db, err);

    if (class == TG_OK)
        class = put(db, due, end_unix_us, err);
    if (class == TG_OK)
        class = tg_db_commit(db, err);
    if (class != TG_OK)
        tg_db_rollback(db);
    return class;
}
