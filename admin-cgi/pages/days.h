/* days - sums by day of a person's own time zone, from the hourly ones.
 *
 * An hour belongs to the day in which it begins, so that single days and a span of days agree.
 *
 * Threads  one.  Blocks  on the log database.
 */
#ifndef TOLLGATE_PAGES_DAYS_H
#define TOLLGATE_PAGES_DAYS_H

#include "admin-cgi/web/page.h"
#include "common/store/usage_sum.h"

enum { PAGE_DAYS_MOST = 366 };

/* <key>: [{"label": "2026-11-30", "requests": …}], one for each day of the span, in order; days
 * without use too. page->log_db is open; <filter> has both ends. */
enum tg_class page_put_days(struct web_page *page, const char *key,
                            const struct tg_usage_filter *filter) must_check non_null(1, 2, 3);

/* The moment at which the day that begins at <begin> is over: days have 23 to 25 hours. */
int64_t page_day_end(const struct web_page *page, int64_t begin_unix_us) must_check non_null(1);

#endif
