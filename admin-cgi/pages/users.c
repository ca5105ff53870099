/* users - who there is; made, changed, given quota, let in and kept out. */
#include "admin-cgi/pages/pages.h"

#include <string.h>

#include "admin-cgi/pages/person.h"
#include "common/store/user.h"

static const struct web_choice roles[] = {
    {"user", "user"}, {"admin", "admin"}, {"root", "root"}, {NULL, NULL}};
static const struct web_choice states[] = {
    {"enabled", "enabled"}, {"disabled", "disabled"}, {NULL, NULL}};
static const struct web_choice filter_states[] = {
    {"enabled", "enabled"}, {"disabled", "disabled"}, {"deleted", "deleted"}, {NULL, NULL}};

static enum tg_class view_new(struct web_page *page)
{
    return page_user_new(page);
}

static enum tg_class view(struct web_page *page)
{
    return page_user(page);
}

/* --- The list --- */

static const struct web_field filter[] = {
    {.name = "search", .label = "Name", .kind = WEB_TEXT, .most = 64},
    {.name = "role", .label = "Role", .kind = WEB_CHOICE, .choices = roles},
    {.name = "status", .label = "Status", .kind = WEB_CHOICE, .choices = filter_states},
    {.name = "group_name", .label = "Group", .kind = WEB_TEXT, .most = 64},
    {.name = "team", .label = "Team", .kind = WEB_TEXT, .most = 64},
};
const struct web_form_def page_users_filter = {
    .fields = filter, .count = TG_COUNT_OF(filter), .submit = "Search", .in_query = true};

enum tg_class page_users(struct web_page *page)
{
    const struct tg_user_filter wanted = {.search = web_text(page, "search"),
                                          .role = web_text(page, "role"),
                                          .status = web_text(page, "status"),
                                          .group_name = web_text(page, "group_name"),
                                          .team = web_text(page, "team")};
    struct tg_page at;
    enum tg_class class = web_list_page(page, &at);

    tg_json_put_str(&page->out, "title", "Users");
    if (class == TG_OK)
        class = web_main(page);
    return class == TG_OK ? tg_list_users(page->main_db, &wanted, &at, &page->out, &page->err)
                          : class;
}

/* --- Rights --- */

/* Nobody but root touches somebody of the same or a higher role. */
static enum tg_class check_rank(struct web_page *page, const struct tg_person *person)
{
    if (page->who.role == ACCESS_ROLE_ROOT || access_role_of(person->role) < page->who.role)
        return TG_OK;
    return tg_fail(&page->err, TG_CLASS_FORBIDDEN, "higher_role",
                   "only root changes somebody of this role");
}

static enum tg_class find_below(struct web_page *page, struct tg_person **ret)
{
    enum tg_class class = page_person_find(page, page->id, ret);

    return class == TG_OK ? check_rank(page, *ret) : class;
}

static enum tg_class check_role(struct web_page *page, const char *role)
{
    if (role == NULL || *role == '\0' || web_may(page, ACCESS_USERS_ROLE) ||
        strcmp(role, "user") == 0)
        return TG_OK;
    return tg_fail(&page->err, TG_CLASS_FORBIDDEN, "permission_denied",
                   "only who may change roles makes admins");
}

/* --- One user --- */

static const struct web_field new_fields[] = {
    {.name = "username",
     .label = "Name",
     .kind = WEB_TEXT,
     .flags = WEB_REQUIRED,
     .most = 64,
     .help = "letters, digits and . _ - @ +"},
    {.name = "password",
     .label = "Password",
     .kind = WEB_SECRET,
     .least = PAGE_PASSWORD_LEAST,
     .most = PAGE_PASSWORD_MOST,
     .help = "empty: cannot log in to the console"},
    {.name = "role", .label = "Role", .kind = WEB_CHOICE, .flags = WEB_REQUIRED, .choices = roles},
    {.name = "group_name", .label = "Group", .kind = WEB_CHOICE, .flags = WEB_REQUIRED},
};
const struct web_form_def page_user_new_form = {.fields = new_fields,
                                                .count = TG_COUNT_OF(new_fields),
                                                .view = view_new,
                                                .action = "",
                                                .submit = "Make the user"};

static const struct web_field fields[] = {
    {.name = "role", .label = "Role", .kind = WEB_CHOICE, .flags = WEB_REQUIRED, .choices = roles},
    {.name = "status",
     .label = "Status",
     .kind = WEB_CHOICE,
     .flags = WEB_REQUIRED,
     .choices = states},
    {.name = "group_name", .label = "Group", .kind = WEB_CHOICE, .flags = WEB_REQUIRED},
    {.name = "team",
     .label = "Team",
     .kind = WEB_TEXT,
     .most = 64,
     .help = "a free word to filter and to sum by"},
    {.name = "accept_unpriced",
     .label = "Pays the default price for models that have none",
     .kind = WEB_BOOL},
};
const struct web_form_def page_user_form = {
    .fields = fields, .count = TG_COUNT_OF(fields), .view = view, .partial = true};

enum tg_class page_user_new(struct web_page *page)
{
    tg_json_put_str(&page->out, "title", "New user");
    web_put_link(page, "back", "users.cgi");
    tg_json_put_str(&page->out, "back_label", "Users");
    web_put_text(page, "role", "user");
    web_put_text(page, "group_name", "default");
    return page_put_groups(page, "group_name");
}

enum tg_class page_user_add(struct web_page *page)
{
    struct tg_user_new user = {.username = web_text(page, "username"),
                               .role = web_text(page, "role"),
                               .group_name = web_text(page, "group_name")};
    int64_t id = 0;
    enum tg_class class = check_role(page, user.role);

    if (class == TG_OK)
        class = web_main(page);
    if (class == TG_OK && *web_text(page, "password") != '\0')
        class = page_password_hash(page, web_text(page, "password"), &user.password_hash);
    if (class == TG_OK)
        class = tg_store_user_add(page->main_db, &page->actor, &user, &id, &page->err);
    if (class == TG_CLASS_CONFLICT)
        return web_refuse(page, "username", "there is a user of that name already");
    if (class != TG_OK)
        return class;
    page->status = 201;
    tg_json_put_int(&page->out, "id", id);
    tg_json_put_str(&page->out, "username", user.username);
    web_go(page, "The user is made.", "users.cgi/%lld", (long long)id);
    return TG_OK;
}

enum tg_class page_user(struct web_page *page)
{
    struct tg_person *person = NULL;
    enum tg_class class = page_person_find(page, page->id, &person);

    if (class != TG_OK)
        return class;
    tg_json_put_str(&page->out, "title", person->username);
    tg_json_put_bool(&page->out, "may_change", check_rank(page, person) == TG_OK);
    page_person_write(page, person);
    return page_put_groups(page, "group_name");
}

enum tg_class page_user_change(struct web_page *page)
{
    const bool accepts = web_number(page, "accept_unpriced") != 0;
    struct tg_person_change wish = {
        .id = page->id,
        .role = web_text_or_null(page, "role"),
        .status = web_text_or_null(page, "status"),
        .group_name = web_text_or_null(page, "group_name"),
        .team = web_text_or_null(page, "team"),
        .accept_unpriced = web_given(page, "accept_unpriced") ? &accepts : NULL};
    struct tg_person *person = NULL;
    enum tg_class class = find_below(page, &person);

    if (class != TG_OK)
        return class;
    if (wish.role != NULL && strcmp(wish.role, person->role) == 0)
        wish.role = NULL; /* not a change: logins go on */
    if (wish.status != NULL && strcmp(wish.status, tg_status_name(person->status)) == 0)
        wish.status = NULL;
    if (wish.role != NULL && !web_may(page, ACCESS_USERS_ROLE))
        return tg_fail(&page->err, TG_CLASS_FORBIDDEN, "permission_denied",
                       "you may not change roles");
    class = page_person_change(page, &wish);
    if (class == TG_OK)
        web_go(page, "The user is changed.", "users.cgi/%lld", (long long)page->id);
    return class;
}

/* --- Quota --- */

static enum tg_class view_sub(struct web_page *page)
{
    struct tg_person *person = NULL;
    enum tg_class class = page_person_find(page, page->id, &person);

    if (class != TG_OK)
        return class;
    web_put_link(page, "back", "users.cgi/%lld", (long long)page->id);
    tg_json_put_str(&page->out, "back_label", person->username);
    tg_json_put_int(&page->out, "id", person->id);
    tg_json_put_str(&page->out, "username", person->username);
    tg_json_put_int(&page->out, "quota", person->quota);
    return TG_OK;
}

static enum tg_class view_credit(struct web_page *page)
{
    return page_user_credit_form(page);
}

static const struct web_field credit_fields[] = {
    {.name = "amount",
     .label = "Amount in USD",
     .kind = WEB_USD,
     .flags = WEB_REQUIRED,
     .help = "negative takes away"},
    {.name = "reason", .label = "Reason", .kind = WEB_TEXT, .flags = WEB_REQUIRED, .most = 200},
};
const struct web_form_def page_user_credit_fields = {.fields = credit_fields,
                                                     .count = TG_COUNT_OF(credit_fields),
                                                     .view = view_credit,
                                                     .submit = "Book it"};

enum tg_class page_user_credit_form(struct web_page *page)
{
    tg_json_put_str(&page->out, "title", "Add or subtract quota");
    return view_sub(page);
}

enum tg_class page_user_credit(struct web_page *page)
{
    const struct tg_credit_new credit = {.user_id = page->id,
                                         .amount_quota = web_number(page, "amount"),
                                         .kind = "admin",
                                         .reason = web_text(page, "reason")};
    struct tg_person *person = NULL;
    struct tg_apply apply;
    struct tg_id entry;
    char text[TG_ID_TEXT];
    bool pushed = false;
    enum tg_class class = find_below(page, &person);

    if (class == TG_OK && credit.amount_quota == 0)
        return web_refuse(page, "amount", "an amount that is not 0");
    if (class == TG_OK)
        class = web_apply(page, &apply);
    if (class == TG_OK)
        class = tg_apply_credit(&apply, &credit, &entry, &pushed, &page->err);
    if (class != TG_OK)
        return class;
    tg_id_format(&entry, text);
    tg_json_put_str(&page->out, "entry_id", text);
    tg_json_put_int(&page->out, "amount_quota", credit.amount_quota);
    tg_json_put_bool(&page->out, "pushed", pushed);
    web_go(page, "It is in the books.", "users.cgi/%lld", (long long)page->id);
    return TG_OK;
}

/* --- A new password --- */

static enum tg_class view_password(struct web_page *page)
{
    return page_user_password_form(page);
}

static const struct web_field password_fields[] = {
    {.name = "password",
     .label = "New password",
     .kind = WEB_SECRET,
     .flags = WEB_REQUIRED,
     .least = PAGE_PASSWORD_LEAST,
     .most = PAGE_PASSWORD_MOST,
     .help = "all sessions of the user end"},
};
const struct web_form_def page_user_password_fields = {.fields = password_fields,
                                                       .count = TG_COUNT_OF(password_fields),
                                                       .view = view_password,
                                                       .submit = "Set the password"};

enum tg_class page_user_password_form(struct web_page *page)
{
    tg_json_put_str(&page->out, "title", "Set a new password");
    return view_sub(page);
}

enum tg_class page_user_password(struct web_page *page)
{
    struct tg_person_change wish = {.id = page->id};
    struct tg_person *person = NULL;
    enum tg_class class = find_below(page, &person);

    if (class == TG_OK)
        class = page_password_hash(page, web_text(page, "password"), &wish.password_hash);
    if (class == TG_OK)
        class = page_person_change(page, &wish);
    if (class == TG_OK)
        web_go(page, "The password is set.", "users.cgi/%lld", (long long)page->id);
    return class;
}
