/* Breakers: when they open, who may probe, and that a dead process keeps nothing. */
#include "tests/unit/unit.h"

#include "fcgi-app/route/breaker.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define S INT64_C(1000000)

static const struct tg_breaker_rules rules = {
    .failures = 5, .ratio = 50, .calls = 20, .open_us = 30 * S, .open_most_us = 600 * S};

static struct tg_breakers *table;

static int set_up(void **state)
{
    (void)state;
    table = tg_breakers_new();
    return 0;
}

/* One call that is allowed or not ('-'), and its end: S, F or N; a capital P is a probe that has no
 * end yet. Returns what happened, in lower case for a change: o opened, c closed. */
static char call(int64_t at_us, char outcome)
{
    const struct tg_breaker_call wish = {7, "gpt", at_us};
    struct tg_breaker_pass pass;

    if (!tg_breaker_take(table, &rules, &wish, &pass))
        return '-';
    if (outcome == 'P')
        return pass.probe != 0 ? 'P' : '?';
    switch (tg_breaker_report(table, &rules, &pass,
                              outcome == 'S'   ? TG_BREAKER_SUCCESS
                              : outcome == 'F' ? TG_BREAKER_FAILURE
                                               : TG_BREAKER_NEUTRAL,
                              at_us)) {
    case TG_BREAKER_OPENED:
        return 'o';
    case TG_BREAKER_CLOSED:
        return 'c';
    default:
        return '.';
    }
}

static void calls_follow_the_table(void **state)
{
    static const struct {
        const char *what;
        const char *outcomes, *expected;
        int64_t every_us;
    } cases[] = {
        {"five in a row", "FFFFFF", "....o-", S},
        {"a success between", "FFFFSFFFFF", ".........o", S},
        {"clients' errors say nothing", "FFNNFNFNF", "........o", S},
        {"clients' errors never open", "NNNNNNNNNNNNNNNNNNNNNNNNN", ".........................", S},
        {"half of twenty is not enough", "FSFSFSFSFSFSFSFSFSFS", "....................", S},
        {"more than half of twenty", "FSFSFSFSFSFSFSFSFSFFF", "...................o-", S},
        {"nor is more than half of less", "FFSFFSFFSFFSFFSFFS", "..................", S},
        {"spread over minutes it is less", "FFSFFSFFSFFSFFSFFSFFS", ".....................", 4 * S},
    };

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++) {
        char got[64] = "";

        table = tg_breakers_new();
        for (size_t k = 0; cases[i].outcomes[k] != '\0'; k++)
            got[k] = call(1000 * S + (int64_t)k * cases[i].every_us, cases[i].outcomes[k]);
        if (strcmp(got, cases[i].expected) != 0)
            fail_msg("%s: %s instead of %s", cases[i].what, got, cases[i].expected);
    }
}

static int64_t open_at(int64_t at_us)
{
    for (int i = 0; i < 4; i++)
        assert_int_equal(call(at_us, 'F'), '.');
    assert_int_equal(call(at_us, 'F'), 'o');
    return at_us;
}

static void one_probe_and_its_end(void **state)
{
    int64_t at = open_at(1000 * S);

    (void)state;
    assert_int_equal(call(at + 29 * S, 'S'), '-');
    assert_int_equal(call(at + 30 * S, 'P'), 'P');
    assert_int_equal(call(at + 31 * S, 'P'), '-');
    /* the prober has died: its right ends with its period */
    assert_int_equal(call(at + 59 * S, 'P'), '-');
    assert_int_equal(call(at + 60 * S, 'S'), 'c');
    assert_int_equal(call(at + 60 * S, 'F'), '.'); /* from nothing again */
    assert_int_equal(call(at + 60 * S, 'S'), '.');
}

static void a_failed_probe_doubles_the_time(void **state)
{
    static const int64_t periods[] = {30, 60, 120, 240, 480, 600, 600};
    int64_t at = open_at(1000 * S);

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(periods); i++) {
        assert_int_equal(call(at + periods[i] * S - 1000, 'F'), '-');
        at += periods[i] * S;
        assert_int_equal(call(at, 'F'), 'o');
    }
    assert_int_equal(call(at + 600 * S, 'S'), 'c');
    at = open_at(at + 601 * S); /* and the next opening is short again */
    assert_int_equal(call(at + 30 * S, 'S'), 'c');
}

static void a_probe_that_says_nothing_gives_its_right_back(void **state)
{
    int64_t at = open_at(1000 * S);

    (void)state;
    assert_int_equal(call(at + 30 * S, 'N'), '.');
    assert_int_equal(call(at + 30 * S, 'P'), 'P');
    assert_int_equal(call(at + 30 * S, 'P'), '-');
}

/* A probe that comes back after its right went to another: bad news is old, good news is not. */
static void late_probes(void **state)
{
    const struct tg_breaker_call first = {7, "gpt", 1030 * S}, second = {7, "gpt", 1060 * S};
    struct tg_breaker_pass late, now;

    (void)state;
    open_at(1000 * S);
    assert_true(tg_breaker_take(table, &rules, &first, &late));
    assert_true(tg_breaker_take(table, &rules, &second, &now));
    assert_int_equal(tg_breaker_report(table, &rules, &late, TG_BREAKER_FAILURE, 1061 * S),
                     TG_BREAKER_SAME);
    assert_int_equal(call(1062 * S, 'P'), '-');
    assert_int_equal(tg_breaker_report(table, &rules, &late, TG_BREAKER_SUCCESS, 1063 * S),
                     TG_BREAKER_CLOSED);
    assert_int_equal(tg_breaker_report(table, &rules, &now, TG_BREAKER_FAILURE, 1064 * S),
                     TG_BREAKER_SAME);
    assert_false(tg_breakers_any(table));
}

static void models_and_channels_stand_apart(void **state)
{
    const struct tg_breaker_call others[] = {{7, "gpt-2", 1001 * S}, {8, "gpt", 1001 * S}};
    struct tg_breaker_pass pass;
    int64_t until_us = 0;

    (void)state;
    open_at(1000 * S);
    for (size_t i = 0; i < TG_COUNT_OF(others); i++)
        assert_true(tg_breaker_take(table, &rules, &others[i], &pass));
    assert_false(tg_breaker_admits(tg_breaker_find(table, 7, "gpt"), 1001 * S, &until_us));
    assert_int_equal(until_us, 1030 * S);
    assert_true(tg_breaker_admits(tg_breaker_find(table, 7, "gpt"), 1030 * S, &until_us));
    assert_true(tg_breaker_admits(tg_breaker_find(table, 9, "gpt"), 1001 * S, &until_us));
}

static void off_means_off(void **state)
{
    const struct tg_breaker_rules off = {.failures = 0, .ratio = 50, .calls = 20, .open_us = S};
    const struct tg_breaker_call wish = {7, "gpt", 1000 * S};
    struct tg_breaker_pass pass;

    (void)state;
    for (int i = 0; i < 40; i++) {
        assert_true(tg_breaker_take(table, &off, &wish, &pass));
        assert_int_equal(tg_breaker_report(table, &off, &pass, TG_BREAKER_FAILURE, 1000 * S),
                         TG_BREAKER_SAME);
    }
}

static void note(void *context, const struct tg_breaker_view *view)
{
    char *text = context;
    size_t len = strlen(text);

    snprintf(text + len, 256 - len, "%lld/%s/%d ", (long long)view->channel_id, view->model,
             view->probing);
}

static void what_is_open_is_shown(void **state)
{
    char text[256] = "";

    (void)state;
    open_at(1000 * S);
    tg_breakers_each(table, note, text);
    assert_string_equal(text, "7/gpt/0 ");
    call(1030 * S, 'P');
    text[0] = '\0';
    tg_breakers_each(table, note, text);
    assert_string_equal(text, "7/gpt/1 ");
    assert_int_equal(tg_breakers_opened(table), 1);
}

static void a_full_table_counts_as_closed_and_old_places_are_reused(void **state)
{
    struct tg_breaker_pass pass;
    int full = 0;

    (void)state;
    for (int i = 0; i < 20000; i++) {
        const struct tg_breaker_call wish = {i + 100, "m", 1000 * S};

        assert_true(tg_breaker_take(table, &rules, &wish, &pass));
        full += pass.breaker == NULL;
        assert_int_equal(tg_breaker_report(table, &rules, &pass, TG_BREAKER_FAILURE, 1000 * S),
                         TG_BREAKER_SAME);
    }
    assert_true(full > 0);
    for (int i = 0; i < 1000; i++) {
        const struct tg_breaker_call wish = {i + 90000, "m", 2000 * S};

        assert_true(tg_breaker_take(table, &rules, &wish, &pass));
        assert_non_null(pass.breaker);
    }
}

static void repeats_are_a_tenth_and_a_few(void **state)
{
    const struct tg_breaker_call wish = {7, "gpt", 1000 * S};
    struct tg_breaker_pass pass;
    int repeats = 0;

    (void)state;
    assert_true(tg_breaker_take(table, &rules, &wish, &pass));
    while (tg_breaker_may_repeat(&pass, 1000 * S))
        repeats++;
    assert_int_equal(repeats, 3);
    for (int i = 0; i < 200; i++)
        (void)tg_breaker_report(table, &rules, &pass, TG_BREAKER_SUCCESS, 1000 * S);
    while (tg_breaker_may_repeat(&pass, 1000 * S))
        repeats++;
    assert_int_equal(repeats, 20);
    assert_true(tg_breaker_may_repeat(&pass, 1010 * S)); /* the next ten seconds */
}

/* --- across processes and threads ---------------------------------------------------------- */

enum { RIVALS = 8, ROUNDS = 200 };

static _Atomic int won;

static void *rival(void *context)
{
    const struct tg_breaker_call wish = {7, "gpt", *(const int64_t *)context};
    struct tg_breaker_pass pass;

    if (tg_breaker_take(table, &rules, &wish, &pass))
        atomic_fetch_add(&won, 1);
    return NULL;
}

static void one_of_many_threads_probes(void **state)
{
    int64_t at = open_at(1000 * S);

    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        pthread_t threads[RIVALS];

        at += 30 * S; /* the last prober never came back */
        atomic_store(&won, 0);
        for (int i = 0; i < RIVALS; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, rival, &at), 0);
        for (int i = 0; i < RIVALS; i++)
            pthread_join(threads[i], NULL);
        assert_int_equal(atomic_load(&won), 1);
    }
}

/* Killed at any point of its calls, a worker leaves a table that the others go on with. */
static void a_killed_process_leaves_nothing_locked(void **state)
{
    (void)state;
    for (int round = 0; round < 20; round++) {
        int pipe_ends[2];
        char byte;
        pid_t child;

        assert_int_equal(pipe(pipe_ends), 0);
        child = fork();
        if (child == 0) {
            for (int64_t at = 1000 * S;; at += S / 100) {
                (void)call(at, at / S % 7 < 4 ? 'F' : 'P');
                if (at == 1010 * S && write(pipe_ends[1], "", 1) != 1)
                    _exit(1);
            }
        }
        assert_int_equal(read(pipe_ends[0], &byte, 1), 1);
        assert_int_equal(kill(child, SIGKILL), 0);
        assert_int_equal(waitpid(child, NULL, 0), child);
        close(pipe_ends[0]);
        close(pipe_ends[1]);
        /* Far later than any right that the child may have had. */
        (void)call(INT64_C(100000000) * S, 'S');
        (void)call(INT64_C(100000000) * S, 'S');
        open_at(INT64_C(100000000) * S);
        assert_int_equal(call(INT64_C(100000030) * S, 'S'), 'c');
        table = tg_breakers_new();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_follow_the_table),
        cmocka_unit_test_setup(one_probe_and_its_end, set_up),
        cmocka_unit_test_setup(a_failed_probe_doubles_the_time, set_up),
        cmocka_unit_test_setup(a_probe_that_says_nothing_gives_its_right_back, set_up),
        cmocka_unit_test_setup(late_probes, set_up),
        cmocka_unit_test_setup(models_and_channels_stand_apart, set_up),
        cmocka_unit_test_setup(off_means_off, set_up),
        cmocka_unit_test_setup(what_is_open_is_shown, set_up),
        cmocka_unit_test_setup(a_full_table_counts_as_closed_and_old_places_are_reused, set_up),
        cmocka_unit_test_setup(repeats_are_a_tenth_and_a_few, set_up),
        cmocka_unit_test_setup(one_of_many_threads_probes, set_up),
        cmocka_unit_test_setup(a_killed_process_leaves_nothing_locked, set_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
