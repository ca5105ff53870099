#include "common/store/group.h"

#include <stdio.h>
#include <string.h>

#include "common/json/writer.h"
#include "common/store/check.h"
#include "common/store/read.h"

enum { RATIO_TEXT = 34 };

/* ---- groups ---- */

static void put(struct tg_json_writer *out, const char *key, const char *text)
{
    if (text != NULL)
        tg_json_put_str(out, key, text);
}

static void write_group(const struct tg_group_change *state, struct tg_buf *buf)
{
    struct tg_json_writer out;

    tg_buf_init(buf, 0);
    tg_json_writer_init(&out, buf);
    tg_json_begin_object(&out);
    put(&out, "ratio", state->ratio);
    put(&out, "order_mode", state->order_mode);
    put(&out, "description", state->description);
    put(&out, "deposit_factor", state->deposit_factor);
    tg_json_end_object(&out);
}

/* The row before, as JSON in <before>; takes its lock. False when there is none. */
static bool lock_group(struct tg_change *change, const char *name, struct tg_buf *before)
{
    char ratio[RATIO_TEXT], factor[RATIO_TEXT];
    struct tg_group_change state;
    struct tg_db_rows *rows = tg_change_select(
        change,
        "SELECT ratio, order_mode, description, deposit_factor FROM `groups` WHERE name = ? "
        "FOR UPDATE",
        (struct tg_db_value[]){TG_DB_S(name)}, 1);
    bool found = rows != NULL && tg_db_next(rows);

    if (found) {
        tg_store_decimal(rows, 0, ratio, sizeof ratio);
        tg_store_decimal(rows, 3, factor, sizeof factor);
        state = (struct tg_group_change){.ratio = ratio,
                                         .order_mode = tg_db_text(rows, 1),
                                         .description = tg_db_text(rows, 2),
                                         .deposit_factor = factor};
        write_group(&state, before);
    }
    tg_db_rows_free(rows);
    return found;
}

static void note(struct tg_change *change, const char *action, const char *name,
                 struct tg_buf *before, struct tg_buf *after)
{
    tg_change_audit(change,
                    &(struct tg_audit_note){
                        .action = action,
                        .object_type = "group",
                        .object_id = name,
                        .before_json = before->len > 0 ? tg_buf_text(before) : NULL,
                        .after_json = after->len > 0 ? tg_buf_text(after) : NULL});
    tg_buf_done(before);
    tg_buf_done(after);
}

static enum tg_class check_factor(const char *text, struct tg_error *err)
{
    enum tg_class class = tg_check_ratio(text, err);

    if (class != TG_OK)
        snprintf(err->param, sizeof err->param, "deposit_factor");
    return class;
}

static enum tg_class check_order(const char *mode, struct tg_error *err)
{
    if (*mode == '\0' || strcmp(mode, TG_GROUP_SPEND_FREE_FIRST) == 0)
        return TG_OK;
    tg_fail(err, TG_CLASS_INVALID, "invalid_order",
            "the order in a group is empty (priority and weight) or " TG_GROUP_SPEND_FREE_FIRST);
    if (err != NULL)
        snprintf(err->param, sizeof err->param, "order_mode");
    return TG_CLASS_INVALID;
}

static enum tg_class check(const struct tg_group_change *wish, struct tg_error *err)
{
    enum tg_class class = tg_check_group(wish->name, err);

    if (class == TG_OK && wish->ratio != NULL)
        class = tg_check_ratio(wish->ratio, err);
    if (class == TG_OK && wish->deposit_factor != NULL && wish->deposit_factor[0] != '\0')
        class = check_factor(wish->deposit_factor, err);
    if (class == TG_OK && wish->description != NULL && wish->description[0] != '\0')
        class = tg_check_label("description", wish->description, err);
    if (class == TG_OK && wish->order_mode != NULL)
        class = check_order(wish->order_mode, err);
    return class;
}

enum tg_class tg_store_group_change(struct tg_db *db, const struct tg_actor *actor,
                                    const struct tg_group_change *wish, struct tg_error *err)
{
    const struct tg_db_value values[] = {
        TG_DB_S(wish->name),           TG_DB_S(wish->ratio),
        TG_DB_S(wish->order_mode),     TG_DB_S(wish->description),
        TG_DB_S(wish->deposit_factor), TG_DB_S(wish->ratio),
        TG_DB_S(wish->order_mode),     TG_DB_S(wish->description),
        TG_DB_S(wish->deposit_factor), TG_DB_S(wish->deposit_factor)};
    struct tg_change change;
    struct tg_buf before, after;
    enum tg_class class = check(wish, err);

    if (class != TG_OK)
        return class;
    tg_buf_init(&before, 0);
    tg_change_begin(&change, db, actor, err);
    (void)lock_group(&change, wish->name, &before);
    tg_change_run(&change,
                  "INSERT INTO `groups` (name, ratio, order_mode, description, deposit_factor) "
                  "VALUES (?, COALESCE(?, 1), COALESCE(?, ''), COALESCE(?, ''), NULLIF(?, '')) "
                  "ON DUPLICATE KEY UPDATE "
                  "ratio = COALESCE(?, ratio), order_mode = COALESCE(?, order_mode), "
                  "description = COALESCE(?, description), "
                  "deposit_factor = IF(? IS NULL, deposit_factor, NULLIF(?, ''))",
                  values, TG_COUNT_OF(values));
    tg_change_routing(&change);
    write_group(wish, &after);
    note(&change, "group.set", wish->name, &before, &after);
    return tg_change_end(&change);
}

enum tg_class tg_store_group_set(struct tg_db *db, const struct tg_actor *actor, const char *name,
                                 const char *ratio, struct tg_error *err)
{
    const struct tg_group_change wish = {.name = name, .ratio = ratio};

    return tg_store_group_change(db, actor, &wish, err);
}

enum tg_class tg_store_group_delete(struct tg_db *db, const struct tg_actor *actor,
                                    const char *name, struct tg_error *err)
{
    const struct tg_db_value values[] = {TG_DB_S(name), TG_DB_S(name), TG_DB_S(name)};
    struct tg_buf before, after;
    struct tg_change change;
    struct tg_db_rows *rows;

    tg_buf_init(&before, 0);
    tg_buf_init(&after, 0);
    tg_change_begin(&change, db, actor, err);
    if (!lock_group(&change, name, &before) && change.class == TG_OK)
        change.class = tg_fail(err, TG_CLASS_NOT_FOUND, "group_not_found", "there is no group %s",
                               name);
    rows = tg_change_select(&change,
                            "SELECT 1 FROM DUAL WHERE EXISTS (SELECT 1 FROM users WHERE "
                            "group_name = ?) OR EXISTS (SELECT 1 FROM tokens WHERE group_name = ? "
                            "AND status <> 'revoked') OR EXISTS (SELECT 1 FROM abilities WHERE "
                            "group_name = ?)",
                            values, TG_COUNT_OF(values));
    if (rows != NULL && tg_db_next(rows))
        change.class = tg_fail(err, TG_CLASS_CONFLICT, "group_used",
                               "users, tokens or channels are in the group %s", name);
    tg_db_rows_free(rows);
    tg_change_run(&change, "DELETE FROM `groups` WHERE name = ?", values, 1);
    tg_change_run(&change, "DELETE FROM group_access WHERE user_group = ? OR used_group = ?",
                  values, 2);
    tg_change_routing(&change);
    note(&change, "group.delete", name, &before, &after);
    return tg_change_end(&change);
}
