#include "fcgi-app/route/snapshot_build.h"

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/memory.h"
#include "fcgi-app/route/key_keeper.h"
#include "fcgi-app/route/opener.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* How long the refresher sleeps at a time before it looks whether it shall end, and how soon it
 * tries again what failed. */
enum { VERSION_WAIT_US = 3000000, VERSION_LOOK_US = 20000 };
enum { SLICE_US = 200000, RETRY_US = 1000000, STORE_WAIT_US = 5000000 };

struct tg_snapshot_holder {
    struct tg_snapshot_conf conf;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    struct tg_snapshot *current; /* NULL before the first build */
    int64_t seen_at_us;          /* when it was last known to be up to date */
    bool stopping, hurry;
    char fingerprint[TG_FINGERPRINT_TEXT];
    /* the refresher's own */
    struct tg_kv_listener *listener;
    struct tg_opener *opener;
    bool failing;
};

/* --- readers ------------------------------------------------------------------------------- */

const struct tg_snapshot *tg_snapshot_acquire(struct tg_snapshot_holder *holder)
{
    struct tg_snapshot *current;

    pthread_mutex_lock(&holder->lock);
    current = holder->current;
    if (current != NULL)
        current->references++;
    pthread_mutex_unlock(&holder->lock);
    return current;
}

static void drop(struct tg_snapshot_holder *holder, struct tg_snapshot *snapshot)
{
    bool last;

    pthread_mutex_lock(&holder->lock);
    last = --snapshot->references == 0;
    pthread_mutex_unlock(&holder->lock);
    if (last)
        tg_snapshot_free(snapshot);
}

const struct tg_snapshot *tg_snapshot_acquire_from(struct tg_snapshot_holder *holder,
                                                   int64_t version)
{
    const int64_t until_us = tg_now_us() + VERSION_WAIT_US;
    const struct tg_snapshot *snapshot = tg_snapshot_acquire(holder);

    while ((snapshot == NULL || tg_snapshot_version(snapshot) < version) &&
           tg_now_us() < until_us) {
        tg_snapshot_release(holder, snapshot);
        tg_clock_sleep_us(VERSION_LOOK_US);
        snapshot = tg_snapshot_acquire(holder);
    }
    return snapshot;
}

void tg_snapshot_release(struct tg_snapshot_holder *holder, const struct tg_snapshot *snapshot)
{
    if (snapshot != NULL)
        drop(holder, (struct tg_snapshot *)(uintptr_t)snapshot);
}

int64_t tg_snapshot_age_us(struct tg_snapshot_holder *holder)
{
    int64_t age_us = -1;

    pthread_mutex_lock(&holder->lock);
    if (holder->current != NULL)
        age_us = tg_now_us() - holder->seen_at_us;
    pthread_mutex_unlock(&holder->lock);
    return age_us;
}

/* --- refreshing ---------------------------------------------------------------------------- */

static void swap(struct tg_snapshot_holder *holder, struct tg_snapshot *fresh)
{
    struct tg_snapshot *old;

    fresh->references = 1; /* the holder's own */
    pthread_mutex_lock(&holder->lock);
    old = holder->current;
    holder->current = fresh;
    pthread_mutex_unlock(&holder->lock);
    if (old != NULL)
        drop(holder, old);
}

static enum tg_class build(struct tg_snapshot_holder *holder, struct tg_db *db,
                           struct tg_error *err)
{
    struct tg_arena *arena = tg_arena_new();
    struct tg_routing_rows rows = {0};
    enum tg_class class = tg_store_routing_read(db, arena, &rows, err);

    if (class != TG_OK) {
        tg_arena_free(arena);
        return class;
    }
    swap(holder, tg_snapshot_build(&rows, arena, tg_opener_secrets(holder->opener)));
    tg_log(TG_LOG_INFO, "route", "snapshot %lld: %zu channels, %zu abilities, %zu prices",
           (long long)rows.version, rows.channel_count, rows.ability_count, rows.price_count);
    return TG_OK;
}

static void note_fingerprint(struct tg_snapshot_holder *holder)
{
    pthread_mutex_lock(&holder->lock);
    memcpy(holder->fingerprint, tg_opener_secrets(holder->opener)->fingerprint,
           sizeof holder->fingerprint);
    pthread_mutex_unlock(&holder->lock);
}

static bool look_at_keys(struct tg_snapshot_holder *holder, struct tg_db *db)
{
    bool others = tg_opener_look(holder->opener, db);

    note_fingerprint(holder);
    return others;
}

void tg_snapshot_fingerprint(struct tg_snapshot_holder *holder, char ret[TG_FINGERPRINT_TEXT])
{
    pthread_mutex_lock(&holder->lock);
    memcpy(ret, holder->fingerprint, sizeof holder->fingerprint);
    pthread_mutex_unlock(&holder->lock);
}

static enum tg_class build_if_changed(struct tg_snapshot_holder *holder, struct tg_db *db,
                                      struct tg_error *err)
{
    const bool other_keys = look_at_keys(holder, db);
    int64_t version;
    enum tg_class class = tg_store_routing_version(db, &version, err);

    if (class != TG_OK)
        return class;
    if (holder->current != NULL && holder->current->version == version && !other_keys)
        return TG_OK;
    return build(holder, db, err);
}

/* Only this thread swaps, so it may read <current> without the lock. */
static bool refresh(struct tg_snapshot_holder *holder)
{
    struct tg_error err = {0};
    struct tg_db *db = NULL;
    enum tg_class class =
        tg_db_acquire(holder->conf.main_db, tg_now_us() + STORE_WAIT_US, &db, &err);

    if (class == TG_OK)
        class = build_if_changed(holder, db, &err);
    tg_db_release(db);
    if (class != TG_OK && !holder->failing)
        tg_log_error(TG_LOG_WARNING, "route", &err);
    holder->failing = class != TG_OK;
    if (class != TG_OK)
        return false;
    pthread_mutex_lock(&holder->lock);
    holder->seen_at_us = tg_now_us();
    pthread_mutex_unlock(&holder->lock);
    return true;
}

static bool is_stopping(struct tg_snapshot_holder *holder)
{
    bool stopping;

    pthread_mutex_lock(&holder->lock);
    stopping = holder->stopping;
    pthread_mutex_unlock(&holder->lock);
    return stopping;
}

void tg_snapshot_hurry(struct tg_snapshot_holder *holder)
{
    pthread_mutex_lock(&holder->lock);
    holder->hurry = true;
    pthread_mutex_unlock(&holder->lock);
}

static bool take_hurry(struct tg_snapshot_holder *holder)
{
    bool hurry;

    pthread_mutex_lock(&holder->lock);
    hurry = holder->hurry;
    holder->hurry = false;
    pthread_mutex_unlock(&holder->lock);
    return hurry;
}

/* Sleeps until somebody stops us or the slice is over. */
static void doze(struct tg_snapshot_holder *holder)
{
    struct timespec until;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += SLICE_US * 1000L;
    until.tv_sec += until.tv_nsec / 1000000000L;
    until.tv_nsec %= 1000000000L;
    pthread_mutex_lock(&holder->lock);
    if (!holder->stopping)
        pthread_cond_timedwait(&holder->wake, &holder->lock, &until);
    pthread_mutex_unlock(&holder->lock);
}

/* One slice of waiting for a message; true: something has changed. */
static bool listen_slice(struct tg_snapshot_holder *holder)
{
    char message[256];
    bool got = false;

    if (holder->listener == NULL)
        return false;
    if (tg_kv_listener_wait(holder->listener, SLICE_US, &got, message, sizeof message) == TG_OK)
        return got && (holder->conf.keys == NULL || !tg_key_told(holder->conf.keys, message));
    tg_kv_listener_free(holder->listener);
    holder->listener = NULL;
    return false;
}

/* True: the listener is new, so messages may have been missed. */
static bool connect_listener(struct tg_snapshot_holder *holder)
{
    struct tg_error err;

    if (holder->listener != NULL)
        return false;
    return tg_kv_listen(holder->conf.kv, "tg:changed", &holder->listener, &err) == TG_OK;
}

static void *refresher(void *context)
{
    struct tg_snapshot_holder *holder = context;
    int64_t look_at_us = tg_now_us() +
                         (holder->current != NULL ? holder->conf.interval_us : RETRY_US);
    int64_t listen_at_us = 0;

    while (!is_stopping(holder)) {
        bool changed = false;

        if (holder->listener == NULL && tg_now_us() >= listen_at_us) {
            changed = connect_listener(holder);
            listen_at_us = tg_now_us() + RETRY_US;
        }
        if (holder->listener == NULL)
            doze(holder);
        else
            changed |= listen_slice(holder);
        if (changed || take_hurry(holder) || tg_now_us() >= look_at_us) {
            if (holder->conf.changed != NULL)
                holder->conf.changed(holder->conf.context);
            look_at_us = (refresh(holder) ? holder->conf.interval_us : RETRY_US) + tg_now_us();
        }
    }
    tg_kv_listener_free(holder->listener);
    return NULL;
}

/* --- life ---------------------------------------------------------------------------------- */

enum tg_class tg_snapshot_holder_new(const struct tg_snapshot_conf *conf,
                                     struct tg_snapshot_holder **ret, struct tg_error *err)
{
    struct tg_snapshot_holder *made = tg_calloc(1, sizeof *made);
    pthread_condattr_t monotonic;

    made->conf = *conf;
    made->opener = tg_opener_new(conf->secrets, conf->console_file, conf->private_file,
                                 conf->node);
    pthread_mutex_init(&made->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&made->wake, &monotonic);
    pthread_condattr_destroy(&monotonic);
    note_fingerprint(made);
    (void)refresh(made); /* without MySQL the refresher goes on trying */
    if (pthread_create(&made->thread, NULL, refresher, made) != 0) {
        tg_snapshot_free(made->current);
        tg_opener_free(made->opener);
        pthread_cond_destroy(&made->wake);
        pthread_mutex_destroy(&made->lock);
        free(made);
        return tg_fail(err, TG_CLASS_INTERNAL, "thread", "no thread for the routing snapshot");
    }
    *ret = made;
    return TG_OK;
}

void tg_snapshot_holder_free(struct tg_snapshot_holder *holder)
{
    if (holder == NULL)
        return;
    pthread_mutex_lock(&holder->lock);
    holder->stopping = true;
    pthread_cond_signal(&holder->wake);
    pthread_mutex_unlock(&holder->lock);
    pthread_join(holder->thread, NULL);
    if (holder->current != NULL)
        drop(holder, holder->current);
    tg_opener_free(holder->opener);
    pthread_cond_destroy(&holder->wake);
    pthread_mutex_destroy(&holder->lock);
    free(holder);
}
