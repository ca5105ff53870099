/* tokens - one's own, or everybody's: listed, changed, limited, revoked. */
#include "admin-cgi/pages/pages.h"

#include <string.h>

#include "admin-cgi/pages/person.h"
#include "admin-cgi/pages/token_form.h"
#include "common/base/money.h"
#include "common/store/user.h"
#include "common/store/view.h"

static const struct web_choice states[] = {
    {"enabled", "enabled"}, {"disabled", "disabled"}, {NULL, NULL}};
static const struct web_choice filter_states[] = {
    {"enabled", "enabled"}, {"disabled", "disabled"}, {"revoked", "revoked"}, {NULL, NULL}};

/* --- The list --- */

static const struct web_field filter[] = {
    {.name = "search", .label = "Name, or its end", .kind = WEB_TEXT, .most = 64},
    {.name = "username", .label = "Account", .kind = WEB_TEXT, .most = 64},
    {.name = "status", .label = "Status", .kind = WEB_CHOICE, .choices = filter_states},
    {.name = "group_name", .label = "Group", .kind = WEB_TEXT, .most = 64},
    {.name = "team", .label = "Team", .kind = WEB_TEXT, .most = 64},
};
const struct web_form_def page_tokens_filter = {
    .fields = filter, .count = TG_COUNT_OF(filter), .submit = "Search", .in_query = true};

/* Whose tokens are asked for: one's own, unless one may see those of everybody (0). */
static enum tg_class choose_owner(struct web_page *page, bool all, int64_t *ret_user_id)
{
    const char *name = web_text(page, "username");

    *ret_user_id = all ? 0 : page->who.user_id;
    if (*name == '\0' || strcmp(name, page->who.username) == 0) {
        *ret_user_id = *name != '\0' ? page->who.user_id : *ret_user_id;
        return TG_OK;
    }
    if (!all)
        return tg_fail(&page->err, TG_CLASS_FORBIDDEN, "permission_denied",
                       "you may see your own tokens only");
    return tg_store_user_id(page->main_db, name, ret_user_id, &page->err);
}

enum tg_class page_tokens(struct web_page *page)
{
    bool all = page_tokens_may_all(page, ACCESS_TOKENS_READ);
    struct tg_token_filter wanted = {.search = web_text(page, "search"),
                                     .status = web_text(page, "status"),
                                     .group_name = web_text(page, "group_name"),
                                     .team = web_text(page, "team")};
    struct tg_page at;
    enum tg_class class = web_list_page(page, &at);

    tg_json_put_str(&page->out, "title", "Tokens");
    tg_json_put_bool(&page->out, "everybodys", all);
    if (class == TG_OK)
        class = web_main(page);
    if (class == TG_OK)
        class = choose_owner(page, all, &wanted.user_id);
    return class == TG_OK ? tg_list_tokens(page->main_db, &wanted, &at, &page->out, &page->err)
                          : class;
}

/* --- One token --- */

static enum tg_class view(struct web_page *page)
{
    return page_token(page);
}

static const struct web_field fields[] = {
    PAGE_TOKEN_NAME,
    {.name = "team",
     .label = "Team",
     .kind = WEB_TEXT,
     .most = 64,
     .help = "a free word to filter and to sum by"},
    {.name = "status",
     .label = "Status",
     .kind = WEB_CHOICE,
     .flags = WEB_REQUIRED,
     .choices = states},
    PAGE_TOKEN_GROUP,
    PAGE_TOKEN_AUTO,
    PAGE_TOKEN_EXPIRES,
    PAGE_TOKEN_MODELS,
    PAGE_TOKEN_ADDRESSES,
    PAGE_TOKEN_LOSS,
};
const struct web_form_def page_token_form = {
    .fields = fields, .count = TG_COUNT_OF(fields), .view = view, .partial = true};

static enum tg_class find_owner(struct web_page *page, struct tg_person **ret)
{
    int64_t user_id = 0;
    enum tg_class class = web_main(page);

    if (class == TG_OK)
        class = tg_store_token_owner(page->main_db, page->id, &user_id, &page->err);
    return class == TG_OK ? page_person_find(page, user_id, ret) : class;
}

static enum tg_class find_below(struct web_page *page, struct tg_person **ret)
{
    enum tg_class class = find_owner(page, ret);

    if (class == TG_OK && !page_token_below(page, *ret))
        return tg_fail(&page->err, TG_CLASS_FORBIDDEN, "higher_role",
                       "only root changes tokens of somebody of this role");
    return class;
}

/* Is there a list at all? The document knows; the form's box shows it. */
static void put_limited(struct web_page *page, const struct tg_json *token)
{
    const struct tg_json *models;
    bool limited = tg_json_get_array(token, "model_limits", &models) == TG_JSON_GOT;

    tg_json_put_bool(&page->out, "limit_models", limited);
}

/* The token's members, and what follows from them. */
static enum tg_class put_token(struct web_page *page, const struct tg_person *owner)
{
    struct tg_json_writer out;
    struct tg_json *token = NULL;
    struct tg_buf buf;
    struct tg_span name = {"", 0};
    enum tg_class class;

    tg_buf_init(&buf, 0);
    tg_json_writer_init(&out, &buf);
    class = tg_view_token(page->main_db, page->id, &out, &page->err);
    if (class == TG_OK)
        class = tg_json_parse(buf.data, buf.len, &token, &page->err);
    if (class == TG_OK) {
        class = tg_view_token_members(page->main_db, page->id, &page->out, &page->err);
        put_limited(page, token);
        if (tg_json_get_string(token, "name", &name) == TG_JSON_GOT)
            tg_json_put_str(&page->out, "title", name.ptr);
    }
    tg_json_put_str(&page->out, "username", owner->username);
    tg_json_free(token);
    tg_buf_done(&buf);
    return class;
}

enum tg_class page_token(struct web_page *page)
{
    struct tg_person *owner = NULL;
    enum tg_class class = find_owner(page, &owner);

    if (class != TG_OK)
        return class;
    tg_json_put_bool(&page->out, "may_change",
                     page_token_below(page, owner) &&
                         (owner->id == page->who.user_id
                              ? web_may(page, ACCESS_OWN_TOKENS_WRITE)
                              : web_may(page, ACCESS_TOKENS_WRITE)));
    tg_json_put_bool(&page->out, "others", owner->id != page->who.user_id);
    class = page_token_groups(page, owner->group_name);
    return class == TG_OK ? put_token(page, owner) : class;
}

static void add_part(const struct web_page *page, const char *name, enum tg_token_part part,
                     struct tg_token_change *wish)
{
    if (web_given(page, name))
        wish->parts |= part;
}

static struct tg_token_change read_wish(const struct web_page *page)
{
    const struct web_value *addresses = web_value(page, "allow_addresses");
    struct tg_token_change wish = {.id = page->id,
                                   .name = web_text(page, "name"),
                                   .team = web_text(page, "team"),
                                   .status = web_text(page, "status"),
                                   .group_name = web_text(page, "group_name"),
                                   .expires_unix_us = web_number(page, "expires_at"),
                                   .loss_policy = web_text(page, "loss_policy"),
                                   .addresses = addresses->items,
                                   .address_count = addresses->count};

    wish.models = page_token_models(page, &wish.model_count);
    wish.auto_groups = web_value(page, "auto_groups")->items;
    wish.auto_group_count = web_value(page, "auto_groups")->count;
    wish.cross_group_retry = web_number(page, "cross_group_retry") != 0;
    add_part(page, "name", TG_TOKEN_NAME, &wish);
    add_part(page, "team", TG_TOKEN_TEAM, &wish);
    add_part(page, "status", TG_TOKEN_STATUS, &wish);
    add_part(page, "group_name", TG_TOKEN_GROUP, &wish);
    add_part(page, "auto_groups", TG_TOKEN_AUTO_GROUPS, &wish);
    add_part(page, "cross_group_retry", TG_TOKEN_CROSS_GROUPS, &wish);
    add_part(page, "expires_at", TG_TOKEN_EXPIRES, &wish);
    add_part(page, "limit_models", TG_TOKEN_MODELS, &wish);
    add_part(page, "model_limits", TG_TOKEN_MODELS, &wish);
    add_part(page, "allow_addresses", TG_TOKEN_ADDRESSES, &wish);
    add_part(page, "loss_policy", TG_TOKEN_LOSS_POLICY, &wish);
    return wish;
}

static enum tg_class apply(struct web_page *page, const struct tg_token_change *wish)
{
    struct tg_apply apply;
    bool pushed = false;
    enum tg_class class = web_apply(page, &apply);

    if (class == TG_OK)
        class = tg_apply_token(&apply, wish, &pushed, &page->err);
    if (class != TG_OK)
        return class;
    tg_json_put_int(&page->out, "id", page->id);
    tg_json_put_bool(&page->out, "pushed", pushed);
    return TG_OK;
}

enum tg_class page_token_change(struct web_page *page)
{
    const struct tg_token_change wish = read_wish(page);
    struct tg_person *owner = NULL;
    enum tg_class class = find_below(page, &owner);

    if (class == TG_OK && (wish.parts & TG_TOKEN_GROUP) != 0)
        class = page_token_check_group(page, owner->group_name, wish.group_name);
    if (class == TG_OK)
        class = apply(page, &wish);
    if (class == TG_OK)
        web_go(page, "The token is changed.", "tokens.cgi/%lld", (long long)page->id);
    return class;
}

enum tg_class page_token_revoke(struct web_page *page)
{
    const struct tg_token_change wish = {
        .id = page->id, .parts = TG_TOKEN_STATUS, .status = "revoked"};
    struct tg_person *owner = NULL;
    enum tg_class class = find_below(page, &owner);

    if (class == TG_OK)
        class = apply(page, &wish);
    if (class == TG_OK)
        web_go(page, "The token is revoked.", "tokens.cgi");
    return class;
}

/* --- The limit: moved by the books, so it is a form of its own --- */

static enum tg_class view_limit(struct web_page *page)
{
    return page_token_limit_form(page);
}

static const struct web_field limit_fields[] = {PAGE_TOKEN_LIMIT};
const struct web_form_def page_token_limit_fields = {.fields = limit_fields,
                                                     .count = TG_COUNT_OF(limit_fields),
                                                     .view = view_limit,
                                                     .submit = "Set the limit"};

enum tg_class page_token_limit_form(struct web_page *page)
{
    struct tg_person *owner = NULL;
    enum tg_class class = find_owner(page, &owner);

    if (class != TG_OK)
        return class;
    web_put_link(page, "back", "tokens.cgi/%lld", (long long)page->id);
    tg_json_put_str(&page->out, "back_label", "Token");
    class = tg_view_token_members(page->main_db, page->id, &page->out, &page->err);
    tg_json_put_str(&page->out, "title", "Set the limit");
    return class;
}

enum tg_class page_token_limit(struct web_page *page)
{
    const struct tg_token_change wish = {.id = page->id,
                                         .parts = TG_TOKEN_LIMIT,
                                         .unlimited = *web_text(page, "limit") == '\0',
                                         .remain_quota = web_number(page, "limit")};
    struct tg_person *owner = NULL;
    enum tg_class class = find_below(page, &owner);

    if (class == TG_OK)
        class = apply(page, &wish);
    if (class == TG_OK)
        web_go(page, "The limit is set; it is seen here once the books have it.",
               "tokens.cgi/%lld", (long long)page->id);
    return class;
}
