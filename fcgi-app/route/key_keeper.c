#include "fcgi-app/route/key_keeper.h"

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/store/key_state.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    QUEUE = 1024,
    MARKS = 1024,
    SUMS = 256,
    FLUSH_US = 3000000,
    READ_US = 60000000,
    STORE_US = 2000000,
    REDIS_US = 250000
};

struct tg_key_keeper {
    struct tg_key_keeper_conf conf;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    struct tg_key_job jobs[QUEUE]; /* a ring */
    size_t first, count;
    bool stopping, overflowed;
    /* the thread's own */
    struct tg_key_use sums[SUMS];
    size_t sum_count;
    struct tg_key_job marks[MARKS]; /* verdicts that no row has yet, one of a key */
    size_t mark_count;
    bool marks_overflowed;
    int64_t flush_at_us, read_at_us, marks_at_us;
    bool failing;
};

/* --- the queue ----------------------------------------------------------------------------- */

void tg_key_keeper_put(struct tg_key_keeper *keeper, const struct tg_key_job *job)
{
    bool full;

    if (keeper == NULL)
        return;
    pthread_mutex_lock(&keeper->lock);
    full = keeper->count == QUEUE;
    if (!full) {
        keeper->jobs[(keeper->first + keeper->count) % QUEUE] = *job;
        keeper->count++;
        /* A use only goes into a sum: that waits for the next flush, and wakes nobody. */
        if (job->kind != TG_KEY_JOB_USE || keeper->count == QUEUE / 2)
            pthread_cond_signal(&keeper->wake);
    }
    full = full && !keeper->overflowed;
    keeper->overflowed |= full;
    pthread_mutex_unlock(&keeper->lock);
    if (full)
        tg_log(TG_LOG_WARNING, "keys", "more is found out about keys than can be stored");
}

/* Waits for a job until the next flush is due. */
static bool take(struct tg_key_keeper *keeper, struct tg_key_job *ret, bool *ret_stopping)
{
    struct timespec until = {.tv_sec = keeper->flush_at_us / 1000000,
                             .tv_nsec = keeper->flush_at_us % 1000000 * 1000};
    bool got;

    pthread_mutex_lock(&keeper->lock);
    while (keeper->count == 0 && !keeper->stopping &&
           pthread_cond_timedwait(&keeper->wake, &keeper->lock, &until) == 0)
        continue;
    got = keeper->count > 0;
    if (got) {
        *ret = keeper->jobs[keeper->first];
        keeper->first = (keeper->first + 1) % QUEUE;
        keeper->count--;
    }
    *ret_stopping = keeper->stopping;
    pthread_mutex_unlock(&keeper->lock);
    return got;
}

/* --- stores -------------------------------------------------------------------------------- */

static struct tg_db *open_db(struct tg_key_keeper *keeper)
{
    struct tg_error err;
    struct tg_db *db = NULL;

    return tg_db_acquire(keeper->conf.main_db, tg_now_us() + STORE_US, &db, &err) == TG_OK ? db
                                                                                           : NULL;
}

/* One line for an outage. */
static void note(struct tg_key_keeper *keeper, enum tg_class class, const struct tg_error *err)
{
    if (class != TG_OK && !keeper->failing)
        tg_log_error(TG_LOG_WARNING, "keys", err);
    keeper->failing = class != TG_OK;
}

static void publish(struct tg_key_keeper *keeper, const char *message)
{
    const struct tg_span words[] = {
        {"PUBLISH", 7}, {"tg:changed", 10}, {message, strlen(message)}};
    const struct tg_kv_call call = {
        .args = words, .count = TG_COUNT_OF(words), .deadline_at_us = tg_now_us() + REDIS_US};
    const struct tg_kv_reply *reply;
    struct tg_kv *kv = NULL;

    if (tg_kv_acquire(keeper->conf.kv, call.deadline_at_us, &kv, NULL) != TG_OK)
        return; /* the others read the row within a minute */
    (void)!tg_kv_command(kv, &call, &reply, NULL);
    tg_kv_release(kv);
}

static void tell(struct tg_key_board *board, const struct tg_key_row_state *row)
{
    struct tg_key_seen seen = {.event = row->event, .until_s = row->until_s};

    if (row->key_id != 0 && tg_key_state_read(row->state, &seen.state))
        tg_key_board_tell(board, row->key_id, &seen);
}

/* False: it may be stored later. What is refused for another reason is refused for good. */
static bool mark(struct tg_key_keeper *keeper, struct tg_db *db, const struct tg_key_job *job)
{
    const struct tg_key_mark wish = {.key_id = job->key_id,
                                     .judged_event = job->judged_event,
                                     .state = tg_key_state_name(job->state),
                                     .until_s = job->until_s,
                                     .reason = job->reason};
    struct tg_key_row_state row = {.key_id = 0};
    struct tg_error err = {0};
    char message[96];
    enum tg_class class = tg_store_key_mark(db, &wish, &row, &err);

    if (class == TG_CLASS_CONFLICT) /* a deadlock: the transaction is gone and may be repeated */
        class = tg_store_key_mark(db, &wish, &row, &err);
    note(keeper, class, &err);
    if (class != TG_OK || row.key_id == 0)
        return class != TG_CLASS_DOWN && class != TG_CLASS_CONFLICT;
    tell(keeper->conf.board, &row);
    snprintf(message, sizeof message, "key %" PRId64 " %" PRId64 " %s %" PRId64, row.key_id,
             row.event, row.state, row.until_s);
    publish(keeper, message);
    return true;
}

/* The oldest first; those behind one that fails wait with it. */
static void store_marks(struct tg_key_keeper *keeper)
{
    struct tg_db *db = keeper->mark_count == 0 ? NULL : open_db(keeper);
    size_t done = 0;

    while (db != NULL && done < keeper->mark_count && mark(keeper, db, &keeper->marks[done]))
        done++;
    tg_db_release(db);
    if (done == 0 && keeper->mark_count > 0)
        keeper->marks_at_us = tg_now_us() + FLUSH_US;
    keeper->mark_count -= done;
    memmove(keeper->marks, keeper->marks + done, keeper->mark_count * sizeof *keeper->marks);
    keeper->marks_overflowed &= keeper->mark_count > 0;
}

/* Stores it, or keeps it until the database is there again: what was found out about the key
 * before is void then, as it is for the board. */
static void add_mark(struct tg_key_keeper *keeper, const struct tg_key_job *job)
{
    size_t i = 0;

    while (i < keeper->mark_count && keeper->marks[i].key_id != job->key_id)
        i++;
    if (i < MARKS) {
        keeper->marks[i] = *job;
        keeper->mark_count += i == keeper->mark_count;
    } else if (!keeper->marks_overflowed) {
        keeper->marks_overflowed = true;
        tg_log(TG_LOG_WARNING, "keys", "the states of more than %d keys wait to be stored: "
               "what is found out about others holds on this node only", MARKS);
    }
    if (tg_now_us() >= keeper->marks_at_us)
        store_marks(keeper);
}

/* --- use ----------------------------------------------------------------------------------- */

static void flush(struct tg_key_keeper *keeper)
{
    struct tg_db *db = keeper->sum_count == 0 ? NULL : open_db(keeper);
    struct tg_error err = {0};
    enum tg_class class = TG_OK;

    keeper->flush_at_us = tg_now_us() + FLUSH_US;
    if (db == NULL)
        return;
    while (keeper->sum_count > 0 && class == TG_OK) {
        class = tg_store_key_use(db, &keeper->sums[keeper->sum_count - 1], &err);
        keeper->sum_count -= class == TG_OK;
    }
    note(keeper, class, &err);
    tg_db_release(db);
}

static void add_use(struct tg_key_keeper *keeper, const struct tg_key_job *job)
{
    size_t i = 0;

    while (i < keeper->sum_count && (keeper->sums[i].key_id != job->key_id ||
                                     keeper->sums[i].period_s != job->period_s))
        i++;
    if (i == SUMS) {
        flush(keeper);
        i = keeper->sum_count;
        if (i == SUMS)
            return; /* the database is away: the row will be short of it, Redis is not */
    }
    if (i == keeper->sum_count) {
        keeper->sum_count++;
        keeper->sums[i] = (struct tg_key_use){job->key_id, job->period_s, 0};
    }
    keeper->sums[i].amount += job->used;
}

static void give(struct tg_key_keeper *keeper, const struct tg_key_job *job)
{
    const struct tg_key_room_call call = {.channel_id = job->channel_id,
                                          .ticket = job->ticket,
                                          .deadline_at_us = tg_now_us() + REDIS_US};
    const struct tg_key_used used = {job->key_id, job->period_s, job->reserved, job->used};
    struct tg_kv *kv = NULL;
    int64_t now_used;

    if (job->place == TG_KEY_IN_ROW) { /* there it is counted already: the difference */
        struct tg_key_job rest = *job;

        rest.used = job->used - job->reserved;
        add_use(keeper, &rest);
        return;
    }
    add_use(keeper, job);
    if (tg_kv_acquire(keeper->conf.kv, call.deadline_at_us, &kv, NULL) != TG_OK)
        return;
    if (tg_key_room_give(kv, &call, &used, &now_used) == TG_OK)
        tg_key_board_set_used(keeper->conf.board, job->key_id, job->period_s, now_used);
    tg_kv_release(kv);
}

/* --- the thread ---------------------------------------------------------------------------- */

static void visit(void *context, const struct tg_key_row_state *row)
{
    tell(context, row);
}

static void read_rows(struct tg_key_keeper *keeper)
{
    struct tg_db *db = open_db(keeper);
    struct tg_error err = {0};

    keeper->read_at_us = tg_now_us() + READ_US;
    if (db == NULL)
        return;
    note(keeper, tg_store_key_states(db, visit, keeper->conf.board, &err), &err);
    tg_db_release(db);
}

static void work(struct tg_key_keeper *keeper, const struct tg_key_job *job)
{
    switch (job->kind) {
    case TG_KEY_JOB_MARK:
        add_mark(keeper, job);
        break;
    case TG_KEY_JOB_GIVE:
        give(keeper, job);
        break;
    case TG_KEY_JOB_USE:
        add_use(keeper, job);
        break;
    }
}

static void *keep(void *context)
{
    struct tg_key_keeper *keeper = context;
    struct tg_key_job job;
    bool stopping = false, got = true;

    while (got || !stopping) {
        got = take(keeper, &job, &stopping);
        if (got)
            work(keeper, &job);
        if (!got && tg_now_us() >= keeper->flush_at_us) /* whatever waited is in the sums */
            flush(keeper);
        if (tg_now_us() >= keeper->marks_at_us)
            store_marks(keeper);
        if (!stopping && tg_now_us() >= keeper->read_at_us)
            read_rows(keeper);
    }
    flush(keeper);
    store_marks(keeper);
    if (keeper->mark_count > 0)
        tg_log(TG_LOG_WARNING, "keys", "the states of %zu keys could not be stored",
               keeper->mark_count);
    return NULL;
}

enum tg_class tg_key_keeper_new(const struct tg_key_keeper_conf *conf, struct tg_key_keeper **ret,
                                struct tg_error *err)
{
    struct tg_key_keeper *made = tg_calloc(1, sizeof *made);
    pthread_condattr_t monotonic;

    made->conf = *conf;
    made->flush_at_us = tg_now_us() + FLUSH_US;
    made->read_at_us = tg_now_us() + READ_US;
    pthread_mutex_init(&made->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&made->wake, &monotonic);
    pthread_condattr_destroy(&monotonic);
    if (pthread_create(&made->thread, NULL, keep, made) != 0) {
        pthread_cond_destroy(&made->wake);
        pthread_mutex_destroy(&made->lock);
        free(made);
        return tg_fail(err, TG_CLASS_INTERNAL, "thread", "no thread for the states of keys");
    }
    *ret = made;
    return TG_OK;
}

void tg_key_keeper_free(struct tg_key_keeper *keeper)
{
    if (keeper == NULL)
        return;
    pthread_mutex_lock(&keeper->lock);
    keeper->stopping = true;
    pthread_cond_signal(&keeper->wake);
    pthread_mutex_unlock(&keeper->lock);
    pthread_join(keeper->thread, NULL);
    pthread_cond_destroy(&keeper->wake);
    pthread_mutex_destroy(&keeper->lock);
    free(keeper);
}

bool tg_key_told(struct tg_key_board *board, const char *message)
{
    struct tg_key_row_state row;

    if (strncmp(message, "key ", 4) != 0)
        return false;
    if (sscanf(message, "key %" SCNd64 " %" SCNd64 " %16[a-z] %" SCNd64, &row.key_id, &row.event,
               row.state, &row.until_s) == 4)
        tell(board, &row);
    return true;
}
