#include "common/store/view.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/store/columns.h"
#include "common/store/read.h"

static const struct tg_column user_columns[] = {
    {"id", TG_INT}, {"username", TG_TEXT}, {"role", TG_TEXT}, {"status", TG_TEXT},
    {"group_name", TG_TEXT}, {"team", TG_TEXT}, {"quota", TG_QUOTA}, {"offline_quota", TG_QUOTA},
    {"used_quota", TG_QUOTA}, {"request_count", TG_INT}, {"authver", TG_INT},
    {"funding_preference", TG_TEXT}, {"limits", TG_JSON}, {"created_at", TG_TIME}};
static const char user_sql[] =
    "SELECT id, username, role, status, group_name, team, quota, offline_quota, used_quota, "
    "request_count, authver, funding_preference, limits, created_at FROM users WHERE username = ?";

static const struct tg_column token_columns[] = {
    {"id", TG_INT}, {"user_id", TG_INT}, {"name", TG_TEXT}, {"team", TG_TEXT}, {"hint", TG_TEXT},
    {"status", TG_TEXT}, {"expires_at", TG_TIME}, {"remain_quota", TG_QUOTA},
    {"offline_quota", TG_QUOTA}, {"unlimited", TG_FLAG}, {"used_quota", TG_QUOTA},
    {"group_name", TG_TEXT}, {"auto_groups", TG_JSON}, {"cross_group_retry", TG_FLAG},
    {"model_limits", TG_JSON}, {"allow_addresses", TG_JSON}, {"stream_mode", TG_TEXT},
    {"loss_policy", TG_TEXT}, {"limits", TG_JSON}, {"created_at", TG_TIME}};
static const char token_sql[] =
    "SELECT id, user_id, name, team, hint, status, expires_at, remain_quota, offline_quota, "
    "unlimited, used_quota, group_name, auto_groups, cross_group_retry, model_limits, "
    "allow_addresses, stream_mode, loss_policy, limits, created_at FROM tokens WHERE id = ?";

#define CHANNEL_SQL \
    "SELECT id, name, tag, provider, base_url, organisation, status, status_reason, priority, " \
    "weight, models, groups_list, model_mapping, param_override, header_override, " \
    "status_mapping, proxy, timeouts, loss_policy, key_mode, auto_disable, test_model, " \
    "balance_from, bill, " \
    "created_at, tested_at, test_ms, test_code, balance_usd, balance_at, balance_code, " \
    "(SELECT k.hint FROM channel_keys k WHERE k.channel_id = channels.id " \
    "ORDER BY k.position LIMIT 1) FROM channels"
static const struct tg_column channel_columns[] = {
    {"id", TG_INT}, {"name", TG_TEXT}, {"tag", TG_TEXT}, {"provider", TG_TEXT},
    {"base_url", TG_TEXT}, {"organisation", TG_TEXT}, {"status", TG_TEXT},
    {"status_reason", TG_TEXT}, {"priority", TG_INT}, {"weight", TG_INT}, {"models", TG_JSON},
    {"groups_list", TG_JSON}, {"model_mapping", TG_JSON}, {"param_override", TG_JSON},
    {"header_override", TG_JSON}, {"status_mapping", TG_JSON}, {"proxy", TG_PROXY},
    {"timeouts", TG_JSON}, {"loss_policy", TG_TEXT}, {"key_mode", TG_TEXT},
    {"auto_disable", TG_FLAG}, {"test_model", TG_TEXT}, {"balance_from", TG_TEXT},
    {"bill", TG_TEXT}, {"created_at", TG_TIME},
    {"tested_at", TG_TIME}, {"test_ms", TG_INT}, {"test_code", TG_TEXT},
    {"balance_usd", TG_DECIMAL}, {"balance_at", TG_TIME}, {"balance_code", TG_TEXT},
    {"key_hint", TG_TEXT}};
static const char channel_sql[] = CHANNEL_SQL " WHERE id = ?";
static const char channels_sql[] = CHANNEL_SQL " ORDER BY id";

static const struct tg_column request_columns[] = {
    {"request_id", TG_UUID}, {"created_at", TG_TIME}, {"client_request_id", TG_TEXT},
    {"node", TG_TEXT}, {"endpoint", TG_TEXT}, {"protocol", TG_TEXT}, {"stream", TG_FLAG},
    {"user_id", TG_INT}, {"token_id", TG_INT}, {"token_name", TG_TEXT}, {"team", TG_TEXT},
    {"address", TG_TEXT}, {"requested_model", TG_TEXT}, {"served_model", TG_TEXT},
    {"upstream_model", TG_TEXT}, {"rule_id", TG_INT}, {"group_name", TG_TEXT},
    {"channel_id", TG_INT}, {"key_hint", TG_TEXT}, {"affinity", TG_FLAG}, {"was_fallback", TG_FLAG},
    {"promoted", TG_FLAG}, {"attempts", TG_INT}, {"status", TG_INT}, {"error_code", TG_TEXT},
    {"end_reason", TG_TEXT}, {"input", TG_INT}, {"cache_read", TG_INT}, {"cache_write_5m", TG_INT},
    {"cache_write_1h", TG_INT}, {"output", TG_INT}, {"reasoning", TG_INT}, {"image", TG_INT},
    {"audio_in", TG_INT}, {"audio_out", TG_INT}, {"tool_calls", TG_INT}, {"usage_source", TG_TEXT},
    {"quota", TG_QUOTA}, {"cost_unbilled", TG_QUOTA}, {"funding", TG_TEXT}, {"price_hash", TG_TEXT},
    {"first_token_us", TG_INT}, {"total_us", TG_INT}, {"stages_json", TG_JSON},
    {"request_bytes", TG_INT}, {"response_bytes", TG_INT}, {"attempts_json", TG_JSON},
    {"diagnostics_json", TG_JSON}, {"bill_json", TG_JSON}, {"limits_json", TG_JSON}};
static const char request_sql[] =
    "SELECT l.request_id, l.created_at, client_request_id, node, endpoint, protocol, stream, "
    "user_id, token_id, token_name, team, address, requested_model, served_model, "
    "upstream_model, rule_id, group_name, channel_id, key_hint, affinity, was_fallback, "
    "promoted, attempts, status, error_code, end_reason, input, cache_read, cache_write_5m, "
    "cache_write_1h, output, reasoning, image, audio_in, audio_out, tool_calls, usage_source, "
    "quota, cost_unbilled, funding, price_hash, first_token_us, total_us, stages_json, "
    "request_bytes, response_bytes, attempts_json, diagnostics_json, bill_json, limits_json "
    "FROM request_log l LEFT JOIN request_detail d "
    "ON d.request_id = l.request_id AND d.created_at = l.created_at "
    "WHERE l.request_id = ? AND l.created_at BETWEEN ? AND ?";

enum tg_class tg_view_user(struct tg_db *db, const char *username, struct tg_json_writer *out,
                           struct tg_error *err)
{
    struct tg_db_rows *rows;
    enum tg_class class =
        tg_db_select(db, user_sql, (struct tg_db_value[]){TG_DB_S(username)}, 1, &rows);

    if (class != TG_OK)
        return tg_store_failed(db, class, err);
    if (tg_db_next(rows))
        tg_columns_members(out, user_columns, TG_COUNT_OF(user_columns), rows);
    else
        class = tg_fail(err, TG_CLASS_NOT_FOUND, "user_not_found", "there is no user %s", username);
    tg_db_rows_free(rows);
    return class;
}

/* An object of its own, or its members only. */
typedef void write_fn(struct tg_json_writer *out, const struct tg_column *columns, size_t count,
                      const struct tg_db_rows *rows);

static enum tg_class view_token(struct tg_db *db, int64_t token_id, write_fn *write,
                                struct tg_json_writer *out, struct tg_error *err)
{
    struct tg_db_rows *rows;
    enum tg_class class = tg_db_select(db, token_sql, &TG_DB_I(token_id), 1, &rows);

    if (class != TG_OK)
        return tg_store_failed(db, class, err);
    if (tg_db_next(rows))
        write(out, token_columns, TG_COUNT_OF(token_columns), rows);
    else
        class = tg_fail(err, TG_CLASS_NOT_FOUND, "token_not_found",
                        "there is no token %" PRId64, token_id);
    tg_db_rows_free(rows);
    return class;
}

enum tg_class tg_view_token(struct tg_db *db, int64_t token_id, struct tg_json_writer *out,
                            struct tg_error *err)
{
    return view_token(db, token_id, tg_columns_row, out, err);
}

enum tg_class tg_view_token_members(struct tg_db *db, int64_t token_id,
                                    struct tg_json_writer *out, struct tg_error *err)
{
    return view_token(db, token_id, tg_columns_members, out, err);
}

static enum tg_class view_channel(struct tg_db *db, int64_t channel_id, write_fn *write,
                                  struct tg_json_writer *out, struct tg_error *err)
{
    struct tg_db_rows *rows;
    enum tg_class class = tg_db_select(db, channel_sql, &TG_DB_I(channel_id), 1, &rows);

    if (class != TG_OK)
        return tg_store_failed(db, class, err);
    if (tg_db_next(rows))
        write(out, channel_columns, TG_COUNT_OF(channel_columns), rows);
    else
        class = tg_fail(err, TG_CLASS_NOT_FOUND, "channel_not_found",
                        "there is no channel %" PRId64, channel_id);
    tg_db_rows_free(rows);
    return class;
}

enum tg_class tg_view_channel(struct tg_db *db, int64_t channel_id, struct tg_json_writer *out,
                              struct tg_error *err)
{
    return view_channel(db, channel_id, tg_columns_row, out, err);
}

enum tg_class tg_view_channel_members(struct tg_db *db, int64_t channel_id,
                                      struct tg_json_writer *out, struct tg_error *err)
{
    return view_channel(db, channel_id, tg_columns_members, out, err);
}

enum tg_class tg_view_channels(struct tg_db *db, struct tg_json_writer *out, struct tg_error *err)
{
    struct tg_db_rows *rows;
    enum tg_class class = tg_db_select(db, channels_sql, NULL, 0, &rows);

    if (class != TG_OK)
        return tg_store_failed(db, class, err);
    tg_json_begin_array(out);
    while (tg_db_next(rows))
        tg_columns_row(out, channel_columns, TG_COUNT_OF(channel_columns), rows);
    tg_json_end_array(out);
    tg_db_rows_free(rows);
    return TG_OK;
}

enum tg_class tg_view_request(struct tg_db *log, const struct tg_id *request_id,
                              struct tg_json_writer *out, struct tg_error *err)
{
    /* the id tells the time, so two months at most are looked into */
    int64_t made_us = tg_id_unix_ms(request_id) * 1000, day_us = INT64_C(86400) * 1000000;
    char from[TG_TIME_TEXT], to[TG_TIME_TEXT], text[TG_ID_TEXT];
    struct tg_db_rows *rows;
    enum tg_class class;

    tg_time_format_sql(made_us - day_us, from);
    tg_time_format_sql(made_us + day_us, to);
    const struct tg_db_value values[] = {TG_DB_B(request_id->bytes, TG_ID_BYTES), TG_DB_S(from),
                                         TG_DB_S(to)};

    class = tg_db_select(log, request_sql, values, TG_COUNT_OF(values), &rows);
    if (class != TG_OK)
        return tg_store_failed(log, class, err);
    if (tg_db_next(rows)) {
        tg_columns_row(out, request_columns, TG_COUNT_OF(request_columns), rows);
    } else {
        tg_id_format(request_id, text);
        class = tg_fail(err, TG_CLASS_NOT_FOUND, "request_not_found", "there is no request %s",
                        text);
    }
    tg_db_rows_free(rows);
    return class;
}
