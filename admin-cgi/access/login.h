/* login - is this the password? Counted before it is hashed, and never more than four at once.
 *
 * The attempts of the last hour decide first: 20 failures of an account, 10 of an account from one
 * address, 60 of one address; after five, the wait between two grows from 1 to 60 seconds. Then
 * one of four slots is taken (argon2id needs 64 MiB), and the hash is always computed, for
 * accounts that do not exist too: answer and time are the same.
 *
 * Errors   TG_CLASS_AUTH "wrong_login"; TG_CLASS_LIMIT "too_many_attempts"; TG_CLASS_OVERLOAD
 *          "login_busy"; those of the stores.
 * Threads  one.  Blocks  on the main database and up to 5 s for a slot.
 * Source  AMENDMENTS C3.
 */
#ifndef TOLLGATE_ACCESS_LOGIN_H
#define TOLLGATE_ACCESS_LOGIN_H

#include "admin-cgi/web/page.h"

enum tg_class access_login(struct web_page *page, const char *username, const char *password,
                           struct tg_person **ret) must_check non_null(1, 2, 3, 4);
/* The same for a person who is logged in and changes the password. */
enum tg_class access_password_again(struct web_page *page, const char *password) must_check
    non_null(1, 2);
/* A new password's hash, in a slot. */
enum tg_class access_password_hash(struct web_page *page, const char *password,
                                   struct tg_buf *ret) must_check non_null(1, 2, 3);

#endif
