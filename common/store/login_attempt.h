/* login_attempt - the rows of login_attempts: failed logins, counted per account and address.
 *
 * The account is the name as it was typed (cut to 64 characters), known or not, so that a count
 * tells nothing about who exists. Rows are kept a day.
 *
 * Errors   those of db.h.
 * Threads  as the connection.  Blocks  on the database.
 */
#ifndef TOLLGATE_STORE_LOGIN_ATTEMPT_H
#define TOLLGATE_STORE_LOGIN_ATTEMPT_H

#include "common/sql/db.h"

struct tg_login_attempt {
    const char *account, *address;
};
struct tg_login_attempt_counts {
    int64_t of_account, of_address, of_both;
    int64_t last_unix_us; /* of the account's; 0: none */
};
/* Within the last <window_us>; counts stop at 1,000. */
enum tg_class tg_store_login_attempts(struct tg_db *db, const struct tg_login_attempt *attempt,
                                      int64_t window_us, struct tg_login_attempt_counts *ret,
                                      struct tg_error *err) must_check non_null(1, 2, 4, 5);
/* Also takes away rows older than a day. */
enum tg_class tg_store_login_attempt_add(struct tg_db *db, const struct tg_login_attempt *attempt,
                                         struct tg_error *err) must_check non_null(1, 2, 3);
/* After a good login: the account's attempts from that address are forgotten. */
enum tg_class tg_store_login_attempt_clear(struct tg_db *db,
                                           const struct tg_login_attempt *attempt,
                                           struct tg_error *err) must_check non_null(1, 2, 3);

#endif
