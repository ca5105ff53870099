/* pending - what must be told to Redis until the books have it: credits, adjustments, plans' next
 * periods, and the question whether they have an entry.
 *
 * Source   LEDGER "Replay", AMENDMENTS L11, L14.
 * Threads  one per connection.  Blocks  on MySQL.
 */
#ifndef TOLLGATE_STORE_PENDING_H
#define TOLLGATE_STORE_PENDING_H

#include "common/base/arena.h"
#include "common/ledger/entry.h"
#include "common/sql/db.h"

/* Those that are not applied, oldest first, at most <most>. Owns: the arena. */
enum tg_class tg_pending_entries(struct tg_db *db, struct tg_arena *arena, int most,
                                 struct tg_entry_list *ret, struct tg_error *err) must_check
    non_null(1, 2, 4);

/* Which of the ids have their entry in ledger_entry. */
enum tg_class tg_pending_known(struct tg_db *db, const struct tg_id *ids, size_t count,
                               bool *ret_known, struct tg_error *err) must_check non_null(1, 2, 4);

/* Marks those among these ids (JSON array of UUID texts) as applied. */
enum tg_class tg_pending_mark(struct tg_db *db, const char *ids_json, struct tg_error *err)
    must_check non_null(1, 2);
/* For ids that are known: marks them, and frees what offline rows of theirs still bind. */
enum tg_class tg_pending_acknowledge(struct tg_db *db, const struct tg_id *ids, size_t count,
                                     struct tg_error *err) must_check non_null(1, 2);

#endif
