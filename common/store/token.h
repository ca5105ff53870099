/* token - the rows of tokens. Only the HMAC of a token's text is ever stored.
 *
 * The limit of a new token is part of its row; later changes of remain_quota are adjustments.
 *
 * Errors   those of db.h; TG_CLASS_NOT_FOUND "token_not_found"; TG_CLASS_INVALID of check.h.
 * Threads  as the connection.  Blocks  on the database.
 */
#ifndef TOLLGATE_STORE_TOKEN_H
#define TOLLGATE_STORE_TOKEN_H

#include "common/crypto/crypto.h"
#include "common/ledger/entry.h"
#include "common/store/change.h"

struct tg_token_new {
    int64_t user_id;
    const char *name;
    const char *group_name; /* "": the user's; "auto": those of the list, in its order */
    const char *const *auto_groups; /* none: the settings' */
    size_t auto_group_count;
    bool cross_group_retry;
    const char *key_hmac;   /* hex */
    const char *hint;       /* last four characters of the text */
    bool unlimited;
    int64_t remain_quota;
    int64_t expires_unix_us; /* 0: never */
    const char *const *models; /* NULL: all; an empty list: none */
    size_t model_count;
    const char *const *addresses; /* CIDR texts */
    size_t address_count;
    const char *loss_policy; /* NULL: the default */
};
enum tg_class tg_store_token_add(struct tg_db *db, const struct tg_actor *actor,
                                 const struct tg_token_new *token, int64_t *ret_id,
                                 struct tg_error *err) must_check non_null(1, 2, 3, 4, 5);
/* The fingerprint, for the fence around a change. */
enum tg_class tg_store_token_hmac(struct tg_db *db, int64_t token_id, char ret[TG_HMAC_HEX],
                                  struct tg_error *err) must_check non_null(1);
/* Raises its user's authver: *ret_entry is to be pushed, as user.h says. */
enum tg_class tg_store_token_revoke(struct tg_db *db, const struct tg_actor *actor,
                                    int64_t token_id, struct tg_entry *ret_entry,
                                    struct tg_error *err) must_check non_null(1, 2, 4, 5);

#endif
