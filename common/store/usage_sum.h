/* usage_sum - sums over usage_hourly, for the dashboard and for what a user has used.
 *
 * Percentiles come from the histogram's buckets, interpolated within one; what lies in the last,
 * open bucket is told as its lower bound.
 *
 * Errors   those of db.h.
 * Owns     rows live in the arena given.
 * Threads  as the connection (to the log database).  Blocks  on the database.
 */
#ifndef TOLLGATE_STORE_USAGE_SUM_H
#define TOLLGATE_STORE_USAGE_SUM_H

#include "common/base/arena.h"
#include "common/json/writer.h"
#include "common/sql/db.h"

struct tg_usage_filter {
    int64_t from_unix_us, to_unix_us; /* hours that begin in it; to: exclusive, 0: now */
    int64_t user_id, token_id, channel_id; /* 0: all */
    const char *model;                     /* NULL: all */
};
struct tg_usage_sum {
    int64_t requests, errors, fallbacks;
    int64_t input, output;                      /* input: everything read, caches included */
    int64_t cache_read, cache_write, reasoning; /* parts of them */
    int64_t quota;
    int64_t mean_total_us, mean_first_token_us;
    int64_t p50_us, p95_us; /* of the whole time; 0 without requests */
};
enum tg_class tg_usage_total(struct tg_db *log, const struct tg_usage_filter *filter,
                             struct tg_usage_sum *ret, struct tg_error *err) must_check
    non_null(1, 2, 3, 4);

enum tg_usage_part {
    TG_USAGE_BY_MODEL,
    TG_USAGE_BY_USER,
    TG_USAGE_BY_TOKEN,
    TG_USAGE_BY_CHANNEL,
    TG_USAGE_BY_HOUR, /* in time order */
    TG_USAGE_BY_DAY   /* in time order; days of UTC */
};
struct tg_usage_row {
    const char *label; /* model; "2026-11-30T16:00:00Z"; "" for users, tokens and channels */
    int64_t id;        /* user, token, channel; 0 otherwise */
    struct tg_usage_sum sum;
};
struct tg_usage_wish {
    enum tg_usage_part part;
    int limit; /* at most 1,000 */
};
struct tg_usage_list {
    enum tg_usage_part part;
    struct tg_usage_row *rows;
    size_t count;
};
/* The <limit> with the highest quota; of hours and days: the first. */
enum tg_class tg_usage_by(struct tg_db *log, struct tg_arena *arena,
                          const struct tg_usage_filter *filter, const struct tg_usage_wish *wish,
                          struct tg_usage_list *ret) must_check non_null(1, 2, 3, 4, 5);

/* CSV of the sums by day (of UTC), user, token, team, model and channel, with names out of the main
 * database. All rows of the span at once: ask day by day. */
struct tg_usage_csv {
    struct tg_db *names_db;
    bool head; /* begin with the columns' names */
    struct tg_buf *out;
};
enum tg_class tg_usage_csv(struct tg_db *log, const struct tg_usage_filter *filter,
                           const struct tg_usage_csv *csv, struct tg_error *err) must_check
    non_null(1, 2, 3, 4);

/* Labels for ids, from the main database; what is not there keeps "". */
enum tg_class tg_usage_names(struct tg_db *main_db, struct tg_arena *arena,
                             struct tg_usage_list *list) must_check non_null(1, 2, 3);
/* Its members, into an object that is open. */
void tg_usage_write(const struct tg_usage_sum *sum, struct tg_json_writer *out) non_null(1, 2);

#endif
