/* resets - plans whose period is over get their next one.
 *
 * The end is computed here and now, by the rules of the user's time zone (period.h); the row that
 * is made for it is told to Redis by the ordinary replay. Done twice, by two daemons: once.
 *
 * Source   AMENDMENTS L8.
 * Threads  one per connection.  Blocks  on MySQL.
 */
#ifndef TOLLGATE_LEDGER_RESETS_H
#define TOLLGATE_LEDGER_RESETS_H

#include "common/sql/db.h"

enum tg_class tg_resets_round(struct tg_db *db, struct tg_error *err) must_check non_null(1);

#endif
