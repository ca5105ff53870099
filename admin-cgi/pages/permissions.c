/* permissions - what one user may besides, or in spite of, the role. */
#include "admin-cgi/pages/pages.h"

#include <string.h>

#include "admin-cgi/pages/person.h"
#include "common/store/acl.h"

static const struct web_choice effects[] = {
    {"", "as the role"}, {"allow", "allow"}, {"deny", "deny"}, {NULL, NULL}};

static enum tg_class view(struct web_page *page)
{
    return page_user_permissions(page);
}

static const struct web_field fields[] = {
    {.name = "permission", .label = "Permission", .kind = WEB_CHOICE, .flags = WEB_REQUIRED},
    {.name = "effect", .label = "Effect", .kind = WEB_CHOICE, .choices = effects},
};
const struct web_form_def page_user_permission_form = {
    .fields = fields, .count = TG_COUNT_OF(fields), .view = view, .submit = "Set"};

static const char *effect_name(enum tg_acl_effect effect)
{
    return effect == TG_ACL_ALLOW ? "allow" : effect == TG_ACL_DENY ? "deny" : "";
}

static enum tg_acl_effect effect_of(const struct access_who *who, const char *word)
{
    for (size_t i = 0; i < who->grant_count; i++)
        if (strcmp(who->grants[i].permission, word) == 0)
            return who->grants[i].effect;
    return TG_ACL_NONE;
}

static void write_permission(struct web_page *page, const struct access_who *who,
                             enum access_permission permission)
{
    static const char *const role_names[] = {"", "user", "admin", "root"};
    const char *word = access_permission_word(permission);
    struct tg_json_writer *out = &page->out;

    tg_json_begin_object(out);
    tg_json_put_str(out, "permission", word);
    tg_json_put_str(out, "meaning", access_permission_meaning(permission));
    tg_json_put_str(out, "role", role_names[access_permission_role(permission)]);
    tg_json_put_str(out, "effect", effect_name(effect_of(who, word)));
    tg_json_put_bool(out, "may", access_may(who, permission));
    tg_json_end_object(out);
    web_put_choice(page, "permission", word, NULL);
}

enum tg_class page_user_permissions(struct web_page *page)
{
    struct access_who who = {.user_id = page->id};
    struct tg_acl_grant *grants = NULL;
    struct tg_person *person = NULL;
    enum tg_class class = page_person_find(page, page->id, &person);

    if (class == TG_OK) {
        class = tg_store_acl(page->main_db, page->arena, page->id, &grants, &who.grant_count);
        if (class != TG_OK)
            page->err = *tg_db_error(page->main_db);
    }
    if (class != TG_OK)
        return class;
    who.grants = grants;
    who.role = access_role_of(person->role);
    tg_json_put_str(&page->out, "title", "Permissions");
    tg_json_put_int(&page->out, "id", person->id);
    tg_json_put_str(&page->out, "username", person->username);
    tg_json_put_str(&page->out, "role", person->role);
    tg_json_key(&page->out, "rows");
    tg_json_begin_array(&page->out);
    for (size_t i = ACCESS_PUBLIC + 1; i < ACCESS__COUNT; i++)
        write_permission(page, &who, (enum access_permission)i);
    tg_json_end_array(&page->out);
    return TG_OK;
}

enum tg_class page_user_permission_set(struct web_page *page)
{
    const char *effect = web_text(page, "effect");
    const struct tg_acl_grant grant = {.permission = web_text(page, "permission"),
                                       .effect = strcmp(effect, "allow") == 0  ? TG_ACL_ALLOW
                                                 : strcmp(effect, "deny") == 0 ? TG_ACL_DENY
                                                                               : TG_ACL_NONE};
    enum tg_class class = web_main(page);

    if (access_permission_find(grant.permission) == ACCESS__COUNT)
        return web_refuse(page, "permission", "there is no such permission");
    if (class == TG_OK)
        class = tg_store_acl_set(page->main_db, &page->actor, page->id, &grant, &page->err);
    if (class != TG_OK)
        return class;
    tg_json_put_str(&page->out, "permission", grant.permission);
    tg_json_put_str(&page->out, "effect", effect);
    web_go(page, "The permission is set.", "users.cgi/%lld/permissions", (long long)page->id);
    return TG_OK;
}
