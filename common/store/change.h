/* change - one transaction that changes what operators manage, with its audit row.
 *
 * The first failure is kept and everything after it does nothing, so a store reads as a list of
 * steps. Every change adds one row to audit_log, whose hash covers the row before it; the end of
 * the chain (audit_chain) is locked last, so changes cannot deadlock over it.
 *
 *     struct tg_change change;
 *
 *     tg_change_begin(&change, db, actor, err);
 *     tg_change_run(&change, "UPDATE …", values, TG_COUNT_OF(values));
 *     tg_change_audit(&change, &(struct tg_audit_note){…});
 *     return tg_change_end(&change);
 *
 * Errors   those of db.h, and what the caller puts into `class`.
 * Threads  one owner.  Blocks  on the database.
 */
#ifndef TOLLGATE_STORE_CHANGE_H
#define TOLLGATE_STORE_CHANGE_H

#include "common/sql/db.h"

/* Who does it. */
struct tg_actor {
    int64_t user_id; /* 0: the command line */
    const char *address; /* "" for the command line */
};

struct tg_change {
    struct tg_db *db;
    const struct tg_actor *actor;
    struct tg_error *err;
    enum tg_class class; /* the first failure */
    struct tg_db_done done; /* of the last run */
};

void tg_change_begin(struct tg_change *change, struct tg_db *db, const struct tg_actor *actor,
                     struct tg_error *err) non_null(1, 2, 3, 4);
void tg_change_run(struct tg_change *change, const char *sql, const struct tg_db_value *values,
                   size_t count) non_null(1, 2);
/* NULL after a failure. */
struct tg_db_rows *tg_change_select(struct tg_change *change, const char *sql,
                                    const struct tg_db_value *values, size_t count) non_null(1, 2);

struct tg_audit_note {
    const char *action;      /* "channel.add" */
    const char *object_type; /* "channel" */
    const char *object_id;
    const char *before_json, *after_json; /* NULL: nothing; never a secret */
};
void tg_change_audit(struct tg_change *change, const struct tg_audit_note *note) non_null(1, 2);
/* What happened without a change of anything else (a login, a test): a row of its own. */
enum tg_class tg_change_note(struct tg_db *db, const struct tg_actor *actor,
                             const struct tg_audit_note *note, struct tg_error *err) must_check
    non_null(1, 2, 3, 4);
/* Routing data was changed: the workers are to read it again. */
void tg_change_routing(struct tg_change *change) non_null(1);
/* Commits, or rolls back after a failure. */
enum tg_class tg_change_end(struct tg_change *change) must_check non_null(1);

/* Reads the chain from its first row. *ret_broken_id is the first row whose hash does not fit, -1
 * when the newest rows are missing, 0 when all is right. */
enum tg_class tg_change_chain_check(struct tg_db *db, int64_t *ret_broken_id, struct tg_error *err)
    must_check non_null(1, 2);

#endif
