/* idempotency - requests that carry an Idempotency-Key: one row per token and key, for a day.
 *
 * The row is there before anything costs money. While its request runs it has a lease. One whose
 * lease is over belonged to a worker that died: it is done when the books charged it, it never was
 * when they did not, and until they know (or five minutes long) it counts as running.
 *
 * Errors   those of db.h; TG_CLASS_CONFLICT "db_retry": repeat.
 * Source   POLICIES "Idempotency", AMENDMENTS L16.
 * Threads  one per connection.  Blocks  on MySQL.
 */
#ifndef TOLLGATE_STORE_IDEMPOTENCY_H
#define TOLLGATE_STORE_IDEMPOTENCY_H

#include "common/base/arena.h"
#include "common/base/id.h"
#include "common/sql/db.h"

enum { TG_IDEMPOTENT_ANSWER_MOST = 1 << 20 };

struct tg_idempotent {
    int64_t token_id;
    char key_hash[65], body_hash[65]; /* SHA-256 in hex */
    struct tg_id request_id;
    int64_t lease_us;
};

enum tg_idempotent_state {
    TG_IDEMPOTENT_FRESH, /* the row is this request's now */
    TG_IDEMPOTENT_RUNNING,
    TG_IDEMPOTENT_DONE,
    TG_IDEMPOTENT_OTHER_BODY
};
struct tg_idempotent_found {
    enum tg_idempotent_state state;
    int status; /* DONE with an answer; 0: none was kept */
    struct tg_span answer;
};
/* Owns: the arena. */
enum tg_class tg_idempotent_begin(struct tg_db *db, const struct tg_idempotent *wish,
                                  struct tg_arena *arena, struct tg_idempotent_found *ret,
                                  struct tg_error *err) must_check non_null(1, 2, 3, 4);
enum tg_class tg_idempotent_renew(struct tg_db *db, const struct tg_idempotent *wish,
                                  struct tg_error *err) must_check non_null(1, 2);
/* <answer> NULL: it is done, and its answer is not kept. */
enum tg_class tg_idempotent_done(struct tg_db *db, const struct tg_idempotent *wish, int status,
                                 const struct tg_span *answer, struct tg_error *err) must_check
    non_null(1, 2);
/* It cost nothing and answered nothing: the next one with this key is the first. */
enum tg_class tg_idempotent_forget(struct tg_db *db, const struct tg_idempotent *wish,
                                   struct tg_error *err) must_check non_null(1, 2);
/* Rows older than a day, some thousands at a time. */
enum tg_class tg_idempotent_trim(struct tg_db *db, struct tg_error *err) must_check non_null(1);

#endif
