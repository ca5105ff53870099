/* session - the rows of console_sessions: who is logged in, and with which refresh token.
 *
 * Only SHA-256 hashes (hex) of refresh tokens are stored. A rotation is a compare-and-set: of two
 * that come together one wins. The hash before the current one is kept with the time of the
 * rotation, so that the console can take it for a moment (AMENDMENTS C2) and end the session when
 * an older one, or this one later, is shown. `generation` counts rotations: a token that is
 * derived from (id, generation) can be told again without being stored.
 *
 * Errors   those of db.h; TG_CLASS_NOT_FOUND "session_not_found"; TG_CLASS_CONFLICT
 *          "session_rotated" (somebody else was first; find it again).
 * Owns     rows live in the arena given.
 * Threads  as the connection.  Blocks  on the database.
 */
#ifndef TOLLGATE_STORE_SESSION_H
#define TOLLGATE_STORE_SESSION_H

#include "common/base/arena.h"
#include "common/crypto/crypto.h"
#include "common/store/change.h"

struct tg_session {
    int64_t id, user_id;
    int64_t generation;
    char refresh_hash[TG_HMAC_HEX], previous_hash[TG_HMAC_HEX]; /* previous: "" before a rotation */
    int64_t rotated_unix_us;                                    /* 0: never */
    int64_t authver; /* of the user when the session began */
    const char *device, *address;
    int64_t created_unix_us, last_seen_unix_us;
    int64_t expires_unix_us; /* the session ends then, used or not */
};

struct tg_session_new {
    int64_t user_id, authver;
    const char *refresh_hash;
    const char *device;  /* User-Agent; cut to 255 characters */
    const char *address;
    int64_t expires_unix_us;
};
/* Also takes away sessions that have expired. */
enum tg_class tg_store_session_add(struct tg_db *db, const struct tg_session_new *session,
                                   int64_t *ret_id, struct tg_error *err) must_check
    non_null(1, 2, 3, 4);
/* *ret NULL: ended, expired or never there. */
enum tg_class tg_store_session_find(struct tg_db *db, struct tg_arena *arena, int64_t id,
                                    struct tg_session **ret, struct tg_error *err) must_check
    non_null(1, 2, 4, 5);
struct tg_session_rotation {
    int64_t id;
    const char *old_hash, *new_hash;
    const char *address; /* from where it is used now */
};
enum tg_class tg_store_session_rotate(struct tg_db *db, const struct tg_session_rotation *rotation,
                                      struct tg_error *err) must_check non_null(1, 2, 3);
enum tg_class tg_store_session_touch(struct tg_db *db, int64_t id, struct tg_error *err) must_check
    non_null(1, 3);
/* Of one user, last seen first. */
enum tg_class tg_store_sessions(struct tg_db *db, struct tg_arena *arena, int64_t user_id,
                                struct tg_session **ret, size_t *ret_count) must_check
    non_null(1, 2, 4, 5);
/* Ends one session of a user; with id 0 all but <but_id> (0: really all). With an audit row. */
struct tg_session_end {
    int64_t user_id, id, but_id;
};
enum tg_class tg_store_session_end(struct tg_db *db, const struct tg_actor *actor,
                                   const struct tg_session_end *end, struct tg_error *err)
    must_check non_null(1, 2, 3, 4);

#endif
