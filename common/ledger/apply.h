/* apply - one page of a shard's journal into MySQL.
 *
 * What is applied and why it is safe to do it twice: store/journal.h. This file decides what
 * happens when MySQL says no: a page is tried three times, then entry by entry, and an entry that
 * cannot be applied goes to ledger_reject with its reason, so that it holds nobody else up.
 *
 * Source   LEDGER "Appliers", AMENDMENTS L3.
 * Threads  one per pair of connections.  Blocks  on Redis and MySQL.
 */
#ifndef TOLLGATE_LEDGER_APPLY_H
#define TOLLGATE_LEDGER_APPLY_H

#include "common/ledger/shard.h"
#include "common/store/journal.h"

/* A shard and the two connections that work on it. */
struct tg_apply {
    struct tg_kv *kv;
    struct tg_db *db;
    int shard;
    size_t batch_count; /* most entries in one transaction */
    int64_t answer_us;  /* limit for one answer of Redis */
    struct tg_error *err;
};

/* Entries of one page into the books. <expect> names what the cursor row must hold, and whether
 * the cursor is to move (stream_id NULL: not). *ret_inserted counts those that were new. */
enum tg_class tg_apply_entries(const struct tg_apply *apply, const struct tg_journal_batch *expect,
                               const struct tg_journal_page *page, size_t *ret_inserted)
    must_check non_null(1, 2, 3, 4);

/* Applies the next page behind <cursor> and moves it. *ret_count: entries read; 0: nothing new.
 * Errors: TG_CLASS_CONFLICT when the shard is of another epoch, server or owner by now. */
enum tg_class tg_apply_page(const struct tg_apply *apply, struct tg_cursor *cursor,
                            size_t *ret_count) must_check non_null(1, 2, 3);

struct tg_shard_call tg_apply_call(const struct tg_apply *apply, int64_t epoch) non_null(1);

#endif
