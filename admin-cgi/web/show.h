/* show - moments, amounts and numbers as people read them. Pure but for the zone's file.
 *
 * Threads  one (a zone is set in the process's environment).  Blocks  on the zone's file.
 */
#ifndef TOLLGATE_WEB_SHOW_H
#define TOLLGATE_WEB_SHOW_H

#include "common/base/buf.h"

/* "2026-11-30T16:05:00.123456Z" as "2026-11-30 17:05:00" in <zone> ("UTC", "Europe/Berlin"); what
 * is no moment stays as it is. An unknown zone counts as UTC. */
void web_show_time(struct tg_buf *out, const char *text, const char *zone) non_null(1, 2, 3);
/* Is it a zone that this machine knows? */
bool web_zone_ok(const char *zone) must_check non_null(1);
/* Quota as USD: at least two places, as many as it takes ("0.000002"). */
void web_show_usd(struct tg_buf *out, int64_t quota) non_null(1);
/* Microseconds as seconds, with three places: "0.042". */
void web_show_seconds(struct tg_buf *out, int64_t duration_us) non_null(1);
/* "1,234,567" */
void web_show_number(struct tg_buf *out, int64_t number) non_null(1);

#endif
