/* doubt - what no sum of the books shows by itself, so that the audit can say it all the same.
 *
 *   spool      a worker numbered its lines, and some of them are missing
 *   unsettled  a worker ended in order, and left a request without an end
 *
 * Noted once, however often they are seen; they count until they are accepted. Beside them:
 * what a request had earned when it lapsed (ledger_lapse), to be compared with its end, and which
 * workers ended in order (ledger_worker_end): a daemon that starts anew must still know it.
 *
 * Threads  one per connection.  Blocks  on MySQL.
 */
#ifndef TOLLGATE_STORE_DOUBT_H
#define TOLLGATE_STORE_DOUBT_H

#include "common/base/arena.h"
#include "common/base/id.h"
#include "common/sql/db.h"

struct tg_doubt {
    int64_t id; /* of a listed one */
    const char *kind, *node;
    int64_t worker;
    int64_t place; /* in the spool; 0 for none */
    struct tg_id request_id; /* zeros for none */
    const char *detail;
    const char *at;
};

enum tg_class tg_doubt_note(struct tg_db *db, const struct tg_doubt *doubt, struct tg_error *err)
    must_check non_null(1, 2);
/* Those that are not accepted, oldest first, <most> at most. Owns: the arena. */
enum tg_class tg_doubt_list(struct tg_db *db, struct tg_arena *arena, int most,
                            struct tg_doubt **ret, size_t *ret_count) must_check
    non_null(1, 2, 4, 5);
enum tg_class tg_doubt_accept(struct tg_db *db, int64_t id, bool *ret_was_there,
                              struct tg_error *err) must_check non_null(1, 3);

/* The most that was ever earned counts: a Redis that lost its last seconds may say less. */
enum tg_class tg_lapse_note(struct tg_db *db, const struct tg_id *request_id,
                            int64_t earned_quota, struct tg_error *err) must_check non_null(1, 2);
/* Fills ret[i] for the requests that lapsed, and leaves the others alone. */
enum tg_class tg_lapse_earned(struct tg_db *db, const struct tg_id *ids, size_t count,
                              int64_t *ret, struct tg_error *err) must_check non_null(1, 2, 4);

/* Noted before the last trace of the worker goes. */
enum tg_class tg_worker_end_note(struct tg_db *db, const char *node, int64_t worker,
                                 struct tg_error *err) must_check non_null(1, 2);
enum tg_class tg_worker_end_known(struct tg_db *db, const char *node, int64_t worker, bool *ret,
                                  struct tg_error *err) must_check non_null(1, 2, 4);

/* Drops what is older than entries are kept: lapses, ends of workers. */
enum tg_class tg_doubt_trim(struct tg_db *db, struct tg_error *err) must_check non_null(1);

#endif
