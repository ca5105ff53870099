/* acl - the rows of acl_grants: what one user may do besides, or in spite of, the role.
 *
 * Permissions are words of a table in the console's code; here they are texts.
 *
 * Errors   those of db.h; TG_CLASS_NOT_FOUND "user_not_found"; TG_CLASS_INVALID
 *          "invalid_permission".
 * Owns     rows live in the arena given.
 * Threads  as the connection.  Blocks  on the database.
 */
#ifndef TOLLGATE_STORE_ACL_H
#define TOLLGATE_STORE_ACL_H

#include "common/base/arena.h"
#include "common/store/change.h"

enum tg_acl_effect { TG_ACL_NONE, TG_ACL_ALLOW, TG_ACL_DENY };

struct tg_acl_grant {
    const char *permission;
    enum tg_acl_effect effect; /* a word that is not known denies */
};
/* Of one user, by permission. */
enum tg_class tg_store_acl(struct tg_db *db, struct tg_arena *arena, int64_t user_id,
                           struct tg_acl_grant **ret, size_t *ret_count) must_check
    non_null(1, 2, 4, 5);
/* TG_ACL_NONE takes the row away. */
enum tg_class tg_store_acl_set(struct tg_db *db, const struct tg_actor *actor, int64_t user_id,
                               const struct tg_acl_grant *grant, struct tg_error *err) must_check
    non_null(1, 2, 4, 5);

#endif
