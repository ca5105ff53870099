/* group_view - one group as JSON, for the console (see view.h).
 *
 * Errors   those of db.h; TG_CLASS_NOT_FOUND "group_not_found".
 * Threads  as the connection.  Blocks  on the database.
 */
#ifndef TOLLGATE_STORE_GROUP_VIEW_H
#define TOLLGATE_STORE_GROUP_VIEW_H

#include "common/base/arena.h"
#include "common/json/writer.h"
#include "common/sql/db.h"

/* Its members, into an object that is open. */
enum tg_class tg_view_group(struct tg_db *db, const char *name, struct tg_json_writer *out,
                            struct tg_error *err) must_check non_null(1, 2, 3, 4);
/* Calls <visit> with every name, in order; at most 1,000. */
typedef void tg_group_visit_fn(void *context, const char *name);
enum tg_class tg_each_group(struct tg_db *db, tg_group_visit_fn *visit, void *context,
                            struct tg_error *err) must_check non_null(1, 2, 4);
/* The same of the groups that members of <user_group> may use: it, and those of group_access. */
enum tg_class tg_each_group_allowed(struct tg_db *db, const char *user_group,
                                    tg_group_visit_fn *visit, void *context,
                                    struct tg_error *err) must_check non_null(1, 2, 3, 5);
/* A model that the group offers, one with a price before others; NULL: none. Owns: the arena. */
enum tg_class tg_store_group_model(struct tg_db *db, struct tg_arena *arena, const char *group,
                                   const char **ret, struct tg_error *err) must_check
    non_null(1, 2, 3, 4, 5);

#endif
