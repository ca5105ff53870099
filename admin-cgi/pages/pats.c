/* pats - personal access tokens: for programs that use the control API in one's name. */
#include "admin-cgi/pages/pages.h"

#include <string.h>

#include "admin-cgi/access/login.h"
#include "admin-cgi/access/pat.h"
#include "admin-cgi/pages/person.h"
#include "common/base/clock.h"
#include "common/store/pat.h"

enum { PATS_MOST = 20 };

static const int64_t hour_us = INT64_C(3600000000);

static void write_pat(struct web_page *page, const struct tg_pat *pat)
{
    struct tg_json_writer *out = &page->out;

    tg_json_begin_object(out);
    tg_json_put_int(out, "id", pat->id);
    tg_json_put_str(out, "name", pat->name);
    tg_json_put_str(out, "hint", pat->hint);
    tg_json_put_str(out, "scopes", pat->scopes);
    page_put_time(out, "created_at", pat->created_unix_us);
    page_put_time(out, "expires_at", pat->expires_unix_us);
    page_put_time(out, "last_used_at", pat->last_used_unix_us);
    tg_json_put_str(out, "last_address", pat->last_address);
    tg_json_end_object(out);
}

static enum tg_class read(struct web_page *page, struct tg_pat **ret, size_t *ret_count)
{
    enum tg_class class = web_main(page);

    if (class != TG_OK)
        return class;
    class = tg_store_pats(page->main_db, page->arena, page->who.user_id, ret, ret_count);
    if (class != TG_OK)
        page->err = *tg_db_error(page->main_db);
    return class;
}

enum tg_class page_pats(struct web_page *page)
{
    struct tg_pat *pats = NULL;
    size_t count = 0;
    enum tg_class class = read(page, &pats, &count);

    tg_json_put_str(&page->out, "title", "Personal access tokens");
    if (class != TG_OK)
        return class;
    tg_json_key(&page->out, "rows");
    tg_json_begin_array(&page->out);
    for (size_t i = 0; i < count; i++)
        write_pat(page, &pats[i]);
    tg_json_end_array(&page->out);
    return TG_OK;
}

/* --- A new one --- */

static enum tg_class view(struct web_page *page)
{
    return page_pat_new(page);
}

static const struct web_field fields[] = {
    {.name = "name", .label = "Name", .kind = WEB_TEXT, .flags = WEB_REQUIRED, .most = 64},
    {.name = "scopes", .label = "What it may", .kind = WEB_SET, .flags = WEB_REQUIRED, .most = 64},
    {.name = "expires_at",
     .label = "Valid until",
     .kind = WEB_TIME,
     .flags = WEB_REQUIRED,
     .help = "at least an hour from now"},
    {.name = "password",
     .label = "Your password",
     .kind = WEB_SECRET,
     .flags = WEB_REQUIRED,
     .most = 1024},
};
const struct web_form_def page_pat_form = {.fields = fields,
                                           .count = TG_COUNT_OF(fields),
                                           .view = view,
                                           .action = "/pats",
                                           .submit = "Make the token"};

enum tg_class page_pat_new(struct web_page *page)
{
    char until[TG_TIME_TEXT];

    tg_json_put_str(&page->out, "title", "New personal access token");
    web_put_link(page, "back", "account.cgi/pats");
    tg_json_put_str(&page->out, "back_label", "Personal access tokens");
    tg_time_format(tg_unix_us() + 30 * 24 * hour_us, until);
    tg_json_put_str(&page->out, "expires_at", until);
    for (size_t i = ACCESS_PUBLIC + 1; i < ACCESS__COUNT; i++) {
        enum access_permission permission = (enum access_permission)i;
        const char *word = access_permission_word(permission);

        if (web_may(page, permission))
            web_put_choice(page, "scopes", word,
                           tg_arena_printf(page->arena, "%s - %s", word,
                                           access_permission_meaning(permission)));
    }
    return TG_OK;
}

/* A token only narrows: it cannot be given what its owner may not. */
static enum tg_class join_scopes(struct web_page *page, struct tg_buf *ret)
{
    const struct web_value *scopes = web_value(page, "scopes");

    for (size_t i = 0; i < scopes->count; i++) {
        enum access_permission permission = access_permission_find(scopes->items[i]);

        if (permission == ACCESS__COUNT || !web_may(page, permission))
            return web_refuse(page, "scopes", "one of them is not yours to give");
        tg_buf_printf(ret, "%s%s", i == 0 ? "" : " ", scopes->items[i]);
    }
    return TG_OK;
}

static enum tg_class check(struct web_page *page)
{
    struct tg_pat *pats = NULL;
    size_t count = 0;
    enum tg_class class = read(page, &pats, &count);

    if (class == TG_OK && count >= PATS_MOST)
        return tg_fail(&page->err, TG_CLASS_CONFLICT, "too_many_tokens",
                       "at most %d personal access tokens", PATS_MOST);
    if (class == TG_OK && web_number(page, "expires_at") < tg_unix_us() + hour_us)
        return web_refuse(page, "expires_at", "at least an hour from now");
    if (class == TG_OK)
        class = access_password_again(page, web_text(page, "password"));
    return class == TG_CLASS_AUTH ? web_refuse(page, "password", "this is not the password")
                                  : class;
}

static enum tg_class make(struct web_page *page, const char *scopes)
{
    char text[ACCESS_PAT_TEXT], fingerprint[TG_HMAC_HEX];
    struct tg_pat_new pat = {.user_id = page->who.user_id,
                             .authver = page->who.authver,
                             .name = web_text(page, "name"),
                             .scopes = scopes,
                             .fingerprint = fingerprint,
                             .hint = text + ACCESS_PAT_TEXT - 5,
                             .expires_unix_us = web_number(page, "expires_at")};
    int64_t id = 0;
    enum tg_class class;

    access_pat_new(text, fingerprint);
    class = tg_store_pat_add(page->main_db, &page->actor, &pat, &id, &page->err);
    if (class == TG_OK) {
        page->status = 201;
        page->template_name = "pat_made";
        tg_json_put_str(&page->out, "title", "New personal access token");
        tg_json_put_int(&page->out, "id", id);
        tg_json_put_str(&page->out, "name", pat.name);
        tg_json_put_str(&page->out, "token", text);
    }
    tg_wipe(text, sizeof text);
    return class;
}

enum tg_class page_pat_add(struct web_page *page)
{
    struct tg_buf scopes;
    enum tg_class class;

    tg_buf_init(&scopes, 0);
    class = join_scopes(page, &scopes);
    if (class == TG_OK)
        class = check(page);
    if (class == TG_OK)
        class = make(page, tg_buf_text(&scopes));
    tg_buf_done(&scopes);
    return class;
}

enum tg_class page_pat_revoke(struct web_page *page)
{
    enum tg_class class = web_main(page);

    if (class == TG_OK)
        class = tg_store_pat_revoke(page->main_db, &page->actor, page->who.user_id, page->id,
                                    &page->err);
    if (class == TG_OK)
        web_go(page, "The token is revoked.", "account.cgi/pats");
    return class;
}
