/* fold - what is told on a site without Redis: straight into the books.
 *
 * The applier's own transaction, without a stream: what ledger_entry has changes nothing, offline
 * rows go, credits and adjustments are marked.
 *
 * Source   LEDGER "When Redis is away", last paragraph.
 * Threads  one per connection.  Blocks  on MySQL.
 */
#ifndef TOLLGATE_LEDGER_FOLD_H
#define TOLLGATE_LEDGER_FOLD_H

#include "common/ledger/replay.h"

/* Of the items that are LATER and not only_ask; they are KNOWN then. */
enum tg_class tg_fold(const struct tg_replay *replay, struct tg_replay_item *items, size_t count)
    must_check non_null(1, 2);

#endif
