/* pat - the rows of pats: personal access tokens for the control API. Only a fingerprint is stored.
 *
 * Errors   those of db.h; TG_CLASS_NOT_FOUND "pat_not_found"; TG_CLASS_INVALID of check.h and
 *          "invalid_scopes".
 * Owns     rows live in the arena given.
 * Threads  as the connection.  Blocks  on the database.
 */
#ifndef TOLLGATE_STORE_PAT_H
#define TOLLGATE_STORE_PAT_H

#include "common/base/arena.h"
#include "common/store/change.h"

struct tg_pat {
    int64_t id, user_id;
    const char *name, *hint;
    const char *scopes; /* words with one blank between */
    int64_t expires_unix_us, last_used_unix_us, created_unix_us; /* 0: never */
    int64_t authver; /* of the user when it was made */
    const char *last_address;
};
struct tg_pat_new {
    int64_t user_id, authver;
    const char *name, *scopes;
    const char *fingerprint; /* SHA-256 of its text, hex */
    const char *hint;        /* last four characters */
    int64_t expires_unix_us; /* 0: never */
};
enum tg_class tg_store_pat_add(struct tg_db *db, const struct tg_actor *actor,
                               const struct tg_pat_new *pat, int64_t *ret_id, struct tg_error *err)
    must_check non_null(1, 2, 3, 4, 5);
/* *ret NULL: unknown, revoked or expired. */
enum tg_class tg_store_pat_find(struct tg_db *db, struct tg_arena *arena, const char *fingerprint,
                                struct tg_pat **ret, struct tg_error *err) must_check
    non_null(1, 2, 3, 4, 5);
/* Notes when and from where it was used; at most one write a minute. */
enum tg_class tg_store_pat_touch(struct tg_db *db, int64_t id, const char *address,
                                 struct tg_error *err) must_check non_null(1, 3, 4);
/* Of one user, newest first; revoked ones are not among them. */
enum tg_class tg_store_pats(struct tg_db *db, struct tg_arena *arena, int64_t user_id,
                            struct tg_pat **ret, size_t *ret_count) must_check non_null(1, 2, 4, 5);
/* <user_id>: whose it must be. */
enum tg_class tg_store_pat_revoke(struct tg_db *db, const struct tg_actor *actor, int64_t user_id,
                                  int64_t id, struct tg_error *err) must_check non_null(1, 2, 5);

#endif
