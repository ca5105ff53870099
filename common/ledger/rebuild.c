#include "common/ledger/rebuild.h"

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/store/pending.h"
#include "common/store/rebuild_note.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct plan {
    const struct tg_rebuild *rebuild;
    const struct tg_apply *apply;
    struct tg_journal_batch expect; /* what the cursor row held when it began */
    struct tg_cursor before;
    char lock[TG_JOURNAL_LOCK_TEXT];
    const char *reason;
    int64_t epoch; /* the new one */
    char last[TG_STREAM_ID_TEXT];
    struct tg_rebuild_note note;
};

const char *tg_rebuild_reason(const struct tg_cursor *cursor, const struct tg_shard_state *state,
                              const char *run_id)
{
    if (!state->exists)
        return "its state is missing";
    if (strcmp(state->run_id, run_id) != 0 || strcmp(cursor->run_id, run_id) != 0)
        return "it is of another server";
    if (state->epoch != cursor->epoch)
        return "its epoch differs";
    if (!state->on)
        return "it was left off";
    return NULL;
}

/* Fills <reason>; NULL when there is none. */
static enum tg_class look(struct plan *plan)
{
    struct tg_cursor cursors[TG_SHARDS];
    struct tg_shard_call call = tg_apply_call(plan->apply, 0);
    struct tg_shard_state state;
    enum tg_class class = tg_store_cursors(plan->apply->db, cursors, plan->apply->err);

    if (class != TG_OK)
        return class;
    if (tg_shard_read_state(&call, &state) != TG_SHARD_OK)
        return TG_CLASS_DOWN;
    plan->before = cursors[plan->apply->shard];
    plan->reason = tg_rebuild_reason(&plan->before, &state, tg_kv_run_id(plan->apply->kv));
    if (plan->reason == NULL && plan->rebuild->by_hand)
        plan->reason = "by hand";
    plan->epoch = TG_MAX(plan->before.epoch, state.exists ? state.epoch : 0) + 1;
    plan->expect = (struct tg_journal_batch){.shard = plan->apply->shard,
                                             .epoch = plan->before.epoch,
                                             .run_id = plan->before.run_id,
                                             .stream_id = plan->last,
                                             .lock = plan->lock};
    snprintf(plan->last, sizeof plan->last, "0-0");
    return TG_OK;
}

static enum tg_class begin(struct plan *plan)
{
    struct tg_shard_call call = tg_apply_call(plan->apply, plan->epoch);

    switch (tg_shard_begin(&call)) {
    case TG_SHARD_OK:
        return TG_OK;
    case TG_SHARD_DOWN:
        return TG_CLASS_DOWN;
    default:
        return tg_fail(plan->apply->err, TG_CLASS_CONFLICT, "ledger_fenced",
                       "shard %d has a newer epoch than %" PRId64, plan->apply->shard,
                       plan->epoch);
    }
}

/* Before the first entry: what a journal says that the recorded server does not know would else
 * stay in the books beside that server's live balances, if this rebuild ends half-way. */
static enum tg_class renew(struct plan *plan)
{
    const char *run_id = tg_kv_run_id(plan->apply->kv);
    struct tg_journal_renewal renewal = {.epoch = plan->epoch, .run_id = run_id};
    struct tg_journal_batch first = plan->expect;
    size_t inserted;

    first.renewal = &renewal;
    first.cursor_may_go_back = true;
    plan->expect.epoch = plan->epoch;
    plan->expect.run_id = run_id;
    return tg_journal_apply(plan->apply->db, &first, &inserted, plan->apply->err);
}

/* Trimmed empty: what comes next has ids behind the last one ever given. */
static enum tg_class pass_what_was_trimmed(struct plan *plan)
{
    struct tg_shard_call call = tg_apply_call(plan->apply, plan->epoch);
    size_t inserted;
    int64_t length;
    enum tg_class class = tg_shard_journal_tail(&call, plan->last, &length);

    return class == TG_OK ? tg_journal_apply(plan->apply->db, &plan->expect, &inserted,
                                             plan->apply->err)
                          : class;
}

/* The whole journal, page by page. */
static enum tg_class read_all(struct plan *plan)
{
    struct tg_arena *arena = tg_arena_new();
    struct tg_journal_page page = {.after = plan->last, .most = plan->apply->batch_count};
    size_t inserted, pages = 0;
    enum tg_class class;

    do {
        struct tg_shard_call call = tg_apply_call(plan->apply, plan->epoch);

        tg_arena_reset(arena);
        class = tg_shard_journal(&call, arena, &page);
        if (class != TG_OK || page.count == 0)
            break;
        snprintf(plan->last, sizeof plan->last, "%s", page.entries[page.count - 1].stream_id);
        class = tg_apply_entries(plan->apply, &plan->expect, &page, &inserted);
        plan->note.entries += class == TG_OK ? (int64_t)inserted : 0;
        pages++;
    } while (class == TG_OK && page.count == page.most);
    tg_arena_free(arena);
    return class == TG_OK && pages == 0 ? pass_what_was_trimmed(plan) : class;
}

/* Moves the ids of those holds to the front whose request has its entry; counts them. */
static enum tg_class find_ended(struct plan *plan, struct tg_arena *arena, struct tg_id **ret,
                                size_t *ret_count)
{
    struct tg_shard_call call = tg_apply_call(plan->apply, plan->epoch);
    struct tg_hold *holds;
    struct tg_id *ids;
    size_t count, ended = 0;
    bool *known;
    enum tg_class class = tg_shard_holds(&call, arena, &holds, &count);

    if (class != TG_OK)
        return class;
    ids = tg_arena_calloc(arena, count + 1, sizeof *ids);
    known = tg_arena_calloc(arena, count + 1, sizeof *known);
    for (size_t i = 0; i < count; i++)
        ids[i] = holds[i].request_id;
    class = tg_pending_known(plan->apply->db, ids, count, known, plan->apply->err);
    for (size_t i = 0; i < count; i++)
        if (known[i])
            ids[ended++] = ids[i];
    *ret = ids;
    *ret_count = ended;
    return class;
}

static enum tg_class finish(struct plan *plan)
{
    struct tg_arena *arena = tg_arena_new();
    struct tg_id *ended = NULL;
    size_t count = 0;
    enum tg_class class = find_ended(plan, arena, &ended, &count);

    if (class == TG_OK) {
        struct tg_shard_call call = tg_apply_call(plan->apply, plan->epoch);
        enum tg_shard_answer answer = tg_shard_finish(&call, ended, count);

        if (answer == TG_SHARD_DOWN)
            class = TG_CLASS_DOWN;
        else if (answer != TG_SHARD_OK)
            class = tg_fail(plan->apply->err, TG_CLASS_CONFLICT, "ledger_fenced",
                            "shard %d went on to another epoch than %" PRId64,
                            plan->apply->shard, plan->epoch);
    }
    tg_arena_free(arena);
    return class;
}

static enum tg_class run(struct plan *plan)
{
    static enum tg_class (*const steps[])(struct plan *) = {begin, renew, read_all, finish};
    enum tg_class class;

    plan->note = (struct tg_rebuild_note){.shard = plan->apply->shard,
                                          .epoch = plan->epoch,
                                          .run_id = tg_kv_run_id(plan->apply->kv),
                                          .node = plan->rebuild->node,
                                          .reason = plan->reason};
    class = tg_rebuild_note_begin(plan->apply->db, &plan->note, plan->apply->err);
    for (size_t i = 0; i < TG_COUNT_OF(steps) && class == TG_OK; i++)
        class = steps[i](plan);
    if (class == TG_OK)
        class = tg_rebuild_note_end(plan->apply->db, &plan->note, plan->apply->err);
    return class;
}

enum tg_rebuild_answer tg_rebuild_shard(const struct tg_rebuild *rebuild)
{
    struct plan plan = {.rebuild = rebuild, .apply = &rebuild->apply};
    struct tg_db *db = rebuild->apply.db;
    bool got = false, needless = false;
    enum tg_class class =
        tg_journal_lock(db, rebuild->apply.shard, plan.lock, &got, rebuild->apply.err);

    if (class != TG_OK)
        return TG_REBUILD_FAILED;
    if (!got)
        return TG_REBUILD_BUSY;
    class = look(&plan);
    needless = class == TG_OK && plan.reason == NULL;
    if (class == TG_OK && !needless)
        class = run(&plan);
    tg_journal_unlock(db, plan.lock);
    if (class != TG_OK)
        return TG_REBUILD_FAILED;
    if (needless)
        return TG_REBUILD_NEEDLESS;
    tg_log(TG_LOG_DEBUG, "rebuild",
           "shard %d is on in epoch %" PRId64 " (%s); %" PRId64 " entries were new",
           rebuild->apply.shard, plan.epoch, plan.reason, plan.note.entries);
    return TG_REBUILD_DONE;
}
