#include "fcgi-app/reload.h"

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/store/option.h"
#include "fcgi-app/process.h"
#include "fcgi-app/settings.h"

#include <stdlib.h>
#include <string.h>

enum { STORE_WAIT_US = 2000000 };

struct rows {
    struct tg_arena *arena;
    struct tg_conf_overlay *list;
    size_t count;
};

struct tg_reload {
    atomic_bool wished;
    struct rows rows;
    bool failing; /* the table could not be read; said once */
};

struct tg_reload *tg_reload_new(void)
{
    struct tg_reload *reload = tg_calloc(1, sizeof *reload);

    atomic_init(&reload->wished, true);
    return reload;
}

void tg_reload_free(struct tg_reload *reload)
{
    if (reload != NULL)
        tg_arena_free(reload->rows.arena);
    free(reload);
}

void tg_reload_wish(void *context)
{
    struct tg_reload *reload = context;

    atomic_store(&reload->wished, true);
}

/* ---- the table ---- */

static enum tg_class read_table(struct tg_worker *worker, struct rows *rows, struct tg_error *err)
{
    struct tg_db *db = NULL;
    enum tg_class class =
        tg_db_acquire(worker->main_db, tg_now_us() + STORE_WAIT_US, &db, err);

    if (class == TG_OK)
        class = tg_store_options(db, rows->arena, &rows->list, &rows->count, err);
    tg_db_release(db);
    return class;
}

static bool are_same(const struct rows *a, const struct rows *b)
{
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++)
        if (strcmp(a->list[i].name, b->list[i].name) != 0 ||
            strcmp(a->list[i].value, b->list[i].value) != 0)
            return false;
    return true;
}

/* True when it is another table than the one read last. */
static bool look(struct tg_reload *reload, struct tg_worker *worker)
{
    struct rows fresh = {.arena = tg_arena_new()};
    struct tg_error err;
    enum tg_class class = read_table(worker, &fresh, &err);
    bool changed = class == TG_OK && !are_same(&fresh, &reload->rows);

    if (class != TG_OK && !reload->failing)
        tg_log_error(TG_LOG_WARNING, "conf", &err);
    reload->failing = class != TG_OK;
    if (changed) {
        tg_arena_free(reload->rows.arena);
        reload->rows = fresh;
    } else {
        tg_arena_free(fresh.arena);
    }
    return changed;
}

/* ---- new settings ---- */

/* The rows that fit; <list> has room for all. */
static size_t fitting(const struct rows *rows, struct tg_conf_overlay *list)
{
    struct tg_error err;
    size_t count = 0;

    for (size_t i = 0; i < rows->count; i++) {
        if (tg_conf_check_overlay(&rows->list[i], &err) == TG_OK)
            list[count++] = rows->list[i];
        else
            tg_log_error(TG_LOG_WARNING, "conf", &err);
    }
    return count;
}

static enum tg_class make(const struct rows *rows, const char *conf_path,
                          struct tg_settings **ret, struct tg_error *err)
{
    struct tg_conf_overlay *list = tg_calloc(rows->count + 1, sizeof *list);
    struct tg_conf *conf = NULL;
    enum tg_class class = tg_conf_load(conf_path, list, fitting(rows, list), &conf, err);

    free(list);
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
    bool changed = (atomic_exchange(&reload->wished, false) || whole) && look(reload, worker);

    if (!changed && !whole)
        return;
    if (make(&reload->rows, conf_path, &settings, &err) != TG_OK) {
        tg_log_error(TG_LOG_ERROR, "conf", &err);
        return;
    }
    if (whole && tg_process_open_log(settings->conf, &err) != TG_OK)
        tg_log_error(TG_LOG_ERROR, "log", &err);
    settings->previous = atomic_load(&worker->settings);
    atomic_store_explicit(&worker->settings, settings, memory_order_release);
    tg_log(TG_LOG_INFO, "conf", "new settings, %zu of them from the options table",
           reload->rows.count);
}
