#include "common/store/token.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/base/money.h"
#include "common/json/writer.h"
#include "common/store/authver.h"
#include "common/store/check.h"
#include "common/store/credential.h"
#include "common/store/read.h"

static enum tg_class check(const struct tg_token_new *token, struct tg_error *err)
{
    enum tg_class class = tg_check_label("name", token->name, err);

    if (class == TG_OK && token->group_name[0] != '\0')
        class = tg_check_name("group", token->group_name, err);
    for (size_t i = 0; i < token->auto_group_count && class == TG_OK; i++)
        class = tg_check_group(token->auto_groups[i], err);
    for (size_t i = 0; i < token->model_count && class == TG_OK; i++)
        class = tg_check_model(token->models[i], err);
    if (class == TG_OK && token->loss_policy != NULL)
        class = tg_check_loss_policy(token->loss_policy, err);
    if (class == TG_OK && (token->remain_quota < 0 || token->remain_quota > TG_QUOTA_MAX))
        class = tg_fail(err, TG_CLASS_INVALID, "invalid_limit", "the limit is out of bounds");
    return class;
}

/* A token of another group than its user's would be refused at every use. Those of a list are
 * looked at again by every request: one that may not be used is passed over. */
static enum tg_class check_group(struct tg_db *db, const struct tg_token_new *token,
                                 struct tg_error *err)
{
    struct tg_db_rows *rows;
    bool allowed = false;
    enum tg_class class = tg_db_select(db, "SELECT group_name FROM users WHERE id = ?",
                                       &TG_DB_I(token->user_id), 1, &rows);

    if (class != TG_OK)
        return tg_store_failed(db, class, err);
    if (tg_db_next(rows)) {
        char *own = tg_strdup(tg_db_text(rows, 0));

        tg_db_rows_free(rows);
        allowed = strcmp(own, token->group_name) == 0;
        if (!allowed)
            class = tg_store_group_allowed(db, own, token->group_name, &allowed, err);
        free(own);
    } else {
        tg_db_rows_free(rows);
    }
    if (class == TG_OK && !allowed)
        class = tg_fail(err, TG_CLASS_FORBIDDEN, "group_not_allowed",
                        "the token's user may not use the group %s", token->group_name);
    return class;
}

static void write_raw(struct tg_json_writer *out, const char *key, const struct tg_buf *json)
{
    if (json->len == 0)
        return;
    tg_json_key(out, key);
    tg_json_write_raw(out, json->data, json->len);
}

static void note_added(struct tg_change *change, const struct tg_token_new *token,
                       const struct tg_buf *models, const struct tg_buf *addresses)
{
    char id[24];
    struct tg_json_writer out;
    struct tg_buf after;

    snprintf(id, sizeof id, "%" PRId64, change->done.last_id);
    tg_buf_init(&after, 0);
    tg_json_writer_init(&out, &after);
    tg_json_begin_object(&out);
    tg_json_put_int(&out, "user_id", token->user_id);
    tg_json_put_str(&out, "name", token->name);
    tg_json_put_str(&out, "hint", token->hint);
    tg_json_put_bool(&out, "unlimited", token->unlimited);
    tg_json_put_int(&out, "remain_quota", token->remain_quota);
    write_raw(&out, "model_limits", models);
    write_raw(&out, "allow_addresses", addresses);
    tg_json_end_object(&out);
    tg_change_audit(change, &(struct tg_audit_note){.action = "token.add",
                                                    .object_type = "token",
                                                    .object_id = id,
                                                    .after_json = tg_buf_text(&after)});
    tg_buf_done(&after);
}

enum tg_class tg_store_token_add(struct tg_db *db, const struct tg_actor *actor,
                                 const struct tg_token_new *token, int64_t *ret_id,
                                 struct tg_error *err)
{
    char expires[TG_TIME_TEXT];
    struct tg_change change;
    struct tg_buf models, addresses, groups;
    int64_t id;
    enum tg_class class = check(token, err);

    if (class == TG_OK && token->group_name[0] != '\0' &&
        strcmp(token->group_name, TG_GROUP_AUTO) != 0)
        class = check_group(db, token, err);
    if (class != TG_OK)
        return class;
    tg_time_format_sql(token->expires_unix_us, expires);
    tg_buf_init(&models, 0);
    tg_buf_init(&addresses, 0);
    tg_buf_init(&groups, 0);
    const struct tg_db_value values[] = {
        TG_DB_S(token->key_hmac),
        TG_DB_I(token->user_id),
        TG_DB_S(token->name),
        TG_DB_S(token->hint),
        TG_DB_S(token->group_name),
        TG_DB_I(token->unlimited),
        TG_DB_I(token->remain_quota),
        TG_DB_S(token->expires_unix_us != 0 ? expires : NULL),
        TG_DB_S(tg_store_list_json(&models, token->models, token->model_count)),
        TG_DB_S(tg_store_list_json(&addresses,
                                   token->address_count != 0 ? token->addresses : NULL,
                                   token->address_count)),
        TG_DB_S(tg_store_list_json(&groups,
                                   token->auto_group_count != 0 ? token->auto_groups : NULL,
                                   token->auto_group_count)),
        TG_DB_I(token->cross_group_retry),
        TG_DB_S(token->loss_policy != NULL ? token->loss_policy : "")};

    tg_change_begin(&change, db, actor, err);
    tg_change_run(&change,
                  "INSERT INTO tokens (key_hmac, user_id, name, hint, group_name, unlimited, "
                  "remain_quota, expires_at, model_limits, allow_addresses, auto_groups, "
                  "cross_group_retry, loss_policy) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)",
                  values, TG_COUNT_OF(values));
    id = change.done.last_id;
    note_added(&change, token, &models, &addresses);
    tg_buf_done(&models);
    tg_buf_done(&addresses);
    tg_buf_done(&groups);
    class = tg_change_end(&change);
    if (class == TG_OK)
        *ret_id = id;
    return class;
}

static enum tg_class not_found(struct tg_error *err, int64_t token_id)
{
    return tg_fail(err, TG_CLASS_NOT_FOUND, "token_not_found", "there is no token %" PRId64,
                   token_id);
}

enum tg_class tg_store_token_hmac(struct tg_db *db, int64_t token_id, char ret[TG_HMAC_HEX],
                                  struct tg_error *err)
{
    struct tg_db_rows *rows;
    enum tg_class class = tg_db_select(db, "SELECT key_hmac FROM tokens WHERE id = ?",
                                       &TG_DB_I(token_id), 1, &rows);

    if (class != TG_OK)
        return tg_store_failed(db, class, err);
    if (tg_db_next(rows))
        snprintf(ret, TG_HMAC_HEX, "%s", tg_db_text(rows, 0));
    else
        class = not_found(err, token_id);
    tg_db_rows_free(rows);
    return class;
}

enum tg_class tg_store_token_revoke(struct tg_db *db, const struct tg_actor *actor,
                                    int64_t token_id, struct tg_entry *ret_entry,
                                    struct tg_error *err)
{
    char id[24];
    struct tg_change change;
    struct tg_db_rows *rows;
    int64_t user_id = 0;

    snprintf(id, sizeof id, "%" PRId64, token_id);
    tg_change_begin(&change, db, actor, err);
    rows = tg_change_select(&change, "SELECT user_id FROM tokens WHERE id = ?", &TG_DB_I(token_id),
                            1);
    if (rows != NULL && tg_db_next(rows))
        user_id = tg_db_int(rows, 0);
    else if (rows != NULL)
        change.class = not_found(err, token_id);
    tg_db_rows_free(rows);
    /* the user's row first, as the applier locks them */
    tg_authver_raise(&change,
                     &(struct tg_authver_raise){
                         .user_id = user_id, .unlimited = -1, .reason = "token.revoke"},
                     ret_entry);
    tg_change_run(&change, "UPDATE tokens SET status = 'revoked' WHERE id = ?", &TG_DB_I(token_id),
                  1);
    tg_change_audit(&change, &(struct tg_audit_note){.action = "token.revoke",
                                                     .object_type = "token",
                                                     .object_id = id,
                                                     .after_json = "{\"status\":\"revoked\"}"});
    return tg_change_end(&change);
}
