/* books - both databases with their tables, two users and a token each, for the daemon's tests.
 *
 * Users 1 and 65 share shard 1, user 2 is of shard 2. Everybody begins with 1,000 quota, given by
 * an applied credit; tokens 11, 165 and 12 with 500 remain.
 */
#ifndef TOLLGATE_TESTS_DAEMON_BOOKS_H
#define TOLLGATE_TESTS_DAEMON_BOOKS_H

#include "common/ledger/entry.h"
#include "common/sql/db.h"
#include "tests/unit/lib/mariadb.h"

struct books {
    struct test_mariadb *server;
    struct tg_db_pool *main_pool, *log_pool;
    struct tg_db *main_db, *log_db; /* one connection each, for the test itself */
};

struct books *books_start(void);
void books_stop(struct books *books);
void books_reset(struct books *books); /* as after books_start */

/* The one number that a query gives. The text must be a literal. */
int64_t books_main(struct books *books, const char *sql);
int64_t books_log(struct books *books, const char *sql);
void books_run(struct books *books, const char *sql); /* statements on main, separated by ';' */

/* A charge with a record, of user <user> and its token. Owns: static storage, 64 at most. */
const struct tg_entry *books_charge(int64_t user, int64_t amount);
int64_t books_token_of(int64_t user);

#endif
