/* Formulas: what they mean, where they are wrong, what a branch costs. */
#include "tests/unit/unit.h"

#include "common/price/expression.h"
#include "common/price/price.h"

#include <string.h>

static const struct tg_rates rates = {.input = "3", .output = "15", .cache_read = "0.3"};

/* 1000 plain, 200 read, 100 + 50 written, 40 images, 30 audio; 500 out of which 20 audio. */
static const struct tg_usage usage = {.semantics = TG_USAGE_INPUT_EXCLUDES_CACHE,
                                      .source = TG_USAGE_UPSTREAM,
                                      .input = 1070,
                                      .cache_read = 200,
                                      .cache_write_5m = 100,
                                      .cache_write_1h = 50,
                                      .image_in = 40,
                                      .audio_in = 30,
                                      .output = 500,
                                      .reasoning = 90,
                                      .audio_out = 20};

static const struct {
    const char *text, *value, *tier;
} formulas[] = {
    {"0", "0", ""},
    {"1 + 2 * 3", "7", ""},
    {"(1 + 2) * 3", "9", ""},
    {"10 - 2 - 3", "5", ""},
    {"100 / 10 / 2", "5", ""},
    {"1 / 3", "1/3", ""},
    {"0.1 + 0.2", "0.3", ""},
    {"-2 + 5", "3", ""},
    {"- - 2", "2", ""},
    {"2*-3", "-6", ""},
    {"ceil(1 / 3) + floor(7 / 2)", "4", ""},
    {"ceil(-1 / 2)", "0", ""},
    {"floor(-1 / 2)", "-1", ""},
    {"min(3, 1, 2) + max(3, 1, 2)", "4", ""},
    {"min(5)", "5", ""},
    {"fixed(0.01)", "10000", ""},
    /* p takes in the kinds that are not named */
    {"p", "1420", ""},
    {"len", "1420", ""},
    {"p + 0 * cr", "1220", ""},
    {"p + 0 * (cr + cw5 + cw1h + img + ai)", "1000", ""},
    {"cr + cw5 * 10 + cw1h * 100 + img * 1000 + ai * 10000", "346200", ""},
    {"c", "500", ""},
    {"c + 0 * ao", "480", ""},
    {"ao", "20", ""},
    {"r", "90", ""},
    {"p * 2.5 + c * 10", "8550", ""},
    {"p * price.input + c * price.output", "11760", ""},
    {"price.cache_read", "0.3", ""},
    {"price.cache_write_5m", "3.75", ""},
    {"price.cache_write_1h + price.audio_out", "21", ""},
    {"len > 1000 ? 1 : 2", "1", ""},
    {"len > 1420 ? 1 : 2", "2", ""},
    {"len >= 1420 ? 1 : 2", "1", ""},
    {"len < 1420 ? 1 : len <= 1420 ? 3 : 4", "3", ""},
    {"len == 1420 && c != 500 ? 1 : 2", "2", ""},
    {"len == 1420 || c != 500 ? 1 : 2", "1", ""},
    {"!(len == 1420) ? 1 : 2", "2", ""},
    {"1 < 2 || 1 / 0 > 1 ? 1 : 2", "1", ""},
    {"p == 0 ? 1 / p : 3", "3", ""},
    {"1 + 1 < 3 ? 2 * 3 : 0", "6", ""},
    {"len > 200000 ? tier(\"long\", p * 5) : tier(\"base\", p * 2)", "2840", "base"},
    {"len > 1000 ? tier(\"long one\", p * 5) : tier(\"base\", p * 2)", "7100", "long one"},
    {" \t\n p\r\n", "1420", ""},
};

static void formulas_have_exact_values(void **state)
{
    const struct tg_expression_input input = {&usage, &rates};

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(formulas); i++) {
        struct tg_rational *value = tg_rational_new();
        char tier[TG_EXPRESSION_TIER_TEXT];
        struct tg_expression *parsed;
        struct tg_error err = {0};
        struct tg_buf text;

        tg_buf_init(&text, 0);
        if (tg_expression_parse(formulas[i].text, &parsed, &err) != TG_OK)
            fail_msg("%s: %s", formulas[i].text, err.message);
        assert_int_equal(tg_expression_value(parsed, &input, value, tier, &err), TG_OK);
        tg_rational_write(value, &text);
        if (strcmp(tg_buf_text(&text), formulas[i].value) != 0)
            fail_msg("%s is %s", formulas[i].text, tg_buf_text(&text));
        assert_string_equal(tier, formulas[i].tier);
        tg_buf_done(&text);
        tg_expression_free(parsed);
        tg_rational_free(value);
    }
}

static void errors_name_their_column(void **state)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"", "column 1: the expression ends too early"},
        {"p *", "column 4: the expression ends too early"},
        {"p * * 2", "column 5: a number, a name or ( is wanted here"},
        {"p 2", "column 3: an operator is wanted here"},
        {"q * 2", "column 1: there is no such name"},
        {"p + price.inputs", "column 5: there is no such name"},
        {"p + price.", "column 5: there is no such name"},
        {"sqrt(p)", "column 1: there is no such function"},
        {"(p + 1", "column 7: a closing parenthesis is wanted here"},
        {"min(p, 1", "column 9: a closing parenthesis is wanted here"},
        {"ceil(p, 1)", "column 7: a closing parenthesis is wanted here"},
        {"p > 1", "column 1: a number is wanted here"},
        {"p + (c > 1)", "column 5: a number is wanted here"},
        {"p ? 1 : 2", "column 1: a comparison is wanted here"},
        {"p > 1 ? 2", "column 10: the : of a choice is wanted here"},
        {"p > 1 ? c > 1 : 2", "column 9: a number is wanted here"},
        {"1 < 2 < 3 ? 1 : 2", "column 1: a number is wanted here"},
        {"!p ? 1 : 2", "column 1: a comparison is wanted here"},
        {"-(1 < 2)", "column 1: a number is wanted here"},
        {"1 && p > 1 ? 1 : 2", "column 1: a comparison is wanted here"},
        {"tier(p, 1)", "column 6: a name in quotation marks is wanted here"},
        {"tier(\"\", 1)", "column 7: a tier's name has 1 to 64 characters and ends with \""},
        {"tier(\"a, 1)", "column 7: a tier's name has 1 to 64 characters and ends with \""},
        {"tier(\"a\")", "column 9: a comma is wanted here"},
        {"1.", "column 2: digits are missing behind the point"},
        {"1.5.2", "column 4: a number is digits with at most one point"},
        {"1e3", "column 2: a number is digits with at most one point"},
        {"2p", "column 2: a number is digits with at most one point"},
        {"1234567890123456789012345678901", "column 1: the number is too long"},
        {"p; c", "column 2: an operator is wanted here"},
        {"p = 1", "column 3: an operator is wanted here"},
    };

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++) {
        struct tg_expression *parsed = NULL;
        struct tg_error err = {0};

        if (tg_expression_parse(cases[i].text, &parsed, &err) == TG_OK)
            fail_msg("%s is taken", cases[i].text);
        assert_string_equal(err.code, "expression_invalid");
        if (strcmp(err.message, cases[i].message) != 0)
            fail_msg("%s: %s", cases[i].text, err.message);
    }
}

static bool parses(const char *text)
{
    struct tg_expression *parsed;
    bool ok = tg_expression_parse(text, &parsed, NULL) == TG_OK;

    if (ok)
        tg_expression_free(parsed);
    return ok;
}

static void size_and_depth_are_bounded(void **state)
{
    char text[TG_EXPRESSION_TEXT + 2];

    (void)state;
    memset(text, '(', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    assert_false(parses(text));
    memset(text, '-', sizeof text - 1);
    assert_false(parses(text));
    for (size_t i = 0; i + 1 < sizeof text; i += 2)
        memcpy(text + i, "1+", 2);
    text[TG_EXPRESSION_TEXT - 1] = '\0';
    assert_false(parses(text)); /* too many nodes */
    text[199] = '\0';
    assert_true(parses(text));
    memset(text, ' ', sizeof text - 1);
    text[0] = 'p';
    text[sizeof text - 1] = '\0';
    assert_false(parses(text));
    text[TG_EXPRESSION_TEXT] = '\0';
    assert_true(parses(text));
}

static void a_division_by_zero_is_an_error_with_its_column(void **state)
{
    const struct tg_usage none = {.source = TG_USAGE_UPSTREAM};
    const struct tg_expression_input input = {&none, &rates};
    struct tg_rational *value = tg_rational_new();
    char tier[TG_EXPRESSION_TIER_TEXT];
    struct tg_expression *parsed;
    struct tg_error err = {0};

    (void)state;
    assert_int_equal(tg_expression_parse("1 + 2 / (p - c)", &parsed, &err), TG_OK);
    assert_int_equal(tg_expression_value(parsed, &input, value, tier, &err), TG_CLASS_INVALID);
    assert_string_equal(err.message, "column 7: a division by zero");
    tg_expression_free(parsed);
    tg_rational_free(value);
}

static void the_dry_run_finds_what_fails_or_is_negative(void **state)
{
    static const struct {
        const char *text, *code;
    } cases[] = {
        {"p * 2 + c * 3", NULL},
        {"p > 0 ? c / p : 0", NULL},
        {"c / p", "expression_invalid"},
        {"len < 200001 ? 1 : 1 / (len - 200001)", "expression_invalid"},
        {"p - c", "expression_negative"},
        {"0 - 1", "expression_negative"},
        {"100 - cr", "expression_negative"},
        {"max(0, p - c)", NULL},
    };

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++) {
        struct tg_price price = {.form = TG_PRICE_EXPRESSION, .expression = cases[i].text};
        struct tg_error err = {0};
        enum tg_class class = tg_price_check_to_save(&price, &err);

        if ((class == TG_OK) != (cases[i].code == NULL))
            fail_msg("%s: %s", cases[i].text, err.message);
        if (cases[i].code != NULL) {
            assert_string_equal(err.code, cases[i].code);
            assert_string_equal(err.param, "expression");
        }
        assert_int_equal(tg_price_check(&price, NULL), TG_OK); /* parses, which is all it asks */
    }
}

static void bills_show_names_and_tier(void **state)
{
    struct tg_price price = {
        .form = TG_PRICE_EXPRESSION,
        .expression = "len > 200000 ? tier(\"long\", p * 6) : tier(\"short\", p * 3 + cr * 0.3)"};
    const struct tg_usage small = {.source = TG_USAGE_UPSTREAM, .input = 1000, .cache_read = 400};
    const struct tg_usage large = {.source = TG_USAGE_UPSTREAM, .input = 200001};
    const struct tg_usage none = {.source = TG_USAGE_NONE};
    struct tg_buf steps;
    int64_t quota;

    (void)state;
    tg_buf_init(&steps, 0);
    /* 600 x 3 + 400 x 0.3 = 1920 USD per million: 960 quota, at half price 480 */
    assert_int_equal(tg_bill(&price, &small, "0.5", &steps, &quota), TG_OK);
    assert_int_equal(quota, 480);
    assert_non_null(strstr(tg_buf_text(&steps), "\"values\":{\"p\":600,\"len\":1000,\"cr\":400}"));
    assert_non_null(strstr(tg_buf_text(&steps), "\"usd_per_million\":\"1920\",\"quota\":\"960\""));
    assert_non_null(strstr(tg_buf_text(&steps), "\"tier\":\"short\",\"exact\":\"480\""));
    assert_int_equal(tg_bill(&price, &large, "1", NULL, &quota), TG_OK);
    assert_int_equal(quota, 600003);
    assert_int_equal(tg_bill(&price, &none, "1", NULL, &quota), TG_OK);
    assert_int_equal(quota, 0);
    tg_buf_done(&steps);
}

static void a_formula_that_fails_or_is_negative_in_earnest(void **state)
{
    struct tg_price price = {.form = TG_PRICE_EXPRESSION, .expression = "100 - p"};
    const struct tg_usage seen = {.source = TG_USAGE_UPSTREAM, .input = 1000};
    struct tg_buf steps;
    int64_t quota = 77;

    (void)state;
    tg_buf_init(&steps, 0);
    assert_int_equal(tg_bill(&price, &seen, "1", &steps, &quota), TG_OK);
    assert_int_equal(quota, 0);
    assert_non_null(strstr(tg_buf_text(&steps), "\"clamped\":true"));
    tg_buf_reset(&steps);
    price.expression = "1 / (p - 1000)";
    quota = 77;
    assert_int_equal(tg_bill(&price, &seen, "1", &steps, &quota), TG_CLASS_INVALID);
    assert_int_equal(quota, 77);
    assert_int_equal(steps.len, 0);
    tg_buf_done(&steps);
}

static void deposits_use_the_estimate(void **state)
{
    struct tg_price price = {.form = TG_PRICE_EXPRESSION,
                             .expression = "len > 2000 ? p * 6 + c * 20 : p * 3 + c * 15"};
    static const struct {
        struct tg_deposit_facts facts;
        int64_t quota;
    } cases[] = {
        {{1, 100, 1024, 1, "1", "1"}, 1500},
        {{1, 100, 1024, 2, "1", "1"}, 2250},
        {{2000, 0, 1000, 1, "1", "1"}, 3000 + 7500},
        {{2001, 0, 1000, 1, "1", "1"}, 6003 + 10000},
        {{2001, 0, 1000, 1, "2", "0.5"}, 6003 + 10000},
        {{2001, 0, 1000, 1, "1", "0"}, 0},
    };

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++) {
        int64_t quota = -1;

        assert_int_equal(tg_deposit(&price, &cases[i].facts, &quota, NULL), TG_OK);
        assert_int_equal(quota, cases[i].quota);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formulas_have_exact_values),
        cmocka_unit_test(errors_name_their_column),
        cmocka_unit_test(size_and_depth_are_bounded),
        cmocka_unit_test(a_division_by_zero_is_an_error_with_its_column),
        cmocka_unit_test(the_dry_run_finds_what_fails_or_is_negative),
        cmocka_unit_test(bills_show_names_and_tier),
        cmocka_unit_test(a_formula_that_fails_or_is_negative_in_earnest),
        cmocka_unit_test(deposits_use_the_estimate),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
