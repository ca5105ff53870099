/* books - the ledger between a private Redis and a private MariaDB.
 *
 * All users of the tests have ids of shard 1 (1, 65, 129 …). What the daemon does for them is done
 * here in the plainest way: rebuild and apply.
 */
#ifndef TOLLGATE_TESTS_LEDGER_BOOKS_H
#define TOLLGATE_TESTS_LEDGER_BOOKS_H

#include "common/ledger/shard.h"
#include "tests/unit/lib/mariadb.h"
#include "tests/unit/lib/redis.h"

enum { BOOKS_SHARD = 1, BOOKS_SOON_US = 10000000, BOOKS_WORKER = 77 };

struct books {
    struct test_redis *redis;
    struct test_mariadb *mariadb;
    struct tg_kv_pool *kv;
    struct tg_db_pool *db;
    struct tg_ledger *ledger;
    struct tg_error err; /* of the last call */
};

void books_start(struct books *books);
void books_stop(struct books *books);
/* Empties both; the shard is on with an epoch never used before. */
void books_reset(struct books *books);

/* Runs SQL in the main database. */
void books_sql(struct books *books, const char *format, ...) printf_like(2, 3);
void books_user(struct books *books, int64_t user_id, int64_t quota);
void books_token(struct books *books, int64_t token_id, int64_t user_id, int64_t remain);

/* The daemon's work. */
void books_begin(struct books *books);  /* off, with a larger epoch, known to MySQL */
void books_finish(struct books *books); /* on again */
void books_rebuild(struct books *books);
void books_apply(struct books *books); /* journal to MySQL, cursor */

/* A call for shard.h on a connection that books_done_with gives back. */
struct tg_shard_call books_call(struct books *books);
void books_done_with(struct tg_shard_call *call);

/* Shorthands with a generous deadline. */
enum tg_ledger_answer books_reserve(struct books *books, int64_t user_id, int64_t token_id,
                                    int64_t amount, struct tg_id *ret_id);
enum tg_ledger_answer books_settle(struct books *books, const struct tg_entry *entry);
struct tg_entry books_charge(struct tg_id id, int64_t user_id, int64_t token_id, int64_t amount);
int64_t books_quota(struct books *books, int64_t user_id); /* live */

#endif
