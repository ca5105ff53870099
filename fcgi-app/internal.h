/* internal - calls of the console and of tollgatectl to a worker.
 *
 * One channel is tested, or its provider asked for the account's balance ("what": "balance"); with
 * channel_id 0 a round over all of them begins (relay/watch.h).
 *
 * A call names its channel and its time and is signed over both with the internal key, which only
 * this installation has: X-Tollgate-Internal holds the HMAC-SHA-256 of "channel-test:<id>:<unix
 * seconds>" in hex, X-Tollgate-Time the seconds, at most 60 away from our clock.
 *
 * Threads  any.  Blocks  no.
 */
#ifndef TOLLGATE_INTERNAL_H
#define TOLLGATE_INTERNAL_H

#include "common/crypto/crypto.h"

struct tg_internal_call {
    const char *signature, *time; /* as given, NULL when absent */
    int64_t channel_id;
    int64_t now_s;
};
bool tg_internal_signed(const uint8_t key[TG_KEY_BYTES], const struct tg_internal_call *call)
    must_check non_null(2);

#endif
