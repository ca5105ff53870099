#include "admin-cgi/pages/days.h"

#include <string.h>

#include "admin-cgi/web/show.h"
#include "common/base/clock.h"

enum { HOURS_AT_ONCE = 960, DATE = 11 };

static const int64_t hour_us = INT64_C(3600000000);

struct day {
    char date[DATE];
    struct tg_usage_sum sum;
};
struct days {
    struct day *list;
    size_t count;
};

static void date_of(const struct web_page *page, int64_t unix_us, char date[DATE])
{
    char text[TG_TIME_TEXT];
    struct tg_buf shown;

    tg_time_format(unix_us, text);
    tg_buf_init(&shown, 0);
    web_show_time(&shown, text, page->who.zone);
    tg_assert(shown.len >= DATE - 1);
    memcpy(date, shown.data, DATE - 1);
    date[DATE - 1] = '\0';
    tg_buf_done(&shown);
}

static struct day *day_of(struct days *days, const char *date)
{
    for (size_t i = days->count; i > 0; i--)
        if (strcmp(days->list[i - 1].date, date) == 0)
            return &days->list[i - 1];
    return NULL;
}

/* Every hour of the span names its day: so days of 23 and of 25 hours need no thought. */
static void make_days(const struct web_page *page, const struct tg_usage_filter *filter,
                      struct days *ret)
{
    char date[DATE];

    *ret = (struct days){.list = tg_arena_calloc(page->arena, PAGE_DAYS_MOST + 2,
                                                 sizeof *ret->list)};
    for (int64_t at = filter->from_unix_us; at < filter->to_unix_us; at += hour_us) {
        date_of(page, at, date);
        if (ret->count > 0 && strcmp(ret->list[ret->count - 1].date, date) == 0)
            continue;
        if (ret->count == PAGE_DAYS_MOST + 2)
            return;
        memcpy(ret->list[ret->count++].date, date, DATE);
    }
}

static void add(struct tg_usage_sum *to, const struct tg_usage_sum *sum)
{
    to->requests += sum->requests;
    to->errors += sum->errors;
    to->fallbacks += sum->fallbacks;
    to->input += sum->input;
    to->output += sum->output;
    to->quota += sum->quota;
}

static enum tg_class add_hours(struct web_page *page, const struct tg_usage_filter *filter,
                               struct days *days)
{
    const struct tg_usage_wish wish = {.part = TG_USAGE_BY_HOUR, .limit = HOURS_AT_ONCE};
    struct tg_usage_list list;
    char date[DATE];
    enum tg_class class = tg_usage_by(page->log_db, page->arena, filter, &wish, &list);

    if (class != TG_OK)
        page->err = *tg_db_error(page->log_db);
    for (size_t i = 0; class == TG_OK && i < list.count; i++) {
        int64_t at = 0;
        struct day *day;

        if (!tg_time_parse(list.rows[i].label, &at))
            continue;
        date_of(page, at, date);
        day = day_of(days, date);
        if (day != NULL)
            add(&day->sum, &list.rows[i].sum);
    }
    return class;
}

static void write_days(struct web_page *page, const char *key, const struct days *days)
{
    struct tg_json_writer *out = &page->out;

    tg_json_key(out, key);
    tg_json_begin_array(out);
    for (size_t i = 0; i < days->count; i++) {
        const struct tg_usage_sum *sum = &days->list[i].sum;

        tg_json_begin_object(out);
        tg_json_put_str(out, "label", days->list[i].date);
        tg_json_put_int(out, "requests", sum->requests);
        tg_json_put_int(out, "errors", sum->errors);
        tg_json_put_int(out, "fallbacks", sum->fallbacks);
        tg_json_put_int(out, "input", sum->input);
        tg_json_put_int(out, "output", sum->output);
        tg_json_put_int(out, "quota", sum->quota);
        tg_json_end_object(out);
    }
    tg_json_end_array(out);
}

enum tg_class page_put_days(struct web_page *page, const char *key,
                            const struct tg_usage_filter *filter)
{
    struct tg_usage_filter piece = *filter;
    struct days days;
    enum tg_class class = TG_OK;

    make_days(page, filter, &days);
    for (int64_t from = filter->from_unix_us; from < filter->to_unix_us && class == TG_OK;
         from = piece.to_unix_us) {
        piece.from_unix_us = from;
        piece.to_unix_us = TG_MIN(from + HOURS_AT_ONCE * hour_us, filter->to_unix_us);
        class = add_hours(page, &piece, &days);
    }
    if (class == TG_OK)
        write_days(page, key, &days);
    return class;
}

int64_t page_day_end(const struct web_page *page, int64_t begin_unix_us)
{
    int64_t at = begin_unix_us + 22 * hour_us;
    char first[DATE], date[DATE];

    date_of(page, begin_unix_us, first);
    do {
        at += hour_us / 2;
        date_of(page, at, date);
    } while (strcmp(first, date) == 0);
    return at;
}
