/* The audit: clean in health and under load, red for every way to tamper with the books. */
#include "tests/unit/unit.h"

#include "tests/unit/daemon/site.h"

#include "common/base/clock.h"
#include "common/store/log_batch.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static struct site *site;

static int start(void **state)
{
    (void)state;
    site = site_start();
    return 0;
}

static int stop(void **state)
{
    (void)state;
    site_stop(site);
    return 0;
}

/* Three requests of user 1: two in the books and the log, one in the journal; and a hold. */
static int some_life(void **state)
{
    (void)state;
    site_reset(site);
    site_settle(site, books_charge(1, 30));
    site_settle(site, books_charge(1, 12));
    site_apply(site, 1);
    site_is_clean(site);
    site_settle(site, books_charge(1, 5));
    site_reserve(site, books_charge(1, 9), 100);
    return 0;
}

static void is_red(const char *account, const char *sum)
{
    const struct tg_audit_report *report = site_audit(site);

    assert_false(report->clean);
    for (size_t i = 0; i < report->listed_count; i++)
        if (strcmp(report->differences[i].account, account) == 0 &&
            strcmp(report->differences[i].sum, sum) == 0)
            return;
    fail_msg("no difference of %s in %s", sum, account);
}

static void holds_journal_and_logs_on_their_way_are_no_difference(void **state)
{
    const struct tg_audit_report *report = site_audit(site);

    (void)state;
    assert_true(report->clean);
    assert_int_equal(report->open_holds, 1);
    assert_int_equal(report->held_quota, 100);
    assert_int_equal(report->journal_waiting, 1);
    assert_int_equal(report->users, 3);
    assert_int_equal(report->loaded_users, 1);
    assert_int_equal(report->users_quota, 2958);
    assert_int_equal(report->redis_quota, 2958);
    assert_int_equal(report->ledger_quota, 2958);
    assert_int_equal(report->logged_quota, 42);
    site_apply(site, 1); /* its record waits in log_batch now */
    report = site_audit(site);
    assert_true(report->clean);
    assert_int_equal(report->counts.log_batches, 1);
    assert_int_equal(report->logged_quota, 42);
    site_is_clean(site);
}

static void between_the_two_databases_is_no_difference(void **state)
{
    struct tg_log_batch *batches;
    size_t count;

    (void)state;
    site_apply(site, 1);
    assert_int_equal(tg_log_batch_oldest(site->books->main_db, 8, &batches, &count, &site->err),
                     TG_OK);
    assert_int_equal(count, 1);
    assert_int_equal(tg_log_batch_enter(site->books->log_db, batches, count, &site->err), TG_OK);
    assert_true(site_audit(site)->clean);
    tg_log_batches_free(batches, count);
    site_is_clean(site);
}

static const struct {
    const char *what, *sql, *account, *sum;
} tampered[] = {
    {"a balance", "UPDATE users SET quota = quota + 1 WHERE id = 1", "user", "ledger"},
    {"a balance, against Redis", "UPDATE users SET quota = quota - 1 WHERE id = 1", "user",
     "redis"},
    {"a charge", "UPDATE ledger_entry SET amount_quota = 31 WHERE amount_quota = 30", "user",
     "ledger"},
    {"a charge that is gone", "DELETE FROM ledger_entry WHERE amount_quota = 30", "user", "log"},
    {"a refund of what was charged",
     "UPDATE ledger_entry SET amount_quota = 0 WHERE amount_quota = 30", "token", "ledger"},
    {"a credit", "UPDATE credits SET amount_quota = 1001 WHERE user_id = 1", "user", "credits"},
    {"a credit's entry", "UPDATE ledger_entry SET amount_quota = -999 WHERE user_id = 65", "user",
     "credits"},
    {"a token's remain", "UPDATE tokens SET remain_quota = remain_quota + 1 WHERE id = 11",
     "token", "redis"},
    {"a token's used", "UPDATE tokens SET used_quota = 0 WHERE id = 11", "token", "ledger"},
    {"bound money", "UPDATE users SET offline_quota = 7 WHERE id = 2", "user", "offline"},
    {"a token's bound money", "UPDATE tokens SET offline_quota = 7 WHERE id = 12", "token",
     "offline"},
};

static void a_change_by_hand_turns_it_red(void **state)
{
    for (size_t i = 0; i < TG_COUNT_OF(tampered); i++) {
        print_message("           %s\n", tampered[i].what);
        some_life(state);
        books_run(site->books, tampered[i].sql);
        is_red(tampered[i].account, tampered[i].sum);
    }
}

static void a_changed_log_turns_it_red(void **state)
{
    (void)state;
    test_mariadb_sql(site->books->server, "books_log",
                     "UPDATE request_log SET quota = 29 WHERE quota = 30");
    is_red("user", "log");
    test_mariadb_sql(site->books->server, "books_log", "DELETE FROM request_log WHERE quota = 29");
    is_red("user", "log");
}

static void an_entry_of_nobody_turns_it_red(void **state)
{
    (void)state;
    books_run(site->books, "UPDATE ledger_entry SET user_id = 129 WHERE amount_quota = 0;"
                           "INSERT INTO ledger_entry (request_id, shard, kind, user_id,"
                           " amount_quota, batch, at) VALUES"
                           " (x'01987000000070008000000000000077', 1, 'charge', 129, 3, '',"
                           " NOW(6))");
    assert_false(site_audit(site)->clean);
}

/* What a ledger with a fault would leave behind in Redis. */
static void faults_of_the_live_ledger_turn_it_red(void **state)
{
    static const struct {
        const char *what, *script;
    } faults[] = {
        {"a settle that is skipped: the money moved, no entry",
         "redis.call('HINCRBY', KEYS[1], 'quota', '-5')"},
        {"a refund twice", "redis.call('HINCRBY', KEYS[1], 'quota', '100')"},
        {"a journal entry that is dropped",
         "local e = redis.call('XREVRANGE', KEYS[2], '+', '-', 'COUNT', 1)"
         " redis.call('XDEL', KEYS[2], e[1][1])"},
        {"a journal entry that is repeated",
         "local e = redis.call('XREVRANGE', KEYS[2], '+', '-', 'COUNT', 1)"
         " redis.call('XADD', KEYS[2], '*', unpack(e[1][2]))"},
        {"a hold that is forgotten", "redis.call('DEL', KEYS[3])"},
    };

    for (size_t i = 0; i < TG_COUNT_OF(faults); i++) {
        print_message("           %s\n", faults[i].what);
        some_life(state);
        test_redis_say(site->redis, "EVAL", faults[i].script, "3", "tg:{s01}:user:1",
                       "tg:{s01}:journal", "tg:{s01}:holds", NULL);
        is_red("user", "redis");
    }
}

/* The same entry under another id is another charge: red in MySQL, too. */
static void a_charge_repeated_under_a_new_id_stays_red_when_applied(void **state)
{
    (void)state;
    test_redis_say(site->redis, "EVAL",
                   "local e = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1][2]"
                   " e[2] = '\\1\\152\\0\\0\\0\\0p\\0\\128\\0\\0\\0\\0\\0\\0\\1'"
                   " redis.call('XADD', KEYS[1], '*', unpack(e))",
                   "1", "tg:{s01}:journal", NULL);
    site_apply(site, 1);
    is_red("user", "redis");
}

static void an_entry_repeated_in_the_journal_is_applied_once(void **state)
{
    (void)state;
    test_redis_say(site->redis, "EVAL",
                   "local e = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)"
                   " redis.call('XADD', KEYS[1], '*', unpack(e[1][2]))",
                   "1", "tg:{s01}:journal", NULL);
    site_apply(site, 1);
    site_is_clean(site);
}

/* More than one question of a shard has room for. */
static void a_shard_of_many_accounts_is_compared_whole(void **state)
{
    char sql[256];

    (void)state;
    for (int id = 129; id < 129 + 64 * 300; id += 64) {
        snprintf(sql, sizeof sql, "INSERT INTO users (id, username) VALUES (%d, 'many%d')", id, id);
        books_run(site->books, sql);
    }
    assert_true(site_audit(site)->clean);
    assert_int_equal(site_audit(site)->users, 303);
    books_run(site->books, "UPDATE users SET quota = quota + 1 WHERE id = 129");
    is_red("user", "ledger");
}

static void a_shard_that_is_off_is_not_called_clean(void **state)
{
    const struct tg_audit_report *report;

    (void)state;
    test_redis_say(site->redis, "HSET", "tg:{s01}:state", "on", "0", NULL);
    report = site_audit(site);
    assert_false(report->clean);
    assert_int_equal(report->unread_count, 1);
    assert_int_equal(report->unread_shards[0], 1);
}

/* ---- under load */

struct load {
    atomic_bool stop;
    struct tg_kv *kv;
    struct tg_db *main_db, *log_db;
};

static void *spend(void *context)
{
    struct load *load = context;
    struct tg_error err;

    for (int i = 0; !atomic_load(&load->stop); i++) {
        struct tg_entry charge = *books_charge(i % 2 ? 1 : 65, 1);

        assert_int_equal(tg_ledger_settle(site->ledger, &charge, tg_now_us() + 10000000, &err),
                         TG_LEDGER_OK);
    }
    return NULL;
}

static void *apply_and_move(void *context)
{
    struct load *load = context;
    struct tg_error err;
    struct tg_apply apply = {.kv = load->kv, .db = load->main_db, .shard = 1, .batch_count = 10,
                             .answer_us = 10000000, .err = &err};
    struct tg_cursor cursors[TG_SHARDS];
    size_t count;

    while (!atomic_load(&load->stop)) {
        assert_int_equal(tg_store_cursors(load->main_db, cursors, &err), TG_OK);
        assert_int_equal(tg_apply_page(&apply, &cursors[1], &count), TG_OK);
        assert_int_equal(tg_log_batch_move(load->main_db, load->log_db, 2, &count, &err), TG_OK);
    }
    return NULL;
}

static void it_is_clean_at_every_moment_under_load(void **state)
{
    struct load load = {.stop = false};
    int64_t until_us = tg_now_us() + 10000000;
    pthread_t threads[2];
    bool clean = true;

    (void)state;
    assert_int_equal(tg_kv_acquire(site->kv_pool, until_us, &load.kv, &site->err), TG_OK);
    assert_int_equal(tg_db_acquire(site->books->main_pool, until_us, &load.main_db, &site->err),
                     TG_OK);
    assert_int_equal(tg_db_acquire(site->books->log_pool, until_us, &load.log_db, &site->err),
                     TG_OK);
    assert_int_equal(pthread_create(&threads[0], NULL, spend, &load), 0);
    assert_int_equal(pthread_create(&threads[1], NULL, apply_and_move, &load), 0);
    for (int i = 0; i < 20; i++)
        clean = clean && site_audit(site)->clean;
    atomic_store(&load.stop, true);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    tg_kv_release(load.kv);
    tg_db_release(load.main_db);
    tg_db_release(load.log_db);
    assert_true(clean);
    assert_true(books_main(site->books, "SELECT request_count FROM users WHERE id = 1") > 2);
    site_apply(site, 1);
    site_is_clean(site);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(holds_journal_and_logs_on_their_way_are_no_difference, some_life),
        cmocka_unit_test_setup(between_the_two_databases_is_no_difference, some_life),
        cmocka_unit_test(a_change_by_hand_turns_it_red),
        cmocka_unit_test_setup(a_changed_log_turns_it_red, some_life),
        cmocka_unit_test_setup(an_entry_of_nobody_turns_it_red, some_life),
        cmocka_unit_test(faults_of_the_live_ledger_turn_it_red),
        cmocka_unit_test_setup(a_charge_repeated_under_a_new_id_stays_red_when_applied, some_life),
        cmocka_unit_test_setup(an_entry_repeated_in_the_journal_is_applied_once, some_life),
        cmocka_unit_test_setup(a_shard_of_many_accounts_is_compared_whole, some_life),
        cmocka_unit_test_setup(a_shard_that_is_off_is_not_called_clean, some_life),
        cmocka_unit_test_setup(it_is_clean_at_every_moment_under_load, some_life),
    };

    return cmocka_run_group_tests(tests, start, stop);
}
