#include "tests/unit/unit.h"

#include "tests/unit/daemon/site.h"

#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/store/log_batch.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const int64_t patience_us = INT64_C(10000000);

void site_connect(struct site *site)
{
    tg_kv_release(site->kv);
    site->kv = NULL;
    for (int64_t until_us = tg_now_us() + patience_us;;) {
        if (tg_kv_acquire(site->kv_pool, tg_now_us() + 1000000, &site->kv, &site->err) == TG_OK)
            return;
        if (tg_now_us() > until_us)
            fail_msg("%s", site->err.message);
        tg_clock_sleep_us(10000);
    }
}

struct site *site_start(void)
{
    struct site *site = tg_calloc(1, sizeof *site);

    site->books = books_start();
    site->redis = test_redis_start();
    site->kv_pool = test_redis_pool(site->redis, 8);
    snprintf(site->spool, sizeof site->spool, "%s", "/tmp/tollgate-spool.XXXXXX");
    assert_non_null(mkdtemp(site->spool));
    site->ledger = tg_ledger_new(&(struct tg_ledger_conf){.kv = site->kv_pool,
                                                          .main_db = site->books->main_pool,
                                                          .node = "here",
                                                          .worker = 77,
                                                          .lease_us = 1000});
    site_connect(site);
    site_reset(site);
    return site;
}

static void empty_spool(struct site *site)
{
    DIR *folder = opendir(site->spool);
    struct dirent *file;
    char path[512];

    assert_non_null(folder);
    while ((file = readdir(folder)) != NULL) {
        snprintf(path, sizeof path, "%s/%s", site->spool, file->d_name);
        if (file->d_name[0] != '.')
            unlink(path);
    }
    closedir(folder);
}

void site_stop(struct site *site)
{
    if (site == NULL)
        return;
    tg_ledger_free(site->ledger);
    tg_kv_release(site->kv);
    tg_kv_pool_free(site->kv_pool);
    test_redis_stop(site->redis);
    books_stop(site->books);
    empty_spool(site);
    rmdir(site->spool);
    free(site);
}

/* Epochs only rise: the ledger under test remembers the ones it has seen. */
void site_reset(struct site *site)
{
    static int64_t epoch = 1;
    char sql[96];

    books_reset(site->books);
    test_redis_say(site->redis, "FLUSHALL", NULL);
    empty_spool(site);
    epoch += 100;
    snprintf(sql, sizeof sql, "UPDATE ledger_cursor SET epoch = %lld", (long long)epoch);
    books_run(site->books, sql);
    assert_int_equal(site_rebuild(site, 1), TG_REBUILD_DONE);
    assert_int_equal(site_rebuild(site, 2), TG_REBUILD_DONE);
    books_run(site->books, "DELETE FROM ledger_rebuild");
}

struct tg_apply site_work(struct site *site, int shard)
{
    return (struct tg_apply){.kv = site->kv,
                             .db = site->books->main_db,
                             .shard = shard,
                             .batch_count = 3,
                             .answer_us = patience_us,
                             .err = &site->err};
}

enum tg_rebuild_answer site_rebuild(struct site *site, int shard)
{
    struct tg_rebuild rebuild = {.apply = site_work(site, shard), .node = "here"};

    return tg_rebuild_shard(&rebuild);
}

static struct tg_cursor cursor_of(struct site *site, int shard)
{
    struct tg_cursor cursors[TG_SHARDS];

    if (tg_store_cursors(site->books->main_db, cursors, &site->err) != TG_OK)
        fail_msg("%s", site->err.message);
    return cursors[shard];
}

int64_t site_epoch(struct site *site, int shard)
{
    return cursor_of(site, shard).epoch;
}

void site_apply(struct site *site, int shard)
{
    struct tg_cursor cursor = cursor_of(site, shard);
    struct tg_apply apply = site_work(site, shard);
    size_t count = 1;

    while (count > 0)
        if (tg_apply_page(&apply, &cursor, &count) != TG_OK)
            fail_msg("%s: %s", site->err.code, site->err.message);
}

void site_settle(struct site *site, const struct tg_entry *entry)
{
    if (tg_ledger_settle(site->ledger, entry, tg_now_us() + patience_us, &site->err) !=
        TG_LEDGER_OK)
        fail_msg("%s: %s", site->err.code, site->err.message);
}

void site_reserve(struct site *site, const struct tg_entry *entry, int64_t amount)
{
    struct tg_funding funding = entry->funding, chosen;
    struct tg_reserve reserve = {.request_id = entry->id,
                                 .user_id = entry->user_id,
                                 .token_id = entry->token_id,
                                 .funding = &funding,
                                 .funding_count = 1,
                                 .amount_quota = amount,
                                 .authver = 1};

    assert_int_equal(tg_ledger_reserve(site->ledger, &reserve, tg_now_us() + patience_us, &chosen,
                                       &site->err),
                     TG_LEDGER_OK);
}

int64_t site_live(struct site *site, int64_t user)
{
    struct tg_live_account account;
    enum tg_ledger_answer answer = tg_ledger_look(site->ledger, user, tg_now_us() + patience_us,
                                                  &account, &site->err);

    if (answer != TG_LEDGER_OK && site->err.class == TG_CLASS_DOWN)
        /* the pool's connections broke with the old server: one try each finds that out */
        answer = tg_ledger_look(site->ledger, user, tg_now_us() + patience_us, &account,
                                &site->err);
    if (answer != TG_LEDGER_OK)
        fail_msg("%s: %s", site->err.code, site->err.message);
    return account.quota;
}

void site_drop_last(struct site *site, int shard)
{
    char key[32], id[64];

    snprintf(key, sizeof key, "tg:{s%02d}:journal", shard);
    snprintf(id, sizeof id, "%s",
             test_redis_say(site->redis, "XREVRANGE", key, "+", "-", "COUNT", "1", NULL));
    id[strcspn(id, " ")] = '\0';
    assert_string_equal(test_redis_say(site->redis, "XDEL", key, id, NULL), "1");
}

struct tg_replay site_replay(struct site *site)
{
    return (struct tg_replay){.ledger = site->ledger,
                              .kv = site->kv,
                              .db = site->books->main_db,
                              .deadline_at_us = tg_now_us() + patience_us,
                              .err = &site->err};
}

const struct tg_audit_report *site_audit(struct site *site)
{
    static struct tg_audit_report report;
    static struct tg_arena *arena;
    struct tg_audit audit = {.main_db = site->books->main_db,
                             .log_db = site->books->log_db,
                             .kv = site->kv,
                             .journal_keep_us = INT64_C(120000000)};

    if (arena == NULL)
        arena = tg_arena_new();
    tg_arena_reset(arena);
    if (tg_audit_run(&audit, arena, &report, &site->err) != TG_OK)
        fail_msg("%s: %s", site->err.code, site->err.message);
    return &report;
}

void site_is_clean(struct site *site)
{
    const struct tg_audit_report *report;
    size_t moved;

    if (tg_log_batch_move(site->books->main_db, site->books->log_db, 100, &moved, &site->err) !=
        TG_OK)
        fail_msg("%s", site->err.message);
    report = site_audit(site);
    if (report->difference_count > 0)
        fail_msg("%s %lld: %s has %lld, the books %lld", report->differences[0].account,
                 (long long)report->differences[0].id, report->differences[0].sum,
                 (long long)report->differences[0].other_quota,
                 (long long)report->differences[0].books_quota);
    assert_true(report->clean);
}
