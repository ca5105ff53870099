#include "common/price/rational.h"

#include "common/base/buf.h"
#include "common/base/memory.h"
#include "common/base/money.h"

#include <gmp.h>
#include <stdlib.h>
#include <string.h>

enum { DIGITS_MAX = 30 };

struct tg_rational {
    mpq_t value;
};

struct tg_rational *tg_rational_new(void)
{
    struct tg_rational *made = tg_malloc(sizeof(*made));

    mpq_init(made->value);
    return made;
}

void tg_rational_free(struct tg_rational *value)
{
    if (value == NULL)
        return;
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

void tg_rational_set_int(struct tg_rational *to, int64_t value)
{
    integer_from(mpq_numref(to->value), value);
    mpz_set_ui(mpq_denref(to->value), 1);
}

void tg_rational_set(struct tg_rational *to, const struct tg_rational *from)
{
    mpq_set(to->value, from->value);
}

bool tg_rational_set_decimal(struct tg_rational *to, const char *text)
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
    mpz_set_str(mpq_numref(to->value), digits, 10);
    mpz_ui_pow_ui(mpq_denref(to->value), 10, fraction);
    mpq_canonicalize(to->value);
    return true;
}

void tg_rational_add(struct tg_rational *to, const struct tg_rational *more)
{
    mpq_add(to->value, to->value, more->value);
}

void tg_rational_mul(struct tg_rational *to, const struct tg_rational *by)
{
    mpq_mul(to->value, to->value, by->value);
}

void tg_rational_mul_int(struct tg_rational *to, int64_t by)
{
    mpz_t factor;

    mpz_init(factor);
    integer_from(factor, by);
    mpz_mul(mpq_numref(to->value), mpq_numref(to->value), factor);
    mpq_canonicalize(to->value);
    mpz_clear(factor);
}

void tg_rational_div_int(struct tg_rational *to, int64_t by)
{
    mpz_t divisor;

    tg_assert(by != 0);
    mpz_init(divisor);
    integer_from(divisor, by);
    mpz_mul(mpq_denref(to->value), mpq_denref(to->value), divisor);
    mpq_canonicalize(to->value); /* moves the sign to the numerator */
    mpz_clear(divisor);
}

int tg_rational_cmp(const struct tg_rational *a, const struct tg_rational *b)
{
    int order = mpq_cmp(a->value, b->value);

    return (order > 0) - (order < 0);
}

void tg_rational_sub(struct tg_rational *to, const struct tg_rational *less)
{
    mpq_sub(to->value, to->value, less->value);
}

void tg_rational_div(struct tg_rational *to, const struct tg_rational *by)
{
    tg_assert(mpq_sgn(by->value) != 0);
    mpq_div(to->value, to->value, by->value);
}

void tg_rational_floor(struct tg_rational *to)
{
    mpz_fdiv_q(mpq_numref(to->value), mpq_numref(to->value), mpq_denref(to->value));
    mpz_set_ui(mpq_denref(to->value), 1);
}

void tg_rational_ceil(struct tg_rational *to)
{
    mpz_cdiv_q(mpq_numref(to->value), mpq_numref(to->value), mpq_denref(to->value));
    mpz_set_ui(mpq_denref(to->value), 1);
}

bool tg_rational_is_zero(const struct tg_rational *value)
{
    return mpq_sgn(value->value) == 0;
}

bool tg_rational_is_negative(const struct tg_rational *value)
{
    return mpq_sgn(value->value) < 0;
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

void tg_rational_write(const struct tg_rational *value, struct tg_buf *out)
{
    long places = decimal_places(mpq_denref(value->value));
    size_t from = out->len + (mpq_sgn(value->value) < 0), digits;
    mpz_t scaled;

    if (places <= 0) {
        write_integer(mpq_numref(value->value), out);
        if (places < 0) {
            tg_buf_char(out, '/');
            write_integer(mpq_denref(value->value), out);
        }
        return;
    }
    mpz_init(scaled);
    mpz_ui_pow_ui(scaled, 10, (unsigned long)places);
    mpz_mul(scaled, scaled, mpq_numref(value->value));
    mpz_divexact(scaled, scaled, mpq_denref(value->value));
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
