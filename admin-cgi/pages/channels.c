/* channels - upstream accounts: listed, changed, turned on and off, tested live. */
#include "admin-cgi/pages/pages.h"

#include <string.h>

#include "admin-cgi/pages/channel_form.h"
#include "admin-cgi/pages/person.h"
#include "admin-cgi/worker/probe.h"
#include "common/store/channel.h"
#include "common/store/channel_change.h"
#include "common/store/channel_watch.h"
#include "common/store/view.h"

static const struct web_choice filter_states[] = {{"enabled", "enabled"},
                                                  {"disabled", "disabled"},
                                                  {"auto_disabled", "disabled by itself"},
                                                  {NULL, NULL}};
static const struct web_choice states[] = {
    {"enabled", "enabled"}, {"disabled", "disabled"}, {NULL, NULL}};
static const struct web_choice bills[] = {
    {"requested", "of the model that was asked for"}, {"upstream", "of the upstream's model"},
    {NULL, NULL}};

/* The words of fcgi-app/provider/balance.h. */
static const struct web_choice balance_sources[] = {
    {"", "where its vendor is known to"},
    {"none", "not at all"},
    {"openrouter", "as OpenRouter does"},
    {"deepseek", "as DeepSeek does"},
    {"moonshot", "as Moonshot AI does"},
    {"siliconflow", "as SiliconFlow does"},
    {"billing", "by /dashboard/billing, as many gateways do"},
    {NULL, NULL}};

/* --- The list --- */

static const struct web_field filter[] = {
    {.name = "search", .label = "Name", .kind = WEB_TEXT, .most = 64},
    {.name = "model", .label = "Model", .kind = WEB_TEXT, .most = 191},
    {.name = "group_name", .label = "Group", .kind = WEB_TEXT, .most = 64},
    {.name = "status", .label = "Status", .kind = WEB_CHOICE, .choices = filter_states},
    {.name = "tag", .label = "Tag", .kind = WEB_TEXT, .most = 64},
};
const struct web_form_def page_channels_filter = {
    .fields = filter, .count = TG_COUNT_OF(filter), .submit = "Search", .in_query = true};

enum tg_class page_channels(struct web_page *page)
{
    const struct tg_channel_filter wanted = {.search = web_text(page, "search"),
                                             .status = web_text(page, "status"),
                                             .tag = web_text(page, "tag"),
                                             .group_name = web_text(page, "group_name"),
                                             .model = web_text(page, "model")};
    struct tg_page at;
    enum tg_class class = web_list_page(page, &at);

    tg_json_put_str(&page->out, "title", "Channels");
    if (class == TG_OK)
        class = web_main(page);
    return class == TG_OK ? tg_list_channels(page->main_db, &wanted, &at, &page->out, &page->err)
                          : class;
}

/* --- One channel --- */

static enum tg_class view(struct web_page *page)
{
    return page_channel(page);
}

static const struct web_field fields[] = {
    PAGE_CHANNEL_NAME,
    PAGE_CHANNEL_URL,
    PAGE_CHANNEL_ROUTING,
    PAGE_CHANNEL_REACH,
    {.name = "test_model",
     .label = "Model for tests",
     .kind = WEB_TEXT,
     .most = 191,
     .help = "empty: its first"},
    {.name = "bill",
     .label = "Requests cost the price",
     .kind = WEB_CHOICE,
     .flags = WEB_REQUIRED,
     .choices = bills},
    PAGE_CHANNEL_LOSS,
    {.name = "auto_disable",
     .label = "May be disabled by itself",
     .kind = WEB_BOOL,
     .help = "when its account is refused, is used up, or tests of it are too slow"},
    {.name = "balance_from",
     .label = "What is left of the account is told",
     .kind = WEB_CHOICE,
     .choices = balance_sources,
     .help = "updated every balance.every, where the channel has one key"},
    {.name = "tag", .label = "Tag", .kind = WEB_TEXT, .most = 64, .help = "a word to filter by"},
};
const struct web_form_def page_channel_form = {
    .fields = fields, .count = TG_COUNT_OF(fields), .view = view, .partial = true};

/* The channel as it is; texts live in the arena. */
struct state {
    const char *base_url, *proxy; /* the proxy without its password, as pages show it */
    const char *test_model, *name;
    const char **models;
    size_t model_count;
};

static const char *text_of(struct web_page *page, const struct tg_json *channel, const char *key)
{
    struct tg_span text = {"", 0};

    if (tg_json_get_string(channel, key, &text) != TG_JSON_GOT)
        return "";
    return tg_arena_strndup(page->arena, text.ptr, text.len);
}

static void take_models(struct web_page *page, const struct tg_json *channel, struct state *ret)
{
    const struct tg_json *models;
    struct tg_span text;

    if (tg_json_get_array(channel, "models", &models) != TG_JSON_GOT)
        return;
    ret->models =
        tg_arena_calloc(page->arena, tg_json_array_len(models) + 1, sizeof *ret->models);
    for (size_t i = 0; i < tg_json_array_len(models); i++)
        if (tg_json_string(tg_json_array_at(models, i), &text))
            ret->models[ret->model_count++] = tg_arena_strndup(page->arena, text.ptr, text.len);
}

static enum tg_class read_state(struct web_page *page, struct state *ret)
{
    struct tg_json *channel = NULL;
    struct tg_json_writer out;
    struct tg_buf buf;
    enum tg_class class = web_main(page);

    tg_buf_init(&buf, 0);
    tg_json_writer_init(&out, &buf);
    *ret = (struct state){0};
    if (class == TG_OK)
        class = tg_view_channel(page->main_db, page->id, &out, &page->err);
    if (class == TG_OK)
        class = tg_json_parse(buf.data, buf.len, &channel, &page->err);
    if (class == TG_OK) {
        ret->name = text_of(page, channel, "name");
        ret->base_url = text_of(page, channel, "base_url");
        ret->proxy = text_of(page, channel, "proxy");
        ret->test_model = text_of(page, channel, "test_model");
        take_models(page, channel, ret);
    }
    tg_json_free(channel);
    tg_buf_done(&buf);
    return class;
}

enum tg_class page_channel(struct web_page *page)
{
    struct state state;
    enum tg_class class = read_state(page, &state);

    if (class == TG_OK)
        class = tg_view_channel_members(page->main_db, page->id, &page->out, &page->err);
    if (class != TG_OK)
        return class;
    tg_json_put_str(&page->out, "title", state.name);
    tg_json_put_int(&page->out, "channel_id", page->id); /* beside the ids of its keys */
    tg_json_key(&page->out, "states");
    class = tg_count_channel_keys(page->main_db, page->id, &page->out, &page->err);
    if (class != TG_OK)
        return class;
    tg_json_key(&page->out, "keys");
    tg_json_begin_object(&page->out);
    class = tg_list_channel_keys(page->main_db, page->id, &page->out, &page->err);
    tg_json_end_object(&page->out);
    if (class == TG_OK)
        class = tg_list_channel_breakers(page->main_db, page->id, &page->out, &page->err);
    return class == TG_OK ? page_put_groups(page, "groups_list") : class;
}

/* --- Changes --- */

/* NULL: as it is. */
static const char *changed(const struct web_page *page, const char *name, const char *now)
{
    const char *text = web_text_or_null(page, name);

    return text != NULL && strcmp(text, now) == 0 ? NULL : text;
}

/* Where a channel sends its key is as good as the key. */
static enum tg_class check_reach(struct web_page *page, const struct tg_channel_change *wish,
                                 const struct state *state)
{
    const char *proxy = wish->proxy != NULL ? wish->proxy : state->proxy;

    if (wish->base_url == NULL && wish->proxy == NULL)
        return TG_OK;
    if (!page_channel_may_keys(page))
        return web_refuse(page, wish->base_url != NULL ? "base_url" : "proxy",
                          "you may not send the channel's keys somewhere else");
    if (wish->proxy != NULL && strstr(wish->proxy, "***@") != NULL)
        return web_refuse(page, "proxy", "write the password again when the proxy changes");
    return page_channel_check_url(
        page, wish->base_url != NULL ? wish->base_url : state->base_url, proxy);
}

static enum tg_class check(struct web_page *page, const struct tg_channel_change *wish,
                           const struct state *state)
{
    const struct web_value *models = web_value(page, "models");
    enum tg_class class = models->count > 0
                              ? page_channel_check(page, models->items, models->count)
                              : page_channel_check(page, state->models, state->model_count);

    return class == TG_OK ? check_reach(page, wish, state) : class;
}

static const char *pairs_or_null(const struct web_page *page, const char *name)
{
    return web_given(page, name) ? web_pairs_json(&page->form, web_value(page, name)) : NULL;
}

static const int64_t *number_or_null(const struct web_page *page, const char *name)
{
    const struct web_value *value = web_value(page, name);

    return value->given && *value->text != '\0' ? &value->number : NULL;
}

enum tg_class page_channel_change(struct web_page *page)
{
    const struct web_value *models = web_value(page, "models");
    const struct web_value *groups = web_value(page, "groups_list");
    struct state state;
    enum tg_class class = read_state(page, &state);

    if (class != TG_OK)
        return class;
    const struct tg_channel_change wish = {.id = page->id,
                                           .name = web_text_or_null(page, "name"),
                                           .tag = web_text_or_null(page, "tag"),
                                           .base_url = changed(page, "base_url", state.base_url),
                                           .organisation = web_text_or_null(page, "organisation"),
                                           .proxy = changed(page, "proxy", state.proxy),
                                           .test_model = web_text_or_null(page, "test_model"),
                                           .bill = web_text_or_null(page, "bill"),
                                           .loss_policy = web_text_or_null(page, "loss_policy"),
                                           .model_mapping = pairs_or_null(page, "model_mapping"),
                                           .timeouts = pairs_or_null(page, "timeouts"),
                                           .models = models->items,
                                           .model_count = models->count,
                                           .groups = groups->items,
                                           .group_count = groups->count,
                                           .priority = number_or_null(page, "priority"),
                                           .weight = number_or_null(page, "weight"),
                                           .balance_from =
                                               web_text_or_null(page, "balance_from"),
                                           .auto_disable = web_given(page, "auto_disable")
                                                               ? web_value(page, "auto_disable")
                                                                         ->number != 0
                                                               : -1};

    class = check(page, &wish, &state);
    if (class == TG_OK)
        class = page_channel_refused(page, tg_store_channel_change(page->main_db, &page->actor,
                                                                   &wish, &page->err));
    if (class != TG_OK)
        return class;
    tg_json_put_int(&page->out, "id", page->id);
    web_tell(page, "channels");
    web_go(page, "The channel is changed.", "channels.cgi/%lld", (long long)page->id);
    return TG_OK;
}

static const struct web_field status_fields[] = {
    {.name = "status",
     .label = "Status",
     .kind = WEB_CHOICE,
     .flags = WEB_REQUIRED,
     .choices = states},
};
const struct web_form_def page_channel_status_fields = {.fields = status_fields,
                                                        .count = TG_COUNT_OF(status_fields)};

enum tg_class page_channel_status(struct web_page *page)
{
    const char *status = web_text(page, "status");
    bool on = strcmp(status, "enabled") == 0;
    enum tg_class class = web_main(page);

    if (class == TG_OK)
        class = tg_store_channel_set_status(page->main_db, &page->actor, page->id, status,
                                            &page->err);
    if (class != TG_OK)
        return class;
    tg_json_put_int(&page->out, "id", page->id);
    tg_json_put_str(&page->out, "status", status);
    web_tell(page, "channels");
    web_go(page, on ? "The channel is on." : "The channel is off.", "channels.cgi/%lld",
           (long long)page->id);
    return TG_OK;
}

/* --- A live test --- */

static enum tg_class view_test(struct web_page *page)
{
    return page_channel_test_form(page);
}

static const struct web_field test_fields[] = {
    {.name = "model",
     .label = "Model",
     .kind = WEB_TEXT,
     .most = 191,
     .help = "empty: the channel's first"},
};
const struct web_form_def page_channel_test_fields = {.fields = test_fields,
                                                      .count = TG_COUNT_OF(test_fields),
                                                      .view = view_test,
                                                      .submit = "Test it"};

static void put_test(struct web_page *page, const struct state *state)
{
    web_put_link(page, "back", "channels.cgi/%lld", (long long)page->id);
    tg_json_put_str(&page->out, "back_label", state->name);
    tg_json_put_str(&page->out, "title", "Test the channel");
    tg_json_put_int(&page->out, "id", page->id);
}

enum tg_class page_channel_test_form(struct web_page *page)
{
    struct state state;
    enum tg_class class = read_state(page, &state);

    if (class != TG_OK)
        return class;
    put_test(page, &state);
    web_put_text(page, "model",
                 *state.test_model != '\0' || state.model_count == 0 ? state.test_model
                                                                     : state.models[0]);
    return TG_OK;
}

enum tg_class page_channel_test(struct web_page *page)
{
    struct worker_probe probe = {.conf = page->site->conf,
                                 .secrets = &page->site->secrets,
                                 .channel_id = page->id,
                                 .model = web_text(page, "model")};
    struct state state;
    struct tg_buf result;
    bool ok = false;
    enum tg_class class = read_state(page, &state);

    if (class != TG_OK)
        return class;
    if (*probe.model == '\0')
        probe.model = state.test_model;
    probe.main_db = page->main_db;
    page->store = "the gateway";
    put_test(page, &state);
    tg_buf_init(&result, 0);
    class = worker_probe(&probe, &result, &ok, &page->err);
    if (class == TG_OK) {
        tg_json_key(&page->out, "result");
        tg_json_write_raw(&page->out, result.data, result.len);
    }
    tg_buf_done(&result);
    return class;
}
