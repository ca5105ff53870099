/* select - which candidate is next? Pure.
 *
 * Tiers are the distinct priorities, descending; the number of failed channels is the tier index,
 * clamped at the last tier, where untried channels of any tier (highest first) come before any
 * repeat. Within a tier: untried before tried, native before converted when asked for, then a
 * weighted draw: weight x 100, all zero = 100 each; a zero weight beside positive ones is a last
 * resort. Source  SCHEDULING "Choosing".
 *
 * Threads  any.
 */
#ifndef TOLLGATE_ROUTE_SELECT_H
#define TOLLGATE_ROUTE_SELECT_H

#include "common/base/base.h"

struct tg_candidate {
    int64_t channel_id, priority, weight;
    bool tried, native, excluded; /* excluded: breaker, no key, refused by policy */
};

struct tg_selection {
    size_t index; /* into the candidates */
    int tier;
};

/* <draw> is uniform in [0, 2^32). False: nothing is left. */
bool tg_select(const struct tg_candidate *candidates, size_t count, int failed_channels,
               uint32_t draw, struct tg_selection *ret) must_check non_null(5);

#endif
