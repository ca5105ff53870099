/* wait - "when again", in all the forms in which vendors write it. Pure.
 *
 *   7, 1.5             seconds (or what the name says: retry-after-ms)
 *   1764500000         the same as a moment: seconds or milliseconds since 1970
 *   6m0s, 20ms, 1h2m   durations
 *   2026-11-30T16:05:00Z, Sun, 06 Nov 1994 08:49:37 GMT    moments
 *
 * What is over comes out as 0 or less; what is absurdly far away as a number that is large.
 *
 * Threads  any.  Blocks  no.  Source  RFC 9110 10.2.3, RFC 3339, vendors' pages.
 */
#ifndef TOLLGATE_RELAY_WAIT_H
#define TOLLGATE_RELAY_WAIT_H

#include "common/base/base.h"

/* A plain number is of <unit_ms>. False: no wait at all. */
bool tg_wait_read(const char *text, int64_t unit_ms, int64_t now_unix_us, int64_t *ret_ms)
    must_check non_null(1, 4);
/* A number as it stands, rounded up; digits behind three are dropped. False: no number. */
bool tg_wait_number(const char *text, int64_t unit_ms, int64_t *ret_ms) must_check non_null(1, 3);
/* RFC 9110 5.6.7, the preferred form. */
bool tg_wait_date(const char *text, int64_t now_unix_us, int64_t *ret_ms) must_check
    non_null(1, 3);
/* "... Please try again in 6m0s.": the first duration behind "again in" or "retry in". */
bool tg_wait_in_words(const char *text, int64_t *ret_ms) must_check non_null(1, 2);

#endif
