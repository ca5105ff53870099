/* ledger_export - the books as lines of text, and balances computed from such lines alone.
 *
 *   credit  ENTRY_ID USER AMOUNT            an applied credit
 *   entry   ENTRY_ID USER PLAN KIND AMOUNT  a row of ledger_entry
 *   day     DAY USER KIND AMOUNT            a row of ledger_day
 *   balance USER QUOTA                      users.quota in the same moment
 *
 * Fields are divided by one blank. All lines are of one snapshot.
 *
 * Threads  one per connection.  Blocks  export: on MySQL; verify: on the file.
 */
#ifndef TOLLGATE_STORE_LEDGER_EXPORT_H
#define TOLLGATE_STORE_LEDGER_EXPORT_H

#include "common/base/arena.h"
#include "common/sql/db.h"

#include <stdio.h>

enum tg_class tg_ledger_export(struct tg_db *db, FILE *out, struct tg_error *err) must_check
    non_null(1, 2);

struct tg_verified_user {
    int64_t id;
    int64_t credits, entries; /* money that came, and that credit entries say came */
    int64_t charges;          /* from the wallet */
    int64_t balance;          /* what the file says it was */
    bool has_balance;
};
struct tg_verified {
    struct tg_verified_user *users; /* by id */
    size_t count;
    int64_t lines, unread; /* unread: lines that are none of the four */
};
/* Owns: the arena. */
enum tg_class tg_ledger_verify(FILE *in, struct tg_arena *arena, struct tg_verified *ret,
                               struct tg_error *err) must_check non_null(1, 2, 3);

#endif
