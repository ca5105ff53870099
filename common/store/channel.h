/* channel - the rows of channels and their keys, and the abilities made from them.
 *
 * Every change rewrites the channel's abilities and raises routing_version in its transaction.
 * A key is sealed with the public key, bound to the id of its row (tg_channel_key_aad).
 *
 * Errors   those of db.h; TG_CLASS_CONFLICT "channel_exists"; TG_CLASS_NOT_FOUND
 *          "channel_not_found"; TG_CLASS_CONFLICT "master_key_changed" (master_key.h);
 *          TG_CLASS_INVALID of check.h and "invalid_url", "invalid_list".
 * Threads  as the connection.  Blocks  on the database.
 */
#ifndef TOLLGATE_STORE_CHANNEL_H
#define TOLLGATE_STORE_CHANNEL_H

#include "common/crypto/crypto.h"
#include "common/store/channel_change.h"

struct tg_channel_new {
    const char *name, *provider, *base_url;
    const char *organisation, *proxy; /* "" for none */
    const char *model_mapping, *timeouts; /* JSON objects, NULL for none */
    const char *loss_policy; /* NULL: the default */
    const char *const *models;
    size_t model_count;
    const char *const *groups;
    size_t group_count;
    int64_t priority, weight;
    const char *key; /* in the clear; leaves this process sealed only */
    struct tg_key_seal seal;
};
enum tg_class tg_store_channel_add(struct tg_db *db, const struct tg_actor *actor,
                                   const struct tg_channel_new *channel, int64_t *ret_id,
                                   struct tg_error *err) must_check non_null(1, 2, 3, 4, 5);
/* <status>: enabled, disabled, auto_disabled. */
enum tg_class tg_store_channel_set_status(struct tg_db *db, const struct tg_actor *actor,
                                          int64_t channel_id, const char *status,
                                          struct tg_error *err) must_check non_null(1, 2, 4, 5);

/* What the gateway does by itself, and why. */
struct tg_channel_verdict {
    int64_t channel_id;
    int64_t key_id; /* that was refused; 0: it is about the channel */
    const char *reason; /* a sentence without secrets */
};
/* Disables an enabled channel that allows it, unless it has another active key or the refused one
 * is gone. *ret_done: something was changed. */
enum tg_class tg_store_channel_auto_disable(struct tg_db *db, const struct tg_channel_verdict *why,
                                            bool *ret_done, struct tg_error *err) must_check
    non_null(1, 2, 3, 4);
/* Enables a channel that was disabled so, and no other; its key key_id is active again, too. */
enum tg_class tg_store_channel_auto_enable(struct tg_db *db, const struct tg_channel_verdict *why,
                                           bool *ret_done, struct tg_error *err) must_check
    non_null(1, 2, 3, 4);

#endif
