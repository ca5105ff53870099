#include "common/store/person.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/json/writer.h"
#include "common/store/authver.h"
#include "common/store/check.h"
#include "common/store/read.h"
#include "common/store/user.h"

#define COLUMNS \
    "SELECT id, username, role, group_name, team, status, authver, password_hash, quota, " \
    "used_quota, request_count, locale, time_zone, created_at, accept_unpriced FROM users "

/* ---- reading ---- */

static enum tg_status status_of(const char *text)
{
    static const enum tg_status known[] = {TG_STATUS_ENABLED, TG_STATUS_DISABLED};

    for (size_t i = 0; i < TG_COUNT_OF(known); i++)
        if (strcmp(text, tg_status_name(known[i])) == 0)
            return known[i];
    return TG_STATUS_DELETED;
}

static struct tg_person *read_row(struct tg_arena *arena, const struct tg_db_rows *rows)
{
    struct tg_person *person = tg_arena_alloc(arena, sizeof *person);

    *person = (struct tg_person){
        .id = tg_db_int(rows, 0),
        .username = tg_store_text(arena, rows, 1),
        .role = tg_store_text(arena, rows, 2),
        .group_name = tg_store_text(arena, rows, 3),
        .team = tg_store_text(arena, rows, 4),
        .status = status_of(tg_db_text(rows, 5)),
        .authver = tg_db_int(rows, 6),
        .password_hash = tg_db_is_null(rows, 7) ? NULL : tg_store_text(arena, rows, 7),
        .quota = tg_db_int(rows, 8),
        .used_quota = tg_db_int(rows, 9),
        .request_count = tg_db_int(rows, 10),
        .locale = tg_store_text(arena, rows, 11),
        .time_zone = tg_store_text(arena, rows, 12),
        .created_unix_us = tg_store_time(rows, 13),
        .accept_unpriced = tg_db_int(rows, 14) != 0};
    return person;
}

static enum tg_class find(struct tg_db *db, struct tg_arena *arena, const char *sql,
                          const struct tg_db_value *value, struct tg_person **ret)
{
    struct tg_db_rows *rows;
    enum tg_class class = tg_db_select(db, sql, value, 1, &rows);

    if (class != TG_OK)
        return class;
    *ret = tg_db_next(rows) ? read_row(arena, rows) : NULL;
    tg_db_rows_free(rows);
    return TG_OK;
}

enum tg_class tg_store_person(struct tg_db *db, struct tg_arena *arena, int64_t id,
                              struct tg_person **ret, struct tg_error *err)
{
    return tg_store_failed(db, find(db, arena, COLUMNS "WHERE id = ?", &TG_DB_I(id), ret), err);
}

enum tg_class tg_store_person_named(struct tg_db *db, struct tg_arena *arena, const char *username,
                                    struct tg_person **ret, struct tg_error *err)
{
    const struct tg_db_value value = TG_DB_S(username);

    return tg_store_failed(db, find(db, arena, COLUMNS "WHERE username = ?", &value, ret), err);
}

/* ---- changing ---- */

static enum tg_class invalid(struct tg_error *err, const char *param, const char *rule)
{
    char code[48];

    snprintf(code, sizeof code, "invalid_%s", param);
    tg_fail(err, TG_CLASS_INVALID, code, "%s", rule);
    if (err != NULL)
        snprintf(err->param, sizeof err->param, "%s", param);
    return TG_CLASS_INVALID;
}

static bool is_one_of(const char *text, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(text, words[i]) == 0)
            return true;
    return false;
}

static enum tg_class check(const struct tg_person_change *wish, struct tg_error *err)
{
    static const char *const roles[] = {"user", "admin", "root"};
    static const char *const states[] = {"enabled", "disabled", "deleted"};

    if (wish->role != NULL && !is_one_of(wish->role, roles, TG_COUNT_OF(roles)))
        return invalid(err, "role", "a role is user, admin or root");
    if (wish->status != NULL && !is_one_of(wish->status, states, TG_COUNT_OF(states)))
        return invalid(err, "status", "a user is enabled, disabled or deleted");
    if (wish->team != NULL && wish->team[0] != '\0')
        return tg_check_label("team", wish->team, err);
    return TG_OK;
}

struct before {
    char role[17], status[17], group_name[65];
    bool accept_unpriced;
    const char *team; /* borrowed from the rows */
};

/* Locks the row. */
static struct tg_db_rows *lock(struct tg_change *change, int64_t id, struct before *ret)
{
    struct tg_db_rows *rows = tg_change_select(
        change, "SELECT role, status, group_name, team, accept_unpriced FROM users WHERE id = ? "
        "FOR UPDATE",
        &TG_DB_I(id), 1);

    if (rows == NULL)
        return NULL;
    if (!tg_db_next(rows)) {
        change->class = tg_fail(change->err, TG_CLASS_NOT_FOUND, "user_not_found",
                                "there is no user %" PRId64, id);
        return rows;
    }
    snprintf(ret->role, sizeof ret->role, "%s", tg_db_text(rows, 0));
    snprintf(ret->status, sizeof ret->status, "%s", tg_db_text(rows, 1));
    snprintf(ret->group_name, sizeof ret->group_name, "%s", tg_db_text(rows, 2));
    ret->team = tg_db_text(rows, 3);
    ret->accept_unpriced = tg_db_int(rows, 4) != 0;
    return rows;
}

static bool is_root(const char *role, const char *status)
{
    return strcmp(role, "root") == 0 && strcmp(status, "enabled") == 0;
}

static void require(struct tg_change *change, const char *sql, const struct tg_db_value *value,
                    const struct tg_error *otherwise)
{
    struct tg_db_rows *rows = tg_change_select(change, sql, value, 1);

    if (rows != NULL && !tg_db_next(rows))
        change->class = tg_fail(change->err, otherwise->class, otherwise->code, "%s",
                                otherwise->message);
    tg_db_rows_free(rows);
}

static void require_all(struct tg_change *change, const struct tg_person_change *wish,
                        const struct before *before)
{
    static const struct tg_error no_group = {.class = TG_CLASS_NOT_FOUND,
                                             .code = "group_not_found",
                                             .message = "there is no such group"};
    static const struct tg_error last_root = {.class = TG_CLASS_CONFLICT,
                                              .code = "last_root",
                                              .message = "the last root stays root and enabled"};

    const struct tg_db_value group = TG_DB_S(wish->group_name);

    if (wish->group_name != NULL)
        require(change, "SELECT 1 FROM `groups` WHERE name = ?", &group, &no_group);
    if (is_root(before->role, before->status) &&
        !is_root(wish->role != NULL ? wish->role : before->role,
                 wish->status != NULL ? wish->status : before->status))
        require(change,
                "SELECT 1 FROM users WHERE role = 'root' AND status = 'enabled' AND id <> ? "
                "LIMIT 1 FOR UPDATE",
                &TG_DB_I(wish->id), &last_root);
}

static void put(struct tg_json_writer *out, const char *key, const char *text, bool wanted)
{
    if (wanted)
        tg_json_put_str(out, key, text);
}

static void write_state(struct tg_buf *buf, const struct tg_person_change *wish,
                        const struct tg_person_change *state)
{
    struct tg_json_writer out;

    tg_buf_init(buf, 0);
    tg_json_writer_init(&out, buf);
    tg_json_begin_object(&out);
    put(&out, "role", state->role, wish->role != NULL);
    put(&out, "status", state->status, wish->status != NULL);
    put(&out, "group_name", state->group_name, wish->group_name != NULL);
    put(&out, "team", state->team, wish->team != NULL);
    if (wish->accept_unpriced != NULL)
        tg_json_put_bool(&out, "accept_unpriced", *state->accept_unpriced);
    put(&out, "time_zone", state->time_zone, state == wish && wish->time_zone != NULL);
    put(&out, "password", "changed", state == wish && wish->password_hash != NULL);
    tg_json_end_object(&out);
}

static void note(struct tg_change *change, const struct tg_person_change *wish,
                 const struct before *before)
{
    const struct tg_person_change old = {.role = before->role,
                                         .status = before->status,
                                         .group_name = before->group_name,
                                         .team = before->team,
                                         .accept_unpriced = &before->accept_unpriced};
    char id[24];
    struct tg_buf was, is;

    snprintf(id, sizeof id, "%" PRId64, wish->id);
    write_state(&was, wish, &old);
    write_state(&is, wish, wish);
    tg_change_audit(change, &(struct tg_audit_note){.action = "user.change",
                                                    .object_type = "user",
                                                    .object_id = id,
                                                    .before_json = tg_buf_text(&was),
                                                    .after_json = tg_buf_text(&is)});
    tg_buf_done(&was);
    tg_buf_done(&is);
}

enum tg_class tg_store_person_change(struct tg_db *db, const struct tg_actor *actor,
                                     const struct tg_person_change *wish,
                                     struct tg_entry *ret_entry, struct tg_error *err)
{
    const struct tg_db_value values[] = {
        TG_DB_S(wish->role),          TG_DB_S(wish->status),    TG_DB_S(wish->group_name),
        TG_DB_S(wish->team),          TG_DB_S(wish->time_zone), TG_DB_S(wish->password_hash),
        wish->accept_unpriced != NULL ? TG_DB_I(*wish->accept_unpriced) : TG_DB_N,
        TG_DB_I(wish->id)};
    const struct tg_authver_raise raise = {
        .user_id = wish->id,
        .unlimited = -1,
        .reason = "user.change",
        .keeps_logins =
            wish->role == NULL && wish->status == NULL && wish->password_hash == NULL};
    struct before before = {.team = ""};
    struct tg_entry entry = {0};
    struct tg_change change;
    struct tg_db_rows *rows;
    enum tg_class class = check(wish, err);

    if (class != TG_OK)
        return class;
    tg_change_begin(&change, db, actor, err);
    rows = lock(&change, wish->id, &before);
    if (change.class == TG_OK)
        require_all(&change, wish, &before);
    tg_change_run(&change,
                  "UPDATE users SET role = COALESCE(?, role), status = COALESCE(?, status), "
                  "group_name = COALESCE(?, group_name), team = COALESCE(?, team), "
                  "time_zone = COALESCE(?, time_zone), "
                  "password_hash = COALESCE(?, password_hash), "
                  "accept_unpriced = COALESCE(?, accept_unpriced) WHERE id = ?",
                  values, TG_COUNT_OF(values));
    tg_authver_raise(&change, &raise, &entry);
    note(&change, wish, &before);
    tg_db_rows_free(rows);
    class = tg_change_end(&change);
    if (class == TG_OK)
        *ret_entry = entry;
    return class;
}
