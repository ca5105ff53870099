/* plan_fold - what leaves the plans, decided in MySQL: for entries that no script has seen (a site
 * without Redis). The same rules as reset.lua and settle.lua; what is bound there by holds is bound
 * here by offline_quota. For common/store only, inside the journal's transaction.
 *
 * Threads  one per connection.  Blocks  on MySQL.
 */
#ifndef TOLLGATE_STORE_PLAN_FOLD_H
#define TOLLGATE_STORE_PLAN_FOLD_H

#include "common/ledger/entry.h"
#include "common/sql/db.h"

/* Fills plan_quota (of a reset: the amount too), in the entries and in their rows of ledger_entry.
 * <entries> are in the order in which they happen, all of them with a plan. */
enum tg_class tg_plan_fold(struct tg_db *db, struct tg_entry *entries, size_t count,
                           struct tg_error *err) must_check non_null(1, 2);

#endif
