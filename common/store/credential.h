/* credential - what a token may do, as read at the door.
 *
 * One row joined from tokens and users; also the shape that the Redis cache keeps as JSON.
 *
 * Owns  strings live in the arena given.
 */
#ifndef TOLLGATE_STORE_CREDENTIAL_H
#define TOLLGATE_STORE_CREDENTIAL_H

#include "common/base/arena.h"
#include "common/conf/units.h"
#include "common/sql/db.h"

enum tg_status { TG_STATUS_ENABLED, TG_STATUS_DISABLED, TG_STATUS_REVOKED, TG_STATUS_DELETED };

/* The group of a token that stands for a list of groups. */
#define TG_GROUP_AUTO "auto"

struct tg_credential {
    int64_t token_id, user_id;
    const char *token_name, *team;
    enum tg_status token_status, user_status;
    bool user_is_admin;
    int64_t expires_unix_us; /* 0: never */
    const char *user_group;
    const char *group_name;      /* the token's own group; "" = the user's */
    const char *const *auto_groups; /* of a token whose group is "auto"; none: the settings' */
    size_t auto_group_count;
    bool cross_group_retry; /* a retry may go on in the next of them */
    bool unlimited;
    bool accepts_unpriced;       /* models without a price cost the default one */
    int64_t authver;
    bool models_limited;         /* an empty list with this set allows nothing */
    const char *const *models;
    size_t model_count;
    const struct tg_cidr *addresses; /* empty: any */
    size_t address_count;
    const char *loss_policy, *stream_mode; /* may be "" */
    const char *funding; /* who pays, in order: ids of subscriptions, 0 the wallet ("9 12 0") */
};

/* *ret is NULL when there is no such token. <hmac_hex> is 64 characters. */
enum tg_class tg_store_credential(struct tg_db *db, struct tg_arena *arena, const char *hmac_hex,
                                  struct tg_credential **ret, struct tg_error *err) must_check
    non_null(1, 2, 3, 4);
/* Groups a user group may use besides itself: group_access rows with allowed = 1. */
enum tg_class tg_store_group_allowed(struct tg_db *db, const char *user_group,
                                     const char *used_group, bool *ret, struct tg_error *err)
    must_check non_null(1, 2, 3, 4);

#endif
