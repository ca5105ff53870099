/* advice - is this Redis fit to hold money? Says so in the log when it is not.
 *
 * Wanted: an append-only file, a memory limit, no policy that evicts keys without a TTL (money
 * has none), and that it is no replica. Whether to go on is the operator's business.
 *
 * Source   AMENDMENTS L6.
 * Threads  one per connection.  Blocks  for one answer.
 */
#ifndef TOLLGATE_FCGI_DAEMON_ADVICE_H
#define TOLLGATE_FCGI_DAEMON_ADVICE_H

#include "common/redis/kv.h"

enum tg_class daemon_advise(struct tg_kv *kv, struct tg_error *err) must_check non_null(1, 2);

#endif
