/* Told again until known, and deposits of workers that went silent. */
#include "tests/unit/unit.h"

#include "tests/unit/daemon/site.h"

#include "common/base/clock.h"
#include "common/ledger/spool.h"
#include "common/ledger/sweep.h"
#include "common/store/node.h"

#include <stdio.h>
#include <stdlib.h>

static struct site *site;
static struct tg_spool *spool; /* of worker 77, alive */
static struct tg_spool_watch *watch;

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

static struct tg_spool *open_spool(int64_t worker)
{
    struct tg_spool_conf conf = {.folder = site->spool, .node = "here", .worker = worker};
    struct tg_spool *opened;

    if (tg_spool_open(&conf, &opened, &site->err) != TG_OK)
        fail_msg("%s", site->err.message);
    return opened;
}

static int clean(void **state)
{
    (void)state;
    site_reset(site);
    spool = open_spool(77);
    watch = tg_spool_watch_new(site->spool, "here");
    tg_spool_watch_set_ripe(watch, 0);
    return 0;
}

static int tidy(void **state)
{
    (void)state;
    tg_spool_close(spool);
    spool = NULL;
    tg_spool_watch_free(watch);
    return 0;
}

static void append(struct tg_spool *to, const struct tg_entry *entry)
{
    if (tg_spool_append(to, entry, &site->err) != TG_OK)
        fail_msg("%s", site->err.message);
}

static bool watch_round(void)
{
    struct tg_replay replay = site_replay(site);
    bool clear;

    if (tg_spool_watch_round(watch, &replay, &clear) != TG_OK)
        fail_msg("%s: %s", site->err.code, site->err.message);
    return clear;
}

static int64_t journal_len(void)
{
    return strtoll(test_redis_say(site->redis, "XLEN", "tg:{s01}:journal", NULL), NULL, 10);
}

static size_t spool_files(void)
{
    struct tg_arena *arena = tg_arena_new();
    struct tg_spool_file *files;
    size_t count;

    assert_int_equal(tg_spool_list(site->spool, "here", arena, &files, &count), TG_OK);
    tg_arena_free(arena);
    return count;
}

static int64_t quota(void)
{
    return books_main(site->books, "SELECT quota FROM users WHERE id = 1");
}

/* ---- spool */

static void a_line_that_redis_never_heard_of_is_told(void **state)
{
    (void)state;
    append(spool, books_charge(1, 30));
    watch_round(); /* seen */
    watch_round(); /* old enough */
    assert_int_equal(journal_len(), 1);
    site_apply(site, 1);
    assert_true(watch_round());
    assert_int_equal(quota(), 970);
    site_is_clean(site);
}

static void a_line_that_was_settled_is_not_told_again(void **state)
{
    const struct tg_entry *charge = books_charge(1, 30);

    (void)state;
    append(spool, charge);
    site_settle(site, charge);
    site_apply(site, 1);
    for (int i = 0; i < 3; i++)
        assert_true(watch_round());
    assert_int_equal(journal_len(), 1);
    assert_int_equal(quota(), 970);
}

/* Settled, applied, and the end marker is gone: only ledger_entry knows. */
static void a_known_line_needs_no_marker(void **state)
{
    const struct tg_entry *charge = books_charge(1, 30);

    (void)state;
    append(spool, charge);
    site_settle(site, charge);
    site_apply(site, 1);
    test_redis_say(site->redis, "DEL", "tg:{s01}:ended", NULL);
    for (int i = 0; i < 3; i++)
        assert_true(watch_round());
    assert_int_equal(journal_len(), 1);
    site_is_clean(site);
}

/* In the journal, not in the books, and the marker is gone: to ask now would say "unknown". */
static void nothing_is_told_before_the_applier_has_caught_up(void **state)
{
    const struct tg_entry *charge = books_charge(1, 30);
    struct tg_replay replay = site_replay(site);
    struct tg_replay_item item = {.entry = charge};

    (void)state;
    site_settle(site, charge);
    test_redis_say(site->redis, "DEL", "tg:{s01}:ended", NULL);
    replay.deadline_at_us = tg_now_us() + 50000;
    assert_int_equal(tg_replay_run(&replay, &item, 1), TG_OK);
    assert_int_equal(item.fate, TG_REPLAY_LATER);
    assert_int_equal(journal_len(), 1);
    site_apply(site, 1);
    replay = site_replay(site);
    assert_int_equal(tg_replay_run(&replay, &item, 1), TG_OK);
    assert_int_equal(item.fate, TG_REPLAY_KNOWN);
    site_is_clean(site);
}

/* A rebuild between the question and the telling: what was asked is not true any more. */
static void an_answer_of_another_epoch_is_of_no_use(void **state)
{
    (void)state;
    assert_int_equal(tg_ledger_settle_in(site->ledger, site_epoch(site, 1) - 1,
                                         books_charge(1, 30), tg_now_us() + 2000000, &site->err),
                     TG_LEDGER_UNAVAILABLE);
    assert_string_equal(site->err.code, "ledger_rebuilding");
    assert_int_equal(journal_len(), 0);
}

static void a_young_line_is_left_to_its_worker(void **state)
{
    (void)state;
    tg_spool_watch_set_ripe(watch, INT64_C(3600000000));
    append(spool, books_charge(1, 30));
    for (int i = 0; i < 5; i++)
        assert_false(watch_round());
    assert_int_equal(journal_len(), 0);
}

static void a_file_goes_when_its_lines_are_known_and_its_writer_is_gone(void **state)
{
    struct tg_spool *dead = open_spool(78);

    (void)state;
    append(dead, books_charge(1, 30));
    watch_round();
    watch_round();
    site_apply(site, 1);
    assert_true(watch_round());
    assert_int_equal(spool_files(), 2); /* its writer lives */
    tg_spool_close(dead);
    append(spool, books_charge(1, 4));
    assert_int_equal(spool_files(), 2);
    assert_false(watch_round());
    assert_int_equal(spool_files(), 1);
    watch_round();
    site_apply(site, 1);
    assert_true(watch_round());
    assert_int_equal(quota(), 966);
    site_is_clean(site);
}

static void what_is_too_old_or_of_nobody_is_refused_once(void **state)
{
    struct tg_entry old = *books_charge(1, 30), nobody = *books_charge(1, 30);
    int64_t ms = tg_unix_us() / 1000 - INT64_C(35) * 24 * 3600 * 1000;

    (void)state;
    for (int i = 5; i >= 0; i--, ms >>= 8)
        old.id.bytes[i] = (uint8_t)ms;
    nobody.user_id = 129; /* its shard is on, too */
    append(spool, &old);
    append(spool, &nobody);
    append(spool, books_charge(1, 5));
    for (int i = 0; i < 3; i++)
        watch_round();
    site_apply(site, 1);
    assert_true(watch_round());
    assert_int_equal(quota(), 995);
    assert_int_equal(books_main(site->books, "SELECT COUNT(*) FROM ledger_reject"), 2);
}

/* ---- tables */

static size_t tables_round(void)
{
    struct tg_replay replay = site_replay(site);
    size_t told;

    if (tg_replay_tables(&replay, &told) != TG_OK)
        fail_msg("%s: %s", site->err.code, site->err.message);
    return told;
}

static void credits_and_adjustments_are_told_until_known(void **state)
{
    (void)state;
    books_run(site->books,
              "INSERT INTO credits (entry_id, user_id, amount_quota, kind)"
              " SELECT UNHEX(CONCAT(LPAD(HEX(UNIX_TIMESTAMP() * 1000), 12, '0'),"
              " '70008000000000000001')), 1, 70, 'topup';"
              "INSERT INTO adjustments (entry_id, user_id, token_id, delta)"
              " SELECT UNHEX(CONCAT(LPAD(HEX(UNIX_TIMESTAMP() * 1000), 12, '0'),"
              " '70008000000000000002')), 1, 11, 40");
    assert_int_equal(tables_round(), 2);
    assert_int_equal(site_live(site, 1), 1070);
    site_apply(site, 1);
    assert_int_equal(tables_round(), 0);
    assert_int_equal(quota(), 1070);
    assert_int_equal(books_main(site->books, "SELECT remain_quota FROM tokens WHERE id = 11"),
                     540);
    site_is_clean(site);
    /* marked by nobody, but in the books: marked now, not told again */
    books_run(site->books, "UPDATE credits SET applied_at = NULL WHERE amount_quota = 70");
    assert_int_equal(tables_round(), 0);
    assert_int_equal(journal_len(), 2);
    site_is_clean(site);
}

static void an_offline_entry_comes_in_by_the_ordinary_settle(void **state)
{
    const struct tg_entry *charge = books_charge(1, 30);
    char sql[4096], id[TG_ID_TEXT];
    struct tg_buf body;

    (void)state;
    tg_buf_init(&body, 0);
    tg_entry_encode(charge, &body);
    tg_id_format(&charge->id, id);
    for (size_t i = 0; i < body.len; i++)
        assert_true(body.data[i] != '\'' && body.data[i] != ';');
    snprintf(sql, sizeof sql,
             "UPDATE users SET offline_quota = 30 WHERE id = 1;"
             "UPDATE tokens SET offline_quota = 30 WHERE id = 11;"
             "INSERT INTO offline_entry (request_id, user_id, token_id, amount_quota, node, body)"
             " SELECT UNHEX(REPLACE('%s', '-', '')), 1, 11, 30, 'here', REPLACE('", id);
    for (const char *at = tg_buf_text(&body); *at != '\0'; at++) /* \ is special in SQL */
        snprintf(sql + strlen(sql), sizeof sql - strlen(sql), *at == '\\' ? "~" : "%c", *at);
    snprintf(sql + strlen(sql), sizeof sql - strlen(sql), "', '~', CHAR(92))");
    tg_buf_done(&body);
    books_run(site->books, sql);
    assert_int_equal(tables_round(), 1);
    site_apply(site, 1);
    assert_int_equal(quota(), 970);
    assert_int_equal(books_main(site->books, "SELECT offline_quota FROM users WHERE id = 1"), 0);
    assert_int_equal(books_main(site->books, "SELECT COUNT(*) FROM offline_entry"), 0);
    site_is_clean(site);
}

/* ---- sweep */

static struct tg_swept sweep_round(const char *const *gone, size_t gone_count)
{
    struct tg_replay replay = site_replay(site);
    struct tg_sweep sweep = {.replay = &replay, .watch = watch, .node = "here", .gone = gone,
                             .gone_count = gone_count};
    struct tg_swept swept;

    if (tg_sweep_shard(&sweep, 1, site_epoch(site, 1), &swept) != TG_OK)
        fail_msg("%s: %s", site->err.code, site->err.message);
    return swept;
}

/* Leases are of a millisecond. */
static void until_lapsed(const struct tg_entry *entry)
{
    int64_t until_us = tg_now_us() + 10000000;

    (void)entry;
    while (sweep_round(NULL, 0).lapsed == 0)
        assert_true(tg_now_us() < until_us);
}

static void earn(const struct tg_entry *entry, int64_t earned)
{
    struct tg_extend extend = {.request_id = entry->id,
                               .user_id = entry->user_id,
                               .token_id = entry->token_id,
                               .amount_quota = 100,
                               .earned_quota = earned};

    assert_int_equal(tg_ledger_extend(site->ledger, &extend, tg_now_us() + 2000000, &site->err),
                     TG_LEDGER_OK);
}

static void a_silent_hold_lapses_and_its_worker_may_still_end_it(void **state)
{
    const struct tg_entry *charge = books_charge(1, 30);

    (void)state;
    site_reserve(site, charge, 100);
    assert_int_equal(site_live(site, 1), 900);
    earn(charge, 12);
    until_lapsed(charge);
    assert_int_equal(site_live(site, 1), 1000);
    assert_int_equal(sweep_round(NULL, 0).ended, 0); /* worker 77 lives */
    site_settle(site, charge);
    site_apply(site, 1);
    assert_int_equal(quota(), 970);
    site_is_clean(site);
}

static void a_dead_workers_hold_ends_with_what_it_had_earned(void **state)
{
    const struct tg_entry *charge = books_charge(1, 30);

    (void)state;
    site_reserve(site, charge, 100);
    earn(charge, 12);
    until_lapsed(charge);
    tg_spool_close(spool); /* worker 77 dies; it had written nothing */
    spool = NULL;
    assert_int_equal(sweep_round(NULL, 0).ended, 1);
    site_apply(site, 1);
    assert_int_equal(quota(), 988);
    assert_int_equal(books_main(site->books, "SELECT COUNT(*) FROM ledger_entry"
                                             " WHERE kind = 'expired'"), 1);
    assert_int_equal(sweep_round(NULL, 0).ended, 0);
    site_is_clean(site);
}

static void what_a_dead_worker_wrote_down_comes_first(void **state)
{
    const struct tg_entry *charge = books_charge(1, 30);

    (void)state;
    site_reserve(site, charge, 100);
    earn(charge, 12);
    until_lapsed(charge);
    append(spool, charge);
    tg_spool_close(spool);
    spool = NULL;
    assert_int_equal(sweep_round(NULL, 0).ended, 0); /* its line is not known yet */
    watch_round();
    watch_round();
    site_apply(site, 1);
    assert_true(watch_round());
    assert_int_equal(sweep_round(NULL, 0).ended, 0); /* the line was its end */
    assert_int_equal(quota(), 970);
    site_is_clean(site);
}

static void another_nodes_hold_is_not_ours_to_end_until_that_node_is_given_up(void **state)
{
    const struct tg_entry *charge = books_charge(1, 30);
    struct tg_ledger *there = tg_ledger_new(
        &(struct tg_ledger_conf){.kv = site->kv_pool, .main_db = site->books->main_pool,
                                 .node = "there", .worker = 5, .lease_us = 1000});
    struct tg_ledger *here = site->ledger;
    struct tg_arena *arena = tg_arena_new();
    const char *const *gone;
    size_t gone_count;
    bool was_there;

    (void)state;
    site->ledger = there;
    site_reserve(site, charge, 100);
    site->ledger = here;
    until_lapsed(charge);
    assert_int_equal(sweep_round(NULL, 0).ended, 0);
    assert_int_equal(tg_node_seen(site->books->main_db, "there", &site->err), TG_OK);
    assert_int_equal(tg_node_gone(site->books->main_db, arena, &gone, &gone_count, &site->err),
                     TG_OK);
    assert_int_equal(gone_count, 0);
    assert_int_equal(tg_node_forget(site->books->main_db, "there", &was_there, &site->err), TG_OK);
    assert_true(was_there);
    assert_int_equal(tg_node_gone(site->books->main_db, arena, &gone, &gone_count, &site->err),
                     TG_OK);
    assert_int_equal(gone_count, 1);
    assert_int_equal(sweep_round(gone, gone_count).ended, 1);
    site_apply(site, 1);
    assert_int_equal(quota(), 1000);
    site_is_clean(site);
    tg_ledger_free(there);
    tg_arena_free(arena);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, clean, tidy)
    const struct CMUnitTest tests[] = {
        CASE(a_line_that_redis_never_heard_of_is_told),
        CASE(a_line_that_was_settled_is_not_told_again),
        CASE(a_known_line_needs_no_marker),
        CASE(nothing_is_told_before_the_applier_has_caught_up),
        CASE(an_answer_of_another_epoch_is_of_no_use),
        CASE(a_young_line_is_left_to_its_worker),
        CASE(a_file_goes_when_its_lines_are_known_and_its_writer_is_gone),
        CASE(what_is_too_old_or_of_nobody_is_refused_once),
        CASE(credits_and_adjustments_are_told_until_known),
        CASE(an_offline_entry_comes_in_by_the_ordinary_settle),
        CASE(a_silent_hold_lapses_and_its_worker_may_still_end_it),
        CASE(a_dead_workers_hold_ends_with_what_it_had_earned),
        CASE(what_a_dead_worker_wrote_down_comes_first),
        CASE(another_nodes_hold_is_not_ours_to_end_until_that_node_is_given_up),
    };

    return cmocka_run_group_tests(tests, start, stop);
}
