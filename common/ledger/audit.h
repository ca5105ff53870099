/* audit - do all books say the same? Compared per account and in total:
 *
 *   redis    live balance + open holds + what the journal still holds  =  users.quota,
 *            tokens.remain_quota, subscriptions.remain_quota
 *   offline  offline_quota  =  its open offline holds and entries
 *   ledger   credits - charges of ledger_entry and ledger_day  =  users.quota; tokens.used_quota;
 *            what came to a plan by its periods less what went  =  subscriptions.remain_quota
 *   credits  rows of credits  =  their entries
 *   sweep    what ended as expired  =  what it had earned when it lapsed, or more
 *   log      quota of request_log since its first kept day  =  charges
 *
 * Doubts that nobody accepted (store/doubt.h) are listed and make it red as well.
 *
 * It may run under full load: each shard is read in one moment of Redis against the cursor of one
 * snapshot of MySQL, and again when the shard was rebuilt or trimmed in between.
 *
 * Source   LEDGER "Audit", AMENDMENTS L16.
 * Owns     everything lives in the arena given.
 * Threads  one.  Blocks  on all stores.
 */
#ifndef TOLLGATE_LEDGER_AUDIT_H
#define TOLLGATE_LEDGER_AUDIT_H

#include "common/ledger/moment.h"
#include "common/store/audit.h"

struct tg_audit_difference {
    const char *account; /* "user", "token", "plan" */
    int64_t id;
    const char *sum;     /* "redis", "offline", "ledger", "credits", "log", "sweep" */
    int64_t books_quota; /* what the main database's row says */
    int64_t other_quota;
};

struct tg_audit_report {
    bool clean;
    struct tg_audit_difference *differences; /* the first TG_AUDIT_LISTED */
    size_t listed_count, difference_count;
    int64_t redis_quota, users_quota, ledger_quota, charged_quota, logged_quota; /* totals */
    int64_t users, loaded_users;
    struct tg_hold *holds; /* open ones, at most TG_AUDIT_LISTED */
    size_t hold_count, open_holds;
    int64_t held_quota;
    int64_t journal_waiting;
    int unread_shards[TG_SHARDS]; /* could not be compared with Redis */
    size_t unread_count;
    struct tg_audit_counts counts;
};

struct tg_audit {
    struct tg_db *main_db, *log_db;
    struct tg_kv *kv; /* NULL: a site without Redis */
    int64_t journal_keep_us; /* entries stay that long in the journal after they were applied */
};
/* Errors: TG_CLASS_DOWN when a store is away. Differences are no error. */
enum tg_class tg_audit_run(const struct tg_audit *audit, struct tg_arena *arena,
                           struct tg_audit_report *ret, struct tg_error *err) must_check
    non_null(1, 2, 3, 4);

#endif
