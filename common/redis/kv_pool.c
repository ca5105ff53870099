#include "common/redis/kv_link.h"

#include "common/base/clock.h"
#include "common/base/memory.h"

#include <pthread.h>
#include <stdlib.h>

enum {
    FIRST_PAUSE_US = 10000,
    LONGEST_PAUSE_US = 500000,
    TRUSTED_US = 1000 /* after its last answer a connection is good: that spares a look at it */
};

struct tg_kv_pool {
    struct tg_kv_conf conf;
    pthread_mutex_t mutex;
    pthread_cond_t changed; /* an idle connection, or room for a new one */
    struct tg_kv *idle;     /* last used first */
    int open;               /* idle, lent and being connected */
    bool doubtful;          /* a connection broke or could not be made, none was made since */
    bool trying;            /* while doubtful: one thread is connecting */
    int64_t pause_us;       /* between two attempts while they fail */
    int64_t next_try_at_us;
};

void tg_kv_conf_copy(struct tg_kv_conf *to, const struct tg_kv_conf *from)
{
    *to = (struct tg_kv_conf){
        .address = tg_strdup(from->address),
        .user = tg_strdup(from->user != NULL ? from->user : ""),
        .password = tg_strdup(from->password != NULL ? from->password : ""),
        .connections = from->connections,
    };
}

void tg_kv_conf_done(struct tg_kv_conf *conf)
{
    free((char *)conf->address);
    free((char *)conf->user);
    free((char *)conf->password);
}

enum tg_class tg_kv_pool_new(const struct tg_kv_conf *conf, struct tg_kv_pool **ret,
                             struct tg_error *err)
{
    struct tg_kv_pool *pool;
    pthread_condattr_t clock;
    enum tg_class class = tg_kv_address_check(conf->address, err);

    if (class != TG_OK)
        return class;
    if (conf->connections < 1)
        return tg_fail(err, TG_CLASS_CONFIG, "redis_connections",
                       "redis.connections must be at least 1");
    pool = tg_calloc(1, sizeof *pool);
    tg_kv_conf_copy(&pool->conf, conf);
    pthread_mutex_init(&pool->mutex, NULL);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&pool->changed, &clock);
    pthread_condattr_destroy(&clock);
    *ret = pool;
    return TG_OK;
}

static void close_list(struct tg_kv *kv)
{
    while (kv != NULL) {
        struct tg_kv *next = kv->next;

        tg_kv_close(kv);
        kv = next;
    }
}

void tg_kv_pool_free(struct tg_kv_pool *pool)
{
    if (pool == NULL)
        return;
    for (const struct tg_kv *kv = pool->idle; kv != NULL; kv = kv->next)
        pool->open--;
    tg_assert(pool->open == 0); /* all were given back */
    close_list(pool->idle);
    pthread_mutex_destroy(&pool->mutex);
    pthread_cond_destroy(&pool->changed);
    tg_kv_conf_done(&pool->conf);
    free(pool);
}

const struct tg_kv_conf *tg_kv_pool_conf(const struct tg_kv_pool *pool)
{
    return &pool->conf;
}

/* ---- all of these with the mutex held */

static void lost_one(struct tg_kv_pool *pool)
{
    pool->open--;
    pool->doubtful = true;
    pthread_cond_signal(&pool->changed);
}

/* The idle connection used last, or NULL. */
static struct tg_kv *take_idle(struct tg_kv_pool *pool)
{
    struct tg_kv *kv = pool->idle;

    if (kv != NULL) {
        pool->idle = kv->next;
        kv->next = NULL;
    }
    return kv;
}

enum step { TAKEN, CONNECT, REFUSED };

static enum step find_way(struct tg_kv_pool *pool, int64_t deadline_at_us, struct tg_kv **ret)
{
    const struct timespec until = {.tv_sec = deadline_at_us / 1000000,
                                   .tv_nsec = deadline_at_us % 1000000 * 1000};

    for (;;) {
        *ret = take_idle(pool);
        if (*ret != NULL)
            return TAKEN;
        if (pool->open < pool->conf.connections) {
            if (pool->doubtful && (pool->trying || tg_now_us() < pool->next_try_at_us))
                return REFUSED;
            pool->trying = pool->doubtful;
            pool->open++;
            return CONNECT;
        }
        if (pthread_cond_timedwait(&pool->changed, &pool->mutex, &until) != 0)
            return REFUSED;
    }
}

static void connected(struct tg_kv_pool *pool, bool well)
{
    pool->trying = false;
    if (well) {
        pool->doubtful = false;
        pool->pause_us = 0;
        pool->next_try_at_us = 0;
        return;
    }
    lost_one(pool);
    pool->pause_us = TG_MIN(TG_MAX(2 * pool->pause_us, (int64_t)FIRST_PAUSE_US),
                            (int64_t)LONGEST_PAUSE_US);
    pool->next_try_at_us = tg_now_us() + pool->pause_us;
}

/* ---- */

/* Looks at a connection from the pool without the pool's lock; one that the server has closed is
 * given up. */
static bool is_usable(struct tg_kv_pool *pool, struct tg_kv *kv)
{
    if (tg_now_us() - kv->answered_at_us < TRUSTED_US || tg_kv_is_quiet(kv))
        return true;
    pthread_mutex_lock(&pool->mutex);
    lost_one(pool);
    pthread_mutex_unlock(&pool->mutex);
    tg_kv_close(kv);
    return false;
}

static enum tg_class connect_one(struct tg_kv_pool *pool, int64_t deadline_at_us,
                                 struct tg_kv **ret, struct tg_error *err)
{
    struct tg_kv *kv;
    enum tg_class class = tg_kv_open(&pool->conf, deadline_at_us, &kv, err);

    pthread_mutex_lock(&pool->mutex);
    connected(pool, class == TG_OK);
    pthread_mutex_unlock(&pool->mutex);
    if (class != TG_OK)
        return class;
    kv->pool = pool;
    *ret = kv;
    return TG_OK;
}

enum tg_class tg_kv_acquire(struct tg_kv_pool *pool, int64_t deadline_at_us, struct tg_kv **ret,
                            struct tg_error *err)
{
    struct tg_kv *kv;
    enum step step;
    bool full;

    do {
        pthread_mutex_lock(&pool->mutex);
        step = find_way(pool, deadline_at_us, &kv);
        full = pool->open >= pool->conf.connections;
        pthread_mutex_unlock(&pool->mutex);
    } while (step == TAKEN && !is_usable(pool, kv));
    if (step == REFUSED)
        return tg_fail(err, TG_CLASS_DOWN, "redis_down",
                       full ? "no connection was free in time" : "not connected");
    if (step == CONNECT)
        return connect_one(pool, deadline_at_us, ret, err);
    *ret = kv;
    return TG_OK;
}

void tg_kv_release(struct tg_kv *kv)
{
    struct tg_kv_pool *pool;

    if (kv == NULL)
        return;
    pool = kv->pool;
    pthread_mutex_lock(&pool->mutex);
    if (kv->broken) {
        lost_one(pool);
    } else {
        kv->next = pool->idle;
        pool->idle = kv;
        kv = NULL;
        pthread_cond_signal(&pool->changed);
    }
    pthread_mutex_unlock(&pool->mutex);
    tg_kv_close(kv);
}
