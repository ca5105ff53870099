/* offline - the steps of the ledger in MySQL, for the time without Redis. Called by ledger.c.
 *
 * Source   AMENDMENTS L1.
 * Threads  any.  Blocks  on MySQL, up to the deadline for a connection.
 */
#ifndef TOLLGATE_LEDGER_OFFLINE_H
#define TOLLGATE_LEDGER_OFFLINE_H

#include "common/ledger/ledger.h"

enum tg_ledger_answer tg_offline_step_reserve(struct tg_ledger *ledger,
                                              const struct tg_reserve *reserve,
                                              int64_t deadline_at_us,
                                              struct tg_funding *ret_funding,
                                              struct tg_error *err) must_check
    non_null(1, 2, 4, 5);
enum tg_ledger_answer tg_offline_step_extend(struct tg_ledger *ledger,
                                             const struct tg_extend *extend,
                                             int64_t deadline_at_us, struct tg_error *err)
    must_check non_null(1, 2, 4);
enum tg_ledger_answer tg_offline_step_settle(struct tg_ledger *ledger,
                                             const struct tg_entry *entry,
                                             int64_t deadline_at_us, struct tg_error *err)
    must_check non_null(1, 2, 4);

#endif
