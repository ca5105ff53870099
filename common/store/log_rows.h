/* log_rows - records as rows of request_log and request_detail, and their hourly sums.
 *
 * Threads  one per connection.  Blocks  on MySQL.
 */
#ifndef TOLLGATE_STORE_LOG_ROWS_H
#define TOLLGATE_STORE_LOG_ROWS_H

#include "common/sql/db.h"

/* Inside the caller's transaction. <lines>: records (log_record.h), one a line. Rows that are there
 * already are left out, of the sums too. When the records cannot be entered together they are
 * entered one by one, and one that is refused as what can be kept of it. */
enum tg_class tg_log_rows_enter(struct tg_db *log_db, const char *lines, struct tg_error *err)
    must_check non_null(1, 2);

#endif
