#include "common/store/audit_log.h"

#include "common/base/buf.h"
#include "common/store/ids.h"
#include "common/store/read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct ids {
    struct tg_id *list;
    size_t count;
};

static enum tg_class add_ids(struct tg_db *db, const char *sql, const struct tg_db_value *value,
                             struct tg_arena *arena, struct ids *out)
{
    struct tg_db_rows *rows;
    enum tg_class class = tg_db_select(db, sql, value, value == NULL ? 0 : 1, &rows);

    if (class != TG_OK)
        return class;
    while (tg_db_next(rows)) {
        out->list = tg_store_grow(arena, out->list, out->count, sizeof *out->list);
        memcpy(out->list[out->count++].bytes, tg_db_bytes(rows, 0).ptr, TG_ID_BYTES);
    }
    tg_db_rows_free(rows);
    return TG_OK;
}

static int compare_ids(const void *a, const void *b)
{
    return memcmp(a, b, TG_ID_BYTES);
}

/* JSON array of UUID texts, each once, without those that are in <but>. Owns: the arena. */
static const char *id_json(struct ids *ids, const struct tg_audit_log *but,
                           struct tg_arena *arena)
{
    const char *copy;
    struct tg_buf json;

    tg_buf_init(&json, 0);
    if (ids->count > 0)
        qsort(ids->list, ids->count, sizeof *ids->list, compare_ids);
    for (size_t i = 0; i < ids->count; i++) {
        if (i > 0 && compare_ids(&ids->list[i - 1], &ids->list[i]) == 0)
            continue;
        if (but != NULL && but->entered_count > 0 &&
            bsearch(&ids->list[i], but->entered, but->entered_count, sizeof *but->entered,
                    compare_ids) != NULL)
            continue;
        tg_ids_add(&json, &ids->list[i]);
    }
    tg_ids_end(&json);
    copy = tg_arena_strdup(arena, tg_buf_text(&json));
    tg_buf_done(&json);
    return copy;
}

/* The log begins with the oldest partition ("mYYYYMM", partition.h) that has not been dropped. */
static enum tg_class read_first(struct tg_audit_log *log)
{
    static const char sql[] =
        "SELECT PARTITION_NAME, DATE_FORMAT(NOW(6) - INTERVAL 10 MINUTE, '%Y-%m-%d %H:%i:%s')"
        " FROM information_schema.PARTITIONS WHERE TABLE_SCHEMA = DATABASE()"
        " AND TABLE_NAME = 'request_log' ORDER BY PARTITION_ORDINAL_POSITION LIMIT 1";
    struct tg_db_rows *rows;
    struct tm month = {.tm_mday = 1};
    enum tg_class class = tg_db_select(log->db, sql, NULL, 0, &rows);

    if (class != TG_OK)
        return class;
    snprintf(log->first_id, sizeof log->first_id, "%032d", 0);
    snprintf(log->first_day, sizeof log->first_day, "1970-01-01");
    if (tg_db_next(rows)) {
        snprintf(log->since, sizeof log->since, "%s", tg_db_text(rows, 1));
        if (sscanf(tg_db_text(rows, 0), "m%4d%2d", &month.tm_year, &month.tm_mon) == 2) {
            month.tm_year -= 1900;
            month.tm_mon -= 1;
            snprintf(log->first_id, sizeof log->first_id, "%012llx00000000000000000000",
                     (unsigned long long)timegm(&month) * 1000);
            strftime(log->first_day, sizeof log->first_day, "%Y-%m-01", &month);
        }
    }
    tg_db_rows_free(rows);
    return TG_OK;
}

static enum tg_class read_sums(struct tg_audit_log *log, struct tg_arena *arena)
{
    static const char sql[] =
        "SELECT user_id, CAST(SUM(quota) AS SIGNED) FROM request_log"
        " WHERE request_id >= UNHEX(?) GROUP BY user_id HAVING SUM(quota) <> 0";
    struct tg_db_value values[] = {TG_DB_S(log->first_id)};
    struct tg_db_rows *rows;
    enum tg_class class = tg_db_select(log->db, sql, values, 1, &rows);

    if (class != TG_OK)
        return class;
    while (tg_db_next(rows)) {
        log->sums = tg_store_grow(arena, log->sums, log->sum_count, sizeof *log->sums);
        log->sums[log->sum_count++] = (struct tg_audit_log_sum){.user_id = tg_db_int(rows, 0),
                                                                .quota = tg_db_int(rows, 1)};
    }
    tg_db_rows_free(rows);
    return TG_OK;
}

static const char recently[] = "SELECT batch_id FROM log_applied WHERE at >= ?";
static const char waiting[] = "SELECT id FROM log_batch";

static enum tg_class read_entered(struct tg_audit_log *log, const char *waiting_json,
                                  struct tg_arena *arena)
{
    static const char of_these[] =
        "SELECT a.batch_id FROM JSON_TABLE(?, '$[*]' COLUMNS (batch CHAR(36) PATH '$')) AS b"
        " STRAIGHT_JOIN log_applied a ON a.batch_id = UNHEX(REPLACE(b.batch, '-', ''))";
    struct tg_db_value since = TG_DB_S(log->since), these = TG_DB_S(waiting_json);
    struct ids entered = {0};
    enum tg_class class = add_ids(log->db, recently, &since, arena, &entered);

    if (class == TG_OK)
        class = add_ids(log->db, of_these, &these, arena, &entered);
    if (entered.count > 0)
        qsort(entered.list, entered.count, sizeof *entered.list, compare_ids);
    log->entered = entered.list;
    log->entered_count = entered.count;
    return class;
}

enum tg_class tg_audit_log_read(struct tg_audit_log *log, struct tg_db *main_db,
                                struct tg_arena *arena, struct tg_error *err)
{
    struct ids before = {0};
    enum tg_class class = add_ids(main_db, waiting, NULL, arena, &before);

    if (class != TG_OK)
        return tg_store_failed(main_db, class, err);
    class = tg_db_begin_snapshot(log->db, err);
    if (class != TG_OK)
        return class;
    class = read_first(log);
    if (class == TG_OK)
        class = read_sums(log, arena);
    if (class == TG_OK)
        class = read_entered(log, id_json(&before, NULL, arena), arena);
    if (class != TG_OK)
        (void)tg_store_failed(log->db, class, err);
    tg_db_rollback(log->db);
    return class;
}

enum tg_class tg_audit_log_missing(const struct tg_audit_log *log, struct tg_db *main_db,
                                   struct tg_arena *arena, const char **ret, struct tg_error *err)
{
    struct tg_db_value since = TG_DB_S(log->since);
    struct ids missing = {0};
    enum tg_class class = add_ids(main_db, waiting, NULL, arena, &missing);

    if (class != TG_OK)
        return tg_store_failed(main_db, class, err);
    class = add_ids(log->db, recently, &since, arena, &missing);
    if (class != TG_OK)
        return tg_store_failed(log->db, class, err);
    *ret = id_json(&missing, log, arena);
    return TG_OK;
}
