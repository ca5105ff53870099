#include "fcgi-app/relay/watch.h"

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/store/channel.h"
#include "common/store/lease.h"
#include "fcgi-app/relay/balance.h"
#include "fcgi-app/relay/breaker_note.h"
#include "fcgi-app/relay/effects.h"
#include "fcgi-app/relay/test.h"
#include "fcgi-app/relay/verdict.h"
#include "fcgi-app/shared.h"
#include "fcgi-app/worker.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LOOK_US = 100000,
    STORE_WAIT_US = 2000000,
    BALANCE_LEASE_US = 60000000,
    PARALLEL_MOST = 16,
    KEYS_MOST = 3 /* of a disabled channel, in a round */
};

struct tg_watch {
    struct tg_worker *worker;
    pthread_t rounds, notes;
    atomic_bool stopping;
};

struct round {
    struct tg_watch *watch;
    const int64_t *ids;
    size_t count;
    atomic_size_t next;
    const char *lease;
    int64_t lease_us; /* 0: it needs none, somebody asked for it */
    void (*one)(const struct round *round, int64_t channel_id);
    int64_t number;   /* of the rounds of this process: each begins with another key */
};

/* --- what a test says --- */

/* The reason to disable a channel that is in use; "" when there is none. */
static void find_fault(const struct tg_settings *settings, const struct tg_channel_tested *tested,
                       bool is_slow, char reason[TG_VERDICT_TEXT])
{
    const struct tg_verdict_facts facts = {
        .error = &tested->error,
        .body = {"", 0},
        .statuses = &settings->disable_statuses,
        .phrases = tg_conf_text(settings->conf, TG_OPTION_AUTO_DISABLE_PHRASES),
    };

    reason[0] = '\0';
    if (tested->error.class == TG_OK && is_slow)
        snprintf(reason, TG_VERDICT_TEXT, "a test took %lld ms",
                 (long long)(tested->took_us / 1000));
    else if (tested->error.class != TG_OK && !tg_verdict_disables(&facts, reason))
        reason[0] = '\0';
}

static void conclude(struct tg_watch *watch, int64_t channel_id,
                     const struct tg_channel_tested *tested)
{
    struct tg_worker *worker = watch->worker;
    const struct tg_settings *settings = tg_worker_settings(worker);
    int64_t slow_us = tg_conf_int(settings->conf, TG_OPTION_CHANNEL_TEST_SLOW);
    bool works = tested->error.class == TG_OK;
    bool is_slow = slow_us > 0 && tested->took_us > slow_us;
    struct tg_channel_verdict why = {.channel_id = channel_id, .key_id = tested->key_id};
    char reason[TG_VERDICT_TEXT];

    if (tested->off) {
        why.reason = "a test of it worked";
        if (works && !is_slow)
            (void)tg_effects_apply(worker->main_db, worker->kv, TG_EFFECT_ENABLE, &why);
        return;
    }
    if (!tg_conf_bool(settings->conf, TG_OPTION_AUTO_DISABLE_ON))
        return;
    find_fault(settings, tested, is_slow, reason);
    if (reason[0] == '\0')
        return;
    why.reason = reason;
    if (works)
        why.key_id = 0; /* slowness is no key's */
    (void)tg_effects_apply(worker->main_db, worker->kv, TG_EFFECT_DISABLE, &why);
}

/* --- a round --- */

static bool is_stopping(const struct tg_watch *watch)
{
    return atomic_load(&watch->stopping);
}

static void try_once(const struct round *round, int64_t channel_id, size_t key,
                     struct tg_channel_tested *ret)
{
    struct tg_worker *worker = round->watch->worker;
    const struct tg_conf *conf = tg_worker_settings(worker)->conf;
    struct tg_request req = {.worker = worker, .arena = tg_arena_new()};
    const struct tg_channel_test test = {.channel_id = channel_id,
                                         .key = key,
                                         .limit_us =
                                             tg_conf_int(conf, TG_OPTION_CHANNEL_TEST_LIMIT),
                                         .stop = &round->watch->stopping};

    tg_channel_try(&req, &test, ret);
    tg_arena_free(req.arena);
}

static bool is_used_up(const struct round *round, int64_t channel_id)
{
    struct tg_request req = {.worker = round->watch->worker, .arena = tg_arena_new()};
    const struct tg_channel_balance_wish wish = {.channel_id = channel_id,
                                                 .stop = &round->watch->stopping};
    struct tg_channel_balance balance;

    tg_channel_balance(&req, &wish, &balance);
    tg_arena_free(req.arena);
    return balance.error.class == TG_OK && balance.quota <= 0;
}

static void ask_balance(const struct round *round, int64_t channel_id)
{
    (void)is_used_up(round, channel_id);
}

/* One that is disabled may have been so for one key, and serve again with another. */
static void test_one(const struct round *round, int64_t channel_id)
{
    size_t key = (size_t)round->number * KEYS_MOST;
    struct tg_channel_tested tested;

    try_once(round, channel_id, 0, &tested);
    for (size_t tries = 1; tested.off && tested.error.class != TG_OK && tries < KEYS_MOST &&
                           tries < tested.key_count && !is_stopping(round->watch);
         tries++)
        try_once(round, channel_id, ++key, &tested);
    /* Whose account is used up would be disabled again at once. */
    if (!is_stopping(round->watch) &&
        !(tested.off && tested.error.class == TG_OK && is_used_up(round, channel_id)))
        conclude(round->watch, channel_id, &tested);
}

static bool holds_lease(struct tg_watch *watch, const char *name, int64_t lease_us)
{
    const struct tg_lease lease = {.name = name,
                                   .node = watch->worker->node,
                                   .seconds = lease_us / 1000000 + 1};
    struct tg_error err = {0};
    struct tg_db *db = NULL;
    bool mine = false;
    enum tg_class class =
        tg_db_acquire(watch->worker->main_db, tg_now_us() + STORE_WAIT_US, &db, &err);

    if (class == TG_OK)
        class = tg_lease_take(db, &lease, &mine, &err);
    tg_db_release(db);
    if (class != TG_OK)
        tg_log_error(TG_LOG_INFO, "watch", &err); /* the next round will do it */
    return class == TG_OK && mine;
}

static void *do_some(void *context)
{
    struct round *round = context;
    size_t at;

    while (!is_stopping(round->watch) &&
           (at = atomic_fetch_add(&round->next, 1)) < round->count) {
        if (round->lease_us != 0 && !holds_lease(round->watch, round->lease, round->lease_us))
            break; /* another node has taken it over */
        round->one(round, round->ids[at]);
    }
    return NULL;
}

static void run_round(struct round *round)
{
    const struct tg_conf *conf = tg_worker_settings(round->watch->worker)->conf;
    size_t wanted = TG_MIN((size_t)tg_conf_int(conf, TG_OPTION_CHANNEL_TEST_PARALLEL),
                           round->count);
    pthread_t helpers[PARALLEL_MOST];
    size_t count = 0;

    while (count + 1 < wanted &&
           pthread_create(&helpers[count], NULL, do_some, round) == 0)
        count++;
    do_some(round);
    while (count > 0)
        pthread_join(helpers[--count], NULL);
}

static void make_round(struct round *round, bool all)
{
    struct tg_snapshot_holder *holder = round->watch->worker->snapshots;
    struct tg_arena *arena = tg_arena_new();
    const struct tg_snapshot *snapshot = tg_snapshot_acquire(holder);

    if (snapshot != NULL)
        round->ids = tg_snapshot_channel_ids(snapshot, arena, all, &round->count);
    tg_snapshot_release(holder, snapshot);
    if (round->count > 0)
        run_round(round);
    tg_arena_free(arena);
}

/* --- when --- */

/* What is due of the wishes and of the schedules. */
struct schedule {
    int64_t last_us[TG_WISH__COUNT], wishes[TG_WISH__COUNT], rounds;
};

/* Did somebody ask for it since? */
static bool is_wished(struct tg_watch *watch, struct schedule *at, enum tg_wish wish)
{
    int64_t before = at->wishes[wish];

    at->wishes[wish] = tg_shared_wishes(watch->worker->shared, wish);
    return at->wishes[wish] != before;
}

static bool is_due(struct schedule *at, enum tg_wish wish, int64_t every_us)
{
    return every_us > 0 && tg_now_us() - at->last_us[wish] >= every_us;
}

static void look_at_tests(struct tg_watch *watch, struct schedule *at)
{
    const struct tg_conf *conf = tg_worker_settings(watch->worker)->conf;
    const char *mode = tg_conf_text(conf, TG_OPTION_CHANNEL_TEST_MODE);
    int64_t every_us = tg_conf_int(conf, TG_OPTION_CHANNEL_TEST_EVERY);

    if (is_wished(watch, at, TG_WISH_TESTS)) {
        struct round round = {.watch = watch, .one = test_one, .number = at->rounds++};

        make_round(&round, true);
    }
    if (strcmp(mode, "off") != 0 && is_due(at, TG_WISH_TESTS, every_us)) {
        struct round round = {
            .watch = watch,
            .one = test_one,
            .number = at->rounds++,
            .lease = "channel_tests",
            .lease_us = every_us + tg_conf_int(conf, TG_OPTION_CHANNEL_TEST_LIMIT)};

        make_round(&round, strcmp(mode, "all") == 0);
        at->last_us[TG_WISH_TESTS] = tg_now_us();
    }
}

static void look_at_balances(struct tg_watch *watch, struct schedule *at)
{
    const struct tg_conf *conf = tg_worker_settings(watch->worker)->conf;
    int64_t every_us = tg_conf_int(conf, TG_OPTION_BALANCE_EVERY);

    if (is_wished(watch, at, TG_WISH_BALANCES)) {
        struct round round = {.watch = watch, .one = ask_balance};

        make_round(&round, true);
    }
    if (is_due(at, TG_WISH_BALANCES, every_us)) {
        struct round round = {.watch = watch,
                              .one = ask_balance,
                              .lease = "channel_balances",
                              .lease_us = every_us + BALANCE_LEASE_US};

        make_round(&round, true);
        at->last_us[TG_WISH_BALANCES] = tg_now_us();
    }
}

static void *run_rounds(void *context)
{
    struct tg_watch *watch = context;
    struct schedule at = {0};

    for (int wish = 0; wish < TG_WISH__COUNT; wish++) {
        at.wishes[wish] = tg_shared_wishes(watch->worker->shared, (enum tg_wish)wish);
        at.last_us[wish] = tg_now_us();
    }
    while (!is_stopping(watch)) {
        look_at_tests(watch, &at);
        look_at_balances(watch, &at);
        tg_clock_sleep_us(LOOK_US);
    }
    return NULL;
}

/* Apart from the rounds, which may wait long. */
static void *run_notes(void *context)
{
    struct tg_watch *watch = context;
    struct tg_breaker_note note = {0};

    while (!is_stopping(watch)) {
        tg_breaker_note(watch->worker, &note);
        tg_clock_sleep_us(LOOK_US);
    }
    return NULL;
}

struct tg_watch *tg_watch_new(struct tg_worker *worker)
{
    struct tg_watch *made = tg_calloc(1, sizeof *made);

    made->worker = worker;
    if (pthread_create(&made->rounds, NULL, run_rounds, made) != 0) {
        free(made);
        return NULL;
    }
    if (pthread_create(&made->notes, NULL, run_notes, made) == 0)
        return made;
    atomic_store(&made->stopping, true);
    pthread_join(made->rounds, NULL);
    free(made);
    return NULL;
}

void tg_watch_free(struct tg_watch *watch)
{
    if (watch == NULL)
        return;
    atomic_store(&watch->stopping, true);
    pthread_join(watch->rounds, NULL);
    pthread_join(watch->notes, NULL);
    free(watch);
}
