/* credit - the rows of credits: money for users, on its way to the live books.
 *
 * The row comes first; it is then pushed to Redis once by whoever made it, and by the daemon until
 * ledger_entry has its entry_id. So the money comes exactly once, whatever fails in between.
 *
 * Errors   those of db.h; TG_CLASS_NOT_FOUND "user_not_found"; TG_CLASS_INVALID "invalid_amount",
 *          "balance_bounds" (a balance would leave +-TG_QUOTA_MAX).
 * Threads  as the connection.  Blocks  on the database.
 */
#ifndef TOLLGATE_STORE_CREDIT_H
#define TOLLGATE_STORE_CREDIT_H

#include "common/ledger/entry.h"
#include "common/store/change.h"

struct tg_credit_new {
    int64_t user_id;
    int64_t amount_quota; /* > 0: for the user; < 0: taken away */
    const char *kind;     /* topup, code, admin, plan, correction */
    const char *reason;
};
/* *ret_entry is what tg_ledger_settle takes. */
enum tg_class tg_store_credit_add(struct tg_db *db, const struct tg_actor *actor,
                                  const struct tg_credit_new *credit, struct tg_entry *ret_entry,
                                  struct tg_error *err) must_check non_null(1, 2, 3, 4, 5);
/* The same inside a change that does more (a code that is redeemed). */
void tg_store_credit_put(struct tg_change *change, const struct tg_credit_new *credit,
                         struct tg_entry *ret_entry) non_null(1, 2, 3);

#endif
