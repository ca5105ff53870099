/* What a page of the request log costs when a million requests are in it.
 *
 * Prints "log_page_ms_1m VALUE ms": the slowest of the cases below, each the median of some runs
 * (a first page, a page deep inside, each filter and the worst pairs of them); every case on
 * standard error. The log is that of 30 days in a private MariaDB with its usual memory: 1 % of the
 * requests failed, one in 100,000 was a fallback, one user made 60 % of them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/store/list_requests.h"
#include "common/store/partition.h"
#include "tests/unit/lib/schema.h"

enum { ROWS = 1000000, PARTS = 40, RUNS = 9, MIDDLE = 4 };
enum { BUSY_USER = 1, QUIET_USER = 900, RARE_TOKEN = 1500 };

static struct tg_error err;

static void must(bool good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "%s: %s\n", what, err.message);
    exit(1);
}

/* Ids and times rise together, as they do in life. */
#define FILL \
    "INSERT INTO request_log (request_id, created_at, node, endpoint, protocol, user_id, " \
    "token_id, token_name, address, requested_model, served_model, upstream_model, group_name, " \
    "channel_id, was_fallback, attempts, status, error_code, end_reason, input, output, " \
    "usage_source, quota, " \
    "funding, price_hash, first_token_us, total_us, stages_json, request_bytes, response_bytes) " \
    "SELECT UNHEX(CONCAT(LPAD(HEX(FLOOR(UNIX_TIMESTAMP(r.at) * 1000)), 12, '0'), '7', " \
    "LPAD(HEX(r.n %% 4096), 3, '0'), '8', LPAD(HEX(r.n), 15, '0'))), r.at, 'node1', " \
    "'/v1/chat/completions', 'chat', IF(r.n %% 5 < 3, 1, r.n %% 997), r.n %% 1999, 'default', " \
    "'192.0.2.7', CONCAT('model-', r.n %% 41), CONCAT('model-', r.n %% 41), 'upstream', " \
    "'default', r.n %% 13, r.n %% 100000 = 77, 1, IF(r.n %% 100 = 3, IF(r.n %% 10000 = 103, 503, " \
    "429), 200), IF(r.n %% 100 = 3, 'rate_limit', ''), 'stop', 1200, 300, 'upstream', 4000, " \
    "'wallet', REPEAT('a', 64), 400000, 4000000, '{\"access\":120,\"relay\":4000000}', " \
    "5000, 9000 " \
    "FROM (SELECT seq AS n, NOW(6) - INTERVAL (1000000 - seq) * 2592 * 1000 MICROSECOND AS at " \
    "FROM seq_1_to_1000000 WHERE seq > %d AND seq <= %d) r"

static void fill(struct test_mariadb *server)
{
    struct tg_db_pool *pool = test_schema(server, "log", "log", 1);
    struct tg_db *db = test_take(pool);
    int64_t month_us = INT64_C(31) * 86400 * 1000000;

    must(tg_store_log_partitions_ensure(db, tg_unix_us() - month_us, 2, &err) == TG_OK,
         "partitions");
    tg_db_release(db);
    tg_db_pool_free(pool);
    test_mariadb_sql(server, "", "SET GLOBAL innodb_buffer_pool_size = 134217728;"
                                 "SET GLOBAL innodb_log_file_size = 268435456");
    for (int at = 0; at < ROWS; at += ROWS / PARTS) {
        char sql[2048];

        must(snprintf(sql, sizeof sql, FILL, at, at + ROWS / PARTS) < (int)sizeof sql, "statement");
        test_mariadb_sql(server, "log", sql);
    }
    test_mariadb_sql(server, "log", "ANALYZE TABLE request_log");
}

/* One page; its rows go nowhere. */
static int64_t time_page(struct tg_db *db, const struct tg_request_filter *filter,
                         struct tg_page *page, char next[TG_CURSOR_TEXT])
{
    struct tg_buf buf;
    struct tg_csv csv = {.out = &buf};
    int64_t start_us = tg_now_us();

    tg_buf_init(&buf, 0);
    must(tg_csv_requests(db, filter, page, &csv, &err) == TG_OK, "page");
    start_us = tg_now_us() - start_us;
    if (next != NULL)
        memcpy(next, csv.next, TG_CURSOR_TEXT);
    tg_buf_done(&buf);
    return start_us;
}

static int by_value(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

static int64_t time_case(struct tg_db *db, const char *name,
                         const struct tg_request_filter *filter)
{
    int64_t runs_us[RUNS];

    for (int i = 0; i < RUNS; i++)
        runs_us[i] = time_page(db, filter, &(struct tg_page){.limit = 50}, NULL);
    qsort(runs_us, RUNS, sizeof runs_us[0], by_value);
    fprintf(stderr, "%-34s %7.2f ms\n", name, (double)runs_us[MIDDLE] / 1000);
    return runs_us[MIDDLE];
}

/* The page behind 20,000 rows. Its cursor is found in longer steps. */
static int64_t time_deep(struct tg_db *db)
{
    char places[2][TG_CURSOR_TEXT] = {"", ""};
    int64_t took_us = 0;

    for (int i = 0; i <= 40; i++)
        took_us = time_page(db, &(struct tg_request_filter){.user_id = 0},
                            &(struct tg_page){.limit = i < 40 ? TG_PAGE_MOST : TG_PAGE_USUAL,
                                              .after = places[i % 2]},
                            places[(i + 1) % 2]);
    fprintf(stderr, "%-34s %7.2f ms\n", "behind 20,000 rows", (double)took_us / 1000);
    return took_us;
}

int main(void)
{
    struct test_mariadb *server = test_mariadb_start();
    int64_t day_us = INT64_C(86400) * 1000000, worst_us = 0;
    struct tg_db_pool *pool;
    struct tg_db *db;

    fprintf(stderr, "filling the log\n");
    fill(server);
    pool = test_mariadb_pool(server, "log", 1);
    db = test_take(pool);
    const int64_t from_us = tg_unix_us() - 20 * day_us, to_us = from_us + day_us;
    const struct {
        const char *name;
        struct tg_request_filter filter;
    } cases[] = {
        {"first page", {.user_id = 0}},
        {"one day of the past", {.from_unix_us = from_us, .to_unix_us = to_us}},
        {"a busy user", {.user_id = BUSY_USER}},
        {"a quiet user", {.user_id = QUIET_USER}},
        {"a token", {.token_id = RARE_TOKEN}},
        {"a model", {.model = "model-7"}},
        {"a channel", {.channel_id = 5}},
        {"a model that nobody asked for", {.model = "model-99"}},
        {"status 200", {.status = 200}},
        {"status 503", {.status = 503}},
        {"errors", {.errors_only = true}},
        {"errors of a busy user", {.errors_only = true, .user_id = BUSY_USER}},
        {"errors of a quiet user", {.errors_only = true, .user_id = QUIET_USER}},
        {"errors of a model", {.errors_only = true, .model = "model-7"}},
        {"fallbacks", {.fallback_only = true}},
        {"fallbacks of a user without any", {.fallback_only = true, .user_id = QUIET_USER}},
        {"a busy user's model on a channel",
         {.user_id = BUSY_USER, .model = "model-7", .channel_id = 5}},
        {"a token of somebody else", {.user_id = BUSY_USER, .token_id = RARE_TOKEN}},
    };

    for (size_t i = 0; i < TG_COUNT_OF(cases); i++)
        worst_us = TG_MAX(worst_us, time_case(db, cases[i].name, &cases[i].filter));
    worst_us = TG_MAX(worst_us, time_deep(db));
    printf("log_page_ms_1m %.2f ms\n", (double)worst_us / 1000);
    tg_db_release(db);
    tg_db_pool_free(pool);
    test_mariadb_stop(server);
    return 0;
}
