/* clock - the two clocks, and their text.
 *
 * Durations and deadlines use the monotonic clock (`_at_us`); records use the wall clock
 * (`_unix_us`). The two are never mixed.
 *
 * Threads  any.  Blocks  no, except tg_clock_sleep_us.
 */
#ifndef TOLLGATE_BASE_CLOCK_H
#define TOLLGATE_BASE_CLOCK_H

#include "common/base/base.h"

int64_t tg_now_us(void);      /* monotonic */
int64_t tg_unix_us(void);     /* wall clock */
void tg_clock_sleep_us(int64_t duration_us);

/* "2026-11-30T16:05:00.123456Z"; <text> must hold TG_TIME_TEXT bytes. */
enum { TG_TIME_TEXT = 28 };
void tg_time_format(int64_t unix_us, char text[TG_TIME_TEXT]);
/* As MySQL's DATETIME(6): "2026-11-30 16:05:00.123456". */
void tg_time_format_sql(int64_t unix_us, char text[TG_TIME_TEXT]);
/* Reads RFC 3339 in UTC ("2027-01-31T00:00:00Z", fraction optional, 'T' or blank). */
bool tg_time_parse(const char *text, int64_t *ret_unix_us) must_check non_null(1, 2);

#endif
