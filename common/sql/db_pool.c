#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/sql/connection.h"
#include "common/sql/link.h"

struct tg_db_pool {
    struct tg_db_target target;
    pthread_mutex_t lock;
    pthread_cond_t released;
    struct tg_db **idle; /* last in, first out: the warm ones are used again */
    size_t idle_count, open_count, most;
};

enum tg_class tg_db_pool_new(const struct tg_db_conf *conf, struct tg_db_pool **ret,
                             struct tg_error *err)
{
    struct tg_dsn dsn;
    struct tg_db_pool *pool;
    pthread_condattr_t monotonic;
    enum tg_class class = tg_dsn_parse(conf->dsn, &dsn, err);

    if (class != TG_OK)
        return class;
    tg_assert(conf->connections > 0 && conf->timeout_us > 0);
    pool = tg_calloc(1, sizeof *pool);
    pool->target = (struct tg_db_target){.dsn = dsn,
                                         .password = tg_strdup(conf->password),
                                         .timeout_us = conf->timeout_us,
                                         .without_schema = conf->without_schema};
    pool->most = (size_t)conf->connections;
    pool->idle = tg_calloc(pool->most, sizeof(struct tg_db *));
    pthread_mutex_init(&pool->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&pool->released, &monotonic);
    pthread_condattr_destroy(&monotonic);
    *ret = pool;
    return TG_OK;
}

void tg_db_pool_free(struct tg_db_pool *pool)
{
    if (pool == NULL)
        return;
    tg_assert(pool->idle_count == pool->open_count);
    for (size_t i = 0; i < pool->idle_count; i++)
        tg_db_free(pool->idle[i]);
    pthread_cond_destroy(&pool->released);
    pthread_mutex_destroy(&pool->lock);
    free(pool->idle);
    free(pool->target.password);
    free(pool);
}

const char *tg_db_pool_schema(const struct tg_db_pool *pool)
{
    return pool->target.dsn.schema;
}

enum tg_class tg_db_acquire(struct tg_db_pool *pool, int64_t deadline_at_us, struct tg_db **ret,
                            struct tg_error *err)
{
    struct timespec until = {.tv_sec = deadline_at_us / 1000000,
                             .tv_nsec = deadline_at_us % 1000000 * 1000};
    int waited = 0;
    struct tg_db *db = NULL;

    tg_link_thread_ready();
    pthread_mutex_lock(&pool->lock);
    while (pool->idle_count == 0 && pool->open_count == pool->most && waited != ETIMEDOUT)
        waited = pthread_cond_timedwait(&pool->released, &pool->lock, &until);
    if (pool->idle_count > 0)
        db = pool->idle[--pool->idle_count];
    else if (pool->open_count < pool->most) {
        pool->open_count++;
        db = tg_db_new(&pool->target, pool);
    }
    pthread_mutex_unlock(&pool->lock);
    if (db == NULL)
        return tg_fail(err, TG_CLASS_DOWN, "db_down", "no connection to the database was free");
    *ret = db;
    return TG_OK;
}

void tg_db_release(struct tg_db *db)
{
    struct tg_db_pool *pool;

    if (db == NULL)
        return;
    pool = tg_db_owner(db);
    tg_db_rollback(db);
    pthread_mutex_lock(&pool->lock);
    pool->idle[pool->idle_count++] = db;
    pthread_cond_signal(&pool->released);
    pthread_mutex_unlock(&pool->lock);
}
