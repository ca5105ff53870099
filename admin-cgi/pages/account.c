/* account - what a person sees and changes about oneself. */
#include "admin-cgi/pages/pages.h"

#include <string.h>

#include "admin-cgi/access/login.h"
#include "admin-cgi/access/session.h"
#include "admin-cgi/pages/person.h"
#include "admin-cgi/web/show.h"

enum tg_class page_account(struct web_page *page)
{
    struct tg_person *person = NULL;
    enum tg_class class = page_person_find(page, page->who.user_id, &person);

    tg_json_put_str(&page->out, "title", "Account");
    if (class == TG_OK)
        page_person_write(page, person);
    return class;
}

static void put_back(struct web_page *page)
{
    web_put_link(page, "back", "account.cgi");
    tg_json_put_str(&page->out, "back_label", "Account");
}

/* --- Profile --- */

static enum tg_class view_profile(struct web_page *page)
{
    return page_account_profile(page);
}

static const struct web_field profile_fields[] = {
    {.name = "time_zone",
     .label = "Time zone",
     .kind = WEB_TEXT,
     .flags = WEB_REQUIRED,
     .most = 64,
     .help = "days and times are shown in it: UTC, Europe/Berlin, Asia/Kolkata"},
    {.name = "accept_unpriced",
     .label = "Pay the default price for models that have none",
     .kind = WEB_BOOL,
     .help = "otherwise requests for such models are refused"},
};
const struct web_form_def page_account_profile_form = {
    .fields = profile_fields, .count = TG_COUNT_OF(profile_fields), .view = view_profile};

/* What one accepts: USD per 1M tokens, and whether it is one's own choice at all. */
static void put_default_price(struct web_page *page)
{
    const struct tg_conf *conf = page->site->conf;

    tg_json_key(&page->out, "default_price");
    tg_json_begin_object(&page->out);
    tg_json_put_str(&page->out, "rule", tg_conf_text(conf, TG_OPTION_PRICE_UNPRICED));
    tg_json_put_str(&page->out, "input", tg_conf_text(conf, TG_OPTION_PRICE_DEFAULT_INPUT));
    tg_json_put_str(&page->out, "output", tg_conf_text(conf, TG_OPTION_PRICE_DEFAULT_OUTPUT));
    tg_json_end_object(&page->out);
}

enum tg_class page_account_profile(struct web_page *page)
{
    struct tg_person *person = NULL;
    enum tg_class class;

    tg_json_put_str(&page->out, "title", "Profile");
    put_back(page);
    tg_json_put_str(&page->out, "time_zone", page->who.zone);
    put_default_price(page);
    class = page_person_find(page, page->who.user_id, &person);
    if (class == TG_OK)
        tg_json_put_bool(&page->out, "accept_unpriced", person->accept_unpriced);
    return class;
}

enum tg_class page_account_profile_set(struct web_page *page)
{
    const bool accepts = web_number(page, "accept_unpriced") != 0;
    const struct tg_person_change wish = {
        .id = page->who.user_id,
        .time_zone = web_text(page, "time_zone"),
        .accept_unpriced = web_given(page, "accept_unpriced") ? &accepts : NULL};
    enum tg_class class;

    if (!web_zone_ok(wish.time_zone))
        return web_refuse(page, "time_zone", "this zone is not known here");
    class = page_person_change(page, &wish);
    if (class == TG_OK)
        web_go(page, "Saved.", "account.cgi");
    return class;
}

/* --- Password --- */

static enum tg_class view_password(struct web_page *page)
{
    return page_account_password(page);
}

static const struct web_field password_fields[] = {
    {.name = "old_password",
     .label = "Password of today",
     .kind = WEB_SECRET,
     .flags = WEB_REQUIRED,
     .most = 1024},
    {.name = "password",
     .label = "New password",
     .kind = WEB_SECRET,
     .flags = WEB_REQUIRED,
     .least = PAGE_PASSWORD_LEAST,
     .most = PAGE_PASSWORD_MOST},
    {.name = "again", .label = "The new one again", .kind = WEB_SECRET, .most = PAGE_PASSWORD_MOST},
};
const struct web_form_def page_account_password_form = {.fields = password_fields,
                                                        .count = TG_COUNT_OF(password_fields),
                                                        .view = view_password,
                                                        .submit = "Change the password"};

enum tg_class page_account_password(struct web_page *page)
{
    tg_json_put_str(&page->out, "title", "Change the password");
    put_back(page);
    return TG_OK;
}

/* All sessions end with the old password; this browser gets a new one. */
static enum tg_class begin_again(struct web_page *page)
{
    struct tg_person *person = NULL;
    enum tg_class class = page_person_find(page, page->who.user_id, &person);

    return class == TG_OK ? access_session_begin(page, person) : class;
}

enum tg_class page_account_password_set(struct web_page *page)
{
    struct tg_person_change wish = {.id = page->who.user_id};
    enum tg_class class;

    if (web_given(page, "again") &&
        strcmp(web_text(page, "again"), web_text(page, "password")) != 0)
        return web_refuse(page, "again", "the two are not the same");
    class = access_password_again(page, web_text(page, "old_password"));
    if (class == TG_CLASS_AUTH)
        return web_refuse(page, "old_password", "this is not the password");
    if (class == TG_OK)
        class = page_password_hash(page, web_text(page, "password"), &wish.password_hash);
    if (class == TG_OK)
        class = page_person_change(page, &wish);
    if (class == TG_OK)
        class = begin_again(page);
    if (class == TG_OK)
        web_go(page, "The password is changed; all other sessions have ended.", "account.cgi");
    return class;
}
