/* ledger_day - entries older than 35 days, summed per day, user and kind.
 *
 * A day's partition is emptied shard by shard, each in one transaction that adds the sums and takes
 * the rows, so that at no moment a row is counted twice or not at all; the empty partition is then
 * dropped. Entries funded by a plan keep their own kind ("charge/plan"): they are no wallet money.
 *
 * Source   LEDGER "Appliers".
 * Threads  one per connection.  Blocks  on MySQL.
 */
#ifndef TOLLGATE_STORE_LEDGER_DAY_H
#define TOLLGATE_STORE_LEDGER_DAY_H

#include "common/sql/db.h"

enum { TG_LEDGER_DAYS_KEPT = 35 };

/* Folds the days that ended more than <keep_days> days before <now_unix_us>; *ret_days of them. */
enum tg_class tg_ledger_day_fold(struct tg_db *db, int64_t now_unix_us, int keep_days,
                                 int *ret_days, struct tg_error *err) must_check non_null(1, 4);

#endif
