/* keys - the keys of a channel in the attempt loop: chosen, reserved, judged after the call.
 *
 * choose.c asks whether a channel has an open key, and lists what is open when it copies the
 * channel; attempt.c takes one of the list before the call and has it judged after it. A key's
 * failure is the key's: the channel's other open keys follow, up to retry.key_tries of them, and
 * only when none is left does the loop go on to another channel.
 *
 * Owns     lists live in the request's arena.
 * Threads  the request's.  Blocks  take: up to 1 s on Redis, where the channel's keys have caps.
 */
#ifndef TOLLGATE_RELAY_KEYS_H
#define TOLLGATE_RELAY_KEYS_H

#include "fcgi-app/route/key_keeper.h"
#include "fcgi-app/route/snapshot.h"

struct tg_relay;
struct tg_choice;
struct tg_transfer;

/* One key that would do, copied. */
struct tg_key_option {
    int64_t id;
    const char *key, *hint;
    struct tg_key_seen row, seen; /* seen: what is known now */
    enum tg_cap_unit cap_unit;
    int64_t cap, used, period_s, reset_s;
};
/* The open keys of the chosen channel, and the reservation of the one that is used. */
struct tg_key_list {
    struct tg_key_option options[TG_KEY_CHOICES];
    size_t count;
    const struct tg_key_option *used; /* NULL: none was taken yet, or it has been given back */
    enum tg_key_place place;
    int64_t reserved;
    char ticket[TG_KEY_TICKET_TEXT];
};
/* What the loop remembers of keys; in struct tg_relay. */
struct tg_key_memory {
    int64_t *out; /* keys that are of no use to this request any more, in the arena */
    size_t out_count, out_cap;
    bool key_is_out; /* the last call's key: what follows goes to another one */
    int64_t stay_channel_id; /* whose next key is to follow; 0: none */
    struct {
        int tier;
        size_t channels_left, channels_all;
    } stayed; /* how it had been chosen */
    int stays;               /* calls of this model's loop to a further key of a channel */
    int tries;               /* keys tried in a row of one channel */
    int64_t full_until_s;    /* when the first of those that had too little room is empty again */
    int64_t open_at_s;       /* the first moment at which a key that is not open is; 0: unknown */
};

bool tg_relay_has_key(struct tg_relay *relay, const struct tg_channel *channel) must_check
    non_null(1, 2);
/* A key as it stands now: state, and what is left of its cap. */
struct tg_key_candidate tg_relay_key_candidate(const struct tg_relay *relay,
                                               const struct tg_channel_key *key, int64_t at_s)
    must_check non_null(1, 2);
/* Nothing is left: 429 until the first key is open again, when that is what all wait for. */
enum tg_class tg_relay_no_key(const struct tg_relay *relay, struct tg_error *err) non_null(1, 2);
/* While the snapshot is held. Fills choice->keys and choice->other_keys. */
void tg_relay_list_keys(struct tg_relay *relay, const struct tg_channel *channel,
                        struct tg_choice *choice) non_null(1, 2, 3);
/* Sets the key of choice->channel. False: all of the list are full or being looked at by others;
 * they do not come again in this request. */
bool tg_relay_take_key(struct tg_relay *relay, struct tg_choice *choice) must_check non_null(1, 2);
/* After the call, or when none was made (<transfer> NULL): settles, and judges the key. */
void tg_relay_judge_key(struct tg_relay *relay, const struct tg_choice *choice,
                        const struct tg_transfer *transfer) non_null(1, 2);

#endif
