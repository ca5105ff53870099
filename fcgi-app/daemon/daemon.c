#include "fcgi-app/daemon/daemon.h"

#include "common/base/clock.h"
#include "common/base/log.h"

#include <string.h>
#include <time.h>

static const int64_t connect_us = 2000000;
static const int64_t least_pause_us = 100000, most_pause_us = 1000000;
static const char *const area_names[AREA_COUNT] = {"shards", "records", "replay", "jobs"};

/* A connection from the pool that has answered: acquiring alone asks the server nothing. */
static enum tg_class connect_db(struct tg_db_pool *pool, int64_t until_us, struct tg_db **ret,
                                struct tg_error *err)
{
    enum tg_class class = tg_db_acquire(pool, until_us, ret, err);

    if (class == TG_OK)
        class = tg_db_begin(*ret, err);
    if (class == TG_OK)
        tg_db_rollback(*ret);
    return class;
}

enum tg_class daemon_connect(struct daemon *daemon, unsigned need, struct daemon_links *ret,
                             struct tg_error *err)
{
    int64_t until_us = tg_now_us() + connect_us;
    struct daemon_links links = {0};
    enum tg_class class = TG_OK;

    if (need & NEED_MAIN)
        class = connect_db(daemon->main_pool, until_us, &links.main_db, err);
    if (class == TG_OK && need & NEED_LOG)
        class = connect_db(daemon->log_pool, until_us, &links.log_db, err);
    if (class == TG_OK && need & NEED_KV && !daemon->single)
        class = tg_kv_acquire(daemon->kv_pool, until_us, &links.kv, err);
    if (class != TG_OK)
        daemon_disconnect(&links);
    else
        *ret = links;
    return class;
}

void daemon_disconnect(struct daemon_links *links)
{
    tg_db_release(links->main_db);
    tg_db_release(links->log_db);
    tg_kv_release(links->kv);
    *links = (struct daemon_links){0};
}

bool daemon_is_stopping(struct daemon *daemon)
{
    bool stop;

    pthread_mutex_lock(&daemon->lock);
    stop = daemon->stop;
    pthread_mutex_unlock(&daemon->lock);
    return stop;
}

void daemon_stop(struct daemon *daemon)
{
    pthread_mutex_lock(&daemon->lock);
    daemon->stop = true;
    pthread_cond_broadcast(&daemon->stopped);
    pthread_mutex_unlock(&daemon->lock);
}

void daemon_pause(struct daemon *daemon, int64_t pause_us)
{
    int64_t until_us = tg_now_us() + pause_us;
    struct timespec until = {.tv_sec = (time_t)(until_us / 1000000),
                             .tv_nsec = (long)(until_us % 1000000) * 1000};

    pthread_mutex_lock(&daemon->lock);
    while (!daemon->stop && tg_now_us() < until_us)
        pthread_cond_timedwait(&daemon->stopped, &daemon->lock, &until);
    pthread_mutex_unlock(&daemon->lock);
}

static void note_trouble(struct daemon *daemon, enum daemon_area area, bool *own,
                         const struct tg_error *err)
{
    if (!*own && atomic_fetch_add(&daemon->troubled[area], 1) == 0)
        tg_log_error(TG_LOG_ERROR, area_names[area], err);
    *own = true;
}

static void note_fine(struct daemon *daemon, enum daemon_area area, bool *own)
{
    if (*own && atomic_fetch_sub(&daemon->troubled[area], 1) == 1)
        tg_log(TG_LOG_INFO, area_names[area], "working again");
    *own = false;
}

void daemon_loop(struct daemon *daemon, enum daemon_area area, unsigned need,
                 daemon_round_fn *round, void *context)
{
    struct daemon_links links = {0};
    int64_t back_off_us = least_pause_us;
    bool connected = false, troubled = false;

    while (!daemon_is_stopping(daemon)) {
        struct tg_error err = {.code = "unknown"};
        int64_t pause_us = 0;
        enum tg_class class = TG_OK;
        bool kept = connected;

        if (!connected)
            class = daemon_connect(daemon, need, &links, &err);
        connected = class == TG_OK;
        if (class == TG_OK)
            class = round(context, &links, &pause_us, &err);
        if (class == TG_OK) {
            note_fine(daemon, area, &troubled);
            back_off_us = least_pause_us;
        } else {
            if (connected)
                daemon_disconnect(&links);
            connected = false;
            /* a kept connection may be stale: only a new one tells whether a store is away */
            if (kept && class == TG_CLASS_DOWN)
                continue;
            note_trouble(daemon, area, &troubled, &err);
            pause_us = back_off_us;
            back_off_us = TG_MIN(back_off_us * 2, most_pause_us);
        }
        if (pause_us > 0)
            daemon_pause(daemon, pause_us);
    }
    if (connected)
        daemon_disconnect(&links);
}
