/* person - a user as the console knows one: who logs in, and what may be changed about it.
 *
 * Every change raises the user's authver, so that older JWTs and cached credentials are dead at
 * once; the caller pushes the entry that tells Redis (see common/credential/apply.h). Sessions and
 * personal access tokens die of a change of role, status or password.
 *
 * Errors   those of db.h; TG_CLASS_NOT_FOUND "user_not_found", "group_not_found";
 *          TG_CLASS_INVALID of check.h and "invalid_role", "invalid_status"; TG_CLASS_CONFLICT
 *          "last_root" (the last enabled root stays one).
 * Owns     rows live in the arena given.
 * Threads  as the connection.  Blocks  on the database.
 */
#ifndef TOLLGATE_STORE_PERSON_H
#define TOLLGATE_STORE_PERSON_H

#include "common/base/arena.h"
#include "common/ledger/entry.h"
#include "common/store/change.h"
#include "common/store/credential.h"

struct tg_person {
    int64_t id;
    const char *username, *role, *group_name, *team;
    enum tg_status status;
    int64_t authver;
    const char *password_hash; /* NULL: cannot log in */
    int64_t quota, used_quota, request_count;
    bool accept_unpriced;
    const char *locale, *time_zone;
    int64_t created_unix_us;
};
/* *ret NULL: there is none. By name in whatever case. */
enum tg_class tg_store_person(struct tg_db *db, struct tg_arena *arena, int64_t id,
                              struct tg_person **ret, struct tg_error *err) must_check
    non_null(1, 2, 4, 5);
enum tg_class tg_store_person_named(struct tg_db *db, struct tg_arena *arena, const char *username,
                                    struct tg_person **ret, struct tg_error *err) must_check
    non_null(1, 2, 3, 4, 5);

/* NULL leaves a member as it is. */
struct tg_person_change {
    int64_t id;
    const char *role;   /* user, admin, root */
    const char *status; /* enabled, disabled, deleted */
    const char *group_name;
    const char *team; /* "" for none */
    const char *password_hash;
    const bool *accept_unpriced; /* takes the default price for models that have none */
    const char *time_zone; /* checked by the caller */
};
/* *ret_entry is the adjustment to push. */
enum tg_class tg_store_person_change(struct tg_db *db, const struct tg_actor *actor,
                                     const struct tg_person_change *wish,
                                     struct tg_entry *ret_entry, struct tg_error *err) must_check
    non_null(1, 2, 3, 4, 5);

#endif
