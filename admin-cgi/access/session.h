/* session - who is logged in on a browser: a JWT of 15 minutes and a refresh token that rotates.
 *
 * The refresh token is "ID.SECRET"; the next secret is an HMAC of the one before, so the token
 * before the current one can be answered with the current one for 30 seconds without storing
 * either (requests of one page come together). Anything older ends the session. A session dies of
 * 30 minutes without use, after 12 hours, with the user's authver, and at logout.
 *
 * Errors   those of the stores; TG_CLASS_AUTH "session_ended", "session_reused", "login_required".
 * Threads  one.  Blocks  on the main database.  Source  AMENDMENTS C2, ADMIN "Access".
 */
#ifndef TOLLGATE_ACCESS_SESSION_H
#define TOLLGATE_ACCESS_SESSION_H

#include "admin-cgi/web/page.h"

/* Fills page->who from the cookies, and sets new ones where they are due. */
enum tg_class access_session_read(struct web_page *page) must_check non_null(1);
/* A new session for <person>, whose password was right: page->who is that one from here on. */
enum tg_class access_session_begin(struct web_page *page, const struct tg_person *person)
    must_check non_null(1, 2);
/* Ends this one and takes the cookies away. */
enum tg_class access_session_end(struct web_page *page) must_check non_null(1);
/* Fills page->who from a row; the caller has checked that it may. */
enum tg_class access_who_fill(struct web_page *page, const struct tg_person *person) must_check
    non_null(1, 2);

#endif
