#include "common/store/ledger_day.h"

#include "common/store/balance.h"
#include "common/store/read.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static const int64_t day_us = INT64_C(86400) * 1000000;

/* The oldest partition whose name ("dYYYYMMDD", partition.h) is before <before>; "" for none. */
static enum tg_class oldest_before(struct tg_db *db, const char *before, char ret_name[16],
                                   char ret_bound[40], struct tg_error *err)
{
    static const char sql[] =
        "SELECT PARTITION_NAME FROM information_schema.PARTITIONS WHERE TABLE_SCHEMA = DATABASE()"
        " AND TABLE_NAME = 'ledger_entry' AND PARTITION_NAME <> 'later' AND PARTITION_NAME < ?"
        " ORDER BY PARTITION_ORDINAL_POSITION LIMIT 1";
    struct tg_db_value values[] = {TG_DB_S(before)};
    struct tg_db_rows *rows;
    struct tm day = {0};
    enum tg_class class = tg_db_select(db, sql, values, 1, &rows);

    if (class != TG_OK)
        return tg_store_failed(db, class, err);
    ret_name[0] = '\0';
    if (tg_db_next(rows) &&
        sscanf(tg_db_text(rows, 0), "d%4d%2d%2d", &day.tm_year, &day.tm_mon, &day.tm_mday) == 3) {
        day.tm_year -= 1900;
        day.tm_mon -= 1;
        snprintf(ret_name, 16, "%s", tg_db_text(rows, 0));
        /* the least UUIDv7 of the day after */
        snprintf(ret_bound, 40, "%012llx00000000000000000000",
                 (unsigned long long)(timegm(&day) + 86400) * 1000);
    }
    tg_db_rows_free(rows);
    return TG_OK;
}

static enum tg_class fold_shard(struct tg_db *db, const char *bound, int shard,
                                struct tg_error *err)
{
    static const char sum[] =
        "INSERT INTO ledger_day (day, user_id, kind, amount_quota, count)"
        " SELECT DATE(FROM_UNIXTIME(CONV(HEX(LEFT(request_id, 6)), 16, 10) DIV 1000)) AS d,"
        " user_id, CONCAT(kind, IF(plan_id = 0, '', '/plan')) AS k, SUM(amount_quota), COUNT(*)"
        " FROM ledger_entry WHERE request_id < UNHEX(?) AND shard = ? GROUP BY d, user_id, k"
        " ON DUPLICATE KEY UPDATE"
        " amount_quota = ledger_day.amount_quota + VALUES(amount_quota),"
        " count = ledger_day.count + VALUES(count)";
    static const char take[] =
        "DELETE FROM ledger_entry WHERE request_id < UNHEX(?) AND shard = ?";
    struct tg_db_value values[] = {TG_DB_S(bound), TG_DB_I(shard)};
    enum tg_class class = tg_db_begin(db, err);

    if (class == TG_OK)
        class = tg_db_run(db, sum, values, 2, err);
    if (class == TG_OK)
        class = tg_db_run(db, take, values, 2, err);
    if (class == TG_OK)
        class = tg_db_commit(db, err);
    if (class != TG_OK)
        tg_db_rollback(db);
    return class;
}

/* Only when nothing is left: an entry may have come in late, by a replay. */
static enum tg_class drop_if_empty(struct tg_db *db, const char *name, const char *bound,
                                   bool *ret_dropped, struct tg_error *err)
{
    static const char left[] = "SELECT EXISTS (SELECT 1 FROM ledger_entry"
                               " WHERE request_id < UNHEX(?))";
    struct tg_db_value values[] = {TG_DB_S(bound)};
    struct tg_db_rows *rows;
    char sql[96];
    bool empty;
    enum tg_class class = tg_db_select(db, left, values, 1, &rows);

    if (class != TG_OK)
        return tg_store_failed(db, class, err);
    empty = tg_db_next(rows) && tg_db_int(rows, 0) == 0;
    tg_db_rows_free(rows);
    *ret_dropped = empty;
    if (!empty)
        return TG_OK;
    snprintf(sql, sizeof sql, "ALTER TABLE ledger_entry DROP PARTITION %s", name);
    return tg_db_script(db, sql, err);
}

enum tg_class tg_ledger_day_fold(struct tg_db *db, int64_t now_unix_us, int keep_days,
                                 int *ret_days, struct tg_error *err)
{
    time_t oldest_kept = (time_t)((now_unix_us - keep_days * day_us) / 1000000);
    char before[16], name[16] = "", bound[40] = "";
    struct tm day;
    bool dropped = true;
    enum tg_class class = TG_OK;

    gmtime_r(&oldest_kept, &day);
    strftime(before, sizeof before, "d%Y%m%d", &day);
    *ret_days = 0;
    while (class == TG_OK && dropped) {
        class = oldest_before(db, before, name, bound, err);
        if (class != TG_OK || name[0] == '\0')
            break;
        for (int i = 0; class == TG_OK && i < TG_SHARDS; i++)
            class = fold_shard(db, bound, i, err);
        if (class == TG_OK)
            class = drop_if_empty(db, name, bound, &dropped, err);
        *ret_days += class == TG_OK && dropped;
    }
    return class;
}
