/* journal - one batch of a shard's journal into the books: all of it, once, or nothing.
 *
 * One transaction: the shard's cursor row is locked and its epoch and run id compared with those
 * of the stream that was read; the entries go into ledger_entry under their own ids (known ones
 * change nothing), marked with this batch; users, tokens and plans move by the sums of the rows
 * really inserted; offline rows of these requests go; credits and adjustments are marked applied;
 * the records are kept as one log_batch row; the cursor moves to the last entry read.
 *
 * Never INSERT IGNORE: that would swallow a missing partition, and with it the money (L3).
 *
 * Errors   TG_CLASS_CONFLICT "ledger_moved"  another epoch, server or owner: read again
 *          TG_CLASS_CONFLICT "db_retry"      deadlock: repeat
 *          TG_CLASS_INTERNAL                 the batch cannot be applied as it stands
 *          TG_CLASS_DOWN                     no answer: repeat (repeating changes nothing)
 * Source   LEDGER "Appliers", "Rebuild"; AMENDMENTS L3, L4, L10.
 * Threads  one per connection.  Blocks  on MySQL.
 */
#ifndef TOLLGATE_STORE_JOURNAL_H
#define TOLLGATE_STORE_JOURNAL_H

#include "common/ledger/entry.h"
#include "common/store/balance.h"

/* A rebuild's first transaction also sets these. */
struct tg_journal_renewal {
    int64_t epoch;
    const char *run_id;
};

struct tg_journal_batch {
    int shard;
    int64_t epoch; /* what the cursor row must hold */
    const char *run_id;
    const struct tg_entry *const *entries; /* in the order of the stream */
    size_t count;
    const char *stream_id;   /* the last one read; NULL leaves the cursor alone */
    bool cursor_may_go_back; /* a rebuild: the stream is another one */
    const struct tg_journal_renewal *renewal; /* NULL: none */
    bool decide_plans;       /* no script has said what leaves the plans (a site without Redis) */
    const char *lock;        /* NULL, or a tg_journal_lock that must still be held */
};
/* *ret_inserted: entries that were new. */
enum tg_class tg_journal_apply(struct tg_db *db, const struct tg_journal_batch *batch,
                               size_t *ret_inserted, struct tg_error *err) must_check
    non_null(1, 2, 3);

/* An entry that cannot be applied: kept with its reason, and the cursor moves past it. */
struct tg_journal_refused {
    const char *stream_id;         /* "" when it did not come from a stream */
    const struct tg_entry *entry;  /* NULL when it could not be read */
    const char *reason;
};
/* <batch> names shard, epoch, run id and the cursor to set; its entries are not looked at. */
enum tg_class tg_journal_refuse(struct tg_db *db, const struct tg_journal_batch *batch,
                                const struct tg_journal_refused *refused, struct tg_error *err)
    must_check non_null(1, 2, 3);
/* The same for what was never in a journal (spool lines too old or of nobody): no cursor. */
enum tg_class tg_journal_refuse_alone(struct tg_db *db, int shard,
                                      const struct tg_journal_refused *refused,
                                      struct tg_error *err) must_check non_null(1, 3);

/* Exclusion over more than one transaction: a named lock of the connection. *ret_got false when
 * another connection has it. */
enum { TG_JOURNAL_LOCK_TEXT = 96 };
enum tg_class tg_journal_lock(struct tg_db *db, int shard, char ret_name[TG_JOURNAL_LOCK_TEXT],
                              bool *ret_got, struct tg_error *err) must_check non_null(1, 3, 4);
void tg_journal_unlock(struct tg_db *db, const char *name) non_null(1, 2);

/* "MS-SEQ" as numbers: -1, 0, 1. What is no stream id counts as "0-0". */
int tg_stream_id_compare(const char *a, const char *b) must_check non_null(1, 2);

#endif
