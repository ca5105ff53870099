/* usage - what one has used, by day and by model: from the hourly sums, in one's own time zone. */
#include "admin-cgi/pages/pages.h"

#include "admin-cgi/pages/days.h"
#include "common/base/clock.h"

enum { DAYS_USUAL = 30, MODELS_MOST = 50 };

static const int64_t day_us = INT64_C(86400000000);

static const struct web_field fields[] = {
    {.name = "from", .label = "From", .kind = WEB_DAY},
    {.name = "to", .label = "To", .kind = WEB_DAY, .help = "this day included"},
};
const struct web_form_def page_account_usage_form = {
    .fields = fields, .count = TG_COUNT_OF(fields), .submit = "Show", .in_query = true};

static enum tg_class put_models(struct web_page *page, const struct tg_usage_filter *filter)
{
    const struct tg_usage_wish wish = {.part = TG_USAGE_BY_MODEL, .limit = MODELS_MOST};
    struct tg_json_writer *out = &page->out;
    struct tg_usage_list list;
    enum tg_class class = tg_usage_by(page->log_db, page->arena, filter, &wish, &list);

    if (class != TG_OK) {
        page->err = *tg_db_error(page->log_db);
        return class;
    }
    tg_json_key(out, "models");
    tg_json_begin_array(out);
    for (size_t i = 0; i < list.count; i++) {
        tg_json_begin_object(out);
        tg_json_put_str(out, "label", list.rows[i].label);
        tg_usage_write(&list.rows[i].sum, out);
        tg_json_end_object(out);
    }
    tg_json_end_array(out);
    return TG_OK;
}

static enum tg_class read_span(struct web_page *page, struct tg_usage_filter *ret)
{
    int64_t now = tg_unix_us();

    ret->to_unix_us = *web_text(page, "to") != '\0' ? page_day_end(page, web_number(page, "to"))
                                                     : now;
    ret->from_unix_us = *web_text(page, "from") != '\0' ? web_number(page, "from")
                                                        : ret->to_unix_us - DAYS_USUAL * day_us;
    if (ret->from_unix_us >= ret->to_unix_us ||
        ret->to_unix_us - ret->from_unix_us > PAGE_DAYS_MOST * day_us)
        return web_refuse(page, "from", "at most 366 days, the first before the last");
    return TG_OK;
}

enum tg_class page_account_usage(struct web_page *page)
{
    struct tg_usage_filter filter = {.user_id = page->who.user_id};
    struct tg_usage_sum sum;
    enum tg_class class = read_span(page, &filter);

    tg_json_put_str(&page->out, "title", "Usage");
    if (class == TG_OK)
        class = web_log(page);
    if (class == TG_OK)
        class = tg_usage_total(page->log_db, &filter, &sum, &page->err);
    if (class != TG_OK)
        return class;
    tg_json_key(&page->out, "total");
    tg_json_begin_object(&page->out);
    tg_usage_write(&sum, &page->out);
    tg_json_end_object(&page->out);
    class = page_put_days(page, "days", &filter);
    return class == TG_OK ? put_models(page, &filter) : class;
}
