#include "fcgi-app/settings.h"

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
    if (class != TG_OK) {
        tg_arena_free(arena);
        return class;
    }
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
