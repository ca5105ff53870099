/* balance - a provider is asked what is left of a channel's account, where provider/balance.h says,
 * and the channel's row has the answer.
 *
 * An account that is used up disables a channel that allows it, as a refusal would, when
 * auto_disable.on; a channel with several keys has several accounts, and is left out.
 *
 * Threads  the caller's.  Blocks  on the provider, up to 20 s a call, and on the database.
 */
#ifndef TOLLGATE_RELAY_BALANCE_H
#define TOLLGATE_RELAY_BALANCE_H

#include "fcgi-app/request.h"

#include <stdatomic.h>

struct tg_channel_balance {
    struct tg_error error; /* class TG_OK: quota is known; TG_CLASS_NOT_FOUND: nobody tells it */
    int64_t quota;
};
/* Of <req> only worker and arena are used. <stop> as in ask.h. */
struct tg_channel_balance_wish {
    int64_t channel_id;
    int64_t version; /* as in test.h */
    const atomic_bool *stop;
};
void tg_channel_balance(struct tg_request *req, const struct tg_channel_balance_wish *wish,
                        struct tg_channel_balance *ret) non_null(1, 2, 3);
/* Answers JSON into req->tail: {"ok","balance_usd","code","error"}. */
void tg_channel_balance_answer(struct tg_request *req, const struct tg_channel_balance_wish *wish)
    non_null(1, 2);

#endif
