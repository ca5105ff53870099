/* The ledger's scripts, each with each of its answers. */
#include "tests/unit/unit.h"

#include <stdio.h>

#include "tests/unit/ledger/play.h"

static struct play play;

#define SAY(...) test_redis_say(play.server, __VA_ARGS__)

/* The hold's text up to the end of its lease. */
static void hold_is(const char *id, const char *text)
{
    const char *got = SAY("HGET", "tg:{s01}:holds", id, NULL);
    size_t len = strlen(text);

    if (strncmp(got, text, len) != 0 || got[len] != ' ')
        fail_msg("hold %s is '%s' instead of '%s'", id, got, text);
}

/* ---- the fence */

struct call {
    const char *script, *keys, *args;
};
/* In an order in which each is answered "ok" by a fresh shard. */
static const struct call calls[] = {
    {"load", "state holds user:1 token:2", "1 1000 1 2 500 0 0 0 0"},
    {"reserve", RESERVE, "R1 1 2 100 0 1 node 5 60000 0"},
    {"extend", EXTEND, "R1 1 2 0 100 7 0 node 5 60000"},
    {"look", "state user:1 holds", "1"},
    {"lapse", LAPSE, "R1 1 2 0"},
    {"settle", SETTLE, "R1 charge 1 2 0 42 3 0 -1 0 {}"},
    {"trim", "state journal ended", "0-0 120000 900000"},
};

/* Every script refuses while <why> holds, and has changed nothing. */
static void all_refuse(const char *word)
{
    char keys[64], after[64];

    snprintf(keys, sizeof keys, "%s", SAY("DBSIZE", NULL));
    for (size_t i = 0; i < TG_COUNT_OF(calls); i++)
        play_expect(&play, calls[i].script, calls[i].keys, calls[i].args, word);
    snprintf(after, sizeof after, "%s", SAY("DBSIZE", NULL));
    assert_string_equal(after, keys);
}

static void each_runs_inside_the_fence(void **state)
{
    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(calls); i++)
        if (strncmp(play_call(&play, calls[i].script, calls[i].keys, calls[i].args), "ok", 2) != 0)
            fail_msg("%s: %s", calls[i].script, play.answer);
}

static void each_is_late_after_its_deadline(void **state)
{
    (void)state;
    play.until_ms = 1;
    all_refuse("late");
    play_expect(&play, "begin", "state", "", "late");
    play_expect(&play, "finish", "state holds", "''", "late");
}

static void each_refuses_another_epoch(void **state)
{
    (void)state;
    play.epoch = "2";
    all_refuse("rebuilding");
    play.epoch = "0";
    all_refuse("rebuilding");
}

static void each_refuses_another_server(void **state)
{
    (void)state;
    play.run = "0000000000000000000000000000000000000000";
    all_refuse("rebuilding");
    play_expect(&play, "finish", "state holds", "''", "fenced");
}

static void each_refuses_while_the_shard_is_off(void **state)
{
    (void)state;
    play.epoch = "2";
    play_expect(&play, "begin", "state", "", "ok");
    all_refuse("rebuilding");
    play.epoch = "1";
    all_refuse("rebuilding");
}

static void each_refuses_an_emptied_server(void **state)
{
    (void)state;
    SAY("FLUSHALL", NULL);
    all_refuse("rebuilding");
}

/* ---- rebuild */

static void begin_needs_a_larger_epoch(void **state)
{
    (void)state;
    play_expect(&play, "begin", "state", "", "fenced"); /* equal */
    play_holds(&play, "state", "on", "1");
    play.epoch = "12";
    play_expect(&play, "begin", "state", "", "ok");
    play_holds(&play, "state", "on", "0");
    play.epoch = "9"; /* larger as a text, not as a number */
    play_expect(&play, "begin", "state", "", "fenced");
    play_expect(&play, "finish", "state holds", "''", "fenced");
    play_holds(&play, "state", "epoch", "12");
    play_holds(&play, "state", "on", "0");
}

static void finish_drops_the_ended_holds(void **state)
{
    (void)state;
    play_load(&play, "1000", "500", "0");
    play_expect(&play, "reserve", RESERVE, "request-00000001 1 2 10 0 1 n 5 60000 0", "ok 0");
    play_expect(&play, "reserve", RESERVE, "request-00000002 1 2 20 0 1 n 5 60000 0", "ok 0");
    play_expect(&play, "reserve", RESERVE, "request-00000003 1 2 40 0 1 n 5 60000 0", "ok 0");
    play.epoch = "2";
    play_expect(&play, "begin", "state", "", "ok");
    for (int i = 0; i < 2; i++) { /* repeating it changes nothing */
        play_expect(&play, "finish", "state holds", "request-00000001request-00000003", "ok");
        play_says(&play, "HKEYS", "holds", "request-00000002");
    }
    play_expect(&play, "look", "state user:1 holds", "1", "missing"); /* of the older epoch */
    play_load(&play, "1000", "500", "0");
    play_expect(&play, "look", "state user:1 holds", "1", "ok 980 0 20 1");
    play_holds(&play, "token:2", "remain", "480");
}

/* ---- load */

static void load_never_overwrites_a_live_account(void **state)
{
    (void)state;
    play_load(&play, "1000", "500", "0");
    play_expect(&play, "settle", SETTLE, "R1 charge 1 2 0 50 0 0 -1 0 ''", "ok");
    play_load(&play, "1000", "500", "1"); /* read before the charge, arrives after it */
    play_holds(&play, "user:1", "quota", "950");
    play_holds(&play, "token:2", "remain", "450");
    play_holds(&play, "token:2", "unlimited", "0");
}

static void load_subtracts_open_holds_of_each_account(void **state)
{
    (void)state;
    play_load(&play, "1000", "500", "0");
    play_expect(&play, "load", "state holds user:1 sub:7", "1 0 1 0 0 0 7 300 4", "ok");
    play_expect(&play, "reserve", RESERVE " sub:7", "R1 1 2 100 0 1 n 5 60000 7 0", "ok 7 4");
    play_expect(&play, "reserve", RESERVE, "R2 1 2 30 0 1 n 5 60000 0", "ok 0");
    play_expect(&play, "load", "state holds user:65", "65 10 1 0 0 0 0 0 0", "ok");
    play_holds(&play, "user:65", "quota", "10"); /* nobody else's holds */
    SAY("DEL", "tg:{s01}:user:1", "tg:{s01}:token:2", "tg:{s01}:sub:7", NULL);
    play_expect(&play, "load", "state holds user:1 token:2 sub:7", "1 1000 1 2 500 0 7 300 4",
                "ok");
    play_holds(&play, "user:1", "quota", "970");
    play_holds(&play, "token:2", "remain", "370");
    play_holds(&play, "sub:7", "remain", "200");
    SAY("DEL", "tg:{s01}:sub:7", NULL); /* loaded in a later period: that deposit is over */
    play_expect(&play, "load", "state holds sub:7", "0 0 0 0 0 0 7 300 5", "ok");
    play_holds(&play, "sub:7", "remain", "300");
}

static void load_refuses_what_leaves_the_bounds(void **state)
{
    (void)state;
    play_expect(&play, "load", "state holds user:1", "1 9000000000000001 1 0 0 0 0 0 0", "bounds");
    play_expect(&play, "load", "state holds user:1", "1 -9000000000000001 1 0 0 0 0 0 0", "bounds");
    play_expect(&play, "load", "state holds user:1", "1 -9000000000000000 1 0 0 0 0 0 0", "ok");
    play_holds(&play, "user:1", "quota", "-9000000000000000");
}

/* ---- reserve */

static void reserve_answers_in_order(void **state)
{
    (void)state;
    play_expect(&play, "reserve", RESERVE, "R1 1 2 10 0 1 n 5 60000 0", "missing");
    play_expect(&play, "load", "state holds user:1", "1 100 3 0 0 0 0 0 0", "ok");
    play_expect(&play, "reserve", RESERVE, "R1 1 2 10 0 1 n 5 60000 0", "missing"); /* token */
    play_expect(&play, "load", "state holds token:2", "0 0 0 2 50 0 0 0 0", "ok");
    play_expect(&play, "reserve", RESERVE " sub:7", "R1 1 2 10 0 3 n 5 60000 7", "missing");
    play_expect(&play, "reserve", RESERVE, "R1 1 2 999 0 2 n 5 60000 0", "stale");
    play_expect(&play, "reserve", RESERVE, "R1 1 2 51 0 3 n 5 60000 0", "token_short 50");
    play_expect(&play, "reserve", RESERVE, "R1 1 2 50 0 3 n 5 60000 0", "ok 0");
    play_expect(&play, "reserve", RESERVE, "R2 1 2 0 0 3 n 5 60000 0", "token_short 0");
    play_expect(&play, "reserve", RESERVE, "R1 1 2 50 0 3 n 5 60000 0", "duplicate");
    play_expect(&play, "settle", SETTLE, "R1 refund 1 2 0 0 0 0 -1 0 ''", "ok");
    play_expect(&play, "reserve", RESERVE, "R1 1 2 50 0 1 n 5 60000 0", "ended");
    play_expect(&play, "settle", SETTLE, "A1 adjust 1 2 0 0 0 1000 -1 0 ''", "ok");
    play_expect(&play, "reserve", RESERVE, "R2 1 2 101 0 3 n 5 60000 0", "user_short");
    play_expect(&play, "reserve", RESERVE, "R2 1 2 -1 0 3 n 5 60000 0", "bounds");
    play_expect(&play, "reserve", RESERVE, "R2 1 2 100 0 3 n 5 60000 0", "ok 0");
    play_holds(&play, "user:1", "quota", "0");
    play_expect(&play, "reserve", RESERVE, "R3 1 2 0 0 3 n 5 60000 0", "ok 0"); /* free */
}

static void a_debt_closes_the_door(void **state)
{
    (void)state;
    play_load(&play, "10", "0", "1");
    play_expect(&play, "settle", SETTLE, "R1 charge 1 2 0 11 0 0 -1 0 ''", "ok");
    play_holds(&play, "user:1", "quota", "-1");
    play_expect(&play, "reserve", RESERVE, "R2 1 2 0 0 1 n 5 60000 0", "user_short");
}

static void funding_is_taken_in_order(void **state)
{
    (void)state;
    play_load(&play, "1000", "0", "1");
    play_expect(&play, "load", "state holds user:1 sub:7", "1 0 1 0 0 0 7 100 4", "ok");
    play_expect(&play, "reserve", RESERVE " sub:7", "R1 1 2 60 0 1 n 5 60000 7 0", "ok 7 4");
    play_expect(&play, "reserve", RESERVE " sub:7", "R2 1 2 60 0 1 n 5 60000 7 0", "ok 0");
    play_expect(&play, "reserve", RESERVE " sub:7", "R3 1 2 60 0 1 n 5 60000 7", "user_short");
    play_expect(&play, "reserve", RESERVE " sub:7", "R4 1 2 40 0 1 n 5 60000 0 7", "ok 0");
    play_holds(&play, "user:1", "quota", "900");
    play_holds(&play, "sub:7", "remain", "40");
    play_holds(&play, "token:2", "remain", "-160"); /* kept for unlimited tokens too */
    hold_is("R1", "1 2 7 60 0 0 n 5 4 0");
}

static void a_trusted_request_counts_as_exposed(void **state)
{
    (void)state;
    play_load(&play, "1000", "0", "1");
    play_expect(&play, "reserve", RESERVE, "R1 1 2 300 600 1 n 5 60000 0", "ok 0");
    play_holds(&play, "user:1", "quota", "1000");
    play_holds(&play, "user:1", "exposed", "300");
    hold_is("R1", "1 2 0 0 0 0 n 5 0 300");
    play_expect(&play, "reserve", RESERVE, "R2 1 2 100 600 1 n 5 60000 0", "ok 0"); /* 600 free */
    play_holds(&play, "user:1", "quota", "900"); /* not above 600: the deposit is taken */
    play_expect(&play, "reserve", RESERVE, "R3 1 2 601 0 1 n 5 60000 0", "user_short");
    SAY("DEL", "tg:{s01}:user:1", NULL);
    play_load(&play, "1000", "0", "1");
    play_holds(&play, "user:1", "exposed", "300"); /* loading knows it from the hold */
    play_expect(&play, "extend", EXTEND, "R1 1 2 0 300 5 0 n 5 60000", "ok");
    play_holds(&play, "user:1", "exposed", "0");
    play_holds(&play, "user:1", "quota", "600");
    play_expect(&play, "reserve", RESERVE, "R4 1 2 10 100 1 n 5 60000 0", "ok 0");
    play_holds(&play, "user:1", "exposed", "10");
    play_expect(&play, "settle", SETTLE, "R4 charge 1 2 0 12 0 0 -1 0 ''", "ok");
    play_holds(&play, "user:1", "exposed", "0");
    play_holds(&play, "user:1", "quota", "588");
}

/* ---- extend */

static void extend_raises_and_renews(void **state)
{
    (void)state;
    play_load(&play, "1000", "500", "0");
    play_expect(&play, "reserve", RESERVE, "R1 1 2 100 0 1 n 5 1 0", "ok 0");
    for (int i = 0; i < 2; i++) { /* repeating it changes nothing */
        play_expect(&play, "extend", EXTEND, "R1 1 2 0 150 33 0 m 6 60000", "ok");
        play_holds(&play, "user:1", "quota", "850");
        play_holds(&play, "token:2", "remain", "350");
        hold_is("R1", "1 2 0 150 33 0 m 6 0 0");
    }
    play_expect(&play, "extend", EXTEND, "R1 1 2 0 10 40 0 m 6 60000", "ok"); /* never smaller */
    hold_is("R1", "1 2 0 150 40 0 m 6 0 0");
    play_expect(&play, "extend", EXTEND, "R1 1 2 0 501 0 1 m 6 60000", "token_short");
    play_expect(&play, "settle", SETTLE, "A1 adjust 1 2 0 0 0 0 1 0 ''", "ok");
    play_expect(&play, "extend", EXTEND, "R1 1 2 0 1001 0 1 m 6 60000", "user_short");
    play_holds(&play, "user:1", "quota", "850");
    play_expect(&play, "extend", EXTEND, "R1 1 2 0 1001 0 0 m 6 60000", "ok"); /* debt */
    play_holds(&play, "user:1", "quota", "-1");
    play_expect(&play, "extend", EXTEND, "R1 1 2 0 -5 0 0 m 6 60000", "bounds");
    play_expect(&play, "extend", EXTEND " sub:7", "R1 1 2 7 5 0 0 m 6 60000", "missing");
    play_expect(&play, "extend", "state user:1 token:3 holds ended",
                "R1 1 3 0 5 0 0 m 6 60000", "missing");
    play_expect(&play, "load", "state holds token:3", "0 0 0 3 1 1 0 0 0", "ok");
    play_expect(&play, "extend", "state user:1 token:3 holds ended",
                "R1 1 3 0 5 0 0 m 6 60000", "mismatch");
    play_expect(&play, "settle", SETTLE, "R1 charge 1 2 0 5 0 0 -1 0 ''", "ok");
    play_expect(&play, "extend", EXTEND, "R1 1 2 0 150 0 0 m 6 60000", "ended");
    play_holds(&play, "user:1", "quota", "995");
}

static void extend_takes_a_lost_hold_again(void **state)
{
    (void)state;
    play_load(&play, "1000", "500", "0");
    play_expect(&play, "extend", EXTEND, "R1 1 2 0 100 7 0 n 5 60000", "ok");
    play_holds(&play, "user:1", "quota", "900");
    play_expect(&play, "settle", SETTLE, "R1 charge 1 2 0 70 0 0 -1 0 ''", "ok");
    play_holds(&play, "user:1", "quota", "930");
    play_holds(&play, "token:2", "remain", "430");
}

/* ---- lapse */

static void an_overdue_hold_lapses_and_lives_on(void **state)
{
    (void)state;
    play_load(&play, "1000", "500", "0");
    play_expect(&play, "reserve", RESERVE, "R1 1 2 100 0 1 n 5 60000 0", "ok 0");
    play_expect(&play, "lapse", LAPSE, "R1 1 2 0", "ok"); /* not overdue: nothing happens */
    play_holds(&play, "user:1", "quota", "900");
    play_expect(&play, "extend", EXTEND, "R1 1 2 0 100 7 0 n 5 -1", "ok");
    for (int i = 0; i < 2; i++) {
        play_expect(&play, "lapse", LAPSE, "R1 1 2 0", "ok");
        play_holds(&play, "user:1", "quota", "1000");
        play_holds(&play, "token:2", "remain", "500");
        hold_is("R1", "1 2 0 0 7 1 n 5 0 0");
    }
    play_expect(&play, "extend", EXTEND, "R1 1 2 0 100 9 0 n 5 -1", "ok");
    play_holds(&play, "user:1", "quota", "900"); /* taken again */
    play_expect(&play, "lapse", LAPSE, "R1 1 2 0", "ok");
    play_expect(&play, "settle", SETTLE, "R1 charge 1 2 0 42 0 0 -1 0 ''", "ok");
    play_holds(&play, "user:1", "quota", "958");
    play_holds(&play, "token:2", "remain", "458");
    play_expect(&play, "lapse", LAPSE, "R1 1 2 0", "ended");
    play_says(&play, "HLEN", "holds", "0");
}

static void a_hold_lapses_without_its_accounts(void **state)
{
    (void)state;
    play_load(&play, "1000", "500", "0");
    play_expect(&play, "reserve", RESERVE, "R1 1 2 100 0 1 n 5 -1 0", "ok 0");
    SAY("DEL", "tg:{s01}:user:1", NULL);
    play_expect(&play, "lapse", LAPSE, "R1 1 2 0", "ok");
    play_holds(&play, "token:2", "remain", "500");
    play_load(&play, "1000", "500", "0");
    play_holds(&play, "user:1", "quota", "1000");
    play_expect(&play, "lapse", "state user:1 token:3 holds", "R1 1 3 0", "mismatch");
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
        CASE(each_runs_inside_the_fence),
        CASE(each_is_late_after_its_deadline),
        CASE(each_refuses_another_epoch),
        CASE(each_refuses_another_server),
        CASE(each_refuses_while_the_shard_is_off),
        CASE(each_refuses_an_emptied_server),
        CASE(begin_needs_a_larger_epoch),
        CASE(finish_drops_the_ended_holds),
        CASE(load_never_overwrites_a_live_account),
        CASE(load_subtracts_open_holds_of_each_account),
        CASE(load_refuses_what_leaves_the_bounds),
        CASE(reserve_answers_in_order),
        CASE(a_debt_closes_the_door),
        CASE(funding_is_taken_in_order),
        CASE(a_trusted_request_counts_as_exposed),
        CASE(extend_raises_and_renews),
        CASE(extend_takes_a_lost_hold_again),
        CASE(an_overdue_hold_lapses_and_lives_on),
        CASE(a_hold_lapses_without_its_accounts),
    };

    return cmocka_run_group_tests(tests, start, stop);
}
