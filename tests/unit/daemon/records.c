/* Records from the applier's transaction to the log database: each once, none lost. */
#include "tests/unit/unit.h"

#include "tests/unit/daemon/books.h"

#include "common/store/journal.h"
#include "common/store/log_batch.h"
#include "common/store/log_rows.h"

#include <stdio.h>

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

static void apply(const struct tg_entry *const *entries, size_t count)
{
    struct tg_journal_batch batch = {.shard = 1, .epoch = 1, .run_id = "run", .entries = entries,
                                     .count = count, .stream_id = "100-1"};
    struct tg_error err;
    size_t inserted;

    if (tg_journal_apply(books->main_db, &batch, &inserted, &err) != TG_OK)
        fail_msg("%s: %s", err.code, err.message);
}

static size_t move(void)
{
    struct tg_error err;
    size_t moved;

    if (tg_log_batch_move(books->main_db, books->log_db, 10, &moved, &err) != TG_OK)
        fail_msg("%s: %s", err.code, err.message);
    return moved;
}

static void records_become_rows_details_and_hourly_sums(void **state)
{
    const struct tg_entry *entries[] = {books_charge(1, 30), books_charge(1, 12)};

    (void)state;
    apply(entries, 2);
    assert_int_equal(move(), 1);
    assert_int_equal(books_main(books, "SELECT COUNT(*) FROM log_batch"), 0);
    assert_int_equal(books_log(books, "SELECT COUNT(*) FROM request_log WHERE user_id = 1"
                                      " AND served_model = 'm' AND stream = 1 AND input = 3"
                                      " AND team = '' AND stages_json = '{\"access\":12}'"), 2);
    assert_int_equal(books_log(books, "SELECT SUM(quota) FROM request_log"), 42);
    assert_int_equal(books_log(books, "SELECT COUNT(*) FROM request_detail WHERE"
                                      " attempts_json = '[{\"channel\":7}]'"
                                      " AND bill_json = '{\"a\":\"\\\\u00e9\"}'"
                                      " AND diagnostics_json IS NULL"), 2);
    assert_int_equal(books_log(books, "SELECT SUM(quota) FROM usage_hourly"), 42);
    assert_int_equal(books_log(books, "SELECT SUM(requests) FROM usage_hourly"
                                      " WHERE total_300ms = requests AND total_100ms = 0"), 2);
}

/* What the server sums over the rows themselves, and how many of its groups say the same. */
static const char same_sums[] =
    "SELECT COUNT(*) FROM usage_hourly h JOIN (SELECT"
    " DATE_FORMAT(created_at, '%Y-%m-%d %H:00:00') AS hour, user_id, token_id, team, served_model,"
    " channel_id, COUNT(*) AS n, SUM(error_code <> '' OR status >= 400) AS bad,"
    " SUM(was_fallback) AS fell, SUM(input) AS i, SUM(cache_write_1h) AS w, SUM(quota) AS q,"
    " SUM(total_us) AS t, SUM(first_token_us) AS f, SUM(total_us <= 100000) AS b1,"
    " SUM(total_us > 100000 AND total_us <= 300000) AS b2,"
    " SUM(total_us > 10000000 AND total_us <= 30000000) AS b6,"
    " SUM(total_us > 100000000) AS b8 FROM request_log"
    " GROUP BY hour, user_id, token_id, team, served_model, channel_id) r"
    " USING (hour, user_id, token_id, team, served_model, channel_id)"
    " WHERE requests = n AND errors = bad AND fallbacks = fell AND h.input = i"
    " AND h.cache_write_1h = w AND h.quota = q AND h.total_us = t AND h.first_token_us = f"
    " AND total_100ms = b1 AND total_300ms = b2 AND total_30s = b6 AND total_longer = b8";

static void hourly_sums_are_those_of_the_rows(void **state)
{
    static const int64_t total_us[] = {0,        1,        100000,   100001,    300000,
                                       10000001, 30000000, 30000001, 100000000, 100000001};
    static const char *const teams[] = {"", "red", "red team", "blue\\\"quoted\\\""};
    struct tg_error err;
    struct tg_buf lines;

    (void)state;
    for (int round = 0; round < 3; round++) {
        tg_buf_init(&lines, 0);
        for (int i = 0; i < 90; i++) {
            struct tg_id id = tg_id_new();
            char text[TG_ID_TEXT];

            tg_id_format(&id, text);
            tg_buf_printf(&lines,
                          "{\"log\":{\"request_id\":\"%s\","
                          "\"created_at\":\"2026-11-30 1%d:59:59.9\","
                          "\"user_id\":%d,\"token_id\":%d,\"team\":\"%s\",\"served_model\":\"m%d\","
                          "\"channel_id\":%d,\"was_fallback\":%d,\"status\":%d,"
                          "\"error_code\":\"%s\","
                          "\"input\":%d,\"cache_write_1h\":%d,\"quota\":%d,\"first_token_us\":%d,"
                          "\"total_us\":%lld}}\n",
                          text, i % 2, i % 3, i % 5, teams[i % 4], i % 2, i % 3, i % 7 == 0,
                          i % 6 == 0 ? 400 : 200, i % 11 == 0 ? "bad" : "", i, 2 * i, i + 1, 3 * i,
                          (long long)total_us[i % TG_COUNT_OF(total_us)]);
        }
        assert_int_equal(tg_db_begin(books->log_db, &err), TG_OK);
        assert_int_equal(tg_log_rows_enter(books->log_db, tg_buf_text(&lines), &err), TG_OK);
        assert_int_equal(tg_db_commit(books->log_db, &err), TG_OK);
        tg_buf_done(&lines);
        assert_int_equal(books_log(books, "SELECT SUM(requests) FROM usage_hourly"),
                         90 * (round + 1));
        assert_int_equal(books_log(books, same_sums),
                         books_log(books, "SELECT COUNT(*) FROM usage_hourly"));
    }
}

static void a_crash_between_the_two_databases_repeats_nothing(void **state)
{
    const struct tg_entry *entries[] = {books_charge(1, 30)};
    struct tg_log_batch *batches;
    struct tg_error err;
    size_t count;

    (void)state;
    apply(entries, 1);
    assert_int_equal(tg_log_batch_oldest(books->main_db, 10, &batches, &count, &err), TG_OK);
    assert_int_equal(count, 1);
    assert_int_equal(tg_log_batch_enter(books->log_db, batches, count, &err), TG_OK);
    /* here the process dies: main still has the batch */
    assert_int_equal(books_main(books, "SELECT COUNT(*) FROM log_batch"), 1);
    assert_int_equal(move(), 1);
    assert_int_equal(books_log(books, "SELECT COUNT(*) FROM request_log"), 1);
    assert_int_equal(books_log(books, "SELECT SUM(quota) FROM usage_hourly"), 30);
    assert_int_equal(books_main(books, "SELECT COUNT(*) FROM log_batch"), 0);
    tg_log_batches_free(batches, count);
}

static void a_record_under_a_new_batch_id_is_not_counted_again(void **state)
{
    const struct tg_entry *entries[] = {books_charge(1, 30), books_charge(1, 4)};

    (void)state;
    apply(entries, 1);
    assert_int_equal(move(), 1);
    /* main came back from an older state: the entry is applied again, in another batch */
    books_run(books, "DELETE FROM ledger_entry WHERE kind = 'charge'");
    apply(entries, 2);
    assert_int_equal(move(), 1);
    assert_int_equal(books_log(books, "SELECT COUNT(*) FROM request_log"), 2);
    assert_int_equal(books_log(books, "SELECT SUM(quota) FROM usage_hourly"), 34);
}

static void a_record_that_is_none_is_entered_as_its_entry_says(void **state)
{
    static const char *const bad[] = {"", "not json", "{\"log\":{\"quota\":9}}",
                                      "{\"log\":{\"request_id\":\"x\"}}"};
    struct tg_entry copies[TG_COUNT_OF(bad)];
    const struct tg_entry *entries[TG_COUNT_OF(bad)];

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(bad); i++) {
        copies[i] = *books_charge(1, 10);
        copies[i].record = (struct tg_span){.ptr = bad[i], .len = strlen(bad[i])};
        entries[i] = &copies[i];
    }
    apply(entries, TG_COUNT_OF(bad));
    assert_int_equal(move(), 1);
    assert_int_equal(books_log(books, "SELECT SUM(quota) FROM request_log WHERE user_id = 1"
                                      " AND token_id = 11 AND end_reason = 'internal'"), 40);
}

/* Too long, of the wrong type, or impossible: the good neighbour must not suffer. */
static void odd_values_never_hold_a_batch_up(void **state)
{
    struct tg_entry odd = *books_charge(1, 10);
    const struct tg_entry *entries[] = {&odd, books_charge(1, 5)};
    char record[2048], id[TG_ID_TEXT];
    int len;

    (void)state;
    tg_id_format(&odd.id, id);
    len = snprintf(record, sizeof record,
                   "{\"log\":{\"request_id\":\"%s\",\n\"created_at\":\"2026-11-30 10:00:00.5\","
                   "\"user_id\":1,\"quota\":10,\"served_model\":\"%0300d\",\"status\":9999999,"
                   "\"stream\":true,\"address\":null,\"team\":7,\"stages_json\":\"{}\"}}", id, 0);
    odd.record = (struct tg_span){.ptr = record, .len = (size_t)len};
    apply(entries, 2);
    assert_int_equal(move(), 1);
    assert_int_equal(books_log(books, "SELECT COUNT(*) FROM request_log"), 2);
    assert_int_equal(books_log(books, "SELECT SUM(quota) FROM request_log"), 15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(records_become_rows_details_and_hourly_sums, clean),
        cmocka_unit_test_setup(hourly_sums_are_those_of_the_rows, clean),
        cmocka_unit_test_setup(a_crash_between_the_two_databases_repeats_nothing, clean),
        cmocka_unit_test_setup(a_record_under_a_new_batch_id_is_not_counted_again, clean),
        cmocka_unit_test_setup(a_record_that_is_none_is_entered_as_its_entry_says, clean),
        cmocka_unit_test_setup(odd_values_never_hold_a_batch_up, clean),
    };

    return cmocka_run_group_tests(tests, start, stop);
}
