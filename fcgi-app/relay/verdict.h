/* verdict - does an upstream's refusal mean that the channel is to be disabled? Pure.
 *
 * It does when the upstream said so itself, by a status of auto_disable.statuses or a phrase of
 * auto_disable.phrases, and the request cannot be to blame: not for an unknown model (404), and not
 * for a phrase that the client wrote and the upstream only repeated.
 *
 * Threads  any.
 */
#ifndef TOLLGATE_RELAY_VERDICT_H
#define TOLLGATE_RELAY_VERDICT_H

#include "common/base/error.h"
#include "common/conf/units.h"

enum { TG_VERDICT_TEXT = 160 };

struct tg_verdict_facts {
    const struct tg_error *error;
    struct tg_span body; /* of the client's request */
    const struct tg_status_ranges *statuses;
    const char *phrases; /* as the setting has them */
};
/* <reason>: a sentence that repeats nothing of the upstream's text but the phrase. */
bool tg_verdict_disables(const struct tg_verdict_facts *facts, char reason[TG_VERDICT_TEXT])
    must_check non_null(1, 2);

#endif
