/* How money moves for good: settle in all its kinds, plans, bounds, memory, trimming. */
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>

#include "tests/unit/ledger/play.h"

static struct play play;

#define SAY(...) test_redis_say(play.server, __VA_ARGS__)

/* The fields of the last journal entry. */
static void journal_ends_with(const char *fields)
{
    const char *got = SAY("XREVRANGE", "tg:{s01}:journal", "+", "-", "COUNT", "1", NULL);

    got = strchr(got, ' ');
    if (got == NULL || strcmp(got + 1, fields) != 0)
        fail_msg("the journal ends with '%s' instead of '%s'", got, fields);
}

/* ---- kinds */

static void a_charge_moves_the_difference_once(void **state)
{
    (void)state;
    play_load(&play, "1000", "500", "0");
    play_expect(&play, "reserve", RESERVE, "R1 1 2 100 0 1 n 5 60000 0", "ok 0");
    play_expect(&play, "settle", SETTLE, "R1 charge 1 2 0 42 3 0 -1 0 {}", "ok");
    journal_ends_with("i R1 k charge u 1 t 2 p 0 a 42 c 3 r {}");
    for (int i = 0; i < 2; i++) {
        play_holds(&play, "user:1", "quota", "958");
        play_holds(&play, "user:1", "used", "42");
        play_holds(&play, "token:2", "remain", "458");
        play_says(&play, "HLEN", "holds", "0");
        play_says(&play, "XLEN", "journal", "1");
        play_expect(&play, "settle", SETTLE, "R1 charge 1 2 0 42 3 0 -1 0 {}", "ended");
        play_expect(&play, "settle", SETTLE, "R1 refund 1 2 0 0 3 0 -1 0 ''", "ended");
    }
}

static void a_lost_hold_counts_as_nothing(void **state)
{
    (void)state;
    play_load(&play, "1000", "500", "0");
    play_expect(&play, "settle", SETTLE, "R1 charge 1 2 0 42 0 0 -1 0 ''", "ok");
    journal_ends_with("i R1 k charge u 1 t 2 p 0 a 42 c 0 r ");
    play_holds(&play, "user:1", "quota", "958");
    play_holds(&play, "token:2", "remain", "458");
}

static void a_charge_may_exceed_deposit_and_balance(void **state)
{
    (void)state;
    play_load(&play, "100", "100", "0");
    play_expect(&play, "reserve", RESERVE, "R1 1 2 100 0 1 n 5 60000 0", "ok 0");
    play_expect(&play, "settle", SETTLE, "R1 charge 1 2 0 150 0 0 -1 0 ''", "ok");
    play_holds(&play, "user:1", "quota", "-50");
    play_holds(&play, "token:2", "remain", "-50");
}

static void a_refund_gives_everything_back(void **state)
{
    (void)state;
    play_load(&play, "1000", "500", "0");
    play_expect(&play, "reserve", RESERVE, "R1 1 2 100 0 1 n 5 60000 0", "ok 0");
    play_expect(&play, "settle", SETTLE, "R1 refund 1 2 0 0 0 0 -1 0 ''", "ok");
    play_holds(&play, "user:1", "quota", "1000");
    play_holds(&play, "token:2", "remain", "500");
    play_holds(&play, "user:1", "used", "0");
    journal_ends_with("i R1 k refund u 1 t 2 p 0 a 0 c 0 r ");
}

static void an_expired_hold_is_charged_what_it_earned(void **state)
{
    (void)state;
    play_load(&play, "1000", "500", "0");
    play_expect(&play, "extend", EXTEND, "R1 1 2 0 100 7 0 n 5 -1", "ok");
    play_expect(&play, "lapse", LAPSE, "R1 1 2 0", "ok");
    play_expect(&play, "settle", SETTLE, "R1 expired 1 2 0 7 0 0 -1 0 ''", "ok");
    play_holds(&play, "user:1", "quota", "993");
    play_expect(&play, "settle", SETTLE, "R1 charge 1 2 0 9 0 0 -1 0 ''", "ended");
}

static void a_credit_needs_no_token(void **state)
{
    (void)state;
    play_load(&play, "1000", "500", "0");
    for (int i = 0; i < 2; i++) {
        play_expect(&play, "settle", "state user:1 holds ended journal",
                    "C1 credit 1 0 0 -250 0 0 -1 0 ''", i == 0 ? "ok" : "ended");
        play_holds(&play, "user:1", "quota", "1250");
        play_holds(&play, "user:1", "used", "0");
        play_holds(&play, "token:2", "remain", "500");
    }
    journal_ends_with("i C1 k credit u 1 t 0 p 0 a -250 c 0 r ");
}

static void an_adjustment_sets_token_and_authver(void **state)
{
    (void)state;
    play_load(&play, "1000", "500", "0");
    play_expect(&play, "settle", SETTLE, "A1 adjust 1 2 0 0 0 -70 1 8 ''", "ok");
    journal_ends_with("i A1 k adjust u 1 t 2 p 0 a 0 c 0 d -70 n 1 v 8 r ");
    play_holds(&play, "token:2", "remain", "430");
    play_holds(&play, "token:2", "unlimited", "1");
    play_holds(&play, "user:1", "authver", "8");
    play_holds(&play, "user:1", "quota", "1000");
    play_expect(&play, "settle", SETTLE, "A2 adjust 1 2 0 0 0 0 -1 5 ''", "ok"); /* only upwards */
    play_holds(&play, "user:1", "authver", "8");
    play_holds(&play, "token:2", "unlimited", "1");
    play_expect(&play, "settle", SETTLE, "A3 adjust 1 2 0 0 0 0 0 0 ''", "ok");
    play_holds(&play, "token:2", "unlimited", "0");
}

static void settle_refuses_what_is_not_there(void **state)
{
    (void)state;
    play_expect(&play, "settle", SETTLE, "R1 charge 1 2 0 1 0 0 -1 0 ''", "missing");
    play_expect(&play, "load", "state holds user:1", "1 10 1 0 0 0 0 0 0", "ok");
    play_expect(&play, "settle", SETTLE, "R1 charge 1 2 0 1 0 0 -1 0 ''", "missing");
    play_expect(&play, "load", "state holds token:2", "0 0 0 2 50 0 0 0 0", "ok");
    play_expect(&play, "settle", SETTLE " sub:7", "R1 charge 1 2 7 1 0 0 -1 0 ''", "missing");
    play_expect(&play, "reserve", RESERVE, "R1 1 2 1 0 1 n 5 60000 0", "ok 0");
    play_expect(&play, "settle", "state user:1 holds ended journal",
                "R1 charge 1 0 0 1 0 0 -1 0 ''", "mismatch");
    play_says(&play, "EXISTS", "journal", "0");
}

/* ---- plans */

static void start_plan(const char *period, const char *lease_ms)
{
    char args[64];

    play_load(&play, "1000", "500", "0");
    snprintf(args, sizeof args, "0 0 0 0 0 0 7 300 %s", period);
    play_expect(&play, "load", "state holds sub:7", args, "ok");
    snprintf(args, sizeof args, "R1 1 2 100 0 1 n 5 %s 7", lease_ms);
    play_expect(&play, "reserve", RESERVE " sub:7", args, "ok 7 4");
    play_holds(&play, "sub:7", "remain", "200");
}

static void a_hold_names_its_funding(void **state)
{
    (void)state;
    start_plan("4", "60000");
    play_expect(&play, "settle", SETTLE, "R1 refund 1 2 0 0 0 0 -1 0 ''", "plan 7");
    play_says(&play, "EXISTS", "journal", "0");
    play_expect(&play, "settle", SETTLE " sub:7", "R1 charge 1 2 7 30 0 0 -1 0 ''", "ok");
    journal_ends_with("i R1 k charge u 1 t 2 p 7 a 30 m 30 e 4 c 0 r ");
    play_holds(&play, "sub:7", "remain", "270");
    play_holds(&play, "user:1", "quota", "1000");
    play_holds(&play, "user:1", "used", "30");
    play_holds(&play, "token:2", "remain", "470");
}

/* Period 5 begins with 300; what is left of period 4 goes, its open deposits too. */
static void begin_period_5(const char *out)
{
    char entry[96];

    play_expect(&play, "reset", RESET, "P5 1 7 300 5 ''", "ok");
    snprintf(entry, sizeof entry, "i P5 k reset u 1 t 0 p 7 a %s m %s e 5 c 0 r ", out, out);
    journal_ends_with(entry);
    play_holds(&play, "sub:7", "period", "5");
}

static void a_period_begins_once(void **state)
{
    (void)state;
    start_plan("4", "60000");
    play_expect(&play, "settle", SETTLE " sub:7", "R1 charge 1 2 7 30 0 0 -1 0 ''", "ok");
    begin_period_5("-30");
    play_holds(&play, "sub:7", "remain", "300");
    play_expect(&play, "reserve", RESERVE " sub:7", "R2 1 2 100 0 1 n 5 60000 7", "ok 7 5");
    play_expect(&play, "reset", RESET, "P5 1 7 300 5 ''", "ended");
    SAY("DEL", "tg:{s01}:ended", NULL); /* told after its marker is gone, or by another id */
    play_expect(&play, "reset", RESET, "P6 1 7 300 5 ''", "ok");
    journal_ends_with("i P6 k reset u 1 t 0 p 7 a 0 m 0 e 5 c 0 r ");
    play_holds(&play, "sub:7", "remain", "200");
    play_expect(&play, "reset", RESET, "P7 1 7 9000000000000001 6 ''", "bounds");
    SAY("DEL", "tg:{s01}:sub:7", NULL);
    play_expect(&play, "reset", RESET, "P8 1 7 300 6 ''", "missing");
    play_holds(&play, "user:1", "quota", "1000");
    play_holds(&play, "user:1", "used", "30");
}

static void debt_outlives_its_period(void **state)
{
    (void)state;
    start_plan("4", "60000");
    play_expect(&play, "settle", SETTLE " sub:7", "R1 charge 1 2 7 450 0 0 -1 0 ''", "ok");
    play_holds(&play, "sub:7", "remain", "-150");
    begin_period_5("-300");
    play_holds(&play, "sub:7", "remain", "150");
}

static void a_deposit_of_an_ended_period_stays_with_it(void **state)
{
    static const struct {
        const char *bill, *remain, *out;
    } cases[] = {{"0", "300", "0"}, {"30", "300", "0"}, {"100", "300", "0"}, {"140", "260", "40"}};

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++) {
        char args[64];

        play_reset(&play);
        start_plan("4", "60000");
        begin_period_5("0"); /* 200 and a deposit of 100 go, 300 come */
        snprintf(args, sizeof args, "R1 charge 1 2 7 %s 0 0 -1 0 ''", cases[i].bill);
        play_expect(&play, "settle", SETTLE " sub:7", args, "ok");
        play_holds(&play, "sub:7", "remain", cases[i].remain);
        snprintf(args, sizeof args, "i R1 k charge u 1 t 2 p 7 a %s m %s e 4 c 0 r ",
                 cases[i].bill, cases[i].out);
        journal_ends_with(args);
    }
}

/* Swept, lost, or taken while Redis was away: the running period does not pay for it. */
static void a_deposit_that_is_gone_stays_with_its_period(void **state)
{
    (void)state;
    start_plan("4", "-1");
    begin_period_5("0");
    play_expect(&play, "lapse", LAPSE " sub:7", "R1 1 2 7", "ok");
    play_holds(&play, "sub:7", "remain", "300");
    play_holds(&play, "token:2", "remain", "500");
    play_expect(&play, "settle", SETTLE " sub:7", "R1 charge 1 2 7 30 0 0 -1 0 '' 4", "ok");
    journal_ends_with("i R1 k charge u 1 t 2 p 7 a 30 m 0 e 4 c 0 r ");
    play_expect(&play, "settle", SETTLE " sub:7", "R2 charge 1 2 7 30 0 0 -1 0 '' 4", "ok");
    journal_ends_with("i R2 k charge u 1 t 2 p 7 a 30 m 0 e 4 c 0 r ");
    play_holds(&play, "sub:7", "remain", "300");
    play_expect(&play, "settle", SETTLE " sub:7", "R3 charge 1 2 7 30 0 0 -1 0 '' 5", "ok");
    journal_ends_with("i R3 k charge u 1 t 2 p 7 a 30 m 30 e 5 c 0 r ");
    play_holds(&play, "sub:7", "remain", "270");
    play_holds(&play, "token:2", "remain", "410");
}

static void a_plans_hold_lapses_into_the_plan(void **state)
{
    (void)state;
    start_plan("4", "-1");
    play_expect(&play, "lapse", LAPSE " sub:7", "R1 1 2 7", "ok");
    play_holds(&play, "sub:7", "remain", "300");
    play_expect(&play, "extend", EXTEND " sub:7", "R1 1 2 7 100 0 0 n 5 60000", "ok");
    play_holds(&play, "sub:7", "remain", "200");
    play_expect(&play, "extend", EXTEND " sub:7", "R1 1 2 7 301 0 1 n 5 60000", "user_short");
    play_expect(&play, "look", "state user:1 holds", "1", "ok 1000 0 0 1"); /* not the wallet's */
}

/* Renewals go on over the end of a period; what they ask for is not taken from the next one. */
static void a_renewal_takes_nothing_from_the_next_period(void **state)
{
    static const char *const targets[] = {"100", "140"};

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(targets); i++) {
        char args[64];

        play_reset(&play);
        start_plan("4", "60000");
        begin_period_5("0");
        snprintf(args, sizeof args, "R1 1 2 7 %s 20 0 n 5 60000 4", targets[i]);
        play_expect(&play, "extend", EXTEND " sub:7", args, "ok");
        play_expect(&play, "extend", EXTEND " sub:7", "R1 1 2 7 401 0 1 n 5 60000 4",
                    "user_short");
        /* one that was lost */
        play_expect(&play, "extend", EXTEND " sub:7", "R9 1 2 7 60 7 0 n 5 60000 4", "ok");
        play_holds(&play, "sub:7", "remain", "300");
        play_holds(&play, "token:2", "remain", "400");
        play_expect(&play, "settle", SETTLE " sub:7", "R9 charge 1 2 7 60 0 0 -1 0 '' 4", "ok");
        play_expect(&play, "settle", SETTLE " sub:7", "R1 charge 1 2 7 130 0 0 -1 0 ''", "ok");
        play_holds(&play, "sub:7", "remain", "270");
        play_holds(&play, "token:2", "remain", "310");
    }
}

/* ---- bounds and memory */

static void amounts_stop_at_the_bounds(void **state)
{
    (void)state;
    play_load(&play, "9000000000000000", "9000000000000000", "0");
    play_expect(&play, "settle", "state user:1 holds ended journal",
                "C1 credit 1 0 0 -1 0 0 -1 0 ''", "bounds");
    play_expect(&play, "settle", SETTLE, "A1 adjust 1 2 0 0 0 1 -1 0 ''", "bounds");
    play_expect(&play, "settle", SETTLE, "R1 charge 1 2 0 9000000000000001 0 0 -1 0 ''", "bounds");
    play_expect(&play, "reserve", RESERVE, "R1 1 2 9000000000000001 0 1 n 5 60000 0", "bounds");
    play_says(&play, "EXISTS", "journal", "0");
    /* Every digit is kept: 9e15 - 1 is odd and above 2^52. */
    play_expect(&play, "reserve", RESERVE, "R1 1 2 8999999999999999 0 1 n 5 60000 0", "ok 0");
    play_holds(&play, "user:1", "quota", "1");
    play_expect(&play, "settle", SETTLE, "R1 charge 1 2 0 100000000000001 0 0 -1 0 ''", "ok");
    play_holds(&play, "user:1", "quota", "8899999999999999");
    journal_ends_with("i R1 k charge u 1 t 2 p 0 a 100000000000001 c 0 r ");
    play_expect(&play, "settle", SETTLE, "R2 charge 1 2 0 9000000000000000 0 0 -1 0 ''", "ok");
    play_expect(&play, "settle", SETTLE, "R3 charge 1 2 0 9000000000000000 0 0 -1 0 ''",
                "clamped");
    play_holds(&play, "user:1", "quota", "-9000000000000000");
    play_holds(&play, "token:2", "remain", "-9000000000000000");
    journal_ends_with("i R3 k charge u 1 t 2 p 0 a 8899999999999999 c 0 r ");
    play_expect(&play, "settle", SETTLE, "R4 charge 1 2 0 1 0 0 -1 0 ''", "clamped");
    journal_ends_with("i R4 k charge u 1 t 2 p 0 a 0 c 0 r ");
}

static void without_memory_only_ends_go_through(void **state)
{
    (void)state;
    play_load(&play, "1000", "500", "0");
    play_expect(&play, "reserve", RESERVE, "R1 1 2 100 0 1 n 5 60000 0", "ok 0");
    play_expect(&play, "reserve", RESERVE, "R2 1 2 100 0 1 n 5 -1 0", "ok 0");
    SAY("CONFIG", "SET", "maxmemory", "1", NULL);
    assert_memory_equal(play_call(&play, "reserve", RESERVE, "R3 1 2 1 0 1 n 5 60000 0"), "OOM ",
                        4);
    play_holds(&play, "user:1", "quota", "800");
    play_expect(&play, "extend", EXTEND, "R1 1 2 0 150 9 0 n 5 60000", "ok");
    play_expect(&play, "lapse", LAPSE, "R2 1 2 0", "ok");
    play_expect(&play, "settle", SETTLE, "R1 charge 1 2 0 42 0 0 -1 0 {}", "ok");
    SAY("DEL", "tg:{s01}:user:1", NULL);
    play_expect(&play, "load", "state holds user:1", "1 958 1 0 0 0 0 0 0", "ok");
    play_expect(&play, "settle", SETTLE, "R2 refund 1 2 0 0 0 0 -1 0 ''", "ok");
    play_expect(&play, "look", "state user:1 holds", "1", "ok 958 0 0 1");
    play_expect(&play, "trim", "state journal ended", "0-0 120000 900000", "ok");
    play.epoch = "2";
    play_expect(&play, "begin", "state", "", "ok");
    play_expect(&play, "finish", "state holds", "''", "ok");
    SAY("CONFIG", "SET", "maxmemory", "0", NULL);
}

/* ---- trim */

static void trim_waits_for_cursor_and_age(void **state)
{
    char last[64], args[128], recent[32];

    (void)state;
    play_load(&play, "1000", "500", "0");
    SAY("XADD", "tg:{s01}:journal", "5000-1", "k", "old", NULL);
    SAY("XADD", "tg:{s01}:journal", "5000-2", "k", "old", NULL);
    SAY("ZADD", "tg:{s01}:ended", "4999", "E0", "5000", "E1", NULL);
    play_expect(&play, "settle", SETTLE, "R1 charge 1 2 0 1 0 0 -1 0 ''", "ok");
    snprintf(last, sizeof last, "%.40s",
             SAY("XREVRANGE", "tg:{s01}:journal", "+", "-", "COUNT", "1", NULL));
    *strchr(last, ' ') = '\0';
    play_expect(&play, "trim", "state journal ended", "0-0 120000 900000", "ok");
    play_says(&play, "XLEN", "journal", "3"); /* nothing is applied */
    play_says(&play, "ZCARD", "ended", "3");
    play_expect(&play, "trim", "state journal ended", "5000-1 120000 900000", "ok");
    play_says(&play, "XLEN", "journal", "2");
    play_says(&play, "ZCARD", "ended", "2"); /* E1 may be of 5000-2 */
    snprintf(recent, sizeof recent, "%lld", strtoll(last, NULL, 10) - 5000);
    SAY("ZADD", "tg:{s01}:ended", recent, "E2", NULL);
    snprintf(args, sizeof args, "%s 120000 900000", last);
    play_expect(&play, "trim", "state journal ended", args, "ok");
    play_says(&play, "XLEN", "journal", "1"); /* applied, but young */
    play_says(&play, "ZCARD", "ended", "2");
    play_expect(&play, "settle", SETTLE, "R1 charge 1 2 0 1 0 0 -1 0 ''", "ended");
    snprintf(args, sizeof args, "%s -1000 900000", last);
    play_expect(&play, "trim", "state journal ended", args, "ok");
    play_says(&play, "XLEN", "journal", "0");
    play_says(&play, "ZCARD", "ended", "2");
}

static int set_up(void **state)
{
    (void)state;
    play_reset(&play);
    return 0;
}

static int start(void **state)
{
    (void)state;
    play_start(&play);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    play_stop(&play);
    return 0;
}

#define CASE(name) cmocka_unit_test_setup(name, set_up)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_charge_moves_the_difference_once),
        CASE(a_lost_hold_counts_as_nothing),
        CASE(a_charge_may_exceed_deposit_and_balance),
        CASE(a_refund_gives_everything_back),
        CASE(an_expired_hold_is_charged_what_it_earned),
        CASE(a_credit_needs_no_token),
        CASE(an_adjustment_sets_token_and_authver),
        CASE(settle_refuses_what_is_not_there),
        CASE(a_hold_names_its_funding),
        CASE(a_deposit_of_an_ended_period_stays_with_it),
        CASE(a_period_begins_once),
        CASE(debt_outlives_its_period),
        CASE(a_deposit_that_is_gone_stays_with_its_period),
        CASE(a_plans_hold_lapses_into_the_plan),
        CASE(a_renewal_takes_nothing_from_the_next_period),
        CASE(amounts_stop_at_the_bounds),
        CASE(without_memory_only_ends_go_through),
        CASE(trim_waits_for_cursor_and_age),
    };

    return cmocka_run_group_tests(tests, start, stop);
}
