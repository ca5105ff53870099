#include "admin-cgi/pages/channel_form.h"

#include <string.h>

#include "common/http/url.h"
#include "common/store/check.h"
#include "common/store/group_view.h"

/* --- Vendors --- */

static const struct provider {
    const char *word, *label, *base_url, *models, *remark;
} providers[] = {
#define PROVIDER(word, label, base_url, models, remark) {word, label, base_url, models, remark},
#include "admin-cgi/pages/providers.def"
#undef PROVIDER
};

void page_put_providers(struct web_page *page)
{
    struct tg_json_writer *out = &page->out;

    tg_json_key(out, "providers");
    tg_json_begin_array(out);
    for (size_t i = 0; i < TG_COUNT_OF(providers); i++) {
        tg_json_begin_object(out);
        tg_json_put_str(out, "word", providers[i].word);
        tg_json_put_str(out, "label", providers[i].label);
        tg_json_put_str(out, "base_url", providers[i].base_url);
        tg_json_put_str(out, "remark", providers[i].remark);
        tg_json_end_object(out);
    }
    tg_json_end_array(out);
}

/* Words that name a dialect as well; all other vendors speak OpenAI's Chat. */
static const char *dialect_of(const char *word)
{
    static const char *const own[] = {"anthropic", "gemini", "openai-responses"};

    for (size_t i = 0; i < TG_COUNT_OF(own); i++)
        if (strcmp(word, own[i]) == 0)
            return own[i];
    return "openai";
}

bool page_provider_fill(struct web_page *page, const char *word)
{
    for (size_t i = 0; i < TG_COUNT_OF(providers); i++) {
        if (strcmp(providers[i].word, word) != 0)
            continue;
        web_put_text(page, "name", strcmp(word, "other") != 0 ? word : "");
        web_put_text(page, "provider", dialect_of(word));
        web_put_text(page, "base_url", providers[i].base_url);
        web_put_text(page, "models", providers[i].models);
        return true;
    }
    return false;
}

/* --- Checks --- */

bool page_channel_may_keys(const struct web_page *page)
{
    return web_may(page, ACCESS_CHANNELS_KEYS) &&
           access_scope_ok(&page->who, access_permission_word(ACCESS_CHANNELS_KEYS));
}

struct tg_key_seal page_channel_seal(const struct web_page *page)
{
    const struct tg_secrets *secrets = &page->site->secrets;

    return (struct tg_key_seal){secrets->seal_public, secrets->key_version,
                                secrets->token_pepper};
}

const char *page_channel_typed_key(const struct web_page *page)
{
    const char *key = web_text(page, "key");
    size_t len;

    key += strspn(key, " ");
    len = strlen(key);
    while (len > 0 && key[len - 1] == ' ')
        len--;
    return tg_arena_strndup(page->arena, key, len);
}

static bool is_among(const char *const *list, size_t count, const char *text)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(list[i], text) == 0)
            return true;
    return false;
}

static enum tg_class refuse(struct web_page *page, const char *name, const char *text,
                            const char *why)
{
    return web_refuse(page, name, tg_arena_printf(page->arena, "\"%.80s\" %s", text, why));
}

static enum tg_class check_mapping(struct web_page *page, const char *const *models, size_t count)
{
    const struct web_value *mapping = web_value(page, "model_mapping");

    for (size_t i = 0; i < mapping->count; i++) {
        const char *from = mapping->items[2 * i], *to = mapping->items[2 * i + 1];

        if (tg_check_model(from, &page->err) != TG_OK)
            return refuse(page, "model_mapping", from, "is no model name");
        if (tg_check_model(to, &page->err) != TG_OK || strchr(to, '*') != NULL)
            return refuse(page, "model_mapping", to, "is no model name");
        /* Behind a pattern the names that clients will use are not known. */
        if (models != NULL && !is_among(models, count, from)) {
            bool pattern = false;

            for (size_t k = 0; k < count; k++)
                pattern = pattern || strchr(models[k], '*') != NULL;
            if (!pattern)
                return refuse(page, "model_mapping", from, "is none of the channel's models");
        }
    }
    return TG_OK;
}

static enum tg_class check_timeouts(struct web_page *page)
{
    static const char *const names[] = {"connect", "first_byte", "idle"};
    const struct web_value *timeouts = web_value(page, "timeouts");
    int64_t us = 0;

    for (size_t i = 0; i < timeouts->count; i++) {
        if (!is_among(names, TG_COUNT_OF(names), timeouts->items[2 * i]))
            return refuse(page, "timeouts", timeouts->items[2 * i],
                          "is none of connect, first_byte and idle");
        if (!tg_duration_parse(timeouts->items[2 * i + 1], &us) || us <= 0)
            return refuse(page, "timeouts", timeouts->items[2 * i + 1],
                          "is no duration like 30s or 5m");
    }
    return TG_OK;
}

static enum tg_class check_models(struct web_page *page)
{
    const struct web_value *models = web_value(page, "models");

    for (size_t i = 0; i < models->count; i++) {
        if (tg_check_model(models->items[i], &page->err) != TG_OK)
            return refuse(page, "models", models->items[i], "is no model name");
        if (is_among(models->items, i, models->items[i]))
            return refuse(page, "models", models->items[i], "is there twice");
    }
    return TG_OK;
}

struct groups {
    const struct web_value *wanted;
    size_t found;
};

static void count_group(void *context, const char *name)
{
    struct groups *groups = context;

    groups->found += is_among(groups->wanted->items, groups->wanted->count, name);
}

static enum tg_class check_groups(struct web_page *page)
{
    struct groups groups = {web_value(page, "groups_list"), 0};
    enum tg_class class = tg_each_group(page->main_db, count_group, &groups, &page->err);

    if (class == TG_OK && groups.found != groups.wanted->count)
        return web_refuse(page, "groups_list", "one of them is no group, or is there twice");
    return class;
}

static enum tg_class check_proxy(struct web_page *page)
{
    static const char *const schemes[] = {"http://", "https://", "socks5://", "socks5h://"};
    const char *proxy = web_text(page, "proxy");

    if (*proxy == '\0')
        return TG_OK;
    for (size_t i = 0; i < TG_COUNT_OF(schemes); i++)
        if (strncmp(proxy, schemes[i], strlen(schemes[i])) == 0 &&
            proxy[strlen(schemes[i])] != '\0' && strpbrk(proxy, " \"<>\\") == NULL)
            return TG_OK;
    return web_refuse(page, "proxy", "an address that begins with http://, https:// or socks5h://");
}

enum tg_class page_channel_check(struct web_page *page, const char *const *models, size_t count)
{
    enum tg_class class = check_models(page);

    if (class == TG_OK)
        class = check_mapping(page, models, count);
    if (class == TG_OK)
        class = check_timeouts(page);
    if (class == TG_OK)
        class = check_proxy(page);
    return class == TG_OK ? check_groups(page) : class;
}

enum tg_class page_channel_check_url(struct web_page *page, const char *url, const char *proxy)
{
    struct tg_cidr *allow;
    size_t count;
    enum tg_class class = tg_url_check(url, &page->err);

    if (class == TG_OK && *proxy == '\0') {
        class = tg_cidrs_parse(page->arena,
                               tg_conf_text(page->site->conf, TG_OPTION_NET_CHANNEL_ALLOW), &allow,
                               &count, &page->err);
        if (class != TG_OK)
            return class;
        class = tg_url_check_reach(url, allow, count, &page->err);
    }
    return class == TG_OK ? TG_OK : web_refuse(page, "base_url", page->err.message);
}

enum tg_class page_channel_refused(struct web_page *page, enum tg_class class)
{
    static const struct {
        const char *code, *field;
    } of[] = {{"channel_exists", "name"},   {"invalid_url", "base_url"},
              {"invalid_model", "models"},  {"invalid_list", "models"},
              {"invalid_weight", "weight"}, {"invalid_key", "key"}};

    if (class != TG_CLASS_INVALID && class != TG_CLASS_CONFLICT)
        return class;
    for (size_t i = 0; i < TG_COUNT_OF(of); i++)
        for (size_t k = 0; k < page->form.def->count; k++)
            if (strcmp(of[i].code, page->err.code) == 0 &&
                strcmp(of[i].field, page->form.def->fields[k].name) == 0)
                return web_refuse(page, of[i].field, page->err.message);
    return class;
}
