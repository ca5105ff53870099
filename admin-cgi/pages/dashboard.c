/* dashboard - what was spent today, in 7 and in 30 days, by time, model, user and channel: from the
 * hourly sums. Days are those of the person's own time zone. */
#include "admin-cgi/pages/pages.h"

#include <stdlib.h>
#include <string.h>

#include "admin-cgi/pages/days.h"
#include "admin-cgi/web/show.h"
#include "common/base/clock.h"

enum { TOP = 10, HOURS_MOST = 26, DATE_LEN = 10, HOUR_AT = 11, HOUR_LEN = 5 };

static const int64_t hour_us = INT64_C(3600000000), day_us = INT64_C(86400000000);

static const struct web_choice spans[] = {
    {"1", "today"}, {"7", "7 days"}, {"30", "30 days"}, {NULL, NULL}};
static const struct web_field filter[] = {
    {.name = "days", .label = "Time", .kind = WEB_CHOICE, .choices = spans},
};
static void put_spans(struct tg_json_writer *out, int64_t days)
{
    tg_json_key(out, "spans");
    tg_json_begin_array(out);
    for (const struct web_choice *span = spans; span->value != NULL; span++) {
        tg_json_begin_object(out);
        tg_json_put_str(out, "days", span->value);
        tg_json_put_str(out, "label", span->label);
        tg_json_put_bool(out, "current", strtoll(span->value, NULL, 10) == days);
        tg_json_end_object(out);
    }
    tg_json_end_array(out);
}

/* The page again, with what is wrong. */
static enum tg_class view(struct web_page *page)
{
    tg_json_put_str(&page->out, "title", "Dashboard");
    put_spans(&page->out, 0);
    return TG_OK;
}

const struct web_form_def page_dashboard_filter = {
    .fields = filter,
    .count = TG_COUNT_OF(filter),
    .view = view,
    .submit = "Show",
    .in_query = true};

/* ---- time ---- */

/* "2026-11-30 17:00:00" in the person's zone. Owns: the arena. */
static const char *local(struct web_page *page, int64_t unix_us)
{
    char text[TG_TIME_TEXT];
    const char *copy;
    struct tg_buf shown;

    tg_time_format(unix_us, text);
    tg_buf_init(&shown, 0);
    web_show_time(&shown, text, page->who.zone);
    copy = tg_arena_strdup(page->arena, tg_buf_text(&shown));
    tg_buf_done(&shown);
    return copy;
}

/* The first whole hour of the day that <now_us> lies in. */
static int64_t day_begin(struct web_page *page, int64_t now_us)
{
    const char *today = local(page, now_us);
    int64_t at_us = now_us - now_us % hour_us;

    while (strncmp(local(page, at_us - hour_us), today, DATE_LEN) == 0)
        at_us -= hour_us;
    return at_us;
}

/* ---- sums ---- */

static enum tg_class put_total(struct web_page *page, const struct tg_usage_filter *wanted)
{
    struct tg_usage_sum sum;
    enum tg_class class = tg_usage_total(page->log_db, wanted, &sum, &page->err);

    if (class != TG_OK)
        return class;
    tg_json_key(&page->out, "total");
    tg_json_begin_object(&page->out);
    tg_usage_write(&sum, &page->out);
    tg_json_put_int(&page->out, "errors_bp",
                    sum.requests > 0 ? sum.errors * 10000 / sum.requests : 0);
    tg_json_end_object(&page->out);
    return TG_OK;
}

static enum tg_class read_part(struct web_page *page, const struct tg_usage_filter *wanted,
                               const struct tg_usage_wish *wish, struct tg_usage_list *ret)
{
    enum tg_class class = tg_usage_by(page->log_db, page->arena, wanted, wish, ret);

    if (class != TG_OK)
        page->err = *tg_db_error(page->log_db);
    return class;
}

/* The costliest of one kind. */
static enum tg_class put_part(struct web_page *page, const char *key,
                              const struct tg_usage_filter *wanted, enum tg_usage_part part)
{
    const struct tg_usage_wish wish = {.part = part, .limit = TOP};
    struct tg_json_writer *out = &page->out;
    struct tg_usage_list list;
    enum tg_class class = read_part(page, wanted, &wish, &list);

    if (class == TG_OK)
        class = web_main(page);
    if (class != TG_OK)
        return class;
    class = tg_usage_names(page->main_db, page->arena, &list);
    if (class != TG_OK) {
        page->err = *tg_db_error(page->main_db);
        return class;
    }
    tg_json_key(out, key);
    tg_json_begin_array(out);
    for (size_t i = 0; i < list.count; i++) {
        tg_json_begin_object(out);
        tg_json_put_str(out, "label", list.rows[i].label);
        tg_json_put_int(out, "id", list.rows[i].id);
        tg_usage_write(&list.rows[i].sum, out);
        tg_json_end_object(out);
    }
    tg_json_end_array(out);
    return TG_OK;
}

/* Every hour of the day so far; hours without use too. */
static enum tg_class put_hours(struct web_page *page, const struct tg_usage_filter *wanted)
{
    const struct tg_usage_wish wish = {.part = TG_USAGE_BY_HOUR, .limit = HOURS_MOST};
    struct tg_json_writer *out = &page->out;
    struct tg_usage_list list;
    size_t at = 0;
    enum tg_class class = read_part(page, wanted, &wish, &list);

    if (class != TG_OK)
        return class;
    tg_json_key(out, "points");
    tg_json_begin_array(out);
    for (int64_t hour = wanted->from_unix_us; hour < wanted->to_unix_us; hour += hour_us) {
        static const struct tg_usage_sum nothing = {.requests = 0};
        const struct tg_usage_sum *sum = &nothing;
        int64_t row_us = 0;

        if (at < list.count && tg_time_parse(list.rows[at].label, &row_us) && row_us == hour)
            sum = &list.rows[at++].sum;
        tg_json_begin_object(out);
        tg_json_put_str(out, "label",
                        tg_arena_strndup(page->arena, local(page, hour) + HOUR_AT, HOUR_LEN));
        tg_json_put_int(out, "requests", sum->requests);
        tg_json_put_int(out, "errors", sum->errors);
        tg_json_put_int(out, "input", sum->input);
        tg_json_put_int(out, "output", sum->output);
        tg_json_put_int(out, "quota", sum->quota);
        tg_json_end_object(out);
    }
    tg_json_end_array(out);
    return TG_OK;
}

enum tg_class page_dashboard(struct web_page *page)
{
    const char *choice = web_text(page, "days");
    int64_t now_us = tg_unix_us(), days;
    struct tg_usage_filter wanted = {.to_unix_us = now_us};
    enum tg_class class;

    days = *choice != '\0' ? strtoll(choice, NULL, 10) : 1;
    wanted.from_unix_us = day_begin(page, now_us) - (days - 1) * day_us;
    tg_json_put_str(&page->out, "title", "Dashboard");
    tg_json_put_int(&page->out, "span_days", days);
    put_spans(&page->out, days);
    class = web_log(page);
    if (class == TG_OK)
        class = put_total(page, &wanted);
    if (class == TG_OK)
        class = days == 1 ? put_hours(page, &wanted) : page_put_days(page, "points", &wanted);
    if (class == TG_OK)
        class = put_part(page, "models", &wanted, TG_USAGE_BY_MODEL);
    if (class == TG_OK)
        class = put_part(page, "users", &wanted, TG_USAGE_BY_USER);
    return class == TG_OK ? put_part(page, "channels", &wanted, TG_USAGE_BY_CHANNEL) : class;
}
