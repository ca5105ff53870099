/* lease - which node does a periodic job: one row per job, taken by whoever finds it free.
 *
 * A lease saves work, it protects nothing: every job is harmless when two nodes do it.
 *
 * Threads  one per connection.  Blocks  on MySQL.
 */
#ifndef TOLLGATE_STORE_LEASE_H
#define TOLLGATE_STORE_LEASE_H

#include "common/sql/db.h"

struct tg_lease {
    const char *name, *node;
    int64_t seconds;
};
/* *ret_mine: the node has it for the next <seconds> (taken, or renewed). */
enum tg_class tg_lease_take(struct tg_db *db, const struct tg_lease *lease, bool *ret_mine,
                            struct tg_error *err) must_check non_null(1, 2, 3);

#endif
