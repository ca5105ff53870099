/* retry - what to do after a failed attempt. Pure: facts in, decision out.
 *
 * The order of the branches is the table of SCHEDULING "The attempt loop"; the classification of
 * the error (relay/classify.h) came before and may have replaced the status.
 *
 * Threads  any.
 */
#ifndef TOLLGATE_RELAY_RETRY_H
#define TOLLGATE_RELAY_RETRY_H

#include "common/base/error.h"
#include "common/conf/units.h"

struct tg_retry_facts {
    const struct tg_error *error;
    bool content_sent, client_gone, strict_session, pinned;
    bool repeats_spent; /* the channel has had its share of repeats in these seconds */
    int attempts_made, attempts_most; /* in this model's loop */
    size_t channels_left;             /* candidates not tried yet */
    size_t channels_all;
    int64_t now_us, deadline_at_us, delay_us; /* delay: before the next attempt */
    const struct tg_status_ranges *statuses;
};

enum tg_retry_action { TG_RETRY_STOP, TG_RETRY_AGAIN };

struct tg_retry_decision {
    enum tg_retry_action action;
    const char *reason; /* committed, client_gone, strict_session, pinned, channel_error,
                           not_retryable, budget, excluded, transport, status,
                           status_not_retryable */
};

struct tg_retry_decision tg_retry_decide(const struct tg_retry_facts *facts) must_check non_null(1);

#endif
