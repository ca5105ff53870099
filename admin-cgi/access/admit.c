#include "admin-cgi/access/admit.h"

#include "admin-cgi/access/csrf.h"
#include "admin-cgi/access/pat.h"
#include "admin-cgi/access/routes.h"
#include "admin-cgi/access/session.h"
#include "common/store/pat.h"
#include "common/store/session.h"

static enum tg_class bad_token(struct web_page *page)
{
    return tg_fail(&page->err, TG_CLASS_AUTH, "invalid_token",
                   "this token is unknown, expired or revoked");
}

/* Every token that does not hold gets the same answer. */
static enum tg_class read_pat(struct web_page *page)
{
    char fingerprint[TG_HMAC_HEX];
    struct tg_pat *pat = NULL;
    struct tg_person *person = NULL;
    enum tg_class class;

    if (!access_pat_read(page->request->bearer, fingerprint))
        return bad_token(page);
    class = web_main(page);
    if (class == TG_OK)
        class = tg_store_pat_find(page->main_db, page->arena, fingerprint, &pat, &page->err);
    if (class == TG_OK && pat != NULL)
        class = tg_store_person(page->main_db, page->arena, pat->user_id, &person, &page->err);
    if (class != TG_OK)
        return class;
    if (pat == NULL || person == NULL || person->status != TG_STATUS_ENABLED ||
        pat->authver != person->authver)
        return bad_token(page);
    class = access_who_fill(page, person);
    page->who.pat_id = pat->id;
    page->who.scopes = pat->scopes;
    return class == TG_OK ? tg_store_pat_touch(page->main_db, pat->id, page->request->address,
                                               &page->err)
                          : class;
}

static enum tg_class identify(struct web_page *page)
{
    if (page->request->bearer != NULL)
        return read_pat(page);
    return access_session_read(page);
}

/* --- Whose object --- */

static enum tg_class not_found(struct web_page *page)
{
    return tg_fail(&page->err, TG_CLASS_NOT_FOUND, "not_found", "there is no such thing");
}

static bool may_all(const struct web_page *page, enum access_permission permission)
{
    return access_may(&page->who, permission) &&
           access_scope_ok(&page->who, access_permission_word(permission));
}

static enum tg_class check_token_owner(struct web_page *page)
{
    bool post = page->request->method == WEB_POST;
    int64_t owner = 0;
    enum tg_class class = web_main(page);

    if (class == TG_OK)
        class = tg_store_token_owner(page->main_db, page->id, &owner, &page->err);
    if (class == TG_CLASS_NOT_FOUND)
        return not_found(page);
    if (class != TG_OK || owner == page->who.user_id)
        return class;
    return may_all(page, post ? ACCESS_TOKENS_WRITE : ACCESS_TOKENS_READ) ? TG_OK
                                                                          : not_found(page);
}

static enum tg_class check_session_owner(struct web_page *page)
{
    struct tg_session *session = NULL;
    enum tg_class class = web_main(page);

    if (class == TG_OK)
        class = tg_store_session_find(page->main_db, page->arena, page->id, &session, &page->err);
    if (class != TG_OK)
        return class;
    return session != NULL && session->user_id == page->who.user_id ? TG_OK : not_found(page);
}

static enum tg_class check_pat_owner(struct web_page *page)
{
    struct tg_pat *pats = NULL;
    size_t count = 0;
    enum tg_class class = web_main(page);

    if (class == TG_OK)
        class = tg_store_pats(page->main_db, page->arena, page->who.user_id, &pats, &count);
    if (class != TG_OK) {
        page->err = *tg_db_error(page->main_db);
        return class;
    }
    for (size_t i = 0; i < count; i++)
        if (pats[i].id == page->id)
            return TG_OK;
    return not_found(page);
}

static enum tg_class check_owner(struct web_page *page)
{
    switch (page->route->owner) {
    case ACCESS_OWN_TOKEN:
        return check_token_owner(page);
    case ACCESS_OWN_SESSION:
        return check_session_owner(page);
    case ACCESS_OWN_PAT:
        return check_pat_owner(page);
    case ACCESS_ANYBODYS:
        return TG_OK;
    }
    return not_found(page);
}

static enum tg_class check_rights(struct web_page *page)
{
    const struct web_route *route = page->route;

    if (route->permission == ACCESS_PUBLIC)
        return TG_OK;
    if (page->who.user_id == 0)
        return tg_fail(&page->err, TG_CLASS_AUTH, "login_required", "log in first");
    if (!access_scope_ok(&page->who, route->scope))
        return tg_fail(&page->err, TG_CLASS_FORBIDDEN, "scope_missing", "%s",
                       route->scope == NULL ? "this is not done with a token"
                                            : "the token has not the scope for this");
    if (!access_may(&page->who, route->permission))
        return tg_fail(&page->err, TG_CLASS_FORBIDDEN, "permission_denied",
                       "you have not the permission for this");
    return TG_OK;
}

enum tg_class access_admit(struct web_page *page)
{
    enum tg_class class;

    if (page->route->permission == ACCESS_NOBODY)
        return TG_OK;
    class = identify(page);
    page->actor.address = page->request->address;
    /* A public page is shown to whom it does not know any more. */
    if (class == TG_CLASS_AUTH && page->route->permission == ACCESS_PUBLIC)
        class = TG_OK;
    if (class == TG_OK)
        class = check_rights(page);
    if (class == TG_OK && page->request->method == WEB_POST)
        class = access_csrf_check(page);
    if (class == TG_OK)
        class = check_owner(page);
    return class;
}
