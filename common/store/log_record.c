#include "common/store/log_record.h"

#include "common/base/clock.h"
#include "common/json/json.h"

#include <stdio.h>
#include <string.h>

enum { ID, CREATED, STAGES, FIRST_OWN };

/* A text holds <longest> characters; a number (longest 0) is at most <most>. */
static const struct column {
    const char *name;
    size_t longest;
    int64_t most;
    bool kept; /* by reduce */
} columns[TG_LOG_COLUMNS] = {
    [ID] = {"request_id", 0, 0, true},
    [CREATED] = {"created_at", 0, 0, true},
    [STAGES] = {"stages_json", 0, 0, false},
    {"client_request_id", 128, 0, false},
    {"node", 64, 0, true},
    {"endpoint", 64, 0, false},
    {"protocol", 16, 0, false},
    {"token_name", 64, 0, false},
    {"team", 64, 0, false},
    {"address", 45, 0, false},
    {"requested_model", 191, 0, false},
    {"served_model", 191, 0, false},
    {"upstream_model", 191, 0, false},
    {"group_name", 64, 0, false},
    {"key_hint", 8, 0, false},
    {"error_code", 48, 0, false},
    {"end_reason", 24, 0, true},
    {"usage_source", 24, 0, false},
    {"funding", 32, 0, true},
    {"price_hash", 64, 0, false},
    {"stream", 0, INT8_MAX, false},
    {"user_id", 0, INT64_MAX, true},
    {"token_id", 0, INT64_MAX, true},
    {"rule_id", 0, INT64_MAX, false},
    {"channel_id", 0, INT64_MAX, true},
    {"affinity", 0, INT8_MAX, false},
    {"was_fallback", 0, INT8_MAX, false},
    {"promoted", 0, INT8_MAX, false},
    {"attempts", 0, INT32_MAX, false},
    {"status", 0, INT16_MAX, false},
    {"input", 0, INT64_MAX, false},
    {"cache_read", 0, INT64_MAX, false},
    {"cache_write_5m", 0, INT64_MAX, false},
    {"cache_write_1h", 0, INT64_MAX, false},
    {"output", 0, INT64_MAX, false},
    {"reasoning", 0, INT64_MAX, false},
    {"image", 0, INT64_MAX, false},
    {"audio_in", 0, INT64_MAX, false},
    {"audio_out", 0, INT64_MAX, false},
    {"tool_calls", 0, INT64_MAX, false},
    {"quota", 0, INT64_MAX, true},
    {"cost_unbilled", 0, INT64_MAX, false},
    {"first_token_us", 0, INT64_MAX, false},
    {"total_us", 0, INT64_MAX, false},
    {"request_bytes", 0, INT64_MAX, false},
    {"response_bytes", 0, INT64_MAX, false},
};

static const char *const detail_columns[TG_DETAIL_COLUMNS] = {
    "request_id",       "created_at", "attempts_json",
    "diagnostics_json", "bill_json",  "limits_json"};

const char *tg_log_column(int i)
{
    return columns[i].name;
}

const char *tg_detail_column(int i)
{
    return detail_columns[i];
}

/* Whole characters only: the text is UTF-8 by the gate it passed. */
static size_t cut(struct tg_span text, size_t longest)
{
    size_t at = 0, count = 0;

    for (; at < text.len; at++) {
        if (((unsigned char)text.ptr[at] & 0xc0) == 0x80)
            continue;
        if (count++ == longest)
            break;
    }
    return at;
}

static struct tg_db_value text_value(const struct tg_json *log, const struct column *column,
                                     struct tg_arena *arena)
{
    struct tg_span text = {"", 0};
    size_t len;

    if (tg_json_get_string(log, column->name, &text) != TG_JSON_GOT)
        text = (struct tg_span){"", 0};
    len = cut(text, column->longest);
    return (struct tg_db_value){
        .kind = TG_DB_TEXT, .ptr = tg_arena_strndup(arena, text.ptr, len), .len = len};
}

static struct tg_db_value number_value(const struct tg_json *log, const struct column *column)
{
    int64_t number = 0;
    bool flag = false;

    if (tg_json_get_int(log, column->name, &number) != TG_JSON_GOT) {
        number = 0;
        if (tg_json_get_bool(log, column->name, &flag) == TG_JSON_GOT)
            number = flag;
    }
    number = TG_MIN(number, column->most);
    return TG_DB_I(TG_MAX(number, -column->most));
}

/* Documents are kept as texts: nobody looks inside in SQL. A text is taken as it is. */
static struct tg_db_value document(struct tg_span object, const char *key, struct tg_arena *arena)
{
    struct tg_json_place place;
    char *text;

    if (!tg_json_find(object.ptr, object.len, key, &place) || place.type == TG_JSON_NULL)
        return TG_DB_N;
    if (place.type == TG_JSON_STRING) {
        text = tg_arena_alloc(arena, place.len + 1);
        if (tg_json_place_string(object.ptr, &place, text, place.len + 1))
            return tg_db_string(text);
    }
    return (struct tg_db_value){
        .kind = TG_DB_TEXT, .ptr = object.ptr + place.at, .len = place.len};
}

/* A part of the record, "" when it has none. */
static struct tg_span part_of(const char *line, size_t len, const char *key)
{
    struct tg_json_place place;

    if (!tg_json_find(line, len, key, &place))
        return (struct tg_span){"", 0};
    return (struct tg_span){line + place.at, place.len};
}

/* The record's own time, else the id's. */
static const char *created_at(const struct tg_json *log, const struct tg_id *id,
                              struct tg_arena *arena)
{
    char *text = tg_arena_alloc(arena, TG_TIME_TEXT), given[TG_TIME_TEXT + 1];
    struct tg_span span;
    int64_t unix_us = tg_id_unix_ms(id) * 1000;

    if (tg_json_get_string(log, "created_at", &span) == TG_JSON_GOT && span.len < TG_TIME_TEXT) {
        snprintf(given, sizeof given, "%.*sZ", (int)span.len, span.ptr);
        (void)!tg_time_parse(given, &unix_us);
    }
    tg_time_format_sql(unix_us, text);
    return text;
}

static void read_detail(struct tg_span detail, struct tg_arena *arena,
                        struct tg_log_record *record)
{
    record->detail[0] = record->log[ID];
    record->detail[1] = record->log[CREATED];
    record->has_detail = false;
    for (int i = 2; i < TG_DETAIL_COLUMNS; i++) {
        record->detail[i] = document(detail, detail_columns[i], arena);
        record->has_detail = record->has_detail || record->detail[i].kind != TG_DB_NULL;
    }
}

bool tg_log_record_read(const char *line, size_t len, struct tg_arena *arena,
                        struct tg_log_record *ret)
{
    struct tg_span log_text = part_of(line, len, "log"), id;
    struct tg_json *log = NULL;
    bool good = tg_json_parse(log_text.ptr, log_text.len, &log, NULL) == TG_OK &&
                tg_json_get_string(log, "request_id", &id) == TG_JSON_GOT &&
                tg_id_parse(tg_arena_strndup(arena, id.ptr, id.len), &ret->id);

    if (good) {
        ret->created_at = created_at(log, &ret->id, arena);
        ret->log[ID] = TG_DB_B(tg_arena_strndup(arena, (const char *)ret->id.bytes, TG_ID_BYTES),
                               TG_ID_BYTES);
        ret->log[CREATED] = tg_db_string(ret->created_at);
        ret->log[STAGES] = document(log_text, "stages_json", arena);
        for (int i = FIRST_OWN; i < TG_LOG_COLUMNS; i++)
            ret->log[i] = columns[i].longest > 0 ? text_value(log, &columns[i], arena)
                                                 : number_value(log, &columns[i]);
        read_detail(part_of(line, len, "detail"), arena, ret);
    }
    tg_json_free(log);
    return good;
}

void tg_log_record_reduce(struct tg_log_record *record)
{
    for (int i = STAGES; i < TG_LOG_COLUMNS; i++) {
        if (columns[i].kept)
            continue;
        record->log[i] = i == STAGES              ? TG_DB_N
                         : columns[i].longest > 0 ? tg_db_string("")
                                                  : TG_DB_I(0);
    }
    record->has_detail = false;
}
