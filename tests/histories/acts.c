#include "tests/histories/acts.h"

#include "tests/histories/seam.h"
#include "tests/histories/truth.h"

#include "common/base/clock.h"
#include "common/ledger/rebuild.h"
#include "common/ledger/resets.h"
#include "common/ledger/spool.h"
#include "common/ledger/sweep.h"
#include "common/store/log_batch.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { RESERVE_US = 1000000, SETTLE_US = 250000, ANSWER_US = 2000000, RUN_US = 60000000 };

/* ---- requests */

struct job {
    struct tg_id id;
    int64_t user_id, token_id, deposit, bill;
    int renewals, idle;
    struct tg_funding funding;
    char record[256];
};

static struct job throw_job(void)
{
    struct job job = {.id = tg_id_new(), .user_id = user_of(dice(USERS)), .deposit = dice(61)};

    job.token_id = token_of(job.user_id);
    job.bill = dice((int)job.deposit + 1);
    job.renewals = dice(4);
    job.idle = chance(25) ? 10 + dice(30) : 1; /* some streams are slow */
    truth_begin(&job.id, job.bill);
    return job;
}

static enum tg_ledger_answer reserve(struct tg_ledger *ledger, struct job *job)
{
    const struct tg_funding both[] = {{.plan_id = PLAN_ID}, {.plan_id = 0}};
    bool planned = job->user_id == user_of(0);
    const struct tg_reserve reserve = {.request_id = job->id,
                                       .user_id = job->user_id,
                                       .token_id = job->token_id,
                                       .funding = planned ? both : both + 1,
                                       .funding_count = planned ? 2 : 1,
                                       .amount_quota = job->deposit,
                                       .authver = INT64_C(1000000)};

    return tg_ledger_reserve(ledger, &reserve, tg_now_us() + RESERVE_US, &job->funding, NULL);
}

static void wait_for_tokens(const struct job *job)
{
    for (int i = 0; i < job->idle; i++)
        fiber_yield();
}

static void renew(struct tg_ledger *ledger, const struct job *job, int number)
{
    const struct tg_extend extend = {.request_id = job->id,
                                     .user_id = job->user_id,
                                     .token_id = job->token_id,
                                     .funding = job->funding,
                                     .amount_quota = job->deposit,
                                     .earned_quota =
                                         job->bill * (number + 1) / (job->renewals + 1)};

    (void)!tg_ledger_extend(ledger, &extend, tg_now_us() + SETTLE_US, NULL);
}

/* Spool line, then settle, as a worker does at the end of every request. */
static void end(struct process *worker, struct job *job, int64_t amount, enum tg_entry_kind kind)
{
    char id[TG_ID_TEXT], made[TG_TIME_TEXT];
    struct tg_entry entry = {.id = job->id,
                             .kind = kind,
                             .user_id = job->user_id,
                             .token_id = job->token_id,
                             .funding = job->funding,
                             .amount_quota = amount,
                             .token_unlimited = -1};
    int len;

    tg_id_format(&job->id, id);
    tg_time_format_sql(tg_unix_us(), made);
    len = snprintf(job->record, sizeof job->record,
                   "{\"log\":{\"request_id\":\"%s\",\"created_at\":\"%s\",\"user_id\":%" PRId64
                   ",\"token_id\":%" PRId64 ",\"quota\":%" PRId64 "}}",
                   id, made, job->user_id, job->token_id, amount);
    entry.record = (struct tg_span){job->record, (size_t)len};
    truth_bill(&job->id, amount);
    note("ends with %" PRId64, amount);
    if (world.rules.nosettle && chance(5))
        return;
    if (tg_spool_append(worker->spool, &entry, NULL) != TG_OK)
        tg_assert(!"the spool can be written");
    fiber_yield();
    (void)!tg_ledger_settle(worker->ledger, &entry, tg_now_us() + SETTLE_US, NULL);
    if (chance(10)) /* told twice: nothing changes */
        (void)!tg_ledger_settle(worker->ledger, &entry, tg_now_us() + SETTLE_US, NULL);
}

void act_request(struct actor *actor)
{
    struct process *worker = actor->process;
    struct job job = throw_job();
    enum tg_ledger_answer answer;

    note("user %" PRId64 " deposits %" PRId64 " for %" PRId64, job.user_id, job.deposit, job.bill);
    answer = reserve(worker->ledger, &job);
    if (answer == TG_LEDGER_USER_SHORT || answer == TG_LEDGER_TOKEN_SHORT) {
        if (chance(50))
            end(worker, &job, 0, TG_ENTRY_REFUND);
        return;
    }
    if (answer != TG_LEDGER_OK) { /* it may have run */
        job.funding.plan_id = 0;
        end(worker, &job, 0, TG_ENTRY_REFUND);
        return;
    }
    for (int i = 0; i < job.renewals; i++) {
        wait_for_tokens(&job);
        renew(worker->ledger, &job, i);
    }
    wait_for_tokens(&job);
    end(worker, &job, job.bill, job.bill > 0 ? TG_ENTRY_CHARGE : TG_ENTRY_REFUND);
}

/* ---- the console: a row, then told once */

static struct tg_db *take_db(struct process *process)
{
    struct tg_db *db;

    tg_assert(tg_db_acquire(process->db, tg_now_us() + ANSWER_US, &db, NULL) == TG_OK);
    return db;
}

static void push(struct process *process, const struct tg_entry *entry)
{
    truth_credit(entry);
    (void)!tg_ledger_settle(process->ledger, entry, tg_now_us() + SETTLE_US, NULL);
}

void act_credit(struct actor *actor)
{
    static const char sql[] = "INSERT INTO credits (entry_id, user_id, amount_quota, kind)"
                              " VALUES (?, ?, ?, 'topup')";
    struct tg_db *db = take_db(actor->process);
    const struct tg_entry entry = {.id = tg_id_new(),
                                   .kind = TG_ENTRY_CREDIT,
                                   .user_id = user_of(dice(USERS)),
                                   .amount_quota = -1 - dice(50),
                                   .token_unlimited = -1};
    const struct tg_db_value values[] = {TG_DB_B(entry.id.bytes, TG_ID_BYTES),
                                         TG_DB_I(entry.user_id), TG_DB_I(-entry.amount_quota)};
    enum tg_class class = tg_db_run(db, sql, values, 3, NULL);

    tg_db_release(db);
    if (class == TG_OK)
        push(actor->process, &entry);
}

void act_adjust(struct actor *actor)
{
    static const char sql[] = "INSERT INTO adjustments (entry_id, user_id, token_id, delta,"
                              " authver) VALUES (?, ?, ?, ?, ?)";
    struct tg_db *db = take_db(actor->process);
    int64_t user_id = user_of(dice(USERS));
    const struct tg_entry entry = {.id = tg_id_new(),
                                   .kind = TG_ENTRY_ADJUST,
                                   .user_id = user_id,
                                   .token_id = token_of(user_id),
                                   .token_delta_quota = dice(41) - 20,
                                   .token_unlimited = -1,
                                   .authver = dice(5)};
    const struct tg_db_value values[] = {TG_DB_B(entry.id.bytes, TG_ID_BYTES), TG_DB_I(user_id),
                                         TG_DB_I(entry.token_id),
                                         TG_DB_I(entry.token_delta_quota),
                                         TG_DB_I(entry.authver)};
    enum tg_class class = tg_db_run(db, sql, values, 5, NULL);

    tg_db_release(db);
    if (class == TG_OK)
        push(actor->process, &entry);
}

/* The plan's period is over: a row, which the replay tells. */
void act_period(struct actor *actor)
{
    static const char sql[] = "UPDATE subscriptions SET period_end_at = NOW(6)";
    struct tg_db *db = take_db(actor->process);

    if (tg_db_run(db, sql, NULL, 0, NULL) == TG_OK && tg_resets_round(db, NULL) == TG_OK)
        note("the plan's period is over");
    tg_db_release(db);
}

/* ---- daemons */

struct links {
    struct tg_db *db;
    struct tg_kv *kv;
    struct tg_error err;
};

static bool open_links(struct process *process, struct links *links)
{
    if (tg_kv_acquire(process->kv, tg_now_us() + ANSWER_US, &links->kv, NULL) != TG_OK)
        return false;
    links->db = take_db(process);
    return true;
}

static void close_links(struct links *links)
{
    tg_db_release(links->db);
    tg_kv_release(links->kv);
}

static struct tg_apply apply_of(struct links *links)
{
    return (struct tg_apply){.kv = links->kv,
                             .db = links->db,
                             .shard = SHARD,
                             .batch_count = world.quiet ? 1000 : (size_t)(1 + dice(5)),
                             .answer_us = ANSWER_US,
                             .err = &links->err};
}

static void apply(struct links *links)
{
    struct tg_cursor cursors[TG_SHARDS];
    struct tg_apply work = apply_of(links);
    size_t count;

    if (tg_store_cursors(links->db, cursors, NULL) != TG_OK ||
        tg_apply_page(&work, &cursors[SHARD], &count) != TG_OK)
        return;
    if (world.rules.nowait) {
        struct tg_shard_call call = tg_apply_call(&work, cursors[SHARD].epoch);

        (void)!tg_shard_trim(&call, cursors[SHARD].stream_id, 0);
    }
}

static void rebuild(struct links *links, const struct process *process, bool by_hand)
{
    const struct tg_rebuild work = {
        .apply = apply_of(links), .node = process->node, .by_hand = by_hand};

    note("rebuild: %d", tg_rebuild_shard(&work));
}

/* As the daemon: up to where the cursor was `journal_keep` ago. */
static void trim(struct links *links, struct process *process)
{
    struct tg_cursor cursors[TG_SHARDS], *cursor = &cursors[SHARD];
    struct tg_apply work = apply_of(links);
    struct tg_shard_call call;

    if (tg_store_cursors(links->db, cursors, NULL) != TG_OK)
        return;
    call = tg_apply_call(&work, cursor->epoch);
    if (process->trim_epoch == cursor->epoch) {
        if (tg_now_us() - process->trim_at_us < 120000000)
            return;
        (void)!tg_shard_trim(&call, process->trim_to, 120000);
    }
    memcpy(process->trim_to, cursor->stream_id, sizeof process->trim_to);
    process->trim_at_us = tg_now_us();
    process->trim_epoch = cursor->epoch;
}

void lose_lock(struct actor *actor)
{
    for (int i = 0; i < LINKS_MOST; i++)
        if (actor->dbs[i] != NULL)
            seam_forget_locks(actor->dbs[i]);
    actor->still = dice(40);
    note("a rebuild has lost its lock");
    actor_add("rebuild", act_rebuild,
              &world.daemons[actor->process == &world.daemons[0] ? 1 : 0], 1);
}

enum work { APPLY, REBUILD, TRIM };

static void shards_work(struct actor *actor, enum work work)
{
    struct process *process = actor->process;
    struct links links = {0};

    if (process->shards_busy || !open_links(process, &links))
        return;
    process->shards_busy = true;
    switch (work) {
    case APPLY:
        apply(&links);
        break;
    case REBUILD:
        rebuild(&links, process, actor->a == 1);
        break;
    case TRIM:
        trim(&links, process);
        break;
    }
    close_links(&links);
    process->shards_busy = false;
}

void act_apply(struct actor *actor)
{
    shards_work(actor, APPLY);
}

void act_rebuild(struct actor *actor)
{
    shards_work(actor, REBUILD);
}

void act_trim(struct actor *actor)
{
    shards_work(actor, TRIM);
}

static struct tg_replay replay_of(struct process *process, struct links *links)
{
    return (struct tg_replay){.ledger = process->ledger,
                              .kv = links->kv,
                              .db = links->db,
                              .deadline_at_us = tg_now_us() + RUN_US,
                              .err = &links->err};
}

void act_replay(struct actor *actor)
{
    struct process *process = actor->process;
    struct links links = {0};
    struct tg_replay replay;
    size_t told;
    bool clear;

    if (process->replay_busy || !open_links(process, &links))
        return;
    process->replay_busy = true;
    replay = replay_of(process, &links);
    (void)!tg_replay_tables(&replay, &told);
    tg_spool_watch_set_ripe(process->watch, world.quiet ? 0 : 2000000);
    (void)!tg_spool_watch_round(process->watch, &replay, &clear);
    close_links(&links);
    process->replay_busy = false;
}

void act_sweep(struct actor *actor)
{
    struct process *process = actor->process;
    struct tg_cursor cursors[TG_SHARDS];
    struct links links = {0};
    struct tg_replay replay;
    struct tg_sweep sweep;
    struct tg_swept swept;

    if (process->replay_busy || !open_links(process, &links))
        return;
    process->replay_busy = true;
    replay = replay_of(process, &links);
    sweep = (struct tg_sweep){.replay = &replay, .watch = process->watch, .node = process->node};
    if (tg_sweep_offline(&sweep, &swept) == TG_OK &&
        tg_store_cursors(links.db, cursors, NULL) == TG_OK)
        (void)!tg_sweep_shard(&sweep, SHARD, cursors[SHARD].epoch, &swept);
    close_links(&links);
    process->replay_busy = false;
}

void act_log(struct actor *actor)
{
    struct tg_db *db, *log_db;
    size_t moved;

    if (actor->process->log_busy)
        return;
    actor->process->log_busy = true;
    db = take_db(actor->process);
    tg_assert(tg_db_acquire(world.log_pool, tg_now_us() + ANSWER_US, &log_db, NULL) == TG_OK);
    (void)!tg_log_batch_move(db, log_db, world.quiet ? 200 : 4, &moved, NULL);
    tg_db_release(log_db);
    tg_db_release(db);
    actor->process->log_busy = false;
}

/* An idle account is thrown out of Redis: what the design no longer does. */
void act_drop(struct actor *actor)
{
    int64_t user_id = user_of(dice(USERS));
    struct links links = {0};
    char user[48];
    const struct tg_kv_reply *reply;
    struct tg_arena *arena;
    struct tg_hold *holds;
    struct tg_shard_call call;
    size_t count;

    if (!open_links(actor->process, &links))
        return;
    arena = tg_arena_new();
    snprintf(user, sizeof user, "tg:{s%02d}:user:%" PRId64, SHARD, user_id);
    const struct tg_span words[] = {{"DEL", 3}, {user, strlen(user)}};
    const struct tg_kv_call drop = {
        .tag = "{s01}", .args = words, .count = 2, .deadline_at_us = tg_now_us() + ANSWER_US};
    call = (struct tg_shard_call){.kv = links.kv, .shard = SHARD,
                                  .deadline_at_us = tg_now_us() + ANSWER_US, .err = &links.err};
    if (tg_shard_holds(&call, arena, &holds, &count) == TG_OK && count == 0)
        (void)!tg_kv_command(links.kv, &drop, &reply, NULL);
    tg_arena_free(arena);
    close_links(&links);
}
