/* Connections on a real server: pool, transactions, losses. */
#include "tests/unit/sql/cases.h"

#include <pthread.h>
#include <stdio.h>

#include "common/base/clock.h"

struct tg_db *take(struct cases *cases)
{
    struct tg_db *db;

    assert_int_equal(tg_db_acquire(cases->pool, tg_now_us() + 5000000, &db, NULL), TG_OK);
    return db;
}

static int64_t count_rows(struct tg_db *db)
{
    struct tg_db_rows *rows;
    int64_t count;

    assert_int_equal(tg_db_select(db, "SELECT COUNT(*) FROM t", NULL, 0, &rows), TG_OK);
    assert_true(tg_db_next(rows));
    count = tg_db_int(rows, 0);
    tg_db_rows_free(rows);
    return count;
}

static enum tg_class insert(struct tg_db *db, int64_t id, struct tg_error *err)
{
    return tg_db_run(db, "INSERT INTO t (id) VALUES (?)", &TG_DB_I(id), 1, err);
}

static void a_second_row_of_a_key_is_a_duplicate(void **state)
{
    struct tg_db *db = take(*state);
    struct tg_error err;

    assert_int_equal(insert(db, 1, NULL), TG_OK);
    assert_int_equal(insert(db, 1, &err), TG_CLASS_CONFLICT);
    assert_string_equal(err.code, "db_duplicate");
    assert_int_equal(insert(db, 2, NULL), TG_OK);
    assert_int_equal(tg_db_run(db, "INSERT INTO t (n) VALUES (1)", NULL, 0, NULL), TG_OK);
    assert_int_equal(tg_db_done(db).last_id, 3);
    assert_int_equal(tg_db_run(db, "UPDATE t SET n = 1 WHERE id = 3", NULL, 0, NULL), TG_OK);
    assert_int_equal(tg_db_done(db).affected, 0);
    assert_int_equal(tg_db_run(db, "SELEC 1", NULL, 0, &err), TG_CLASS_INTERNAL);
    assert_string_equal(err.code, "db_error");
    tg_db_release(db);
}

static void sessions_are_strict_and_utc(void **state)
{
    struct tg_db *db = take(*state);
    struct tg_db_rows *rows;

    assert_int_equal(tg_db_run(db, "INSERT INTO t (id, tiny) VALUES (1, 300)", NULL, 0, NULL),
                     TG_CLASS_INTERNAL);
    assert_int_equal(tg_db_select(db, "SELECT @@time_zone, @@character_set_client", NULL, 0,
                                  &rows),
                     TG_OK);
    assert_true(tg_db_next(rows));
    assert_string_equal(tg_db_text(rows, 0), "+00:00");
    assert_string_equal(tg_db_text(rows, 1), "utf8mb4");
    tg_db_rows_free(rows);
    assert_int_equal(tg_db_script(db, "SELECT 1; SELECT 2", NULL), TG_CLASS_INTERNAL);
    tg_db_release(db);
}

static void release_rolls_back_and_commit_keeps(void **state)
{
    struct tg_db *db = take(*state);

    assert_int_equal(tg_db_begin(db, NULL), TG_OK);
    assert_int_equal(insert(db, 1, NULL), TG_OK);
    tg_db_release(db);
    db = take(*state);
    assert_int_equal(count_rows(db), 0);
    assert_int_equal(tg_db_begin(db, NULL), TG_OK);
    assert_int_equal(insert(db, 1, NULL), TG_OK);
    assert_int_equal(tg_db_commit(db, NULL), TG_OK);
    assert_int_equal(tg_db_begin(db, NULL), TG_OK);
    assert_int_equal(insert(db, 2, NULL), TG_OK);
    tg_db_rollback(db);
    assert_int_equal(count_rows(db), 1);
    tg_db_release(db);
}

static void a_snapshot_does_not_move(void **state)
{
    struct tg_db *reader = take(*state), *writer = take(*state);

    assert_int_equal(tg_db_begin_snapshot(reader, NULL), TG_OK);
    assert_int_equal(insert(writer, 1, NULL), TG_OK);
    assert_int_equal(count_rows(reader), 0);
    assert_int_equal(tg_db_commit(reader, NULL), TG_OK);
    assert_int_equal(count_rows(reader), 1);
    tg_db_release(reader);
    tg_db_release(writer);
}

static void an_idle_connection_survives_a_restart_of_the_server(void **state)
{
    struct cases *cases = *state;
    struct tg_db *db = take(cases);

    assert_int_equal(insert(db, 1, NULL), TG_OK);
    test_mariadb_restart(cases->server);
    assert_int_equal(insert(db, 2, NULL), TG_OK);
    assert_int_equal(count_rows(db), 2);
    test_mariadb_restart(cases->server);
    assert_int_equal(tg_db_begin(db, NULL), TG_OK);
    assert_int_equal(insert(db, 3, NULL), TG_OK);
    assert_int_equal(tg_db_commit(db, NULL), TG_OK);
    assert_int_equal(count_rows(db), 3);
    tg_db_release(db);
}

/* A statement after the loss would run outside of any transaction: it must not. */
static void a_transaction_fails_as_a_whole_when_its_connection_is_lost(void **state)
{
    struct cases *cases = *state;
    struct tg_db *db = take(cases);
    struct tg_error err;

    assert_int_equal(tg_db_begin(db, NULL), TG_OK);
    assert_int_equal(insert(db, 1, NULL), TG_OK);
    test_mariadb_restart(cases->server);
    assert_int_equal(insert(db, 2, &err), TG_CLASS_DOWN);
    assert_string_equal(err.code, "db_down");
    assert_int_equal(insert(db, 3, &err), TG_CLASS_DOWN);
    assert_int_equal(tg_db_commit(db, &err), TG_CLASS_DOWN);
    assert_string_equal(err.code, "db_down");
    assert_int_equal(count_rows(db), 0);

    assert_int_equal(tg_db_begin(db, NULL), TG_OK);
    assert_int_equal(insert(db, 1, NULL), TG_OK);
    test_mariadb_restart(cases->server);
    assert_int_equal(tg_db_commit(db, &err), TG_CLASS_DOWN);
    assert_int_equal(count_rows(db), 0);
    tg_db_release(db);
}

static void a_server_that_is_away_is_down(void **state)
{
    struct cases *cases = *state;
    struct tg_db *db = take(cases);
    struct tg_db_rows *rows;
    struct tg_error err;

    assert_int_equal(count_rows(db), 0);
    test_mariadb_kill(cases->server);
    assert_int_equal(insert(db, 1, &err), TG_CLASS_DOWN);
    assert_string_equal(err.code, "db_down");
    assert_int_equal(tg_db_select(db, "SELECT 1", NULL, 0, &rows), TG_CLASS_DOWN);
    assert_int_equal(tg_db_begin(db, &err), TG_CLASS_DOWN);
    assert_int_equal(tg_db_script(db, "SELECT 1", &err), TG_CLASS_DOWN);
    test_mariadb_again(cases->server);
    assert_int_equal(insert(db, 1, &err), TG_OK);
    tg_db_release(db);
}

struct rival {
    struct cases *cases;
    int64_t first, second;
    enum tg_class class;
    char code[48];
    pthread_barrier_t *both;
};

static void *lock_two(void *context)
{
    struct rival *rival = context;
    struct tg_db *db = take(rival->cases);
    struct tg_error err = {.code = ""};
    static const char *const sql = "UPDATE t SET n = n + 1 WHERE id = ?";

    assert_int_equal(tg_db_begin(db, NULL), TG_OK);
    assert_int_equal(tg_db_run(db, sql, &TG_DB_I(rival->first), 1, NULL), TG_OK);
    pthread_barrier_wait(rival->both);
    rival->class = tg_db_run(db, sql, &TG_DB_I(rival->second), 1, &err);
    if (rival->class != TG_OK) {
        snprintf(rival->code, sizeof rival->code, "%s", err.code);
        /* the server has ended the transaction: this must not run beside it */
        assert_int_equal(insert(db, 50, NULL), TG_CLASS_CONFLICT);
        assert_int_equal(tg_db_commit(db, &err), TG_CLASS_CONFLICT);
        assert_string_equal(err.code, "db_retry");
    } else {
        assert_int_equal(tg_db_commit(db, NULL), TG_OK);
    }
    tg_db_release(db);
    return NULL;
}

static void the_loser_of_a_deadlock_is_told_to_repeat_all(void **state)
{
    struct cases *cases = *state;
    struct tg_db *db = take(cases);
    pthread_barrier_t both;
    pthread_t thread;
    struct rival one = {.cases = cases, .first = 1, .second = 2, .both = &both};
    struct rival two = {.cases = cases, .first = 2, .second = 1, .both = &both};
    const struct rival *loser;

    assert_int_equal(tg_db_run(db, "INSERT INTO t (id, n) VALUES (1, 0), (2, 0)", NULL, 0, NULL),
                     TG_OK);
    pthread_barrier_init(&both, NULL, 2);
    assert_int_equal(pthread_create(&thread, NULL, lock_two, &one), 0);
    lock_two(&two);
    pthread_join(thread, NULL);
    pthread_barrier_destroy(&both);
    assert_int_equal((one.class == TG_OK) + (two.class == TG_OK), 1);
    loser = one.class == TG_OK ? &two : &one;
    assert_int_equal(loser->class, TG_CLASS_CONFLICT);
    assert_string_equal(loser->code, "db_retry");
    assert_int_equal(count_rows(db), 2);
    tg_db_release(db);
}

static void a_full_pool_refuses_after_the_deadline(void **state)
{
    struct cases *cases = *state;
    struct tg_db *held[4], *none;
    struct tg_error err;

    for (size_t i = 0; i < TG_COUNT_OF(held); i++)
        held[i] = take(cases);
    assert_int_equal(tg_db_acquire(cases->pool, tg_now_us() + 20000, &none, &err), TG_CLASS_DOWN);
    assert_string_equal(err.code, "db_down");
    for (size_t i = 0; i < TG_COUNT_OF(held); i++)
        tg_db_release(held[i]);
    tg_db_release(NULL);
}

static int start(void **state)
{
    static struct cases cases;

    cases.server = test_mariadb_start();
    cases.pool = test_mariadb_pool(cases.server, "main", 4);
    *state = &cases;
    return 0;
}

static int stop(void **state)
{
    struct cases *cases = *state;

    tg_db_pool_free(cases->pool);
    test_mariadb_stop(cases->server);
    return 0;
}

static int empty_table(void **state)
{
    struct cases *cases = *state;

    test_mariadb_sql(cases->server, "main",
                     "DROP TABLE IF EXISTS t;"
                     "CREATE TABLE t (id BIGINT AUTO_INCREMENT PRIMARY KEY, n BIGINT, tiny TINYINT,"
                     " u BIGINT UNSIGNED, text LONGTEXT, blob_ LONGBLOB, price DECIMAL(20,10),"
                     " at DATETIME(6)) ENGINE=InnoDB CHARSET=utf8mb4");
    return 0;
}

#define CASE(name) cmocka_unit_test_setup(name, empty_table)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(integers_and_null_round_trip),
        CASE(long_texts_and_blobs_round_trip),
        CASE(decimals_and_times_come_as_exact_texts),
        CASE(sums_are_integers),
        CASE(an_unsigned_number_beyond_63_bits_is_an_error),
        CASE(many_rows_come_in_order),
        CASE(a_second_row_of_a_key_is_a_duplicate),
        CASE(sessions_are_strict_and_utc),
        CASE(release_rolls_back_and_commit_keeps),
        CASE(a_snapshot_does_not_move),
        CASE(a_full_pool_refuses_after_the_deadline),
        CASE(the_loser_of_a_deadlock_is_told_to_repeat_all),
        CASE(an_idle_connection_survives_a_restart_of_the_server),
        CASE(a_transaction_fails_as_a_whole_when_its_connection_is_lost),
        CASE(a_server_that_is_away_is_down),
    };

    return cmocka_run_group_tests(tests, start, stop);
}
