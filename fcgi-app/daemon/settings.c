#include "fcgi-app/daemon/settings.h"

#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/store/overlay.h"

#include <stdlib.h>

struct made {
    struct tg_conf *conf;
    struct made *previous;
};

struct daemon_settings {
    struct daemon *daemon;
    const char *path;
    struct tg_overlay *overlay;
    struct made *last;
};

/* In force from here on. */
static enum tg_class make(struct daemon_settings *settings, struct tg_error *err)
{
    struct made *made = tg_calloc(1, sizeof *made);
    enum tg_class class = tg_overlay_conf(settings->overlay, settings->path, &made->conf, err);

    if (class != TG_OK) {
        free(made);
        return class;
    }
    made->previous = settings->last;
    settings->last = made;
    atomic_store(&settings->daemon->conf, made->conf);
    return TG_OK;
}

struct daemon_settings *daemon_settings_new(struct daemon *daemon, const char *path,
                                            struct tg_error *err)
{
    struct daemon_settings *settings = tg_calloc(1, sizeof *settings);

    settings->daemon = daemon;
    settings->path = path;
    settings->overlay = tg_overlay_new();
    if (make(settings, err) == TG_OK)
        return settings;
    daemon_settings_free(settings);
    return NULL;
}

void daemon_settings_free(struct daemon_settings *settings)
{
    if (settings == NULL)
        return;
    while (settings->last != NULL) {
        struct made *made = settings->last;

        settings->last = made->previous;
        tg_conf_free(made->conf);
        free(made);
    }
    tg_overlay_free(settings->overlay);
    free(settings);
}

void daemon_settings_look(struct daemon_settings *settings, bool whole)
{
    struct tg_error err;

    if (!tg_overlay_look(settings->overlay, settings->daemon->main_pool) && !whole)
        return;
    if (make(settings, &err) != TG_OK)
        tg_log_error(TG_LOG_ERROR, "conf", &err);
    else
        tg_overlay_in_force(settings->overlay);
}
