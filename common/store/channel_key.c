#include "common/store/channel_change.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/base/money.h"
#include "common/base/zone.h"
#include "common/store/channel_parts.h"
#include "common/store/master_key.h"
#include "common/store/read.h"

/* Locks the channel, so that keys are added one after the other; the next free position. */
static int64_t next_position(struct tg_change *change, int64_t channel_id)
{
    struct tg_db_rows *rows = tg_change_select(
        change,
        "SELECT (SELECT COALESCE(MAX(k.position) + 1, 0) FROM channel_keys k WHERE "
        "k.channel_id = c.id) FROM channels c WHERE c.id = ? FOR UPDATE",
        &TG_DB_I(channel_id), 1);
    int64_t position = 0;

    if (rows != NULL && tg_db_next(rows))
        position = tg_db_int(rows, 0);
    else if (rows != NULL)
        change->class = tg_fail(change->err, TG_CLASS_NOT_FOUND, "channel_not_found",
                                "there is no channel %" PRId64, channel_id);
    tg_db_rows_free(rows);
    return position;
}

static void note(struct tg_change *change, const char *action, int64_t channel_id, int64_t key_id)
{
    char after[64];

    snprintf(after, sizeof after, "{\"key_id\":%" PRId64 "}", key_id);
    tg_channel_note(change, channel_id,
                    &(struct tg_audit_note){.action = action, .after_json = after});
}

static int64_t channel_of(struct tg_change *change, int64_t key_id)
{
    struct tg_db_rows *rows =
        tg_change_select(change, "SELECT channel_id FROM channel_keys WHERE id = ? FOR UPDATE",
                         &TG_DB_I(key_id), 1);
    int64_t id = 0;

    if (rows != NULL && tg_db_next(rows))
        id = tg_db_int(rows, 0);
    else if (rows != NULL)
        change->class = tg_fail(change->err, TG_CLASS_NOT_FOUND, "key_not_found",
                                "there is no channel key %" PRId64, key_id);
    tg_db_rows_free(rows);
    return id;
}

enum tg_class tg_store_channel_key_set(struct tg_db *db, const struct tg_actor *actor,
                                       int64_t key_id, const char *state, struct tg_error *err)
{
    bool delete = strcmp(state, "deleted") == 0;
    struct tg_change change;
    int64_t channel_id;

    if (!delete && strcmp(state, "active") != 0 && strcmp(state, "disabled") != 0)
        return tg_fail(err, TG_CLASS_INVALID, "invalid_status",
                       "a key is active, disabled or deleted");
    tg_change_begin(&change, db, actor, err);
    channel_id = channel_of(&change, key_id);
    if (delete)
        tg_change_run(&change, "DELETE FROM channel_keys WHERE id = ?", &TG_DB_I(key_id), 1);
    else
        tg_change_run(&change,
                      "UPDATE channel_keys SET state = ?, state_reason = '', "
                      "state_until_at = NULL, state_event = state_event + 1 WHERE id = ?",
                      (struct tg_db_value[]){TG_DB_S(state), TG_DB_I(key_id)}, 2);
    tg_change_routing(&change);
    note(&change,
         delete                          ? "channel.key_delete"
         : strcmp(state, "active") == 0 ? "channel.key_enable"
                                         : "channel.key_disable",
         channel_id, key_id);
    return tg_change_end(&change);
}

enum tg_class tg_store_channel_key_owner(struct tg_db *db, int64_t key_id, int64_t *ret_channel_id,
                                         struct tg_error *err)
{
    struct tg_db_rows *rows;
    enum tg_class class = tg_db_select(db, "SELECT channel_id FROM channel_keys WHERE id = ?",
                                       &TG_DB_I(key_id), 1, &rows);

    if (class != TG_OK)
        return tg_store_failed(db, class, err);
    if (tg_db_next(rows))
        *ret_channel_id = tg_db_int(rows, 0);
    else
        class = tg_fail(err, TG_CLASS_NOT_FOUND, "key_not_found",
                        "there is no channel key %" PRId64, key_id);
    tg_db_rows_free(rows);
    return class;
}

/* --- many keys, caps, the order -------------------------------------------------------------- */

enum tg_class tg_key_cap_check(const struct tg_key_cap *cap, struct tg_error *err)
{
    static const char *const units[] = {"", "requests", "tokens", "usd"};
    struct tg_zone *zone = NULL;
    size_t i = 0;
    enum tg_class class;

    while (i < TG_COUNT_OF(units) && strcmp(units[i], cap->unit) != 0)
        i++;
    if (i == TG_COUNT_OF(units) || cap->value < (i > 0) || cap->value > TG_QUOTA_MAX)
        return tg_fail(err, TG_CLASS_INVALID, "invalid_cap",
                       "a cap is a number of requests, tokens or usd, at least 1 of them");
    if (cap->reset_hour < 0 || cap->reset_hour > 23)
        return tg_fail(err, TG_CLASS_INVALID, "invalid_cap", "an hour is 0 to 23");
    class = tg_zone_load(cap->reset_zone, &zone, err);
    tg_zone_free(zone);
    return class;
}

static void set_cap(struct tg_change *change, int64_t key_id, const struct tg_key_cap *cap)
{
    const struct tg_db_value values[] = {TG_DB_S(cap->unit), TG_DB_I(cap->value),
                                         TG_DB_I(cap->reset_hour), TG_DB_S(cap->reset_zone),
                                         TG_DB_I(key_id)};

    tg_change_run(change,
                  "UPDATE channel_keys SET cap_unit = ?, cap_value = ?, reset_hour = ?, "
                  "reset_zone = ? WHERE id = ?",
                  values, TG_COUNT_OF(values));
}

static enum tg_class check_keys(const struct tg_channel_keys_new *keys, struct tg_error *err)
{
    enum tg_class class = TG_OK;

    if (keys->count == 0 || keys->count > TG_CHANNEL_KEYS_MOST)
        return tg_fail(err, TG_CLASS_INVALID, "invalid_key", "1 to %d keys at once",
                       TG_CHANNEL_KEYS_MOST);
    for (size_t i = 0; i < keys->count && class == TG_OK; i++)
        class = tg_channel_check_key(keys->keys[i], err);
    if (class == TG_OK && keys->cap != NULL)
        class = tg_key_cap_check(keys->cap, err);
    return class;
}

/* Whether the channel has the key; also one that came before it in this change. */
static bool has_key(struct tg_change *change, int64_t channel_id, const uint8_t *fingerprint)
{
    const struct tg_db_value values[] = {TG_DB_I(channel_id),
                                         TG_DB_B(fingerprint, TG_HMAC_BYTES)};
    struct tg_db_rows *rows = tg_change_select(
        change, "SELECT 1 FROM channel_keys WHERE channel_id = ? AND fingerprint = ? LIMIT 1",
        values, TG_COUNT_OF(values));
    bool has = rows != NULL && tg_db_next(rows);

    tg_db_rows_free(rows);
    return has;
}

static void add_keys(struct tg_change *change, struct tg_channel_keys_new *keys, int64_t position)
{
    for (size_t i = 0; i < keys->count && change->class == TG_OK; i++) {
        const struct tg_channel_key_new key = {
            .channel_id = keys->channel_id, .key = keys->keys[i], .seal = keys->seal};
        uint8_t fingerprint[TG_HMAC_BYTES];
        bool same;
        int64_t id;

        tg_channel_key_fingerprint(&key, fingerprint);
        same = has_key(change, keys->channel_id, fingerprint);
        keys->same_count += same;
        if (keys->same != NULL)
            keys->same[i] = same;
        if (same)
            continue;
        id = tg_channel_add_key(change, &key, position++);
        if (keys->cap != NULL)
            set_cap(change, id, keys->cap);
    }
}

enum tg_class tg_store_channel_keys_add(struct tg_db *db, const struct tg_actor *actor,
                                        struct tg_channel_keys_new *keys, struct tg_error *err)
{
    struct tg_change change;
    char after[64];
    int64_t position;
    enum tg_class class = check_keys(keys, err);

    if (class != TG_OK)
        return class;
    keys->same_count = 0;
    tg_change_begin(&change, db, actor, err);
    tg_master_key_share(&change, keys->seal.version);
    position = next_position(&change, keys->channel_id);
    if (keys->replace)
        tg_change_run(&change, "DELETE FROM channel_keys WHERE channel_id = ?",
                      &TG_DB_I(keys->channel_id), 1);
    add_keys(&change, keys, keys->replace ? 0 : position);
    tg_change_routing(&change);
    snprintf(after, sizeof after, "{\"keys\":%zu}", keys->count - keys->same_count);
    tg_channel_note(&change, keys->channel_id,
                    &(struct tg_audit_note){.action = keys->replace ? "channel.key_replace"
                                                                    : "channel.key_add",
                                            .after_json = after});
    return tg_change_end(&change);
}

enum tg_class tg_store_channel_key_cap(struct tg_db *db, const struct tg_actor *actor,
                                       int64_t key_id, const struct tg_key_cap *cap,
                                       struct tg_error *err)
{
    struct tg_change change;
    int64_t channel_id;
    enum tg_class class = tg_key_cap_check(cap, err);

    if (class != TG_OK)
        return class;
    tg_change_begin(&change, db, actor, err);
    channel_id = channel_of(&change, key_id);
    set_cap(&change, key_id, cap);
    tg_change_routing(&change);
    note(&change, "channel.key_cap", channel_id, key_id);
    return tg_change_end(&change);
}

enum tg_class tg_store_channel_key_mode(struct tg_db *db, const struct tg_actor *actor,
                                        int64_t channel_id, const char *mode,
                                        struct tg_error *err)
{
    struct tg_change change;
    char after[64];

    if (*mode != '\0' && strcmp(mode, "polling") != 0 && strcmp(mode, "random") != 0)
        return tg_fail(err, TG_CLASS_INVALID, "invalid_mode",
                       "keys are used in order, polling or random");
    tg_change_begin(&change, db, actor, err);
    (void)next_position(&change, channel_id);
    tg_change_run(&change, "UPDATE channels SET key_mode = ? WHERE id = ?",
                  (struct tg_db_value[]){TG_DB_S(mode), TG_DB_I(channel_id)}, 2);
    tg_change_routing(&change);
    snprintf(after, sizeof after, "{\"key_mode\":\"%s\"}", mode);
    tg_channel_note(&change, channel_id,
                    &(struct tg_audit_note){.action = "channel.key_mode", .after_json = after});
    return tg_change_end(&change);
}
