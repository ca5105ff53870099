#include "common/store/log_record.h"

#include "common/base/clock.h"
#include "common/json/scan.h"

#include <stdio.h>
#include <string.h>

enum { ID, CREATED, STAGES, FIRST_DOCUMENT = 2 };

/* A text holds <longest> characters; a number (longest 0) is at most <most>. In the order in which
 * the gateway writes a record, so that each member is found where the one before it left off. */
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
    {"stream", 0, INT8_MAX, false},
    {"user_id", 0, INT64_MAX, true},
    {"token_id", 0, INT64_MAX, true},
    {"token_name", 64, 0, false},
    {"team", 64, 0, false},
    {"address", 45, 0, false},
    {"requested_model", 191, 0, false},
    {"served_model", 191, 0, false},
    {"upstream_model", 191, 0, false},
    {"rule_id", 0, INT64_MAX, false},
    {"group_name", 64, 0, false},
    {"channel_id", 0, INT64_MAX, true},
    {"key_hint", 8, 0, false},
    {"affinity", 0, INT8_MAX, false},
    {"was_fallback", 0, INT8_MAX, false},
    {"promoted", 0, INT8_MAX, false},
    {"attempts", 0, INT32_MAX, false},
    {"status", 0, INT16_MAX, false},
    {"error_code", 48, 0, false},
    {"end_reason", 24, 0, true},
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
    {"usage_source", 24, 0, false},
    {"quota", 0, INT64_MAX, true},
    {"cost_unbilled", 0, INT64_MAX, false},
    {"funding", 32, 0, true},
    {"price_hash", 64, 0, false},
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

/* The text at <place>, from the line itself when nothing in it is escaped; "" when it is none. */
static struct tg_span text_at(const char *line, const struct tg_json_place *place,
                              struct tg_arena *arena)
{
    const char *ptr = line + place->at + 1;
    char *copy;

    if (place->type != TG_JSON_STRING || place->len < 2)
        return (struct tg_span){"", 0};
    if (memchr(ptr, '\\', place->len - 2) == NULL)
        return (struct tg_span){ptr, place->len - 2};
    copy = tg_arena_alloc(arena, place->len);
    if (!tg_json_place_string(line, place, copy, place->len))
        return (struct tg_span){"", 0};
    return (struct tg_span){copy, strlen(copy)};
}

static struct tg_db_value text_value(struct tg_span text, const struct column *column)
{
    size_t len = text.len > column->longest ? cut(text, column->longest) : text.len;

    return (struct tg_db_value){.kind = TG_DB_TEXT, .ptr = text.ptr, .len = len};
}

static struct tg_db_value number_value(const char *line, const struct tg_json_place *place,
                                       const struct column *column)
{
    int64_t number = 0;

    if (!tg_json_place_int(line, place, &number))
        number = place->type == TG_JSON_TRUE;
    number = TG_MIN(number, column->most);
    return TG_DB_I(TG_MAX(number, -column->most));
}

/* Documents are kept as texts: nobody looks inside in SQL. A text is taken as it is. */
static struct tg_db_value document(const char *line, const struct tg_json_place *place,
                                   struct tg_arena *arena)
{
    struct tg_span text = {line + place->at, place->len};

    if (place->type == TG_JSON_NULL)
        return TG_DB_N;
    if (place->type == TG_JSON_STRING)
        text = text_at(line, place, arena);
    return (struct tg_db_value){.kind = TG_DB_TEXT, .ptr = text.ptr, .len = text.len};
}

/* ---- the members of the line */

struct reading {
    const char *line;
    size_t len;
    struct tg_arena *arena;
    struct tg_log_record *record;
    int next; /* the column that is expected next */
    bool has_id;
    int64_t created_unix_us; /* 0: not given */
};

static void read_id(struct reading *reading, const struct tg_json_place *place)
{
    char text[TG_ID_TEXT];

    reading->has_id = tg_json_place_string(reading->line, place, text, sizeof text) &&
                      tg_id_parse(text, &reading->record->id);
}

static void read_created(struct reading *reading, const struct tg_json_place *place)
{
    char given[TG_TIME_TEXT + 1];
    size_t len;

    if (!tg_json_place_string(reading->line, place, given, TG_TIME_TEXT))
        return;
    len = strlen(given);
    memcpy(given + len, "Z", sizeof "Z");
    if (!tg_time_parse(given, &reading->created_unix_us))
        reading->created_unix_us = 0;
}

static void read_column(struct reading *reading, int i, const struct tg_json_place *place)
{
    struct tg_db_value *value = &reading->record->log[i];

    if (i == ID)
        read_id(reading, place);
    else if (i == CREATED)
        read_created(reading, place);
    else if (i == STAGES)
        *value = document(reading->line, place, reading->arena);
    else if (columns[i].longest > 0)
        *value = text_value(text_at(reading->line, place, reading->arena), &columns[i]);
    else
        *value = number_value(reading->line, place, &columns[i]);
}

static bool is_named(const char *name, struct tg_span key)
{
    return strlen(name) == key.len && memcmp(name, key.ptr, key.len) == 0;
}

static void read_member(struct reading *reading, const struct tg_json_member *member)
{
    for (int tries = 0; tries < TG_LOG_COLUMNS; tries++) {
        int i = (reading->next + tries) % TG_LOG_COLUMNS;

        if (!is_named(columns[i].name, member->key))
            continue;
        read_column(reading, i, &member->value);
        reading->next = i + 1;
        return;
    }
}

static void read_log(struct reading *reading, size_t at)
{
    struct tg_json_member member;

    reading->next = 0;
    while (tg_json_next(reading->line, reading->len, &at, &member))
        read_member(reading, &member);
}

static void read_detail(struct reading *reading, size_t at)
{
    struct tg_log_record *record = reading->record;
    struct tg_json_member member;

    while (tg_json_next(reading->line, reading->len, &at, &member))
        for (int i = FIRST_DOCUMENT; i < TG_DETAIL_COLUMNS; i++)
            if (is_named(detail_columns[i], member.key)) {
                record->detail[i] = document(reading->line, &member.value, reading->arena);
                record->has_detail = record->has_detail || record->detail[i].kind != TG_DB_NULL;
            }
}

static void set_defaults(struct tg_log_record *record)
{
    for (int i = STAGES; i < TG_LOG_COLUMNS; i++)
        record->log[i] = i == STAGES              ? TG_DB_N
                         : columns[i].longest > 0 ? tg_db_string("")
                                                  : TG_DB_I(0);
    for (int i = FIRST_DOCUMENT; i < TG_DETAIL_COLUMNS; i++)
        record->detail[i] = TG_DB_N;
    record->has_detail = false;
}

/* The record's own time, else the id's. */
static void set_keys(struct reading *reading)
{
    struct tg_log_record *record = reading->record;
    char *created_at = tg_arena_alloc(reading->arena, TG_TIME_TEXT);
    int64_t unix_us = reading->created_unix_us;

    tg_time_format_sql(unix_us != 0 ? unix_us : tg_id_unix_ms(&record->id) * 1000, created_at);
    record->created_at = created_at;
    record->log[ID] = TG_DB_B(
        tg_arena_strndup(reading->arena, (const char *)record->id.bytes, TG_ID_BYTES), TG_ID_BYTES);
    record->log[CREATED] = tg_db_string(created_at);
    record->detail[0] = record->log[ID];
    record->detail[1] = record->log[CREATED];
}

bool tg_log_record_read(const char *line, size_t len, struct tg_arena *arena,
                        struct tg_log_record *ret)
{
    struct reading reading = {.line = line, .len = len, .arena = arena, .record = ret};
    struct tg_json_member member;
    size_t at = 0;

    set_defaults(ret);
    while (tg_json_next(line, len, &at, &member)) {
        if (is_named("log", member.key) && member.value.type == TG_JSON_OBJECT)
            read_log(&reading, member.value.at);
        else if (is_named("detail", member.key) && member.value.type == TG_JSON_OBJECT)
            read_detail(&reading, member.value.at);
    }
    if (reading.has_id)
        set_keys(&reading);
    return reading.has_id;
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
