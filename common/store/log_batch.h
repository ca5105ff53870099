/* log_batch - records on their way from the journal to the log database.
 *
 * The applier keeps a batch's records as one compressed row of log_batch in its own transaction.
 * They move in two steps: one transaction in the log database enters log_applied first (a batch
 * that is there already is done), then the rows and the hourly sums of the rows that were new;
 * then the row in main goes. Whoever dies between the two repeats the first, which changes
 * nothing. The log database may be away for days: that costs disk in main.
 *
 * A record is the JSON {"log":{column:value,…},"detail":{"attempts_json":[…],…}} of one request;
 * unknown keys are ignored, missing ones are the column's default, texts too long are cut. One
 * that is no such JSON is entered as what its entry says, so that the sums still agree.
 *
 * Source   AMENDMENTS L4.
 * Threads  one per connection.  Blocks  on MySQL.
 */
#ifndef TOLLGATE_STORE_LOG_BATCH_H
#define TOLLGATE_STORE_LOG_BATCH_H

#include "common/ledger/entry.h"
#include "common/sql/db.h"

/* Part of the applier's transaction. Entries of other kinds than requests have no record. */
struct tg_log_batch_new {
    struct tg_id id;
    int shard;
    const struct tg_entry *const *entries;
    size_t count;
};
enum tg_class tg_log_batch_keep(struct tg_db *main_db, const struct tg_log_batch_new *batch,
                                struct tg_error *err) must_check non_null(1, 2);

/* The record of a request of which only the entry is known. <end_reason> as in request_log. */
void tg_record_bare(const struct tg_entry *entry, const char *node, const char *end_reason,
                    struct tg_buf *out) non_null(1, 2, 3, 4);

struct tg_log_batch {
    struct tg_id id;
    struct tg_buf records; /* one a line; owned, tg_buf_done */
};
/* The oldest batches, at most <most>. Owns: caller, tg_log_batches_free. */
enum tg_class tg_log_batch_oldest(struct tg_db *main_db, int most, struct tg_log_batch **ret,
                                  size_t *ret_count, struct tg_error *err) must_check
    non_null(1, 3, 4);
void tg_log_batches_free(struct tg_log_batch *batches, size_t count); /* NULL is fine */

/* The two steps, for all of the batches together (many are small). */
enum tg_class tg_log_batch_enter(struct tg_db *log_db, const struct tg_log_batch *batches,
                                 size_t count, struct tg_error *err) must_check non_null(1, 2);
enum tg_class tg_log_batch_drop(struct tg_db *main_db, const struct tg_log_batch *batches,
                                size_t count, struct tg_error *err) must_check non_null(1, 2);

/* Both, for the oldest batches. *ret_moved: how many went. */
enum tg_class tg_log_batch_move(struct tg_db *main_db, struct tg_db *log_db, int most,
                                size_t *ret_moved, struct tg_error *err) must_check
    non_null(1, 2, 4);

/* Forgets log_applied rows that no batch can ask for any more. */
enum tg_class tg_log_applied_trim(struct tg_db *main_db, struct tg_db *log_db,
                                  struct tg_error *err) must_check non_null(1, 2);

#endif
