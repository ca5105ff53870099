/* What one request costs in Redis: deposit and bill, against two round trips of nothing.
 *
 * Prints "ledger_vs_ping VALUE ratio": the time of tg_ledger_reserve + tg_ledger_settle (a record
 * of 1 KiB) divided by that of two PINGs on the same connection. Blocks of both alternate, and the
 * median of their ratios is taken, so that a busy machine slows both alike.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/ledger/shard.h"
#include "common/store/migrate.h"
#include "tests/unit/lib/mariadb.h"
#include "tests/unit/lib/redis.h"

enum { BLOCKS = 41, EACH = 100, LIMIT_US = 5000000, USER = 1, TOKEN = 2, RECORD = 1024 };

static struct tg_error err;

static void must(bool good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "%s: %s\n", what, err.message);
    exit(1);
}

static void make_tables(struct test_mariadb *mariadb)
{
    char folder[512];
    struct tg_migration migration = {
        .dsn = test_mariadb_dsn(mariadb, "main"), .password = "", .folder = folder};

    snprintf(folder, sizeof folder, "%s/sql/main", getenv("TOLLGATE_SOURCE"));
    must(tg_store_migrate(&migration, &err) == TG_OK, "migrate");
    test_mariadb_sql(mariadb, "main",
                     "INSERT INTO users (id, username, quota) VALUES (1, 'u', 1000000000);"
                     "INSERT INTO tokens (id, key_hmac, user_id, unlimited) VALUES (2, 'h', 1, 1);"
                     "UPDATE ledger_cursor SET epoch = 1");
}

static void switch_on(struct tg_kv *kv)
{
    struct tg_shard_call call = {.kv = kv,
                                 .shard = tg_shard_of(USER),
                                 .epoch = 1,
                                 .deadline_at_us = tg_now_us() + LIMIT_US,
                                 .err = &err};

    must(tg_shard_begin(&call) == TG_SHARD_OK, "begin");
    must(tg_shard_finish(&call, NULL, 0) == TG_SHARD_OK, "finish");
}

static int64_t time_pings(struct tg_kv_pool *pool)
{
    struct tg_span ping = {"PING", 4};
    const struct tg_kv_reply *reply;
    struct tg_kv *kv;
    int64_t start_us;

    must(tg_kv_acquire(pool, tg_now_us() + LIMIT_US, &kv, &err) == TG_OK, "connect");
    start_us = tg_now_us();
    for (int i = 0; i < 2 * EACH; i++) {
        struct tg_kv_call call = {
            .args = &ping, .count = 1, .deadline_at_us = tg_now_us() + LIMIT_US};

        must(tg_kv_command(kv, &call, &reply, &err) == TG_OK, "ping");
    }
    start_us = tg_now_us() - start_us;
    tg_kv_release(kv);
    return start_us;
}

static int64_t time_requests(struct tg_ledger *ledger, const char *record)
{
    struct tg_funding wallet = {0};
    struct tg_reserve reserve = {.user_id = USER,
                                 .token_id = TOKEN,
                                 .funding = &wallet,
                                 .funding_count = 1,
                                 .amount_quota = 100,
                                 .authver = 1};
    struct tg_entry entry = {.user_id = USER,
                             .token_id = TOKEN,
                             .channel_id = 1,
                             .amount_quota = 42,
                             .record = {record, RECORD}};
    int64_t start_us = tg_now_us();

    for (int i = 0; i < EACH; i++) {
        reserve.request_id = entry.id = tg_id_new();
        must(tg_ledger_reserve(ledger, &reserve, tg_now_us() + LIMIT_US, &entry.funding, &err) ==
                 TG_LEDGER_OK,
             "reserve");
        must(tg_ledger_settle(ledger, &entry, tg_now_us() + LIMIT_US, &err) == TG_LEDGER_OK,
             "settle");
    }
    return tg_now_us() - start_us;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

int main(void)
{
    struct test_redis *redis = test_redis_start();
    struct test_mariadb *mariadb = test_mariadb_start();
    struct tg_kv_pool *pool = test_redis_pool(redis, 1);
    struct tg_db_pool *db = test_mariadb_pool(mariadb, "main", 1);
    struct tg_ledger_conf conf = {
        .kv = pool, .main_db = db, .node = "bench", .lease_us = 120000000};
    struct tg_ledger *ledger = tg_ledger_new(&conf);
    double ratios[BLOCKS];
    char record[RECORD];
    struct tg_kv *kv;

    memset(record, 'r', sizeof record);
    make_tables(mariadb);
    must(tg_kv_acquire(pool, tg_now_us() + LIMIT_US, &kv, &err) == TG_OK, "connect");
    switch_on(kv);
    tg_kv_release(kv);
    time_requests(ledger, record); /* loads the accounts and the scripts */
    for (int i = 0; i < BLOCKS; i++) {
        int64_t pings_us = time_pings(pool);

        ratios[i] = (double)time_requests(ledger, record) / (double)pings_us;
    }
    qsort(ratios, BLOCKS, sizeof ratios[0], by_value);
    printf("ledger_vs_ping %.2f ratio\n", ratios[BLOCKS / 2]);
    tg_ledger_free(ledger);
    tg_db_pool_free(db);
    tg_kv_pool_free(pool);
    test_mariadb_stop(mariadb);
    test_redis_stop(redis);
    return 0;
}
