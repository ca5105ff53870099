#include "common/store/offline.h"

#include "common/base/log.h"
#include "common/store/read.h"

#include <string.h>

/* The amounts that the rows of these ids bind, by one account column. */
#define BOUND(account, condition)                                                             \
    "(SELECT r." account " AS id, SUM(r.amount_quota) AS amount FROM"                          \
    " JSON_TABLE(?, '$[*]' COLUMNS (entry CHAR(36) PATH '$')) AS e STRAIGHT_JOIN"              \
    " (SELECT request_id, user_id, token_id, plan_id, amount_quota FROM offline_hold UNION ALL" \
    " SELECT request_id, user_id, token_id, plan_id, amount_quota FROM offline_entry) AS r"    \
    " ON r.request_id = UNHEX(REPLACE(e.entry, '-', '')) WHERE " condition                     \
    " GROUP BY r." account ") AS b"

static enum tg_class any(struct tg_db *db, const struct tg_db_value *ids, bool *ret,
                         struct tg_error *err)
{
    static const char sql[] =
        "SELECT EXISTS (SELECT 1 FROM"
        " JSON_TABLE(?, '$[*]' COLUMNS (entry CHAR(36) PATH '$')) AS e STRAIGHT_JOIN"
        " offline_hold h ON h.request_id = UNHEX(REPLACE(e.entry, '-', '')))"
        " OR EXISTS (SELECT 1 FROM"
        " JSON_TABLE(?, '$[*]' COLUMNS (entry CHAR(36) PATH '$')) AS e STRAIGHT_JOIN"
        " offline_entry o ON o.request_id = UNHEX(REPLACE(e.entry, '-', '')))";
    struct tg_db_value values[] = {*ids, *ids};
    struct tg_db_rows *rows;
    enum tg_class class = tg_db_select(db, sql, values, 2, &rows);

    if (class != TG_OK)
        return tg_store_failed(db, class, err);
    *ret = tg_db_next(rows) && tg_db_int(rows, 0) != 0;
    tg_db_rows_free(rows);
    return TG_OK;
}

enum tg_class tg_offline_clear(struct tg_db *db, const char *ids_json, struct tg_error *err)
{
    static const char *const steps[] = {
        "UPDATE users a JOIN " BOUND("user_id", "r.plan_id = 0")
            " ON b.id = a.id SET a.offline_quota = a.offline_quota - b.amount",
        "UPDATE tokens a JOIN " BOUND("token_id", "r.token_id <> 0")
            " ON b.id = a.id SET a.offline_quota = a.offline_quota - b.amount",
        "UPDATE subscriptions a JOIN " BOUND("plan_id", "r.plan_id <> 0")
            " ON b.id = a.id SET a.offline_quota = a.offline_quota - b.amount",
        "DELETE h FROM offline_hold h JOIN"
        " JSON_TABLE(?, '$[*]' COLUMNS (entry CHAR(36) PATH '$')) AS e"
        " ON h.request_id = UNHEX(REPLACE(e.entry, '-', ''))",
        "DELETE o FROM offline_entry o JOIN"
        " JSON_TABLE(?, '$[*]' COLUMNS (entry CHAR(36) PATH '$')) AS e"
        " ON o.request_id = UNHEX(REPLACE(e.entry, '-', ''))",
    };
    struct tg_db_value ids = TG_DB_S(ids_json);
    bool there = false;
    enum tg_class class = any(db, &ids, &there, err);

    if (class != TG_OK || !there)
        return class;
    for (size_t i = 0; i < TG_COUNT_OF(steps) && class == TG_OK; i++)
        class = tg_db_run(db, steps[i], &ids, 1, err);
    return class;
}

enum tg_class tg_offline_entries(struct tg_db *db, struct tg_arena *arena, int most,
                                 struct tg_entry_list *ret, struct tg_error *err)
{
    static const char sql[] = "SELECT body FROM offline_entry ORDER BY request_id LIMIT ?";
    struct tg_db_value values[] = {TG_DB_I(most)};
    struct tg_entry *list = tg_arena_calloc(arena, (size_t)most, sizeof *list);
    struct tg_db_rows *rows;
    size_t count = 0;
    enum tg_class class = tg_db_select(db, sql, values, 1, &rows);

    if (class != TG_OK)
        return tg_store_failed(db, class, err);
    while (tg_db_next(rows)) {
        struct tg_span body = tg_db_bytes(rows, 0);
        struct tg_error why;
        char *copy = tg_arena_strndup(arena, body.ptr, body.len);

        if (tg_entry_decode(copy, body.len, arena, &list[count], &why) == TG_OK)
            count++;
        else
            tg_log_error(TG_LOG_ERROR, "offline", &why);
    }
    tg_db_rows_free(rows);
    *ret = (struct tg_entry_list){.entries = list, .count = count};
    return TG_OK;
}
