/* What workers of a node tell each other about keys: the newer event wins, whoever was later. */
#include "tests/unit/unit.h"

#include "fcgi-app/route/key_board.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

static struct tg_key_board *board;
static const struct tg_key_seen fresh = {.event = 5, .state = TG_KEY_ACTIVE};

static int set_up(void **state)
{
    (void)state;
    board = tg_key_board_new();
    return 0;
}

static struct tg_key_seen look(int64_t key_id)
{
    return tg_key_board_look(board, key_id, &fresh);
}

static bool judge(int64_t key_id, int64_t judged_event, enum tg_key_state state, int64_t until_s)
{
    struct tg_key_seen seen = {.state = state, .until_s = until_s};

    return tg_key_board_judge(board, key_id, &fresh, judged_event, &seen);
}

static void a_key_nobody_spoke_of_is_as_its_row(void **state)
{
    struct tg_key_seen seen = look(1);

    (void)state;
    assert_int_equal(seen.event, 5);
    assert_int_equal(seen.state, TG_KEY_ACTIVE);
}

static void a_verdict_is_seen_at_once_and_numbered(void **state)
{
    struct tg_key_seen seen;

    (void)state;
    assert_true(judge(2, 5, TG_KEY_RESTING, 1000));
    seen = look(2);
    assert_int_equal(seen.event, 6);
    assert_int_equal(seen.state, TG_KEY_RESTING);
    assert_int_equal(seen.until_s, 1000);
    assert_true(judge(2, 6, TG_KEY_ACTIVE, 0)); /* the call after the rest went well */
    assert_int_equal(look(2).state, TG_KEY_ACTIVE);
}

static void what_verdicts_may_change(void **state)
{
    static const struct {
        enum tg_key_state now;
        int64_t now_until_s;
        int64_t event, judged; /* of what is known, of the call */
        enum tg_key_state wish;
        int64_t until_s;
        bool holds;
    } cases[] = {
        /* nothing happened since the call */
        {TG_KEY_ACTIVE, 0, 7, 7, TG_KEY_RESTING, 10, true},
        {TG_KEY_RESTING, 99, 7, 7, TG_KEY_RESTING, 10, true},
        {TG_KEY_EXHAUSTED, 99, 7, 7, TG_KEY_ACTIVE, 0, true},
        {TG_KEY_ACTIVE, 0, 7, 8, TG_KEY_SUSPENDED, 0, true}, /* the row lags behind */
        /* something did: only what is stronger, or lasts longer */
        {TG_KEY_RESTING, 99, 8, 7, TG_KEY_SUSPENDED, 0, true},
        {TG_KEY_RESTING, 99, 8, 7, TG_KEY_EXHAUSTED, 50, true},
        {TG_KEY_RESTING, 99, 8, 7, TG_KEY_RESTING, 100, true},
        {TG_KEY_RESTING, 99, 8, 7, TG_KEY_RESTING, 99, false},
        {TG_KEY_SUSPENDED, 0, 8, 7, TG_KEY_RESTING, 100, false}, /* a late timer */
        {TG_KEY_SUSPENDED, 0, 8, 7, TG_KEY_EXHAUSTED, 100, false},
        {TG_KEY_SUSPENDED, 0, 8, 7, TG_KEY_ACTIVE, 0, false}, /* a late success */
        {TG_KEY_EXHAUSTED, 99, 8, 7, TG_KEY_RESTING, 100, false},
        {TG_KEY_EXHAUSTED, 99, 8, 7, TG_KEY_ACTIVE, 0, false},
        /* an operator has enabled it since */
        {TG_KEY_ACTIVE, 0, 8, 7, TG_KEY_SUSPENDED, 0, false},
        {TG_KEY_ACTIVE, 0, 8, 7, TG_KEY_RESTING, 100, false},
        /* or disabled */
        {TG_KEY_DISABLED, 0, 8, 7, TG_KEY_SUSPENDED, 0, false},
        {TG_KEY_DISABLED, 0, 7, 7, TG_KEY_ACTIVE, 0, false},
    };

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++) {
        const struct tg_key_seen now = {cases[i].event, cases[i].now, cases[i].now_until_s};

        if (tg_key_verdict_holds(&now, cases[i].judged, cases[i].wish, cases[i].until_s) !=
            cases[i].holds)
            fail_msg("case %zu", i);
    }
}

static void news_from_elsewhere_never_go_back(void **state)
{
    const struct tg_key_seen newer = {9, TG_KEY_SUSPENDED, 0}, older = {8, TG_KEY_ACTIVE, 0};
    const struct tg_key_seen same = {9, TG_KEY_ACTIVE, 0};

    (void)state;
    tg_key_board_tell(board, 3, &newer);
    tg_key_board_tell(board, 3, &older);
    tg_key_board_tell(board, 3, &same);
    assert_int_equal(look(3).state, TG_KEY_SUSPENDED);
    /* the row of an operator who has acted since */
    assert_int_equal(tg_key_board_look(board, 3, &(struct tg_key_seen){10, TG_KEY_ACTIVE, 0}).state,
                     TG_KEY_ACTIVE);
    assert_int_equal(tg_key_board_look(board, 3, &same).state, TG_KEY_ACTIVE);
}

enum { CLAIMERS = 8, ROUNDS = 200 };
static atomic_int claimed;
static struct tg_key_seen claim_of;

static void *claimer(void *context)
{
    (void)context;
    if (tg_key_board_claim(board, 4, &claim_of, 2000))
        atomic_fetch_add(&claimed, 1);
    return NULL;
}

static void one_of_many_may_look_at_an_exhausted_key(void **state)
{
    (void)state;
    claim_of = (struct tg_key_seen){5, TG_KEY_EXHAUSTED, 1000};
    for (int round = 0; round < ROUNDS; round++) {
        pthread_t threads[CLAIMERS];

        atomic_store(&claimed, 0);
        for (int i = 0; i < CLAIMERS; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, claimer, NULL), 0);
        for (int i = 0; i < CLAIMERS; i++)
            pthread_join(threads[i], NULL);
        assert_int_equal(atomic_load(&claimed), 1);
        claim_of = tg_key_board_look(board, 4, &claim_of);
        assert_int_equal(claim_of.until_s, 2000);
    }
}

static void other_processes_see_it_and_their_death_changes_nothing(void **state)
{
    pid_t child = fork();
    int status = 0;

    (void)state;
    if (child == 0) {
        bool good = judge(6, 5, TG_KEY_SUSPENDED, 0);

        (void)!tg_key_board_turn(board, 77);
        raise(good ? SIGKILL : SIGABRT);
    }
    assert_true(child > 0 && waitpid(child, &status, 0) == child);
    assert_int_equal(WTERMSIG(status), SIGKILL);
    assert_int_equal(look(6).state, TG_KEY_SUSPENDED);
    assert_int_equal(tg_key_board_turn(board, 77), 1);
    assert_int_equal(tg_key_board_turn(board, 78), 0);
}

static void use_counts_for_its_period_only(void **state)
{
    (void)state;
    tg_key_board_set_used(board, 8, 100, 7);
    assert_int_equal(tg_key_board_used(board, 8, 100), 7);
    assert_int_equal(tg_key_board_used(board, 8, 200), 0);
    tg_key_board_set_used(board, 8, 200, 1);
    tg_key_board_set_used(board, 8, 100, 9); /* too late */
    assert_int_equal(tg_key_board_used(board, 8, 200), 1);
    assert_int_equal(tg_key_board_used(board, 9, 100), 0);
}

static void a_full_board_forgets_the_new_ones_only(void **state)
{
    int kept = 0;

    (void)state;
    for (int64_t id = 1000; id < 40000; id++)
        if (!judge(id, 5, TG_KEY_RESTING, 1000))
            fail_msg("key %lld", (long long)id);
    for (int64_t id = 1000; id < 40000; id++)
        kept += look(id).state == TG_KEY_RESTING;
    assert_in_range(kept, 16000, 16384);
    assert_int_equal(look(6).state, TG_KEY_SUSPENDED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_key_nobody_spoke_of_is_as_its_row),
        cmocka_unit_test(a_verdict_is_seen_at_once_and_numbered),
        cmocka_unit_test(what_verdicts_may_change),
        cmocka_unit_test(news_from_elsewhere_never_go_back),
        cmocka_unit_test(one_of_many_may_look_at_an_exhausted_key),
        cmocka_unit_test(other_processes_see_it_and_their_death_changes_nothing),
        cmocka_unit_test(use_counts_for_its_period_only),
        cmocka_unit_test(a_full_board_forgets_the_new_ones_only),
    };

    return cmocka_run_group_tests_name("key_board", tests, set_up, NULL);
}
