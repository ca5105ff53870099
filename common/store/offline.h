/* offline - what was promised and ended in MySQL while Redis was away.
 *
 * The rows bind money through offline_quota of user (or plan) and token; they go, and give it
 * free, in the transaction in which their request's entry is applied (LEDGER "When Redis is away").
 *
 * Threads  one per connection.  Blocks  on MySQL.
 */
#ifndef TOLLGATE_STORE_OFFLINE_H
#define TOLLGATE_STORE_OFFLINE_H

#include "common/base/arena.h"
#include "common/ledger/entry.h"
#include "common/sql/db.h"

/* <ids_json>: array of UUID texts. Runs inside the caller's transaction; it is no error when none
 * of them has a row. */
enum tg_class tg_offline_clear(struct tg_db *db, const char *ids_json, struct tg_error *err)
    must_check non_null(1, 2);

/* Ended requests that wait for the replay, oldest first. Owns: the arena. */
enum tg_class tg_offline_entries(struct tg_db *db, struct tg_arena *arena, int most,
                                 struct tg_entry_list *ret, struct tg_error *err) must_check
    non_null(1, 2, 4);

#endif
