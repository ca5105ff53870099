/* money - the integer that all balances are kept in.
 *
 * 1 USD = 500,000 quota. Amounts and balances are bounded to +-9e15 (18 billion USD) at every
 * door: below 2^53, so that a Redis script handles them exactly (AMENDMENTS L9). Fractions of
 * a quota exist only inside price/ as exact rationals.
 *
 * Threads  any.  Blocks  no.
 */
#ifndef TOLLGATE_BASE_MONEY_H
#define TOLLGATE_BASE_MONEY_H

#include "common/base/base.h"

#define TG_QUOTA_PER_USD INT64_C(500000)
#define TG_QUOTA_MAX INT64_C(9000000000000000)

/* Reads "12.5", "-0.000002" (USD) exactly; refuses what is no whole quota or out of bounds. */
bool tg_usd_parse(const char *text, int64_t *ret_quota) must_check non_null(1, 2);
enum { TG_USD_TEXT = 32 };
/* "12.500000": six places always, so that one quota (0.000002) is never rounded away. */
void tg_usd_format(int64_t quota, char text[TG_USD_TEXT]);

#endif
