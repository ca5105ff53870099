/* The journal into the books: exactly once, or not at all. */
#include "tests/unit/unit.h"

#include "tests/unit/daemon/books.h"

#include "common/base/clock.h"
#include "common/store/journal.h"
#include "common/store/log_batch.h"
#include "common/store/pending.h"

#include <stdio.h>
#include <stdlib.h>

static struct books *books;

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

static struct tg_journal_batch batch_of(const struct tg_entry *const *entries, size_t count)
{
    return (struct tg_journal_batch){.shard = 1,
                                     .epoch = 1,
                                     .run_id = "run",
                                     .entries = entries,
                                     .count = count,
                                     .stream_id = "100-1"};
}

static size_t apply(struct tg_db *db, const struct tg_journal_batch *batch)
{
    struct tg_error err;
    size_t inserted = 0;

    if (tg_journal_apply(db, batch, &inserted, &err) != TG_OK)
        fail_msg("%s: %s", err.code, err.message);
    return inserted;
}

static void a_batch_moves_balances_once_however_often_it_is_applied(void **state)
{
    const struct tg_entry *entries[] = {books_charge(1, 30), books_charge(65, 5),
                                        books_charge(1, 12)};
    struct tg_journal_batch batch = batch_of(entries, 3);

    (void)state;
    assert_int_equal(apply(books->main_db, &batch), 3);
    assert_int_equal(apply(books->main_db, &batch), 0);
    assert_int_equal(books_main(books, "SELECT quota FROM users WHERE id = 1"), 958);
    assert_int_equal(books_main(books, "SELECT used_quota FROM users WHERE id = 1"), 42);
    assert_int_equal(books_main(books, "SELECT request_count FROM users WHERE id = 1"), 2);
    assert_int_equal(books_main(books, "SELECT quota FROM users WHERE id = 65"), 995);
    assert_int_equal(books_main(books, "SELECT remain_quota FROM tokens WHERE id = 11"), 458);
    assert_int_equal(books_main(books, "SELECT used_quota FROM tokens WHERE id = 11"), 42);
    assert_int_equal(books_main(books, "SELECT COUNT(*) FROM log_batch"), 1);
    assert_int_equal(books_main(books, "SELECT stream_id = '100-1' FROM ledger_cursor"
                                       " WHERE shard = 1"), 1);
}

static void only_the_new_entries_of_a_batch_move_money(void **state)
{
    const struct tg_entry *first[] = {books_charge(1, 30)};
    const struct tg_entry *second[] = {first[0], books_charge(1, 4), first[0]};
    struct tg_journal_batch batch = batch_of(first, 1);

    (void)state;
    assert_int_equal(apply(books->main_db, &batch), 1);
    batch = batch_of(second, 3);
    batch.stream_id = "90-0"; /* an older page: the cursor does not go back */
    assert_int_equal(apply(books->main_db, &batch), 1);
    assert_int_equal(books_main(books, "SELECT quota FROM users WHERE id = 1"), 966);
    assert_int_equal(books_main(books, "SELECT stream_id = '100-1' FROM ledger_cursor"
                                       " WHERE shard = 1"), 1);
}

static void an_entry_twice_in_one_batch_counts_once(void **state)
{
    const struct tg_entry *charge = books_charge(1, 30);
    const struct tg_entry *entries[] = {charge, charge};
    struct tg_journal_batch batch = batch_of(entries, 2);

    (void)state;
    assert_int_equal(apply(books->main_db, &batch), 1);
    assert_int_equal(books_main(books, "SELECT quota FROM users WHERE id = 1"), 970);
}

static void another_epoch_or_server_is_refused(void **state)
{
    const struct tg_entry *entries[] = {books_charge(1, 30)};
    struct tg_journal_batch wrong[] = {batch_of(entries, 1), batch_of(entries, 1),
                                       batch_of(entries, 1)};
    struct tg_error err;
    size_t inserted;

    (void)state;
    wrong[0].epoch = 2;
    wrong[1].run_id = "other";
    wrong[2].lock = "tollgate_lock_that_nobody_holds";
    for (size_t i = 0; i < TG_COUNT_OF(wrong); i++) {
        assert_int_equal(tg_journal_apply(books->main_db, &wrong[i], &inserted, &err),
                         TG_CLASS_CONFLICT);
        assert_string_equal(err.code, "ledger_moved");
    }
    assert_int_equal(books_main(books, "SELECT quota FROM users WHERE id = 1"), 1000);
}

static void a_missing_partition_is_an_error_and_moves_nothing(void **state)
{
    const struct tg_entry *entries[] = {books_charge(1, 30)};
    struct tg_journal_batch batch = batch_of(entries, 1);
    struct tg_error err;
    size_t inserted;

    (void)state;
    books_run(books, "DELETE FROM ledger_entry; ALTER TABLE ledger_entry PARTITION BY RANGE"
                     " COLUMNS (request_id) (PARTITION early VALUES LESS THAN"
                     " (x'00000000000000000000000000000001'))");
    assert_int_equal(tg_journal_apply(books->main_db, &batch, &inserted, &err),
                     TG_CLASS_INTERNAL);
    assert_int_equal(books_main(books, "SELECT quota FROM users WHERE id = 1"), 1000);
    assert_int_equal(books_main(books, "SELECT stream_id = '0-0' FROM ledger_cursor"
                                       " WHERE shard = 1"), 1);
    books_run(books, "ALTER TABLE ledger_entry PARTITION BY RANGE COLUMNS (request_id)"
                     " (PARTITION later VALUES LESS THAN (MAXVALUE))");
    assert_int_equal(apply(books->main_db, &batch), 1);
}

static void an_unknown_account_is_an_error_and_can_be_refused(void **state)
{
    struct tg_entry nobody = *books_charge(1, 30);
    const struct tg_entry *entries[] = {&nobody};
    struct tg_journal_batch batch = batch_of(entries, 1);
    struct tg_journal_refused refused = {.stream_id = "100-1", .entry = &nobody,
                                         .reason = "of nobody"};
    struct tg_error err;
    size_t inserted;

    (void)state;
    nobody.user_id = 129;
    assert_int_equal(tg_journal_apply(books->main_db, &batch, &inserted, &err),
                     TG_CLASS_INTERNAL);
    assert_string_equal(err.code, "ledger_unknown_account");
    assert_int_equal(tg_journal_refuse(books->main_db, &batch, &refused, &err), TG_OK);
    assert_int_equal(books_main(books, "SELECT COUNT(*) FROM ledger_reject"
                                       " WHERE reason = 'of nobody'"), 1);
    assert_int_equal(books_main(books, "SELECT COUNT(*) FROM ledger_entry WHERE user_id = 129"),
                     0);
    assert_int_equal(books_main(books, "SELECT stream_id = '100-1' FROM ledger_cursor"
                                       " WHERE shard = 1"), 1);
}

static void credits_and_adjustments_are_marked_and_move_what_they_say(void **state)
{
    struct tg_arena *arena = tg_arena_new();
    const struct tg_entry *entries[8];
    struct tg_entry_list pending;
    struct tg_error err;

    (void)state;
    books_run(books,
              "INSERT INTO credits (entry_id, user_id, amount_quota, kind) VALUES"
              " (x'01987000000070008000000000000001', 1, 70, 'topup');"
              "INSERT INTO adjustments (entry_id, user_id, token_id, delta, unlimited, authver)"
              " VALUES (x'01987000000070008000000000000002', 1, 11, 40, 1, 9),"
              " (x'01987000000070008000000000000003', 1, 11, -10, -1, 0)");
    assert_int_equal(tg_pending_entries(books->main_db, arena, 8, &pending, &err), TG_OK);
    assert_int_equal(pending.count, 3);
    for (size_t i = 0; i < pending.count; i++)
        entries[i] = &pending.entries[i];
    struct tg_journal_batch batch = batch_of(entries, pending.count);
    assert_int_equal(apply(books->main_db, &batch), 3);
    assert_int_equal(apply(books->main_db, &batch), 0);
    assert_int_equal(books_main(books, "SELECT quota FROM users WHERE id = 1"), 1070);
    assert_int_equal(books_main(books, "SELECT used_quota FROM users WHERE id = 1"), 0);
    assert_int_equal(books_main(books, "SELECT request_count FROM users WHERE id = 1"), 0);
    assert_int_equal(books_main(books, "SELECT authver FROM users WHERE id = 1"), 9);
    assert_int_equal(books_main(books, "SELECT remain_quota FROM tokens WHERE id = 11"), 530);
    assert_int_equal(books_main(books, "SELECT unlimited FROM tokens WHERE id = 11"), 1);
    assert_int_equal(tg_pending_entries(books->main_db, arena, 8, &pending, &err), TG_OK);
    assert_int_equal(pending.count, 0);
    assert_int_equal(books_main(books, "SELECT COUNT(*) FROM log_batch"), 0);
    tg_arena_free(arena);
}

static void plan_money_is_not_wallet_money(void **state)
{
    struct tg_entry charge = *books_charge(1, 30);
    const struct tg_entry *entries[] = {&charge};
    struct tg_journal_batch batch = batch_of(entries, 1);

    (void)state;
    books_run(books, "INSERT INTO subscriptions (id, user_id, plan_id, remain_quota)"
                     " VALUES (5, 1, 1, 100)");
    charge.funding.plan_id = 5;
    charge.plan_quota = 30;
    assert_int_equal(apply(books->main_db, &batch), 1);
    assert_int_equal(books_main(books, "SELECT quota FROM users WHERE id = 1"), 1000);
    assert_int_equal(books_main(books, "SELECT used_quota FROM users WHERE id = 1"), 30);
    assert_int_equal(books_main(books, "SELECT remain_quota FROM subscriptions WHERE id = 5"), 70);
    assert_int_equal(books_main(books, "SELECT remain_quota FROM tokens WHERE id = 11"), 470);
}

static void offline_rows_go_with_their_entry_and_free_their_money(void **state)
{
    const struct tg_entry *charge = books_charge(1, 30);
    const struct tg_entry *entries[] = {charge};
    struct tg_journal_batch batch = batch_of(entries, 1);
    char sql[1024], id[TG_ID_TEXT];

    (void)state;
    tg_id_format(&charge->id, id);
    snprintf(sql, sizeof sql,
             "UPDATE users SET offline_quota = 55 WHERE id = 1;"
             "UPDATE tokens SET offline_quota = 55 WHERE id = 11;"
             "INSERT INTO offline_entry (request_id, user_id, token_id, amount_quota, node, body)"
             " VALUES (UNHEX(REPLACE('%s', '-', '')), 1, 11, 30, 'n', '');"
             "INSERT INTO offline_hold (request_id, user_id, token_id, amount_quota, node, due_at)"
             " VALUES (x'01987000000070008000000000000009', 1, 11, 25, 'n', NOW(6))", id);
    books_run(books, sql);
    assert_int_equal(apply(books->main_db, &batch), 1);
    assert_int_equal(books_main(books, "SELECT offline_quota FROM users WHERE id = 1"), 25);
    assert_int_equal(books_main(books, "SELECT offline_quota FROM tokens WHERE id = 11"), 25);
    assert_int_equal(books_main(books, "SELECT COUNT(*) FROM offline_entry"), 0);
    assert_int_equal(books_main(books, "SELECT COUNT(*) FROM offline_hold"), 1);
    assert_int_equal(books_main(books, "SELECT quota FROM users WHERE id = 1"), 970);
}

static void a_rebuilds_last_batch_sets_epoch_server_and_cursor(void **state)
{
    const struct tg_entry *entries[] = {books_charge(1, 30)};
    struct tg_journal_renewal renewal = {.epoch = 2, .run_id = "next"};
    struct tg_journal_batch batch = batch_of(entries, 1);
    char lock[TG_JOURNAL_LOCK_TEXT], again[TG_JOURNAL_LOCK_TEXT];
    struct tg_db *other;
    struct tg_error err;
    bool got;

    (void)state;
    assert_int_equal(apply(books->main_db, &batch), 1);
    assert_int_equal(tg_journal_lock(books->main_db, 1, lock, &got, &err), TG_OK);
    assert_true(got);
    assert_int_equal(tg_db_acquire(books->main_pool, tg_now_us() + 10000000, &other, &err), TG_OK);
    assert_int_equal(tg_journal_lock(other, 1, again, &got, &err), TG_OK);
    assert_false(got);
    batch.lock = lock;
    batch.renewal = &renewal;
    batch.cursor_may_go_back = true;
    batch.stream_id = "50-0";
    assert_int_equal(apply(books->main_db, &batch), 0);
    assert_int_equal(books_main(books, "SELECT epoch = 2 AND run_id = 'next' AND stream_id = '50-0'"
                                       " FROM ledger_cursor WHERE shard = 1"), 1);
    tg_journal_unlock(books->main_db, lock);
    assert_int_equal(tg_journal_lock(other, 1, again, &got, &err), TG_OK);
    assert_true(got);
    tg_journal_unlock(other, again);
    tg_db_release(other);
}

static void stream_ids_compare_as_numbers(void **state)
{
    (void)state;
    assert_int_equal(tg_stream_id_compare("9-0", "10-0"), -1);
    assert_int_equal(tg_stream_id_compare("10-9", "10-10"), -1);
    assert_int_equal(tg_stream_id_compare("10-9", "10-9"), 0);
    assert_int_equal(tg_stream_id_compare("18446744073709551615-1", "1-2"), 1);
    assert_int_equal(tg_stream_id_compare("", "0-0"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_batch_moves_balances_once_however_often_it_is_applied, clean),
        cmocka_unit_test_setup(only_the_new_entries_of_a_batch_move_money, clean),
        cmocka_unit_test_setup(an_entry_twice_in_one_batch_counts_once, clean),
        cmocka_unit_test_setup(another_epoch_or_server_is_refused, clean),
        cmocka_unit_test_setup(a_missing_partition_is_an_error_and_moves_nothing, clean),
        cmocka_unit_test_setup(an_unknown_account_is_an_error_and_can_be_refused, clean),
        cmocka_unit_test_setup(credits_and_adjustments_are_marked_and_move_what_they_say, clean),
        cmocka_unit_test_setup(plan_money_is_not_wallet_money, clean),
        cmocka_unit_test_setup(offline_rows_go_with_their_entry_and_free_their_money, clean),
        cmocka_unit_test_setup(a_rebuilds_last_batch_sets_epoch_server_and_cursor, clean),
        cmocka_unit_test(stream_ids_compare_as_numbers),
    };

    return cmocka_run_group_tests(tests, start, stop);
}
