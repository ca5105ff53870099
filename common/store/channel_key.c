#include "common/store/channel_change.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/store/channel_parts.h"
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

enum tg_class tg_store_channel_key_add(struct tg_db *db, const struct tg_actor *actor,
                                       const struct tg_channel_key_new *key, int64_t *ret_id,
                                       struct tg_error *err)
{
    struct tg_change change;
    int64_t id, position;
    enum tg_class class = tg_channel_check_key(key->key, err);

    if (class != TG_OK)
        return class;
    tg_change_begin(&change, db, actor, err);
    position = next_position(&change, key->channel_id);
    id = tg_channel_add_key(&change, key, position);
    tg_change_routing(&change);
    note(&change, "channel.key_add", key->channel_id, id);
    class = tg_change_end(&change);
    if (class == TG_OK)
        *ret_id = id;
    return class;
}

enum tg_class tg_store_channel_key_replace(struct tg_db *db, const struct tg_actor *actor,
                                           const struct tg_channel_key_new *key,
                                           struct tg_error *err)
{
    struct tg_change change;
    int64_t id;
    enum tg_class class = tg_channel_check_key(key->key, err);

    if (class != TG_OK)
        return class;
    tg_change_begin(&change, db, actor, err);
    (void)next_position(&change, key->channel_id);
    tg_change_run(&change, "DELETE FROM channel_keys WHERE channel_id = ?",
                  &TG_DB_I(key->channel_id), 1);
    id = tg_channel_add_key(&change, key, 0);
    tg_change_routing(&change);
    note(&change, "channel.key_replace", key->channel_id, id);
    return tg_change_end(&change);
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
