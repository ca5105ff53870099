/* Tiers, weights and what comes when a tier is used up. */
#include "tests/unit/unit.h"

#include "fcgi-app/route/select.h"

#define HALF (UINT32_C(1) << 31)

/* channel, priority, weight, tried, native, excluded */
#define C(id, priority, weight) {id, priority, weight, false, true, false}
#define TRIED(id, priority, weight) {id, priority, weight, true, true, false}
#define OUT(id, priority, weight) {id, priority, weight, false, true, true}
#define FOREIGN(id, priority, weight) {id, priority, weight, false, false, false}

static void the_failure_count_is_the_tier(void **state)
{
    static const struct {
        struct tg_candidate candidates[5];
        size_t count;
        int failed;
        int64_t channel;
        int tier;
    } cases[] = {
        {{C(1, 5, 1), C(2, 9, 1), C(3, -1, 1)}, 3, 0, 2, 0},
        {{C(1, 5, 1), TRIED(2, 9, 1), C(3, -1, 1)}, 3, 1, 1, 1},
        {{TRIED(1, 5, 1), TRIED(2, 9, 1), C(3, -1, 1)}, 3, 2, 3, 2},
        /* clamped: untried ones of any tier, highest first, before a repeat in the last */
        {{TRIED(1, 5, 1), TRIED(2, 9, 1), TRIED(3, -1, 1)}, 3, 3, 3, 2},
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

            assert_true(tg_select(cases[i].candidates, cases[i].count, cases[i].failed,
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
    assert_false(tg_select(all_out, 2, 0, 0, &got));
    assert_false(tg_select(NULL, 0, 0, 0, &got));
}

static void native_channels_come_first_among_equals(void **state)
{
    static const struct tg_candidate mixed[] = {FOREIGN(1, 9, 1000), C(2, 9, 1), FOREIGN(3, 9, 5)};
    static const struct tg_candidate native_used[] = {FOREIGN(1, 9, 1), TRIED(2, 9, 1)};
    static const struct tg_candidate lower[] = {FOREIGN(1, 9, 1), C(2, 5, 1)};
    struct tg_selection got;

    (void)state;
    for (uint64_t draw = 0; draw <= UINT32_MAX; draw += HALF / 8) {
        assert_true(tg_select(mixed, 3, 0, (uint32_t)draw, &got));
        assert_int_equal(got.index, 1);
        assert_true(tg_select(native_used, 2, 0, (uint32_t)draw, &got));
        assert_int_equal(got.index, 0); /* untried counts more than native */
        assert_true(tg_select(lower, 2, 0, (uint32_t)draw, &got));
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

            assert_true(tg_select(candidates, cases[i].count, 0, (uint32_t)((n << 32) / 60000),
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

        assert_true(tg_select(candidates, 3, 1, (uint32_t)((n << 32) / 1000), &got));
        hits[got.index]++;
    }
    assert_int_equal(hits[0], 0);
    assert_int_equal(hits[1], 500);
    assert_int_equal(hits[2], 500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_failure_count_is_the_tier),
        cmocka_unit_test(nothing_left_is_said),
        cmocka_unit_test(native_channels_come_first_among_equals),
        cmocka_unit_test(draws_follow_the_weights),
        cmocka_unit_test(a_zero_weight_is_a_last_resort),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
