/* mode - is this node's money online? Shared by all its workers.
 *
 * The breaker opens by time: no money script has succeeded for `offline_after`, although some were
 * tried, and another look at Redis fails too. Before its first offline admission the node writes
 * `offline` into its row of `node`; before its first use of Redis after the return it waits until
 * what it ended meanwhile has been replayed, and writes `online`. One thread looks, once a second;
 * the others go on as before.
 *
 * Source   AMENDMENTS L1.
 * Threads  any.  Blocks  the one that looks: on both stores, a second at most.
 */
#ifndef TOLLGATE_LEDGER_MODE_H
#define TOLLGATE_LEDGER_MODE_H

#include "common/base/error.h"

#include <stdatomic.h>

enum tg_money_state { TG_MONEY_UNKNOWN, TG_MONEY_ONLINE, TG_MONEY_OFFLINE };

/* All zero at first; lies where all workers of the node see it. */
struct tg_money_mode {
    _Atomic int64_t failing_since_us; /* first failure after the last success, 0: none */
    _Atomic int64_t looked_at_us;
    _Atomic int state; /* as the node's row says; UNKNOWN: not written yet */
};

struct tg_ledger;

/* A money script ran, or could not. */
void tg_mode_note(struct tg_money_mode *mode, bool success) non_null(1);
/* Decides, for a step on <shard>, and moves the node from one to the other when it is time. */
bool tg_mode_is_offline(struct tg_ledger *ledger, int shard) non_null(1);

#endif
