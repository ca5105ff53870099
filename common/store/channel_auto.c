#include "common/store/channel.h"

#include <stdio.h>
#include <string.h>

#include "common/json/writer.h"
#include "common/store/channel_parts.h"

static const struct tg_actor gateway = {.user_id = 0, .address = "gateway"};

/* Locks the row and looks whether the verdict still fits what is there. */
static bool may_disable(struct tg_change *change, const struct tg_channel_verdict *why)
{
    const struct tg_db_value values[] = {TG_DB_I(why->key_id), TG_DB_I(why->key_id),
                                         TG_DB_I(why->channel_id)};
    struct tg_db_rows *rows = tg_change_select(
        change,
        "SELECT c.status = 'enabled' AND c.auto_disable = 1, "
        "(SELECT COUNT(*) FROM channel_keys k WHERE k.channel_id = c.id AND k.id = ?), "
        "(SELECT COUNT(*) FROM channel_keys k WHERE k.channel_id = c.id AND k.id <> ? "
        "AND k.state NOT IN ('disabled', 'suspended')) FROM channels c WHERE c.id = ? FOR UPDATE",
        values, TG_COUNT_OF(values));
    bool may = rows != NULL && tg_db_next(rows) && tg_db_int(rows, 0) != 0 &&
               (why->key_id == 0 || (tg_db_int(rows, 1) != 0 && tg_db_int(rows, 2) == 0));

    tg_db_rows_free(rows);
    return may;
}

static bool may_enable(struct tg_change *change, const struct tg_channel_verdict *why)
{
    struct tg_db_rows *rows =
        tg_change_select(change, "SELECT status FROM channels WHERE id = ? FOR UPDATE",
                         &TG_DB_I(why->channel_id), 1);
    bool may =
        rows != NULL && tg_db_next(rows) && strcmp(tg_db_text(rows, 0), "auto_disabled") == 0;

    tg_db_rows_free(rows);
    return may;
}

static void note(struct tg_change *change, const struct tg_channel_verdict *why,
                 const char *action, const char *status)
{
    struct tg_json_writer out;
    struct tg_buf after;

    tg_buf_init(&after, 0);
    tg_json_writer_init(&out, &after);
    tg_json_begin_object(&out);
    tg_json_put_str(&out, "status", status);
    tg_json_put_str(&out, "reason", why->reason);
    tg_json_end_object(&out);
    tg_channel_note(change, why->channel_id,
                    &(struct tg_audit_note){.action = action, .after_json = tg_buf_text(&after)});
    tg_buf_done(&after);
}

/* Status and abilities in one transaction. */
static void set(struct tg_change *change, const struct tg_channel_verdict *why,
                const char *status, const char *reason)
{
    const struct tg_db_value values[] = {TG_DB_S(status), TG_DB_S(reason),
                                         TG_DB_I(why->channel_id)};

    tg_change_run(change,
                  "UPDATE channels SET status = ?, status_reason = LEFT(?, 255) WHERE id = ?",
                  values, TG_COUNT_OF(values));
    tg_channel_rewrite_abilities(change, why->channel_id);
}

enum tg_class tg_store_channel_auto_disable(struct tg_db *db, const struct tg_channel_verdict *why,
                                            bool *ret_done, struct tg_error *err)
{
    struct tg_change change;

    tg_change_begin(&change, db, &gateway, err);
    *ret_done = may_disable(&change, why);
    if (*ret_done) {
        set(&change, why, "auto_disabled", why->reason);
        note(&change, why, "channel.auto_disable", "auto_disabled");
    }
    return tg_change_end(&change);
}

/* The key that a test was made with works again. */
static void revive_key(struct tg_change *change, const struct tg_channel_verdict *why)
{
    const struct tg_db_value values[] = {TG_DB_I(why->key_id), TG_DB_I(why->channel_id)};

    tg_change_run(change,
                  "UPDATE channel_keys SET state = 'active', state_until_at = NULL, "
                  "state_reason = '', state_event = state_event + 1 WHERE id = ? "
                  "AND channel_id = ? AND state NOT IN ('active', 'disabled')",
                  values, TG_COUNT_OF(values));
}

enum tg_class tg_store_channel_auto_enable(struct tg_db *db, const struct tg_channel_verdict *why,
                                           bool *ret_done, struct tg_error *err)
{
    struct tg_change change;

    tg_change_begin(&change, db, &gateway, err);
    *ret_done = may_enable(&change, why);
    if (*ret_done) {
        set(&change, why, "enabled", "");
        revive_key(&change, why);
        note(&change, why, "channel.auto_enable", "enabled");
    }
    return tg_change_end(&change);
}
