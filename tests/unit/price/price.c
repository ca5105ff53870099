/* Deposits and bills against hand arithmetic. */
#include "tests/unit/unit.h"

#include "common/base/money.h"
#include "common/price/price.h"

#include <stdio.h>
#include <string.h>

#define INCLUDES TG_USAGE_INPUT_INCLUDES_CACHE
#define EXCLUDES TG_USAGE_INPUT_EXCLUDES_CACHE

/* Per token: 1.5 / 0.15 / 1.875 / 3 / 7.5 quota. */
static const struct tg_price reference = {.form = TG_PRICE_TOKEN,
                                          .rates.input = "3.00",
                                          .rates.output = "15.00",
                                          .rates.cache_read = "0.30",
                                          .rates.cache_write_5m = "3.75",
                                          .rates.cache_write_1h = "6.00"};

static void set_text(char to[TG_DECIMAL_TEXT], const char *text)
{
    assert_in_range(snprintf(to, TG_DECIMAL_TEXT, "%s", text), 1, TG_DECIMAL_TEXT - 1);
}

static int64_t billed(const struct tg_price *price, const struct tg_usage *usage,
                      const char *ratio)
{
    int64_t quota = -1;

    assert_int_equal(tg_bill(price, usage, ratio, NULL, &quota), TG_OK);
    return quota;
}

static void bills_equal_hand_arithmetic(void **state)
{
    static const struct {
        const char *what;
        struct tg_usage usage;
        const char *ratio;
        int64_t quota;
    } cases[] = {
        {"cache writes are charged once: 15 + 15000 + 1500",
         {.semantics = EXCLUDES, .input = 10, .cache_write_5m = 8000, .output = 200}, "1", 16515},
        {"20 plain + 260 cached + 8 out: 30 + 39 + 60",
         {.semantics = INCLUDES, .input = 280, .cache_read = 260, .output = 8}, "1", 129},
        {"worked numbers, Claude's view: 18 + 120 + 187.5 + 300 = 625.5",
         {.semantics = EXCLUDES, .input = 12, .cache_read = 800, .cache_write_5m = 100,
          .output = 40, .reasoning = 33}, "1", 626},
        {"worked numbers, Chat's view",
         {.semantics = INCLUDES, .input = 912, .cache_read = 800, .cache_write_5m = 100,
          .output = 40, .reasoning = 33}, "1", 626},
        {"18 in, 27 out: 27 + 202.5", {.input = 18, .output = 27, .reasoning = 20}, "1", 230},
        {"half a quota rounds up", {.input = 1}, "1", 2},
        {"0.15 is no quota, but a token was used", {.input = 1, .cache_read = 1}, "1", 1},
        {"1h writes: 3 each", {.semantics = EXCLUDES, .cache_write_1h = 7}, "1", 21},
        {"ratio 0.1: 12.9", {.input = 280, .cache_read = 260, .output = 8}, "0.1", 13},
        {"ratio 0 is free", {.input = 280, .output = 8}, "0", 0},
        {"ratio 0.00 is free", {.input = 280, .output = 8}, "0.00", 0},
        {"nothing used", {.source = TG_USAGE_UPSTREAM}, "1", 0},
        {"huge counts are cut", {.input = INT64_MAX, .output = INT64_MAX}, "1",
         INT64_C(9000000000)},
        {"negative counts are none", {.input = INT64_MIN, .output = -1}, "1", 0},
    };

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++)
        if (billed(&reference, &cases[i].usage, cases[i].ratio) != cases[i].quota)
            fail_msg("%s", cases[i].what);
}

static void kinds_without_a_price_fall_back(void **state)
{
    struct tg_price price = {.form = TG_PRICE_TOKEN, .rates = {.input = "2", .output = "8"}};
    static const struct {
        struct tg_usage usage;
        int64_t quota; /* input 1, output 4 a token */
    } cases[] = {
        {{.semantics = EXCLUDES, .cache_read = 100}, 100},
        {{.semantics = EXCLUDES, .cache_write_5m = 100}, 125},
        {{.semantics = EXCLUDES, .cache_write_1h = 100}, 200},
        {{.input = 100, .image_in = 100}, 100},
        {{.input = 100, .audio_in = 100}, 100},
        {{.output = 100, .audio_out = 100}, 400},
        {{.tool_calls = 5}, 0},
    };

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++)
        assert_int_equal(billed(&price, &cases[i].usage, "1"), cases[i].quota);
    set_text(price.rates.image, "10");
    set_text(price.rates.audio_in, "20");
    set_text(price.rates.audio_out, "40");
    set_text(price.tool_call, "0.01");
    assert_int_equal(billed(&price, &(struct tg_usage){.input = 100, .image_in = 10,
                                                       .audio_in = 20, .output = 30,
                                                       .audio_out = 10, .tool_calls = 2}, "2"),
                     2 * (70 + 50 + 200 + 80 + 200 + 10000));
    set_text(price.rates.cache_read, "0");
    assert_int_equal(billed(&price, &(struct tg_usage){.input = 100, .cache_read = 100}, "1"), 0);
}

static void calls_have_one_price_and_their_tools(void **state)
{
    const struct tg_price price = {.form = TG_PRICE_CALL, .call = "0.04", .tool_call = "0.01"};
    const struct tg_price cheap = {.form = TG_PRICE_CALL, .call = "0.0000001"};

    (void)state;
    assert_int_equal(billed(&price, &(struct tg_usage){.source = TG_USAGE_UPSTREAM}, "1"), 20000);
    assert_int_equal(billed(&price, &(struct tg_usage){.source = TG_USAGE_UPSTREAM, .input = 9999,
                                                       .tool_calls = 1}, "0.5"), 12500);
    assert_int_equal(billed(&price, &(struct tg_usage){.source = TG_USAGE_NONE}, "1"), 0);
    assert_int_equal(billed(&cheap, &(struct tg_usage){.source = TG_USAGE_UPSTREAM}, "1"), 1);
}

/* Above 200,000 input tokens everything costs more, for the whole request: 3 / 0.3 / 11.25. */
static const struct tg_price tiered = {
    .form = TG_PRICE_TIER,
    .rates = {.input = "3.00", .output = "15.00", .cache_read = "0.30"},
    .tiers = {{200000, {.input = "6.00", .output = "22.50", .cache_read = "0.60"}},
              {1000000, {.input = "12", .output = "45", .cache_read = "0"}}},
    .tier_count = 2};

static void a_tier_holds_for_the_whole_request(void **state)
{
    static const struct {
        const char *what;
        struct tg_usage usage;
        int64_t quota;
    } cases[] = {
        {"at the border", {.input = 200000, .output = 1000}, 300000 + 7500},
        {"above it: 1.222506 USD", {.input = 200001, .output = 1000}, 611253},
        {"cached tokens count towards it", {.input = 200001, .cache_read = 200000},
         3 + 60000},
        {"also where input excludes them",
         {.semantics = EXCLUDES, .input = 1, .cache_read = 200000}, 3 + 60000},
        {"so do writes", {.semantics = EXCLUDES, .input = 1, .cache_write_5m = 200000},
         3 + 750000},
        {"output does not", {.input = 200000, .output = 200000}, 300000 + 1500000},
        {"the second one", {.input = 1000001, .output = 2}, 6000006 + 45},
    };

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++)
        if (billed(&tiered, &cases[i].usage, "1") != cases[i].quota)
            fail_msg("%s: %lld", cases[i].what,
                     (long long)billed(&tiered, &cases[i].usage, "1"));
}

static void a_tier_is_named_and_deposited(void **state)
{
    const struct tg_usage usage = {.input = 200001};
    struct tg_deposit_facts facts = {200001, 1000, 1024, 1, "1", "1"};
    struct tg_buf steps;
    int64_t quota;

    (void)state;
    tg_buf_init(&steps, 0);
    assert_int_equal(tg_bill(&tiered, &usage, "1", &steps, &quota), TG_OK);
    assert_non_null(strstr(tg_buf_text(&steps), "\"tier\":\"above 200000\""));
    assert_int_equal(tg_deposit(&tiered, &facts, &quota, NULL), TG_OK);
    assert_int_equal(quota, 611253);
    facts.input_tokens = 200000;
    assert_int_equal(tg_deposit(&tiered, &facts, &quota, NULL), TG_OK);
    assert_int_equal(quota, 307500);
    tg_buf_done(&steps);
}

static void tools_have_prices_of_their_own(void **state)
{
    struct tg_price price = reference;
    struct tg_usage usage = {.input = 2};

    (void)state;
    set_text(price.tool_call, "0.001");
    set_text(price.tools[TG_TOOL_WEB_SEARCH], "0.01");
    set_text(price.tools[TG_TOOL_CODE_INTERPRETER], "0");
    tg_usage_add_tool(&usage, TG_TOOL_WEB_SEARCH, 3);
    tg_usage_add_tool(&usage, TG_TOOL_FILE_SEARCH, 4);
    tg_usage_add_tool(&usage, TG_TOOL_CODE_INTERPRETER, 5);
    usage.tool_calls += 6;
    /* 3 x 5000, 4 x 500 as any tool, 5 for nothing, 6 x 500; the ratio is on all of it */
    assert_int_equal(billed(&price, &usage, "2"), 2 * (3 + 15000 + 2000 + 3000));
}

static void what_was_cut_is_marked(void **state)
{
    static const struct {
        struct tg_usage usage;
        const char *ratio;
        bool clamped;
    } cases[] = {
        {{.input = 5}, "1", false},
        {{.input = -5, .output = 3}, "1", true},
        {{.input = INT64_MAX}, "1", true},
        {{.input = 5, .clamped = true}, "1", true},
        {{.input = TG_USAGE_TOKENS_MAX}, "1", false},
        {{.input = TG_USAGE_TOKENS_MAX}, "99999999", true}, /* the sum is above 9e15 */
    };

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++) {
        struct tg_buf steps;
        int64_t quota;

        tg_buf_init(&steps, 0);
        assert_int_equal(
            tg_bill(&reference, &cases[i].usage, cases[i].ratio, &steps, &quota), TG_OK);
        assert_int_equal(strstr(tg_buf_text(&steps), "\"clamped\":true") != NULL,
                         cases[i].clamped);
        assert_true(quota >= 0 && quota <= TG_QUOTA_MAX);
        tg_buf_done(&steps);
    }
}

static void steps_show_the_sum(void **state)
{
    const struct tg_usage usage = {.input = 280, .cache_read = 260, .output = 8};
    struct tg_buf steps;
    int64_t quota;

    (void)state;
    tg_buf_init(&steps, 0);
    assert_int_equal(tg_bill(&reference, &usage, "0.5", &steps, &quota), TG_OK);
    assert_string_equal(
        tg_buf_text(&steps),
        "{\"ratio\":\"0.5\",\"lines\":["
        "{\"what\":\"input\",\"tokens\":20,\"price\":\"3\",\"quota\":\"30\"},"
        "{\"what\":\"cache_read\",\"tokens\":260,\"price\":\"0.3\",\"quota\":\"39\"},"
        "{\"what\":\"output\",\"tokens\":8,\"price\":\"15\",\"quota\":\"60\"}],"
        "\"exact\":\"64.5\",\"quota\":65}");
    tg_buf_done(&steps);
}

static void a_bad_ratio_or_price_bills_nothing(void **state)
{
    const struct tg_usage usage = {.input = 1};
    struct tg_price bad = reference;
    struct tg_buf steps;
    int64_t quota = 77;

    (void)state;
    tg_buf_init(&steps, 0);
    assert_int_equal(tg_bill(&reference, &usage, "x", &steps, &quota), TG_CLASS_INVALID);
    set_text(bad.rates.cache_read, "-1");
    assert_int_equal(tg_bill(&bad, &usage, "1", &steps, &quota), TG_CLASS_INVALID);
    assert_int_equal(quota, 77);
    assert_int_equal(steps.len, 0);
    tg_buf_done(&steps);
}

static void deposits_hold_the_larger_guess_rounded_up(void **state)
{
    static const struct {
        const char *what;
        struct tg_deposit_facts facts;
        int64_t quota;
    } cases[] = {
        {"500 at least: 750 + 100 * 7.5", {1, 100, 1024, 1, "1", "1"}, 1500},
        {"10000 in, default 1024 out", {10000, 0, 1024, 1, "1", "1"}, 15000 + 7680},
        {"the model's ceiling caps the default only", {10000, 0, 4096, 1, "1", "1"},
         15000 + 2000 * 15 / 2},
        {"asked for more than the ceiling", {500, 3000, 0, 1, "1", "1"}, 750 + 22500},
        {"no output held", {500, 0, 0, 1, "1", "1"}, 750},
        {"rounded up: 751.5 * 0.1", {501, 0, 0, 1, "1", "0.1"}, 76},
        {"factor and ratio", {500, 0, 0, 1, "0.5", "3"}, 1125},
        {"free", {500, 100, 0, 1, "1", "0"}, 0},
        {"absurd", {INT64_MAX, INT64_MAX, 0, 1, "1", "1"}, INT64_C(9000000000)},
        {"negative", {-7, -7, -7, 1, "1", "1"}, 750},
    };
    struct tg_price price = reference;

    (void)state;
    price.max_output_tokens = 2000;
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++) {
        int64_t quota = -1;

        assert_int_equal(tg_deposit(&price, &cases[i].facts, &quota, NULL), TG_OK);
        if (quota != cases[i].quota)
            fail_msg("%s: %lld", cases[i].what, (long long)quota);
    }
}

static void a_deposit_beyond_all_balances_is_no_deposit(void **state)
{
    const struct tg_price price = {.form = TG_PRICE_TOKEN,
                                   .rates = {.input = "1000000", .output = "1000000"}};
    struct tg_deposit_facts facts = {INT64_MAX, 0, 0, 1, "1", "18"};
    struct tg_error err;
    int64_t quota = 77;

    (void)state;
    assert_int_equal(tg_deposit(&price, &facts, &quota, &err), TG_OK);
    assert_true(quota == TG_QUOTA_MAX);
    facts.group_ratio = "18.0000001";
    quota = 77;
    assert_int_equal(tg_deposit(&price, &facts, &quota, &err), TG_CLASS_FUNDS);
    assert_int_equal(quota, 77);
}

static void deposits_per_call_count_calls(void **state)
{
    const struct tg_price price = {.form = TG_PRICE_CALL, .call = "0.04"};
    struct tg_deposit_facts facts = {9999, 9999, 9999, 3, "7", "1.5"};
    int64_t quota = -1;

    (void)state;
    assert_int_equal(tg_deposit(&price, &facts, &quota, NULL), TG_OK);
    assert_int_equal(quota, 3 * 30000);
    facts.calls = 0;
    assert_int_equal(tg_deposit(&price, &facts, &quota, NULL), TG_OK);
    assert_int_equal(quota, 30000);
    facts.group_ratio = "";
    assert_int_equal(tg_deposit(&price, &facts, &quota, NULL), TG_CLASS_INVALID);
}

static void bad_rows_are_refused_with_their_field(void **state)
{
    static const struct {
        struct tg_price price;
        const char *code, *param;
    } cases[] = {
        {{.form = TG_PRICE_FORM__COUNT}, "price_form_unsupported", ""},
        {{.form = TG_PRICE_EXPRESSION}, "price_incomplete", "expression"},
        {{.form = TG_PRICE_TOKEN, .rates.output = "1"}, "price_incomplete", "input"},
        {{.form = TG_PRICE_TOKEN, .rates.input = "1"}, "price_incomplete", "output"},
        {{.form = TG_PRICE_CALL, .rates = {.input = "1", .output = "1"}}, "price_incomplete",
         "call"},
        {{.rates = {.input = "1", .output = "1e3"}}, "price_invalid", "output"},
        {{.rates = {.input = "1", .output = "1", .image = "-2"}}, "price_invalid", "image"},
        {{.rates = {.input = "1000000.1", .output = "1"}}, "price_invalid", "input"},
        {{.rates = {.input = "0.00000000001", .output = "1"}}, "price_invalid", "input"},
        {{.rates = {.input = "1", .output = "1"}, .max_output_tokens = -1}, "price_invalid",
         "max_output_tokens"},
        {{.form = TG_PRICE_TIER, .rates = {.input = "1", .output = "1"}}, "price_incomplete",
         "tiers"},
        {{.form = TG_PRICE_TIER, .rates = {.input = "1", .output = "1"}, .tier_count = 1},
         "price_invalid", "tiers.0.above"},
        {{.form = TG_PRICE_TIER, .rates = {.input = "1", .output = "1"}, .tier_count = 1,
          .tiers = {{10, {.input = "1"}}}}, "price_incomplete", "tiers.0.output"},
        {{.form = TG_PRICE_TIER, .rates = {.input = "1", .output = "1"}, .tier_count = 2,
          .tiers = {{10, {.input = "1", .output = "1"}}, {10, {.input = "1", .output = "1"}}}},
         "price_invalid", "tiers.1.above"},
        {{.form = TG_PRICE_TIER, .rates = {.input = "1", .output = "1", .cache_read = "0.1"},
          .tier_count = 1, .tiers = {{10, {.input = "1", .output = "1"}}}},
         "price_incomplete", "tiers.0.cache_read"},
        {{.rates = {.input = "1", .output = "1"}, .tools = {[TG_TOOL_FILE_SEARCH] = "x"}},
         "price_invalid", "tools.file_search"},
        {{.form = TG_PRICE_EXPRESSION, .expression = "p *"}, "expression_invalid", "expression"},
    };
    struct tg_error err;

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++) {
        assert_int_equal(tg_price_check(&cases[i].price, &err), TG_CLASS_INVALID);
        assert_string_equal(err.code, cases[i].code);
        assert_string_equal(err.param, cases[i].param);
    }
    assert_int_equal(tg_price_check(&reference, NULL), TG_OK);
    assert_int_equal(
        tg_price_check(&(struct tg_price){.rates = {.input = "1000000",
                                                    .output = "0.0000000001"}}, NULL), TG_OK);
}

static void the_hash_follows_every_member(void **state)
{
    struct tg_price a = reference, b = reference;

    (void)state;
    tg_price_hash(&a);
    tg_price_hash(&b);
    assert_string_equal(a.hash, b.hash);
    assert_int_equal(strlen(a.hash), 64);
    set_text(b.rates.cache_read, "0.31");
    tg_price_hash(&b);
    assert_string_not_equal(a.hash, b.hash);
    b = reference;
    set_text(b.rates.audio_in, "0.3"); /* moving a text to another member is another rule */
    tg_price_hash(&b);
    assert_string_not_equal(a.hash, b.hash);
    b = reference; /* the same price otherwise written is the same rule */
    set_text(b.rates.input, "03");
    set_text(b.rates.cache_read, "0.3");
    tg_price_hash(&b);
    assert_string_equal(a.hash, b.hash);
    b = reference;
    b.max_output_tokens = 1;
    tg_price_hash(&b);
    assert_string_not_equal(a.hash, b.hash);
    b = reference;
    b.expression = "p";
    tg_price_hash(&b);
    assert_string_not_equal(a.hash, b.hash);
    b = reference;
    b.tiers[0] = (struct tg_price_tier){200000, reference.rates};
    b.tier_count = 1;
    tg_price_hash(&b);
    assert_string_not_equal(a.hash, b.hash);
    b = reference;
    set_text(b.tools[TG_TOOL_WEB_SEARCH], "0.01");
    tg_price_hash(&b);
    assert_string_not_equal(a.hash, b.hash);
    b = reference; /* where it comes from is no part of it */
    assert_in_range(snprintf(b.vendor, sizeof b.vendor, "somebody"), 1, 32);
    tg_price_hash(&b);
    assert_string_equal(a.hash, b.hash);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bills_equal_hand_arithmetic),
        cmocka_unit_test(kinds_without_a_price_fall_back),
        cmocka_unit_test(calls_have_one_price_and_their_tools),
        cmocka_unit_test(a_tier_holds_for_the_whole_request),
        cmocka_unit_test(a_tier_is_named_and_deposited),
        cmocka_unit_test(tools_have_prices_of_their_own),
        cmocka_unit_test(what_was_cut_is_marked),
        cmocka_unit_test(steps_show_the_sum),
        cmocka_unit_test(a_bad_ratio_or_price_bills_nothing),
        cmocka_unit_test(deposits_hold_the_larger_guess_rounded_up),
        cmocka_unit_test(a_deposit_beyond_all_balances_is_no_deposit),
        cmocka_unit_test(deposits_per_call_count_calls),
        cmocka_unit_test(bad_rows_are_refused_with_their_field),
        cmocka_unit_test(the_hash_follows_every_member),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
