#include "admin-cgi/pages/token_form.h"

#include <string.h>

#include "common/store/credential.h"
#include "common/store/group_view.h"

const struct web_choice page_loss_policies[] = {
    {"allow", "whatever has no counterpart"},
    {"safe", "nothing that was asked for"},
    {"strict", "nothing at all"},
    {NULL, NULL}};

bool page_tokens_may_all(const struct web_page *page, enum access_permission permission)
{
    return web_may(page, permission) &&
           access_scope_ok(&page->who, access_permission_word(permission));
}

const char *const *page_token_models(const struct web_page *page, size_t *ret_count)
{
    static const char *const none[] = {NULL};
    const struct web_value *models = web_value(page, "model_limits");
    bool limited = models->count > 0 || web_number(page, "limit_models") != 0;

    /* A program that sends an empty list, and nothing else, means it. */
    if (models->given && models->count == 0 && !web_given(page, "limit_models"))
        limited = true;
    *ret_count = models->count;
    if (!limited)
        return NULL;
    return models->count > 0 ? models->items : none;
}

static void add_group(void *context, const char *name)
{
    web_put_choice(context, "group_name", name, NULL);
}

void page_token_put_auto(struct web_page *page)
{
    web_put_choice(page, "group_name", TG_GROUP_AUTO, "auto: the first of several");
}

enum tg_class page_token_groups(struct web_page *page, const char *user_group)
{
    enum tg_class class = web_main(page);

    page_token_put_auto(page);
    return class == TG_OK
               ? tg_each_group_allowed(page->main_db, user_group, add_group, page, &page->err)
               : class;
}

enum tg_class page_token_check_group(struct web_page *page, const char *user_group,
                                     const char *group)
{
    bool allowed = false;
    enum tg_class class;

    if (*group == '\0' || strcmp(group, user_group) == 0 || strcmp(group, TG_GROUP_AUTO) == 0)
        return TG_OK;
    class = tg_store_group_allowed(page->main_db, user_group, group, &allowed, &page->err);
    if (class == TG_OK && !allowed)
        return web_refuse(page, "group_name", "the account may not use this group");
    return class;
}

bool page_token_below(const struct web_page *page, const struct tg_person *owner)
{
    return owner->id == page->who.user_id || page->who.role == ACCESS_ROLE_ROOT ||
           access_role_of(owner->role) < page->who.role;
}
