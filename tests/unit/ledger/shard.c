/* The daemon's side: what it reads from a shard, and the sweep. */
#include "tests/unit/unit.h"

#include <stdio.h>

#include "common/base/clock.h"
#include "tests/unit/ledger/books.h"

enum { USER = 1, TOKEN = 2 };

static struct books books;

static void usual_accounts(void)
{
    books_user(&books, USER, 1000);
    books_token(&books, TOKEN, USER, 500);
}

static void the_state_is_read_in_any_condition(void **state)
{
    struct tg_shard_call call;
    struct tg_shard_state seen;

    (void)state;
    call = books_call(&books);
    assert_int_equal(tg_shard_read_state(&call, &seen), TG_SHARD_OK);
    assert_true(seen.exists && seen.on);
    assert_true(seen.epoch == call.epoch);
    assert_string_equal(seen.run_id, tg_kv_run_id(call.kv));
    call.epoch++;
    assert_int_equal(tg_shard_begin(&call), TG_SHARD_OK);
    assert_int_equal(tg_shard_begin(&call), TG_SHARD_FENCED);
    assert_int_equal(tg_shard_read_state(&call, &seen), TG_SHARD_OK);
    assert_true(seen.exists && !seen.on && seen.epoch == call.epoch);
    call.epoch--;
    assert_int_equal(tg_shard_finish(&call, NULL, 0), TG_SHARD_FENCED);
    assert_int_equal(tg_shard_trim(&call, "0-0", 0), TG_SHARD_REBUILDING);
    test_redis_say(books.redis, "FLUSHALL", NULL);
    assert_int_equal(tg_shard_read_state(&call, &seen), TG_SHARD_OK);
    assert_false(seen.exists || seen.on);
    call.epoch += 1;
    assert_int_equal(tg_shard_begin(&call), TG_SHARD_OK);
    books_sql(&books, "UPDATE ledger_cursor SET epoch = epoch + 1 WHERE shard = 1");
    books_done_with(&call);
}

static void settle_some(int count)
{
    for (int i = 0; i < count; i++) {
        struct tg_entry entry = books_charge(tg_id_new(), USER, TOKEN, i);

        entry.record = (struct tg_span){"{\"log\":{}}", 10};
        assert_int_equal(books_settle(&books, &entry), TG_LEDGER_OK);
    }
}

static void the_journal_is_read_in_pages(void **state)
{
    struct tg_shard_call call = books_call(&books);
    struct tg_arena *arena = tg_arena_new();
    struct tg_journal_page page = {.after = "0-0", .most = 3};
    char last[TG_STREAM_ID_TEXT];
    int64_t len;
    int seen = 0;

    (void)state;
    usual_accounts();
    assert_int_equal(tg_shard_journal_tail(&call, last, &len), TG_OK);
    assert_string_equal(last, "0-0");
    settle_some(7);
    for (;;) {
        assert_int_equal(tg_shard_journal(&call, arena, &page), TG_OK);
        if (page.count == 0)
            break;
        for (size_t i = 0; i < page.count; i++, seen++) {
            const struct tg_entry *entry = &page.entries[i].entry;

            assert_null(page.entries[i].bad);
            assert_int_equal(entry->amount_quota, seen);
            assert_int_equal(entry->kind, TG_ENTRY_CHARGE);
            assert_int_equal(entry->user_id, USER);
            assert_int_equal(entry->token_id, TOKEN);
            assert_int_equal(entry->channel_id, 3);
            assert_int_equal(entry->token_unlimited, -1);
            assert_memory_equal(entry->record.ptr, "{\"log\":{}}", 11);
        }
        page.after = page.entries[page.count - 1].stream_id;
    }
    assert_int_equal(seen, 7);
    assert_int_equal(tg_shard_journal_tail(&call, last, &len), TG_OK);
    assert_string_equal(last, page.after);
    assert_int_equal(len, 7);
    assert_int_equal(tg_shard_trim(&call, last, -1000), TG_SHARD_OK);
    assert_int_equal(tg_shard_journal_tail(&call, last, &len), TG_OK);
    assert_string_equal(last, page.after); /* known though it is gone */
    assert_int_equal(len, 0);
    tg_arena_free(arena);
    books_done_with(&call);
}

static void an_adjustment_is_read_as_it_was_written(void **state)
{
    struct tg_shard_call call = books_call(&books);
    struct tg_arena *arena = tg_arena_new();
    struct tg_journal_page page = {.after = "0-0", .most = 10};
    struct tg_entry entry = {.id = tg_id_new(),
                             .kind = TG_ENTRY_ADJUST,
                             .user_id = USER,
                             .token_id = TOKEN,
                             .token_delta_quota = -7,
                             .token_unlimited = 1,
                             .authver = 9};

    (void)state;
    usual_accounts();
    assert_int_equal(books_settle(&books, &entry), TG_LEDGER_OK);
    assert_int_equal(tg_shard_journal(&call, arena, &page), TG_OK);
    assert_int_equal(page.count, 1);
    assert_memory_equal(&page.entries[0].entry, &entry, sizeof entry);
    tg_arena_free(arena);
    books_done_with(&call);
}

static void a_bad_entry_is_told_and_does_not_stop_the_rest(void **state)
{
    static const char *const bad[][2] = {{"i", "short"}, {"k", "gift"}, {"a", "1.5"}};
    struct tg_shard_call call = books_call(&books);
    struct tg_arena *arena = tg_arena_new();
    struct tg_journal_page page = {.after = "0-0", .most = 10};

    (void)state;
    usual_accounts();
    for (size_t i = 0; i < TG_COUNT_OF(bad); i++)
        test_redis_say(books.redis, "XADD", "tg:{s01}:journal", "*", bad[i][0], bad[i][1], "u", "1",
                       "t", "0", NULL);
    settle_some(1);
    assert_int_equal(tg_shard_journal(&call, arena, &page), TG_OK);
    assert_int_equal(page.count, 4);
    for (size_t i = 0; i < TG_COUNT_OF(bad); i++)
        assert_non_null(page.entries[i].bad);
    assert_null(page.entries[3].bad);
    tg_arena_free(arena);
    books_done_with(&call);
}

static void holds_name_their_holder(void **state)
{
    struct tg_shard_call call = books_call(&books);
    struct tg_arena *arena = tg_arena_new();
    struct tg_hold *holds;
    struct tg_id first, second;
    size_t count;

    (void)state;
    usual_accounts();
    assert_int_equal(tg_shard_holds(&call, arena, &holds, &count), TG_OK);
    assert_int_equal(count, 0);
    assert_int_equal(books_reserve(&books, USER, TOKEN, 10, &first), TG_LEDGER_OK);
    assert_int_equal(books_reserve(&books, USER, TOKEN, 10, &second), TG_LEDGER_OK);
    assert_int_equal(tg_shard_holds(&call, arena, &holds, &count), TG_OK);
    assert_int_equal(count, 2);
    for (size_t i = 0; i < count; i++) {
        int64_t left_ms = holds[i].due_server_ms - tg_kv_server_ms(call.kv);

        assert_true(memcmp(&holds[i].request_id, &first, sizeof first) == 0 ||
                    memcmp(&holds[i].request_id, &second, sizeof second) == 0);
        assert_int_equal(holds[i].user_id, USER);
        assert_int_equal(holds[i].token_id, TOKEN);
        assert_int_equal(holds[i].plan_id, 0);
        assert_int_equal(holds[i].amount_quota, 10);
        assert_int_equal(holds[i].earned_quota, 0);
        assert_false(holds[i].lapsed);
        assert_string_equal(holds[i].node, "node");
        assert_int_equal(holds[i].worker, BOOKS_WORKER);
        assert_in_range(left_ms, 60000, 120000);
    }
    tg_arena_free(arena);
    books_done_with(&call);
}

static struct tg_hold only_hold(struct tg_shard_call *call, struct tg_arena *arena)
{
    struct tg_hold *holds;
    size_t count;

    assert_int_equal(tg_shard_holds(call, arena, &holds, &count), TG_OK);
    assert_int_equal(count, 1);
    return holds[0];
}

static void only_an_overdue_hold_lapses(void **state)
{
    struct tg_shard_call call = books_call(&books);
    struct tg_ledger_conf conf = {
        .kv = books.kv, .main_db = books.db, .node = "node", .worker = BOOKS_WORKER};
    struct tg_ledger *hasty = tg_ledger_new(&conf); /* its leases end at once */
    struct tg_extend renewal = {.user_id = USER, .token_id = TOKEN, .earned_quota = 3};
    struct tg_arena *arena = tg_arena_new();
    struct tg_hold hold;
    struct tg_entry entry;

    (void)state;
    usual_accounts();
    assert_int_equal(books_reserve(&books, USER, TOKEN, 10, &renewal.request_id), TG_LEDGER_OK);
    hold = only_hold(&call, arena);
    assert_int_equal(tg_shard_lapse(&call, &hold), TG_SHARD_OK);
    assert_int_equal(books_quota(&books, USER), 990);
    assert_int_equal(tg_ledger_extend(hasty, &renewal, call.deadline_at_us, NULL), TG_LEDGER_OK);
    assert_int_equal(tg_shard_lapse(&call, &hold), TG_SHARD_OK);
    assert_int_equal(books_quota(&books, USER), 1000);
    hold = only_hold(&call, arena);
    assert_true(hold.lapsed);
    assert_true(hold.due_server_ms == 0 && hold.amount_quota == 0 && hold.earned_quota == 3);
    entry = books_charge(renewal.request_id, USER, TOKEN, 4);
    assert_int_equal(books_settle(&books, &entry), TG_LEDGER_OK);
    assert_int_equal(tg_shard_lapse(&call, &hold), TG_SHARD_ENDED);
    assert_int_equal(books_quota(&books, USER), 996);
    tg_ledger_free(hasty);
    tg_arena_free(arena);
    books_done_with(&call);
}

static void a_rebuild_drops_holds_that_mysql_knows_the_end_of(void **state)
{
    struct tg_shard_call call;
    struct tg_id ids[3];

    (void)state;
    usual_accounts();
    for (size_t i = 0; i < TG_COUNT_OF(ids); i++)
        assert_int_equal(books_reserve(&books, USER, TOKEN, 10, &ids[i]), TG_LEDGER_OK);
    books_begin(&books);
    call = books_call(&books);
    for (int i = 0; i < 2; i++)
        assert_int_equal(tg_shard_finish(&call, ids, 2), TG_SHARD_OK);
    books_done_with(&call);
    assert_int_equal(books_quota(&books, USER), 990);
}

static void a_server_that_is_away_is_down(void **state)
{
    struct tg_shard_call call = books_call(&books);
    struct tg_shard_state seen;

    (void)state;
    test_redis_kill(books.redis);
    assert_int_equal(tg_shard_read_state(&call, &seen), TG_SHARD_DOWN);
    assert_int_equal(books.err.class, TG_CLASS_DOWN);
    assert_int_equal(tg_shard_trim(&call, "0-0", 0), TG_SHARD_DOWN);
    books_done_with(&call);
    test_redis_again(books.redis);
}

static int set_up(void **state)
{
    (void)state;
    books_reset(&books);
    return 0;
}

static int start(void **state)
{
    (void)state;
    books_start(&books);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    books_stop(&books);
    return 0;
}

#define CASE(name) cmocka_unit_test_setup(name, set_up)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(the_state_is_read_in_any_condition),
        CASE(the_journal_is_read_in_pages),
        CASE(an_adjustment_is_read_as_it_was_written),
        CASE(a_bad_entry_is_told_and_does_not_stop_the_rest),
        CASE(holds_name_their_holder),
        CASE(only_an_overdue_hold_lapses),
        CASE(a_rebuild_drops_holds_that_mysql_knows_the_end_of),
        CASE(a_server_that_is_away_is_down),
    };

    return cmocka_run_group_tests(tests, start, stop);
}
