#include "common/store/partition.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/base/buf.h"

enum { LOCK_SECONDS = 60, MOST_AHEAD = 400 };
static const int64_t day_us = INT64_C(86400) * 1000000;

/* One partition to be: its name and the text behind VALUES LESS THAN. */
struct part {
    char name[40];
    char bound[64];
};

static struct tm utc(int64_t unix_us)
{
    time_t when = (time_t)(unix_us / 1000000);
    struct tm parts;

    gmtime_r(&when, &parts);
    return parts;
}

static void month_part(int64_t now_unix_us, int ahead, struct part *ret)
{
    struct tm now = utc(now_unix_us);
    int month = (now.tm_year + 1900) * 12 + now.tm_mon + ahead;

    snprintf(ret->name, sizeof ret->name, "m%04d%02d", month / 12, month % 12 + 1);
    snprintf(ret->bound, sizeof ret->bound, "'%04d-%02d-01'", (month + 1) / 12,
             (month + 1) % 12 + 1);
}

/* The bound of a day is the least UUIDv7 of the next: 48 bits of Unix milliseconds in front. */
static void day_part(int64_t now_unix_us, int ahead, struct part *ret)
{
    int64_t day = now_unix_us / day_us + ahead;
    struct tm parts = utc(day * day_us);

    snprintf(ret->name, sizeof ret->name, "d%04d%02d%02d", parts.tm_year + 1900, parts.tm_mon + 1,
             parts.tm_mday);
    snprintf(ret->bound, sizeof ret->bound, "x'%012" PRIx64 "00000000000000000000'",
             (uint64_t)((day + 1) * (day_us / 1000)));
}

static enum tg_class lock(struct tg_db *db, const char *table, struct tg_error *err)
{
    const struct tg_db_value values[] = {TG_DB_S(table), TG_DB_I(LOCK_SECONDS)};
    struct tg_db_rows *rows;
    enum tg_class class = tg_db_select(
        db, "SELECT GET_LOCK(CONCAT('tg.part.', LEFT(DATABASE(), 30), '.', ?), ?)", values, 2,
        &rows);
    bool taken;

    if (class != TG_OK) {
        if (err != NULL)
            *err = *tg_db_error(db);
        return class;
    }
    taken = tg_db_next(rows) && tg_db_int(rows, 0) == 1;
    tg_db_rows_free(rows);
    if (!taken)
        return tg_fail(err, TG_CLASS_CONFLICT, "db_retry", "the partitions of %s are busy", table);
    return TG_OK;
}

static void unlock(struct tg_db *db, const char *table)
{
    struct tg_db_rows *rows;

    /* a lost connection has lost its lock too */
    if (tg_db_select(db, "SELECT RELEASE_LOCK(CONCAT('tg.part.', LEFT(DATABASE(), 30), '.', ?))",
                     (struct tg_db_value[]){TG_DB_S(table)}, 1, &rows) == TG_OK)
        tg_db_rows_free(rows);
}

/* Names of the partitions, "later" left out, in order. */
static enum tg_class read_parts(struct tg_db *db, const char *table, struct tg_db_rows **ret,
                                struct tg_error *err)
{
    enum tg_class class = tg_db_select(db,
                                       "SELECT PARTITION_NAME FROM information_schema.PARTITIONS "
                                       "WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ? "
                                       "AND PARTITION_NAME <> 'later' "
                                       "ORDER BY PARTITION_ORDINAL_POSITION",
                                       (struct tg_db_value[]){TG_DB_S(table)}, 1, ret);

    if (class != TG_OK && err != NULL)
        *err = *tg_db_error(db);
    return class;
}

/* Cuts the parts behind the newest one off the front of "later", all in one statement. */
static enum tg_class cut(struct tg_db *db, const char *table, const struct part *parts,
                         size_t count, struct tg_error *err)
{
    char newest[40] = "";
    struct tg_db_rows *rows;
    struct tg_buf sql;
    bool any = false;
    enum tg_class class = read_parts(db, table, &rows, err);

    if (class != TG_OK)
        return class;
    while (tg_db_next(rows))
        snprintf(newest, sizeof newest, "%s", tg_db_text(rows, 0));
    tg_db_rows_free(rows);
    tg_buf_init(&sql, 0);
    tg_buf_printf(&sql, "ALTER TABLE %s REORGANIZE PARTITION later INTO (", table);
    for (size_t i = 0; i < count; i++)
        if (strcmp(parts[i].name, newest) > 0) { /* names sort by time */
            tg_buf_printf(&sql, "PARTITION %s VALUES LESS THAN (%s), ", parts[i].name,
                          parts[i].bound);
            any = true;
        }
    tg_buf_str(&sql, "PARTITION later VALUES LESS THAN (MAXVALUE))");
    if (any)
        class = tg_db_script(db, tg_buf_text(&sql), err);
    tg_buf_done(&sql);
    return class;
}

typedef void part_fn(int64_t now_unix_us, int ahead, struct part *ret);

static enum tg_class ensure(struct tg_db *db, const char *table, part_fn *make,
                            const int64_t when[2], struct tg_error *err)
{
    struct part parts[MOST_AHEAD + 1];
    size_t count = (size_t)when[1] + 1;
    enum tg_class class = lock(db, table, err);

    if (class != TG_OK)
        return class;
    for (size_t i = 0; i < count; i++)
        make(when[0], (int)i, &parts[i]);
    class = cut(db, table, parts, count, err);
    unlock(db, table);
    return class;
}

enum tg_class tg_store_log_partitions_ensure(struct tg_db *db, int64_t now_unix_us,
                                             int months_ahead, struct tg_error *err)
{
    const int64_t when[2] = {now_unix_us, months_ahead};
    enum tg_class class;

    tg_assert(months_ahead >= 0 && months_ahead <= MOST_AHEAD);
    class = ensure(db, "request_log", month_part, when, err);
    return class == TG_OK ? ensure(db, "request_detail", month_part, when, err) : class;
}

enum tg_class tg_store_entry_partitions_ensure(struct tg_db *db, int64_t now_unix_us,
                                               int days_ahead, struct tg_error *err)
{
    const int64_t when[2] = {now_unix_us, days_ahead};

    tg_assert(days_ahead >= 0 && days_ahead <= MOST_AHEAD);
    return ensure(db, "ledger_entry", day_part, when, err);
}

static enum tg_class drop_before(struct tg_db *db, const char *table, const char *oldest_kept,
                                 struct tg_error *err)
{
    struct tg_db_rows *rows;
    enum tg_class class = read_parts(db, table, &rows, err);

    if (class != TG_OK)
        return class;
    while (class == TG_OK && tg_db_next(rows) && strcmp(tg_db_text(rows, 0), oldest_kept) < 0) {
        char sql[128];

        snprintf(sql, sizeof sql, "ALTER TABLE %s DROP PARTITION %s", table, tg_db_text(rows, 0));
        class = tg_db_script(db, sql, err);
    }
    tg_db_rows_free(rows);
    return class;
}

enum tg_class tg_store_log_partitions_drop(struct tg_db *db, int64_t now_unix_us, int keep_months,
                                           struct tg_error *err)
{
    static const char *const tables[] = {"request_log", "request_detail"};
    struct part oldest;
    enum tg_class class = TG_OK;

    tg_assert(keep_months >= 1);
    month_part(now_unix_us, -keep_months, &oldest);
    for (size_t i = 0; i < TG_COUNT_OF(tables) && class == TG_OK; i++) {
        class = lock(db, tables[i], err);
        if (class != TG_OK)
            return class;
        class = drop_before(db, tables[i], oldest.name, err);
        unlock(db, tables[i]);
    }
    return class;
}
