/* offline_hold - deposits and bills in MySQL while Redis is away.
 *
 * Money is bound by offline_quota of user (or plan) and token and by a row of offline_hold; a bill
 * becomes a row of offline_entry. users.quota itself moves only when the replay has run the entry
 * through the ordinary settle and the applier applies it; these rows go in that transaction
 * (offline.h). So coming back needs no repair and no order.
 *
 * The balance here lags behind what Redis knew. While any node is online somebody else may spend
 * beside this one, so at most `allowance_quota` of an account may be bound; when none is, the
 * balance alone decides.
 *
 * Errors   those of db.h; TG_CLASS_CONFLICT "db_retry": repeat.
 * Source   LEDGER "When Redis is away", AMENDMENTS L1.
 * Threads  one per connection.  Blocks  on MySQL.
 */
#ifndef TOLLGATE_STORE_OFFLINE_HOLD_H
#define TOLLGATE_STORE_OFFLINE_HOLD_H

#include "common/ledger/entry.h"
#include "common/sql/db.h"

enum tg_offline_answer {
    TG_OFFLINE_OK,
    TG_OFFLINE_ENDED,
    TG_OFFLINE_DUPLICATE,
    TG_OFFLINE_STALE, /* the user's authver is newer */
    TG_OFFLINE_USER_SHORT,
    TG_OFFLINE_TOKEN_SHORT,    /* ... of this deposit */
    TG_OFFLINE_TOKEN_EXHAUSTED, /* nothing is left */
    TG_OFFLINE_UNKNOWN
};

struct tg_offline_hold {
    struct tg_id request_id;
    int64_t user_id, token_id;
    const struct tg_funding *funding; /* in order of preference; extend: the one chosen */
    size_t funding_count;
    int64_t amount_quota, earned_quota;
    int64_t authver;
    const char *node;
    int64_t worker;
    int64_t lease_us;
    int64_t allowance_quota; /* -1: not bounded (a site without Redis) */
    bool refuse_when_short;  /* extend */
};

/* *ret_funding: whose money it is. */
enum tg_class tg_offline_reserve(struct tg_db *db, const struct tg_offline_hold *hold,
                                 enum tg_offline_answer *ret, struct tg_funding *ret_funding,
                                 struct tg_error *err) must_check non_null(1, 2, 3, 4);
/* Renews the lease and raises to the target; a request whose hold is in Redis is left alone. */
enum tg_class tg_offline_extend(struct tg_db *db, const struct tg_offline_hold *hold,
                                enum tg_offline_answer *ret, struct tg_error *err) must_check
    non_null(1, 2, 3);
/* OK or ENDED. */
enum tg_class tg_offline_settle(struct tg_db *db, const struct tg_entry *entry, const char *node,
                                enum tg_offline_answer *ret, struct tg_error *err) must_check
    non_null(1, 2, 3, 4);

struct tg_offline_overdue {
    struct tg_id request_id;
    int64_t user_id, token_id, earned_quota;
    struct tg_funding funding;
    const char *node;
    int64_t worker;
};
struct tg_offline_overdue_list {
    struct tg_offline_overdue *holds;
    size_t count;
};
/* Holds past their deadline, at most <most>, oldest first. Owns: the arena. */
enum tg_class tg_offline_overdue(struct tg_db *db, struct tg_arena *arena, int most,
                                 struct tg_offline_overdue_list *ret, struct tg_error *err)
    must_check non_null(1, 2, 4);
/* Do entries of <node> wait for the replay that are older than <older_us>? */
enum tg_class tg_offline_waits(struct tg_db *db, const char *node, int64_t older_us, bool *ret,
                               struct tg_error *err) must_check non_null(1, 2, 4);

#endif
