#include "common/http/http_curl.h"

#include "common/base/clock.h"
#include "common/base/memory.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Idle handles, newest first. A search compares hashes along the list: it is short (idle_most) and
 * the newest is the likeliest to be alive. */
struct tg_http_pool {
    pthread_mutex_t lock;
    struct tg_http_share *share;
    struct tg_http_handle *newest, *oldest;
    size_t idle, idle_most;
    int64_t idle_age_us;
    char *ca_path;
};

static pthread_once_t library_once = PTHREAD_ONCE_INIT;
static bool library_ready;

static void library_init(void)
{
    library_ready = curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
}

enum tg_class tg_http_pool_new(const struct tg_http_pool_conf *conf, struct tg_http_pool **ret,
                               struct tg_error *err)
{
    struct tg_http_pool *made;
    struct tg_http_share *share;

    pthread_once(&library_once, library_init);
    share = library_ready ? tg_http_share_new() : NULL;
    if (share == NULL)
        return tg_fail(err, TG_CLASS_INTERNAL, "http_init", "libcurl cannot be initialised");
    made = tg_calloc(1, sizeof *made);
    pthread_mutex_init(&made->lock, NULL);
    made->share = share;
    made->idle_most = conf->idle_most;
    made->idle_age_us = conf->idle_age_us;
    made->ca_path = tg_strdup(conf->ca_path == NULL ? "" : conf->ca_path);
    *ret = made;
    return TG_OK;
}

const char *tg_http_pool_ca_path(const struct tg_http_pool *pool)
{
    return pool->ca_path;
}

static void unlink_handle(struct tg_http_pool *pool, struct tg_http_handle *handle)
{
    *(handle->newer != NULL ? &handle->newer->older : &pool->newest) = handle->older;
    *(handle->older != NULL ? &handle->older->newer : &pool->oldest) = handle->newer;
    handle->older = handle->newer = NULL;
    pool->idle--;
}

/* Takes out the oldest when it is idle since before <limit_us> or there are more than <most>. */
static struct tg_http_handle *take_oldest(struct tg_http_pool *pool, int64_t limit_us, size_t most)
{
    struct tg_http_handle *oldest;

    pthread_mutex_lock(&pool->lock);
    oldest = pool->oldest;
    if (oldest != NULL && (oldest->idle_since_us < limit_us || pool->idle > most))
        unlink_handle(pool, oldest);
    else
        oldest = NULL;
    pthread_mutex_unlock(&pool->lock);
    return oldest;
}

/* Closing may write a TLS goodbye, so it happens outside the lock. */
static void trim(struct tg_http_pool *pool, int64_t limit_us, size_t most)
{
    struct tg_http_handle *old;

    while ((old = take_oldest(pool, limit_us, most)) != NULL)
        tg_http_handle_free(old);
}

void tg_http_pool_sweep(struct tg_http_pool *pool)
{
    trim(pool, tg_now_us() - pool->idle_age_us, pool->idle_most);
}

void tg_http_pool_free(struct tg_http_pool *pool)
{
    if (pool == NULL)
        return;
    trim(pool, INT64_MAX, 0);
    tg_http_share_free(pool->share);
    pthread_mutex_destroy(&pool->lock);
    free(pool->ca_path);
    free(pool);
}

static struct tg_http_handle *find(struct tg_http_pool *pool, const char *key, uint64_t key_hash)
{
    struct tg_http_handle *handle;

    for (handle = pool->newest; handle != NULL; handle = handle->older)
        if (handle->key_hash == key_hash && strcmp(handle->key, key) == 0)
            return handle;
    return NULL;
}

struct tg_http_handle *tg_http_pool_take(struct tg_http_pool *pool, const char *key)
{
    struct tg_http_handle *found;

    pthread_mutex_lock(&pool->lock);
    found = find(pool, key, tg_http_key_hash(key));
    if (found != NULL)
        unlink_handle(pool, found);
    pthread_mutex_unlock(&pool->lock);
    return found != NULL ? found : tg_http_handle_new(pool->share, key);
}

void tg_http_pool_give(struct tg_http_pool *pool, struct tg_http_handle *handle)
{
    handle->idle_since_us = tg_now_us();
    pthread_mutex_lock(&pool->lock);
    handle->older = pool->newest;
    *(pool->newest != NULL ? &pool->newest->newer : &pool->oldest) = handle;
    pool->newest = handle;
    pool->idle++;
    pthread_mutex_unlock(&pool->lock);
    trim(pool, INT64_MIN, pool->idle_most);
}
