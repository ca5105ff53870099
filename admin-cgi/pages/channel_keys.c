/* channel_keys - keys of a channel: added, put in the place of all others, paused, deleted; never
 * shown. */
#include "admin-cgi/pages/pages.h"

#include <string.h>

#include "admin-cgi/pages/channel_form.h"
#include "common/store/channel_change.h"
#include "common/store/view.h"

static enum tg_class view(struct web_page *page)
{
    return page_channel_key_new(page);
}

static const struct web_field fields[] = {
    {.name = "key",
     .label = "Key",
     .kind = WEB_SECRET,
     .flags = WEB_REQUIRED,
     .most = 8000,
     .help = "sealed at once: no page shows more of it than its last four characters"},
    {.name = "replace",
     .label = "In the place of all keys that the channel has",
     .kind = WEB_BOOL},
};
const struct web_form_def page_channel_key_form = {.fields = fields,
                                                   .count = TG_COUNT_OF(fields),
                                                   .view = view,
                                                   .submit = "Put it in"};

enum tg_class page_channel_key_new(struct web_page *page)
{
    enum tg_class class = web_main(page);

    if (class != TG_OK)
        return class;
    web_put_link(page, "back", "channels.cgi/%lld", (long long)page->id);
    tg_json_put_str(&page->out, "back_label", "Channel");
    class = tg_view_channel_members(page->main_db, page->id, &page->out, &page->err);
    tg_json_put_str(&page->out, "title", "New key");
    return class;
}

enum tg_class page_channel_key_add(struct web_page *page)
{
    const struct tg_channel_key_new key = {.channel_id = page->id,
                                           .key = page_channel_key(page),
                                           .seal_public = page->site->secrets.seal_public,
                                           .key_version = page->site->secrets.key_version};
    int64_t id = 0;
    enum tg_class class = web_main(page);

    if (class == TG_OK && web_number(page, "replace") != 0)
        class = tg_store_channel_key_replace(page->main_db, &page->actor, &key, &page->err);
    else if (class == TG_OK)
        class = tg_store_channel_key_add(page->main_db, &page->actor, &key, &id, &page->err);
    class = page_channel_refused(page, class);
    if (class != TG_OK)
        return class;
    page->status = 201;
    tg_json_put_int(&page->out, "channel_id", page->id);
    web_tell(page, "channels");
    web_go(page, "The key is in.", "channels.cgi/%lld", (long long)page->id);
    return TG_OK;
}

static const struct web_choice states[] = {
    {"active", "active"}, {"disabled", "disabled"}, {"deleted", "deleted"}, {NULL, NULL}};
static const struct web_field set_fields[] = {
    {.name = "key_id", .label = "Key", .kind = WEB_INTEGER, .flags = WEB_REQUIRED},
    {.name = "state",
     .label = "State",
     .kind = WEB_CHOICE,
     .flags = WEB_REQUIRED,
     .choices = states},
};
const struct web_form_def page_channel_key_set_fields = {.fields = set_fields,
                                                         .count = TG_COUNT_OF(set_fields)};

enum tg_class page_channel_key_set(struct web_page *page)
{
    int64_t key_id = web_number(page, "key_id"), channel_id = 0;
    enum tg_class class = web_main(page);

    if (class == TG_OK)
        class = tg_store_channel_key_owner(page->main_db, key_id, &channel_id, &page->err);
    if (class == TG_OK && channel_id != page->id)
        class = tg_fail(&page->err, TG_CLASS_NOT_FOUND, "key_not_found",
                        "the channel has no such key");
    if (class == TG_OK)
        class = tg_store_channel_key_set(page->main_db, &page->actor, key_id,
                                         web_text(page, "state"), &page->err);
    if (class != TG_OK)
        return class;
    tg_json_put_int(&page->out, "id", key_id);
    tg_json_put_str(&page->out, "state", web_text(page, "state"));
    web_tell(page, "channels");
    web_go(page, "The key is changed.", "channels.cgi/%lld", (long long)page->id);
    return TG_OK;
}
