/* carrier - where a client may carry its token, and which carrier counts.
 *
 * Tools mix the vendors' carriers freely, so all are looked at on every path, in this order:
 * x-api-key, x-goog-api-key, ?key=, Authorization (Bearer or bare), and mj-api-secret when
 * Authorization is absent, empty or the literal "midjourney-proxy". The first that looks like a
 * token of ours counts; a tool that also sends another vendor's key is served all the same.
 *
 * Pure.  Threads  any.
 */
#ifndef TOLLGATE_ACCESS_CARRIER_H
#define TOLLGATE_ACCESS_CARRIER_H

#include "common/base/arena.h"

struct tg_carriers {
    const char *x_api_key, *x_goog_api_key, *query, *authorization, *mj_api_secret; /* or NULL */
};

struct tg_carried {
    struct tg_span token;      /* without the pin */
    int64_t pinned_channel_id; /* "-<digits>" behind the token; 0: none */
};

/* False: nothing that looks like a token. Borrows from the carriers and the arena. */
bool tg_carrier_token(struct tg_arena *arena, const struct tg_carriers *carriers,
                      struct tg_carried *ret) must_check non_null(1, 2, 3);

#endif
