#include "common/store/usage_sum.h"

#include <string.h>

#include "common/base/clock.h"
#include "common/base/money.h"
#include "common/store/csv.h"
#include "common/store/names.h"
#include "common/store/paging.h"
#include "common/store/read.h"

enum { BUCKETS = 8, FIRST_BUCKET = 11, ROWS_MOST = 1000 };

/* Upper ends of the histogram's buckets, as log_rows.c fills them; the last one has none. */
static const int64_t bucket_ends_us[BUCKETS] = {
    100000, 300000, 1000000, 3000000, 10000000, 30000000, 100000000, INT64_MAX};

#define SUM(column) "CAST(COALESCE(SUM(" column "), 0) AS SIGNED)"
#define SUMS \
    SUM("requests") ", " SUM("errors") ", " SUM("fallbacks") ", " \
    SUM("input + cache_read + cache_write_5m + cache_write_1h + image + audio_in") ", " \
    SUM("output + audio_out") ", " SUM("cache_read") ", " \
    SUM("cache_write_5m + cache_write_1h") ", " SUM("reasoning") ", " SUM("quota") ", " \
    SUM("total_us") ", " SUM("first_token_us") ", " \
    SUM("total_100ms") ", " SUM("total_300ms") ", " SUM("total_1s") ", " SUM("total_3s") ", " \
    SUM("total_10s") ", " SUM("total_30s") ", " SUM("total_100s") ", " SUM("total_longer")
#define FROM(OWNER) \
    " FROM usage_hourly WHERE " OWNER " AND hour >= ? AND hour < ? AND " \
    "token_id = COALESCE(?, token_id) AND channel_id = COALESCE(?, channel_id) AND " \
    "served_model = COALESCE(?, served_model)"
#define ANYBODY "? IS NULL"
#define ONE_USER "user_id = ?"

/* ---- from a row ---- */

/* The time that <percent> of the requests were not longer than. */
static int64_t percentile(const int64_t counts[BUCKETS], int percent)
{
    int64_t total = 0, rank, below = 0, begin_us = 0;

    for (int i = 0; i < BUCKETS; i++)
        total += counts[i];
    if (total == 0)
        return 0;
    rank = (total * percent + 99) / 100;
    for (int i = 0; i < BUCKETS - 1; i++) {
        if (below + counts[i] >= rank)
            return begin_us + (bucket_ends_us[i] - begin_us) * (rank - below) / counts[i];
        below += counts[i];
        begin_us = bucket_ends_us[i];
    }
    return begin_us;
}

/* <column>: of the first sum. */
static void read_sum(const struct tg_db_rows *rows, int column, struct tg_usage_sum *ret)
{
    int64_t counts[BUCKETS], requests = tg_db_int(rows, column);

    *ret = (struct tg_usage_sum){.requests = requests,
                                 .errors = tg_db_int(rows, column + 1),
                                 .fallbacks = tg_db_int(rows, column + 2),
                                 .input = tg_db_int(rows, column + 3),
                                 .output = tg_db_int(rows, column + 4),
                                 .cache_read = tg_db_int(rows, column + 5),
                                 .cache_write = tg_db_int(rows, column + 6),
                                 .reasoning = tg_db_int(rows, column + 7),
                                 .quota = tg_db_int(rows, column + 8)};
    if (requests > 0) {
        ret->mean_total_us = tg_db_int(rows, column + 9) / requests;
        ret->mean_first_token_us = tg_db_int(rows, column + 10) / requests;
    }
    for (int i = 0; i < BUCKETS; i++)
        counts[i] = tg_db_int(rows, column + FIRST_BUCKET + i);
    ret->p50_us = percentile(counts, 50);
    ret->p95_us = percentile(counts, 95);
}

/* ---- reading ---- */

enum { FILTERS = 6 };

struct bounds {
    char from[TG_TIME_TEXT], to[TG_TIME_TEXT];
};

static void fill(const struct tg_usage_filter *filter, struct bounds *bounds,
                 struct tg_db_value values[FILTERS])
{
    tg_time_format_sql(filter->from_unix_us, bounds->from);
    tg_time_format_sql(filter->to_unix_us != 0 ? filter->to_unix_us : tg_unix_us() + 1,
                       bounds->to);
    values[0] = tg_list_id(filter->user_id);
    values[1] = TG_DB_S(bounds->from);
    values[2] = TG_DB_S(bounds->to);
    values[3] = tg_list_id(filter->token_id);
    values[4] = tg_list_id(filter->channel_id);
    values[5] = tg_list_text(filter->model);
}

enum tg_class tg_usage_total(struct tg_db *log, const struct tg_usage_filter *filter,
                             struct tg_usage_sum *ret, struct tg_error *err)
{
    struct tg_db_value values[FILTERS];
    struct bounds bounds;
    struct tg_db_rows *rows;
    enum tg_class class;

    fill(filter, &bounds, values);
    class = tg_db_select(
        log, filter->user_id != 0 ? "SELECT " SUMS FROM(ONE_USER) : "SELECT " SUMS FROM(ANYBODY),
        values, FILTERS, &rows);
    if (class != TG_OK)
        return tg_store_failed(log, class, err);
    if (tg_db_next(rows))
        read_sum(rows, 0, ret);
    tg_db_rows_free(rows);
    return TG_OK;
}

#define GROUPED(LABEL, ID, GROUP, ORDER) \
    { \
        "SELECT " LABEL ", " ID ", " SUMS FROM(ANYBODY) " GROUP BY " GROUP " ORDER BY " ORDER \
            " LIMIT ?", \
        "SELECT " LABEL ", " ID ", " SUMS FROM(ONE_USER) " GROUP BY " GROUP " ORDER BY " ORDER \
            " LIMIT ?" \
    }
#define HOUR "DATE_FORMAT(hour, '%Y-%m-%dT%H:00:00Z')"
#define DAY "DATE_FORMAT(hour, '%Y-%m-%dT00:00:00Z')"
#define COSTLIEST "SUM(quota) DESC, SUM(requests) DESC, "
static const char *const grouped[][2] = {
    [TG_USAGE_BY_MODEL] = GROUPED("served_model", "0", "served_model", COSTLIEST "served_model"),
    [TG_USAGE_BY_USER] = GROUPED("''", "user_id", "user_id", COSTLIEST "user_id"),
    [TG_USAGE_BY_TOKEN] = GROUPED("''", "token_id", "token_id", COSTLIEST "token_id"),
    [TG_USAGE_BY_CHANNEL] = GROUPED("''", "channel_id", "channel_id", COSTLIEST "channel_id"),
    [TG_USAGE_BY_HOUR] = GROUPED(HOUR, "0", HOUR, HOUR),
    [TG_USAGE_BY_DAY] = GROUPED(DAY, "0", DAY, DAY),
};

enum tg_class tg_usage_by(struct tg_db *log, struct tg_arena *arena,
                          const struct tg_usage_filter *filter, const struct tg_usage_wish *wish,
                          struct tg_usage_list *ret)
{
    struct tg_db_value values[FILTERS + 1];
    struct tg_usage_row *list = NULL;
    struct bounds bounds;
    struct tg_db_rows *rows;
    size_t count = 0;
    enum tg_class class;

    fill(filter, &bounds, values);
    values[FILTERS] = TG_DB_I(wish->limit > 0 && wish->limit < ROWS_MOST ? wish->limit : ROWS_MOST);
    class = tg_db_select(log, grouped[wish->part][filter->user_id != 0], values, FILTERS + 1,
                         &rows);
    if (class != TG_OK)
        return class;
    while (tg_db_next(rows)) {
        list = tg_store_grow(arena, list, count, sizeof *list);
        list[count] = (struct tg_usage_row){.label = tg_store_text(arena, rows, 0),
                                            .id = tg_db_int(rows, 1)};
        read_sum(rows, 2, &list[count].sum);
        count++;
    }
    tg_db_rows_free(rows);
    *ret = (struct tg_usage_list){.part = wish->part, .rows = list, .count = count};
    return TG_OK;
}

/* ---- CSV ---- */

#define CSV_SQL(OWNER) \
    "SELECT DATE_FORMAT(hour, '%Y-%m-%d') AS day, user_id, token_id, team, served_model, " \
    "channel_id, " SUM("requests") ", " SUM("errors") ", " SUM("fallbacks") ", " SUM("input") \
    ", " SUM("cache_read") ", " SUM("cache_write_5m") ", " SUM("cache_write_1h") ", " \
    SUM("output") ", " SUM("reasoning") ", " SUM("image") ", " SUM("audio_in") ", " \
    SUM("audio_out") ", " SUM("tool_calls") ", " SUM("quota") FROM(OWNER) \
    " GROUP BY day, user_id, token_id, team, served_model, channel_id " \
    "ORDER BY day, user_id, token_id, team, served_model, channel_id"
static const struct tg_column csv_columns[] = {
    {"day", TG_TEXT}, {"user_id", TG_INT}, {"token_id", TG_INT}, {"team", TG_TEXT},
    {"served_model", TG_TEXT}, {"channel_id", TG_INT}, {"requests", TG_INT}, {"errors", TG_INT},
    {"fallbacks", TG_INT}, {"input", TG_INT}, {"cache_read", TG_INT}, {"cache_write_5m", TG_INT},
    {"cache_write_1h", TG_INT}, {"output", TG_INT}, {"reasoning", TG_INT}, {"image", TG_INT},
    {"audio_in", TG_INT}, {"audio_out", TG_INT}, {"tool_calls", TG_INT}, {"quota", TG_QUOTA}};
enum { CSV_USER = 1, CSV_CHANNEL = 5 };

static void csv_line(struct tg_buf *out, const struct tg_db_rows *rows, struct tg_names *names)
{
    int64_t channel_id = tg_db_int(rows, CSV_CHANNEL);

    tg_csv_row(out, csv_columns, TG_COUNT_OF(csv_columns), rows);
    tg_buf_char(out, ',');
    tg_csv_text(out, tg_names_get(names, TG_NAME_USER, tg_db_int(rows, CSV_USER)));
    tg_buf_char(out, ',');
    tg_csv_text(out, tg_names_get(names, TG_NAME_CHANNEL, channel_id));
    tg_buf_char(out, ',');
    tg_csv_text(out, tg_names_get(names, TG_NAME_PROVIDER, channel_id));
    tg_csv_end(out);
}

enum tg_class tg_usage_csv(struct tg_db *log, const struct tg_usage_filter *filter,
                           const struct tg_usage_csv *csv, struct tg_error *err)
{
    struct tg_db_value values[FILTERS];
    struct tg_names *names;
    struct bounds bounds;
    struct tg_db_rows *rows;
    enum tg_class class;

    fill(filter, &bounds, values);
    class = tg_db_select(log, filter->user_id != 0 ? CSV_SQL(ONE_USER) : CSV_SQL(ANYBODY), values,
                         FILTERS, &rows);
    if (class != TG_OK)
        return tg_store_failed(log, class, err);
    if (csv->head) {
        tg_csv_head(csv->out, csv_columns, TG_COUNT_OF(csv_columns));
        tg_buf_str(csv->out, ",username,channel_name,provider");
        tg_csv_end(csv->out);
    }
    names = tg_names_new(csv->names_db);
    while (tg_db_next(rows))
        csv_line(csv->out, rows, names);
    tg_names_free(names);
    tg_db_rows_free(rows);
    return TG_OK;
}

/* ---- names ---- */

enum tg_class tg_usage_names(struct tg_db *main_db, struct tg_arena *arena,
                             struct tg_usage_list *list)
{
    static const char *const sql[] = {
        [TG_USAGE_BY_USER] = "SELECT username FROM users WHERE id = ?",
        [TG_USAGE_BY_TOKEN] = "SELECT name FROM tokens WHERE id = ?",
        [TG_USAGE_BY_CHANNEL] = "SELECT name FROM channels WHERE id = ?",
        [TG_USAGE_BY_DAY] = NULL,
    };
    enum tg_class class = TG_OK;

    for (size_t i = 0; sql[list->part] != NULL && i < list->count && class == TG_OK; i++) {
        struct tg_db_rows *rows;

        class = tg_db_select(main_db, sql[list->part], &TG_DB_I(list->rows[i].id), 1, &rows);
        if (class != TG_OK)
            break;
        if (tg_db_next(rows))
            list->rows[i].label = tg_store_text(arena, rows, 0);
        tg_db_rows_free(rows);
    }
    return class;
}

void tg_usage_write(const struct tg_usage_sum *sum, struct tg_json_writer *out)
{
    char usd[TG_USD_TEXT];

    tg_usd_format(sum->quota, usd);
    tg_json_put_int(out, "requests", sum->requests);
    tg_json_put_int(out, "errors", sum->errors);
    tg_json_put_int(out, "fallbacks", sum->fallbacks);
    tg_json_put_int(out, "input", sum->input);
    tg_json_put_int(out, "output", sum->output);
    tg_json_put_int(out, "cache_read", sum->cache_read);
    tg_json_put_int(out, "cache_write", sum->cache_write);
    tg_json_put_int(out, "reasoning", sum->reasoning);
    tg_json_put_int(out, "quota", sum->quota);
    tg_json_put_str(out, "quota_usd", usd);
    tg_json_put_int(out, "mean_total_us", sum->mean_total_us);
    tg_json_put_int(out, "mean_first_token_us", sum->mean_first_token_us);
    tg_json_put_int(out, "p50_us", sum->p50_us);
    tg_json_put_int(out, "p95_us", sum->p95_us);
}
