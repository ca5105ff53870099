/* Leases, and old days folded into ledger_day: no row is ever counted twice or not at all. */
#include "tests/unit/unit.h"

#include "tests/unit/daemon/books.h"

#include "common/base/clock.h"
#include "common/store/lease.h"
#include "common/store/ledger_day.h"
#include "common/store/partition.h"

#include <stdio.h>

static struct books *books;
static struct tg_error err;
static const int64_t day_us = INT64_C(86400000000);

static int start(void **state)
{
    (void)state;
    books = books_start();
    return 0;
}

static int stop(void **state)
{
    (void)state;
    books_stop(books);
    return 0;
}

static int clean(void **state)
{
    (void)state;
    books_reset(books);
    return 0;
}

static void a_lease_has_one_owner_until_it_ends(void **state)
{
    struct tg_lease here = {.name = "house", .node = "here", .seconds = 3600};
    struct tg_lease there = {.name = "house", .node = "there", .seconds = 3600};
    bool mine;

    (void)state;
    assert_int_equal(tg_lease_take(books->main_db, &here, &mine, &err), TG_OK);
    assert_true(mine);
    assert_int_equal(tg_lease_take(books->main_db, &there, &mine, &err), TG_OK);
    assert_false(mine);
    assert_int_equal(tg_lease_take(books->main_db, &here, &mine, &err), TG_OK);
    assert_true(mine);
    books_run(books, "UPDATE node_lease SET until_at = NOW(6) - INTERVAL 1 SECOND");
    assert_int_equal(tg_lease_take(books->main_db, &there, &mine, &err), TG_OK);
    assert_true(mine);
    assert_int_equal(tg_lease_take(books->main_db, &here, &mine, &err), TG_OK);
    assert_false(mine);
}

/* An entry whose id says <days> days ago. */
static void entry_of(int days, const char *values)
{
    char sql[512];
    int64_t ms = (tg_unix_us() - days * day_us) / 1000;
    static int number;

    snprintf(sql, sizeof sql,
             "INSERT INTO ledger_entry (request_id, shard, kind, user_id, plan_id, amount_quota,"
             " batch, at) VALUES (x'%012llx70008000%012x', %s, '', NOW(6))",
             (unsigned long long)ms, ++number, values);
    books_run(books, sql);
}

static void old_days_become_sums_and_young_ones_stay(void **state)
{
    int days;

    (void)state;
    assert_int_equal(tg_store_entry_partitions_ensure(books->main_db,
                                                      tg_unix_us() - 40 * day_us, 42, &err),
                     TG_OK);
    entry_of(39, "1, 'charge', 1, 0, 10");
    entry_of(39, "1, 'charge', 1, 0, 20");
    entry_of(39, "1, 'charge', 1, 5, 7");
    entry_of(39, "2, 'refund', 2, 0, 0");
    entry_of(38, "1, 'charge', 1, 0, 40");
    entry_of(38, "1, 'credit', 1, 0, -500");
    entry_of(30, "1, 'charge', 1, 0, 80");
    assert_int_equal(tg_ledger_day_fold(books->main_db, tg_unix_us(), 35, &days, &err), TG_OK);
    assert_true(days >= 4);
    assert_int_equal(books_main(books, "SELECT COUNT(*) FROM ledger_day"), 5);
    assert_int_equal(books_main(books, "SELECT CAST(SUM(amount_quota) AS SIGNED) FROM ledger_day"
                                       " WHERE user_id = 1 AND kind = 'charge'"), 70);
    assert_int_equal(books_main(books, "SELECT CAST(SUM(count) AS SIGNED) FROM ledger_day"
                                       " WHERE user_id = 1 AND kind = 'charge'"), 3);
    assert_int_equal(books_main(books, "SELECT CAST(SUM(amount_quota) AS SIGNED) FROM ledger_day"
                                       " WHERE kind = 'charge/plan'"), 7);
    assert_int_equal(books_main(books, "SELECT CAST(SUM(amount_quota) AS SIGNED) FROM ledger_entry"
                                       " WHERE kind = 'charge'"), 80);
    assert_int_equal(books_main(books, "SELECT COUNT(*) FROM information_schema.PARTITIONS WHERE"
                                       " TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'ledger_entry'"
                                       " AND PARTITION_NAME < DATE_FORMAT(NOW() - INTERVAL 35 DAY,"
                                       " 'd%Y%m%d')"), 0);
    assert_int_equal(tg_ledger_day_fold(books->main_db, tg_unix_us(), 35, &days, &err), TG_OK);
    assert_int_equal(days, 0);
    assert_int_equal(books_main(books, "SELECT COUNT(*) FROM ledger_day"), 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_lease_has_one_owner_until_it_ends, clean),
        cmocka_unit_test_setup(old_days_become_sums_and_young_ones_stay, clean),
    };

    return cmocka_run_group_tests(tests, start, stop);
}
