/* logs - the request log: found by filters, one request opened, all that is found as CSV; and of
 * one's own requests what a user may know. */
#include "admin-cgi/pages/pages.h"

#include <ctype.h>
#include <string.h>

#include "admin-cgi/pages/csv.h"
#include "common/base/clock.h"
#include "common/store/list_requests.h"
#include "common/store/story.h"
#include "common/store/usage_sum.h"
#include "common/store/user.h"
#include "common/store/view.h"

enum { USAGE_DAYS = 30, USAGE_DAYS_MOST = 366 };

static const int64_t day_us = INT64_C(86400000000);

static const struct web_field filter[] = {
    {.name = "from", .label = "From", .kind = WEB_TIME},
    {.name = "to", .label = "Before", .kind = WEB_TIME},
    {.name = "user", .label = "User", .kind = WEB_TEXT, .most = 64},
    {.name = "token_id", .label = "Token number", .kind = WEB_INTEGER, .most = INT64_MAX},
    {.name = "model", .label = "Served model", .kind = WEB_TEXT, .most = 191},
    {.name = "channel_id", .label = "Channel number", .kind = WEB_INTEGER, .most = INT64_MAX},
    {.name = "status", .label = "Status", .kind = WEB_INTEGER, .most = 599},
    {.name = "request_id", .label = "Request id", .kind = WEB_TEXT, .most = 64},
    {.name = "errors_only", .label = "Errors only", .kind = WEB_BOOL},
    {.name = "fallback_only", .label = "Other models only", .kind = WEB_BOOL},
};
/* The same requests as a file. */
static void put_csv_link(struct web_page *page)
{
    static const char *const but[] = {"after", "limit", "sort", NULL};
    struct tg_buf link;

    tg_buf_init(&link, 0);
    tg_buf_printf(&link, "%slogs.cgi/csv?", page->request->base);
    web_params_query(&page->request->query, but, &link);
    tg_json_put_str(&page->out, "csv", tg_buf_text(&link));
    tg_buf_done(&link);
}

/* The filter again, with what is wrong. */
static enum tg_class view(struct web_page *page)
{
    tg_json_put_str(&page->out, "title", "Requests");
    put_csv_link(page);
    return TG_OK;
}

const struct web_form_def page_logs_filter = {
    .fields = filter,
    .count = TG_COUNT_OF(filter),
    .view = view,
    .submit = "Search",
    .in_query = true};

/* With or without dashes, as the logs of others have it. */
static bool read_id(const char *text, struct tg_id *ret)
{
    char dashed[TG_ID_TEXT];
    size_t len = 0;

    if (strlen(text) != 32)
        return tg_id_parse(text, ret);
    for (size_t i = 0; i < 32; i++) {
        if (i == 8 || i == 12 || i == 16 || i == 20)
            dashed[len++] = '-';
        dashed[len++] = (char)tolower((unsigned char)text[i]);
    }
    dashed[len] = '\0';
    return tg_id_parse(dashed, ret);
}

static enum tg_class find_user(struct web_page *page, int64_t *ret)
{
    const char *name = web_text(page, "user");
    enum tg_class class = web_main(page);

    if (class == TG_OK && *name != '\0') {
        class = tg_store_user_id(page->main_db, name, ret, &page->err);
        if (class == TG_CLASS_NOT_FOUND)
            return web_refuse(page, "user", "there is no user of that name");
    }
    return class;
}

/* <id> is where the filter's request id lives. */
static enum tg_class read_filter(struct web_page *page, struct tg_id *id,
                                 struct tg_request_filter *ret)
{
    enum tg_class class;

    *ret = (struct tg_request_filter){.from_unix_us = web_number(page, "from"),
                                      .to_unix_us = web_number(page, "to"),
                                      .token_id = web_number(page, "token_id"),
                                      .channel_id = web_number(page, "channel_id"),
                                      .model = web_text(page, "model"),
                                      .status = web_number(page, "status"),
                                      .errors_only = web_number(page, "errors_only") != 0,
                                      .fallback_only = web_number(page, "fallback_only") != 0};
    if (*web_text(page, "request_id") != '\0') {
        if (!read_id(web_text(page, "request_id"), id))
            return web_refuse(page, "request_id", "an x-request-id of an answer");
        ret->request_id = id;
    }
    class = find_user(page, &ret->user_id);
    ret->names_db = page->main_db;
    return class == TG_OK ? web_log(page) : class;
}

enum tg_class page_logs(struct web_page *page)
{
    struct tg_request_filter wanted;
    struct tg_page at;
    struct tg_id id;
    enum tg_class class = web_list_page(page, &at);

    tg_json_put_str(&page->out, "title", "Requests");
    put_csv_link(page);
    if (class == TG_OK)
        class = read_filter(page, &id, &wanted);
    return class == TG_OK
               ? tg_list_requests(page->log_db, &wanted, &at, &page->out, &page->err)
               : class;
}

static enum tg_class csv_page(struct web_page *page, const void *wanted, const struct tg_page *at,
                              struct tg_csv *csv)
{
    return tg_csv_requests(page->log_db, wanted, at, csv, &page->err);
}

enum tg_class page_logs_csv(struct web_page *page)
{
    struct tg_request_filter wanted;
    struct tg_id id;
    enum tg_class class = read_filter(page, &id, &wanted);

    return class == TG_OK ? page_csv_send(page, "requests.csv", csv_page, &wanted) : class;
}

/* ---- usage by day, user, token, model and channel ---- */

static const struct web_field usage_filter[] = {
    {.name = "from", .label = "From", .kind = WEB_DAY},
    {.name = "to", .label = "To", .kind = WEB_DAY},
    {.name = "user", .label = "User", .kind = WEB_TEXT, .most = 64},
};
const struct web_form_def page_logs_usage_filter = {
    .fields = usage_filter, .count = TG_COUNT_OF(usage_filter), .in_query = true};

/* Whole days of UTC, since the file's days are. */
static enum tg_class read_days(struct web_page *page, struct tg_usage_filter *ret)
{
    int64_t from = web_number(page, "from"), to = web_number(page, "to");

    to = (to != 0 ? to : tg_unix_us()) / day_us * day_us + day_us;
    from = from != 0 ? from / day_us * day_us : to - USAGE_DAYS * day_us;
    if (from >= to || to - from > USAGE_DAYS_MOST * day_us)
        return web_refuse(page, "from", "at most 366 days, the first before the last");
    *ret = (struct tg_usage_filter){.from_unix_us = from, .to_unix_us = to};
    return find_user(page, &ret->user_id);
}

enum tg_class page_logs_usage(struct web_page *page)
{
    struct tg_usage_filter span = {.user_id = 0}, day;
    struct tg_buf piece;
    struct tg_usage_csv csv = {.head = true, .out = &piece};
    enum tg_class class = read_days(page, &span);

    if (class == TG_OK)
        class = web_log(page);
    if (class != TG_OK)
        return class;
    csv.names_db = page->main_db;
    tg_buf_init(&piece, 0);
    for (day = span; day.from_unix_us < span.to_unix_us && class == TG_OK;
         day.from_unix_us = day.to_unix_us) {
        day.to_unix_us = day.from_unix_us + day_us;
        class = tg_usage_csv(page->log_db, &day, &csv, &page->err);
        if (class == TG_OK && csv.head)
            web_stream_begin(page, "text/csv; charset=utf-8", "usage.csv");
        if (class == TG_OK)
            web_stream(page, tg_buf_text(&piece), piece.len);
        else if (!csv.head)
            page_csv_broken(page);
        tg_buf_reset(&piece);
        csv.head = false;
    }
    tg_buf_done(&piece);
    return class;
}

/* ---- one request ---- */

/* What is not in the row: the name of the request's user, who stands in the other database, and
 * what became of the request, in words. */
static enum tg_class put_more(struct web_page *page, const struct tg_buf *request)
{
    struct tg_usage_row row = {.label = ""};
    struct tg_usage_list list = {.part = TG_USAGE_BY_USER, .rows = &row, .count = 1};
    struct tg_json *root;
    enum tg_class class =
        tg_json_parse(tg_buf_text(request), request->len, &root, &page->err);

    if (class != TG_OK)
        return class;
    if (tg_json_get_int(root, "user_id", &row.id) == TG_JSON_GOT &&
        tg_usage_names(page->main_db, page->arena, &list) == TG_OK)
        tg_json_put_str(&page->out, "username", row.label);
    tg_json_key(&page->out, "story");
    tg_story_write(root, &page->out);
    tg_json_free(root);
    return TG_OK;
}

enum tg_class page_log(struct web_page *page)
{
    struct tg_json_writer out;
    struct tg_buf request;
    struct tg_id id;
    enum tg_class class;

    tg_json_put_str(&page->out, "title", "Request");
    if (!read_id(page->name, &id))
        return tg_fail(&page->err, TG_CLASS_NOT_FOUND, "request_not_found", "%.64s is no request",
                       page->name);
    class = web_main(page);
    if (class == TG_OK)
        class = web_log(page);
    if (class != TG_OK)
        return class;
    tg_buf_init(&request, 0);
    tg_json_writer_init(&out, &request);
    class = tg_view_request(page->log_db, &id, &out, &page->err);
    if (class == TG_OK) {
        tg_json_key(&page->out, "request");
        tg_json_write_raw(&page->out, request.data, request.len);
        class = put_more(page, &request);
    }
    tg_buf_done(&request);
    return class;
}

/* ---- one's own ---- */

static enum tg_class view_own(struct web_page *page)
{
    tg_json_put_str(&page->out, "title", "My requests");
    return TG_OK;
}

static const struct web_field own_filter[] = {
    {.name = "from", .label = "From", .kind = WEB_TIME},
    {.name = "to", .label = "Before", .kind = WEB_TIME},
    {.name = "token_id", .label = "Token number", .kind = WEB_INTEGER, .most = INT64_MAX},
    {.name = "model", .label = "Served model", .kind = WEB_TEXT, .most = 191},
    {.name = "status", .label = "Status", .kind = WEB_INTEGER, .most = 599},
    {.name = "request_id", .label = "Request id", .kind = WEB_TEXT, .most = 64},
    {.name = "errors_only", .label = "Errors only", .kind = WEB_BOOL},
};
const struct web_form_def page_own_requests_filter = {.fields = own_filter,
                                                      .count = TG_COUNT_OF(own_filter),
                                                      .view = view_own,
                                                      .submit = "Search",
                                                      .in_query = true};

enum tg_class page_own_requests(struct web_page *page)
{
    struct tg_request_filter wanted = {.user_id = page->who.user_id,
                                       .own = true,
                                       .from_unix_us = web_number(page, "from"),
                                       .to_unix_us = web_number(page, "to"),
                                       .token_id = web_number(page, "token_id"),
                                       .model = web_text(page, "model"),
                                       .status = web_number(page, "status"),
                                       .errors_only = web_number(page, "errors_only") != 0};
    struct tg_page at;
    struct tg_id id;
    enum tg_class class = web_list_page(page, &at);

    tg_json_put_str(&page->out, "title", "My requests");
    if (class == TG_OK && *web_text(page, "request_id") != '\0') {
        if (!read_id(web_text(page, "request_id"), &id))
            return web_refuse(page, "request_id", "an x-request-id of an answer");
        wanted.request_id = &id;
    }
    if (class == TG_OK)
        class = web_log(page);
    return class == TG_OK
               ? tg_list_requests(page->log_db, &wanted, &at, &page->out, &page->err)
               : class;
}
