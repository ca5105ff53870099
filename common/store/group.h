/* group - the rows of groups and of group_access.
 *
 * Errors   those of db.h; TG_CLASS_INVALID of check.h and "invalid_ratio"; TG_CLASS_NOT_FOUND
 *          "group_not_found".
 * Threads  as the connection.  Blocks  on the database.
 */
#ifndef TOLLGATE_STORE_GROUP_H
#define TOLLGATE_STORE_GROUP_H

#include "common/store/change.h"

/* Makes the group or changes its ratio: a decimal text, 0 to 999999, at most 10 places. */
enum tg_class tg_store_group_set(struct tg_db *db, const struct tg_actor *actor, const char *name,
                                 const char *ratio, struct tg_error *err) must_check
    non_null(1, 2, 3, 4, 5);
/* An order of channels and keys in a group: what is free today before what is paid. */
#define TG_GROUP_SPEND_FREE_FIRST "spend_free_first"
/* All that can be said about a group; NULL leaves a member as it is. order_mode "": by priority
 * and weight. */
struct tg_group_change {
    const char *name;
    const char *ratio, *description, *order_mode;
    const char *deposit_factor; /* "": the settings' again */
};
enum tg_class tg_store_group_change(struct tg_db *db, const struct tg_actor *actor,
                                    const struct tg_group_change *wish, struct tg_error *err)
    must_check non_null(1, 2, 3, 4);
/* Refused while a user or a token is in it: TG_CLASS_CONFLICT "group_used". */
enum tg_class tg_store_group_delete(struct tg_db *db, const struct tg_actor *actor,
                                    const char *name, struct tg_error *err) must_check
    non_null(1, 2, 3, 4);
/* May users of one group use another one, and at which ratio? */
struct tg_group_access {
    const char *user_group, *used_group;
    bool allowed;
    const char *ratio; /* "" or NULL: the used group's own */
};
enum tg_class tg_store_group_access_set(struct tg_db *db, const struct tg_actor *actor,
                                        const struct tg_group_access *access,
                                        struct tg_error *err) must_check non_null(1, 2, 3, 4);
/* TG_CLASS_NOT_FOUND "access_not_found". */
enum tg_class tg_store_group_access_delete(struct tg_db *db, const struct tg_actor *actor,
                                           const struct tg_group_access *access,
                                           struct tg_error *err) must_check non_null(1, 2, 3, 4);

#endif
