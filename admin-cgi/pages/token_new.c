/* token_new - a token is made; its text is shown this once, with a first request to try. */
#include "admin-cgi/pages/pages.h"

#include <string.h>

#include "admin-cgi/pages/person.h"
#include "admin-cgi/pages/token_form.h"
#include "common/base/clock.h"
#include "common/base/money.h"
#include "common/store/group_view.h"
#include "common/store/user.h"

static enum tg_class view(struct web_page *page)
{
    return page_token_new(page);
}

static const struct web_field fields[] = {
    PAGE_TOKEN_NAME,
    {.name = "username",
     .label = "Account that it spends from",
     .kind = WEB_TEXT,
     .most = 64,
     .help = "empty: your own"},
    PAGE_TOKEN_LIMIT,
    PAGE_TOKEN_EXPIRES,
    PAGE_TOKEN_GROUP,
    PAGE_TOKEN_AUTO,
    PAGE_TOKEN_MODELS,
    PAGE_TOKEN_ADDRESSES,
    PAGE_TOKEN_LOSS,
};
const struct web_form_def page_token_new_form = {.fields = fields,
                                                 .count = TG_COUNT_OF(fields),
                                                 .view = view,
                                                 .action = "",
                                                 .submit = "Make the token"};

enum tg_class page_token_new(struct web_page *page)
{
    const char *name = web_param(&page->request->query, "username");

    tg_json_put_str(&page->out, "title", "New token");
    tg_json_put_bool(&page->out, "everybodys", page_tokens_may_all(page, ACCESS_TOKENS_WRITE));
    if (name != NULL)
        web_put_text(page, "username", name);
    /* Another account's groups are not known before it is named: all are offered. */
    if (page_tokens_may_all(page, ACCESS_TOKENS_WRITE)) {
        page_token_put_auto(page);
        return page_put_groups(page, "group_name");
    }
    return page_token_groups(page, page->who.group_name);
}

static enum tg_class find_owner(struct web_page *page, struct tg_person **ret)
{
    const char *name = web_text(page, "username");
    int64_t id = page->who.user_id;
    enum tg_class class = web_main(page);

    if (class == TG_OK && *name != '\0' && strcmp(name, page->who.username) != 0) {
        if (!page_tokens_may_all(page, ACCESS_TOKENS_WRITE))
            return web_refuse(page, "username", "you may make tokens of your own only");
        class = tg_store_user_id(page->main_db, name, &id, &page->err);
        if (class == TG_CLASS_NOT_FOUND)
            return web_refuse(page, "username", "there is no such account");
    }
    if (class == TG_OK)
        class = page_person_find(page, id, ret);
    if (class == TG_OK && !page_token_below(page, *ret))
        return web_refuse(page, "username", "only root makes tokens for somebody of this role");
    return class;
}

/* One model that the token may ask for; NULL when there is none yet. */
static enum tg_class find_model(struct web_page *page, const struct tg_token_new *token,
                                const char *user_group, const char **ret)
{
    const char *group = *token->group_name != '\0' ? token->group_name : user_group;

    if (token->model_count > 0) {
        *ret = token->models[0];
        return TG_OK;
    }
    return tg_store_group_model(page->main_db, page->arena, group, ret, &page->err);
}

/* A line for a shell: nothing in it can end the quotes (hosts and models have none). */
static void put_curl(struct web_page *page, const char *token, const char *model)
{
    const char *host = page->request->host;
    struct tg_json_writer json;
    struct tg_buf body, line;

    tg_buf_init(&body, 0);
    tg_buf_init(&line, 0);
    tg_json_writer_init(&json, &body);
    tg_json_begin_object(&json);
    tg_json_put_str(&json, "model", model != NULL ? model : "MODEL");
    tg_json_key(&json, "messages");
    tg_json_begin_array(&json);
    tg_json_begin_object(&json);
    tg_json_put_str(&json, "role", "user");
    tg_json_put_str(&json, "content", "Say hello.");
    tg_json_end_object(&json);
    tg_json_end_array(&json);
    tg_json_end_object(&json);
    tg_buf_printf(&line,
                  "curl %s://%s/v1/chat/completions -H 'Authorization: Bearer %s' "
                  "-H 'Content-Type: application/json' -d '%s'",
                  page->request->tls ? "https" : "http", *host != '\0' ? host : "localhost", token,
                  tg_buf_text(&body));
    tg_json_put_str(&page->out, "curl", tg_buf_text(&line));
    tg_json_put_str(&page->out, "model", model);
    tg_wipe(line.data, line.len);
    tg_buf_done(&line);
    tg_buf_done(&body);
}

static enum tg_class make(struct web_page *page, const struct tg_token_new *token,
                          const struct tg_person *owner, const char *model)
{
    struct tg_apply apply = {.db = page->main_db, .actor = &page->actor, .arena = page->arena};
    struct tg_apply_token_made made;
    enum tg_class class = tg_apply_token_new(&apply, token, page->site->secrets.token_pepper,
                                             &made, &page->err);

    if (class != TG_OK)
        return class;
    page->status = 201;
    page->template_name = "token_made";
    tg_json_put_str(&page->out, "title", "New token");
    tg_json_put_int(&page->out, "id", made.id);
    tg_json_put_str(&page->out, "name", token->name);
    tg_json_put_str(&page->out, "token", made.text);
    tg_json_put_int(&page->out, "user_id", owner->id);
    tg_json_put_bool(&page->out, "no_quota", owner->quota <= 0);
    put_curl(page, made.text, model);
    tg_wipe(made.text, sizeof made.text);
    return TG_OK;
}

enum tg_class page_token_add(struct web_page *page)
{
    const struct web_value *addresses = web_value(page, "allow_addresses");
    struct tg_token_new token = {.name = web_text(page, "name"),
                                 .loss_policy = web_text(page, "loss_policy"),
                                 .group_name = web_text(page, "group_name"),
                                 .unlimited = *web_text(page, "limit") == '\0',
                                 .remain_quota = web_number(page, "limit"),
                                 .expires_unix_us = web_number(page, "expires_at"),
                                 .addresses = addresses->items,
                                 .address_count = addresses->count};
    struct tg_person *owner = NULL;
    const char *model = NULL;
    enum tg_class class = find_owner(page, &owner);

    if (class != TG_OK)
        return class;
    tg_assert(owner != NULL);
    token.models = page_token_models(page, &token.model_count);
    token.auto_groups = web_value(page, "auto_groups")->items;
    token.auto_group_count = web_value(page, "auto_groups")->count;
    token.cross_group_retry = web_number(page, "cross_group_retry") != 0;
    if (token.expires_unix_us != 0 && token.expires_unix_us <= tg_unix_us())
        return web_refuse(page, "expires_at", "a moment to come");
    class = page_token_check_group(page, owner->group_name, token.group_name);
    if (class == TG_OK)
        class = find_model(page, &token, owner->group_name, &model);
    if (class != TG_OK)
        return class;
    token.user_id = owner->id;
    return make(page, &token, owner, model);
}
