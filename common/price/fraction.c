#include "common/price/fraction.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { PLACES_MOST = 18 }; /* 10^18 fits */

static int64_t greatest_divisor(int64_t a, int64_t b)
{
    while (b != 0) {
        int64_t rest = a % b;

        a = b;
        b = rest;
    }
    return a < 0 ? -a : a;
}

static int64_t power_of_ten(int exponent)
{
    int64_t power = 1;

    while (exponent-- > 0)
        power *= 10;
    return power;
}

bool tg_fraction_make(int64_t above, int64_t below, struct tg_fraction *ret)
{
    int64_t divisor;

    tg_assert(below != 0);
    if (above == INT64_MIN || below == INT64_MIN)
        return false; /* have no opposite */
    divisor = greatest_divisor(above, below);
    if (below < 0)
        divisor = -divisor;
    *ret = (struct tg_fraction){above / divisor, below / divisor};
    return true;
}

bool tg_fraction_read(const char *text, struct tg_fraction *ret)
{
    int64_t digits = 0;
    int places = 0;
    bool point = false, any = false;

    for (; *text != '\0'; text++) {
        if (*text == '.' && !point) {
            point = true;
            continue;
        }
        if (*text < '0' || *text > '9' || digits > (INT64_MAX - 9) / 10)
            return false;
        digits = digits * 10 + (*text - '0');
        any = true;
        if (point && ++places > PLACES_MOST)
            return false;
    }
    return any && tg_fraction_make(digits, power_of_ten(places), ret);
}

bool tg_fraction_add(struct tg_fraction *to, const struct tg_fraction *more)
{
    int64_t common = greatest_divisor(to->below, more->below), a, b, above, below;

    if (__builtin_mul_overflow(to->above, more->below / common, &a) ||
        __builtin_mul_overflow(more->above, to->below / common, &b) ||
        __builtin_add_overflow(a, b, &above) ||
        __builtin_mul_overflow(to->below, more->below / common, &below))
        return false;
    return tg_fraction_make(above, below, to);
}

/* Reduced crosswise first: the products are in lowest terms then. */
bool tg_fraction_mul(struct tg_fraction *to, const struct tg_fraction *by)
{
    int64_t down = greatest_divisor(to->above, by->below);
    int64_t up = greatest_divisor(by->above, to->below);
    struct tg_fraction product;

    if (__builtin_mul_overflow(to->above / down, by->above / up, &product.above) ||
        __builtin_mul_overflow(to->below / up, by->below / down, &product.below) ||
        product.above == INT64_MIN)
        return false;
    *to = product;
    return true;
}

struct tg_fraction tg_fraction_negative(const struct tg_fraction *of)
{
    return (struct tg_fraction){-of->above, of->below};
}

struct tg_fraction tg_fraction_inverse(const struct tg_fraction *of)
{
    tg_assert(of->above != 0);
    return of->above > 0 ? (struct tg_fraction){of->below, of->above}
                         : (struct tg_fraction){-of->below, -of->above};
}

int64_t tg_fraction_floor(const struct tg_fraction *value)
{
    return value->above / value->below - (value->above % value->below < 0);
}

int64_t tg_fraction_ceil(const struct tg_fraction *value)
{
    return value->above / value->below + (value->above % value->below > 0);
}

int64_t tg_fraction_round(const struct tg_fraction *value)
{
    int64_t whole = value->above / value->below, rest = value->above % value->below;
    int64_t size = rest < 0 ? -rest : rest;

    if (size < value->below - size)
        return whole;
    return rest < 0 ? whole - 1 : whole + 1;
}

/* The smallest n with <below> dividing 10^n; -1: there is none, or it is too large. */
static int decimal_places(int64_t below)
{
    int twos = 0, fives = 0, most;

    for (; below % 2 == 0; below /= 2)
        twos++;
    for (; below % 5 == 0; below /= 5)
        fives++;
    most = TG_MAX(twos, fives);
    return below == 1 && most <= PLACES_MOST ? most : -1;
}

bool tg_fraction_write(const struct tg_fraction *value, char text[TG_FRACTION_TEXT])
{
    int places = decimal_places(value->below);
    int64_t scaled, whole, size = value->above < 0 ? -value->above : value->above;

    if (places < 0)
        return false;
    if (__builtin_mul_overflow(size, power_of_ten(places) / value->below, &scaled))
        return false;
    whole = scaled / power_of_ten(places);
    if (places == 0)
        snprintf(text, TG_FRACTION_TEXT, "%s%" PRId64, value->above < 0 ? "-" : "", whole);
    else
        snprintf(text, TG_FRACTION_TEXT, "%s%" PRId64 ".%0*" PRId64, value->above < 0 ? "-" : "",
                 whole, places, scaled % power_of_ten(places));
    return true;
}
