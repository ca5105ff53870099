/* tollgate-ledger: the journal into the books, and everything that keeps them whole. */
#include "fcgi-app/daemon/daemon.h"

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/conf/node.h"
#include "fcgi-app/daemon/settings.h"

#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

/* Each thread holds one connection of every kind it needs; loading accounts takes one more. */
enum { LEAST_CONNECTIONS = DAEMON_SHARD_THREADS + 4 };

static const char usage[] =
    "Usage: tollgate-ledger [--conf FILE] [--once]\n"
    "Applies the journal of the live ledger to the databases, tells it again what it may have\n"
    "missed, and mends it after a restart. Runs in the foreground until SIGTERM.\n\n"
    "  --conf FILE   configuration (default: TOLLGATE_CONF, else the installed place)\n"
    "  --once        does what can be done now, then ends: 0 done, 1 a store is away\n"
    "  --help, --version\n";

struct arguments {
    const char *conf_path;
    bool once;
};

/* -1: go on; else the exit code. */
static int read_arguments(int argc, char **argv, struct arguments *ret)
{
    static const struct option options[] = {{"conf", required_argument, NULL, 'c'},
                                            {"once", no_argument, NULL, 'o'},
                                            {"help", no_argument, NULL, 'h'},
                                            {"version", no_argument, NULL, 'v'},
                                            {NULL, 0, NULL, 0}};
    int got;

    *ret = (struct arguments){.conf_path = tg_conf_default_path()};
    while ((got = getopt_long(argc, argv, "", options, NULL)) != -1) {
        switch (got) {
        case 'c':
            ret->conf_path = optarg;
            break;
        case 'o':
            ret->once = true;
            break;
        case 'h':
            fputs(usage, stdout);
            return 0;
        case 'v':
            puts("tollgate-ledger " PACKAGE_VERSION);
            return 0;
        default:
            fputs(usage, stderr);
            return 2;
        }
    }
    if (optind == argc)
        return -1;
    fputs(usage, stderr);
    return 2;
}

static enum tg_class open_log(const struct tg_conf *conf, struct tg_error *err)
{
    enum tg_log_level level;

    if (!tg_log_level_parse(tg_conf_text(conf, TG_OPTION_LOG_LEVEL), &level))
        return tg_fail(err, TG_CLASS_CONFIG, "conf_value", "log.level is none of the four levels");
    return tg_log_open("tollgate-ledger", tg_conf_text(conf, TG_OPTION_LOG_FILE), level, err);
}

static enum tg_class open_database(const struct tg_conf *conf, enum tg_option_id dsn,
                                   enum tg_option_id password_file, struct tg_db_pool **ret,
                                   struct tg_error *err)
{
    struct tg_buf password;
    enum tg_class class;

    tg_buf_init(&password, 0);
    class = tg_conf_password(tg_conf_text(conf, password_file), &password, err);
    if (class == TG_OK) {
        struct tg_db_conf db = {
            .dsn = tg_conf_text(conf, dsn),
            .password = tg_buf_text(&password),
            .connections = (int)TG_MAX(tg_conf_int(conf, TG_OPTION_DATABASE_CONNECTIONS),
                                       LEAST_CONNECTIONS),
            .timeout_us = tg_conf_int(conf, TG_OPTION_DATABASE_TIMEOUT)};

        class = tg_db_pool_new(&db, ret, err);
    }
    tg_buf_done(&password);
    return class;
}

static enum tg_class open_redis(const struct tg_conf *conf, struct tg_kv_pool **ret,
                                struct tg_error *err)
{
    struct tg_buf password;
    enum tg_class class;

    tg_buf_init(&password, 0);
    class =
        tg_conf_password(tg_conf_text(conf, TG_OPTION_REDIS_PASSWORD_FILE), &password, err);
    if (class == TG_OK) {
        struct tg_kv_conf kv = {
            .address = tg_conf_text(conf, TG_OPTION_REDIS_ADDRESS),
            .user = tg_conf_text(conf, TG_OPTION_REDIS_USER),
            .password = tg_buf_text(&password),
            .connections = (int)TG_MAX(tg_conf_int(conf, TG_OPTION_REDIS_CONNECTIONS),
                                       LEAST_CONNECTIONS)};

        class = tg_kv_pool_new(&kv, ret, err);
    }
    tg_buf_done(&password);
    return class;
}

static enum tg_class open_all(struct daemon *daemon, struct tg_error *err)
{
    const struct tg_conf *conf = daemon->conf;
    enum tg_class class = open_log(conf, err);

    tg_conf_node(conf, daemon->node);
    daemon->single = strcmp(tg_conf_text(conf, TG_OPTION_REDIS_ADDRESS), TG_KV_NONE) == 0;
    if (class == TG_OK)
        class = open_database(conf, TG_OPTION_DATABASE_MAIN,
                              TG_OPTION_DATABASE_MAIN_PASSWORD_FILE, &daemon->main_pool, err);
    if (class == TG_OK)
        class = open_database(conf, TG_OPTION_DATABASE_LOG, TG_OPTION_DATABASE_LOG_PASSWORD_FILE,
                              &daemon->log_pool, err);
    if (class == TG_OK)
        class = open_redis(conf, &daemon->kv_pool, err);
    if (class == TG_OK)
        daemon->ledger = tg_ledger_new(&(struct tg_ledger_conf){
            .kv = daemon->kv_pool,
            .main_db = daemon->main_pool,
            .node = daemon->node,
            .lease_us = tg_conf_int(conf, TG_OPTION_HOLD_LEASE)});
    return class;
}

static void close_all(struct daemon *daemon)
{
    tg_ledger_free(daemon->ledger);
    tg_kv_pool_free(daemon->kv_pool);
    tg_db_pool_free(daemon->log_pool);
    tg_db_pool_free(daemon->main_pool);
}

static bool all_on(struct daemon *daemon)
{
    if (daemon->single)
        return true;
    for (int i = 0; i < TG_SHARDS; i++)
        if (!atomic_load(&daemon->shard_on[i]))
            return false;
    return true;
}

/* SIGHUP, or it is time to look at the options table. */
static void renew(struct daemon *daemon, struct daemon_settings *settings, bool whole)
{
    struct tg_error err;

    daemon_settings_look(settings, whole);
    if (whole && open_log(daemon->conf, &err) != TG_OK)
        tg_log_error(TG_LOG_ERROR, "log", &err);
}

/* Until a signal to end: says once that all shards are on, and keeps the settings new. */
static void watch(struct daemon *daemon, struct daemon_settings *settings,
                  const sigset_t *signals)
{
    static const struct timespec soon = {.tv_nsec = 50000000}, later = {.tv_sec = 1};
    int64_t looked_at_us = tg_now_us();
    bool ready = false;

    for (;;) {
        int got = sigtimedwait(signals, NULL, ready ? &later : &soon);
        int64_t every_us = tg_conf_int(daemon->conf, TG_OPTION_SNAPSHOT_INTERVAL);

        if (got == SIGTERM || got == SIGINT)
            return;
        if (got == SIGHUP || tg_now_us() - looked_at_us >= every_us) {
            renew(daemon, settings, got == SIGHUP);
            looked_at_us = tg_now_us();
        }
        if (!ready && all_on(daemon)) {
            ready = true;
            tg_log(TG_LOG_INFO, "tollgate-ledger", "ready");
        }
    }
}

static void run_threads(struct daemon *daemon, struct daemon_settings *settings,
                        const sigset_t *signals)
{
    static void *(*const others[])(void *) = {daemon_records_thread, daemon_replay_thread,
                                              daemon_jobs_thread};
    struct daemon_shards shards[DAEMON_SHARD_THREADS];
    pthread_t threads[DAEMON_SHARD_THREADS + TG_COUNT_OF(others)];
    size_t count = 0;

    for (int i = 0; i < DAEMON_SHARD_THREADS && !daemon->single; i++) {
        shards[i] = (struct daemon_shards){.daemon = daemon, .index = i};
        tg_assert(pthread_create(&threads[count++], NULL, daemon_shards_thread, &shards[i]) == 0);
    }
    for (size_t i = 0; i < TG_COUNT_OF(others); i++)
        tg_assert(pthread_create(&threads[count++], NULL, others[i], daemon) == 0);
    watch(daemon, settings, signals);
    daemon_stop(daemon);
    for (size_t i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    tg_log(TG_LOG_INFO, "tollgate-ledger", "stopped");
}

/* The threads inherit the mask: signals come to watch() only. */
static void block_signals(sigset_t *ret)
{
    sigemptyset(ret);
    sigaddset(ret, SIGTERM);
    sigaddset(ret, SIGINT);
    sigaddset(ret, SIGHUP);
    pthread_sigmask(SIG_BLOCK, ret, NULL);
    signal(SIGPIPE, SIG_IGN);
}

static void init_stop(struct daemon *daemon)
{
    pthread_condattr_t attributes;

    pthread_mutex_init(&daemon->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&daemon->stopped, &attributes);
    pthread_condattr_destroy(&attributes);
}

int main(int argc, char **argv)
{
    struct daemon daemon = {0};
    struct arguments arguments;
    struct daemon_settings *settings;
    struct tg_error err = {0};
    sigset_t signals;
    int code = read_arguments(argc, argv, &arguments);
    bool good;

    if (code >= 0)
        return code;
    tg_memory_keep();
    init_stop(&daemon);
    block_signals(&signals);
    settings = daemon_settings_new(&daemon, arguments.conf_path, &err);
    good = settings != NULL && open_all(&daemon, &err) == TG_OK;
    if (good)
        daemon_settings_look(settings, false);
    if (good && arguments.once)
        good = daemon_once(&daemon, &err) == TG_OK;
    else if (good)
        run_threads(&daemon, settings, &signals);
    if (!good)
        fprintf(stderr, "tollgate-ledger: %s\n", err.message);
    close_all(&daemon);
    daemon_settings_free(settings);
    return good ? 0 : 1;
}
