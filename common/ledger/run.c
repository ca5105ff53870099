#include "common/ledger/run.h"

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/money.h"

#include <inttypes.h>

enum {
    LOADS_MOST = 3,           /* in one call: a loaded account can only go missing by a rebuild */
    PAUSE_US = 10000,         /* between two tries of a call that has not run yet */
    REFRESH_EVERY_US = 20000, /* the epochs are read from MySQL at most this often */
};

/* ---- epochs */

static void learn_epoch(struct tg_ledger *ledger, int shard, int64_t epoch)
{
    int64_t known = atomic_load(&ledger->epochs[shard]);

    while (epoch > known &&
           !atomic_compare_exchange_weak(&ledger->epochs[shard], &known, epoch))
        continue;
}

/* Reads all epochs from MySQL, unless another thread is doing it (ret_busy) or just has. */
static enum tg_class refresh_epochs(struct tg_run *run, bool *ret_busy)
{
    struct tg_ledger *ledger = run->ledger;
    struct tg_cursor cursors[TG_SHARDS];
    struct tg_db *db = NULL;
    enum tg_class class = TG_OK;

    *ret_busy = pthread_mutex_trylock(&ledger->refreshing) != 0;
    if (*ret_busy)
        return TG_OK;
    if (tg_now_us() - ledger->refreshed_at_us >= REFRESH_EVERY_US) {
        class = tg_db_acquire(ledger->conf.main_db, run->deadline_at_us, &db, run->err);
        if (class == TG_OK)
            class = tg_store_cursors(db, cursors, run->err);
        tg_db_release(db);
        ledger->refreshed_at_us = tg_now_us();
        for (int i = 0; class == TG_OK && i < TG_SHARDS; i++)
            learn_epoch(ledger, i, cursors[i].epoch);
    }
    pthread_mutex_unlock(&ledger->refreshing);
    return class;
}

/* ---- one try */

static bool time_left(const struct tg_run *run)
{
    return tg_now_us() + PAUSE_US < run->deadline_at_us;
}

/* A connection that cannot be had means that nothing has run: that much may be tried again, as
 * long as Redis counts as there. */
static enum tg_class acquire_kv(struct tg_run *run, struct tg_kv **ret)
{
    for (;;) {
        enum tg_class class =
            tg_kv_acquire(run->ledger->conf.kv, run->deadline_at_us, ret, run->err);

        if (class != TG_CLASS_DOWN || !time_left(run) || !tg_ledger_is_up(run->ledger))
            return class;
        tg_mode_note(run->ledger->mode, false);
        tg_clock_sleep_us(PAUSE_US);
    }
}

static enum tg_class run_step(struct tg_run *run, struct tg_step *step, int64_t epoch,
                              struct tg_outcome *ret)
{
    struct tg_kv *kv;
    enum tg_class class = acquire_kv(run, &kv);

    if (class == TG_OK) {
        class = tg_step_run(step, kv, epoch, run->deadline_at_us, ret);
        if (class != TG_OK)
            *run->err = *tg_kv_error(kv);
        tg_kv_release(kv);
    }
    tg_mode_note(run->ledger->mode, class == TG_OK && ret->word != TG_WORD_REBUILDING);
    return class;
}

/* ---- loading */

static bool is_sane(const struct tg_balance *balance)
{
    const int64_t amounts[] = {balance->user_quota, balance->token_remain, balance->plan_remain};

    for (size_t i = 0; i < TG_COUNT_OF(amounts); i++)
        if (amounts[i] > TG_QUOTA_MAX || amounts[i] < -TG_QUOTA_MAX)
            return false;
    return true;
}

static void build_load(struct tg_step *step, const struct tg_run *run, int64_t plan_id,
                       const struct tg_balance *balance)
{
    tg_step_begin(step, &tg_script_load, tg_shard_of(run->user_id));
    tg_step_key(step, "state");
    tg_step_key(step, "holds");
    tg_step_key_of(step, "user", run->user_id);
    if (run->token_id != 0)
        tg_step_key_of(step, "token", run->token_id);
    if (plan_id != 0)
        tg_step_key_of(step, "sub", plan_id);
    tg_step_fence(step);
    tg_step_int(step, run->user_id);
    tg_step_int(step, balance->user_quota);
    tg_step_int(step, balance->user_authver);
    tg_step_int(step, run->token_id);
    tg_step_int(step, balance->token_remain);
    tg_step_int(step, balance->token_unlimited ? 1 : 0);
    tg_step_int(step, plan_id);
    tg_step_int(step, balance->plan_remain);
    tg_step_int(step, balance->plan_period);
}

static enum tg_class read_balance(struct tg_run *run, int64_t plan_id, struct tg_balance *ret)
{
    struct tg_db *db;
    enum tg_class class =
        tg_db_acquire(run->ledger->conf.main_db, run->deadline_at_us, &db, run->err);

    if (class != TG_OK)
        return class;
    class = tg_store_balance(db, run->user_id, run->token_id, plan_id, ret);
    if (class != TG_OK)
        *run->err = *tg_db_error(db);
    tg_db_release(db);
    if (class != TG_OK)
        return class;
    if (!ret->user_known || (run->token_id != 0 && !ret->token_known) ||
        (plan_id != 0 && !ret->plan_known))
        return tg_fail(run->err, TG_CLASS_NOT_FOUND, "ledger_account",
                       "user %" PRId64 ", token %" PRId64 " or plan %" PRId64 " is not known",
                       run->user_id, run->token_id, plan_id);
    if (!is_sane(ret))
        return tg_fail(run->err, TG_CLASS_INVALID, "ledger_bounds",
                       "a balance of user %" PRId64 " is out of bounds", run->user_id);
    return TG_OK;
}

/* Brings user, token and one plan from MySQL. The script runs under the epoch that was read with
 * the balances: when a rebuild came between, it answers "rebuilding" and nothing is loaded. */
static enum tg_class load_one(struct tg_run *run, int64_t plan_id, enum tg_step_word *ret)
{
    struct tg_balance balance = {0};
    struct tg_step step;
    struct tg_outcome outcome;
    enum tg_class class = read_balance(run, plan_id, &balance);

    if (class != TG_OK)
        return class;
    learn_epoch(run->ledger, tg_shard_of(run->user_id), balance.epoch);
    build_load(&step, run, plan_id, &balance);
    class = run_step(run, &step, balance.epoch, &outcome);
    if (class == TG_OK)
        *ret = outcome.word;
    return class;
}

static enum tg_class load_all(struct tg_run *run, enum tg_step_word *ret)
{
    bool loaded = false;
    enum tg_class class = TG_OK;

    for (size_t i = 0; i < run->funding_count && class == TG_OK; i++) {
        if (run->funding[i].plan_id == 0)
            continue;
        class = load_one(run, run->funding[i].plan_id, ret);
        loaded = true;
    }
    return loaded ? class : load_one(run, 0, ret);
}

/* ---- a step until its answer */

/* Waits out a rebuild; false when the deadline (or the caller's epoch) does not allow it. A process
 * that had nothing to do since an outage still has the epoch <tried> from before it: the newer one
 * is tried at once, however long nothing has succeeded. */
static bool wait_for_epoch(struct tg_run *run, int64_t tried)
{
    bool busy;

    if (run->only_epoch != 0) {
        (void)tg_fail(run->err, TG_CLASS_CONFLICT, "ledger_rebuilding",
                      "the shard has left epoch %" PRId64, run->only_epoch);
        return false;
    }
    if (refresh_epochs(run, &busy) == TG_OK)
        (void)tg_fail(run->err, TG_CLASS_DOWN, "ledger_rebuilding", "the shard is being rebuilt");
    if (!time_left(run))
        return false;
    if (atomic_load(&run->ledger->epochs[tg_shard_of(run->user_id)]) != tried)
        return true;
    if (!busy && !tg_ledger_is_up(run->ledger))
        return false;
    tg_clock_sleep_us(PAUSE_US);
    return true;
}

/* Nothing was changed, and repeating it will not help (but for "late"). */
static enum tg_ledger_answer unanswered(struct tg_run *run, enum tg_step_word word)
{
    enum tg_class class = TG_CLASS_INTERNAL;
    const char *code = "ledger_mismatch";

    if (word == TG_WORD_BOUNDS) {
        class = TG_CLASS_INVALID;
        code = "ledger_bounds";
    } else if (word == TG_WORD_LATE) {
        class = TG_CLASS_DOWN;
        code = "ledger_late";
    }
    (void)tg_fail(run->err, class, code, "%s answered '%s' for user %" PRId64,
                  run->step->script->name, tg_step_word_name(word), run->user_id);
    return TG_LEDGER_UNAVAILABLE;
}

static enum tg_ledger_answer answer_to(struct tg_run *run, enum tg_step_word word)
{
    switch (word) {
    case TG_WORD_CLAMPED:
        tg_log(TG_LOG_ERROR, "ledger", "a charge of user %" PRId64 " was cut to the bound",
               run->user_id);
        return TG_LEDGER_OK;
    case TG_WORD_OK:
        return TG_LEDGER_OK;
    case TG_WORD_ENDED:
        return TG_LEDGER_ENDED;
    case TG_WORD_DUPLICATE:
        return TG_LEDGER_DUPLICATE;
    case TG_WORD_STALE:
        return TG_LEDGER_STALE;
    case TG_WORD_USER_SHORT:
        return TG_LEDGER_USER_SHORT;
    case TG_WORD_TOKEN_SHORT:
        return TG_LEDGER_TOKEN_SHORT;
    default:
        return unanswered(run, word);
    }
}

enum tg_ledger_answer tg_run_to_answer(struct tg_run *run, struct tg_outcome *ret)
{
    const int shard = tg_shard_of(run->user_id);
    int loads = 0;

    for (;;) {
        int64_t epoch = run->only_epoch;
        enum tg_class class = TG_OK;

        if (epoch == 0)
            epoch = atomic_load(&run->ledger->epochs[shard]);
        ret->word = TG_WORD_REBUILDING;
        if (epoch > 0)
            class = run_step(run, run->step, epoch, ret);
        if (class == TG_OK && ret->word == TG_WORD_MISSING && loads++ < LOADS_MOST) {
            class = load_all(run, &ret->word);
            if (class == TG_OK && ret->word == TG_WORD_OK)
                continue;
        }
        if (class == TG_CLASS_NOT_FOUND)
            return TG_LEDGER_UNKNOWN_ACCOUNT;
        if (class != TG_OK)
            return TG_LEDGER_UNAVAILABLE;
        if (ret->word != TG_WORD_REBUILDING)
            return answer_to(run, ret->word);
        if (!wait_for_epoch(run, epoch))
            return TG_LEDGER_UNAVAILABLE;
    }
}
