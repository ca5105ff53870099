#include "common/ledger/replay.h"

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/ledger/fold.h"
#include "common/store/journal.h"
#include "common/store/offline.h"
#include "common/store/pending.h"

#include <inttypes.h>
#include <string.h>

enum {
    ANSWER_US = 1000000,
    CURSOR_WAIT_US = 3000000, /* normally well under a second */
    CURSOR_PAUSE_US = 20000,
    TABLE_ROWS = 500
};
static const int64_t too_old_ms = INT64_C(34) * 24 * 3600 * 1000;

/* A shard that items are of. */
struct look {
    bool wanted, ready;
    int64_t epoch;
    char last[TG_STREAM_ID_TEXT];
};

struct run {
    const struct tg_replay *replay;
    struct tg_replay_item *items;
    size_t count;
    struct look shards[TG_SHARDS];
    struct tg_arena *arena;
};

static int shard_of(const struct tg_replay_item *item)
{
    return tg_shard_of(item->entry->user_id);
}

/* Epoch and last id of every shard that is on; the others stay out of this run. */
static enum tg_class read_tails(struct run *run)
{
    for (int i = 0; i < TG_SHARDS; i++) {
        struct look *look = &run->shards[i];
        struct tg_shard_state state;
        int64_t length;
        enum tg_class class;
        struct tg_shard_call call = {.kv = run->replay->kv,
                                     .shard = i,
                                     .deadline_at_us = tg_now_us() + ANSWER_US,
                                     .err = run->replay->err};

        if (!look->wanted)
            continue;
        if (tg_shard_read_state(&call, &state) != TG_SHARD_OK)
            return TG_CLASS_DOWN;
        class = tg_shard_journal_tail(&call, look->last, &length);
        if (class != TG_OK)
            return class;
        look->epoch = state.epoch;
        look->wanted =
            state.exists && state.on && strcmp(state.run_id, tg_kv_run_id(run->replay->kv)) == 0;
    }
    return TG_OK;
}

/* Has the applier passed what was read? True when all have; a shard of another epoch is out. */
static bool compare(struct run *run, const struct tg_cursor cursors[TG_SHARDS])
{
    bool all = true;

    for (int i = 0; i < TG_SHARDS; i++) {
        struct look *look = &run->shards[i];

        if (!look->wanted || look->ready)
            continue;
        if (cursors[i].epoch != look->epoch ||
            strcmp(cursors[i].run_id, tg_kv_run_id(run->replay->kv)) != 0)
            look->wanted = false;
        else if (tg_stream_id_compare(cursors[i].stream_id, look->last) >= 0)
            look->ready = true;
        else
            all = false;
    }
    return all;
}

static enum tg_class wait_for_cursors(struct run *run)
{
    int64_t until_us = TG_MIN(tg_now_us() + CURSOR_WAIT_US, run->replay->deadline_at_us);
    struct tg_cursor cursors[TG_SHARDS];
    enum tg_class class;

    for (;;) {
        class = tg_store_cursors(run->replay->db, cursors, run->replay->err);
        if (class != TG_OK || compare(run, cursors) || tg_now_us() >= until_us)
            return class;
        tg_clock_sleep_us(CURSOR_PAUSE_US);
    }
}

static bool is_ready(const struct run *run, const struct tg_replay_item *item)
{
    return run->shards[shard_of(item)].ready;
}

/* Asks ledger_entry for what is open; rows of those it has are marked, or go. */
static enum tg_class ask(struct run *run)
{
    struct tg_id *ids = tg_arena_calloc(run->arena, run->count + 1, sizeof *ids);
    struct tg_replay_item **open = tg_arena_calloc(run->arena, run->count + 1, sizeof(void *));
    bool *known = tg_arena_calloc(run->arena, run->count + 1, sizeof *known);
    size_t asked = 0, done = 0;
    enum tg_class class;

    for (size_t i = 0; i < run->count; i++) {
        if (run->items[i].fate != TG_REPLAY_LATER)
            continue;
        open[asked] = &run->items[i];
        ids[asked++] = run->items[i].entry->id;
    }
    class = tg_pending_known(run->replay->db, ids, asked, known, run->replay->err);
    if (class != TG_OK)
        return class;
    for (size_t i = 0; i < asked; i++) {
        if (!known[i])
            continue;
        open[i]->fate = TG_REPLAY_KNOWN;
        if (open[i]->in_table)
            ids[done++] = open[i]->entry->id;
    }
    return done == 0 ? TG_OK
                     : tg_pending_acknowledge(run->replay->db, ids, done, run->replay->err);
}

static enum tg_class refuse(struct run *run, struct tg_replay_item *item, const char *reason)
{
    struct tg_journal_refused refused = {
        .stream_id = "", .entry = item->entry, .reason = reason};
    enum tg_class class = tg_journal_refuse_alone(run->replay->db, shard_of(item), &refused,
                                                  run->replay->err);

    if (class == TG_OK)
        item->fate = TG_REPLAY_REFUSED;
    return class;
}

static enum tg_class tell(struct run *run, struct tg_replay_item *item)
{
    struct tg_error *err = run->replay->err;
    int64_t epoch = run->shards[shard_of(item)].epoch;

    if (tg_unix_us() / 1000 - tg_id_unix_ms(&item->entry->id) > too_old_ms)
        return refuse(run, item, "older than 34 days: not replayed");
    switch (tg_ledger_settle_in(run->replay->ledger, epoch, item->entry, tg_now_us() + ANSWER_US,
                                err)) {
    case TG_LEDGER_OK:
    case TG_LEDGER_ENDED:
        item->fate = TG_REPLAY_TOLD;
        return TG_OK;
    case TG_LEDGER_UNKNOWN_ACCOUNT:
        return refuse(run, item, "of an account that does not exist");
    default:
        break;
    }
    if (err->class == TG_CLASS_DOWN)
        return TG_CLASS_DOWN;
    if (err->class != TG_CLASS_CONFLICT) /* a rebuild came between: another run decides */
        tg_log_error(TG_LOG_ERROR, "replay", err);
    return TG_OK;
}

static enum tg_class tell_the_rest(struct run *run)
{
    enum tg_class class = TG_OK;

    for (size_t i = 0; class == TG_OK && i < run->count; i++) {
        struct tg_replay_item *item = &run->items[i];

        if (tg_now_us() >= run->replay->deadline_at_us)
            break;
        if (item->fate == TG_REPLAY_LATER && !item->only_ask && is_ready(run, item))
            class = tell(run, item);
    }
    return class;
}

/* Marks the shards of what is to be told; false when there is nothing. */
static bool want_shards(struct run *run)
{
    bool any = false;

    for (size_t i = 0; i < run->count; i++) {
        const struct tg_replay_item *item = &run->items[i];

        if (item->fate != TG_REPLAY_LATER || item->only_ask)
            continue;
        run->shards[shard_of(item)].wanted = true;
        any = true;
    }
    return any;
}

enum tg_class tg_replay_run(const struct tg_replay *replay, struct tg_replay_item *items,
                            size_t count)
{
    static enum tg_class (*const steps[])(struct run *) = {read_tails, wait_for_cursors, ask,
                                                           tell_the_rest};
    struct tg_error unused;
    struct tg_replay own = *replay;
    struct run run = {.replay = &own, .items = items, .count = count};
    enum tg_class class = TG_OK;

    if (own.err == NULL)
        own.err = &unused;
    run.arena = tg_arena_new();
    for (size_t i = 0; i < count; i++)
        items[i].fate = TG_REPLAY_LATER;
    /* in health everything is known by the time it could be told: nothing to wait for */
    if (count > 0)
        class = ask(&run);
    if (class == TG_OK && replay->kv == NULL)
        class = tg_fold(&own, items, count);
    else if (class == TG_OK && want_shards(&run))
        for (size_t i = 0; class == TG_OK && i < TG_COUNT_OF(steps); i++)
            class = steps[i](&run);
    tg_arena_free(run.arena);
    return class;
}

enum tg_class tg_replay_tables(const struct tg_replay *replay, size_t *ret_told)
{
    struct tg_arena *arena = tg_arena_new();
    struct tg_entry_list pending = {0}, offline = {0};
    struct tg_replay_item *items;
    size_t count = 0;
    enum tg_class class =
        tg_pending_entries(replay->db, arena, TABLE_ROWS, &pending, replay->err);

    if (class == TG_OK)
        class = tg_offline_entries(replay->db, arena, TABLE_ROWS, &offline, replay->err);
    items = tg_arena_calloc(arena, pending.count + offline.count + 1, sizeof *items);
    for (size_t i = 0; i < pending.count; i++)
        items[count++] = (struct tg_replay_item){.entry = &pending.entries[i], .in_table = true};
    for (size_t i = 0; i < offline.count; i++)
        items[count++] = (struct tg_replay_item){.entry = &offline.entries[i], .in_table = true};
    if (class == TG_OK)
        class = tg_replay_run(replay, items, count);
    *ret_told = 0;
    for (size_t i = 0; i < count; i++)
        *ret_told += items[i].fate == TG_REPLAY_TOLD;
    tg_arena_free(arena);
    return class;
}
