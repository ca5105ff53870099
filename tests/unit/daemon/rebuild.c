/* The one repair: whatever Redis lost, the books are whole and the live balances follow them. */
#include "tests/unit/unit.h"

#include "tests/unit/daemon/site.h"

#include "common/base/clock.h"
#include "common/ledger/spool.h"

#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

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

static int clean(void **state)
{
    (void)state;
    site_reset(site);
    return 0;
}

static int64_t quota(int64_t user)
{
    return user == 1 ? books_main(site->books, "SELECT quota FROM users WHERE id = 1")
                     : books_main(site->books, "SELECT quota FROM users WHERE id = 65");
}

static void pages_are_applied_until_none_is_left(void **state)
{
    (void)state;
    for (int i = 1; i <= 10; i++)
        site_settle(site, books_charge(i % 2 ? 1 : 65, i));
    assert_int_equal(quota(1), 1000);
    site_apply(site, 1);
    assert_int_equal(quota(1), 1000 - 25);
    assert_int_equal(quota(65), 1000 - 30);
    site_is_clean(site);
}

struct applier {
    struct tg_kv *kv;
    struct tg_db *db;
    int64_t applied;
};

static void *apply_all(void *context)
{
    struct applier *own = context;
    struct tg_error err;
    struct tg_apply apply = {.kv = own->kv, .db = own->db, .shard = 1, .batch_count = 2,
                             .answer_us = 10000000, .err = &err};
    struct tg_cursor cursors[TG_SHARDS];
    size_t count = 1;

    assert_int_equal(tg_store_cursors(own->db, cursors, &err), TG_OK);
    while (count > 0)
        assert_int_equal(tg_apply_page(&apply, &cursors[1], &count), TG_OK);
    return NULL;
}

static void two_appliers_at_once_move_everything_once(void **state)
{
    struct applier appliers[2];
    pthread_t threads[2];

    (void)state;
    for (int i = 0; i < 40; i++)
        site_settle(site, books_charge(1, 1));
    for (int i = 0; i < 2; i++) {
        int64_t until_us = tg_now_us() + 10000000;

        assert_int_equal(tg_kv_acquire(site->kv_pool, until_us, &appliers[i].kv, &site->err),
                         TG_OK);
        assert_int_equal(tg_db_acquire(site->books->main_pool, until_us, &appliers[i].db,
                                       &site->err),
                         TG_OK);
        assert_int_equal(pthread_create(&threads[i], NULL, apply_all, &appliers[i]), 0);
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
        tg_kv_release(appliers[i].kv);
        tg_db_release(appliers[i].db);
    }
    assert_int_equal(quota(1), 960);
    assert_int_equal(books_main(site->books, "SELECT request_count FROM users WHERE id = 1"), 40);
    site_is_clean(site);
}

static void a_healthy_shard_is_left_alone(void **state)
{
    int64_t epoch = site_epoch(site, 1);

    (void)state;
    assert_int_equal(site_rebuild(site, 1), TG_REBUILD_NEEDLESS);
    assert_int_equal(site_epoch(site, 1), epoch);
}

static void by_hand_it_takes_a_new_epoch_and_keeps_every_hold(void **state)
{
    struct tg_rebuild rebuild = {
        .apply = site_work(site, 1), .node = "here", .by_hand = true};
    const struct tg_entry *charge = books_charge(1, 30);
    int64_t epoch = site_epoch(site, 1);

    (void)state;
    site_reserve(site, charge, 100);
    site_settle(site, books_charge(1, 7));
    assert_int_equal(tg_rebuild_shard(&rebuild), TG_REBUILD_DONE);
    assert_int_equal(site_epoch(site, 1), epoch + 1);
    assert_int_equal(quota(1), 993);
    assert_int_equal(site_live(site, 1), 893);
    site_is_clean(site);
    site_settle(site, charge);
    site_apply(site, 1);
    assert_int_equal(site_live(site, 1), 963);
    assert_int_equal(books_main(site->books, "SELECT COUNT(*) FROM ledger_rebuild WHERE shard = 1"
                                             " AND entries = 1 AND finished_at IS NOT NULL"
                                             " AND node = 'here' AND reason = 'by hand'"), 1);
    site_is_clean(site);
}

static void after_flushall_the_books_decide(void **state)
{
    const struct tg_entry *known = books_charge(1, 30), *lost = books_charge(1, 5);

    (void)state;
    site_settle(site, known);
    site_apply(site, 1);
    site_settle(site, lost); /* in the journal only */
    test_redis_say(site->redis, "FLUSHALL", NULL);
    assert_int_equal(site_rebuild(site, 1), TG_REBUILD_DONE);
    assert_int_equal(site_rebuild(site, 2), TG_REBUILD_DONE);
    assert_int_equal(site_live(site, 1), 970);
    site_is_clean(site);
    site_settle(site, lost); /* what the spool's replay does */
    site_apply(site, 1);
    assert_int_equal(quota(1), 965);
    site_is_clean(site);
}

static void a_shard_that_was_left_off_goes_on_in_a_larger_epoch(void **state)
{
    struct tg_apply apply = site_work(site, 1);
    int64_t epoch = site_epoch(site, 1);
    struct tg_shard_call call = tg_apply_call(&apply, epoch + 1);

    (void)state;
    site_settle(site, books_charge(1, 9));
    assert_int_equal(tg_shard_begin(&call), TG_SHARD_OK); /* and its daemon died here */
    assert_int_equal(site_rebuild(site, 1), TG_REBUILD_DONE);
    assert_int_equal(site_epoch(site, 1), epoch + 2);
    assert_int_equal(quota(1), 991);
    site_is_clean(site);
}

static void a_second_rebuilder_stays_out(void **state)
{
    char lock[TG_JOURNAL_LOCK_TEXT];
    struct tg_db *other;
    bool got;

    (void)state;
    assert_int_equal(tg_db_acquire(site->books->main_pool, tg_now_us() + 10000000, &other,
                                   &site->err),
                     TG_OK);
    assert_int_equal(tg_journal_lock(other, 1, lock, &got, &site->err), TG_OK);
    assert_true(got);
    test_redis_say(site->redis, "DEL", "tg:{s01}:state", NULL);
    assert_int_equal(site_rebuild(site, 1), TG_REBUILD_BUSY);
    tg_journal_unlock(other, lock);
    tg_db_release(other);
    assert_int_equal(site_rebuild(site, 1), TG_REBUILD_DONE);
}

/* ---- a restart that lost the last second of the append-only file */

static const char *append_only_file(void)
{
    static char path[256];
    const char *socket = test_redis_address(site->redis) + strlen("unix:");

    snprintf(path, sizeof path, "%.*s/appendonlydir/appendonly.aof.1.incr.aof",
             (int)(strrchr(socket, '/') - socket), socket);
    return path;
}

static off_t file_size(const char *path)
{
    struct stat info;

    assert_int_equal(stat(path, &info), 0);
    return info.st_size;
}

static void a_restart_that_lost_its_tail_charges_nothing_twice(void **state)
{
    struct tg_spool *spool;
    struct tg_spool_watch *watch = tg_spool_watch_new(site->spool, "here");
    const struct tg_entry *kept = books_charge(1, 30), *applied = books_charge(1, 20),
                          *lost = books_charge(65, 7);
    struct tg_replay replay;
    bool clear = false;
    off_t size;

    (void)state;
    assert_int_equal(tg_spool_open(&(struct tg_spool_conf){.folder = site->spool, .node = "here",
                                                           .worker = 77},
                                   &spool, &site->err),
                     TG_OK);
    site_settle(site, kept);
    size = file_size(append_only_file());
    assert_int_equal(tg_spool_append(spool, applied, &site->err), TG_OK);
    site_settle(site, applied);
    site_apply(site, 1); /* MySQL is ahead of what Redis will remember */
    assert_int_equal(tg_spool_append(spool, lost, &site->err), TG_OK);
    site_settle(site, lost);
    test_redis_kill(site->redis);
    assert_int_equal(truncate(append_only_file(), size), 0);
    test_redis_again(site->redis);
    site_connect(site);
    assert_int_equal(site_rebuild(site, 1), TG_REBUILD_DONE);
    assert_int_equal(site_rebuild(site, 2), TG_REBUILD_DONE);
    assert_int_equal(site_live(site, 1), 950);
    tg_spool_watch_set_ripe(watch, 0);
    for (int i = 0; i < 5 && !clear; i++) {
        replay = site_replay(site);
        assert_int_equal(tg_spool_watch_round(watch, &replay, &clear), TG_OK);
        site_apply(site, 1);
    }
    assert_true(clear);
    assert_int_equal(quota(1), 950);
    assert_int_equal(quota(65), 993);
    site_is_clean(site);
    tg_spool_watch_free(watch);
    tg_spool_close(spool);
}

static void an_applier_of_the_old_server_is_refused(void **state)
{
    struct tg_cursor cursors[TG_SHARDS];
    struct tg_apply apply;
    size_t count;

    (void)state;
    site_settle(site, books_charge(1, 30));
    assert_int_equal(tg_store_cursors(site->books->main_db, cursors, &site->err), TG_OK);
    test_redis_restart(site->redis);
    site_connect(site);
    apply = site_work(site, 1);
    assert_int_equal(tg_apply_page(&apply, &cursors[1], &count), TG_CLASS_CONFLICT);
    assert_int_equal(quota(1), 1000);
    assert_int_equal(site_rebuild(site, 1), TG_REBUILD_DONE);
    assert_int_equal(quota(1), 970);
    /* a batch that was read before the restart */
    snprintf(cursors[1].run_id, sizeof cursors[1].run_id, "%s", tg_kv_run_id(site->kv));
    snprintf(cursors[1].stream_id, sizeof cursors[1].stream_id, "0-0");
    assert_int_equal(tg_apply_page(&apply, &cursors[1], &count), TG_CLASS_CONFLICT);
    assert_int_equal(site_rebuild(site, 2), TG_REBUILD_DONE);
    site_is_clean(site);
}

/* The recorded server is another one, and goes on: what this journal says beyond it may be in the
 * books only when that server's epoch is over. */
static void one_that_dies_half_way_has_moved_the_epoch(void **state)
{
    struct tg_rebuild rebuild = {.apply = site_work(site, 1), .node = "here"};
    static const char epoch[] = "SELECT epoch FROM ledger_cursor WHERE shard = 1";
    int64_t entries = books_main(site->books, "SELECT COUNT(*) FROM ledger_entry");
    int64_t before;

    (void)state;
    for (int i = 0; i < 3; i++)
        site_settle(site, books_charge(1, 10));
    books_run(site->books, "UPDATE ledger_cursor SET run_id = 'of another', epoch = epoch + 70"
                           " WHERE shard = 1");
    before = books_main(site->books, epoch);
    books_run(site->books, "CREATE TRIGGER lose AFTER INSERT ON ledger_entry FOR EACH ROW"
                           " DO RELEASE_ALL_LOCKS()");
    rebuild.apply.batch_count = 1;
    assert_int_equal(tg_rebuild_shard(&rebuild), TG_REBUILD_FAILED);
    assert_int_equal(books_main(site->books, "SELECT COUNT(*) FROM ledger_entry"), entries + 1);
    assert_int_equal(books_main(site->books, epoch), before + 1);
    books_run(site->books, "DROP TRIGGER lose");
    assert_int_equal(site_rebuild(site, 1), TG_REBUILD_DONE);
    assert_int_equal(books_main(site->books, epoch), before + 2);
    assert_int_equal(quota(1), 970);
    site_is_clean(site);
}

static void what_cannot_be_applied_holds_nobody_up(void **state)
{
    (void)state;
    site_settle(site, books_charge(1, 30));
    test_redis_say(site->redis, "XADD", "tg:{s01}:journal", "*", "i", "short", "k", "charge",
                   NULL);
    test_redis_say(site->redis, "EVAL",
                   "return redis.call('XADD', KEYS[1], '*', 'i', '0123456789abcdef', 'k', 'charge',"
                   " 'u', '129', 't', '0', 'p', '0', 'a', '5', 'c', '0')",
                   "1", "tg:{s01}:journal", NULL);
    site_settle(site, books_charge(1, 4));
    site_apply(site, 1);
    assert_int_equal(quota(1), 966);
    assert_int_equal(books_main(site->books, "SELECT COUNT(*) FROM ledger_reject"), 2);
    assert_int_equal(books_main(site->books, "SELECT COUNT(*) FROM ledger_reject WHERE reason"
                                             " LIKE '%user 129%'"), 1);
    site_is_clean(site);
}

static void script(const char *sql)
{
    if (tg_db_script(site->books->main_db, sql, &site->err) != TG_OK)
        fail_msg("%s", site->err.message);
}

/* Field report 23: a batch that is taken out of the queue before it is written. */
static void fr23_a_deadlock_loses_nothing(void **state)
{
    struct tg_apply apply = site_work(site, 1);
    struct tg_cursor cursors[TG_SHARDS];
    size_t count;

    (void)state;
    for (int i = 0; i < 50; i++)
        site_settle(site, books_charge(1, 2));
    script("CREATE TRIGGER once BEFORE INSERT ON ledger_entry FOR EACH ROW BEGIN"
           " IF @told IS NULL THEN SET @told = 1; SIGNAL SQLSTATE '40001'"
           " SET MYSQL_ERRNO = 1213, MESSAGE_TEXT = 'deadlock'; END IF; END");
    assert_int_equal(tg_store_cursors(apply.db, cursors, &site->err), TG_OK);
    apply.batch_count = 100;
    assert_int_equal(tg_apply_page(&apply, &cursors[1], &count), TG_OK);
    script("DROP TRIGGER once");
    assert_int_equal(count, 50);
    assert_int_equal(quota(1), 900);
    assert_int_equal(books_main(site->books, "SELECT COUNT(*) FROM ledger_reject"), 0);
    site_is_clean(site);
}

/* The same with a row that can never be written: the others are, and it is kept with its reason. */
static void fr23_one_row_that_fails_for_ever_holds_nobody_up(void **state)
{
    (void)state;
    for (int i = 0; i < 50; i++)
        site_settle(site, books_charge(1, i == 28 ? 9 : 2));
    script("CREATE TRIGGER never BEFORE INSERT ON ledger_entry FOR EACH ROW BEGIN"
           " IF NEW.amount_quota = 9 THEN SIGNAL SQLSTATE '23000'"
           " SET MYSQL_ERRNO = 1452, MESSAGE_TEXT = 'no'; END IF; END");
    site_apply(site, 1);
    script("DROP TRIGGER never");
    assert_int_equal(quota(1), 1000 - 98);
    assert_int_equal(books_main(site->books, "SELECT COUNT(*) FROM ledger_reject"), 1);
    assert_false(site_audit(site)->clean); /* what it should have paid is owed */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(pages_are_applied_until_none_is_left, clean),
        cmocka_unit_test_setup(two_appliers_at_once_move_everything_once, clean),
        cmocka_unit_test_setup(a_healthy_shard_is_left_alone, clean),
        cmocka_unit_test_setup(by_hand_it_takes_a_new_epoch_and_keeps_every_hold, clean),
        cmocka_unit_test_setup(after_flushall_the_books_decide, clean),
        cmocka_unit_test_setup(a_shard_that_was_left_off_goes_on_in_a_larger_epoch, clean),
        cmocka_unit_test_setup(a_second_rebuilder_stays_out, clean),
        cmocka_unit_test_setup(a_restart_that_lost_its_tail_charges_nothing_twice, clean),
        cmocka_unit_test_setup(an_applier_of_the_old_server_is_refused, clean),
        cmocka_unit_test_setup(one_that_dies_half_way_has_moved_the_epoch, clean),
        cmocka_unit_test_setup(fr23_a_deadlock_loses_nothing, clean),
        cmocka_unit_test_setup(fr23_one_row_that_fails_for_ever_holds_nobody_up, clean),
        cmocka_unit_test_setup(what_cannot_be_applied_holds_nobody_up, clean),
    };

    return cmocka_run_group_tests(tests, start, stop);
}
