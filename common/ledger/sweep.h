/* sweep - deposits whose owner has gone silent.
 *
 * A hold past its deadline lapses: its amount goes back, the hold stays with what it had earned.
 * That is no end: the worker may still extend or settle it. A lapsed hold is ended with what it had
 * earned (`expired`) only when nobody can settle it any more: by the daemon of its own node, when
 * the worker that took it is dead and everything that worker wrote down is known; or, for a node
 * that was given up (`gone`), by any daemon.
 *
 * Source   LEDGER "sweep", AMENDMENTS L2.
 * Threads  one owner.  Blocks  on Redis and MySQL.
 */
#ifndef TOLLGATE_LEDGER_SWEEP_H
#define TOLLGATE_LEDGER_SWEEP_H

#include "common/ledger/spool_watch.h"

struct tg_sweep {
    const struct tg_replay *replay; /* the connections, and the way an end is told */
    const struct tg_spool_watch *watch;
    const char *node;
    const char *const *gone; /* nodes that were given up */
    size_t gone_count;
};
struct tg_swept {
    size_t lapsed, ended;
};
/* One shard, in the epoch that <epoch> names. */
enum tg_class tg_sweep_shard(const struct tg_sweep *sweep, int shard, int64_t epoch,
                             struct tg_swept *ret) must_check non_null(1, 4);

/* The same for deposits that were taken in MySQL (offline_hold); they do not lapse, only end. */
enum tg_class tg_sweep_offline(const struct tg_sweep *sweep, struct tg_swept *ret) must_check
    non_null(1, 2);

#endif
