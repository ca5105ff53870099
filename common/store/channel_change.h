/* channel_change - what may be changed about a channel after it was made, and its keys.
 *
 * Each change rewrites the abilities and raises routing_version in its own transaction; workers
 * see it on the next message on tg:changed ("channels"). Keys are sealed before they reach a
 * statement and never read back here.
 *
 * Errors   as channel.h; TG_CLASS_NOT_FOUND "channel_not_found", "key_not_found";
 *          TG_CLASS_CONFLICT "channel_exists"; TG_CLASS_INVALID "invalid_status", "invalid_json".
 * Threads  as the connection.  Blocks  on the database.
 */
#ifndef TOLLGATE_STORE_CHANNEL_CHANGE_H
#define TOLLGATE_STORE_CHANNEL_CHANGE_H

#include "common/crypto/crypto.h"
#include "common/store/change.h"

/* NULL (or a count of 0, or -1) leaves a member as it is; "" empties a text or JSON member. */
struct tg_channel_change {
    int64_t id;
    const char *name, *tag, *provider, *base_url, *organisation, *proxy, *test_model;
    const char *status; /* enabled, disabled */
    const char *model_mapping, *timeouts, *status_mapping; /* JSON objects */
    const char *bill; /* requested, upstream */
    const char *loss_policy; /* allow, safe, strict */
    const char *balance_from; /* "" by the address, none, or a source's word */
    const char *const *models;
    size_t model_count;
    const char *const *groups;
    size_t group_count;
    const int64_t *priority, *weight;
    int auto_disable; /* 0, 1, or -1 */
};
enum tg_class tg_store_channel_change(struct tg_db *db, const struct tg_actor *actor,
                                      const struct tg_channel_change *wish, struct tg_error *err)
    must_check non_null(1, 2, 3, 4);

/* What a key is stored with. */
struct tg_key_seal {
    const uint8_t *public_key;
    int64_t version;
    const uint8_t *pepper; /* of the fingerprint that tells the same key again */
};
struct tg_channel_key_new {
    int64_t channel_id;
    const char *key; /* in the clear */
    struct tg_key_seal seal;
};
struct tg_key_cap {
    const char *unit; /* requests, tokens, usd; "" for none */
    int64_t value;    /* usd: in quota */
    int64_t reset_hour;
    const char *reset_zone;
};
/* Behind those that are there, or in their place; each with the same cap. A key that the channel
 * has already, or that comes twice, is left out: same[i] says which (NULL: nobody asks). */
enum { TG_CHANNEL_KEYS_MOST = 2000 };
struct tg_channel_keys_new {
    int64_t channel_id;
    const char *const *keys; /* in the clear */
    size_t count;
    bool replace;
    const struct tg_key_cap *cap; /* NULL: none */
    struct tg_key_seal seal;
    bool *same;        /* out: <count> of them */
    size_t same_count; /* out */
};
enum tg_class tg_store_channel_keys_add(struct tg_db *db, const struct tg_actor *actor,
                                        struct tg_channel_keys_new *keys, struct tg_error *err)
    must_check non_null(1, 2, 3, 4);
/* The form of a cap: "invalid_cap", "invalid_zone". */
enum tg_class tg_key_cap_check(const struct tg_key_cap *cap, struct tg_error *err) must_check
    non_null(1, 2);
enum tg_class tg_store_channel_key_cap(struct tg_db *db, const struct tg_actor *actor,
                                       int64_t key_id, const struct tg_key_cap *cap,
                                       struct tg_error *err) must_check non_null(1, 2, 4, 5);
/* <mode>: "" for in order, polling, random. */
enum tg_class tg_store_channel_key_mode(struct tg_db *db, const struct tg_actor *actor,
                                        int64_t channel_id, const char *mode,
                                        struct tg_error *err) must_check non_null(1, 2, 4, 5);
/* <state>: active, disabled, or "deleted", which takes the row away. */
enum tg_class tg_store_channel_key_set(struct tg_db *db, const struct tg_actor *actor,
                                       int64_t key_id, const char *state, struct tg_error *err)
    must_check non_null(1, 2, 4, 5);
/* Whose key it is. */
enum tg_class tg_store_channel_key_owner(struct tg_db *db, int64_t key_id, int64_t *ret_channel_id,
                                         struct tg_error *err) must_check non_null(1, 3, 4);

#endif
