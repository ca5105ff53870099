/* Tiers, weights and what comes when a tier is used up. */
#include "tests/unit/unit.h"

#include "fcgi-app/route/select.h"

#define HALF (UINT32_C(1) << 31)

#define IS(id, at, heavy) .channel_id = (id), .priority = (at), .weight = (heavy)
#define C(id, at, heavy) {IS(id, at, heavy), .native = true}
#define TRIED(id, at, heavy) {IS(id, at, heavy), .native = true, .tried = true}
#define OUT(id, at, heavy) {IS(id, at, heavy), .native = true, .excluded = true}
#define FOREIGN(id, at, heavy) {IS(id, at, heavy)}
#define ROOM(id, at, left) {IS(id, at, 1), .native = true, .room = (left)}

static bool choose(const struct tg_candidate *candidates, size_t count, int failed, uint32_t draw,
                   struct tg_selection *ret)
{
    const struct tg_select_wish wish = {.failed_channels = failed, .draw = draw};

    return tg_select(candidates, count, &wish, ret);
}

static void the_failure_count_is_the_tier(void **state)
{
    static const struct {
        struct tg_candidate candidates[5];
        size_t count;
        int failed;
        int64_t channel;
        int tier;
    } cases[] = {
        {{C(2, 9, 1), C(1, 5, 1), C(3, -1, 1)}, 3, 0, 2, 0},
        {{TRIED(2, 9, 1), C(1, 5, 1), C(3, -1, 1)}, 3, 1, 1, 1},
        {{TRIED(2, 9, 1), TRIED(1, 5, 1), C(3, -1, 1)}, 3, 2, 3, 2},
        /* the failures of two channels of one tier lead past the next one */
        {{TRIED(1, 9, 1), TRIED(2, 9, 1), C(3, 5, 1), C(4, 1, 1)}, 4, 2, 4, 2},
        {{TRIED(1, 9, 1), TRIED(2, 9, 1), C(3, 5, 1), TRIED(4, 1, 1)}, 4, 3, 3, 1},
        /* clamped: untried ones of any tier, highest first, before a repeat in the last */
        {{TRIED(2, 9, 1), TRIED(1, 5, 1), TRIED(3, -1, 1)}, 3, 3, 3, 2},
        {{TRIED(1, 9, 1), C(2, 9, 1), TRIED(3, 1, 1)}, 3, 2, 2, 0},
        {{TRIED(1, 9, 1), C(2, 9, 1), C(4, 5, 1), TRIED(3, 1, 1)}, 4, 3, 2, 0},
        {{TRIED(1, 9, 1), TRIED(2, 9, 1), C(4, 5, 1), TRIED(3, 1, 1)}, 4, 3, 4, 1},
        /* untried before tried inside a tier */
        {{TRIED(1, 9, 1000), C(2, 9, 1)}, 2, 0, 2, 0},
        {{TRIED(1, 9, 1000), C(2, 9, 1)}, 2, 7, 2, 0},
        /* what is excluded makes no tier */
        {{OUT(1, 9, 1), C(2, 5, 1), C(3, 1, 1)}, 3, 0, 2, 0},
        {{OUT(1, 9, 1), TRIED(2, 5, 1), C(3, 1, 1)}, 3, 1, 3, 1},
        {{C(1, 7, 1)}, 1, 0, 1, 0},
        {{TRIED(1, 7, 1)}, 1, 1, 1, 0},
    };

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++)
        for (uint64_t draw = 0; draw <= UINT32_MAX; draw += HALF / 2) {
            struct tg_selection got;

            assert_true(choose(cases[i].candidates, cases[i].count, cases[i].failed,
                                  (uint32_t)draw, &got));
            if (cases[i].candidates[got.index].channel_id != cases[i].channel)
                fail_msg("case %zu: channel %lld", i,
                         (long long)cases[i].candidates[got.index].channel_id);
            assert_int_equal(got.tier, cases[i].tier);
        }
}

static void nothing_left_is_said(void **state)
{
    static const struct tg_candidate all_out[] = {OUT(1, 1, 1), OUT(2, 2, 1)};
    struct tg_selection got;

    (void)state;
    assert_false(choose(all_out, 2, 0, 0, &got));
    assert_false(choose(NULL, 0, 0, 0, &got));
}

static void native_channels_come_first_among_equals(void **state)
{
    static const struct tg_candidate mixed[] = {FOREIGN(1, 9, 1000), C(2, 9, 1), FOREIGN(3, 9, 5)};
    static const struct tg_candidate native_used[] = {FOREIGN(1, 9, 1), TRIED(2, 9, 1)};
    static const struct tg_candidate lower[] = {FOREIGN(1, 9, 1), C(2, 5, 1)};
    struct tg_selection got;

    (void)state;
    for (uint64_t draw = 0; draw <= UINT32_MAX; draw += HALF / 8) {
        assert_true(choose(mixed, 3, 0, (uint32_t)draw, &got));
        assert_int_equal(got.index, 1);
        assert_true(choose(native_used, 2, 0, (uint32_t)draw, &got));
        assert_int_equal(got.index, 0); /* untried counts more than native */
        assert_true(choose(lower, 2, 0, (uint32_t)draw, &got));
        assert_int_equal(got.index, 0); /* so does the priority */
    }
}

/* Draws spread evenly over the whole range hit each channel in proportion to its weight, exactly
 * but for one draw at each border. */
static void draws_follow_the_weights(void **state)
{
    static const struct {
        int64_t weights[4];
        size_t count;
        int64_t expected[4]; /* of 60,000 */
    } cases[] = {
        {{1, 1}, 2, {30000, 30000}},
        {{0, 0, 0}, 3, {20000, 20000, 20000}},
        {{1, 2, 3}, 3, {10000, 20000, 30000}},
        {{0, 5, 0, 5}, 4, {0, 30000, 0, 30000}},
        {{1, 5}, 2, {10000, 50000}},
        {{-3, 1}, 2, {0, 60000}},
        {{1000000, 1000000, 2000000}, 3, {20000, 20000, 20000}}, /* capped */
    };

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++) {
        struct tg_candidate candidates[4];
        int64_t hits[4] = {0};

        for (size_t k = 0; k < cases[i].count; k++)
            candidates[k] = (struct tg_candidate)C((int64_t)k + 1, 1, cases[i].weights[k]);
        for (uint64_t n = 0; n < 60000; n++) {
            struct tg_selection got;

            assert_true(choose(candidates, cases[i].count, 0, (uint32_t)((n << 32) / 60000),
                                  &got));
            hits[got.index]++;
        }
        for (size_t k = 0; k < cases[i].count; k++)
            assert_in_range(hits[k] - cases[i].expected[k] + 2, 0, 4);
    }
}

static void a_zero_weight_is_a_last_resort(void **state)
{
    static const struct tg_candidate candidates[] = {TRIED(1, 1, 50), C(2, 1, 0), C(3, 1, 0)};
    int hits[3] = {0};

    (void)state;
    for (uint64_t n = 0; n < 1000; n++) {
        struct tg_selection got;

        assert_true(choose(candidates, 3, 1, (uint32_t)((n << 32) / 1000), &got));
        hits[got.index]++;
    }
    assert_int_equal(hits[0], 0);
    assert_int_equal(hits[1], 500);
    assert_int_equal(hits[2], 500);
}

/* Draws by a fixed seed, as a busy node makes them: within five standard deviations. */
static void a_million_draws_follow_the_weights(void **state)
{
    static const struct tg_candidate candidates[] = {C(1, 3, 1), C(2, 3, 7), C(3, 3, 2),
                                                     C(4, 3, 0)};
    static const int64_t expected[] = {100000, 700000, 200000, 0};
    int64_t hits[4] = {0};
    uint64_t seed = UINT64_C(88172645463325252);

    (void)state;
    for (int n = 0; n < 1000000; n++) {
        struct tg_selection got;

        seed ^= seed << 13; /* xorshift */
        seed ^= seed >> 7;
        seed ^= seed << 17;
        assert_true(choose(candidates, 4, 0, (uint32_t)(seed >> 32), &got));
        hits[got.index]++;
    }
    for (size_t k = 0; k < 4; k++)
        assert_in_range(hits[k] - expected[k] + 2500, 0, 5000);
    assert_int_equal(hits[3], 0);
}

static void free_room_is_spent_first(void **state)
{
    static const struct {
        struct tg_candidate candidates[4];
        size_t count;
        int64_t channel; /* 0: any without a cap */
    } cases[] = {
        {{C(1, 5, 1000), ROOM(2, 5, 10), ROOM(3, 5, 300)}, 3, 3},
        {{C(1, 5, 1), C(2, 5, 1)}, 2, 0},
        /* untried ones first, and never past the tier */
        {{{IS(1, 5, 1), .room = 1000, .tried = true}, C(2, 5, 1), C(3, 5, 0)}, 3, 2},
        {{C(1, 5, 1), ROOM(2, 4, 1000)}, 2, 1},
        {{{IS(1, 5, 1), .room = 1000, .excluded = true}, ROOM(2, 5, 1)}, 2, 2},
        /* whoever speaks another protocol is as good while it is free */
        {{C(1, 5, 1), {IS(2, 5, 1), .room = 5}}, 2, 2},
    };

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++)
        for (uint64_t draw = 0; draw <= UINT32_MAX; draw += HALF / 4) {
            const struct tg_select_wish wish = {.spend_free_first = true, .draw = (uint32_t)draw};
            struct tg_selection got;

            assert_true(tg_select(cases[i].candidates, cases[i].count, &wish, &got));
            if (cases[i].channel != 0 &&
                cases[i].candidates[got.index].channel_id != cases[i].channel)
                fail_msg("case %zu: channel %lld", i,
                         (long long)cases[i].candidates[got.index].channel_id);
        }
}

/* --- every small world ---------------------------------------------------------------------- */

enum { WORLD = 4, KINDS = 2 * 2 * 2 * 2, WORLDS = KINDS * KINDS * KINDS * KINDS };

/* Four channels in three tiers at most, with every mix of tried, excluded, native and weight. */
static void make_world(int number, int priorities, struct tg_candidate world[WORLD])
{
    static const int64_t shapes[][WORLD] = {{1, 1, 1, 1}, {2, 2, 1, 1}, {3, 2, 2, 1}, {4, 3, 2, 1}};

    for (int k = 0; k < WORLD; k++) {
        int kind = number >> (4 * k) & (KINDS - 1);

        world[k] = (struct tg_candidate){.channel_id = k + 1,
                                         .priority = shapes[priorities][k],
                                         .tried = (kind & 1) != 0,
                                         .excluded = (kind & 2) != 0,
                                         .native = (kind & 4) != 0,
                                         .weight = (kind & 8) != 0};
    }
}

/* Would the rules, read one by one, rather have <a> than <b> after <failed> failures? */
static bool is_better(const struct tg_candidate *world, int wanted, int a, int b)
{
    const struct tg_candidate *x = &world[a], *y = &world[b];
    bool x_here = x->priority == wanted, y_here = y->priority == wanted;

    if (x->tried != y->tried)
        return y->tried; /* also across tiers: no repeat before the last untried */
    if (x_here != y_here)
        return x_here;
    if (x->priority != y->priority)
        return !x->tried && x->priority > y->priority;
    if (x->native != y->native)
        return x->native;
    return x->weight > 0 && y->weight == 0;
}

static int64_t priority_of_tier(const struct tg_candidate *world, int failed)
{
    int64_t found = 0, before = INT64_MAX;

    for (int tier = 0; tier <= failed; tier++) {
        int64_t next = 0;

        for (int k = 0; k < WORLD; k++)
            if (!world[k].excluded && world[k].priority < before)
                next = TG_MAX(next, world[k].priority);
        if (next == 0)
            break;
        found = before = next;
    }
    return found;
}

static void check_world(const struct tg_candidate *world, int failed, int number)
{
    int64_t wanted = priority_of_tier(world, failed);
    struct tg_selection got;

    for (uint64_t draw = HALF / 4; draw <= UINT32_MAX; draw += HALF / 2) {
        if (!choose(world, WORLD, failed, (uint32_t)draw, &got)) {
            assert_int_equal(wanted, 0);
            continue;
        }
        assert_false(world[got.index].excluded);
        for (int k = 0; k < WORLD; k++)
            if (!world[k].excluded && is_better(world, (int)wanted, k, (int)got.index))
                fail_msg("world %x, %d failed: %d is better than %zu", (unsigned)number, failed, k,
                         got.index);
    }
}

static void every_small_world_is_chosen_from_by_the_rules(void **state)
{
    (void)state;
    for (int shape = 0; shape < 4; shape++)
        for (int number = 0; number < WORLDS; number += 1)
            for (int failed = 0; failed <= 4; failed += 2) {
                struct tg_candidate world[WORLD];

                make_world(number, shape, world);
                check_world(world, failed, number);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_failure_count_is_the_tier),
        cmocka_unit_test(nothing_left_is_said),
        cmocka_unit_test(native_channels_come_first_among_equals),
        cmocka_unit_test(draws_follow_the_weights),
        cmocka_unit_test(a_zero_weight_is_a_last_resort),
        cmocka_unit_test(a_million_draws_follow_the_weights),
        cmocka_unit_test(free_room_is_spent_first),
        cmocka_unit_test(every_small_world_is_chosen_from_by_the_rules),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
