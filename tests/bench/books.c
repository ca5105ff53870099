/* How fast the books follow, and how fast they are mended.
 *
 *     bench-books [ACCOUNTS [ENTRIES]]     default 100000 accounts, 100000 entries
 *
 * journal_applied_per_s  entries from the journal into MySQL, four threads as in tollgate-ledger
 * rebuild_s              Redis killed and started anew with all accounts live: until every shard is
 *                        on again
 * audit_s, audit_mib     one audit of all accounts, and the memory it took at most
 */
#include "common/base/clock.h"
#include "common/ledger/audit.h"
#include "common/ledger/rebuild.h"
#include "tests/unit/lib/redis.h"
#include "tests/unit/lib/schema.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { THREADS = 4, BATCH = 1000, LIMIT_US = 60000000, PIECE = 50000 };

static struct test_redis *redis;
static struct test_mariadb *mariadb;
static struct tg_db_pool *main_pool, *log_pool;
static struct tg_kv_pool *kv_pool;
static struct tg_ledger *ledger;
static int64_t accounts = 100000, entries = 100000;
static atomic_llong applied;
static atomic_int rebuilt;
static atomic_int next_user;

static void must(bool good, const struct tg_error *err)
{
    if (good)
        return;
    fprintf(stderr, "%s: %s\n", err->code, err->message);
    exit(1);
}

static double seconds_since(int64_t start_us)
{
    return (double)(tg_now_us() - start_us) / 1e6;
}

static void run(struct tg_db *db, const char *sql)
{
    struct tg_error err;

    must(tg_db_script(db, sql, &err) == TG_OK, &err);
}

/* Ids from 1; a token of the same id each; everybody's 1,000,000 quota came by a credit. */
static void make_accounts(void)
{
    static const char *const inserts[] = {
        "INSERT INTO users (id, username, quota) SELECT seq, CONCAT('u', seq), 1000000",
        "INSERT INTO tokens (id, key_hmac, user_id, unlimited) SELECT seq, SHA2(seq, 256), seq, 1",
        "INSERT INTO credits (entry_id, user_id, amount_quota, kind, applied_at)"
        " SELECT UNHEX(CONCAT('0190000000007000', LPAD(HEX(seq), 16, '0'))), seq, 1000000,"
        " 'topup', NOW(6)",
        "INSERT INTO ledger_entry (request_id, shard, kind, user_id, amount_quota, batch, at)"
        " SELECT UNHEX(CONCAT('0190000000007000', LPAD(HEX(seq), 16, '0'))), seq % 64, 'credit',"
        " seq, -1000000, '', NOW(6)",
    };
    struct tg_db *db = test_take(main_pool);
    char sql[512];

    for (int64_t from = 1; from <= accounts; from += PIECE)
        for (size_t i = 0; i < TG_COUNT_OF(inserts); i++) {
            snprintf(sql, sizeof sql, "%s FROM seq_%" PRId64 "_to_%" PRId64, inserts[i], from,
                     TG_MIN(from + PIECE - 1, accounts));
            run(db, sql);
        }
    tg_db_release(db);
}

struct links {
    struct tg_db *db;
    struct tg_kv *kv;
    struct tg_error err;
};

static struct links open_links(void)
{
    struct links links = {.db = test_take(main_pool)};

    while (tg_kv_acquire(kv_pool, tg_now_us() + LIMIT_US, &links.kv, &links.err) != TG_OK)
        tg_clock_sleep_us(10000);
    return links;
}

static void close_links(struct links *links)
{
    tg_kv_release(links->kv);
    tg_db_release(links->db);
}

static struct tg_apply apply_of(struct links *links, int shard)
{
    return (struct tg_apply){.kv = links->kv,
                             .db = links->db,
                             .shard = shard,
                             .batch_count = BATCH,
                             .answer_us = LIMIT_US,
                             .err = &links->err};
}

static void *rebuild_some(void *context)
{
    int first = *(int *)context;
    struct links links = open_links();

    for (int shard = first; shard < TG_SHARDS; shard += THREADS) {
        const struct tg_rebuild work = {.apply = apply_of(&links, shard), .node = "bench"};

        must(tg_rebuild_shard(&work) == TG_REBUILD_DONE, &links.err);
        atomic_fetch_add(&rebuilt, 1);
    }
    close_links(&links);
    return NULL;
}

static void *load_some(void *context)
{
    int64_t user;
    struct tg_live_account account;
    struct tg_error err;

    (void)context;
    while ((user = atomic_fetch_add(&next_user, 1)) <= accounts)
        must(tg_ledger_look(ledger, user, tg_now_us() + LIMIT_US, &account, &err) == TG_LEDGER_OK,
             &err);
    return NULL;
}

static void *settle_some(void *context)
{
    static char record[512];
    struct tg_error err;
    int64_t number;

    (void)context;
    while ((number = atomic_fetch_add(&next_user, 1)) <= entries) {
        int64_t user = 1 + number % accounts;
        const struct tg_entry entry = {.id = tg_id_new(),
                                       .kind = TG_ENTRY_CHARGE,
                                       .user_id = user,
                                       .token_id = user,
                                       .amount_quota = 1 + number % 7,
                                       .token_unlimited = -1,
                                       .record = {record, 0}};

        must(tg_ledger_settle(ledger, &entry, tg_now_us() + LIMIT_US, &err) == TG_LEDGER_OK, &err);
    }
    return NULL;
}

static void *apply_some(void *context)
{
    int first = *(int *)context;
    struct links links = open_links();
    struct tg_cursor cursors[TG_SHARDS];

    must(tg_store_cursors(links.db, cursors, &links.err) == TG_OK, &links.err);
    for (int shard = first; shard < TG_SHARDS; shard += THREADS) {
        struct tg_apply apply = apply_of(&links, shard);
        size_t count = 1;

        while (count > 0) {
            must(tg_apply_page(&apply, &cursors[shard], &count) == TG_OK, &links.err);
            atomic_fetch_add(&applied, (long long)count);
        }
    }
    close_links(&links);
    return NULL;
}

/* Four threads; returns seconds. */
static double together(void *(*body)(void *))
{
    int numbers[THREADS];
    pthread_t threads[THREADS];
    int64_t start_us = tg_now_us();

    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        tg_assert(pthread_create(&threads[i], NULL, body, &numbers[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return seconds_since(start_us);
}

static void audit(void)
{
    struct links links = open_links();
    struct tg_arena *arena = tg_arena_new();
    const struct tg_audit work = {.main_db = links.db,
                                  .log_db = test_take(log_pool),
                                  .kv = links.kv,
                                  .journal_keep_us = LIMIT_US};
    struct tg_audit_report report;
    struct rusage usage;
    int64_t start_us = tg_now_us();

    must(tg_audit_run(&work, arena, &report, &links.err) == TG_OK, &links.err);
    printf("audit_s %.2f s\n", seconds_since(start_us));
    getrusage(RUSAGE_SELF, &usage);
    printf("audit_mib %ld MiB\n", usage.ru_maxrss / 1024);
    for (size_t i = 0; i < report.listed_count && i < 3; i++)
        fprintf(stderr, "%s %" PRId64 " %s\n", report.differences[i].account,
                report.differences[i].id, report.differences[i].sum);
    tg_assert(report.difference_count == 0 && report.unread_count == 0);
    tg_arena_free(arena);
    tg_db_release(work.log_db);
    close_links(&links);
}

static void stop(void)
{
    tg_ledger_free(ledger);
    tg_kv_pool_free(kv_pool);
    tg_db_pool_free(main_pool);
    tg_db_pool_free(log_pool);
    test_redis_stop(redis);
    test_mariadb_stop(mariadb);
}

int main(int argc, char **argv)
{
    double took;

    accounts = argc > 1 ? strtoll(argv[1], NULL, 10) : accounts;
    entries = argc > 2 ? strtoll(argv[2], NULL, 10) : entries;
    redis = test_redis_start();
    mariadb = test_mariadb_start();
    main_pool = test_schema(mariadb, "main", "main", 12);
    log_pool = test_schema(mariadb, "log", "log", 2);
    kv_pool = test_redis_pool(redis, 12);
    make_accounts();
    ledger = tg_ledger_new(&(struct tg_ledger_conf){
        .kv = kv_pool, .main_db = main_pool, .node = "bench", .lease_us = LIMIT_US});
    together(rebuild_some);
    atomic_store(&next_user, 1);
    printf("load_s %.2f s\n", together(load_some));
    test_redis_kill(redis);
    test_redis_again(redis);
    printf("rebuild_s %.2f s\n", together(rebuild_some));
    atomic_store(&next_user, 1);
    together(settle_some);
    took = together(apply_some);
    printf("journal_applied_per_s %.0f 1/s\n", (double)atomic_load(&applied) / took);
    tg_assert(atomic_load(&applied) == entries);
    audit();
    stop();
    return 0;
}
