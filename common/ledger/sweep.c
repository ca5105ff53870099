#include "common/ledger/sweep.h"

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/store/doubt.h"
#include "common/store/log_batch.h"
#include "common/store/offline_hold.h"

#include <stdio.h>
#include <string.h>

enum { ANSWER_US = 1000000, OFFLINE_ROWS = 500 };

static struct tg_shard_call call_of(const struct tg_sweep *sweep, int shard, int64_t epoch)
{
    return (struct tg_shard_call){.kv = sweep->replay->kv,
                                  .shard = shard,
                                  .epoch = epoch,
                                  .deadline_at_us = tg_now_us() + ANSWER_US,
                                  .err = sweep->replay->err};
}

static bool nobody_can_settle(const struct tg_sweep *sweep, const char *node, int64_t worker)
{
    if (strcmp(node, sweep->node) == 0)
        return tg_spool_watch_is_done_with(sweep->watch, worker);
    for (size_t i = 0; i < sweep->gone_count; i++)
        if (strcmp(node, sweep->gone[i]) == 0)
            return true;
    return false;
}

/* A Redis that lost its last seconds may have forgotten what MySQL heard at the last lapse, and an
 * offline hold knows nothing of what the request earned in Redis. */
static enum tg_class remember_earned(const struct tg_sweep *sweep, struct tg_hold *const *holds,
                                     size_t count, struct tg_arena *arena)
{
    struct tg_id *ids = tg_arena_calloc(arena, count + 1, sizeof *ids);
    int64_t *earned = tg_arena_calloc(arena, count + 1, sizeof *earned);
    enum tg_class class = TG_OK;

    for (size_t i = 0; i < count; i++)
        ids[i] = holds[i]->request_id;
    if (count > 0)
        class = tg_lapse_earned(sweep->replay->db, ids, count, earned, sweep->replay->err);
    for (size_t i = 0; class == TG_OK && i < count; i++)
        holds[i]->earned_quota = TG_MAX(holds[i]->earned_quota, earned[i]);
    return class;
}

/* What is left of the request: who, and what the stream had earned at its last renewal. */
static const struct tg_entry *expire(const struct tg_hold *hold, struct tg_arena *arena)
{
    struct tg_entry *entry = tg_arena_calloc(arena, 1, sizeof *entry);
    struct tg_buf record;

    entry->id = hold->request_id;
    entry->kind = TG_ENTRY_EXPIRED;
    entry->user_id = hold->user_id;
    entry->token_id = hold->token_id;
    entry->funding = (struct tg_funding){hold->plan_id, hold->period};
    entry->amount_quota = hold->earned_quota;
    entry->token_unlimited = -1;
    tg_buf_init(&record, 0);
    tg_record_bare(entry, hold->node, "internal", &record);
    entry->record = (struct tg_span){.ptr = tg_arena_strndup(arena, record.data, record.len),
                                     .len = record.len};
    tg_buf_done(&record);
    return entry;
}

static enum tg_class end_all(const struct tg_sweep *sweep, struct tg_hold *const *holds,
                             size_t count, struct tg_swept *ret)
{
    struct tg_arena *arena = tg_arena_new();
    struct tg_replay_item *items = tg_arena_calloc(arena, count + 1, sizeof *items);
    char id[TG_ID_TEXT];
    enum tg_class class = remember_earned(sweep, holds, count, arena);

    for (size_t i = 0; class == TG_OK && i < count; i++)
        items[i].entry = expire(holds[i], arena);
    if (class == TG_OK)
        class = tg_replay_run(sweep->replay, items, count);
    for (size_t i = 0; i < count; i++) {
        if (items[i].fate != TG_REPLAY_TOLD)
            continue;
        ret->ended++;
        tg_id_format(&items[i].entry->id, id);
        tg_log(TG_LOG_WARNING, "sweep",
               "request %s ended as expired: its worker is dead, %lld quota had been earned", id,
               (long long)items[i].entry->amount_quota);
    }
    tg_arena_free(arena);
    return class;
}

static enum tg_class lapse(const struct tg_sweep *sweep, const struct tg_shard_call *call,
                           const struct tg_hold *hold, struct tg_swept *ret)
{
    switch (tg_shard_lapse(call, hold)) {
    case TG_SHARD_OK:
        ret->lapsed++;
        return tg_lapse_note(sweep->replay->db, &hold->request_id, hold->earned_quota,
                             sweep->replay->err);
    case TG_SHARD_DOWN:
        return TG_CLASS_DOWN;
    default: /* ended or renewed meanwhile, or a rebuild came between */
        return TG_OK;
    }
}

/* A worker that ended in order had no request left; it has forgotten this one. */
static enum tg_class note_unsettled(const struct tg_sweep *sweep, const struct tg_hold *hold)
{
    const struct tg_doubt doubt = {.kind = "unsettled",
                                   .node = hold->node,
                                   .worker = hold->worker,
                                   .request_id = hold->request_id,
                                   .detail = "its worker ended in order and left it open"};

    bool in_order = false;
    enum tg_class class = tg_worker_end_known(sweep->replay->db, hold->node, hold->worker,
                                              &in_order, sweep->replay->err);

    if (class == TG_OK && in_order)
        class = tg_doubt_note(sweep->replay->db, &doubt, sweep->replay->err);
    return class;
}

enum tg_class tg_sweep_shard(const struct tg_sweep *sweep, int shard, int64_t epoch,
                             struct tg_swept *ret)
{
    struct tg_shard_call call = call_of(sweep, shard, epoch);
    struct tg_arena *arena = tg_arena_new();
    struct tg_hold *holds, **over;
    size_t count, ending = 0;
    enum tg_class class = tg_shard_holds(&call, arena, &holds, &count);

    *ret = (struct tg_swept){0};
    over = tg_arena_calloc(arena, class == TG_OK ? count + 1 : 1, sizeof(void *));
    for (size_t i = 0; class == TG_OK && i < count; i++) {
        struct tg_hold *hold = &holds[i];

        if (!hold->lapsed && hold->due_server_ms < tg_kv_server_ms(sweep->replay->kv)) {
            call = call_of(sweep, shard, epoch);
            class = lapse(sweep, &call, hold, ret);
        } else if (hold->lapsed && nobody_can_settle(sweep, hold->node, hold->worker)) {
            class = note_unsettled(sweep, hold);
            over[ending++] = hold;
        }
    }
    if (class == TG_OK && ending > 0)
        class = end_all(sweep, over, ending, ret);
    tg_arena_free(arena);
    return class;
}

static enum tg_class end_offline(const struct tg_sweep *sweep,
                                 const struct tg_offline_overdue *overdue, struct tg_arena *arena)
{
    struct tg_hold hold = {.request_id = overdue->request_id,
                           .user_id = overdue->user_id,
                           .token_id = overdue->token_id,
                           .plan_id = overdue->funding.plan_id,
                           .period = overdue->funding.period,
                           .earned_quota = overdue->earned_quota};
    struct tg_hold *const over[] = {&hold};
    enum tg_offline_answer answer;
    enum tg_class class = remember_earned(sweep, over, 1, arena); /* it may have gone on in Redis */

    if (class != TG_OK)
        return class;
    snprintf(hold.node, sizeof hold.node, "%s", overdue->node);
    return tg_offline_settle(sweep->replay->db, expire(&hold, arena), sweep->node, &answer,
                             sweep->replay->err);
}

enum tg_class tg_sweep_offline(const struct tg_sweep *sweep, struct tg_swept *ret)
{
    struct tg_arena *arena = tg_arena_new();
    struct tg_offline_overdue_list list;
    enum tg_class class =
        tg_offline_overdue(sweep->replay->db, arena, OFFLINE_ROWS, &list, sweep->replay->err);

    *ret = (struct tg_swept){0};
    for (size_t i = 0; class == TG_OK && i < list.count; i++) {
        if (!nobody_can_settle(sweep, list.holds[i].node, list.holds[i].worker))
            continue;
        class = end_offline(sweep, &list.holds[i], arena);
        ret->ended += class == TG_OK;
    }
    tg_arena_free(arena);
    return class;
}
