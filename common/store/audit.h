/* audit - the sums of the books, as one moment of each database saw them.
 *
 * The log database follows the main one at its own pace. So that a request on its way is no
 * difference, the log's snapshot is taken first and the batches that it cannot have are named:
 * those that wait in main, and those that log_applied got between the two snapshots. Their charges
 * are taken out of what the log should hold (batches are keyed by the same id on both sides).
 *
 * Source   LEDGER "Audit", AMENDMENTS L16.
 * Owns     everything lives in the arena given.
 * Threads  one per pair of connections.  Blocks  on MySQL.
 */
#ifndef TOLLGATE_STORE_AUDIT_H
#define TOLLGATE_STORE_AUDIT_H

#include "common/base/arena.h"
#include "common/base/id.h"
#include "common/store/balance.h"
#include "common/store/doubt.h"

struct tg_audit_user {
    int64_t id;
    int64_t quota;
    int64_t offline_quota, offline_bound; /* the column, and what its rows add up to */
    int64_t credited;                     /* rows of credits that are applied */
    int64_t credit_entries;               /* the same, as ledger_entry and ledger_day have it */
    int64_t charged;                      /* from the wallet */
    int64_t to_log, logged;               /* charges that the log should have, and has */
    int64_t swept, earned; /* where a sweep's end charged less than was earned: these */
};
struct tg_audit_token {
    int64_t id, user_id;
    int64_t remain, used;
    int64_t charged; /* in ledger_entry; days that were folded do not name tokens */
    int64_t offline_quota, offline_bound;
};
struct tg_audit_plan {
    int64_t id, user_id, remain;
    int64_t granted; /* in ledger_entry: what came in less what went out */
    int64_t offline_quota, offline_bound;
};

enum { TG_AUDIT_LISTED = 100 };
struct tg_audit_counts {
    int64_t folded_days, rejects, rebuilds, log_batches, log_lag_s;
    int64_t credits_waiting, adjustments_waiting, resets_waiting, offline_entries;
    int64_t orphans;        /* entries of users that do not exist */
    int64_t expired_empty;  /* requests that ended as expired with nothing earned */
    struct tg_id expired[TG_AUDIT_LISTED];
    size_t expired_count;
    struct tg_doubt *doubts; /* not accepted; the first TG_AUDIT_LISTED */
    size_t doubt_count;
};

struct tg_audit_books {
    struct tg_cursor cursors[TG_SHARDS];
    struct tg_audit_user *users; /* by id */
    size_t user_count;
    struct tg_audit_token *tokens; /* by user id, id */
    size_t token_count;
    struct tg_audit_plan *plans; /* by user id, id */
    size_t plan_count;
    struct tg_audit_counts counts;
    int64_t read_at_us; /* when main's snapshot was taken */
};
enum tg_class tg_audit_read(struct tg_db *main_db, struct tg_db *log_db, struct tg_arena *arena,
                            struct tg_audit_books *ret, struct tg_error *err) must_check
    non_null(1, 2, 3, 4);

#endif
