/* channel_new - a channel is made: a vendor is picked, its key is sealed on entry. */
#include "admin-cgi/pages/pages.h"

#include <string.h>

#include "admin-cgi/pages/channel_form.h"
#include "admin-cgi/pages/person.h"
#include "common/store/channel.h"

static enum tg_class view(struct web_page *page)
{
    return page_channel_new(page);
}

static const struct web_choice dialects[] = {
    {"openai", "OpenAI chat completions"},
    {"openai-responses", "OpenAI responses"},
    {"anthropic", "Anthropic messages"},
    {"gemini", "Google Gemini"},
    {NULL, NULL}};

static const struct web_field fields[] = {
    PAGE_CHANNEL_NAME,
    {.name = "provider",
     .label = "What it speaks",
     .kind = WEB_CHOICE,
     .choices = dialects,
     .help = "empty: OpenAI chat completions"},
    PAGE_CHANNEL_URL,
    {.name = "key",
     .label = "Key",
     .kind = WEB_SECRET,
     .flags = WEB_REQUIRED,
     .most = 8000,
     .help = "sealed at once: no page shows more of it than its last four characters"},
    PAGE_CHANNEL_ROUTING,
    PAGE_CHANNEL_REACH,
    PAGE_CHANNEL_LOSS,
};
const struct web_form_def page_channel_new_form = {.fields = fields,
                                                   .count = TG_COUNT_OF(fields),
                                                   .view = view,
                                                   .action = "",
                                                   .submit = "Make the channel"};

/* Without a vendor the list of them; the API gets that, too. */
enum tg_class page_channel_new(struct web_page *page)
{
    const char *word = web_param(&page->request->query, "provider");
    bool again = page->request->method == WEB_POST;

    tg_json_put_str(&page->out, "title", "New channel");
    web_put_link(page, "back", "channels.cgi");
    tg_json_put_str(&page->out, "back_label", "Channels");
    if (!again && (word == NULL || !page_provider_fill(page, word))) {
        page->template_name = "channel_pick";
        page_put_providers(page);
        return TG_OK;
    }
    web_put_text(page, "groups_list", "default");
    web_put_number(page, "priority", 0);
    web_put_number(page, "weight", 1);
    return page_put_groups(page, "groups_list");
}

static enum tg_class check(struct web_page *page)
{
    const struct web_value *models = web_value(page, "models");
    enum tg_class class = web_main(page);

    if (class == TG_OK && !page_channel_may_keys(page))
        return tg_fail(&page->err, TG_CLASS_FORBIDDEN, "permission_denied",
                       "a channel has a key, and you may not put keys into channels");
    if (class == TG_OK)
        class = page_channel_check(page, models->items, models->count);
    if (class == TG_OK)
        class = page_channel_check_url(page, web_text(page, "base_url"), web_text(page, "proxy"));
    return class;
}

static const char *pairs(const struct web_page *page, const char *name)
{
    const char *json = web_pairs_json(&page->form, web_value(page, name));

    return *json != '\0' ? json : NULL;
}

static enum tg_class add(struct web_page *page, struct tg_channel_new *channel, int64_t *ret_id)
{
    channel->seal = page_channel_seal(page);
    return tg_store_channel_add(page->main_db, &page->actor, channel, ret_id, &page->err);
}

enum tg_class page_channel_add(struct web_page *page)
{
    const struct web_value *models = web_value(page, "models");
    const struct web_value *groups = web_value(page, "groups_list");
    struct tg_channel_new channel = {
        .name = web_text(page, "name"),
        .provider = *web_text(page, "provider") != '\0' ? web_text(page, "provider") : "openai",
        .loss_policy = web_text(page, "loss_policy"),
        .base_url = web_text(page, "base_url"),
        .organisation = web_text(page, "organisation"),
        .proxy = web_text(page, "proxy"),
        .model_mapping = pairs(page, "model_mapping"),
        .timeouts = pairs(page, "timeouts"),
        .models = models->items,
        .model_count = models->count,
        .groups = groups->items,
        .group_count = groups->count,
        .priority = web_number(page, "priority"),
        .weight = *web_text(page, "weight") != '\0' ? web_number(page, "weight") : 1,
        .key = page_channel_typed_key(page)};
    int64_t id = 0;
    enum tg_class class = check(page);

    if (class == TG_OK)
        class = add(page, &channel, &id);
    if (web_other_secrets(page, class))
        class = add(page, &channel, &id);
    class = page_channel_refused(page, class);
    if (class != TG_OK)
        return class;
    page->status = 201;
    tg_json_put_int(&page->out, "id", id);
    tg_json_put_str(&page->out, "name", channel.name);
    web_tell(page, "channels");
    web_go(page, "The channel is made. Test it, then set prices for its models.",
           "channels.cgi/%lld", (long long)id);
    return TG_OK;
}
