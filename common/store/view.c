#include "common/store/view.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/money.h"
#include "common/store/read.h"

enum kind { INT, TEXT, FLAG, TIME, QUOTA, JSON, UUID };

struct column {
    const char *name;
    enum kind kind;
};

static const struct column user_columns[] = {
    {"id", INT},          {"username", TEXT},       {"role", TEXT},
    {"status", TEXT},     {"group_name", TEXT},     {"team", TEXT},
    {"quota", QUOTA},     {"offline_quota", QUOTA}, {"used_quota", QUOTA},
    {"request_count", INT}, {"authver", INT},       {"funding_preference", TEXT},
    {"limits", JSON},     {"created_at", TIME}};
static const char user_sql[] =
    "SELECT id, username, role, status, group_name, team, quota, offline_quota, used_quota, "
    "request_count, authver, funding_preference, limits, created_at FROM users WHERE username = ?";

static const struct column token_columns[] = {
    {"id", INT},           {"user_id", INT},         {"name", TEXT},
    {"team", TEXT},        {"hint", TEXT},           {"status", TEXT},
    {"expires_at", TIME},  {"remain_quota", QUOTA},  {"offline_quota", QUOTA},
    {"unlimited", FLAG},   {"used_quota", QUOTA},    {"group_name", TEXT},
    {"auto_groups", JSON}, {"cross_group_retry", FLAG}, {"model_limits", JSON},
    {"allow_addresses", JSON}, {"stream_mode", TEXT}, {"loss_policy", TEXT},
    {"limits", JSON},      {"created_at", TIME}};
static const char token_sql[] =
    "SELECT id, user_id, name, team, hint, status, expires_at, remain_quota, offline_quota, "
    "unlimited, used_quota, group_name, auto_groups, cross_group_retry, model_limits, "
    "allow_addresses, stream_mode, loss_policy, limits, created_at FROM tokens WHERE id = ?";

#define CHANNEL_SQL \
    "SELECT id, name, tag, provider, base_url, organisation, status, status_reason, priority, " \
    "weight, models, groups_list, model_mapping, param_override, header_override, " \
    "status_mapping, proxy, timeouts, loss_policy, key_mode, auto_disable, test_model, bill, " \
    "created_at, (SELECT k.hint FROM channel_keys k WHERE k.channel_id = channels.id " \
    "ORDER BY k.position LIMIT 1) FROM channels"
static const struct column channel_columns[] = {
    {"id", INT},              {"name", TEXT},           {"tag", TEXT},
    {"provider", TEXT},       {"base_url", TEXT},       {"organisation", TEXT},
    {"status", TEXT},         {"status_reason", TEXT},  {"priority", INT},
    {"weight", INT},          {"models", JSON},         {"groups_list", JSON},
    {"model_mapping", JSON},  {"param_override", JSON}, {"header_override", JSON},
    {"status_mapping", JSON}, {"proxy", TEXT},          {"timeouts", JSON},
    {"loss_policy", TEXT},    {"key_mode", TEXT},       {"auto_disable", FLAG},
    {"test_model", TEXT},     {"bill", TEXT},           {"created_at", TIME},
    {"key_hint", TEXT}};
static const char channel_sql[] = CHANNEL_SQL " WHERE id = ?";
static const char channels_sql[] = CHANNEL_SQL " ORDER BY id";

static const struct column request_columns[] = {
    {"request_id", UUID},       {"created_at", TIME},      {"client_request_id", TEXT},
    {"node", TEXT},             {"endpoint", TEXT},        {"protocol", TEXT},
    {"stream", FLAG},           {"user_id", INT},          {"token_id", INT},
    {"token_name", TEXT},       {"team", TEXT},            {"address", TEXT},
    {"requested_model", TEXT},  {"served_model", TEXT},    {"upstream_model", TEXT},
    {"rule_id", INT},           {"group_name", TEXT},      {"channel_id", INT},
    {"key_hint", TEXT},         {"affinity", FLAG},        {"was_fallback", FLAG},
    {"promoted", FLAG},         {"attempts", INT},         {"status", INT},
    {"error_code", TEXT},       {"end_reason", TEXT},      {"input", INT},
    {"cache_read", INT},        {"cache_write_5m", INT},   {"cache_write_1h", INT},
    {"output", INT},            {"reasoning", INT},        {"image", INT},
    {"audio_in", INT},          {"audio_out", INT},        {"tool_calls", INT},
    {"usage_source", TEXT},     {"quota", QUOTA},          {"cost_unbilled", QUOTA},
    {"funding", TEXT},          {"price_hash", TEXT},      {"first_token_us", INT},
    {"total_us", INT},          {"stages_json", JSON},     {"request_bytes", INT},
    {"response_bytes", INT},    {"attempts_json", JSON},   {"diagnostics_json", JSON},
    {"bill_json", JSON},        {"limits_json", JSON}};
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

static void write_quota(struct tg_json_writer *out, const char *name, int64_t quota)
{
    char usd_name[64], usd[TG_USD_TEXT];

    tg_json_put_int(out, name, quota);
    snprintf(usd_name, sizeof usd_name, "%s_usd", name);
    tg_usd_format(quota, usd);
    tg_json_put_str(out, usd_name, usd);
}

static void write_time(struct tg_json_writer *out, const char *name, int64_t unix_us)
{
    char text[TG_TIME_TEXT];

    tg_time_format(unix_us, text);
    tg_json_put_str(out, name, text);
}

static void write_uuid(struct tg_json_writer *out, const char *name, struct tg_span bytes)
{
    struct tg_id id;
    char text[TG_ID_TEXT];

    tg_assert(bytes.len == TG_ID_BYTES);
    memcpy(id.bytes, bytes.ptr, TG_ID_BYTES);
    tg_id_format(&id, text);
    tg_json_put_str(out, name, text);
}

static void write_json(struct tg_json_writer *out, const char *name, struct tg_span json)
{
    tg_json_key(out, name);
    if (json.len == 0)
        tg_json_write_null(out);
    else
        tg_json_write_raw(out, json.ptr, json.len);
}

static void write_cell(struct tg_json_writer *out, const struct column *column,
                       const struct tg_db_rows *rows, int at)
{
    if (tg_db_is_null(rows, at)) {
        tg_json_put_str(out, column->name, NULL);
        return;
    }
    switch (column->kind) {
    case INT:
        tg_json_put_int(out, column->name, tg_db_int(rows, at));
        break;
    case TEXT:
        tg_json_put_str(out, column->name, tg_db_text(rows, at));
        break;
    case FLAG:
        tg_json_put_bool(out, column->name, tg_db_int(rows, at) != 0);
        break;
    case TIME:
        write_time(out, column->name, tg_store_time(rows, at));
        break;
    case QUOTA:
        write_quota(out, column->name, tg_db_int(rows, at));
        break;
    case JSON:
        write_json(out, column->name, tg_db_bytes(rows, at));
        break;
    case UUID:
        write_uuid(out, column->name, tg_db_bytes(rows, at));
        break;
    }
}

static void write_members(struct tg_json_writer *out, const struct column *columns, size_t count,
                          const struct tg_db_rows *rows)
{
    for (size_t i = 0; i < count; i++)
        write_cell(out, &columns[i], rows, (int)i);
}

static void write_row(struct tg_json_writer *out, const struct column *columns, size_t count,
                      const struct tg_db_rows *rows)
{
    tg_json_begin_object(out);
    write_members(out, columns, count, rows);
    tg_json_end_object(out);
}

enum tg_class tg_view_user(struct tg_db *db, const char *username, struct tg_json_writer *out,
                           struct tg_error *err)
{
    struct tg_db_rows *rows;
    enum tg_class class =
        tg_db_select(db, user_sql, (struct tg_db_value[]){TG_DB_S(username)}, 1, &rows);

    if (class != TG_OK)
        return tg_store_failed(db, class, err);
    if (tg_db_next(rows))
        write_members(out, user_columns, TG_COUNT_OF(user_columns), rows);
    else
        class = tg_fail(err, TG_CLASS_NOT_FOUND, "user_not_found", "there is no user %s", username);
    tg_db_rows_free(rows);
    return class;
}

enum tg_class tg_view_token(struct tg_db *db, int64_t token_id, struct tg_json_writer *out,
                            struct tg_error *err)
{
    struct tg_db_rows *rows;
    enum tg_class class = tg_db_select(db, token_sql, &TG_DB_I(token_id), 1, &rows);

    if (class != TG_OK)
        return tg_store_failed(db, class, err);
    if (tg_db_next(rows))
        write_row(out, token_columns, TG_COUNT_OF(token_columns), rows);
    else
        class = tg_fail(err, TG_CLASS_NOT_FOUND, "token_not_found", "there is no token %" PRId64,
                        token_id);
    tg_db_rows_free(rows);
    return class;
}

enum tg_class tg_view_channel(struct tg_db *db, int64_t channel_id, struct tg_json_writer *out,
                              struct tg_error *err)
{
    struct tg_db_rows *rows;
    enum tg_class class = tg_db_select(db, channel_sql, &TG_DB_I(channel_id), 1, &rows);

    if (class != TG_OK)
        return tg_store_failed(db, class, err);
    if (tg_db_next(rows))
        write_row(out, channel_columns, TG_COUNT_OF(channel_columns), rows);
    else
        class = tg_fail(err, TG_CLASS_NOT_FOUND, "channel_not_found",
                        "there is no channel %" PRId64, channel_id);
    tg_db_rows_free(rows);
    return class;
}

enum tg_class tg_view_channels(struct tg_db *db, struct tg_json_writer *out, struct tg_error *err)
{
    struct tg_db_rows *rows;
    enum tg_class class = tg_db_select(db, channels_sql, NULL, 0, &rows);

    if (class != TG_OK)
        return tg_store_failed(db, class, err);
    tg_json_begin_array(out);
    while (tg_db_next(rows))
        write_row(out, channel_columns, TG_COUNT_OF(channel_columns), rows);
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
        write_row(out, request_columns, TG_COUNT_OF(request_columns), rows);
    } else {
        tg_id_format(request_id, text);
        class = tg_fail(err, TG_CLASS_NOT_FOUND, "request_not_found", "there is no request %s",
                        text);
    }
    tg_db_rows_free(rows);
    return class;
}
