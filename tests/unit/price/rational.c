/* Exact fractions: decimal texts in, half-up out. */
#include "tests/unit/unit.h"

#include "common/base/money.h"
#include "common/price/rational.h"

static void decimals_are_read_exactly_and_written_back(void **state)
{
    static const struct {
        const char *text, *written;
    } good[] = {
        {"0", "0"},       {"2.5", "2.5"},   {"0.0000001", "0.0000001"}, {"007", "7"},
        {"3.7500", "3.75"}, {".5", "0.5"},  {"12.", "12"},              {"1000000", "1000000"},
        {"999999999999999999999999999999", "999999999999999999999999999999"},
        {"0.00000000000000000000000000001", "0.00000000000000000000000000001"},
    };
    static const char *const bad[] = {"",    ".",   "-1",   "+1",  "1e3", "1,5",
                                      "1.2.3", " 1", "1 ", "0x1", "NaN",
                                      "1234567890123456789012345678901"};
    struct tg_rational *value = tg_rational_new();
    struct tg_buf text;

    (void)state;
    tg_buf_init(&text, 0);
    for (size_t i = 0; i < TG_COUNT_OF(good); i++) {
        assert_true(tg_rational_set_decimal(value, good[i].text));
        tg_buf_reset(&text);
        tg_rational_write(value, &text);
        assert_string_equal(tg_buf_text(&text), good[i].written);
    }
    for (size_t i = 0; i < TG_COUNT_OF(bad); i++)
        assert_false(tg_rational_set_decimal(value, bad[i]));
    tg_buf_done(&text);
    tg_rational_free(value);
}

/* numerator / denominator, rounded both ways. */
static void rounding_is_half_up_away_from_zero(void **state)
{
    static const struct {
        int64_t above, below, half_up, up;
    } cases[] = {
        {0, 1, 0, 0},   {1, 2, 1, 1},     {-1, 2, -1, 0}, {49, 100, 0, 1},  {-49, 100, 0, 0},
        {3, 2, 2, 2},   {-3, 2, -2, -1},  {5, 2, 3, 3},   {1, 3, 0, 1},     {2, 3, 1, 1},
        {7, 1, 7, 7},   {10, 4, 3, 3},    {9, 4, 2, 3},   {-10, 4, -3, -2}, {1, -2, -1, 0},
        {TG_QUOTA_MAX, 1, TG_QUOTA_MAX, TG_QUOTA_MAX},
    };
    struct tg_rational *value = tg_rational_new();

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++) {
        bool clamped = true;

        tg_rational_set_int(value, cases[i].above);
        tg_rational_div_int(value, cases[i].below);
        assert_int_equal(tg_rational_round(value, &clamped), cases[i].half_up);
        assert_false(clamped);
        assert_int_equal(tg_rational_round_up(value, NULL), cases[i].up);
    }
    tg_rational_free(value);
}

static void beyond_the_bound_is_clamped_and_told(void **state)
{
    static const int64_t signs[] = {1, -1};
    struct tg_rational *value = tg_rational_new();

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(signs); i++) {
        bool clamped = false;

        tg_rational_set_int(value, TG_QUOTA_MAX + 1);
        tg_rational_mul_int(value, signs[i]);
        assert_int_equal(tg_rational_round(value, &clamped), signs[i] * TG_QUOTA_MAX);
        assert_true(clamped);
        for (int times = 0; times < 5; times++)
            tg_rational_mul_int(value, INT64_MAX);
        clamped = false;
        assert_int_equal(tg_rational_round(value, &clamped), signs[i] * TG_QUOTA_MAX);
        assert_true(clamped);
    }
    tg_rational_set_int(value, INT64_MIN);
    assert_int_equal(tg_rational_round(value, NULL), -TG_QUOTA_MAX);
    tg_rational_free(value);
}

static void sums_products_and_order(void **state)
{
    struct tg_rational *a = tg_rational_new(), *b = tg_rational_new();
    struct tg_buf text;

    (void)state;
    tg_buf_init(&text, 0);
    assert_true(tg_rational_is_zero(a));
    assert_true(tg_rational_set_decimal(a, "0.1"));
    assert_true(tg_rational_set_decimal(b, "0.2"));
    assert_int_equal(tg_rational_cmp(a, b), -1);
    tg_rational_add(a, b);
    tg_rational_mul(a, b);
    tg_rational_write(a, &text); /* (0.1 + 0.2) * 0.2 */
    assert_string_equal(tg_buf_text(&text), "0.06");
    tg_rational_set(b, a);
    assert_int_equal(tg_rational_cmp(a, b), 0);
    tg_rational_mul_int(b, -1);
    assert_int_equal(tg_rational_cmp(a, b), 1);
    tg_buf_reset(&text);
    tg_rational_write(b, &text);
    assert_string_equal(tg_buf_text(&text), "-0.06");
    tg_rational_set_int(a, 2);
    tg_rational_div_int(a, 6);
    tg_buf_reset(&text);
    tg_rational_write(a, &text);
    assert_string_equal(tg_buf_text(&text), "1/3");
    tg_buf_done(&text);
    tg_rational_free(a);
    tg_rational_free(b);
}

/* The same value, but held by GMP: it has been beyond 64 bits. */
static struct tg_rational *held_large(const struct tg_rational *value)
{
    struct tg_rational *huge = tg_rational_new(), *made = tg_rational_new();

    assert_true(tg_rational_set_decimal(huge, "999999999999999999999999999999"));
    tg_rational_set(made, huge);
    tg_rational_add(made, value);
    tg_rational_sub(made, huge);
    tg_rational_free(huge);
    return made;
}

static uint64_t draw(void)
{
    static uint64_t state = 88172645463325252u; /* xorshift64 */

    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

/* Of all sizes, so that results fit and do not. */
static int64_t draw_int(void)
{
    int64_t value = (int64_t)(draw() >> (1 + draw() % 63));

    return draw() % 2 == 0 ? value : -value;
}

static void draw_value(struct tg_rational *to)
{
    int64_t below = draw_int();

    tg_rational_set_int(to, draw() % 16 == 0 ? INT64_MIN : draw_int());
    if (draw() % 3 == 0)
        tg_rational_div_int(to, below != 0 ? below : 1);
    else if (draw() % 2 == 0)
        tg_rational_div_int(to, 1000000);
}

static void operate(unsigned which, struct tg_rational *to, const struct tg_rational *with,
                    int64_t by)
{
    switch (which) {
    case 0:
        tg_rational_add(to, with);
        break;
    case 1:
        tg_rational_sub(to, with);
        break;
    case 2:
        tg_rational_mul(to, with);
        break;
    case 3:
        if (!tg_rational_is_zero(with))
            tg_rational_div(to, with);
        break;
    case 4:
        tg_rational_mul_int(to, by);
        break;
    case 5:
        tg_rational_div_int(to, by != 0 ? by : INT64_MIN);
        break;
    case 6:
        tg_rational_floor(to);
        break;
    default:
        tg_rational_ceil(to);
        break;
    }
}

static void assert_same(const struct tg_rational *a, const struct tg_rational *b)
{
    struct tg_buf texts[2];
    bool cut[2];

    tg_buf_init(&texts[0], 0);
    tg_buf_init(&texts[1], 0);
    tg_rational_write(a, &texts[0]);
    tg_rational_write(b, &texts[1]);
    assert_string_equal(tg_buf_text(&texts[0]), tg_buf_text(&texts[1]));
    assert_int_equal(tg_rational_round(a, &cut[0]), tg_rational_round(b, &cut[1]));
    assert_int_equal(cut[0], cut[1]);
    assert_int_equal(tg_rational_round_up(a, &cut[0]), tg_rational_round_up(b, &cut[1]));
    assert_int_equal(cut[0], cut[1]);
    assert_int_equal(tg_rational_is_zero(a), tg_rational_is_zero(b));
    assert_int_equal(tg_rational_is_negative(a), tg_rational_is_negative(b));
    assert_int_equal(tg_rational_cmp(a, b), 0);
    tg_buf_done(&texts[0]);
    tg_buf_done(&texts[1]);
}

static void what_fits_64_bits_is_calculated_as_gmp_does(void **state)
{
    struct tg_rational *small = tg_rational_new(), *with = tg_rational_new();

    (void)state;
    for (int round = 0; round < 20000; round++) {
        struct tg_rational *large, *large_with;
        unsigned which = (unsigned)(draw() % 8);
        int64_t by = draw_int();

        draw_value(small);
        draw_value(with);
        large = held_large(small);
        large_with = held_large(with);
        assert_same(small, large);
        assert_int_equal(tg_rational_cmp(small, with), tg_rational_cmp(large, large_with));
        operate(which, small, draw() % 2 == 0 ? with : large_with, by);
        operate(which, large, large_with, by);
        assert_same(small, large);
        tg_rational_free(large);
        tg_rational_free(large_with);
    }
    tg_rational_free(small);
    tg_rational_free(with);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decimals_are_read_exactly_and_written_back),
        cmocka_unit_test(rounding_is_half_up_away_from_zero),
        cmocka_unit_test(beyond_the_bound_is_clamped_and_told),
        cmocka_unit_test(sums_products_and_order),
        cmocka_unit_test(what_fits_64_bits_is_calculated_as_gmp_does),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
