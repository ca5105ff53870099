/* key_room - what is left of the daily caps of a channel's keys, the same for all nodes.
 *
 * Room is reserved before a call and settled after it, so that two requests cannot take the last
 * one. A reservation ends by itself after TG_KEY_LEASE_MS: kill -9 does not eat a cap. The counts
 * are in Redis, in the channel's slot; what they were reaches the row of the key within seconds
 * and is what begins again when Redis has lost them.
 *
 * Errors   those of kv.h.
 * Threads  any.  Blocks  on Redis, up to the deadline.
 * Source   SCHEDULING "Keys of a channel", AMENDMENTS L16.
 */
#ifndef TOLLGATE_KEY_ROOM_KEY_ROOM_H
#define TOLLGATE_KEY_ROOM_KEY_ROOM_H

#include "common/redis/kv.h"

enum { TG_KEY_ROOM_MOST = 8, TG_KEY_LEASE_MS = 900000, TG_KEY_TICKET_TEXT = 48 };

/* A key that would do. */
struct tg_key_wish {
    int64_t key_id, period_s; /* begin of its day */
    int64_t cap, used;        /* used: as far as the caller knows; for a Redis that knows nothing */
    int64_t amount;
    int64_t ret_used; /* out: with what is reserved */
};
struct tg_key_room_call {
    int64_t channel_id;
    const char *ticket; /* names the reservation */
    int64_t deadline_at_us;
};
/* The first of <wishes> with room is reserved; *ret_which is <count> when none has. */
enum tg_class tg_key_room_take(struct tg_kv *kv, const struct tg_key_room_call *call,
                               struct tg_key_wish *wishes, size_t count, size_t *ret_which)
    must_check non_null(1, 2, 3, 5);

struct tg_key_used {
    int64_t key_id, period_s;
    int64_t reserved, used;
};
/* Settles it; *ret_used is the key's use with what else is reserved. */
enum tg_class tg_key_room_give(struct tg_kv *kv, const struct tg_key_room_call *call,
                               const struct tg_key_used *used, int64_t *ret_used) must_check
    non_null(1, 2, 3, 4);

#endif
