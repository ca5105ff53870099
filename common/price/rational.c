#include "common/price/rational.h"

#include "common/base/buf.h"
#include "common/base/memory.h"
#include "common/base/money.h"
#include "common/price/fraction.h"

#include <gmp.h>
#include <stdlib.h>
#include <string.h>

enum { DIGITS_MAX = 30 };

/* GMP's value is there only while <small> cannot hold it. */
struct tg_rational {
    bool large;
    struct tg_fraction small;
    mpq_t value;
};

struct tg_rational *tg_rational_new(void)
{
    struct tg_rational *made = tg_malloc(sizeof(*made));

    made->large = false;
    made->small = (struct tg_fraction){0, 1};
    return made;
}

static void make_small(struct tg_rational *value, struct tg_fraction small)
{
    if (value->large)
        mpq_clear(value->value);
    value->large = false;
    value->small = small;
}

void tg_rational_free(struct tg_rational *value)
{
    if (value == NULL)
        return;
    if (value->large)
        mpq_clear(value->value);
    free(value);
}

/* GMP's own setters take a long, which is 32 bits on some machines. */
static void integer_from(mpz_t to, int64_t value)
{
    uint64_t size = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;

    mpz_import(to, 1, 1, sizeof(size), 0, 0, &size);
    if (value < 0)
        mpz_neg(to, to);
}

static void make_large(struct tg_rational *value)
{
    if (value->large)
        return;
    mpq_init(value->value);
    integer_from(mpq_numref(value->value), value->small.above);
    integer_from(mpq_denref(value->value), value->small.below);
    value->large = true;
}

void tg_rational_set_int(struct tg_rational *to, int64_t value)
{
    if (value != INT64_MIN) {
        make_small(to, (struct tg_fraction){value, 1});
        return;
    }
    make_large(to);
    integer_from(mpq_numref(to->value), value);
    mpz_set_ui(mpq_denref(to->value), 1);
}

void tg_rational_set(struct tg_rational *to, const struct tg_rational *from)
{
    if (!from->large) {
        make_small(to, from->small);
        return;
    }
    make_large(to);
    mpq_set(to->value, from->value);
}

static bool set_long_decimal(struct tg_rational *to, const char *text)
{
    char digits[DIGITS_MAX + 1];
    size_t count = 0, fraction = 0;
    bool point = false;

    for (; *text != '\0'; text++) {
        if (*text == '.' && !point) {
            point = true;
            continue;
        }
        if (*text < '0' || *text > '9' || count == DIGITS_MAX)
            return false;
        digits[count++] = *text;
        fraction += point;
    }
    if (count == 0)
        return false;
    digits[count] = '\0';
    make_large(to);
    mpz_set_str(mpq_numref(to->value), digits, 10);
    mpz_ui_pow_ui(mpq_denref(to->value), 10, fraction);
    mpq_canonicalize(to->value);
    return true;
}

bool tg_rational_set_decimal(struct tg_rational *to, const char *text)
{
    struct tg_fraction small;

    if (strlen(text) > DIGITS_MAX || !tg_fraction_read(text, &small))
        return set_long_decimal(to, text);
    make_small(to, small);
    return true;
}

/* Calculates in GMP; <with> may be small, and stays so. */
static void calculate(struct tg_rational *to, const struct tg_rational *with,
                      void (*operation)(mpq_ptr, mpq_srcptr, mpq_srcptr))
{
    struct tg_rational other = {.large = false, .small = with->small};

    make_large(to);
    if (with->large) {
        operation(to->value, to->value, with->value);
        return;
    }
    make_large(&other);
    operation(to->value, to->value, other.value);
    mpq_clear(other.value);
}

static bool both_small(const struct tg_rational *a, const struct tg_rational *b)
{
    return !a->large && !b->large;
}

void tg_rational_add(struct tg_rational *to, const struct tg_rational *more)
{
    if (!both_small(to, more) || !tg_fraction_add(&to->small, &more->small))
        calculate(to, more, mpq_add);
}

void tg_rational_sub(struct tg_rational *to, const struct tg_rational *less)
{
    const struct tg_fraction more = tg_fraction_negative(&less->small);

    if (!both_small(to, less) || !tg_fraction_add(&to->small, &more))
        calculate(to, less, mpq_sub);
}

void tg_rational_mul(struct tg_rational *to, const struct tg_rational *by)
{
    if (!both_small(to, by) || !tg_fraction_mul(&to->small, &by->small))
        calculate(to, by, mpq_mul);
}

void tg_rational_div(struct tg_rational *to, const struct tg_rational *by)
{
    struct tg_fraction inverse = {0, 1};

    tg_assert(!tg_rational_is_zero(by));
    if (!by->large)
        inverse = tg_fraction_inverse(&by->small);
    if (!both_small(to, by) || !tg_fraction_mul(&to->small, &inverse))
        calculate(to, by, mpq_div);
}

void tg_rational_mul_int(struct tg_rational *to, int64_t by)
{
    struct tg_rational factor = {.large = false};

    tg_rational_set_int(&factor, by);
    tg_rational_mul(to, &factor);
    make_small(&factor, (struct tg_fraction){0, 1});
}

void tg_rational_div_int(struct tg_rational *to, int64_t by)
{
    struct tg_rational divisor = {.large = false};

    tg_rational_set_int(&divisor, by);
    tg_rational_div(to, &divisor);
    make_small(&divisor, (struct tg_fraction){0, 1});
}

int tg_rational_cmp(const struct tg_rational *a, const struct tg_rational *b)
{
    struct tg_rational *difference = tg_rational_new();
    int order;

    tg_rational_set(difference, a);
    tg_rational_sub(difference, b);
    order = tg_rational_is_zero(difference) ? 0 : tg_rational_is_negative(difference) ? -1 : 1;
    tg_rational_free(difference);
    return order;
}

void tg_rational_floor(struct tg_rational *to)
{
    if (!to->large) {
        to->small = (struct tg_fraction){tg_fraction_floor(&to->small), 1};
        return;
    }
    mpz_fdiv_q(mpq_numref(to->value), mpq_numref(to->value), mpq_denref(to->value));
    mpz_set_ui(mpq_denref(to->value), 1);
}

void tg_rational_ceil(struct tg_rational *to)
{
    if (!to->large) {
        to->small = (struct tg_fraction){tg_fraction_ceil(&to->small), 1};
        return;
    }
    mpz_cdiv_q(mpq_numref(to->value), mpq_numref(to->value), mpq_denref(to->value));
    mpz_set_ui(mpq_denref(to->value), 1);
}

bool tg_rational_is_zero(const struct tg_rational *value)
{
    return value->large ? mpq_sgn(value->value) == 0 : value->small.above == 0;
}

bool tg_rational_is_negative(const struct tg_rational *value)
{
    return value->large ? mpq_sgn(value->value) < 0 : value->small.above < 0;
}

/* Cut to +-TG_QUOTA_MAX. */
static int64_t bounded(int64_t value, bool *ret_clamped)
{
    int64_t cut = TG_MAX(-TG_QUOTA_MAX, TG_MIN(value, TG_QUOTA_MAX));

    if (ret_clamped != NULL)
        *ret_clamped = cut != value;
    return cut;
}

/* An integer as int64, cut to +-TG_QUOTA_MAX. */
static int64_t clamped(const mpz_t whole, bool *ret_clamped)
{
    bool cut = mpz_sizeinbase(whole, 2) > 62;
    uint64_t size = 0;
    int64_t value = TG_QUOTA_MAX;

    if (!cut) {
        mpz_export(&size, NULL, 1, sizeof(size), 0, 0, whole);
        cut = size > (uint64_t)TG_QUOTA_MAX;
    }
    if (!cut)
        value = (int64_t)size;
    if (ret_clamped != NULL)
        *ret_clamped = cut;
    return mpz_sgn(whole) < 0 ? -value : value;
}

int64_t tg_rational_round(const struct tg_rational *value, bool *ret_clamped)
{
    int64_t rounded;
    mpz_t whole, twice;

    if (!value->large)
        return bounded(tg_fraction_round(&value->small), ret_clamped);
    /* floor((2n + d) / 2d) on the absolute value is half-up away from zero. */
    mpz_inits(whole, twice, NULL);
    mpz_abs(whole, mpq_numref(value->value));
    mpz_mul_2exp(whole, whole, 1);
    mpz_add(whole, whole, mpq_denref(value->value));
    mpz_mul_2exp(twice, mpq_denref(value->value), 1);
    mpz_fdiv_q(whole, whole, twice);
    if (mpq_sgn(value->value) < 0)
        mpz_neg(whole, whole);
    rounded = clamped(whole, ret_clamped);
    mpz_clears(whole, twice, NULL);
    return rounded;
}

int64_t tg_rational_round_up(const struct tg_rational *value, bool *ret_clamped)
{
    int64_t rounded;
    mpz_t whole;

    if (!value->large)
        return bounded(tg_fraction_ceil(&value->small), ret_clamped);
    mpz_init(whole);
    mpz_cdiv_q(whole, mpq_numref(value->value), mpq_denref(value->value));
    rounded = clamped(whole, ret_clamped);
    mpz_clear(whole);
    return rounded;
}

/* The smallest n with <denominator> dividing 10^n, or -1: the fraction has no end. */
static long decimal_places(const mpz_t denominator)
{
    unsigned long twos = mpz_scan1(denominator, 0), fives;
    mpz_t rest, five;

    mpz_inits(rest, five, NULL);
    mpz_fdiv_q_2exp(rest, denominator, twos);
    mpz_set_ui(five, 5);
    fives = mpz_remove(rest, rest, five);
    if (mpz_cmp_ui(rest, 1) != 0)
        twos = fives = (unsigned long)-1;
    mpz_clears(rest, five, NULL);
    return (long)TG_MAX(twos, fives);
}

static void write_integer(const mpz_t value, struct tg_buf *out)
{
    char *text = tg_malloc(mpz_sizeinbase(value, 10) + 2);

    tg_buf_str(out, mpz_get_str(text, 10, value));
    free(text);
}

static void write_large(const mpq_t value, struct tg_buf *out)
{
    long places = decimal_places(mpq_denref(value));
    size_t from = out->len + (mpq_sgn(value) < 0), digits;
    mpz_t scaled;

    if (places <= 0) {
        write_integer(mpq_numref(value), out);
        if (places < 0) {
            tg_buf_char(out, '/');
            write_integer(mpq_denref(value), out);
        }
        return;
    }
    mpz_init(scaled);
    mpz_ui_pow_ui(scaled, 10, (unsigned long)places);
    mpz_mul(scaled, scaled, mpq_numref(value));
    mpz_divexact(scaled, scaled, mpq_denref(value));
    write_integer(scaled, out);
    mpz_clear(scaled);
    /* Leading zeros and the point, so that 5 with 3 places reads 0.005. */
    for (digits = out->len - from; !out->failed && digits <= (size_t)places; digits++) {
        tg_buf_char(out, '0');
        if (!out->failed) {
            memmove(out->data + from + 1, out->data + from, out->len - from - 1);
            out->data[from] = '0';
        }
    }
    tg_buf_char(out, '.');
    if (!out->failed) {
        char *point = out->data + out->len - 1 - places;

        memmove(point + 1, point, (size_t)places);
        *point = '.';
    }
}

void tg_rational_write(const struct tg_rational *value, struct tg_buf *out)
{
    struct tg_rational copy = {.large = false, .small = value->small};
    char text[TG_FRACTION_TEXT];

    if (value->large) {
        write_large(value->value, out);
    } else if (tg_fraction_write(&value->small, text)) {
        tg_buf_str(out, text);
    } else {
        make_large(&copy);
        write_large(copy.value, out);
        mpq_clear(copy.value);
    }
}
