/* The rows of group_access. */
#include "common/store/group.h"

#include <stdio.h>
#include <string.h>

#include "common/json/writer.h"
#include "common/store/check.h"

static void note(struct tg_change *change, const char *action, const struct tg_group_access *access,
                 bool gone)
{
    char object[192];
    struct tg_json_writer out;
    struct tg_buf after;

    snprintf(object, sizeof object, "%s>%s", access->user_group, access->used_group);
    tg_buf_init(&after, 0);
    tg_json_writer_init(&out, &after);
    tg_json_begin_object(&out);
    if (!gone) {
        tg_json_put_bool(&out, "allowed", access->allowed);
        tg_json_put_str(&out, "ratio", access->ratio);
    }
    tg_json_end_object(&out);
    tg_change_audit(change, &(struct tg_audit_note){.action = action,
                                                    .object_type = "group_access",
                                                    .object_id = object,
                                                    .after_json = tg_buf_text(&after)});
    tg_buf_done(&after);
}

static void require_group(struct tg_change *change, const char *name)
{
    struct tg_db_rows *rows = tg_change_select(
        change, "SELECT 1 FROM `groups` WHERE name = ?", (struct tg_db_value[]){TG_DB_S(name)}, 1);

    if (rows != NULL && !tg_db_next(rows))
        change->class = tg_fail(change->err, TG_CLASS_NOT_FOUND, "group_not_found",
                                "there is no group %s", name);
    tg_db_rows_free(rows);
}

enum tg_class tg_store_group_access_set(struct tg_db *db, const struct tg_actor *actor,
                                        const struct tg_group_access *access, struct tg_error *err)
{
    const char *ratio = access->ratio != NULL && access->ratio[0] != '\0' ? access->ratio : NULL;
    const struct tg_db_value values[] = {TG_DB_S(access->user_group), TG_DB_S(access->used_group),
                                         TG_DB_S(ratio), TG_DB_I(access->allowed)};
    struct tg_change change;
    enum tg_class class = tg_check_group(access->used_group, err);

    if (class == TG_OK)
        class = tg_check_group(access->user_group, err);
    if (class == TG_OK && ratio != NULL)
        class = tg_check_ratio(ratio, err);
    if (class != TG_OK)
        return class;
    tg_change_begin(&change, db, actor, err);
    require_group(&change, access->user_group);
    require_group(&change, access->used_group);
    tg_change_run(&change,
                  "REPLACE INTO group_access (user_group, used_group, ratio, allowed) "
                  "VALUES (?,?,?,?)",
                  values, TG_COUNT_OF(values));
    tg_change_routing(&change);
    note(&change, "group.access", access, false);
    return tg_change_end(&change);
}

enum tg_class tg_store_group_access_delete(struct tg_db *db, const struct tg_actor *actor,
                                           const struct tg_group_access *access,
                                           struct tg_error *err)
{
    const struct tg_db_value values[] = {TG_DB_S(access->user_group), TG_DB_S(access->used_group)};
    struct tg_change change;

    tg_change_begin(&change, db, actor, err);
    tg_change_run(&change, "DELETE FROM group_access WHERE user_group = ? AND used_group = ?",
                  values, TG_COUNT_OF(values));
    if (change.class == TG_OK && change.done.affected == 0)
        change.class = tg_fail(err, TG_CLASS_NOT_FOUND, "access_not_found",
                               "nothing is said about %s using %s", access->user_group,
                               access->used_group);
    tg_change_routing(&change);
    note(&change, "group.access_delete", access, true);
    return tg_change_end(&change);
}
