/* replay - told again until known: whatever Redis may not have heard of.
 *
 * Spool lines, offline entries, credits, adjustments and holds of dead workers all come here.
 * What ledger_entry has is known. For the rest, per shard: take the epoch and the journal's last
 * id L, wait until the cursor of that epoch and server has passed L (then ledger_entry is complete
 * up to L), ask it again, and run what it does not have through the ordinary settle, in that epoch
 * only. So an entry whose settle may or may not have run is told again without being charged
 * again: its end marker or its ledger_entry row says no. A run is much shorter than the 15 minutes
 * that end markers are kept.
 *
 * Older than 34 days: never replayed, since the proof may be gone (ledger_entry keeps 35 days);
 * of nobody: refused too. Both go to ledger_reject, once.
 *
 * Source   LEDGER "Replay", AMENDMENTS L5, L11.
 * Threads  one per pair of connections.  Blocks  up to the deadline of the run.
 */
#ifndef TOLLGATE_LEDGER_REPLAY_H
#define TOLLGATE_LEDGER_REPLAY_H

#include "common/ledger/shard.h"

enum tg_replay_fate {
    TG_REPLAY_LATER,   /* not decided: the shard was busy or away, or only_ask */
    TG_REPLAY_TOLD,    /* Redis has it; the books will */
    TG_REPLAY_KNOWN,   /* the books have it */
    TG_REPLAY_REFUSED  /* never: in ledger_reject */
};

struct tg_replay_item {
    const struct tg_entry *entry;
    bool only_ask; /* somebody else is about to settle it */
    bool in_table; /* a row waits to hear that it is known */
    enum tg_replay_fate fate;
};

struct tg_replay {
    struct tg_ledger *ledger;
    struct tg_kv *kv; /* NULL: a site without Redis, what is told goes into the books at once */
    struct tg_db *db;
    int64_t deadline_at_us; /* of the whole run */
    struct tg_error *err;
};

/* Sets every item's fate. Errors mean that some are LATER because a store was away. */
enum tg_class tg_replay_run(const struct tg_replay *replay, struct tg_replay_item *items,
                            size_t count) must_check non_null(1, 2);

/* What the tables hold: credits, adjustments, offline entries. *ret_told: how many were told. */
enum tg_class tg_replay_tables(const struct tg_replay *replay, size_t *ret_told) must_check
    non_null(1, 2);

#endif
