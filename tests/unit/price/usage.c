/* What is inside what: caches, media and reasoning under both semantics. */
#include "tests/unit/unit.h"

#include "common/price/usage.h"

#include <string.h>

#define INCLUDES TG_USAGE_INPUT_INCLUDES_CACHE
#define EXCLUDES TG_USAGE_INPUT_EXCLUDES_CACHE

/* The worked numbers: 12 fresh, 800 read, 100 written, 40 out of which 33 reasoning. */
static void one_request_has_one_base_in_every_dialect(void **state)
{
    struct tg_usage claude = {.semantics = EXCLUDES, .input = 12, .cache_read = 800,
                              .cache_write_5m = 100, .output = 40, .reasoning = 33};
    struct tg_usage chat = {.semantics = INCLUDES, .input = 912, .cache_read = 800,
                            .cache_write_5m = 100, .output = 40, .reasoning = 33};

    (void)state;
    tg_usage_clamp(&claude);
    tg_usage_clamp(&chat);
    assert_false(claude.clamped || chat.clamped);
    assert_int_equal(tg_usage_base_tokens(&claude), 12);
    assert_int_equal(tg_usage_base_tokens(&chat), 12);
    assert_int_equal(tg_usage_input_total(&claude), 912);
    assert_int_equal(tg_usage_input_total(&chat), 912);
}

static void absurd_counts_are_cut_and_marked(void **state)
{
    static const struct {
        struct tg_usage usage;
        int64_t base, total;
        bool clamped;
    } cases[] = {
        {{.semantics = INCLUDES, .input = -5}, 0, 0, true},
        {{.semantics = INCLUDES, .input = 10, .cache_read = 11}, 10, 21, true},
        {{.semantics = INCLUDES, .input = 10, .cache_read = 990}, 10, 1000, true},
        {{.semantics = INCLUDES, .input = 10, .cache_read = 10}, 0, 10, false},
        {{.semantics = INCLUDES, .input = 10, .cache_read = 8, .cache_write_5m = 3}, 10, 21, true},
        {{.semantics = INCLUDES, .input = 10, .image_in = 7, .audio_in = 4}, 0, 10, true},
        {{.semantics = INCLUDES, .input = 10, .image_in = 6, .audio_in = 4}, 0, 10, false},
        {{.semantics = INCLUDES, .input = 10, .cache_read = 8, .image_in = 3}, 0, 10, true},
        {{.semantics = EXCLUDES, .input = 10, .cache_read = 11}, 10, 21, false},
        {{.semantics = EXCLUDES, .input = 10, .cache_read = -11}, 10, 10, true},
        {{.semantics = EXCLUDES, .input = INT64_MAX, .cache_write_1h = INT64_MAX},
         TG_USAGE_TOKENS_MAX, INT64_C(2) * TG_USAGE_TOKENS_MAX, true},
        {{.semantics = INCLUDES, .input = INT64_MIN, .cache_read = INT64_MAX}, 0,
         TG_USAGE_TOKENS_MAX, true},
        {{.output = 5, .reasoning = 6}, 0, 0, true},
        {{.output = 5, .audio_out = 6}, 0, 0, true},
        {{.tool_calls = -1}, 0, 0, true},
        {{.tool_calls = 1, .tools = {2}}, 0, 0, true},
        {{.tool_calls = 3, .tools = {2, 1}}, 0, 0, false},
        {{.tool_calls = 3, .tools = {-2, 1}}, 0, 0, true},
    };

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++) {
        struct tg_usage usage = cases[i].usage;

        tg_usage_clamp(&usage);
        assert_int_equal(usage.clamped, cases[i].clamped);
        assert_int_equal(tg_usage_base_tokens(&usage), cases[i].base);
        assert_int_equal(tg_usage_input_total(&usage), cases[i].total);
        assert_true(usage.reasoning <= usage.output && usage.audio_out <= usage.output);
        assert_true(usage.tool_calls >= 0 && tg_usage_other_tools(&usage) >= 0);
    }
}

static void tools_are_counted_by_kind_and_in_all(void **state)
{
    struct tg_usage usage = {.tool_calls = 4};

    (void)state;
    tg_usage_add_tool(&usage, TG_TOOL_WEB_SEARCH, 2);
    tg_usage_add_tool(&usage, TG_TOOL_FILE_SEARCH, 1);
    assert_int_equal(usage.tool_calls, 7);
    assert_int_equal(usage.tools[TG_TOOL_WEB_SEARCH], 2);
    assert_int_equal(tg_usage_other_tools(&usage), 4);
    tg_usage_add_tool(&usage, TG_TOOL_WEB_SEARCH, INT64_MAX);
    tg_usage_clamp(&usage);
    assert_true(usage.clamped);
    assert_int_equal(usage.tool_calls, TG_USAGE_TOKENS_MAX);
    for (int i = 0; i < TG_TOOL__COUNT; i++)
        assert_true(strlen(tg_tool_name((enum tg_tool)i)) > 0);
}

static void base_is_never_negative_even_unclamped(void **state)
{
    const struct tg_usage usage = {.semantics = INCLUDES, .input = 5, .cache_read = 9};

    (void)state;
    assert_int_equal(tg_usage_base_tokens(&usage), 0);
}

static void empty_means_nothing_to_charge(void **state)
{
    static const struct {
        struct tg_usage usage;
        bool empty;
    } cases[] = {
        {{.source = TG_USAGE_UPSTREAM}, true},
        {{.input = 1}, false},
        {{.output = 1}, false},
        {{.tool_calls = 1}, false},
        {{.semantics = EXCLUDES, .cache_read = 1}, false},
    };

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++)
        assert_int_equal(tg_usage_is_empty(&cases[i].usage), cases[i].empty);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_request_has_one_base_in_every_dialect),
        cmocka_unit_test(absurd_counts_are_cut_and_marked),
        cmocka_unit_test(tools_are_counted_by_kind_and_in_all),
        cmocka_unit_test(base_is_never_negative_even_unclamped),
        cmocka_unit_test(empty_means_nothing_to_charge),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
