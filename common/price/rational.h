/* rational - exact fractions for money before rounding (the only user of GMP).
 *
 * No float ever holds money. Decimal texts are read exactly; the one rounding of a bill is
 * half-up (away from zero) to a whole quota.
 *
 * Threads  a value belongs to one thread.  Blocks  no.
 */
#ifndef TOLLGATE_PRICE_RATIONAL_H
#define TOLLGATE_PRICE_RATIONAL_H

#include "common/base/buf.h"

struct tg_rational; /* heap value */

struct tg_rational *tg_rational_new(void) must_check; /* 0 */
void tg_rational_free(struct tg_rational *value);     /* NULL is fine */
void tg_rational_set_int(struct tg_rational *to, int64_t value) non_null(1);
void tg_rational_set(struct tg_rational *to, const struct tg_rational *from) non_null(1, 2);
/* "2.5", "0.0000001"; no exponent, at most 30 digits, not negative. */
bool tg_rational_set_decimal(struct tg_rational *to, const char *text) must_check non_null(1, 2);
void tg_rational_add(struct tg_rational *to, const struct tg_rational *more) non_null(1, 2);
void tg_rational_mul(struct tg_rational *to, const struct tg_rational *by) non_null(1, 2);
void tg_rational_mul_int(struct tg_rational *to, int64_t by) non_null(1);
void tg_rational_div_int(struct tg_rational *to, int64_t by) non_null(1); /* by != 0 */
void tg_rational_sub(struct tg_rational *to, const struct tg_rational *less) non_null(1, 2);
/* by != 0 */
void tg_rational_div(struct tg_rational *to, const struct tg_rational *by) non_null(1, 2);
void tg_rational_floor(struct tg_rational *to) non_null(1);
void tg_rational_ceil(struct tg_rational *to) non_null(1);
int tg_rational_cmp(const struct tg_rational *a, const struct tg_rational *b) non_null(1, 2);
bool tg_rational_is_zero(const struct tg_rational *value) non_null(1);
bool tg_rational_is_negative(const struct tg_rational *value) non_null(1);
/* Half-up, clamped to +-TG_QUOTA_MAX; *ret_clamped (NULL allowed) tells. */
int64_t tg_rational_round(const struct tg_rational *value, bool *ret_clamped) non_null(1);
/* To the next whole quota upwards (deposits), clamped likewise. */
int64_t tg_rational_round_up(const struct tg_rational *value, bool *ret_clamped) non_null(1);
/* The exact value: "16515", "0.375"; "1/3" for what no decimal can say. */
void tg_rational_write(const struct tg_rational *value, struct tg_buf *out) non_null(1, 2);

#endif
