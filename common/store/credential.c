#include "common/store/credential.h"

#include <inttypes.h>
#include <string.h>

#include "common/json/json.h"
#include "common/store/read.h"

/* What is not known is as good as deleted. */
static enum tg_status status_of(const char *text)
{
    static const char *const names[] = {[TG_STATUS_ENABLED] = "enabled",
                                        [TG_STATUS_DISABLED] = "disabled",
                                        [TG_STATUS_REVOKED] = "revoked"};

    for (size_t i = 0; i < TG_COUNT_OF(names); i++)
        if (strcmp(text, names[i]) == 0)
            return (enum tg_status)i;
    return TG_STATUS_DELETED;
}

/* A column that holds a list of strings. A limit that cannot be read must not read as "no limit",
 * so that is an error. */
static enum tg_class read_list(struct tg_arena *arena, const char *json, const char ***ret,
                               size_t *ret_count, struct tg_error *err)
{
    struct tg_json *root;
    size_t count;
    enum tg_class class = tg_json_parse(json, strlen(json), &root, NULL);
    bool good = class == TG_OK && tg_json_type(root) == TG_JSON_ARRAY;

    if (class != TG_OK)
        root = NULL;
    count = good ? tg_json_array_len(root) : 0;
    *ret = tg_arena_calloc(arena, count + 1, sizeof **ret);
    for (size_t i = 0; good && i < count; i++) {
        struct tg_span text;

        good = tg_json_string(tg_json_array_at(root, i), &text);
        if (good)
            (*ret)[i] = tg_arena_strndup(arena, text.ptr, text.len);
    }
    *ret_count = count;
    tg_json_free(root);
    if (!good)
        return tg_fail(err, TG_CLASS_INTERNAL, "token_row", "a list of a token cannot be read");
    return TG_OK;
}

static enum tg_class read_addresses(struct tg_arena *arena, const char *json,
                                    struct tg_credential *credential, struct tg_error *err)
{
    const char **texts;
    size_t count;
    struct tg_cidr *list;
    enum tg_class class = read_list(arena, json, &texts, &count, err);

    if (class != TG_OK)
        return class;
    list = tg_arena_calloc(arena, count + 1, sizeof *list);
    for (size_t i = 0; i < count; i++)
        if (!tg_cidr_parse(texts[i], &list[i]))
            return tg_fail(err, TG_CLASS_INTERNAL, "token_row",
                           "an address range of a token cannot be read");
    credential->addresses = list;
    credential->address_count = count;
    return TG_OK;
}

static enum tg_class read_limits(struct tg_arena *arena, const struct tg_db_rows *rows,
                                 struct tg_credential *credential, struct tg_error *err)
{
    const char **models;
    enum tg_class class = TG_OK;

    if (!tg_db_is_null(rows, 9)) {
        class = read_list(arena, tg_db_text(rows, 9), &models, &credential->model_count, err);
        if (class != TG_OK)
            return class;
        credential->models_limited = true;
        credential->models = models;
    }
    if (!tg_db_is_null(rows, 10))
        class = read_addresses(arena, tg_db_text(rows, 10), credential, err);
    if (class == TG_OK && !tg_db_is_null(rows, 18)) {
        const char **groups;

        class = read_list(arena, tg_db_text(rows, 18), &groups, &credential->auto_group_count, err);
        if (class == TG_OK)
            credential->auto_groups = groups;
    }
    return class;
}

/* Plans before the wallet, unless the user says otherwise. Behind a plan the wallet pays only when
 * one of the plans lets it. */
static const char *read_funding(struct tg_arena *arena, const struct tg_db_rows *rows)
{
    const char *preference = tg_db_text(rows, 20), *plans = tg_store_text(arena, rows, 21);
    bool overflow = tg_db_int(rows, 22) != 0;

    if (strcmp(preference, "subscription_only") == 0)
        return plans;
    if (strcmp(preference, "wallet_only") == 0 || plans[0] == '\0')
        return "0";
    if (strcmp(preference, "wallet_first") == 0)
        return tg_arena_printf(arena, "0 %s", plans);
    return overflow ? tg_arena_printf(arena, "%s 0", plans) : plans;
}

static enum tg_class read_row(struct tg_arena *arena, const struct tg_db_rows *rows,
                              struct tg_credential **ret, struct tg_error *err)
{
    struct tg_credential *credential = tg_arena_calloc(arena, 1, sizeof *credential);
    enum tg_class class;

    *credential = (struct tg_credential){
        .token_id = tg_db_int(rows, 0),
        .user_id = tg_db_int(rows, 1),
        .token_name = tg_store_text(arena, rows, 2),
        /* the token's own label wins over its user's */
        .team = tg_db_text(rows, 3)[0] != '\0' ? tg_store_text(arena, rows, 3)
                                               : tg_store_text(arena, rows, 13),
        .token_status = status_of(tg_db_text(rows, 4)),
        .expires_unix_us = tg_store_time(rows, 5),
        .group_name = tg_store_text(arena, rows, 6),
        .unlimited = tg_db_int(rows, 7) != 0,
        .authver = tg_db_int(rows, 8),
        .loss_policy = tg_store_text(arena, rows, 11),
        .stream_mode = tg_store_text(arena, rows, 12),
        .user_status = status_of(tg_db_text(rows, 14)),
        .user_is_admin = strcmp(tg_db_text(rows, 15), "user") != 0,
        .user_group = tg_store_text(arena, rows, 16),
        .accepts_unpriced = tg_db_int(rows, 17) != 0,
        .cross_group_retry = tg_db_int(rows, 19) != 0,
        .funding = read_funding(arena, rows)};
    class = read_limits(arena, rows, credential, err);
    if (class == TG_OK)
        *ret = credential;
    return class;
}

#define ACTIVE                                                \
    "s.user_id = t.user_id AND s.status = 'active' "          \
    "AND (s.ends_at IS NULL OR s.ends_at > NOW(6))"

enum tg_class tg_store_credential(struct tg_db *db, struct tg_arena *arena, const char *hmac_hex,
                                  struct tg_credential **ret, struct tg_error *err)
{
    static const char sql[] =
        "SELECT t.id, t.user_id, t.name, t.team, t.status, t.expires_at, t.group_name, "
        "t.unlimited, u.authver, t.model_limits, t.allow_addresses, t.loss_policy, t.stream_mode, "
        "u.team, u.status, u.role, u.group_name, u.accept_unpriced, "
        "t.auto_groups, t.cross_group_retry, u.funding_preference, "
        "(SELECT GROUP_CONCAT(s.id ORDER BY s.ends_at IS NULL, s.ends_at, s.id SEPARATOR ' ') "
        "FROM subscriptions s WHERE " ACTIVE "), "
        "(SELECT MAX(p.allow_wallet_overflow) FROM subscriptions s "
        "JOIN plans p ON p.id = s.plan_id WHERE " ACTIVE ") "
        "FROM tokens t JOIN users u ON u.id = t.user_id WHERE t.key_hmac = ?";
    const struct tg_db_value values[] = {TG_DB_S(hmac_hex)};
    struct tg_db_rows *rows;
    enum tg_class class = tg_db_select(db, sql, values, 1, &rows);

    if (class != TG_OK)
        return tg_store_failed(db, class, err);
    if (tg_db_next(rows))
        class = read_row(arena, rows, ret, err);
    else
        *ret = NULL;
    tg_db_rows_free(rows);
    return class;
}

enum tg_class tg_store_group_allowed(struct tg_db *db, const char *user_group,
                                     const char *used_group, bool *ret, struct tg_error *err)
{
    const struct tg_db_value values[] = {TG_DB_S(user_group), TG_DB_S(used_group)};
    struct tg_db_rows *rows;
    enum tg_class class = tg_db_select(db,
                                       "SELECT allowed FROM group_access WHERE user_group = ? "
                                       "AND used_group = ?",
                                       values, 2, &rows);

    if (class != TG_OK)
        return tg_store_failed(db, class, err);
    *ret = tg_db_next(rows) && tg_db_int(rows, 0) != 0;
    tg_db_rows_free(rows);
    return TG_OK;
}
