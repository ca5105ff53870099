#include "fcgi-app/worker.h"

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/conf/node.h"
#include "common/credential/known.h"
#include "fcgi-app/pipeline.h"
#include "fcgi-app/pool/pool.h"
#include "fcgi-app/process.h"
#include "fcgi-app/relay/effects.h"
#include "fcgi-app/relay/watch.h"
#include "fcgi-app/reload.h"
#include "fcgi-app/route/key_keeper.h"
#include "fcgi-app/settings.h"
#include "fcgi-app/shared.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum {
    HOUSEKEEPING_US = 1000000,
    KEPT_US = 5000000,
    CUT_GRACE_US = 6000000 /* for errors, bills and last bytes after pool.drain_timeout */
};

/* ---- what a worker holds ---- */

static enum tg_class open_kv(struct tg_worker *worker, const struct tg_conf *conf,
                             struct tg_error *err)
{
    struct tg_buf password;
    enum tg_class class;

    tg_buf_init(&password, 0);
    class = tg_conf_password(tg_conf_text(conf, TG_OPTION_REDIS_PASSWORD_FILE), &password, err);
    if (class == TG_OK) {
        const struct tg_kv_conf kv = {
            .address = tg_conf_text(conf, TG_OPTION_REDIS_ADDRESS),
            .user = tg_conf_text(conf, TG_OPTION_REDIS_USER),
            .password = tg_buf_text(&password),
            .connections = (int)tg_conf_int(conf, TG_OPTION_REDIS_CONNECTIONS),
        };

        class = tg_kv_pool_new(&kv, &worker->kv, err);
    }
    if (password.data != NULL)
        tg_wipe(password.data, password.len);
    tg_buf_done(&password);
    return class;
}

static enum tg_class open_main_db(struct tg_worker *worker, const struct tg_conf *conf,
                                  struct tg_error *err)
{
    struct tg_buf password;
    enum tg_class class;

    tg_buf_init(&password, 0);
    class = tg_conf_password(tg_conf_text(conf, TG_OPTION_DATABASE_MAIN_PASSWORD_FILE), &password,
                             err);
    if (class == TG_OK) {
        const struct tg_db_conf db = {
            .dsn = tg_conf_text(conf, TG_OPTION_DATABASE_MAIN),
            .password = tg_buf_text(&password),
            .connections = (int)tg_conf_int(conf, TG_OPTION_DATABASE_CONNECTIONS),
            .timeout_us = tg_conf_int(conf, TG_OPTION_DATABASE_TIMEOUT),
        };

        class = tg_db_pool_new(&db, &worker->main_db, err);
    }
    if (password.data != NULL)
        tg_wipe(password.data, password.len);
    tg_buf_done(&password);
    return class;
}

static enum tg_class open_ledger(struct tg_worker *worker, const struct tg_conf *conf,
                                 struct tg_error *err)
{
    const struct tg_spool_conf spool = {
        .folder = tg_conf_text(conf, TG_OPTION_LEDGER_SPOOL_DIR),
        .node = worker->node,
        .worker = worker->spool_id,
        .sync_every_second = strcmp(tg_conf_text(conf, TG_OPTION_LEDGER_SPOOL_SYNC), "second") == 0,
    };
    const struct tg_ledger_conf ledger = {
        .kv = worker->kv,
        .main_db = worker->main_db,
        .node = worker->node,
        .worker = worker->spool_id,
        .lease_us = tg_conf_int(conf, TG_OPTION_HOLD_LEASE),
        .may_go_offline = true,
        .single = strcmp(tg_conf_text(conf, TG_OPTION_REDIS_ADDRESS), TG_KV_NONE) == 0,
        .mode = tg_shared_money(worker->shared),
        .offline_after_us = tg_conf_int(conf, TG_OPTION_LEDGER_OFFLINE_AFTER),
        .allowance_quota = tg_conf_int(conf, TG_OPTION_LEDGER_OFFLINE_ALLOWANCE),
    };

    worker->ledger = tg_ledger_new(&ledger);
    worker->known = tg_known_new();
    return tg_spool_open(&spool, &worker->spool, err);
}

static enum tg_class open_routing(struct tg_worker *worker, const struct tg_conf *conf,
                                  struct tg_error *err)
{
    const struct tg_http_pool_conf http = {
        .idle_most = tg_worker_settings(worker)->idle_most,
        .idle_age_us = tg_conf_int(conf, TG_OPTION_UPSTREAM_POOL_AGE),
        .ca_path = tg_conf_text(conf, TG_OPTION_UPSTREAM_CA_PATH),
    };
    const struct tg_snapshot_conf snapshot = {
        .main_db = worker->main_db,
        .kv = worker->kv,
        .secrets = &worker->secrets,
        .console_file = tg_conf_text(conf, TG_OPTION_SECRETS_CONSOLE_FILE),
        .private_file = tg_conf_text(conf, TG_OPTION_SECRETS_FILE),
        .node = worker->node,
        .interval_us = tg_conf_int(conf, TG_OPTION_SNAPSHOT_INTERVAL),
        .changed = tg_reload_wish,
        .context = worker->reload,
        .keys = tg_shared_keys(worker->shared),
    };
    const struct tg_key_keeper_conf keys = {
        .main_db = worker->main_db, .kv = worker->kv, .board = snapshot.keys};
    enum tg_class class = tg_http_pool_new(&http, &worker->http, err);

    if (class == TG_OK)
        class = tg_key_keeper_new(&keys, &worker->keys, err);

    if (class == TG_OK)
        class = tg_snapshot_holder_new(&snapshot, &worker->snapshots, err);
    if (class == TG_OK)
        worker->effects = tg_effects_new(worker->main_db, worker->kv);
    return class;
}

static enum tg_class open_all(struct tg_worker *worker, struct tg_conf *conf, struct tg_error *err)
{
    struct tg_settings *settings;
    enum tg_class class = tg_settings_new(conf, &settings, err);

    if (class != TG_OK) {
        tg_conf_free(conf);
        return class;
    }
    atomic_store(&worker->settings, settings);
    class = tg_crypto_init(err);
    if (class == TG_OK)
        class = tg_fcgi_library_init(err);
    if (class == TG_OK)
        class = tg_secrets_read(tg_conf_text(conf, TG_OPTION_SECRETS_CONSOLE_FILE),
                                tg_conf_text(conf, TG_OPTION_SECRETS_FILE), &worker->secrets, err);
    if (class == TG_OK) {
        tg_hmac_key_init(worker->secrets.token_pepper, &worker->token_pepper);
        class = open_kv(worker, conf, err);
    }
    if (class == TG_OK)
        class = open_main_db(worker, conf, err);
    if (class == TG_OK)
        class = open_ledger(worker, conf, err);
    if (class == TG_OK)
        class = open_routing(worker, conf, err);
    return class;
}

/* In the opposite order; members that were never opened are NULL. */
static void close_all(struct tg_worker *worker)
{
    tg_effects_free(worker->effects);
    tg_snapshot_holder_free(worker->snapshots);
    tg_key_keeper_free(worker->keys);
    tg_reload_free(worker->reload);
    tg_http_pool_free(worker->http);
    tg_spool_close(worker->spool);
    tg_known_free(worker->known);
    tg_ledger_free(worker->ledger);
    tg_db_pool_free(worker->main_db);
    tg_kv_pool_free(worker->kv);
    tg_wipe(&worker->token_pepper, sizeof worker->token_pepper);
    tg_secrets_done(&worker->secrets);
    tg_settings_free(atomic_load(&worker->settings));
}

/* ---- the pool's side ---- */

static void serve(void *context, void *thread_context, struct tg_fcgi *fcgi)
{
    tg_pipeline_serve(context, thread_context, fcgi);
    tg_arena_reset(thread_context);
}

static void *thread_start(void *context)
{
    struct tg_worker *worker = context;

    tg_shared_gauge(worker->shared, worker->index, TG_GAUGE_THREADS, 1);
    return tg_arena_new();
}

static void thread_stop(void *context, void *thread_context)
{
    struct tg_worker *worker = context;

    tg_shared_gauge(worker->shared, worker->index, TG_GAUGE_THREADS, -1);
    tg_arena_free(thread_context);
}

static void limits(void *context, struct tg_pool_limits *ret)
{
    const struct tg_conf *conf = tg_worker_settings(context)->conf;

    *ret = (struct tg_pool_limits){
        .threads_spare = (int)tg_conf_int(conf, TG_OPTION_POOL_THREADS_SPARE),
        .threads_most = (int)tg_conf_int(conf, TG_OPTION_POOL_THREADS_MAX),
        .idle_us = tg_conf_int(conf, TG_OPTION_POOL_THREADS_IDLE),
        .kept_us = KEPT_US,
        .send_timeout_us = tg_conf_int(conf, TG_OPTION_STREAM_SEND_TIMEOUT),
    };
}

/* ---- the main thread ---- */

/* Until SIGTERM. */
static void keep_house(struct tg_worker *worker, struct tg_pool *pool, const char *conf_path)
{
    const struct timespec pause = {.tv_sec = HOUSEKEEPING_US / 1000000};
    sigset_t wanted;
    int got;

    sigemptyset(&wanted);
    sigaddset(&wanted, SIGTERM);
    sigaddset(&wanted, SIGHUP);
    while ((got = sigtimedwait(&wanted, NULL, &pause)) != SIGTERM) {
        tg_reload(worker->reload, worker, conf_path, got == SIGHUP);
        if (got == SIGHUP)
            tg_snapshot_hurry(worker->snapshots);
        tg_pool_tend(pool);
        tg_http_pool_sweep(worker->http);
    }
}

/* What still runs at the end of its time ends with an error in the client's protocol and its bill.
 * False: something did not even do that. */
static bool drain(struct tg_worker *worker, struct tg_pool *pool)
{
    const uint64_t one = 1;
    int64_t limit_us = tg_conf_int(tg_worker_settings(worker)->conf, TG_OPTION_POOL_DRAIN_TIMEOUT);

    atomic_store(&worker->draining, true);
    if (tg_pool_drain(pool, tg_now_us() + limit_us))
        return true;
    tg_log(TG_LOG_INFO, "worker", "pool.drain_timeout: %d threads are told to end",
           tg_pool_figures(pool).threads);
    atomic_store(&worker->cut, true);
    tg_assert(write(worker->cut_fd, &one, sizeof one) == (ssize_t)sizeof one);
    return tg_pool_drain(pool, tg_now_us() + CUT_GRACE_US);
}

int tg_worker_run(const struct tg_birth *birth)
{
    char node[TG_NODE_TEXT];
    struct tg_worker worker = {.index = birth->index,
                               .spool_id = tg_unix_us() / 1000 * 1000 + birth->index,
                               .node = node,
                               .shared = birth->shared,
                               .encoders = birth->encoders,
                               .cut_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    const struct tg_pool_conf pool_conf = {.listen_fd = birth->listen_fd,
                                           .cut_fd = worker.cut_fd,
                                           .serve = serve,
                                           .thread_start = thread_start,
                                           .thread_stop = thread_stop,
                                           .limits = limits,
                                           .context = &worker};
    struct tg_watch *watch = NULL;
    struct tg_pool *pool = NULL;
    struct tg_error err;
    enum tg_class class;

    tg_assert(worker.cut_fd >= 0);
    tg_memory_share_heaps();
    tg_conf_node(birth->conf, node);
    worker.reload = tg_reload_new();
    class = open_all(&worker, birth->conf, &err);
    if (class == TG_OK) { /* with the settings of the options table from the first request on */
        tg_reload(worker.reload, &worker, birth->conf_path, false);
        class = tg_pool_start(&pool_conf, &pool, &err);
    }
    if (class != TG_OK) {
        tg_log_error(TG_LOG_ERROR, "worker", &err);
        close_all(&worker);
        return 1;
    }
    if (worker.index == 0)
        watch = tg_watch_new(&worker);
    (void)!write(birth->ready_fd, "", 1);
    keep_house(&worker, pool, birth->conf_path);
    tg_watch_free(watch);
    if (!drain(&worker, pool)) {
        tg_log(TG_LOG_WARNING, "worker",
               "%d threads did not end although they were told to",
               tg_pool_figures(pool).threads);
        _exit(0); /* their holds are ended by the daemon with what they had earned */
    }
    tg_pool_free(pool);
    tg_spool_end(worker.spool);
    close_all(&worker);
    return 0;
}
