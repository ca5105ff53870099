/* user - the rows of users: who there is.
 *
 * Balances are not changed here: money comes by credit.h, and the applier moves it. What is changed
 * about a user later stands in person.h.
 *
 * Errors   those of db.h; TG_CLASS_CONFLICT "user_exists"; TG_CLASS_NOT_FOUND "user_not_found",
 *          "group_not_found"; TG_CLASS_INVALID of check.h.
 * Threads  as the connection.  Blocks  on the database.
 */
#ifndef TOLLGATE_STORE_USER_H
#define TOLLGATE_STORE_USER_H

#include "common/base/arena.h"
#include "common/store/change.h"
#include "common/store/credential.h"

struct tg_user_new {
    const char *username;
    const char *role; /* user, admin, root */
    const char *group_name;
    const char *password_hash; /* NULL: cannot log in */
};
enum tg_class tg_store_user_add(struct tg_db *db, const struct tg_actor *actor,
                                const struct tg_user_new *user, int64_t *ret_id,
                                struct tg_error *err) must_check non_null(1, 2, 3, 4, 5);
enum tg_class tg_store_user_id(struct tg_db *db, const char *username, int64_t *ret_id,
                               struct tg_error *err) must_check non_null(1, 2, 3);
/* Fingerprints of all tokens of a user, for the fences around a change. Owns: the arena. */
enum tg_class tg_store_user_token_hmacs(struct tg_db *db, int64_t user_id, struct tg_arena *arena,
                                        const char ***ret, size_t *ret_count) must_check
    non_null(1, 3, 4, 5);
const char *tg_status_name(enum tg_status status);

#endif
