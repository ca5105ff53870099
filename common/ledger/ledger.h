/* ledger - the live books in Redis: every step one atomic script, fenced by epoch and deadline.
 *
 * Every script gets the caller's epoch, the server's run id and a deadline in server time and may
 * answer "late", "rebuilding" or "missing" besides its own results. This file hides those three:
 * late: the clock is measured again, one repeat; rebuilding: the epoch is read again and the call
 * repeated until its deadline; missing: the account is loaded from MySQL, one repeat.
 *
 * Redis keys (all of one user's account in one slot, NN = user id mod 64 in two digits; request
 * ids as their 16 bytes):
 *   tg:{sNN}:state    hash   epoch, run, on
 *   tg:{sNN}:user:ID  hash   epoch, quota, used, authver, exposed (used: since this epoch began)
 *   tg:{sNN}:token:ID hash   epoch, remain, unlimited
 *   tg:{sNN}:sub:ID   hash   epoch, remain, period
 *   tg:{sNN}:holds    hash   request id -> "user token plan amount earned lapsed node worker period
 *                            trusted due" (due: end of the lease in server ms)
 *   tg:{sNN}:journal  stream i k u t p a m e c d n v r  (id kind user token plan amount, what
 *                            leaves the plan, its period, channel, token delta, unlimited,
 *                            authver, record)
 *   tg:{sNN}:ended    zset   request id by the time of its journal entry (ms)
 *
 * Source  LEDGER, AMENDMENTS L1-L16.
 * Threads  any (connections come from the pools).  Blocks  up to the deadline of the call.
 */
#ifndef TOLLGATE_LEDGER_LEDGER_H
#define TOLLGATE_LEDGER_LEDGER_H

#include "common/ledger/entry.h"
#include "common/ledger/mode.h"
#include "common/redis/kv.h"
#include "common/sql/db.h"
#include "common/store/balance.h"

struct tg_ledger; /* one per process: pools and the shards' epochs */

enum tg_ledger_answer {
    TG_LEDGER_OK,
    TG_LEDGER_ENDED,       /* the request has its end already: nothing was changed */
    TG_LEDGER_DUPLICATE,   /* reserve: a hold exists */
    TG_LEDGER_STALE,       /* reserve: the credential is older than the user's authver */
    TG_LEDGER_USER_SHORT,
    TG_LEDGER_TOKEN_SHORT,
    TG_LEDGER_UNKNOWN_ACCOUNT, /* no such user or token in MySQL */
    TG_LEDGER_UNAVAILABLE  /* no answer in time: it may or may not have run (err says why) */
};

struct tg_ledger_conf {
    struct tg_kv_pool *kv;
    struct tg_db_pool *main_db;
    const char *node;
    int64_t worker; /* which spool file stands for the holder; 0 outside workers */
    int64_t lease_us;
    /* Workers only: money goes on in MySQL while Redis is away (offline.h). */
    bool may_go_offline, single; /* single: a site without Redis */
    struct tg_money_mode *mode;  /* of the node; NULL: this process's own */
    int64_t offline_after_us;    /* 0: 3 s */
    int64_t allowance_quota;     /* of an account, while some other node is online */
};

struct tg_ledger *tg_ledger_new(const struct tg_ledger_conf *conf) must_check non_null(1);
void tg_ledger_free(struct tg_ledger *ledger); /* NULL is fine */
int tg_shard_of(int64_t user_id);

struct tg_reserve {
    struct tg_id request_id;
    int64_t user_id, token_id;
    const struct tg_funding *funding; /* in order of preference; at least one */
    size_t funding_count;
    int64_t amount_quota; /* the deposit */
    int64_t trust_quota;  /* 0: always take the deposit */
    int64_t authver;      /* of the credential that was checked */
};
/* Takes the deposit of a new request. On OK *ret_funding says from where; on TOKEN_SHORT the error
 * code tells "token_exhausted" (nothing is left) from "token_quota_insufficient". */
enum tg_ledger_answer tg_ledger_reserve(struct tg_ledger *ledger, const struct tg_reserve *reserve,
                                        int64_t deadline_at_us, struct tg_funding *ret_funding,
                                        struct tg_error *err) must_check non_null(1, 2, 4);

struct tg_extend {
    struct tg_id request_id;
    int64_t user_id, token_id;
    struct tg_funding funding;
    int64_t amount_quota; /* target size of the deposit: never made smaller */
    int64_t earned_quota; /* what the stream has earned so far; charged if this worker dies */
    bool refuse_when_short; /* raise: TOKEN_SHORT / USER_SHORT instead of debt */
};
/* Renews the lease, raises the deposit to the target, takes it again when the hold was lost or has
 * lapsed. Repeating it is harmless. */
enum tg_ledger_answer tg_ledger_extend(struct tg_ledger *ledger, const struct tg_extend *extend,
                                       int64_t deadline_at_us, struct tg_error *err) must_check
    non_null(1, 2);

/* Ends a request, or applies another kind of entry: the one way money moves for good. Never fails
 * for lack of money. OK and ENDED both mean: known, nothing more to do. */
enum tg_ledger_answer tg_ledger_settle(struct tg_ledger *ledger, const struct tg_entry *entry,
                                       int64_t deadline_at_us, struct tg_error *err) must_check
    non_null(1, 2);

/* The same in one epoch only: when the shard has gone on to another one nothing runs, UNAVAILABLE.
 * For the replay: what it knows of ledger_entry is true in the epoch in which it asked. */
enum tg_ledger_answer tg_ledger_settle_in(struct tg_ledger *ledger, int64_t epoch,
                                          const struct tg_entry *entry, int64_t deadline_at_us,
                                          struct tg_error *err) must_check non_null(1, 3);

/* Live view of one user's account for `show` and the audit (loads it when missing). */
struct tg_live_account {
    int64_t quota, used, held_quota, authver;
};
enum tg_ledger_answer tg_ledger_look(struct tg_ledger *ledger, int64_t user_id,
                                     int64_t deadline_at_us, struct tg_live_account *ret,
                                     struct tg_error *err) must_check non_null(1, 4);

/* Has a money script succeeded lately? (readyz, metrics) */
bool tg_ledger_is_up(const struct tg_ledger *ledger) non_null(1);
enum tg_ledger_money { TG_LEDGER_ONLINE, TG_LEDGER_OFFLINE, TG_LEDGER_SINGLE };
enum tg_ledger_money tg_ledger_money(const struct tg_ledger *ledger) non_null(1);
/* For probes, so that a node without traffic goes offline and comes back too: a Redis that does
 * not answer counts as a script that failed. */
void tg_ledger_probed(struct tg_ledger *ledger, bool redis_answers) non_null(1);

#endif
