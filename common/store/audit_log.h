/* audit_log - what the log database holds, for audit.h, and which batches it could not have yet.
 *
 * For common/store/audit.c only.
 *
 * Owns     everything lives in the arena given.
 * Threads  one per pair of connections.  Blocks  on MySQL.
 */
#ifndef TOLLGATE_STORE_AUDIT_LOG_H
#define TOLLGATE_STORE_AUDIT_LOG_H

#include "common/base/arena.h"
#include "common/base/id.h"
#include "common/sql/db.h"

struct tg_audit_log_sum {
    int64_t user_id, quota;
};
struct tg_audit_log {
    struct tg_db *db;
    char since[32];     /* log_applied is looked at from here on (the log's clock) */
    char first_id[40];  /* hex; requests before it have left the log */
    char first_day[16]; /* its day */
    struct tg_id *entered; /* batches that the snapshot has, as far as they matter; sorted */
    size_t entered_count;
    struct tg_audit_log_sum *sums;
    size_t sum_count;
};

/* First: which batches wait in main. Then, in one snapshot: sums, and which batches are in. */
enum tg_class tg_audit_log_read(struct tg_audit_log *log, struct tg_db *main_db,
                                struct tg_arena *arena, struct tg_error *err) must_check
    non_null(1, 2, 3);
/* With main's snapshot open: batches that main has and the log's snapshot has not, as JSON. */
enum tg_class tg_audit_log_missing(const struct tg_audit_log *log, struct tg_db *main_db,
                                   struct tg_arena *arena, const char **ret, struct tg_error *err)
    must_check non_null(1, 2, 3, 4);

#endif
