#include "common/store/overlay.h"

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/store/option.h"

#include <stdlib.h>
#include <string.h>

enum { STORE_WAIT_US = 2000000 };

struct rows {
    struct tg_arena *arena;
    struct tg_conf_overlay *list;
    size_t count;
};

struct tg_overlay {
    struct rows rows;
    bool failing; /* the table could not be read; said once */
};

struct tg_overlay *tg_overlay_new(void)
{
    return tg_calloc(1, sizeof(struct tg_overlay));
}

void tg_overlay_free(struct tg_overlay *overlay)
{
    if (overlay != NULL)
        tg_arena_free(overlay->rows.arena);
    free(overlay);
}

/* ---- the table ---- */

static enum tg_class read_table(struct tg_db_pool *main_db, struct rows *rows,
                                struct tg_error *err)
{
    struct tg_db *db = NULL;
    enum tg_class class = tg_db_acquire(main_db, tg_now_us() + STORE_WAIT_US, &db, err);

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

bool tg_overlay_look(struct tg_overlay *overlay, struct tg_db_pool *main_db)
{
    struct rows fresh = {.arena = tg_arena_new()};
    struct tg_error err;
    enum tg_class class = read_table(main_db, &fresh, &err);
    bool changed = class == TG_OK && !are_same(&fresh, &overlay->rows);

    if (class != TG_OK && !overlay->failing)
        tg_log_error(TG_LOG_WARNING, "conf", &err);
    overlay->failing = class != TG_OK;
    if (changed) {
        tg_arena_free(overlay->rows.arena);
        overlay->rows = fresh;
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

enum tg_class tg_overlay_conf(const struct tg_overlay *overlay, const char *path,
                              struct tg_conf **ret, struct tg_error *err)
{
    struct tg_conf_overlay *list = tg_calloc(overlay->rows.count + 1, sizeof *list);
    enum tg_class class = tg_conf_load(path, list, fitting(&overlay->rows, list), ret, err);

    free(list);
    return class;
}

void tg_overlay_in_force(const struct tg_overlay *overlay)
{
    tg_log(TG_LOG_INFO, "conf", "new settings, %zu of them from the options table",
           overlay->rows.count);
}
