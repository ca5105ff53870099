#include "fcgi-app/settings.h"

#include <string.h>
#include <sys/resource.h>

/* A running stream has its own connection, the upstream's, and libcurl's wake-up pair; while it
 * begins, a body's file. An idle upstream connection has three (AMENDMENTS T2). */
enum { REQUEST_FILES = 5, IDLE_FILES = 3, OTHER_FILES = 40, FREE_THREADS = 8 };

/* Descriptors are shared out before they run out: above the limits requests are shed. */
static void share_out(struct tg_settings *settings)
{
    const struct tg_conf *conf = settings->conf;
    int64_t threads = tg_conf_int(conf, TG_OPTION_POOL_THREADS_MAX);
    int64_t idle = tg_conf_int(conf, TG_OPTION_UPSTREAM_POOL_SIZE), files;
    struct rlimit limit;

    settings->requests_most = TG_MAX(threads - TG_MIN(FREE_THREADS, threads / 4), INT64_C(1));
    settings->idle_most = (size_t)idle;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
        limit.rlim_cur > INT32_MAX)
        return;
    files = (int64_t)limit.rlim_cur;
    idle = TG_MIN(idle, files / 4 / IDLE_FILES);
    files -= idle * IDLE_FILES + OTHER_FILES + tg_conf_int(conf, TG_OPTION_REDIS_CONNECTIONS) +
             tg_conf_int(conf, TG_OPTION_DATABASE_CONNECTIONS);
    settings->idle_most = (size_t)idle;
    settings->requests_most = TG_MAX(TG_MIN(settings->requests_most, files / REQUEST_FILES),
                                     INT64_C(1));
}

/* "a, b": names with commas and blanks between. */
static void read_auto_groups(struct tg_settings *settings)
{
    const char *at = tg_conf_text(settings->conf, TG_OPTION_ROUTING_AUTO_GROUPS);
    const char **groups = tg_arena_calloc(settings->arena, strlen(at) / 2 + 1, sizeof *groups);

    settings->auto_groups = groups;
    for (at += strspn(at, ", "); *at != '\0'; at += strspn(at, ", ")) {
        size_t len = strcspn(at, ", ");

        groups[settings->auto_group_count++] = tg_arena_strndup(settings->arena, at, len);
        at += len;
    }
}

/* The lists live in an arena beside the settings, for the process's life as they do. */
enum tg_class tg_settings_new(struct tg_conf *conf, struct tg_settings **ret, struct tg_error *err)
{
    struct tg_arena *arena = tg_arena_new();
    struct tg_settings *settings = tg_arena_calloc(arena, 1, sizeof *settings);
    enum tg_class class;

    settings->conf = conf;
    settings->arena = arena;
    class = tg_cidrs_parse(arena, tg_conf_text(conf, TG_OPTION_NET_CHANNEL_ALLOW),
                           &settings->channel_allow, &settings->channel_allow_count, err);
    if (class == TG_OK)
        class = tg_cidrs_parse(arena, tg_conf_text(conf, TG_OPTION_NET_TRUSTED_PROXIES),
                               &settings->trusted_proxies, &settings->trusted_proxies_count, err);
    if (class == TG_OK)
        class = tg_cidrs_parse(arena, tg_conf_text(conf, TG_OPTION_NET_METRICS_ALLOW),
                               &settings->metrics_allow, &settings->metrics_allow_count, err);
    if (class == TG_OK && !tg_status_ranges_parse(tg_conf_text(conf, TG_OPTION_RETRY_STATUSES),
                                                  &settings->retry_statuses))
        class = tg_fail(err, TG_CLASS_CONFIG, "conf_ranges", "retry.statuses: no list of ranges");
    if (class == TG_OK &&
        !tg_status_ranges_parse(tg_conf_text(conf, TG_OPTION_AUTO_DISABLE_STATUSES),
                                &settings->disable_statuses))
        class = tg_fail(err, TG_CLASS_CONFIG, "conf_ranges",
                        "auto_disable.statuses: no list of ranges");
    if (class != TG_OK) {
        tg_arena_free(arena);
        return class;
    }
    read_auto_groups(settings);
    share_out(settings);
    *ret = settings;
    return TG_OK;
}

void tg_settings_free(struct tg_settings *settings)
{
    while (settings != NULL) {
        struct tg_settings *previous = settings->previous;

        tg_conf_free(settings->conf);
        tg_arena_free(settings->arena);
        settings = previous;
    }
}

const struct tg_settings *tg_worker_settings(struct tg_worker *worker)
{
    return atomic_load_explicit(&worker->settings, memory_order_acquire);
}
