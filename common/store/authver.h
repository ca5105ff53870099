/* authver - the number that makes all that is older about a user void: sessions, JWTs, cached
 * credentials. It only rises, and travels to the live books as an adjustment (AMENDMENTS L14).
 *
 * For common/store only.
 *
 * Threads  as the change.  Blocks  on the database.
 */
#ifndef TOLLGATE_STORE_AUTHVER_H
#define TOLLGATE_STORE_AUTHVER_H

#include "common/ledger/entry.h"
#include "common/store/change.h"

struct tg_authver_raise {
    int64_t user_id;
    int64_t token_id; /* 0: the user only; else the token whose limit moves with it */
    int64_t delta_quota;
    int unlimited; /* 0, 1, or -1 to leave it */
    const char *reason;
    /* What was changed lets nobody in and nobody further: sessions and personal access tokens that
     * held until now go on to hold. */
    bool keeps_logins;
};
/* Raises it in the change's transaction and adds the adjustment's row; *ret_entry is what to push.
 * A user that is not there fails the change: TG_CLASS_NOT_FOUND "user_not_found". */
void tg_authver_raise(struct tg_change *change, const struct tg_authver_raise *raise,
                      struct tg_entry *ret_entry) non_null(1, 2, 3);

#endif
