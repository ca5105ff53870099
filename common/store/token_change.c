#include "common/store/token_change.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/money.h"
#include "common/conf/units.h"
#include "common/json/writer.h"
#include "common/store/authver.h"
#include "common/store/check.h"
#include "common/store/credential.h"
#include "common/store/read.h"

static bool has(const struct tg_token_change *wish, enum tg_token_part part)
{
    return (wish->parts & part) != 0;
}

/* ---- the wish ---- */

static enum tg_class invalid(struct tg_error *err, const char *param, const char *rule)
{
    char code[48];

    snprintf(code, sizeof code, "invalid_%s", param);
    tg_fail(err, TG_CLASS_INVALID, code, "%s", rule);
    if (err != NULL)
        snprintf(err->param, sizeof err->param, "%s", param);
    return TG_CLASS_INVALID;
}

static enum tg_class check_lists(const struct tg_token_change *wish, struct tg_error *err)
{
    enum tg_class class = TG_OK;
    struct tg_cidr unused;

    for (size_t i = 0; has(wish, TG_TOKEN_MODELS) && i < wish->model_count && class == TG_OK; i++)
        class = tg_check_model(wish->models[i], err);
    for (size_t i = 0; has(wish, TG_TOKEN_ADDRESSES) && i < wish->address_count && class == TG_OK;
         i++)
        if (!tg_cidr_parse(wish->addresses[i], &unused))
            class = invalid(err, "address", "an address, or a range like 10.0.0.0/8");
    for (size_t i = 0;
         has(wish, TG_TOKEN_AUTO_GROUPS) && i < wish->auto_group_count && class == TG_OK; i++)
        class = tg_check_group(wish->auto_groups[i], err);
    return class;
}

static enum tg_class check(const struct tg_token_change *wish, struct tg_error *err)
{
    enum tg_class class = TG_OK;

    if (has(wish, TG_TOKEN_NAME))
        class = tg_check_label("name", wish->name, err);
    if (class == TG_OK && has(wish, TG_TOKEN_TEAM) && wish->team[0] != '\0')
        class = tg_check_label("team", wish->team, err);
    if (class == TG_OK && has(wish, TG_TOKEN_STATUS) && strcmp(wish->status, "enabled") != 0 &&
        strcmp(wish->status, "disabled") != 0 && strcmp(wish->status, "revoked") != 0)
        class = invalid(err, "status", "a token is enabled, disabled or revoked");
    if (class == TG_OK && has(wish, TG_TOKEN_LIMIT) && !wish->unlimited &&
        (wish->remain_quota < 0 || wish->remain_quota > TG_QUOTA_MAX))
        class = invalid(err, "limit", "the limit is out of bounds");
    if (class == TG_OK && has(wish, TG_TOKEN_EXPIRES) && wish->expires_unix_us < 0)
        class = invalid(err, "expires", "a time in the future, or never");
    if (class == TG_OK && has(wish, TG_TOKEN_LOSS_POLICY))
        class = tg_check_loss_policy(wish->loss_policy, err);
    return class == TG_OK ? check_lists(wish, err) : class;
}

/* ---- the row before ---- */

/* Whose it is, which never changes: read without a lock, since the user's row is locked first, as
 * the applier does. */
static int64_t owner_of(struct tg_change *change, const struct tg_token_change *wish)
{
    struct tg_db_rows *rows = tg_change_select(change, "SELECT user_id FROM tokens WHERE id = ?",
                                               &TG_DB_I(wish->id), 1);
    int64_t user_id = rows != NULL && tg_db_next(rows) ? tg_db_int(rows, 0) : 0;

    if (rows != NULL && (user_id == 0 || (wish->user_id != 0 && user_id != wish->user_id)))
        change->class = tg_fail(change->err, TG_CLASS_NOT_FOUND, "token_not_found",
                                "there is no token %" PRId64, wish->id);
    tg_db_rows_free(rows);
    return user_id;
}

static void lock_user(struct tg_change *change, int64_t user_id)
{
    tg_db_rows_free(tg_change_select(change, "SELECT id FROM users WHERE id = ? FOR UPDATE",
                                     &TG_DB_I(user_id), 1));
}

struct before {
    int64_t user_id, remain_quota;
    bool unlimited, cross_group_retry;
    const char *name, *team, *status, *group_name, *expires, *models, *addresses, *auto_groups;
    const char *loss_policy;
};

/* Locks the row; texts are borrowed from it. */
static struct tg_db_rows *lock(struct tg_change *change, const struct tg_token_change *wish,
                               struct before *ret)
{
    struct tg_db_rows *rows = tg_change_select(
        change,
        "SELECT user_id, remain_quota, unlimited, name, team, status, group_name, expires_at, "
        "model_limits, allow_addresses, auto_groups, cross_group_retry, loss_policy FROM tokens "
        "WHERE id = ? FOR UPDATE",
        &TG_DB_I(wish->id), 1);

    if (rows == NULL || !tg_db_next(rows))
        return rows;
    *ret = (struct before){.user_id = tg_db_int(rows, 0),
                           .remain_quota = tg_db_int(rows, 1),
                           .unlimited = tg_db_int(rows, 2) != 0,
                           .name = tg_db_text(rows, 3),
                           .team = tg_db_text(rows, 4),
                           .status = tg_db_text(rows, 5),
                           .group_name = tg_db_text(rows, 6),
                           .expires = tg_db_text(rows, 7),
                           .models = tg_db_text(rows, 8),
                           .addresses = tg_db_text(rows, 9),
                           .auto_groups = tg_db_is_null(rows, 10) ? NULL : tg_db_text(rows, 10),
                           .cross_group_retry = tg_db_int(rows, 11) != 0,
                           .loss_policy = tg_db_text(rows, 12)};
    if (strcmp(ret->status, "revoked") == 0)
        change->class = tg_fail(change->err, TG_CLASS_CONFLICT, "token_revoked",
                                "token %" PRId64 " is revoked for good", wish->id);
    return rows;
}

static void require_group(struct tg_change *change, const struct tg_token_change *wish)
{
    struct tg_db_rows *rows;

    if (!has(wish, TG_TOKEN_GROUP) || wish->group_name[0] == '\0' ||
        strcmp(wish->group_name, TG_GROUP_AUTO) == 0)
        return;
    rows = tg_change_select(change, "SELECT 1 FROM `groups` WHERE name = ?",
                            (struct tg_db_value[]){TG_DB_S(wish->group_name)}, 1);
    if (rows != NULL && !tg_db_next(rows))
        change->class = tg_fail(change->err, TG_CLASS_NOT_FOUND, "group_not_found",
                                "there is no group %s", wish->group_name);
    tg_db_rows_free(rows);
}

/* ---- the audit row ---- */

static void put_text(struct tg_json_writer *out, bool wanted, const char *key, const char *text)
{
    if (wanted)
        tg_json_put_str(out, key, text);
}

static void put_json(struct tg_json_writer *out, bool wanted, const char *key, const char *json)
{
    if (!wanted)
        return;
    tg_json_key(out, key);
    if (json == NULL)
        tg_json_write_null(out);
    else
        tg_json_write_raw(out, json, strlen(json));
}

static void write_state(struct tg_buf *buf, const struct tg_token_change *wish,
                        const struct before *state)
{
    struct tg_json_writer out;

    tg_buf_init(buf, 0);
    tg_json_writer_init(&out, buf);
    tg_json_begin_object(&out);
    put_text(&out, has(wish, TG_TOKEN_NAME), "name", state->name);
    put_text(&out, has(wish, TG_TOKEN_TEAM), "team", state->team);
    put_text(&out, has(wish, TG_TOKEN_STATUS), "status", state->status);
    put_text(&out, has(wish, TG_TOKEN_GROUP), "group_name", state->group_name);
    put_text(&out, has(wish, TG_TOKEN_EXPIRES), "expires_at", state->expires);
    put_json(&out, has(wish, TG_TOKEN_MODELS), "model_limits", state->models);
    put_json(&out, has(wish, TG_TOKEN_ADDRESSES), "allow_addresses", state->addresses);
    put_json(&out, has(wish, TG_TOKEN_AUTO_GROUPS), "auto_groups", state->auto_groups);
    if (has(wish, TG_TOKEN_CROSS_GROUPS))
        tg_json_put_bool(&out, "cross_group_retry", state->cross_group_retry);
    put_text(&out, has(wish, TG_TOKEN_LOSS_POLICY), "loss_policy", state->loss_policy);
    if (has(wish, TG_TOKEN_LIMIT)) {
        tg_json_put_bool(&out, "unlimited", state->unlimited);
        tg_json_put_int(&out, "remain_quota", state->remain_quota);
    }
    tg_json_end_object(&out);
}

static void note(struct tg_change *change, const struct tg_token_change *wish,
                 const struct before *old, const struct before *new)
{
    char id[24];
    struct tg_buf was, is;

    snprintf(id, sizeof id, "%" PRId64, wish->id);
    write_state(&was, wish, old);
    write_state(&is, wish, new);
    tg_change_audit(change, &(struct tg_audit_note){.action = "token.change",
                                                    .object_type = "token",
                                                    .object_id = id,
                                                    .before_json = tg_buf_text(&was),
                                                    .after_json = tg_buf_text(&is)});
    tg_buf_done(&was);
    tg_buf_done(&is);
}

/* ---- the change ---- */

static void update(struct tg_change *change, const struct tg_token_change *wish,
                   const struct before *new)
{
    const struct tg_db_value values[] = {
        TG_DB_I(has(wish, TG_TOKEN_NAME)),      TG_DB_S(new->name),
        TG_DB_I(has(wish, TG_TOKEN_TEAM)),      TG_DB_S(new->team),
        TG_DB_I(has(wish, TG_TOKEN_STATUS)),    TG_DB_S(new->status),
        TG_DB_I(has(wish, TG_TOKEN_GROUP)),     TG_DB_S(new->group_name),
        TG_DB_I(has(wish, TG_TOKEN_EXPIRES)),   TG_DB_S(new->expires),
        TG_DB_I(has(wish, TG_TOKEN_MODELS)),    TG_DB_S(new->models),
        TG_DB_I(has(wish, TG_TOKEN_ADDRESSES)), TG_DB_S(new->addresses),
        TG_DB_I(has(wish, TG_TOKEN_AUTO_GROUPS)), TG_DB_S(new->auto_groups),
        TG_DB_I(has(wish, TG_TOKEN_CROSS_GROUPS)), TG_DB_I(new->cross_group_retry),
        TG_DB_I(has(wish, TG_TOKEN_LOSS_POLICY)), TG_DB_S(new->loss_policy),
        TG_DB_I(wish->id)};

    tg_change_run(change,
                  "UPDATE tokens SET name = IF(?, ?, name), team = IF(?, ?, team), "
                  "status = IF(?, ?, status), group_name = IF(?, ?, group_name), "
                  "expires_at = IF(?, ?, expires_at), model_limits = IF(?, ?, model_limits), "
                  "allow_addresses = IF(?, ?, allow_addresses), "
                  "auto_groups = IF(?, ?, auto_groups), "
                  "cross_group_retry = IF(?, ?, cross_group_retry), "
                  "loss_policy = IF(?, ?, loss_policy) WHERE id = ?",
                  values, TG_COUNT_OF(values));
}

/* A new limit is told as the difference to what the books say now: what requests spend meanwhile
 * is taken from it as from the old one. */
static struct tg_authver_raise raise_of(const struct tg_token_change *wish,
                                        const struct before *before)
{
    struct tg_authver_raise raise = {
        .user_id = before->user_id,
        .unlimited = -1,
        .reason = "token.change",
        .keeps_logins = true};

    if (!has(wish, TG_TOKEN_LIMIT))
        return raise;
    raise.token_id = wish->id;
    raise.unlimited = wish->unlimited;
    if (!wish->unlimited)
        raise.delta_quota = wish->remain_quota - before->remain_quota;
    return raise;
}

enum tg_class tg_store_token_change(struct tg_db *db, const struct tg_actor *actor,
                                    const struct tg_token_change *wish,
                                    struct tg_entry *ret_entry, struct tg_error *err)
{
    char expires[TG_TIME_TEXT];
    struct tg_entry entry = {0};
    struct before before = {0};
    struct tg_change change;
    struct tg_db_rows *rows;
    struct tg_buf models, addresses, groups;
    enum tg_class class = check(wish, err);

    if (class != TG_OK)
        return class;
    tg_time_format_sql(wish->expires_unix_us, expires);
    tg_buf_init(&models, 0);
    tg_buf_init(&addresses, 0);
    tg_buf_init(&groups, 0);
    const struct before after = {
        .name = wish->name,
        .team = wish->team,
        .status = wish->status,
        .group_name = wish->group_name,
        .expires = wish->expires_unix_us != 0 ? expires : NULL,
        .models = tg_store_list_json(&models, wish->models, wish->model_count),
        .addresses = tg_store_list_json(&addresses,
                                        wish->address_count != 0 ? wish->addresses : NULL,
                                        wish->address_count),
        .auto_groups = tg_store_list_json(
            &groups, wish->auto_group_count != 0 ? wish->auto_groups : NULL,
            wish->auto_group_count),
        .cross_group_retry = wish->cross_group_retry,
        .unlimited = wish->unlimited,
        .remain_quota = wish->remain_quota,
        .loss_policy = wish->loss_policy};

    tg_change_begin(&change, db, actor, err);
    lock_user(&change, owner_of(&change, wish));
    rows = lock(&change, wish, &before);
    require_group(&change, wish);
    update(&change, wish, &after);
    const struct tg_authver_raise raise = raise_of(wish, &before);
    tg_authver_raise(&change, &raise, &entry);
    if (change.class == TG_OK)
        note(&change, wish, &before, &after);
    tg_db_rows_free(rows);
    tg_buf_done(&models);
    tg_buf_done(&addresses);
    tg_buf_done(&groups);
    class = tg_change_end(&change);
    if (class == TG_OK)
        *ret_entry = entry;
    return class;
}

enum tg_class tg_store_token_owner(struct tg_db *db, int64_t token_id, int64_t *ret_user_id,
                                   struct tg_error *err)
{
    struct tg_db_rows *rows;
    enum tg_class class =
        tg_db_select(db, "SELECT user_id FROM tokens WHERE id = ?", &TG_DB_I(token_id), 1, &rows);

    if (class != TG_OK)
        return tg_store_failed(db, class, err);
    if (tg_db_next(rows))
        *ret_user_id = tg_db_int(rows, 0);
    else
        class = tg_fail(err, TG_CLASS_NOT_FOUND, "token_not_found", "there is no token %" PRId64,
                        token_id);
    tg_db_rows_free(rows);
    return class;
}
