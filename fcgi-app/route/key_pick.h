/* key_pick - which key of a channel is next? Pure.
 *
 *   open       active; or resting or exhausted until a time that is over; and not full, not tried
 *   in order   keys with a cap and room left, most room first; then those without a cap, by
 *              position: free quotas are used up before what is paid for
 *   polling    open keys in turn, from the cursor on
 *   random     one of the open keys, each as likely
 *
 * Room is compared as it stands when all caps have one unit, else as the part of the cap that is
 * left. What a cap says is reserved afterwards, so a choice is a list: the next one follows when
 * another request took the last room.
 *
 * Threads  any.  Blocks  no.  Source  SCHEDULING "Keys of a channel".
 */
#ifndef TOLLGATE_ROUTE_KEY_PICK_H
#define TOLLGATE_ROUTE_KEY_PICK_H

#include "common/base/base.h"

/* Keys of one channel that one request may try, and that one choice lists. */
enum { TG_KEY_CHOICES = 8 };

/* From the weakest to the strongest: a verdict never takes a stronger one back. */
enum tg_key_state {
    TG_KEY_ACTIVE,
    TG_KEY_RESTING,   /* asked to wait, until a time */
    TG_KEY_EXHAUSTED, /* its quota or money is used up, until its reset or the next look */
    TG_KEY_SUSPENDED, /* a bad key: an operator must act */
    TG_KEY_DISABLED,  /* by hand */
    TG_KEY_STATE__COUNT
};
enum tg_key_mode { TG_KEYS_IN_ORDER, TG_KEYS_POLLING, TG_KEYS_RANDOM };
enum tg_cap_unit { TG_CAP_NONE, TG_CAP_REQUESTS, TG_CAP_TOKENS, TG_CAP_USD, TG_CAP__COUNT };

const char *tg_key_state_name(enum tg_key_state state);
bool tg_key_state_read(const char *name, enum tg_key_state *ret) must_check non_null(1, 2);
/* "" and unknown words: in order. */
enum tg_key_mode tg_key_mode_read(const char *name) non_null(1);
/* "" and unknown words: none. */
enum tg_cap_unit tg_cap_unit_read(const char *name) non_null(1);

struct tg_key_candidate {
    enum tg_key_state state;
    int64_t until_s; /* of a rest or exhaustion */
    enum tg_cap_unit cap_unit;
    int64_t cap, room; /* room: what is left of it in the running period */
    int64_t reset_s;   /* when the next period begins */
    bool tried;        /* by this request */
};
struct tg_key_choice {
    const struct tg_key_candidate *keys; /* by position */
    size_t count;
    enum tg_key_mode mode;
    int64_t now_s;
    uint32_t turn; /* polling: the cursor; random: a number drawn from all */
};

bool tg_key_is_open(const struct tg_key_candidate *key, int64_t now_s) must_check non_null(1);
/* The best first, at most TG_KEY_CHOICES; how many. 0: none is open. */
size_t tg_key_pick(const struct tg_key_choice *choice, size_t ret[TG_KEY_CHOICES]) must_check
    non_null(1);
/* When none is open: the first moment at which one is again; 0: nobody knows. */
int64_t tg_keys_open_at_s(const struct tg_key_choice *choice) must_check non_null(1);

#endif
