#include "common/store/user.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/json/writer.h"
#include "common/store/check.h"
#include "common/store/read.h"

const char *tg_status_name(enum tg_status status)
{
    static const char *const names[] = {[TG_STATUS_ENABLED] = "enabled",
                                        [TG_STATUS_DISABLED] = "disabled",
                                        [TG_STATUS_REVOKED] = "revoked",
                                        [TG_STATUS_DELETED] = "deleted"};

    return names[status];
}

static enum tg_class check(const struct tg_user_new *user, struct tg_error *err)
{
    enum tg_class class = tg_check_name("username", user->username, err);

    if (class == TG_OK)
        class = tg_check_group(user->group_name, err);
    if (class != TG_OK)
        return class;
    if (strcmp(user->role, "user") != 0 && strcmp(user->role, "admin") != 0 &&
        strcmp(user->role, "root") != 0)
        return tg_fail(err, TG_CLASS_INVALID, "invalid_role", "a role is user, admin or root");
    return TG_OK;
}

static void require_group(struct tg_change *change, const char *name)
{
    struct tg_db_rows *rows =
        tg_change_select(change, "SELECT 1 FROM `groups` WHERE name = ?",
                         (struct tg_db_value[]){TG_DB_S(name)}, 1);

    if (rows != NULL && !tg_db_next(rows))
        change->class = tg_fail(change->err, TG_CLASS_NOT_FOUND, "group_not_found",
                                "there is no group %s", name);
    tg_db_rows_free(rows);
}

static void note(struct tg_change *change, const char *action, int64_t id, struct tg_buf *after)
{
    char text[24];

    snprintf(text, sizeof text, "%" PRId64, id);
    tg_change_audit(change, &(struct tg_audit_note){.action = action,
                                                    .object_type = "user",
                                                    .object_id = text,
                                                    .after_json = tg_buf_text(after)});
    tg_buf_done(after);
}

enum tg_class tg_store_user_add(struct tg_db *db, const struct tg_actor *actor,
                                const struct tg_user_new *user, int64_t *ret_id,
                                struct tg_error *err)
{
    const struct tg_db_value values[] = {TG_DB_S(user->username), TG_DB_S(user->role),
                                         TG_DB_S(user->group_name), TG_DB_S(user->password_hash)};
    struct tg_change change;
    struct tg_json_writer out;
    struct tg_buf after;
    int64_t id;
    enum tg_class class = check(user, err);

    if (class != TG_OK)
        return class;
    tg_change_begin(&change, db, actor, err);
    require_group(&change, user->group_name);
    tg_change_run(&change,
                  "INSERT INTO users (username, role, group_name, password_hash) "
                  "VALUES (?, ?, ?, ?)",
                  values, TG_COUNT_OF(values));
    if (change.class == TG_CLASS_CONFLICT && strcmp(err->code, "db_duplicate") == 0)
        change.class = tg_fail(err, TG_CLASS_CONFLICT, "user_exists", "there is a user %s already",
                               user->username);
    id = change.done.last_id;
    tg_buf_init(&after, 0);
    tg_json_writer_init(&out, &after);
    tg_json_begin_object(&out);
    tg_json_put_str(&out, "username", user->username);
    tg_json_put_str(&out, "role", user->role);
    tg_json_put_str(&out, "group_name", user->group_name);
    tg_json_end_object(&out);
    note(&change, "user.add", id, &after);
    class = tg_change_end(&change);
    if (class == TG_OK)
        *ret_id = id;
    return class;
}

enum tg_class tg_store_user_id(struct tg_db *db, const char *username, int64_t *ret_id,
                               struct tg_error *err)
{
    struct tg_db_rows *rows;
    enum tg_class class = tg_db_select(db, "SELECT id FROM users WHERE username = ?",
                                       (struct tg_db_value[]){TG_DB_S(username)}, 1, &rows);

    if (class != TG_OK)
        return tg_store_failed(db, class, err);
    if (tg_db_next(rows))
        *ret_id = tg_db_int(rows, 0);
    else
        class = tg_fail(err, TG_CLASS_NOT_FOUND, "user_not_found", "there is no user %s", username);
    tg_db_rows_free(rows);
    return class;
}

enum tg_class tg_store_user_token_hmacs(struct tg_db *db, int64_t user_id, struct tg_arena *arena,
                                        const char ***ret, size_t *ret_count)
{
    struct tg_db_rows *rows;
    size_t count = 0;
    const char **list = NULL;
    enum tg_class class = tg_db_select(
        db, "SELECT key_hmac FROM tokens WHERE user_id = ? AND status = 'enabled' ORDER BY id",
        &TG_DB_I(user_id), 1, &rows);

    if (class != TG_OK)
        return class;
    while (tg_db_next(rows)) {
        list = tg_store_grow(arena, list, count, sizeof *list);
        list[count++] = tg_store_text(arena, rows, 0);
    }
    tg_db_rows_free(rows);
    *ret = list;
    *ret_count = count;
    return TG_OK;
}
