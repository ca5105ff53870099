#include "common/store/key_state.h"

#include <stdio.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/store/channel_parts.h"
#include "common/store/read.h"

#define STRENGTH(state) "FIELD(" state ", 'active', 'resting', 'exhausted', 'suspended')"

static struct tg_key_row_state row_of(const struct tg_db_rows *rows)
{
    struct tg_key_row_state row = {.key_id = tg_db_int(rows, 0),
                                   .event = tg_db_int(rows, 1),
                                   .until_s = tg_store_time(rows, 3) / 1000000};

    snprintf(row.state, sizeof row.state, "%s", tg_db_text(rows, 2));
    return row;
}

static void sql_time(int64_t unix_s, char text[TG_TIME_TEXT])
{
    tg_time_format_sql(unix_s * 1000000, text);
}

static void update(struct tg_change *change, const struct tg_key_mark *mark)
{
    char until[TG_TIME_TEXT];
    struct tg_db_value until_value = TG_DB_N;

    if (mark->until_s != 0) {
        sql_time(mark->until_s, until);
        until_value = TG_DB_S(until);
    }
    const struct tg_db_value values[] = {
        TG_DB_S(mark->state), until_value,          TG_DB_S(mark->reason),
        TG_DB_I(mark->judged_event), TG_DB_I(mark->key_id), TG_DB_I(mark->judged_event),
        TG_DB_S(mark->state), TG_DB_S(mark->state), TG_DB_S(mark->state), until_value};

    tg_change_run(change,
                  "UPDATE channel_keys SET state = ?, state_until_at = ?, state_reason = ?, "
                  "state_event = GREATEST(state_event, ?) + 1 WHERE id = ? "
                  "AND state <> 'disabled' AND (state_event <= ? OR (? <> 'active' "
                  "AND state <> 'active' AND (" STRENGTH("?") " > " STRENGTH("state")
                  " OR (state = ? AND state_until_at < ?))))",
                  values, TG_COUNT_OF(values));
}

static void read_back(struct tg_change *change, int64_t key_id, bool changed,
                      struct tg_key_row_state *ret)
{
    struct tg_db_rows *rows = tg_change_select(
        change,
        "SELECT id, state_event, state, state_until_at, channel_id FROM channel_keys WHERE id = ?",
        &TG_DB_I(key_id), 1);
    char after[64];

    if (rows == NULL)
        return;
    if (tg_db_next(rows)) {
        int64_t channel_id = tg_db_int(rows, 4);

        *ret = row_of(rows);
        snprintf(after, sizeof after, "{\"key_id\":%lld}", (long long)key_id);
        if (changed && strcmp(ret->state, "suspended") == 0)
            tg_channel_note(change, channel_id,
                            &(struct tg_audit_note){.action = "channel.key_suspend",
                                                    .after_json = after});
    }
    tg_db_rows_free(rows);
}

enum tg_class tg_store_key_mark(struct tg_db *db, const struct tg_key_mark *mark,
                                struct tg_key_row_state *ret, struct tg_error *err)
{
    static const struct tg_actor nobody = {.user_id = 0, .address = ""};
    struct tg_key_row_state row = {.key_id = 0};
    struct tg_change change;
    enum tg_class class;

    tg_change_begin(&change, db, &nobody, err);
    update(&change, mark);
    read_back(&change, mark->key_id, change.done.affected > 0, &row);
    class = tg_change_end(&change);
    if (class == TG_OK)
        *ret = row;
    return class;
}

enum tg_class tg_store_key_states(struct tg_db *db, tg_key_row_fn *visit, void *context,
                                  struct tg_error *err)
{
    struct tg_db_rows *rows;
    enum tg_class class = tg_db_select(db,
                                       "SELECT id, state_event, state, state_until_at FROM "
                                       "channel_keys WHERE state_event > 0",
                                       NULL, 0, &rows);

    if (class != TG_OK)
        return tg_store_failed(db, class, err);
    while (tg_db_next(rows)) {
        const struct tg_key_row_state row = row_of(rows);

        visit(context, &row);
    }
    tg_db_rows_free(rows);
    return TG_OK;
}

/* --- use ----------------------------------------------------------------------------------- */

/* The day's use of a row; assignments go from left to right, so `used` still sees the old day. */
#define ADD_USE \
    "UPDATE channel_keys SET used = IF(used_since_at = ?, used, 0) + ?, used_since_at = ? " \
    "WHERE id = ? AND (used_since_at IS NULL OR used_since_at <= ?)"

enum tg_class tg_store_key_use(struct tg_db *db, const struct tg_key_use *use,
                               struct tg_error *err)
{
    char since[TG_TIME_TEXT];

    sql_time(use->period_s, since);
    const struct tg_db_value values[] = {TG_DB_S(since), TG_DB_I(use->amount), TG_DB_S(since),
                                         TG_DB_I(use->key_id), TG_DB_S(since)};

    return tg_db_run(db, ADD_USE, values, TG_COUNT_OF(values), err);
}

enum tg_class tg_store_key_take(struct tg_db *db, const struct tg_key_use *use, bool *ret_taken,
                                struct tg_error *err)
{
    char since[TG_TIME_TEXT];
    enum tg_class class;

    sql_time(use->period_s, since);
    const struct tg_db_value values[] = {
        TG_DB_S(since),       TG_DB_I(use->amount), TG_DB_S(since),      TG_DB_I(use->key_id),
        TG_DB_S(since),       TG_DB_S(since),       TG_DB_I(use->amount)};

    class = tg_db_run(db, ADD_USE " AND IF(used_since_at = ?, used, 0) + ? <= cap_value", values,
                      TG_COUNT_OF(values), err);
    if (class == TG_OK)
        *ret_taken = tg_db_done(db).affected > 0;
    return class;
}
