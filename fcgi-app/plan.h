/* plan - the models a request may be served by, and the upstream calls made for it.
 *
 * Owns  all strings live in the request's arena.
 */
#ifndef TOLLGATE_PLAN_H
#define TOLLGATE_PLAN_H

#include "common/price/price.h"

/* One model of the plan with everything that fixes its price. Set by estimate. */
struct tg_quote {
    const char *model; /* Tollgate's name */
    struct tg_price price;
    const char *group;       /* whose abilities are used */
    const char *group_ratio; /* decimal */
    const char *deposit_factor; /* decimal */
    int64_t deposit_quota;
};

/* One upstream call, for attempts_json. Set by the attempt loop. */
struct tg_attempt {
    int number, tier;
    int64_t channel_id, key_id;
    const char *channel_name, *key_hint, *model, *upstream_model;
    const char *group;
    const char *chosen;     /* pinned, only, priority, repeat, probe */
    const char *effect;     /* breaker_opened, breaker_closed, channel_disable; NULL: none */
    size_t channels_all, channels_resting;
    int status;             /* upstream's, 0 for none */
    const char *error_code; /* NULL: success */
    const char *source;     /* channel, transport, upstream, local */
    const char *action;     /* success, retry, stop */
    const char *reason;     /* of retry_decide */
    int64_t elapsed_us;
    bool maybe_accepted; /* a possible double cost on the upstream's side */
    int64_t unbilled_input, unbilled_output; /* reported by a call that delivered nothing */
    struct tg_attempt *next;
};

#endif
