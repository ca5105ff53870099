/* entry_rows - rows of ledger_entry, many at a time. For common/store only.
 *
 * Threads  one per connection.  Blocks  on MySQL.
 */
#ifndef TOLLGATE_STORE_ENTRY_ROWS_H
#define TOLLGATE_STORE_ENTRY_ROWS_H

#include "common/ledger/entry.h"
#include "common/sql/db.h"

struct tg_entry_rows {
    const struct tg_entry *const *entries;
    size_t count;
    int shard;
    struct tg_id batch; /* marks the rows */
};
/* Those that are there already stay as they are; never IGNORE: that would also swallow a missing
 * partition, and with it the money (AMENDMENTS L3). */
enum tg_class tg_entry_rows_insert(struct tg_db *db, const struct tg_entry_rows *rows,
                                   size_t *ret_inserted, struct tg_error *err) must_check
    non_null(1, 2, 3);
/* Do all users, tokens and plans exist that they name? */
enum tg_class tg_entry_rows_have_accounts(struct tg_db *db, const struct tg_entry_rows *rows,
                                          bool *ret, struct tg_error *err) must_check
    non_null(1, 2, 3);

#endif
