#include "fcgi-app/relay/breaker_note.h"

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/store/channel_watch.h"
#include "fcgi-app/route/breaker.h"
#include "fcgi-app/shared.h"

#include <string.h>

enum { LOOK_US = 1000000, AGAIN_US = 30000000, STORE_WAIT_US = 2000000, ROWS_MOST = 1000 };

/* What the breakers say, and a hash of it. */
struct list {
    struct tg_arena *arena;
    struct tg_breaker_row *rows;
    size_t count;
    int64_t now_us;
    uint64_t hash;
};

static void mix(uint64_t *hash, const void *bytes, size_t len)
{
    const unsigned char *at = bytes;

    for (size_t i = 0; i < len; i++) /* FNV-1a */
        *hash = (*hash ^ at[i]) * UINT64_C(1099511628211);
}

static void add(void *context, const struct tg_breaker_view *view)
{
    struct list *list = context;

    if (list->count == ROWS_MOST)
        return;
    list->rows[list->count++] =
        (struct tg_breaker_row){.channel_id = view->channel_id,
                                .model = tg_arena_strdup(list->arena, view->model),
                                .probing = view->probing,
                                .left_us = TG_MAX(view->until_us - list->now_us, INT64_C(0))};
    mix(&list->hash, &view->channel_id, sizeof view->channel_id);
    mix(&list->hash, view->model, strlen(view->model));
    mix(&list->hash, &view->probing, sizeof view->probing);
    mix(&list->hash, &view->until_us, sizeof view->until_us);
}

static void write_rows(struct tg_worker *worker, const struct list *list,
                       struct tg_breaker_note *note)
{
    struct tg_error err = {0};
    struct tg_db *db = NULL;
    enum tg_class class =
        tg_db_acquire(worker->main_db, tg_now_us() + STORE_WAIT_US, &db, &err);

    if (class == TG_OK)
        class = tg_store_breakers(db, worker->node, list->rows, list->count, &err);
    tg_db_release(db);
    if (class != TG_OK) {
        tg_log_error(TG_LOG_INFO, "breaker", &err); /* the next look does it */
        return;
    }
    note->written = list->hash;
    note->written_at_us = tg_now_us();
}

void tg_breaker_note(struct tg_worker *worker, struct tg_breaker_note *note)
{
    struct list list = {.now_us = tg_now_us(), .hash = UINT64_C(14695981039346656037)};

    if (note->looked_at_us != 0 && list.now_us - note->looked_at_us < LOOK_US)
        return;
    note->looked_at_us = list.now_us;
    list.arena = tg_arena_new();
    list.rows = tg_arena_calloc(list.arena, ROWS_MOST, sizeof *list.rows);
    tg_breakers_each(tg_shared_breakers(worker->shared), add, &list);
    if (note->written_at_us == 0 || note->written != list.hash ||
        (list.count > 0 && list.now_us - note->written_at_us >= AGAIN_US))
        write_rows(worker, &list, note);
    tg_arena_free(list.arena);
}
