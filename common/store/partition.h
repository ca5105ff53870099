/* partition - partitions made ahead, and old ones dropped.
 *
 * Tables are partitioned by month (log) or by day (ledger_entry, whose UUIDv7 keys start with their
 * time). The last partition, "later", takes what lies beyond all others; new ones are cut off its
 * front while it is empty, so that costs nothing. Safe to repeat, safe when two run at once.
 *
 * Errors   those of db.h.
 * Threads  one per connection.  Blocks  on the database.
 */
#ifndef TOLLGATE_STORE_PARTITION_H
#define TOLLGATE_STORE_PARTITION_H

#include "common/sql/db.h"

/* Log database: this month and <months_ahead> more, of request_log and request_detail. */
enum tg_class tg_store_log_partitions_ensure(struct tg_db *db, int64_t now_unix_us,
                                             int months_ahead, struct tg_error *err) must_check
    non_null(1);
/* Log database: drops months that ended more than <keep_months> months ago. */
enum tg_class tg_store_log_partitions_drop(struct tg_db *db, int64_t now_unix_us, int keep_months,
                                           struct tg_error *err) must_check non_null(1);
/* Main database: today (UTC) and <days_ahead> more days of ledger_entry. */
enum tg_class tg_store_entry_partitions_ensure(struct tg_db *db, int64_t now_unix_us,
                                               int days_ahead, struct tg_error *err) must_check
    non_null(1);

#endif
