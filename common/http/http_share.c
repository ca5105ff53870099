#include "common/http/http_curl.h"

#include "common/base/memory.h"

#include <pthread.h>
#include <stdlib.h>

struct tg_http_share {
    CURLSH *share;
    pthread_mutex_t locks[CURL_LOCK_DATA_LAST];
};

static void lock(CURL *easy, curl_lock_data data, curl_lock_access access, void *context)
{
    struct tg_http_share *share = context;

    (void)easy;
    (void)access;
    pthread_mutex_lock(&share->locks[data]);
}

static void unlock(CURL *easy, curl_lock_data data, void *context)
{
    struct tg_http_share *share = context;

    (void)easy;
    pthread_mutex_unlock(&share->locks[data]);
}

struct tg_http_share *tg_http_share_new(void)
{
    struct tg_http_share *made = tg_calloc(1, sizeof *made);
    bool fine;

    for (size_t i = 0; i < TG_COUNT_OF(made->locks); i++)
        pthread_mutex_init(&made->locks[i], NULL);
    made->share = curl_share_init();
    fine = made->share != NULL &&
           curl_share_setopt(made->share, CURLSHOPT_LOCKFUNC, lock) == CURLSHE_OK &&
           curl_share_setopt(made->share, CURLSHOPT_UNLOCKFUNC, unlock) == CURLSHE_OK &&
           curl_share_setopt(made->share, CURLSHOPT_USERDATA, made) == CURLSHE_OK &&
           curl_share_setopt(made->share, CURLSHOPT_SHARE, CURL_LOCK_DATA_DNS) == CURLSHE_OK &&
           curl_share_setopt(made->share, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION) ==
               CURLSHE_OK;
    if (fine)
        return made;
    tg_http_share_free(made);
    return NULL;
}

void tg_http_share_free(struct tg_http_share *share)
{
    if (share == NULL)
        return;
    if (share->share != NULL)
        curl_share_cleanup(share->share);
    for (size_t i = 0; i < TG_COUNT_OF(share->locks); i++)
        pthread_mutex_destroy(&share->locks[i]);
    free(share);
}

uint64_t tg_http_key_hash(const char *key)
{
    uint64_t value = UINT64_C(14695981039346656037); /* FNV-1a */

    for (; *key != '\0'; key++)
        value = (value ^ (unsigned char)*key) * UINT64_C(1099511628211);
    return value;
}

struct tg_http_handle *tg_http_handle_new(struct tg_http_share *share, const char *key)
{
    struct tg_http_handle *made = tg_calloc(1, sizeof *made);

    made->key = tg_strdup(key);
    made->key_hash = tg_http_key_hash(key);
    made->multi = curl_multi_init();
    made->easy = curl_easy_init();
    made->parsed = curl_url();
    /* One connection is kept: what follows a dead one goes over a fresh one. */
    if (made->multi != NULL && made->easy != NULL && made->parsed != NULL &&
        curl_multi_setopt(made->multi, CURLMOPT_MAXCONNECTS, 1L) == CURLM_OK &&
        curl_easy_setopt(made->easy, CURLOPT_SHARE, share->share) == CURLE_OK)
        return made;
    tg_http_handle_free(made);
    return NULL;
}

void tg_http_handle_free(struct tg_http_handle *handle)
{
    if (handle == NULL)
        return;
    if (handle->easy != NULL)
        curl_easy_cleanup(handle->easy);
    if (handle->multi != NULL)
        curl_multi_cleanup(handle->multi);
    curl_url_cleanup(handle->parsed);
    free(handle->url);
    free(handle->key);
    free(handle);
}
