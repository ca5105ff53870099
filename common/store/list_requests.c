/* Pages of the request log. */
#include "common/store/list_requests.h"

#include <stdio.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/store/csv.h"
#include "common/store/names.h"
#include "common/store/paging.h"
#include "common/store/read.h"

static const int64_t day_us = INT64_C(86400) * 1000000;

/* An index and the condition that it begins with; the other conditions compare a column with
 * itself when they are not wanted. */
#define REQUESTS(INDEX, LEADING) \
    "SELECT request_id, created_at, user_id, token_id, token_name, team, endpoint, stream, " \
    "requested_model, served_model, group_name, was_fallback, status, error_code, end_reason, " \
    "input, cache_read, cache_write_5m, cache_write_1h, output, reasoning, usage_source, quota, " \
    "first_token_us, total_us, upstream_model, channel_id, attempts, cost_unbilled, created_at, " \
    "request_id FROM request_log FORCE INDEX (" INDEX ") WHERE " LEADING \
    " AND created_at >= ? AND created_at < ? AND user_id = COALESCE(?, user_id) AND " \
    "token_id = COALESCE(?, token_id) AND channel_id = COALESCE(?, channel_id) AND " \
    "served_model = COALESCE(?, served_model) AND status = COALESCE(?, status) AND " \
    "failed >= ? AND was_fallback >= ?"
static const struct tg_column columns[] = {
    {"request_id", TG_UUID}, {"created_at", TG_TIME}, {"user_id", TG_INT}, {"token_id", TG_INT},
    {"token_name", TG_TEXT}, {"team", TG_TEXT}, {"endpoint", TG_TEXT}, {"stream", TG_FLAG},
    {"requested_model", TG_TEXT}, {"served_model", TG_TEXT}, {"group_name", TG_TEXT},
    {"was_fallback", TG_FLAG}, {"status", TG_INT}, {"error_code", TG_TEXT},
    {"end_reason", TG_TEXT}, {"input", TG_INT}, {"cache_read", TG_INT},
    {"cache_write_5m", TG_INT}, {"cache_write_1h", TG_INT}, {"output", TG_INT},
    {"reasoning", TG_INT}, {"usage_source", TG_TEXT}, {"quota", TG_QUOTA},
    {"first_token_us", TG_INT}, {"total_us", TG_INT},
    /* from here on: nothing that a user knows of */
    {"upstream_model", TG_TEXT}, {"channel_id", TG_INT}, {"attempts", TG_INT},
    {"cost_unbilled", TG_QUOTA}};
enum { USER_COLUMN = 2, CHANNEL_COLUMN = 26, OWN_COLUMNS = 25 };

enum lead { BY_ID, BY_FALLBACK, BY_ERROR, BY_TOKEN, BY_USER, BY_CHANNEL, BY_MODEL, BY_TIME, LEADS };

#define LEAD_SORT(INDEX, LEADING) \
    TG_SORT("created_at", TG_SORT_TEXT, TG_SORT_BYTES, REQUESTS(INDEX, LEADING), "created_at", \
            "request_id")
/* The places of rows alone, which the index itself has. */
#define WINDOW(INDEX, LEADING) \
    "SELECT created_at, request_id FROM request_log FORCE INDEX (" INDEX ") WHERE " LEADING \
    " AND created_at >= ? AND created_at < ?"
#define LEAD_WINDOW(INDEX, LEADING) \
    TG_SORT("created_at", TG_SORT_TEXT, TG_SORT_BYTES, WINDOW(INDEX, LEADING), "created_at", \
            "request_id")
static const struct tg_sort windows[LEADS] = {
    [BY_ID] = LEAD_WINDOW("PRIMARY", "request_id = ?"),
    [BY_FALLBACK] = LEAD_WINDOW("fallback_created", "was_fallback = ?"),
    [BY_ERROR] = LEAD_WINDOW("failed_created", "failed = ?"),
    [BY_TOKEN] = LEAD_WINDOW("token_created", "token_id = ?"),
    [BY_USER] = LEAD_WINDOW("user_created", "user_id = ?"),
    [BY_CHANNEL] = LEAD_WINDOW("channel_created", "channel_id = ?"),
    [BY_MODEL] = LEAD_WINDOW("model_created", "served_model = ?"),
    [BY_TIME] = LEAD_WINDOW("created_at", "? IS NULL"),
};
static const struct tg_sort sorts[LEADS] = {
    [BY_ID] = LEAD_SORT("PRIMARY", "request_id = ?"),
    [BY_FALLBACK] = LEAD_SORT("fallback_created", "was_fallback = ?"),
    [BY_ERROR] = LEAD_SORT("failed_created", "failed = ?"),
    [BY_TOKEN] = LEAD_SORT("token_created", "token_id = ?"),
    [BY_USER] = LEAD_SORT("user_created", "user_id = ?"),
    [BY_CHANNEL] = LEAD_SORT("channel_created", "channel_id = ?"),
    [BY_MODEL] = LEAD_SORT("model_created", "served_model = ?"),
    [BY_TIME] = LEAD_SORT("created_at", "? IS NULL"),
};

static enum lead lead_of(const struct tg_request_filter *filter, struct tg_db_value *ret)
{
    const struct {
        bool wanted;
        struct tg_db_value value;
    } leads[LEADS] = {
        [BY_ID] = {filter->request_id != NULL,
                   TG_DB_B(filter->request_id != NULL ? filter->request_id->bytes : NULL,
                           TG_ID_BYTES)},
        [BY_FALLBACK] = {filter->fallback_only, TG_DB_I(1)},
        [BY_ERROR] = {filter->errors_only || filter->status >= 400, TG_DB_I(1)},
        [BY_TOKEN] = {filter->token_id != 0, TG_DB_I(filter->token_id)},
        [BY_USER] = {filter->user_id != 0, TG_DB_I(filter->user_id)},
        [BY_CHANNEL] = {filter->channel_id != 0, TG_DB_I(filter->channel_id)},
        [BY_MODEL] = {filter->model != NULL && filter->model[0] != '\0', TG_DB_S(filter->model)},
        [BY_TIME] = {true, TG_DB_N},
    };
    int lead = 0;

    while (!leads[lead].wanted)
        lead++;
    *ret = leads[lead].value;
    return (enum lead)lead;
}

/* Bounds of the time that are always there: partitions without any row of it are left out. */
static void bounds(const struct tg_request_filter *filter, char from[TG_TIME_TEXT],
                   char to[TG_TIME_TEXT])
{
    int64_t from_us = filter->from_unix_us;
    int64_t to_us = filter->to_unix_us != 0 ? filter->to_unix_us : tg_unix_us() + day_us;

    if (filter->request_id != NULL) { /* the id tells the time */
        int64_t made_us = tg_id_unix_ms(filter->request_id) * 1000;

        from_us = from_us > made_us - day_us ? from_us : made_us - day_us;
        to_us = to_us < made_us + day_us ? to_us : made_us + day_us;
    }
    tg_time_format_sql(from_us > 0 ? from_us : 0, from);
    tg_time_format_sql(to_us > 0 ? to_us : 0, to);
}

/* What one page is read by. */
struct reading {
    const struct tg_request_filter *filter;
    const struct tg_page *page;
    enum lead lead;
    struct tg_db_value leading;
    char from[TG_TIME_TEXT], to[TG_TIME_TEXT];
};

/* Is anything asked for that the leading index does not answer? */
static bool has_more(const struct reading *reading)
{
    const struct tg_request_filter *filter = reading->filter;
    int wanted = (filter->user_id != 0) + (filter->token_id != 0) + (filter->channel_id != 0) +
                 (filter->model != NULL && filter->model[0] != '\0') + (filter->status != 0) +
                 filter->fallback_only + (filter->errors_only && filter->status < 400);
    bool leads = reading->lead >= BY_FALLBACK && reading->lead <= BY_MODEL &&
                 (reading->lead != BY_ERROR || filter->status < 400);

    return reading->lead != BY_ID && wanted > leads;
}

static void note_place(void *context, const struct tg_db_rows *rows)
{
    struct reading *reading = context;

    snprintf(reading->from, sizeof reading->from, "%s", tg_db_text(rows, 0));
}

/* Looks at a bounded number of places: <from> becomes the last one's time, <next> the cursor behind
 * all of that very time, "" when these are all there are. */
static enum tg_class narrow(struct tg_db *log, struct reading *reading, char next[TG_CURSOR_TEXT],
                            struct tg_error *err)
{
    const struct tg_list list = {.sorts = &windows[reading->lead],
                                 .sort_count = 1,
                                 .usual = "-created_at",
                                 .most = TG_REQUESTS_LOOKED};
    const struct tg_page page = {.limit = TG_REQUESTS_LOOKED, .after = reading->page->after};
    char from[TG_TIME_TEXT];
    const struct tg_db_value filters[] = {reading->leading, TG_DB_S(from), TG_DB_S(reading->to)};
    const struct tg_list_query query = {&list, filters, TG_COUNT_OF(filters), &page};
    struct tg_list_visit visit = {.row = note_place, .context = reading};
    enum tg_class class;

    memcpy(from, reading->from, sizeof from);
    class = tg_list_each(log, &query, &visit, err);
    if (class != TG_OK)
        return class;
    memcpy(next, visit.next, TG_CURSOR_TEXT);
    if (next[0] == '\0')
        memcpy(reading->from, from, sizeof from);
    else /* an id below all others */
        memset(strrchr(next, '.') + 1, '0', strlen(strrchr(next, '.') + 1));
    return TG_OK;
}

/* <visit> gets the rows. reading->from is then how far the page looked, when it gave up before it
 * was full; "" otherwise. */
static enum tg_class each(struct tg_db *log, struct reading *reading, struct tg_list_visit *visit,
                          struct tg_error *err)
{
    const struct tg_request_filter *filter = reading->filter;
    char window_next[TG_CURSOR_TEXT] = "";
    enum tg_class class = TG_OK;

    if (reading->page->sort != NULL && reading->page->sort[0] != '\0' &&
        strcmp(reading->page->sort, "-created_at") != 0) {
        tg_fail(err, TG_CLASS_INVALID, "invalid_sort", "the newest requests come first");
        snprintf(err->param, sizeof err->param, "sort");
        return TG_CLASS_INVALID;
    }
    reading->lead = lead_of(filter, &reading->leading);
    bounds(filter, reading->from, reading->to);
    if (has_more(reading))
        class = narrow(log, reading, window_next, err);
    if (class != TG_OK)
        return class;
    const struct tg_list list = {.columns = columns,
                                 .column_count = TG_COUNT_OF(columns),
                                 .sorts = &sorts[reading->lead],
                                 .sort_count = 1,
                                 .usual = "-created_at"};
    const struct tg_db_value filters[] = {reading->leading,
                                          TG_DB_S(reading->from),
                                          TG_DB_S(reading->to),
                                          tg_list_id(filter->user_id),
                                          tg_list_id(filter->token_id),
                                          tg_list_id(filter->channel_id),
                                          tg_list_text(filter->model),
                                          tg_list_id(filter->status),
                                          TG_DB_I(filter->errors_only),
                                          TG_DB_I(filter->fallback_only)};
    const struct tg_list_query query = {&list, filters, TG_COUNT_OF(filters), reading->page};

    class = tg_list_each(log, &query, visit, err);
    if (class == TG_OK && visit->next[0] == '\0' && window_next[0] != '\0')
        memcpy(visit->next, window_next, sizeof visit->next);
    else
        reading->from[0] = '\0';
    return class;
}

/* ---- JSON ---- */

struct writing {
    struct tg_json_writer *out;
    struct tg_names *names; /* NULL: without */
    size_t column_count;
};

static void write_row(void *context, const struct tg_db_rows *rows)
{
    struct writing *writing = context;
    struct tg_json_writer *out = writing->out;

    tg_json_begin_object(out);
    tg_columns_members(out, columns, writing->column_count, rows);
    if (writing->names != NULL) {
        tg_json_put_str(out, "username",
                        tg_names_get(writing->names, TG_NAME_USER, tg_db_int(rows, USER_COLUMN)));
        tg_json_put_str(
            out, "channel_name",
            tg_names_get(writing->names, TG_NAME_CHANNEL, tg_db_int(rows, CHANNEL_COLUMN)));
    }
    tg_json_end_object(out);
}

static void write_searched(struct tg_json_writer *out, const char *sql_time)
{
    char text[TG_TIME_TEXT];
    int64_t unix_us;

    if (!tg_time_parse(sql_time, &unix_us)) {
        tg_json_put_str(out, "searched_to", NULL);
        return;
    }
    tg_time_format(unix_us, text);
    tg_json_put_str(out, "searched_to", text);
}

enum tg_class tg_list_requests(struct tg_db *log, const struct tg_request_filter *filter,
                               const struct tg_page *page, struct tg_json_writer *out,
                               struct tg_error *err)
{
    struct reading reading = {.filter = filter, .page = page};
    struct writing writing = {
        .out = out,
        .names = filter->names_db != NULL ? tg_names_new(filter->names_db) : NULL,
        .column_count = filter->own ? OWN_COLUMNS : TG_COUNT_OF(columns)};
    struct tg_list_visit visit = {.row = write_row, .context = &writing};
    enum tg_class class;

    tg_json_key(out, "rows");
    tg_json_begin_array(out);
    class = each(log, &reading, &visit, err);
    tg_json_end_array(out);
    tg_names_free(writing.names);
    write_searched(out, class == TG_OK ? reading.from : "");
    tg_json_put_str(out, "next", class == TG_OK && visit.next[0] != '\0' ? visit.next : NULL);
    return class;
}

/* ---- CSV ---- */

static void csv_row(void *context, const struct tg_db_rows *rows)
{
    tg_csv_row(context, columns, TG_COUNT_OF(columns), rows);
    tg_csv_end(context);
}

enum tg_class tg_csv_requests(struct tg_db *log, const struct tg_request_filter *filter,
                              const struct tg_page *page, struct tg_csv *csv,
                              struct tg_error *err)
{
    struct tg_list_visit visit = {.row = csv_row, .context = csv->out};
    struct reading reading = {.filter = filter, .page = page};
    bool first = page->after == NULL || page->after[0] == '\0';
    enum tg_class class;

    if (first) {
        tg_csv_head(csv->out, columns, TG_COUNT_OF(columns));
        tg_csv_end(csv->out);
    }
    class = each(log, &reading, &visit, err);
    if (class == TG_OK)
        snprintf(csv->next, sizeof csv->next, "%s", visit.next);
    return class;
}
