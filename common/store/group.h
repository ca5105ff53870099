/* group - the rows of groups and of group_access.
 *
 * Errors   those of db.h; TG_CLASS_INVALID of check.h and "invalid_ratio".
 * Threads  as the connection.  Blocks  on the database.
 */
#ifndef TOLLGATE_STORE_GROUP_H
#define TOLLGATE_STORE_GROUP_H

#include "common/store/change.h"

/* Makes the group or changes its ratio: a decimal text, 0 to 999999, at most 10 places. */
enum tg_class tg_store_group_set(struct tg_db *db, const struct tg_actor *actor, const char *name,
                                 const char *ratio, struct tg_error *err) must_check
    non_null(1, 2, 3, 4, 5);

#endif
