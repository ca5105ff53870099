/* Plans whose period ends: when, once, and with both books in agreement whatever comes late. */
#include "tests/unit/unit.h"

#include "tests/unit/daemon/site.h"

#include "common/base/clock.h"
#include "common/ledger/period.h"
#include "common/ledger/resets.h"
#include "common/ledger/sweep.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { PLAN = 5, USER = 1 };

static struct site *site;

/* ---- when */

static void calendars_are_of_the_users_zone(void **state)
{
    static const struct {
        const char *period, *zone;
        int64_t end_s, now_s, next_s;
    } cases[] = {
        /* Tuesday, 1 December 2026, 12:00 UTC */
        {"daily", "UTC", 0, 1796126400, 1796169600},
        {"daily", "Europe/Berlin", 0, 1796126400, 1796166000},
        {"daily", "UTC", 0, 1796169600, 1796256000}, /* at midnight: the next one */
        {"weekly", "UTC", 0, 1796126400, 1796601600},
        {"monthly", "UTC", 0, 1796126400, 1798761600},
        {"monthly", "Asia/Tokyo", 0, 1796126400, 1798729200},
        /* Saturday, 27 March 2027, 12:00 UTC: the next day in Berlin has 23 hours */
        {"daily", "Europe/Berlin", 0, 1806148800, 1806188400},
        {"daily", "Europe/Berlin", 0, 1806188400, 1806271200},
        {"1h", "UTC", 1000, 1000, 4600},
        {"1h", "UTC", 1000, 8199, 8200},
        {"1h", "UTC", 1000, 8200, 11800},
        {"1h", "UTC", 1000, 500, 1000},
    };

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++) {
        struct tg_zone *zone;
        int64_t next_s = 0;

        assert_int_equal(tg_zone_load(cases[i].zone, &zone, NULL), TG_OK);
        assert_true(tg_period_next_end(cases[i].period, zone, cases[i].end_s, cases[i].now_s,
                                       &next_s));
        if (next_s != cases[i].next_s)
            fail_msg("case %zu: %" PRId64 " instead of %" PRId64, i, next_s, cases[i].next_s);
        assert_false(tg_period_next_end("fortnightly", zone, 0, 0, &next_s));
        assert_false(tg_period_next_end("0s", zone, 0, 0, &next_s));
        tg_zone_free(zone);
    }
}

static int64_t next_end(const char *period, const char *name, int64_t now_s)
{
    struct tg_zone *zone;
    int64_t end_s = 0;

    assert_int_equal(tg_zone_load(name, &zone, NULL), TG_OK);
    assert_true(tg_period_next_end(period, zone, 0, now_s, &end_s));
    tg_zone_free(zone);
    return end_s;
}

/* Whatever zone the process has. */
static void fr41_days_and_months_are_of_the_zone_that_is_set(void **state)
{
    (void)state;
    /* 2026-03-01T15:59:59Z and a second later: midnight in Shanghai */
    assert_int_equal(next_end("daily", "Asia/Shanghai", 1772380799),
                     1772380800);
    assert_int_equal(next_end("daily", "Asia/Shanghai", 1772380800),
                     1772467200);
    /* New York, where 8 March has 23 hours */
    assert_int_equal(next_end("daily", "America/New_York", 1772945999),
                     1772946000);
    assert_int_equal(next_end("daily", "America/New_York", 1772946000),
                     1773028800);
    /* 2026-02-28T16:00:00Z is March in Shanghai already */
    assert_int_equal(next_end("monthly", "Asia/Shanghai", 1772294399),
                     1772294400);
    assert_int_equal(next_end("monthly", "Asia/Shanghai", 1772294400),
                     1774972800);
}

/* ---- the books */

static int64_t ask(const char *sql)
{
    return books_main(site->books, sql);
}

static int64_t live(const char *field)
{
    char key[32];

    snprintf(key, sizeof key, "tg:{s01}:sub:%d", PLAN);
    return strtoll(test_redis_say(site->redis, "HGET", key, field, NULL), NULL, 10);
}

static void round_of_the_daemon(void)
{
    struct tg_replay replay = site_replay(site);
    size_t told;

    site_apply(site, 1);
    assert_int_equal(tg_resets_round(site->books->main_db, &site->err), TG_OK);
    assert_int_equal(tg_replay_tables(&replay, &told), TG_OK);
    site_apply(site, 1);
}

static void lose_redis(void)
{
    test_redis_say(site->redis, "FLUSHALL", NULL);
    assert_int_equal(site_rebuild(site, 1), TG_REBUILD_DONE);
    assert_int_equal(site_rebuild(site, 2), TG_REBUILD_DONE);
}

/* The period that runs is over. */
static void end_the_period(void)
{
    books_run(site->books, "UPDATE subscriptions SET period_end_at = NOW(6)");
    round_of_the_daemon();
}

/* A plan of 300 an hour, and 250 requests of it. Its first period has begun. */
static int set_up(void **state)
{
    (void)state;
    site_reset(site);
    books_run(site->books, "INSERT INTO plans (id, name, quota_per_period, period, duration)"
                           " VALUES (3, 'small', 300, '1h', '30d');"
                           "INSERT INTO subscriptions (id, user_id, plan_id, period_end_at)"
                           " VALUES (5, 1, 3, NOW(6))");
    round_of_the_daemon();
    return 0;
}

static struct tg_entry bill_of(int64_t amount, int64_t period)
{
    struct tg_entry entry = *books_charge(USER, amount);

    entry.funding = (struct tg_funding){PLAN, period};
    return entry;
}

static void the_first_period_begins_with_its_quota(void **state)
{
    (void)state;
    assert_int_equal(ask("SELECT remain_quota FROM subscriptions"), 300);
    assert_int_equal(ask("SELECT period_number FROM subscriptions"), 1);
    assert_int_equal(ask("SELECT period_end_at > NOW(6) + INTERVAL 59 MINUTE FROM subscriptions"),
                     1);
    assert_int_equal(live("remain"), 300);
    assert_int_equal(ask("SELECT plan_quota FROM ledger_entry WHERE kind = 'reset'"), -300);
    assert_int_equal(ask("SELECT COUNT(*) FROM plan_resets WHERE applied_at IS NULL"), 0);
    assert_int_equal(site_live(site, USER), 1000);
    site_is_clean(site);
}

static void an_idle_plan_is_reset_once(void **state)
{
    (void)state;
    books_run(site->books, "UPDATE subscriptions SET period_end_at = NOW(6) - INTERVAL 5 DAY");
    for (int i = 0; i < 3; i++)
        round_of_the_daemon();
    assert_int_equal(ask("SELECT COUNT(*) FROM plan_resets"), 2);
    assert_int_equal(ask("SELECT period_number FROM subscriptions"), 2);
    assert_int_equal(ask("SELECT remain_quota FROM subscriptions"), 300);
    assert_int_equal(ask("SELECT period_end_at BETWEEN NOW(6) AND NOW(6) + INTERVAL 1 HOUR"
                         " FROM subscriptions"),
                     1);
    site_is_clean(site);
}

static void what_is_over_or_given_up_is_not_reset(void **state)
{
    static const char *const changes[] = {
        "UPDATE subscriptions SET ends_at = NOW(6)",
        "UPDATE subscriptions SET ends_at = NULL, status = 'revoked'",
        "UPDATE subscriptions SET status = 'active', period_end_at = NULL",
        "UPDATE subscriptions SET period_end_at = NOW(6); UPDATE plans SET period = 'whenever'",
    };

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(changes); i++) {
        books_run(site->books, "UPDATE subscriptions SET period_end_at = NOW(6)");
        books_run(site->books, changes[i]);
        round_of_the_daemon();
        assert_int_equal(ask("SELECT COUNT(*) FROM plan_resets"), 1);
    }
}

static void a_lost_push_is_made_again_and_counts_once(void **state)
{
    struct tg_entry bill = bill_of(40, 1);
    struct tg_replay replay = site_replay(site);
    size_t told;

    (void)state;
    site_settle(site, &bill);
    books_run(site->books, "UPDATE subscriptions SET period_end_at = NOW(6)");
    assert_int_equal(tg_resets_round(site->books->main_db, &site->err), TG_OK);
    assert_int_equal(tg_resets_round(site->books->main_db, &site->err), TG_OK);
    site_apply(site, 1);
    assert_int_equal(tg_replay_tables(&replay, &told), TG_OK);
    assert_int_equal(told, 1);
    site_drop_last(site, 1); /* Redis was cut back to before it */
    lose_redis();
    for (int i = 0; i < 2; i++)
        round_of_the_daemon();
    assert_int_equal(ask("SELECT COUNT(*) FROM ledger_entry WHERE kind = 'reset'"), 2);
    assert_int_equal(ask("SELECT remain_quota FROM subscriptions"), 300);
    assert_int_equal(ask("SELECT amount_quota FROM ledger_entry WHERE kind = 'reset'"
                         " ORDER BY request_id DESC LIMIT 1"),
                     -40);
    site_is_clean(site);
}

static enum tg_ledger_answer ask_for(int64_t amount)
{
    const struct tg_funding plan = {.plan_id = PLAN};
    struct tg_funding chosen;
    const struct tg_reserve reserve = {.request_id = tg_id_new(),
                                       .user_id = USER,
                                       .token_id = books_token_of(USER),
                                       .funding = &plan,
                                       .funding_count = 1,
                                       .amount_quota = amount,
                                       .authver = 1};

    return tg_ledger_reserve(site->ledger, &reserve, tg_now_us() + INT64_C(10000000), &chosen,
                             &site->err);
}

/* A window that ends at midnight in Bangkok ends at 17:00 UTC, not at 00:00 UTC. */
static void fr40_a_used_up_plan_is_filled_at_midnight_of_its_zone(void **state)
{
    struct tg_entry bill = bill_of(300, 1);

    (void)state;
    assert_int_equal(next_end("daily", "Asia/Bangkok", 1788195599),
                     1788195600);
    books_run(site->books, "UPDATE users SET time_zone = 'Asia/Bangkok' WHERE id = 1;"
                           "UPDATE plans SET period = 'daily'");
    site_settle(site, &bill);
    assert_int_equal(ask_for(1), TG_LEDGER_USER_SHORT);
    end_the_period();
    assert_int_equal(ask_for(1), TG_LEDGER_OK);
    assert_int_equal(ask("SELECT TIME(period_end_at) = '17:00:00' AND period_end_at > NOW(6)"
                         " AND period_end_at <= NOW(6) + INTERVAL 1 DAY FROM subscriptions"),
                     1);
}

/* ---- what comes after the reset */

static void check(int64_t remain)
{
    site_apply(site, 1);
    assert_int_equal(ask("SELECT remain_quota FROM subscriptions"), remain);
    assert_int_equal(live("remain"), remain);
    site_is_clean(site);
    assert_int_equal(site_rebuild(site, 1), TG_REBUILD_NEEDLESS);
    lose_redis(); /* the books alone say the same */
    end_the_period(); /* and the next one begins right */
    assert_int_equal(live("remain"), 300 + TG_MIN(remain, 0));
    site_is_clean(site);
}

static void a_bill_after_the_reset_goes_with_its_period(void **state)
{
    struct tg_entry bill = bill_of(70, 1);

    (void)state;
    site_reserve(site, &bill, 100);
    assert_int_equal(live("remain"), 200);
    end_the_period();
    assert_int_equal(live("remain"), 300);
    site_is_clean(site); /* with the deposit of the ended period still open */
    site_settle(site, &bill);
    site_apply(site, 1);
    assert_int_equal(ask("SELECT amount_quota - plan_quota FROM ledger_entry"
                         " WHERE kind = 'charge'"),
                     70);
    assert_int_equal(ask("SELECT plan_period FROM ledger_entry WHERE kind = 'charge'"), 1);
    assert_int_equal(ask("SELECT used_quota FROM users WHERE id = 1"), 70);
    check(300);
}

static void a_refund_after_the_reset_gives_nothing_to_the_new_period(void **state)
{
    struct tg_entry refund = bill_of(0, 1);

    (void)state;
    refund.kind = TG_ENTRY_REFUND;
    site_reserve(site, &refund, 100);
    end_the_period();
    site_settle(site, &refund);
    check(300);
}

static void a_larger_bill_is_charged_to_the_running_period(void **state)
{
    struct tg_entry bill = bill_of(130, 1);

    (void)state;
    site_reserve(site, &bill, 100);
    end_the_period();
    site_settle(site, &bill);
    check(270);
}

static void a_sweep_after_the_reset_moves_nothing(void **state)
{
    struct tg_entry bill = bill_of(30, 1);
    struct tg_spool_watch *watch = tg_spool_watch_new(site->spool, "here");
    struct tg_replay replay = site_replay(site);
    struct tg_sweep sweep = {.replay = &replay, .watch = watch, .node = "here"};
    struct tg_swept swept;
    int64_t until_us = tg_now_us() + INT64_C(10000000);
    size_t ended = 0;
    bool clear;

    (void)state;
    site_reserve(site, &bill, 100); /* a lease of 1 ms */
    end_the_period();
    assert_int_equal(tg_spool_watch_round(watch, &replay, &clear), TG_OK);
    while (ended == 0 && tg_now_us() < until_us) {
        replay = site_replay(site);
        assert_int_equal(tg_sweep_shard(&sweep, 1, site_epoch(site, 1), &swept), TG_OK);
        site_is_clean(site);
        ended += swept.ended;
        site_apply(site, 1);
    }
    tg_spool_watch_free(watch);
    assert_int_equal(ended, 1);
    assert_int_equal(ask("SELECT plan_quota FROM ledger_entry WHERE kind = 'expired'"), 0);
    check(300);
}

static void a_bill_whose_deposit_was_lost_is_not_charged_to_the_new_period(void **state)
{
    struct tg_entry bill = bill_of(70, 1);

    (void)state;
    site_reserve(site, &bill, 100);
    lose_redis();
    end_the_period();
    site_settle(site, &bill);
    check(300);
}

static void debt_is_not_forgiven(void **state)
{
    struct tg_entry bill = bill_of(350, 1);

    (void)state;
    site_settle(site, &bill);
    end_the_period();
    check(250);
}

/* ---- a site without Redis: the same rules in MySQL */

static void a_fold_has_the_same_rules(void **state)
{
    struct tg_entry bill = bill_of(350, 1), late = bill_of(70, 1), next = bill_of(20, 2);
    struct tg_replay replay = site_replay(site);
    struct tg_replay_item items[] = {{.entry = &bill}};
    size_t told;

    (void)state;
    replay.kv = NULL;
    assert_int_equal(tg_replay_run(&replay, items, 1), TG_OK);
    assert_int_equal(ask("SELECT remain_quota FROM subscriptions"), -50);
    books_run(site->books, "UPDATE subscriptions SET period_end_at = NOW(6)");
    assert_int_equal(tg_resets_round(site->books->main_db, &site->err), TG_OK);
    for (int i = 0; i < 2; i++)
        assert_int_equal(tg_replay_tables(&replay, &told), TG_OK);
    assert_int_equal(ask("SELECT remain_quota FROM subscriptions"), 250);
    items[0].entry = &late;
    assert_int_equal(tg_replay_run(&replay, items, 1), TG_OK);
    assert_int_equal(ask("SELECT remain_quota FROM subscriptions"), 250);
    items[0].entry = &next;
    assert_int_equal(tg_replay_run(&replay, items, 1), TG_OK);
    assert_int_equal(ask("SELECT remain_quota FROM subscriptions"), 230);
    assert_int_equal(ask("SELECT -SUM(plan_quota) FROM ledger_entry"), 230);
    assert_int_equal(ask("SELECT period_number FROM subscriptions"), 2);
    assert_int_equal(ask("SELECT used_quota FROM users WHERE id = 1"), 440);
}

static void what_a_plan_says_otherwise_is_seen_by_the_audit(void **state)
{
    const struct tg_audit_report *report;

    (void)state;
    books_run(site->books, "UPDATE subscriptions SET remain_quota = remain_quota + 1");
    report = site_audit(site);
    assert_int_equal(report->difference_count, 2);
    assert_string_equal(report->differences[0].account, "plan");
    assert_string_equal(report->differences[0].sum, "redis");
    assert_string_equal(report->differences[1].sum, "ledger");
}

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

#define CASE(name) cmocka_unit_test_setup(name, set_up)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calendars_are_of_the_users_zone),
        cmocka_unit_test(fr41_days_and_months_are_of_the_zone_that_is_set),
        CASE(fr40_a_used_up_plan_is_filled_at_midnight_of_its_zone),
        CASE(the_first_period_begins_with_its_quota),
        CASE(an_idle_plan_is_reset_once),
        CASE(what_is_over_or_given_up_is_not_reset),
        CASE(a_lost_push_is_made_again_and_counts_once),
        CASE(a_bill_after_the_reset_goes_with_its_period),
        CASE(a_refund_after_the_reset_gives_nothing_to_the_new_period),
        CASE(a_larger_bill_is_charged_to_the_running_period),
        CASE(a_sweep_after_the_reset_moves_nothing),
        CASE(a_bill_whose_deposit_was_lost_is_not_charged_to_the_new_period),
        CASE(debt_is_not_forgiven),
        CASE(a_fold_has_the_same_rules),
        CASE(what_a_plan_says_otherwise_is_seen_by_the_audit),
    };

    return cmocka_run_group_tests(tests, start, stop);
}
