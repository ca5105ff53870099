/* fraction - an exact fraction in two 64-bit integers, for the sizes that money nearly always has.
 *
 * In lowest terms, <below> positive. What would not fit answers false and changes nothing: then
 * rational.h, the only user, goes on with GMP, and the result is the same.
 *
 * Threads  any (values).  Blocks  no.
 */
#ifndef TOLLGATE_PRICE_FRACTION_H
#define TOLLGATE_PRICE_FRACTION_H

#include "common/base/base.h"

struct tg_fraction {
    int64_t above, below;
};

enum { TG_FRACTION_TEXT = 48 };

bool tg_fraction_make(int64_t above, int64_t below, struct tg_fraction *ret) must_check
    non_null(3); /* below != 0 */
/* As tg_rational_set_decimal; false also for what is no decimal. */
bool tg_fraction_read(const char *text, struct tg_fraction *ret) must_check non_null(1, 2);
bool tg_fraction_add(struct tg_fraction *to, const struct tg_fraction *more) must_check
    non_null(1, 2);
bool tg_fraction_mul(struct tg_fraction *to, const struct tg_fraction *by) must_check
    non_null(1, 2);
struct tg_fraction tg_fraction_negative(const struct tg_fraction *of) non_null(1);
/* 1 / of, which is not 0. */
struct tg_fraction tg_fraction_inverse(const struct tg_fraction *of) non_null(1);
int64_t tg_fraction_floor(const struct tg_fraction *value) non_null(1);
int64_t tg_fraction_ceil(const struct tg_fraction *value) non_null(1);
int64_t tg_fraction_round(const struct tg_fraction *value) non_null(1); /* half away from zero */
/* As tg_rational_write. */
bool tg_fraction_write(const struct tg_fraction *value, char text[TG_FRACTION_TEXT]) must_check
    non_null(1);

#endif
