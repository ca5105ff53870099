/* period - when a plan's next period ends: the rules of calendars, in one place.
 *
 *   daily     at the next midnight of the zone
 *   weekly    at the next midnight that begins a Monday
 *   monthly   at the next midnight that begins a first
 *   90m, 3600 a duration, counted on from the end before: "from start"
 *
 * Source   LEDGER "Funding and credits", AMENDMENTS L8; zone.h.
 * Pure.    Threads  any.  Blocks  no.
 */
#ifndef TOLLGATE_LEDGER_PERIOD_H
#define TOLLGATE_LEDGER_PERIOD_H

#include "common/base/zone.h"

/* The first end behind <now_s>, in seconds; <end_s> is an end of before. False: not a period. */
bool tg_period_next_end(const char *period, const struct tg_zone *zone, int64_t end_s,
                        int64_t now_s, int64_t *ret_s) must_check non_null(1, 2, 5);

#endif
