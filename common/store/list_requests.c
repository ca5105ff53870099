/* Pages of the request log. */
#include "common/store/list_requests.h"

#include <stdio.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/store/paging.h"
#include "common/store/read.h"

static const int64_t day_us = INT64_C(86400) * 1000000;

/* An index and the condition that it begins with; the other conditions compare a column with
 * itself when they are not wanted. */
#define REQUESTS(INDEX, LEADING) \
    "SELECT request_id, created_at, user_id, token_id, token_name, team, endpoint, stream, " \
    "requested_model, served_model, upstream_model, group_name, channel_id, was_fallback, " \
    "attempts, status, error_code, end_reason, input, cache_read, cache_write_5m, " \
    "cache_write_1h, output, reasoning, usage_source, quota, cost_unbilled, first_token_us, " \
    "total_us, created_at, request_id FROM request_log FORCE INDEX (" INDEX ") WHERE " LEADING \
    " AND created_at >= ? AND created_at < ? AND user_id = COALESCE(?, user_id) AND " \
    "token_id = COALESCE(?, token_id) AND channel_id = COALESCE(?, channel_id) AND " \
    "served_model = COALESCE(?, served_model) AND status = COALESCE(?, status) AND " \
    "failed >= ? AND was_fallback >= ?"
static const struct tg_column columns[] = {
    {"request_id", TG_UUID}, {"created_at", TG_TIME}, {"user_id", TG_INT}, {"token_id", TG_INT},
    {"token_name", TG_TEXT}, {"team", TG_TEXT}, {"endpoint", TG_TEXT}, {"stream", TG_FLAG},
    {"requested_model", TG_TEXT}, {"served_model", TG_TEXT}, {"upstream_model", TG_TEXT},
    {"group_name", TG_TEXT}, {"channel_id", TG_INT}, {"was_fallback", TG_FLAG},
    {"attempts", TG_INT}, {"status", TG_INT}, {"error_code", TG_TEXT}, {"end_reason", TG_TEXT},
    {"input", TG_INT}, {"cache_read", TG_INT}, {"cache_write_5m", TG_INT},
    {"cache_write_1h", TG_INT}, {"output", TG_INT}, {"reasoning", TG_INT},
    {"usage_source", TG_TEXT}, {"quota", TG_QUOTA}, {"cost_unbilled", TG_QUOTA},
    {"first_token_us", TG_INT}, {"total_us", TG_INT}};

enum lead { BY_ID, BY_FALLBACK, BY_ERROR, BY_TOKEN, BY_USER, BY_CHANNEL, BY_MODEL, BY_TIME, LEADS };

#define LEAD_SORT(INDEX, LEADING) \
    TG_SORT("created_at", KINDS, REQUESTS(INDEX, LEADING), "created_at", "request_id")
#define KINDS TG_SORT_TEXT, TG_SORT_BYTES
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

static enum tg_class each(struct tg_db *log, const struct tg_request_filter *filter,
                          const struct tg_page *page, struct tg_list_visit *visit,
                          struct tg_error *err)
{
    char from[TG_TIME_TEXT], to[TG_TIME_TEXT];
    struct tg_db_value leading;
    enum lead lead = lead_of(filter, &leading);
    const struct tg_list list = {.columns = columns,
                                 .column_count = TG_COUNT_OF(columns),
                                 .sorts = &sorts[lead],
                                 .sort_count = 1,
                                 .usual = "-created_at"};

    bounds(filter, from, to);
    const struct tg_db_value filters[] = {leading,
                                          TG_DB_S(from),
                                          TG_DB_S(to),
                                          tg_list_id(filter->user_id),
                                          tg_list_id(filter->token_id),
                                          tg_list_id(filter->channel_id),
                                          tg_list_text(filter->model),
                                          tg_list_id(filter->status),
                                          TG_DB_I(filter->errors_only),
                                          TG_DB_I(filter->fallback_only)};
    const struct tg_list_query query = {&list, filters, TG_COUNT_OF(filters), page};

    return tg_list_each(log, &query, visit, err);
}

/* ---- JSON ---- */

static void write_row(void *context, const struct tg_db_rows *rows)
{
    tg_columns_row(context, columns, TG_COUNT_OF(columns), rows);
}

enum tg_class tg_list_requests(struct tg_db *log, const struct tg_request_filter *filter,
                               const struct tg_page *page, struct tg_json_writer *out,
                               struct tg_error *err)
{
    struct tg_list_visit visit = {.row = write_row, .context = out};
    enum tg_class class;

    tg_json_key(out, "rows");
    tg_json_begin_array(out);
    class = each(log, filter, page, &visit, err);
    tg_json_end_array(out);
    tg_json_put_str(out, "next", class == TG_OK && visit.next[0] != '\0' ? visit.next : NULL);
    return class;
}

/* ---- CSV ---- */

/* In quotes where it needs them; what a spreadsheet would take for a formula is made a text. */
static void csv_text(struct tg_buf *out, const char *text)
{
    bool formula = text[0] != '\0' && strchr("=+-@\t\r", text[0]) != NULL;

    if (!formula && strpbrk(text, ",\"\r\n") == NULL) {
        tg_buf_str(out, text);
        return;
    }
    tg_buf_str(out, formula ? "\"'" : "\"");
    for (; *text != '\0'; text++) {
        if (*text == '"')
            tg_buf_char(out, '"');
        tg_buf_char(out, *text);
    }
    tg_buf_char(out, '"');
}

static void csv_cell(struct tg_buf *out, const struct tg_column *column,
                     const struct tg_db_rows *rows, int at)
{
    char text[TG_ID_TEXT];
    struct tg_id id;

    if (tg_db_is_null(rows, at))
        return;
    switch (column->kind) {
    case TG_UUID:
        memcpy(id.bytes, tg_db_bytes(rows, at).ptr, TG_ID_BYTES);
        tg_id_format(&id, text);
        tg_buf_str(out, text);
        break;
    case TG_TIME:
        tg_time_format(tg_store_time(rows, at), text);
        tg_buf_str(out, text);
        break;
    case TG_INT:
    case TG_FLAG:
    case TG_QUOTA:
        tg_buf_int(out, tg_db_int(rows, at));
        break;
    default:
        csv_text(out, tg_db_text(rows, at));
    }
}

static void csv_row(void *context, const struct tg_db_rows *rows)
{
    struct tg_buf *out = context;

    for (size_t i = 0; i < TG_COUNT_OF(columns); i++) {
        if (i > 0)
            tg_buf_char(out, ',');
        csv_cell(out, &columns[i], rows, (int)i);
    }
    tg_buf_str(out, "\r\n");
}

enum tg_class tg_csv_requests(struct tg_db *log, const struct tg_request_filter *filter,
                              const struct tg_page *page, struct tg_csv *csv,
                              struct tg_error *err)
{
    struct tg_list_visit visit = {.row = csv_row, .context = csv->out};
    bool first = page->after == NULL || page->after[0] == '\0';
    enum tg_class class;

    for (size_t i = 0; first && i < TG_COUNT_OF(columns); i++)
        tg_buf_printf(csv->out, "%s%s", i > 0 ? "," : "", columns[i].name);
    if (first)
        tg_buf_str(csv->out, "\r\n");
    class = each(log, filter, page, &visit, err);
    if (class == TG_OK)
        snprintf(csv->next, sizeof csv->next, "%s", visit.next);
    return class;
}
