/* token_change - what may be changed about a token after it was made.
 *
 * Its remaining quota is moved by the applier only: a new limit is an adjustment, made with the
 * change and pushed by the caller (see common/credential/apply.h). Every change raises the owner's
 * authver. A revoked token stays revoked.
 *
 * Errors   those of db.h; TG_CLASS_NOT_FOUND "token_not_found", "group_not_found";
 *          TG_CLASS_CONFLICT "token_revoked"; TG_CLASS_INVALID of check.h and "invalid_limit",
 *          "invalid_status", "invalid_address".
 * Threads  as the connection.  Blocks  on the database.
 */
#ifndef TOLLGATE_STORE_TOKEN_CHANGE_H
#define TOLLGATE_STORE_TOKEN_CHANGE_H

#include "common/ledger/entry.h"
#include "common/store/change.h"

enum tg_token_part {
    TG_TOKEN_NAME = 1u << 0,
    TG_TOKEN_TEAM = 1u << 1,
    TG_TOKEN_STATUS = 1u << 2,
    TG_TOKEN_GROUP = 1u << 3,
    TG_TOKEN_EXPIRES = 1u << 4,
    TG_TOKEN_MODELS = 1u << 5,
    TG_TOKEN_ADDRESSES = 1u << 6,
    TG_TOKEN_LIMIT = 1u << 7,
    TG_TOKEN_AUTO_GROUPS = 1u << 8,
    TG_TOKEN_CROSS_GROUPS = 1u << 9,
    TG_TOKEN_LOSS_POLICY = 1u << 10
};
struct tg_token_change {
    int64_t id;
    int64_t user_id; /* whose it must be; 0: anybody's */
    unsigned parts;  /* enum tg_token_part: the members below that count */
    const char *name, *team;
    const char *status;        /* enabled, disabled, revoked */
    const char *group_name;    /* "": the user's */
    int64_t expires_unix_us;   /* 0: never */
    const char *const *models; /* NULL: all; an empty list: none */
    size_t model_count;
    const char *const *addresses; /* CIDR texts; none: from anywhere */
    size_t address_count;
    const char *const *auto_groups; /* of the group "auto"; none: the settings' */
    size_t auto_group_count;
    bool cross_group_retry;
    const char *loss_policy; /* allow, safe, strict */
    bool unlimited;
    int64_t remain_quota; /* what shall be left when it is not unlimited */
};
enum tg_class tg_store_token_change(struct tg_db *db, const struct tg_actor *actor,
                                    const struct tg_token_change *wish,
                                    struct tg_entry *ret_entry, struct tg_error *err) must_check
    non_null(1, 2, 3, 4, 5);
/* Whose token it is. */
enum tg_class tg_store_token_owner(struct tg_db *db, int64_t token_id, int64_t *ret_user_id,
                                   struct tg_error *err) must_check non_null(1, 3, 4);

#endif
