/* select - which candidate is next? Pure.
 *
 * Candidates stand by priority, highest first, as the index holds them. Tiers are the distinct
 * priorities of what is not excluded; the number of failed channels is the tier index, clamped at
 * the last tier, where untried channels of any tier (highest first) come before any repeat. Within
 * a tier: untried before tried, native before converted when asked for, then a weighted draw:
 * by weight, all alike when all are zero; a zero weight beside positive ones is a last resort.
 *
 * spend_free_first ranks instead of drawing: what has a key with a cap and room left, most room
 * first, then what has no cap, by the draw. Source  SCHEDULING "Choosing".
 *
 * Threads  any.
 */
#ifndef TOLLGATE_ROUTE_SELECT_H
#define TOLLGATE_ROUTE_SELECT_H

#include "common/base/base.h"

struct tg_candidate {
    int64_t channel_id, priority, weight;
    bool tried, native, excluded; /* excluded: breaker, no key, refused by policy */
    int64_t room; /* left below the cap of a key, in one measure for all; 0: no cap */
};

struct tg_select_wish {
    int failed_channels; /* in this model and group */
    bool spend_free_first;
    uint32_t draw; /* uniform */
};

struct tg_selection {
    size_t index; /* into the candidates */
    int tier;
};

/* False: nothing is left. */
bool tg_select(const struct tg_candidate *candidates, size_t count,
               const struct tg_select_wish *wish, struct tg_selection *ret) must_check
    non_null(3, 4);

#endif
