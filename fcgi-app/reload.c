#include "fcgi-app/reload.h"

#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/store/overlay.h"
#include "fcgi-app/process.h"
#include "fcgi-app/settings.h"

#include <stdlib.h>

struct tg_reload {
    atomic_bool wished;
    struct tg_overlay *overlay;
};

struct tg_reload *tg_reload_new(void)
{
    struct tg_reload *reload = tg_calloc(1, sizeof *reload);

    atomic_init(&reload->wished, true);
    reload->overlay = tg_overlay_new();
    return reload;
}

void tg_reload_free(struct tg_reload *reload)
{
    if (reload != NULL)
        tg_overlay_free(reload->overlay);
    free(reload);
}

void tg_reload_wish(void *context)
{
    struct tg_reload *reload = context;

    atomic_store(&reload->wished, true);
}

static enum tg_class make(const struct tg_overlay *overlay, const char *conf_path,
                          struct tg_settings **ret, struct tg_error *err)
{
    struct tg_conf *conf = NULL;
    enum tg_class class = tg_overlay_conf(overlay, conf_path, &conf, err);

    if (class == TG_OK)
        class = tg_settings_new(conf, ret, err);
    if (class != TG_OK)
        tg_conf_free(conf);
    return class;
}

void tg_reload(struct tg_reload *reload, struct tg_worker *worker, const char *conf_path,
               bool whole)
{
    struct tg_settings *settings;
    struct tg_error err;
    bool changed = (atomic_exchange(&reload->wished, false) || whole) &&
                   tg_overlay_look(reload->overlay, worker->main_db);

    if (!changed && !whole)
        return;
    if (make(reload->overlay, conf_path, &settings, &err) != TG_OK) {
        tg_log_error(TG_LOG_ERROR, "conf", &err);
        return;
    }
    if (whole && tg_process_open_log(settings->conf, &err) != TG_OK)
        tg_log_error(TG_LOG_ERROR, "log", &err);
    settings->previous = atomic_load(&worker->settings);
    atomic_store_explicit(&worker->settings, settings, memory_order_release);
    tg_overlay_in_force(reload->overlay);
}
