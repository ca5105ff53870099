#include "common/store/log_rows.h"

#include "common/base/buf.h"
#include "common/base/log.h"
#include "common/json/scan.h"
#include "common/json/writer.h"
#include "common/store/read.h"

#include <string.h>

/* X(column, longest): texts are cut to what the column holds. */
#define TEXT_COLUMNS(X)                                                                        \
    X(client_request_id, 128) X(node, 64) X(endpoint, 64) X(protocol, 16) X(token_name, 64)     \
    X(team, 64) X(address, 45) X(requested_model, 191) X(served_model, 191)                     \
    X(upstream_model, 191) X(group_name, 64) X(key_hint, 8) X(error_code, 48) X(end_reason, 24) \
    X(usage_source, 24) X(funding, 32) X(price_hash, 64)
#define INT_COLUMNS(X)                                                                         \
    X(stream) X(user_id) X(token_id) X(rule_id) X(channel_id) X(affinity) X(was_fallback)       \
    X(promoted) X(attempts) X(status) X(input) X(cache_read) X(cache_write_5m)                  \
    X(cache_write_1h) X(output) X(reasoning) X(image) X(audio_in) X(audio_out) X(tool_calls)    \
    X(quota) X(cost_unbilled) X(first_token_us) X(total_us) X(request_bytes) X(response_bytes)
/* What usage_hourly sums under the log's own names. */
#define SUM_COLUMNS(X)                                                                         \
    X(input) X(cache_read) X(cache_write_5m) X(cache_write_1h) X(output) X(reasoning) X(image)  \
    X(audio_in) X(audio_out) X(tool_calls) X(quota) X(total_us) X(first_token_us)

/* A row made for the statements: {"l": the log object, "s": stages, "a","d","b","m": details}. */
static const struct {
    const char *path, *key;
} parts[] = {
    {"log.stages_json", "s"},          {"detail.attempts_json", "a"}, {"detail.bill_json", "b"},
    {"detail.diagnostics_json", "d"}, {"detail.limits_json", "m"},
};

struct line {
    const char *ptr;
    size_t len;
};

static bool next_line(const char **at, struct line *ret)
{
    const char *end;

    if (**at == '\0')
        return false;
    end = strchrnul(*at, '\n');
    *ret = (struct line){.ptr = *at, .len = (size_t)(end - *at)};
    *at = *end == '\0' ? end : end + 1;
    return true;
}

/* Documents are kept as texts: neither server looks inside, and MariaDB has no JSON type. */
static void write_parts(struct tg_json_writer *out, const struct line *line)
{
    char text[4096];
    struct tg_json_place place;

    for (size_t i = 0; i < TG_COUNT_OF(parts); i++) {
        if (!tg_json_find(line->ptr, line->len, parts[i].path, &place) ||
            place.type == TG_JSON_NULL)
            continue;
        tg_json_key(out, parts[i].key);
        if (place.type == TG_JSON_STRING &&
            tg_json_place_string(line->ptr, &place, text, sizeof text))
            tg_json_write_str(out, text);
        else
            tg_json_write_strn(out, line->ptr + place.at, place.len);
    }
}

static void write_row(struct tg_json_writer *out, const struct line *line)
{
    struct tg_json_place place;

    if (!tg_json_find(line->ptr, line->len, "log", &place) || place.type != TG_JSON_OBJECT)
        return;
    tg_json_begin_object(out);
    tg_json_key(out, "l");
    tg_json_write_raw(out, line->ptr + place.at, place.len);
    write_parts(out, line);
    tg_json_end_object(out);
}

#define ROWS "JSON_TABLE(?, '$[*]' COLUMNS (n FOR ORDINALITY,"                                 \
             " entry CHAR(36) PATH '$.l.request_id', made DATETIME(6) PATH '$.l.created_at'"
#define JOINED " ON r.request_id = UNHEX(REPLACE(e.entry, '-', '')) AND r.created_at = e.made"

/* Leaves out the lines whose rows are there already. */
static enum tg_class fresh_rows(struct tg_db *db, const char *lines, struct tg_buf *json,
                                struct tg_error *err)
{
    static const char sql[] = "SELECT e.n FROM " ROWS ")) AS e STRAIGHT_JOIN request_log r" JOINED
                              " ORDER BY e.n";
    struct tg_db_value values[] = {TG_DB_S(tg_buf_text(json))};
    struct tg_json_writer out;
    struct tg_db_rows *rows;
    struct line line;
    bool more;
    enum tg_class class = tg_db_select(db, sql, values, 1, &rows);

    if (class != TG_OK)
        return tg_store_failed(db, class, err);
    more = tg_db_next(rows);
    if (more) {
        tg_buf_reset(json);
        tg_json_writer_init(&out, json);
        tg_json_begin_array(&out);
        for (int64_t n = 1; next_line(&lines, &line); n++) {
            if (!more || tg_db_int(rows, 0) != n)
                write_row(&out, &line);
            else
                more = tg_db_next(rows);
        }
        tg_json_end_array(&out);
    }
    tg_db_rows_free(rows);
    return TG_OK;
}

#define NAME_TEXT(column, longest) ", " #column
#define NAME_INT(column) ", `" #column "`"
#define TAKE_TEXT(column, longest) ", COALESCE(LEFT(e." #column ", " #longest "), '')"
#define TAKE_INT(column) ", COALESCE(e.`" #column "`, 0)"
#define READ_TEXT(column, longest) ", " #column " VARCHAR(2000) PATH '$.l." #column "'"
#define READ_INT(column) ", `" #column "` BIGINT PATH '$.l." #column "'"
#define SUM_INT(column) ", SUM(r.`" #column "`)"
#define ADD_INT(column) ", `" #column "` = usage_hourly.`" #column "` + VALUES(`" #column "`)"

#define BUCKET(least, most) ", SUM(r.total_us > " #least " AND r.total_us <= " #most ")"
#define ADD_BUCKETS                                                                            \
    ADD_INT(total_100ms) ADD_INT(total_300ms) ADD_INT(total_1s) ADD_INT(total_3s)               \
    ADD_INT(total_10s) ADD_INT(total_30s) ADD_INT(total_100s) ADD_INT(total_longer)

static enum tg_class enter_together(struct tg_db *db, const char *json, struct tg_error *err)
{
    static const char *const steps[] = {
        "INSERT INTO request_log (request_id, created_at, stages_json" TEXT_COLUMNS(NAME_TEXT)
            INT_COLUMNS(NAME_INT)
        ") SELECT UNHEX(REPLACE(e.entry, '-', '')), e.made, e.stages" TEXT_COLUMNS(TAKE_TEXT)
            INT_COLUMNS(TAKE_INT)
        " FROM " ROWS ", stages TEXT PATH '$.s'" TEXT_COLUMNS(READ_TEXT) INT_COLUMNS(READ_INT)
        ")) AS e",
        "INSERT INTO request_detail (request_id, created_at, attempts_json, diagnostics_json,"
        " bill_json, limits_json) SELECT UNHEX(REPLACE(e.entry, '-', '')), e.made, e.attempts,"
        " e.diagnostics, e.bill, e.limits FROM " ROWS ", attempts MEDIUMTEXT PATH '$.a',"
        " diagnostics MEDIUMTEXT PATH '$.d', bill MEDIUMTEXT PATH '$.b',"
        " limits MEDIUMTEXT PATH '$.m')) AS e WHERE e.attempts IS NOT NULL"
        " OR e.diagnostics IS NOT NULL OR e.bill IS NOT NULL OR e.limits IS NOT NULL",
        "INSERT INTO usage_hourly (hour, user_id, token_id, team, served_model, channel_id,"
        " requests, errors, fallbacks" SUM_COLUMNS(NAME_INT)
        ", total_100ms, total_300ms, total_1s, total_3s, total_10s, total_30s, total_100s,"
        " total_longer) SELECT DATE_FORMAT(r.created_at, '%Y-%m-%d %H:00:00') AS h, r.user_id,"
        " r.token_id, r.team, r.served_model, r.channel_id, COUNT(*),"
        " SUM(r.error_code <> '' OR r.status >= 400), SUM(r.was_fallback)" SUM_COLUMNS(SUM_INT)
        BUCKET(-1, 100000) BUCKET(100000, 300000) BUCKET(300000, 1000000)
        BUCKET(1000000, 3000000) BUCKET(3000000, 10000000) BUCKET(10000000, 30000000)
        BUCKET(30000000, 100000000) BUCKET(100000000, 9223372036854775807)
        " FROM " ROWS ")) AS e STRAIGHT_JOIN request_log r" JOINED
        " GROUP BY h, r.user_id, r.token_id, r.team, r.served_model, r.channel_id"
        " ON DUPLICATE KEY UPDATE requests = usage_hourly.requests + VALUES(requests),"
        " errors = usage_hourly.errors + VALUES(errors),"
        " fallbacks = usage_hourly.fallbacks + VALUES(fallbacks)" SUM_COLUMNS(ADD_INT)
            ADD_BUCKETS,
    };
    struct tg_db_value values[] = {TG_DB_S(json)};
    enum tg_class class = TG_OK;

    for (size_t i = 0; i < TG_COUNT_OF(steps) && class == TG_OK; i++)
        class = tg_db_run(db, steps[i], values, 1, err);
    return class;
}

/* The few columns that money and readers cannot do without. */
static void reduce(const struct line *line, struct tg_buf *out)
{
    static const char *const kept[] = {"request_id", "created_at", "user_id",    "token_id",
                                       "quota",      "channel_id", "end_reason", "node"};
    struct tg_json_place log, place;
    struct tg_json_writer json;

    tg_json_writer_init(&json, out);
    tg_json_begin_array(&json);
    if (tg_json_find(line->ptr, line->len, "log", &log)) {
        tg_json_begin_object(&json);
        tg_json_key(&json, "l");
        tg_json_begin_object(&json);
        for (size_t i = 0; i < TG_COUNT_OF(kept); i++) {
            if (!tg_json_find(line->ptr + log.at, log.len, kept[i], &place))
                continue;
            tg_json_key(&json, kept[i]);
            tg_json_write_raw(&json, line->ptr + log.at + place.at, place.len);
        }
        tg_json_end_object(&json);
        tg_json_end_object(&json);
    }
    tg_json_end_array(&json);
}

static enum tg_class enter_one(struct tg_db *db, const struct line *line, struct tg_error *err)
{
    struct tg_json_writer out;
    struct tg_buf json;
    enum tg_class class;

    tg_buf_init(&json, 0);
    tg_json_writer_init(&out, &json);
    tg_json_begin_array(&out);
    write_row(&out, line);
    tg_json_end_array(&out);
    class = tg_db_run(db, "SAVEPOINT record", NULL, 0, err);
    if (class == TG_OK)
        class = enter_together(db, tg_buf_text(&json), err);
    if (class == TG_CLASS_INTERNAL) {
        tg_log_error(TG_LOG_ERROR, "log_rows", err);
        tg_buf_reset(&json);
        reduce(line, &json);
        class = tg_db_run(db, "ROLLBACK TO SAVEPOINT record", NULL, 0, err);
        if (class == TG_OK)
            class = enter_together(db, tg_buf_text(&json), err);
    } else if (class == TG_CLASS_CONFLICT && strcmp(tg_db_error(db)->code, "db_duplicate") == 0) {
        class = tg_db_run(db, "ROLLBACK TO SAVEPOINT record", NULL, 0, err); /* there already */
    }
    tg_buf_done(&json);
    return class;
}

static enum tg_class enter_one_by_one(struct tg_db *db, const char *lines, struct tg_error *err)
{
    struct line line;
    enum tg_class class = TG_OK;

    while (class == TG_OK && next_line(&lines, &line))
        class = enter_one(db, &line, err);
    return class;
}

enum tg_class tg_log_rows_enter(struct tg_db *log_db, const char *lines, struct tg_error *err)
{
    const char *at = lines;
    struct tg_json_writer out;
    struct tg_error why;
    struct tg_buf json;
    struct line line;
    enum tg_class class;

    tg_buf_init(&json, 0);
    tg_json_writer_init(&out, &json);
    tg_json_begin_array(&out);
    while (next_line(&at, &line))
        write_row(&out, &line);
    tg_json_end_array(&out);
    class = fresh_rows(log_db, lines, &json, &why);
    if (class == TG_OK)
        class = tg_db_run(log_db, "SAVEPOINT records", NULL, 0, &why);
    if (class == TG_OK)
        class = enter_together(log_db, tg_buf_text(&json), &why);
    if (class == TG_CLASS_INTERNAL) {
        class = tg_db_run(log_db, "ROLLBACK TO SAVEPOINT records", NULL, 0, &why);
        if (class == TG_OK)
            class = enter_one_by_one(log_db, lines, &why);
    }
    tg_buf_done(&json);
    if (class != TG_OK && err != NULL)
        *err = why;
    return class;
}
