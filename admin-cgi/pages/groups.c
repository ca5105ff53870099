/* groups - ratios of groups. */
#include "admin-cgi/pages/pages.h"

#include "common/store/check.h"
#include "common/store/group.h"
#include "common/store/group_view.h"

static const struct web_field filter[] = {
    {.name = "search", .label = "Name", .kind = WEB_TEXT, .most = 64},
};
const struct web_form_def page_groups_filter = {
    .fields = filter, .count = TG_COUNT_OF(filter), .submit = "Search", .in_query = true};

static enum tg_class view(struct web_page *page)
{
    return page->name != NULL ? page_group(page) : page_group_new(page);
}

static const struct web_choice orders[] = {
    {TG_GROUP_SPEND_FREE_FIRST, "keys with a cap and room left first: free before paid"},
    {NULL, NULL}};
static const struct web_field fields[] = {
    {.name = "name",
     .label = "Name",
     .kind = WEB_TEXT,
     .flags = WEB_REQUIRED | WEB_FIXED,
     .most = 64,
     .help = "letters, digits and . _ - @ +"},
    {.name = "ratio",
     .label = "Ratio",
     .kind = WEB_DECIMAL,
     .flags = WEB_REQUIRED,
     .most = 10,
     .help = "prices are multiplied by it; 1 leaves them as they are"},
    {.name = "deposit_factor",
     .label = "Factor on deposits",
     .kind = WEB_DECIMAL,
     .most = 10,
     .help = "empty: deposit.factor of the settings"},
    {.name = "order_mode",
     .label = "Order of channels and keys",
     .kind = WEB_CHOICE,
     .choices = orders,
     .help = "empty: by priority and weight"},
    {.name = "description", .label = "Description", .kind = WEB_TEXT, .most = 64},
};
const struct web_form_def page_group_form = {
    .fields = fields, .count = TG_COUNT_OF(fields), .view = view, .action = ""};
/* The name is the key: it does not change. */
const struct web_form_def page_group_edit_form = {
    .fields = fields + 1, .count = TG_COUNT_OF(fields) - 1, .view = view, .partial = true};

enum tg_class page_groups(struct web_page *page)
{
    struct tg_page at;
    enum tg_class class = web_list_page(page, &at);

    tg_json_put_str(&page->out, "title", "Groups");
    if (class == TG_OK)
        class = web_main(page);
    if (class != TG_OK)
        return class;
    return tg_list_groups(page->main_db, web_text(page, "search"), &at, &page->out, &page->err);
}

enum tg_class page_group_new(struct web_page *page)
{
    tg_json_put_str(&page->out, "title", "New group");
    web_put_text(page, "ratio", "1");
    return TG_OK;
}

enum tg_class page_group(struct web_page *page)
{
    enum tg_class class = web_main(page);

    tg_json_put_str(&page->out, "title", page->name);
    return class == TG_OK ? tg_view_group(page->main_db, page->name, &page->out, &page->err)
                          : class;
}

static enum tg_class save(struct web_page *page, const char *name)
{
    const struct tg_group_change wish = {.name = name,
                                         .ratio = web_text_or_null(page, "ratio"),
                                         .deposit_factor =
                                             web_text_or_null(page, "deposit_factor"),
                                         .order_mode = web_text_or_null(page, "order_mode"),
                                         .description = web_text_or_null(page, "description")};
    enum tg_class class =
        tg_store_group_change(page->main_db, &page->actor, &wish, &page->err);

    if (class != TG_OK)
        return class;
    web_tell(page, "groups");
    web_go(page, "The group is saved.", "groups.cgi/%s", name);
    return tg_view_group(page->main_db, name, &page->out, &page->err);
}

static void ignore_document(struct tg_buf *buf, struct tg_json_writer *out)
{
    tg_buf_init(buf, 0);
    tg_json_writer_init(out, buf);
    tg_json_begin_object(out);
}

/* Is there one of that name? */
static enum tg_class find(struct web_page *page, const char *name)
{
    struct tg_json_writer out;
    struct tg_buf buf;
    enum tg_class class = web_main(page);

    ignore_document(&buf, &out);
    if (class == TG_OK)
        class = tg_view_group(page->main_db, name, &out, &page->err);
    tg_buf_done(&buf);
    return class;
}

enum tg_class page_group_add(struct web_page *page)
{
    const char *name = web_text(page, "name");
    enum tg_class class = tg_check_group(name, &page->err);

    if (class != TG_OK)
        return web_refuse(page, "name", tg_arena_strdup(page->arena, page->err.message));
    class = find(page, name);
    if (class == TG_OK)
        return web_refuse(page, "name", "there is such a group already");
    if (class != TG_CLASS_NOT_FOUND)
        return class;
    page->status = 201;
    return save(page, name);
}

enum tg_class page_group_change(struct web_page *page)
{
    enum tg_class class = find(page, page->name);

    return class == TG_OK ? save(page, page->name) : class;
}

enum tg_class page_group_delete(struct web_page *page)
{
    enum tg_class class = web_main(page);

    if (class == TG_OK)
        class = tg_store_group_delete(page->main_db, &page->actor, page->name, &page->err);
    if (class != TG_OK)
        return class;
    tg_json_put_str(&page->out, "deleted", page->name);
    web_tell(page, "groups");
    web_go(page, "The group is deleted.", "groups.cgi");
    return TG_OK;
}
