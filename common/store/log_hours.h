/* log_hours - records summed by hour, user, token, team, model and channel into usage_hourly.
 *
 * The sums are made here, from the values that go into request_log in the same transaction. For
 * common/store only.
 *
 * Threads  one per connection.  Blocks  on MySQL.
 */
#ifndef TOLLGATE_STORE_LOG_HOURS_H
#define TOLLGATE_STORE_LOG_HOURS_H

#include "common/store/log_record.h"

enum tg_class tg_log_hours_add(struct tg_db *log_db, const struct tg_log_record *records,
                               size_t count, struct tg_error *err) must_check non_null(1, 2);

#endif
