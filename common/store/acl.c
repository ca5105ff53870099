#include "common/store/acl.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/json/writer.h"
#include "common/store/read.h"

static const char *const effects[] = {
    [TG_ACL_NONE] = "none", [TG_ACL_ALLOW] = "allow", [TG_ACL_DENY] = "deny"};

enum tg_class tg_store_acl(struct tg_db *db, struct tg_arena *arena, int64_t user_id,
                           struct tg_acl_grant **ret, size_t *ret_count)
{
    struct tg_acl_grant *list = NULL;
    struct tg_db_rows *rows;
    size_t count = 0;
    enum tg_class class = tg_db_select(
        db, "SELECT permission, effect FROM acl_grants WHERE user_id = ? ORDER BY permission",
        &TG_DB_I(user_id), 1, &rows);

    if (class != TG_OK)
        return class;
    while (tg_db_next(rows)) {
        list = tg_store_grow(arena, list, count, sizeof *list);
        list[count++] = (struct tg_acl_grant){
            .permission = tg_store_text(arena, rows, 0),
            .effect = strcmp(tg_db_text(rows, 1), effects[TG_ACL_ALLOW]) == 0 ? TG_ACL_ALLOW
                                                                              : TG_ACL_DENY};
    }
    tg_db_rows_free(rows);
    *ret = list;
    *ret_count = count;
    return TG_OK;
}

static void note(struct tg_change *change, int64_t user_id, const struct tg_acl_grant *grant)
{
    char user[24];
    struct tg_json_writer out;
    struct tg_buf after;

    snprintf(user, sizeof user, "%" PRId64, user_id);
    tg_buf_init(&after, 0);
    tg_json_writer_init(&out, &after);
    tg_json_begin_object(&out);
    tg_json_put_str(&out, "permission", grant->permission);
    tg_json_put_str(&out, "effect", effects[grant->effect]);
    tg_json_end_object(&out);
    tg_change_audit(change, &(struct tg_audit_note){.action = "user.grant",
                                                    .object_type = "user",
                                                    .object_id = user,
                                                    .after_json = tg_buf_text(&after)});
    tg_buf_done(&after);
}

enum tg_class tg_store_acl_set(struct tg_db *db, const struct tg_actor *actor, int64_t user_id,
                               const struct tg_acl_grant *grant, struct tg_error *err)
{
    const struct tg_db_value values[] = {TG_DB_I(user_id), TG_DB_S(grant->permission),
                                         TG_DB_S(effects[grant->effect])};
    size_t len = strlen(grant->permission);
    struct tg_db_rows *rows;
    struct tg_change change;

    if (len == 0 || len > 64 ||
        strspn(grant->permission, "abcdefghijklmnopqrstuvwxyz0123456789.:_-") != len)
        return tg_fail(err, TG_CLASS_INVALID, "invalid_permission",
                       "a permission is 1 to 64 small letters, digits and . : _ -");
    tg_change_begin(&change, db, actor, err);
    rows = tg_change_select(&change, "SELECT 1 FROM users WHERE id = ? FOR UPDATE",
                            &TG_DB_I(user_id), 1);
    if (rows != NULL && !tg_db_next(rows))
        change.class = tg_fail(err, TG_CLASS_NOT_FOUND, "user_not_found",
                               "there is no user %" PRId64, user_id);
    tg_db_rows_free(rows);
    if (grant->effect == TG_ACL_NONE)
        tg_change_run(&change, "DELETE FROM acl_grants WHERE user_id = ? AND permission = ?",
                      values, 2);
    else
        tg_change_run(&change,
                      "REPLACE INTO acl_grants (user_id, permission, effect) VALUES (?,?,?)",
                      values, 3);
    note(&change, user_id, grant);
    return tg_change_end(&change);
}
