/* audit - who changed what, from where; is the chain of it whole? */
#include "admin-cgi/pages/pages.h"

#include "admin-cgi/pages/csv.h"
#include "common/store/user.h"

static const struct web_field filter[] = {
    {.name = "from", .label = "From", .kind = WEB_TIME},
    {.name = "to", .label = "Before", .kind = WEB_TIME},
    {.name = "actor", .label = "By", .kind = WEB_TEXT, .most = 64},
    {.name = "action", .label = "Action (\"user.\": all of users)", .kind = WEB_TEXT, .most = 48},
    {.name = "object_type", .label = "Kind of object", .kind = WEB_TEXT, .most = 32},
    {.name = "object_id", .label = "Object", .kind = WEB_TEXT, .most = 191},
};
/* The title, and the same rows as a file. */
static void put_head(struct web_page *page)
{
    static const char *const but[] = {"after", "limit", "sort", NULL};
    struct tg_buf link;

    tg_json_put_str(&page->out, "title", "Audit");
    tg_buf_init(&link, 0);
    tg_buf_printf(&link, "%saudit.cgi/csv?", page->request->base);
    web_params_query(&page->request->query, but, &link);
    tg_json_put_str(&page->out, "csv", tg_buf_text(&link));
    tg_buf_done(&link);
}

/* The filter again, with what is wrong. */
static enum tg_class view(struct web_page *page)
{
    put_head(page);
    return TG_OK;
}

const struct web_form_def page_audit_filter = {
    .fields = filter,
    .count = TG_COUNT_OF(filter),
    .view = view,
    .submit = "Search",
    .in_query = true};

static enum tg_class read_filter(struct web_page *page, struct tg_audit_filter *ret)
{
    const char *actor = web_text(page, "actor");
    enum tg_class class;

    *ret = (struct tg_audit_filter){.from_unix_us = web_number(page, "from"),
                                    .to_unix_us = web_number(page, "to"),
                                    .action = web_text(page, "action"),
                                    .object_type = web_text(page, "object_type"),
                                    .object_id = web_text(page, "object_id")};
    if (*ret->object_id != '\0' && *ret->object_type == '\0')
        return web_refuse(page, "object_type", "which kind is the object of?");
    class = web_main(page);
    if (class == TG_OK && *actor != '\0') {
        class = tg_store_user_id(page->main_db, actor, &ret->actor_id, &page->err);
        if (class == TG_CLASS_NOT_FOUND)
            return web_refuse(page, "actor", "there is no user of that name");
    }
    return class;
}

enum tg_class page_audit(struct web_page *page)
{
    struct tg_audit_filter wanted;
    struct tg_page at;
    enum tg_class class = web_list_page(page, &at);

    put_head(page);
    if (class == TG_OK)
        class = read_filter(page, &wanted);
    return class == TG_OK ? tg_list_audit(page->main_db, &wanted, &at, &page->out, &page->err)
                          : class;
}

static enum tg_class csv_page(struct web_page *page, const void *wanted, const struct tg_page *at,
                              struct tg_csv *csv)
{
    return tg_csv_audit(page->main_db, wanted, at, csv, &page->err);
}

enum tg_class page_audit_csv(struct web_page *page)
{
    struct tg_audit_filter wanted;
    enum tg_class class = read_filter(page, &wanted);

    return class == TG_OK ? page_csv_send(page, "audit.csv", csv_page, &wanted) : class;
}

enum tg_class page_audit_verify(struct web_page *page)
{
    int64_t broken = 0;
    enum tg_class class = web_main(page);

    tg_json_put_str(&page->out, "title", "The chain of the audit log");
    if (class == TG_OK)
        class = tg_change_chain_check(page->main_db, &broken, &page->err);
    if (class != TG_OK)
        return class;
    tg_json_put_bool(&page->out, "whole", broken == 0);
    if (broken > 0)
        tg_json_put_int(&page->out, "first_broken_id", broken);
    if (broken < 0)
        tg_json_put_bool(&page->out, "newest_missing", true);
    return TG_OK;
}
