#include "fcgi-app/relay/effects.h"

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/credential/apply.h"
#include "common/store/channel.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { QUEUE_MOST = 64, REASON_MOST = 200, STORE_WAIT_US = 5000000, KEYS_WAIT_US = 500000 };

struct wish {
    int64_t channel_id, key_id;
    char reason[REASON_MOST];
};

struct tg_effects {
    struct tg_db_pool *main_db;
    struct tg_kv_pool *kv;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    /* under the lock; the first one is being worked on */
    struct wish queue[QUEUE_MOST];
    size_t count;
    bool stopping;
};

static enum tg_class change(struct tg_db_pool *main_db, enum tg_effect effect,
                            const struct tg_channel_verdict *why, bool *ret_done,
                            struct tg_error *err)
{
    struct tg_db *db = NULL;
    enum tg_class class = tg_db_acquire(main_db, tg_now_us() + STORE_WAIT_US, &db, err);

    *ret_done = false;
    if (class == TG_OK && effect == TG_EFFECT_DISABLE)
        class = tg_store_channel_auto_disable(db, why, ret_done, err);
    else if (class == TG_OK)
        class = tg_store_channel_auto_enable(db, why, ret_done, err);
    tg_db_release(db);
    return class;
}

bool tg_effects_apply(struct tg_db_pool *main_db, struct tg_kv_pool *kv, enum tg_effect effect,
                      const struct tg_channel_verdict *why)
{
    struct tg_error err = {0};
    bool done;

    if (change(main_db, effect, why, &done, &err) != TG_OK) {
        tg_log_error(TG_LOG_WARNING, "effects", &err);
        return false;
    }
    if (!done)
        return false;
    tg_log(TG_LOG_WARNING, "effects", "channel %lld is %s: %s", (long long)why->channel_id,
           effect == TG_EFFECT_DISABLE ? "disabled" : "enabled again", why->reason);
    (void)tg_apply_tell(kv, "channels"); /* else they look by themselves in a minute */
    return true;
}

/* That the other keys are suspended may be written a moment after the call with the last one. */
static void carry_out(struct tg_effects *effects, const struct wish *wish)
{
    const struct tg_channel_verdict why = {wish->channel_id, wish->key_id, wish->reason};

    if (tg_effects_apply(effects->main_db, effects->kv, TG_EFFECT_DISABLE, &why) ||
        wish->key_id == 0)
        return;
    tg_clock_sleep_us(KEYS_WAIT_US);
    (void)tg_effects_apply(effects->main_db, effects->kv, TG_EFFECT_DISABLE, &why);
}

static void *run(void *context)
{
    struct tg_effects *effects = context;

    pthread_mutex_lock(&effects->lock);
    while (!effects->stopping) {
        struct wish wish;

        if (effects->count == 0) {
            pthread_cond_wait(&effects->wake, &effects->lock);
            continue;
        }
        wish = effects->queue[0];
        pthread_mutex_unlock(&effects->lock);
        carry_out(effects, &wish);
        pthread_mutex_lock(&effects->lock);
        effects->count--;
        for (size_t i = 0; i < effects->count; i++)
            effects->queue[i] = effects->queue[i + 1];
    }
    pthread_mutex_unlock(&effects->lock);
    return NULL;
}

struct tg_effects *tg_effects_new(struct tg_db_pool *main_db, struct tg_kv_pool *kv)
{
    struct tg_effects *made = tg_calloc(1, sizeof *made);

    made->main_db = main_db;
    made->kv = kv;
    pthread_mutex_init(&made->lock, NULL);
    pthread_cond_init(&made->wake, NULL);
    if (pthread_create(&made->thread, NULL, run, made) == 0)
        return made;
    pthread_cond_destroy(&made->wake);
    pthread_mutex_destroy(&made->lock);
    free(made);
    return NULL;
}

void tg_effects_free(struct tg_effects *effects)
{
    if (effects == NULL)
        return;
    pthread_mutex_lock(&effects->lock);
    effects->stopping = true;
    pthread_cond_signal(&effects->wake);
    pthread_mutex_unlock(&effects->lock);
    pthread_join(effects->thread, NULL);
    pthread_cond_destroy(&effects->wake);
    pthread_mutex_destroy(&effects->lock);
    free(effects);
}

static bool is_waiting(const struct tg_effects *effects, int64_t channel_id, int64_t key_id)
{
    for (size_t i = 0; i < effects->count; i++)
        if (effects->queue[i].channel_id == channel_id && effects->queue[i].key_id == key_id)
            return true;
    return false;
}

bool tg_effects_disable(struct tg_effects *effects, int64_t channel_id, int64_t key_id,
                        const char *reason)
{
    bool taken;

    pthread_mutex_lock(&effects->lock);
    taken = effects->count < QUEUE_MOST && !is_waiting(effects, channel_id, key_id);
    if (taken) {
        struct wish *wish = &effects->queue[effects->count++];

        wish->channel_id = channel_id;
        wish->key_id = key_id;
        snprintf(wish->reason, sizeof wish->reason, "%s", reason);
        pthread_cond_signal(&effects->wake);
    }
    pthread_mutex_unlock(&effects->lock);
    return taken;
}
