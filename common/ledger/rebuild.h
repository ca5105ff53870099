/* rebuild - the one repair of a shard: a new epoch, with books that hold all that survived.
 *
 * When the server is another one (restart, failover), the state is missing (emptied), the epochs
 * differ, the shard was left off, or by hand. Under the shard's named lock in MySQL:
 *
 *   epoch e larger than both sides know -> state (e, run id, off), refused unless e is larger ->
 *   epoch and run id into the books, cursor to the journal's beginning -> the whole surviving
 *   journal, in idempotent transactions, each refused when the lock or the epoch was lost ->
 *   holds whose request has an entry go -> on, if it is still (e, run id, off)
 *
 * Hashes of older epochs are dead by that alone and load again on use. Whoever dies half-way
 * leaves the shard off: the next rebuild takes a larger epoch.
 *
 * Source   LEDGER "Rebuild", AMENDMENTS L10.
 * Threads  one per pair of connections.  Blocks  as long as the journal takes.
 */
#ifndef TOLLGATE_LEDGER_REBUILD_H
#define TOLLGATE_LEDGER_REBUILD_H

#include "common/ledger/apply.h"

/* Why the shard needs a rebuild; NULL when it does not. */
const char *tg_rebuild_reason(const struct tg_cursor *cursor, const struct tg_shard_state *state,
                              const char *run_id) non_null(1, 2, 3);

struct tg_rebuild {
    struct tg_apply apply;
    const char *node;
    bool by_hand; /* even when nothing asks for it */
};
/* Every rebuild is a row of ledger_rebuild; the callers log how many there were. */
enum tg_rebuild_answer {
    TG_REBUILD_DONE,
    TG_REBUILD_NEEDLESS, /* it is on and of this server */
    TG_REBUILD_BUSY,     /* another one is at it */
    TG_REBUILD_FAILED    /* a store is away, or a newer epoch came between: try again */
};
enum tg_rebuild_answer tg_rebuild_shard(const struct tg_rebuild *rebuild) must_check non_null(1);

#endif
