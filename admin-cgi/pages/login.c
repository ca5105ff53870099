/* login - the page that lets people in, and out. */
#include "admin-cgi/pages/pages.h"

#include <string.h>

#include "admin-cgi/access/csrf.h"
#include "admin-cgi/access/login.h"
#include "admin-cgi/access/session.h"

static const struct web_field fields[] = {
    {.name = "username", .label = "Name", .kind = WEB_TEXT, .flags = WEB_REQUIRED, .most = 64},
    {.name = "password",
     .label = "Password",
     .kind = WEB_SECRET,
     .flags = WEB_REQUIRED,
     .most = 1024},
    {.name = "next", .label = "", .kind = WEB_TEXT, .most = 512},
};
const struct web_form_def page_login_fields = {
    .fields = fields, .count = TG_COUNT_OF(fields), .view = page_login_form, .submit = "Log in"};

/* A page of this console, and nothing else: "users.cgi/7"; "" for anything that is none. */
static const char *next_of(const char *next)
{
    size_t len = next == NULL ? 0 : strspn(next, "abcdefghijklmnopqrstuvwxyz-");

    if (len == 0 || strncmp(next + len, ".cgi", 4) != 0 ||
        (next[len + 4] != '\0' && next[len + 4] != '/') || strncmp(next, "login.", 6) == 0 ||
        strpbrk(next, "\\\r\n?#") != NULL || strstr(next, "..") != NULL)
        return "";
    return next;
}

static const char *home_of(const struct web_page *page)
{
    return web_may(page, ACCESS_DASHBOARD_READ) ? "dashboard.cgi" : "account.cgi";
}

enum tg_class page_login_form(struct web_page *page)
{
    const char *next = page->form.def != NULL ? web_text(page, "next")
                                              : web_param(&page->request->query, "next");
    char token[TG_HMAC_HEX];

    if (page->who.session_id == 0) {
        access_csrf_of_visitor(page, token);
        memcpy(page->who.csrf, token, sizeof token);
    }
    tg_json_put_str(&page->out, "title", "Log in");
    tg_json_put_str(&page->out, "next", next_of(next));
    tg_json_put_str(&page->out, "username",
                    page->form.def != NULL ? web_text(page, "username") : "");
    return TG_OK;
}

/* Who came in, from where; who tried in vain is counted elsewhere. */
static enum tg_class note_login(struct web_page *page)
{
    const char *user = tg_arena_printf(page->arena, "%lld", (long long)page->who.user_id);

    return tg_change_note(page->main_db, &page->actor,
                          &(struct tg_audit_note){.action = "session.begin",
                                                  .object_type = "user",
                                                  .object_id = user},
                          &page->err);
}

enum tg_class page_login(struct web_page *page)
{
    struct tg_person *person = NULL;
    const char *next;
    enum tg_class class =
        access_login(page, web_text(page, "username"), web_text(page, "password"), &person);

    if (class == TG_OK)
        class = access_session_begin(page, person);
    if (class == TG_OK)
        class = note_login(page);
    if (class == TG_CLASS_AUTH) {
        page->form.failed = false; /* no field is to blame: which one is nobody's business */
        return class;
    }
    if (class != TG_OK)
        return class;
    tg_json_put_int(&page->out, "user_id", person->id);
    tg_json_put_str(&page->out, "username", person->username);
    tg_json_put_str(&page->out, "role", person->role);
    next = next_of(web_text(page, "next"));
    web_go(page, "", "%s", *next != '\0' ? next : home_of(page));
    page->flash = NULL;
    return TG_OK;
}

enum tg_class page_logout(struct web_page *page)
{
    enum tg_class class = access_session_end(page);

    if (class == TG_OK)
        web_go(page, "You are logged out.", "login.cgi");
    page->who.session_id = 0;
    return class;
}
