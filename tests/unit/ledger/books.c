#include "tests/unit/ledger/books.h"

#include "tests/unit/unit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/base/clock.h"
#include "common/store/migrate.h"

static int64_t soon(void)
{
    return tg_now_us() + BOOKS_SOON_US;
}

void books_start(struct books *books)
{
    char folder[512];
    struct tg_migration migration = {.password = "", .folder = folder};

    *books = (struct books){.redis = test_redis_start(), .mariadb = test_mariadb_start()};
    snprintf(folder, sizeof folder, "%s/sql/main", getenv("TOLLGATE_SOURCE"));
    migration.dsn = test_mariadb_dsn(books->mariadb, "main");
    if (tg_store_migrate(&migration, &books->err) != TG_OK)
        fail_msg("%s", books->err.message);
    books->kv = test_redis_pool(books->redis, 4);
    books->db = test_mariadb_pool(books->mariadb, "main", 4);
}

void books_stop(struct books *books)
{
    tg_ledger_free(books->ledger);
    tg_db_pool_free(books->db);
    tg_kv_pool_free(books->kv);
    test_mariadb_stop(books->mariadb);
    test_redis_stop(books->redis);
}

void books_sql(struct books *books, const char *format, ...)
{
    char sql[512];
    va_list args;

    va_start(args, format);
    vsnprintf(sql, sizeof sql, format, args);
    va_end(args);
    test_mariadb_sql(books->mariadb, "main", sql);
}

void books_reset(struct books *books)
{
    struct tg_ledger_conf conf = {.kv = books->kv,
                                  .main_db = books->db,
                                  .node = "node",
                                  .worker = BOOKS_WORKER,
                                  .lease_us = 120000000};

    books_sql(books, "DELETE FROM users; DELETE FROM tokens; DELETE FROM subscriptions;"
                     "UPDATE ledger_cursor SET stream_id = '0-0'");
    test_redis_say(books->redis, "FLUSHALL", NULL);
    tg_ledger_free(books->ledger);
    books->ledger = tg_ledger_new(&conf);
    books_rebuild(books);
}

void books_user(struct books *books, int64_t user_id, int64_t quota)
{
    books_sql(books, "INSERT INTO users (id, username, quota) VALUES (%" PRId64 ", 'u%" PRId64
                     "', %" PRId64 ")",
              user_id, user_id, quota);
}

void books_token(struct books *books, int64_t token_id, int64_t user_id, int64_t remain)
{
    books_sql(books, "INSERT INTO tokens (id, key_hmac, user_id, remain_quota) VALUES (%" PRId64
                     ", 'h%" PRId64 "', %" PRId64 ", %" PRId64 ")",
              token_id, token_id, user_id, remain);
}

struct tg_shard_call books_call(struct books *books)
{
    struct tg_shard_call call = {
        .shard = BOOKS_SHARD, .deadline_at_us = soon(), .err = &books->err};
    struct tg_cursor cursors[TG_SHARDS];
    struct tg_db *db;

    assert_int_equal(tg_db_acquire(books->db, soon(), &db, NULL), TG_OK);
    assert_int_equal(tg_store_cursors(db, cursors, NULL), TG_OK);
    tg_db_release(db);
    call.epoch = cursors[BOOKS_SHARD].epoch;
    while (tg_kv_acquire(books->kv, soon(), &call.kv, NULL) != TG_OK) {
        assert_true(tg_now_us() < call.deadline_at_us);
        tg_clock_sleep_us(1000);
    }
    return call;
}

void books_done_with(struct tg_shard_call *call)
{
    tg_kv_release(call->kv);
}

void books_begin(struct books *books)
{
    struct tg_shard_call call = books_call(books);

    call.epoch++;
    assert_int_equal(tg_shard_begin(&call), TG_SHARD_OK);
    books_sql(books, "UPDATE ledger_cursor SET epoch = %" PRId64 ", run_id = '%s' WHERE shard = %d",
              call.epoch, tg_kv_run_id(call.kv), BOOKS_SHARD);
    books_done_with(&call);
}

void books_finish(struct books *books)
{
    struct tg_shard_call call = books_call(books);

    assert_int_equal(tg_shard_finish(&call, NULL, 0), TG_SHARD_OK);
    books_done_with(&call);
}

void books_rebuild(struct books *books)
{
    books_begin(books);
    books_finish(books);
}

void books_apply(struct books *books)
{
    struct tg_shard_call call = books_call(books);
    struct tg_arena *arena = tg_arena_new();
    struct tg_journal_page page = {.after = "0-0", .most = 1000};

    assert_int_equal(tg_shard_journal(&call, arena, &page), TG_OK);
    for (size_t i = 0; i < page.count; i++) {
        const struct tg_entry *entry = &page.entries[i].entry;

        books_sql(books,
                  "UPDATE users SET quota = quota - %" PRId64 " WHERE id = %" PRId64
                  "; UPDATE tokens SET remain_quota = remain_quota - %" PRId64
                  " WHERE id = %" PRId64,
                  entry->funding.plan_id == 0 ? entry->amount_quota : 0, entry->user_id,
                  entry->amount_quota - entry->token_delta_quota, entry->token_id);
    }
    if (page.count > 0)
        assert_int_equal(tg_shard_trim(&call, page.entries[page.count - 1].stream_id, -1000),
                         TG_SHARD_OK);
    tg_arena_free(arena);
    books_done_with(&call);
}

enum tg_ledger_answer books_reserve(struct books *books, int64_t user_id, int64_t token_id,
                                    int64_t amount, struct tg_id *ret_id)
{
    struct tg_funding wallet = {0}, chosen = {.plan_id = -1};
    struct tg_reserve reserve = {.request_id = tg_id_new(),
                                 .user_id = user_id,
                                 .token_id = token_id,
                                 .funding = &wallet,
                                 .funding_count = 1,
                                 .amount_quota = amount,
                                 .authver = 1};
    enum tg_ledger_answer answer =
        tg_ledger_reserve(books->ledger, &reserve, soon(), &chosen, &books->err);

    assert_int_equal(chosen.plan_id, answer == TG_LEDGER_OK ? 0 : -1);
    if (ret_id != NULL)
        *ret_id = reserve.request_id;
    return answer;
}

struct tg_entry books_charge(struct tg_id id, int64_t user_id, int64_t token_id, int64_t amount)
{
    return (struct tg_entry){.id = id,
                             .kind = TG_ENTRY_CHARGE,
                             .user_id = user_id,
                             .token_id = token_id,
                             .channel_id = 3,
                             .amount_quota = amount,
                             .token_unlimited = -1};
}

enum tg_ledger_answer books_settle(struct books *books, const struct tg_entry *entry)
{
    return tg_ledger_settle(books->ledger, entry, soon(), &books->err);
}

int64_t books_quota(struct books *books, int64_t user_id)
{
    struct tg_live_account account;

    if (tg_ledger_look(books->ledger, user_id, soon(), &account, &books->err) != TG_LEDGER_OK)
        fail_msg("%s", books->err.message);
    return account.quota;
}
