/* plan_reset - periods of subscriptions that are over, and the rows that begin the next ones.
 *
 * A row is made once for a subscription and a period, whoever looks; it is then told to Redis like
 * a credit (pending.h) until ledger_entry has it. The subscription's balance and period move with
 * that entry only. An idle subscription gets one row, to the period that runs: no next row is made
 * before the last one is applied.
 *
 * Source   LEDGER "Funding and credits", AMENDMENTS L8.
 * Threads  one per connection.  Blocks  on MySQL.
 */
#ifndef TOLLGATE_STORE_PLAN_RESET_H
#define TOLLGATE_STORE_PLAN_RESET_H

#include "common/base/arena.h"
#include "common/sql/db.h"

struct tg_plan_due {
    int64_t subscription_id, user_id, period_number; /* the one that is over */
    int64_t quota;                                   /* of a period */
    const char *period, *zone;
    int64_t end_unix_us, now_unix_us; /* by the database's clock */
};
struct tg_plan_due_list {
    struct tg_plan_due *plans;
    size_t count;
};
/* Active subscriptions whose period is over, at most <most>. Owns: the arena. */
enum tg_class tg_plan_due(struct tg_db *db, struct tg_arena *arena, int most,
                          struct tg_plan_due_list *ret, struct tg_error *err) must_check
    non_null(1, 2, 4);
/* Begins the next period, which ends at <end_unix_us>; nothing when somebody else has. */
enum tg_class tg_plan_reset_put(struct tg_db *db, const struct tg_plan_due *due,
                                int64_t end_unix_us, struct tg_error *err) must_check
    non_null(1, 2);

#endif
