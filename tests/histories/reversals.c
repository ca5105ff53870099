/* The rules that are put back in C: calls between Tollgate's files, changed at the seam. */
#include "tests/histories/world.h"

#include "common/ledger/run.h"
#include "common/ledger/shard.h"
#include "common/store/journal.h"
#include "common/store/pending.h"

#include <stdio.h>
#include <string.h>

#define SEAM(type, name, parameters) \
    type __real_##name parameters;   \
    type __wrap_##name parameters;   \
    type __wrap_##name parameters

/* ---- sweep */

static struct tg_entry expired(const struct tg_hold *hold)
{
    return (struct tg_entry){.id = hold->request_id,
                             .kind = TG_ENTRY_EXPIRED,
                             .user_id = hold->user_id,
                             .token_id = hold->token_id,
                             .funding = {.plan_id = hold->plan_id},
                             .amount_quota = hold->earned_quota,
                             .token_unlimited = -1};
}

SEAM(enum tg_shard_answer, tg_shard_lapse,
     (const struct tg_shard_call *call,
      const struct tg_hold *hold))
{
    struct tg_entry entry;

    if (!world.rules.endsweep && !world.rules.latesweep)
        return __real_tg_shard_lapse(call, hold);
    entry = expired(hold);
    (void)!tg_ledger_settle_in(actor_running()->process->ledger, call->epoch, &entry,
                               call->deadline_at_us, NULL);
    return TG_SHARD_OK;
}

SEAM(bool, tg_spool_watch_is_done_with, (const struct tg_spool_watch *watch, int64_t worker))
{
    return world.rules.anyfinal || __real_tg_spool_watch_is_done_with(watch, worker);
}

/* ---- applier and rebuild */

SEAM(enum tg_class, tg_journal_lock,
     (struct tg_db *db, int shard,
      char ret_name[TG_JOURNAL_LOCK_TEXT], bool *ret_got, struct tg_error *err))
{
    enum tg_class class = __real_tg_journal_lock(db, shard, ret_name, ret_got, err);

    if (world.rules.lease && class == TG_OK)
        *ret_got = true;
    return class;
}

SEAM(enum tg_class, tg_journal_apply,
     (struct tg_db *db, const struct tg_journal_batch *batch,
      size_t *ret_inserted, struct tg_error *err))
{
    bool rebuild = batch->lock != NULL;
    note("journal_apply of %zu entries%s", batch->count, rebuild ? " by a rebuild" : "");
    struct tg_journal_batch own = *batch;
    struct tg_cursor cursors[TG_SHARDS];

    if (!(rebuild ? world.rules.lease : world.rules.applier))
        return __real_tg_journal_apply(db, batch, ret_inserted, err);
    /* it stands still, then takes the shard as it finds it */
    for (int i = !rebuild || chance(25) ? dice(80) : 0; i > 0; i--)
        fiber_yield();
    if (tg_store_cursors(db, cursors, err) != TG_OK)
        return TG_CLASS_DOWN;
    own.epoch = cursors[batch->shard].epoch;
    own.run_id = cursors[batch->shard].run_id;
    own.lock = NULL;
    /* without a number that only rises, the last to come has its way */
    const struct tg_journal_renewal back = {.epoch = batch->epoch, .run_id = batch->run_id};
    if (rebuild && batch->renewal == NULL)
        own.renewal = &back;
    if (own.epoch != batch->epoch)
        note("a page of epoch %lld is applied in %lld", (long long)batch->epoch,
             (long long)own.epoch);
    return __real_tg_journal_apply(db, &own, ret_inserted, err);
}

/* Nobody remembers a larger number than the one he is told. */
SEAM(enum tg_ledger_answer, tg_run_to_answer, (struct tg_run *run, struct tg_outcome *ret))
{
    struct tg_cursor cursors[TG_SHARDS];

    if (world.rules.lease && tg_store_cursors(world.main_db, cursors, NULL) == TG_OK)
        atomic_store(&run->ledger->epochs[SHARD], cursors[SHARD].epoch);
    return __real_tg_run_to_answer(run, ret);
}

/* ---- replay */

SEAM(enum tg_class, tg_pending_entries,
     (struct tg_db *db, struct tg_arena *arena, int most,
      struct tg_entry_list *ret, struct tg_error *err))
{
    if (!world.rules.nocreditpush)
        return __real_tg_pending_entries(db, arena, most, ret, err);
    *ret = (struct tg_entry_list){.count = 0};
    return TG_OK;
}

SEAM(enum tg_class, tg_shard_journal_tail,
     (const struct tg_shard_call *call,
      char ret_last[TG_STREAM_ID_TEXT], int64_t *ret_len))
{
    enum tg_class class = __real_tg_shard_journal_tail(call, ret_last, ret_len);

    if (world.rules.nowait && actor_running() != NULL &&
        strcmp(actor_running()->what, "replay") == 0)
        snprintf(ret_last, TG_STREAM_ID_TEXT, "0-0");
    return class;
}
