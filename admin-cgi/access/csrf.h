/* csrf - is this change really wanted by the one whose browser sends it?
 *
 * A form carries a token bound to the session (for the login form: to a cookie of its own). A call
 * with a JSON body carries none: it must say where it comes from (Origin, Sec-Fetch-Site), which
 * no other site's form can do. A personal access token needs neither: browsers send none.
 *
 * Threads  one.  Blocks  no.
 */
#ifndef TOLLGATE_ACCESS_CSRF_H
#define TOLLGATE_ACCESS_CSRF_H

#include "admin-cgi/web/page.h"

void access_csrf_of_session(const struct web_page *page, char ret[TG_HMAC_HEX]) non_null(1);
/* For a form that nobody is logged in for; sets the cookie it is bound to. */
void access_csrf_of_visitor(struct web_page *page, char ret[TG_HMAC_HEX]) non_null(1);
/* Of a POST. TG_CLASS_FORBIDDEN "csrf". */
enum tg_class access_csrf_check(struct web_page *page) must_check non_null(1);

#endif
