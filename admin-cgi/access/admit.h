/* admit - the one place that decides whether a request may reach its handler.
 *
 *   who is it (token or session) -> has the token the scope -> has the person the permission
 *   -> is the change wanted (csrf) -> is the object the caller's, or may it touch everybody's
 *
 * Errors   TG_CLASS_AUTH "login_required", "invalid_token", "session_…"; TG_CLASS_FORBIDDEN
 *          "permission_denied", "scope_missing", "csrf"; TG_CLASS_NOT_FOUND for another's object.
 * Threads  one.  Blocks  on the main database.
 */
#ifndef TOLLGATE_ACCESS_ADMIT_H
#define TOLLGATE_ACCESS_ADMIT_H

#include "admin-cgi/web/page.h"

/* page->route is set; fills page->who and page->actor. */
enum tg_class access_admit(struct web_page *page) must_check non_null(1);

#endif
