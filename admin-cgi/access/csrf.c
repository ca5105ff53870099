#include "admin-cgi/access/csrf.h"

#include <string.h>

#include "admin-cgi/web/answer.h"

static const char visitor_cookie[] = "tg_visitor";

enum { VISITOR_HEX = 32, VISITOR_S = 60 * 60 };

static void mark(const struct web_page *page, const char *text, char ret[TG_HMAC_HEX])
{
    uint8_t hash[TG_HMAC_BYTES];

    tg_hmac(page->site->secrets.session_key, text, strlen(text), hash);
    tg_hex(hash, sizeof hash, ret);
}

void access_csrf_of_session(const struct web_page *page, char ret[TG_HMAC_HEX])
{
    mark(page,
         tg_arena_printf(page->arena, "csrf:%lld:%lld", (long long)page->who.user_id,
                         (long long)page->who.session_id),
         ret);
}

static void of_cookie(const struct web_page *page, const char *cookie, char ret[TG_HMAC_HEX])
{
    mark(page, tg_arena_printf(page->arena, "visitor:%s", cookie), ret);
}

void access_csrf_of_visitor(struct web_page *page, char ret[TG_HMAC_HEX])
{
    const char *cookie = web_cookie(page->request, visitor_cookie);
    uint8_t bytes[VISITOR_HEX / 2];
    char *made;

    if (cookie == NULL || strlen(cookie) != VISITOR_HEX) {
        made = tg_arena_alloc(page->arena, VISITOR_HEX + 1);
        tg_random(bytes, sizeof bytes);
        tg_hex(bytes, sizeof bytes, made);
        web_cookie_set(&page->head, page->request, visitor_cookie, made, VISITOR_S);
        cookie = made;
    }
    of_cookie(page, cookie, ret);
}

static enum tg_class refuse(struct web_page *page)
{
    return tg_fail(&page->err, TG_CLASS_FORBIDDEN, "csrf",
                   "this form is not of this session any more; load the page again");
}

enum tg_class access_csrf_check(struct web_page *page)
{
    const struct web_request *request = page->request;
    const char *sent = web_param(&request->body, "csrf");
    const char *cookie = web_cookie(request, visitor_cookie);
    char expected[TG_HMAC_HEX];

    if (page->who.pat_id != 0)
        return TG_OK;
    if (request->body_kind == WEB_BODY_JSON)
        return web_request_same_origin(request, true) ? TG_OK : refuse(page);
    if (request->body_kind != WEB_BODY_FORM || !web_request_same_origin(request, false))
        return refuse(page);
    if (page->who.session_id != 0)
        access_csrf_of_session(page, expected);
    else if (cookie != NULL && strlen(cookie) == VISITOR_HEX)
        of_cookie(page, cookie, expected);
    else
        return refuse(page);
    return sent != NULL && strlen(sent) == sizeof expected - 1 &&
                   tg_equal_constant_time(sent, expected, sizeof expected - 1)
               ? TG_OK
               : refuse(page);
}
