#include "common/ledger/spool_watch.h"

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/ledger/spool.h"
#include "common/store/doubt.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROUND_LINES = 2000, RIPE_US = 2000000 };

struct place {
    char *path;
    int64_t offset; /* all before it is known */
    size_t seen;    /* whole lines behind it, when they were counted */
    size_t ripe;    /* of these, how many are old enough to be told again */
    int64_t seen_at_us;
    int64_t last_line; /* its number: the last one before the offset */
    int64_t lines;     /* how many the file's mark says there are, when it was read */
    bool in_order;     /* it also says that its worker ended in order */
    int64_t worker;
    bool listed; /* still there */
};

struct tg_spool_watch {
    char *folder, *node;
    struct place *places;
    size_t count;
    int64_t ripe_us;
    bool backlog;
};

struct tg_spool_watch *tg_spool_watch_new(const char *folder, const char *node)
{
    struct tg_spool_watch *watch = tg_calloc(1, sizeof *watch);

    watch->folder = tg_strdup(folder);
    watch->node = tg_strdup(node);
    watch->ripe_us = RIPE_US;
    return watch;
}

void tg_spool_watch_free(struct tg_spool_watch *watch)
{
    if (watch == NULL)
        return;
    for (size_t i = 0; i < watch->count; i++)
        free(watch->places[i].path);
    free(watch->places);
    free(watch->folder);
    free(watch->node);
    free(watch);
}

void tg_spool_watch_set_ripe(struct tg_spool_watch *watch, int64_t ripe_us)
{
    watch->ripe_us = ripe_us;
}

static struct place *place_of(struct tg_spool_watch *watch, const char *path)
{
    struct place *place;

    for (size_t i = 0; i < watch->count; i++)
        if (strcmp(watch->places[i].path, path) == 0)
            return &watch->places[i];
    watch->places = tg_realloc(watch->places, (watch->count + 1) * sizeof *watch->places);
    place = &watch->places[watch->count++];
    *place = (struct place){.path = tg_strdup(path), .seen_at_us = tg_now_us()};
    return place;
}

static void forget_gone(struct tg_spool_watch *watch)
{
    size_t kept = 0;

    for (size_t i = 0; i < watch->count; i++) {
        if (watch->places[i].listed)
            watch->places[kept++] = watch->places[i];
        else
            free(watch->places[i].path);
    }
    watch->count = kept;
}

/* The lines behind a place, copied out of the reader's memory. */
struct lines {
    struct tg_arena *arena;
    struct tg_replay_item *items;
    int64_t *starts; /* in the file; one more than lines */
    size_t count;
    int64_t offset;  /* moved by the reader */
    bool more; /* there were more than one round takes, or some are not known */
};

static bool collect(void *context, const struct tg_entry *entry)
{
    struct lines *lines = context;
    struct tg_entry *copy;

    lines->starts[lines->count] = lines->offset;
    if (lines->count == ROUND_LINES) {
        lines->more = true;
        return false;
    }
    copy = tg_arena_alloc(lines->arena, sizeof *copy);
    *copy = *entry;
    copy->record.ptr = tg_arena_strndup(lines->arena, entry->record.ptr, entry->record.len);
    lines->items[lines->count++].entry = copy;
    return true;
}

static bool is_done(const struct tg_replay_item *item)
{
    return item->fate == TG_REPLAY_KNOWN || item->fate == TG_REPLAY_REFUSED;
}

static void age(const struct tg_spool_watch *watch, struct place *place,
                const struct tg_spool_file *file, size_t count)
{
    int64_t now_us = tg_now_us();

    if (!file->writer_alive) {
        place->ripe = count;
        return;
    }
    if (now_us - place->seen_at_us < watch->ripe_us)
        return;
    place->ripe = place->seen;
    place->seen = count;
    place->seen_at_us = now_us;
}

/* Moves the place behind the first <known> lines. */
static void advance(struct place *place, const struct lines *lines, size_t known)
{
    if (known > 0)
        place->offset = lines->starts[known];
    place->seen -= TG_MIN(place->seen, known);
    place->ripe -= TG_MIN(place->ripe, known);
}

/* Lines that are not there, as the numbers of the others say. */
static enum tg_class note_missing(const struct tg_spool_watch *watch, const struct place *place,
                                  int64_t up_to, const struct tg_replay *replay)
{
    char detail[200];
    const char *name = strrchr(place->path, '/');
    const struct tg_doubt doubt = {.kind = "spool",
                                   .node = watch->node,
                                   .worker = place->worker,
                                   .place = up_to,
                                   .detail = detail};

    if (up_to <= place->last_line)
        return TG_OK;
    snprintf(detail, sizeof detail, "lines %" PRId64 " to %" PRId64 " are missing in %s",
             place->last_line + 1, up_to, name != NULL ? name + 1 : place->path);
    tg_log(TG_LOG_ERROR, "spool", "%s", detail);
    return tg_doubt_note(replay->db, &doubt, replay->err);
}

static enum tg_class count_lines(const struct tg_spool_watch *watch, struct place *place,
                                 const struct tg_replay *replay, const struct lines *lines,
                                 size_t known)
{
    enum tg_class class = TG_OK;

    for (size_t i = 0; class == TG_OK && i < known; i++) {
        int64_t number = lines->items[i].entry->spool_line;

        class = note_missing(watch, place, number - 1, replay);
        if (class == TG_OK)
            place->last_line = TG_MAX(place->last_line, number);
    }
    return class;
}

static void read_mark(struct place *place, const struct tg_spool_seen *seen)
{
    if (!seen->marked)
        return;
    place->lines = seen->lines;
    place->in_order = seen->in_order;
}

static enum tg_class replay_lines(const struct tg_spool_watch *watch, struct place *place,
                                  const struct tg_replay *replay, struct lines *lines)
{
    size_t known = 0;
    enum tg_class class;

    for (size_t i = 0; i < lines->count; i++)
        lines->items[i].only_ask = i >= place->ripe;
    class = tg_replay_run(replay, lines->items, lines->count);
    while (known < lines->count && is_done(&lines->items[known]))
        known++;
    lines->more = lines->more || known < lines->count;
    if (class == TG_OK)
        class = count_lines(watch, place, replay, lines, known);
    if (class == TG_OK)
        advance(place, lines, known);
    return class;
}

/* Everything in it is known and nobody writes to it any more. */
static enum tg_class be_done_with(const struct tg_spool_watch *watch, struct place *place,
                                  const struct tg_replay *replay)
{
    enum tg_class class = note_missing(watch, place, place->lines, replay);

    if (class == TG_OK && place->in_order)
        class = tg_worker_end_note(replay->db, watch->node, place->worker, replay->err);
    if (class != TG_OK)
        return class;
    (void)unlink(place->path);
    place->listed = false;
    return TG_OK;
}

static enum tg_class replay_file(struct tg_spool_watch *watch, struct place *place,
                                 const struct tg_spool_file *file, const struct tg_replay *replay,
                                 bool *ret_clear)
{
    struct lines lines = {.arena = tg_arena_new(), .offset = place->offset};
    struct tg_spool_seen seen;
    enum tg_class class;

    lines.items = tg_arena_calloc(lines.arena, ROUND_LINES, sizeof *lines.items);
    lines.starts = tg_arena_calloc(lines.arena, ROUND_LINES + 1, sizeof *lines.starts);
    class = tg_spool_read(place->path, &lines.offset, collect, &lines, &seen);
    if (!lines.more)
        lines.starts[lines.count] = lines.offset;
    if (class != TG_OK)
        class = tg_fail(replay->err, class, "spool_read", "cannot read %s", place->path);
    watch->backlog = watch->backlog || lines.more;
    age(watch, place, file, lines.count);
    place->worker = file->worker;
    read_mark(place, &seen);
    if (class == TG_OK && lines.count > 0)
        class = replay_lines(watch, place, replay, &lines);
    *ret_clear = class == TG_OK && !lines.more;
    /* a torn line was never whole: its writer died in the middle, before it asked for anything */
    if (*ret_clear && !file->writer_alive) {
        if (seen.torn > 0)
            tg_log(TG_LOG_WARNING, "spool", "%s held %" PRId64 " torn lines", place->path,
                   seen.torn);
        class = be_done_with(watch, place, replay);
    }
    tg_arena_free(lines.arena);
    return class;
}

enum tg_class tg_spool_watch_round(struct tg_spool_watch *watch, const struct tg_replay *replay,
                                   bool *ret_clear)
{
    struct tg_arena *arena = tg_arena_new();
    struct tg_spool_file *files = NULL;
    size_t count = 0;
    bool all = true;
    enum tg_class class = tg_spool_list(watch->folder, watch->node, arena, &files, &count);

    if (class != TG_OK)
        class = tg_fail(replay->err, class, "spool_read", "cannot read %s", watch->folder);
    watch->backlog = false;
    for (size_t i = 0; class == TG_OK && i < watch->count; i++)
        watch->places[i].listed = false;
    for (size_t i = 0; class == TG_OK && i < count; i++)
        place_of(watch, files[i].path)->listed = true;
    for (size_t i = 0; class == TG_OK && i < count; i++) {
        bool clear = false;

        class = replay_file(watch, place_of(watch, files[i].path), &files[i], replay, &clear);
        all = all && clear;
    }
    if (class == TG_OK)
        forget_gone(watch);
    tg_arena_free(arena);
    *ret_clear = class == TG_OK && all;
    return class;
}

bool tg_spool_watch_has_backlog(const struct tg_spool_watch *watch)
{
    return watch->backlog;
}

/* A file of a dead worker goes as soon as its lines are known: none left means done. */
bool tg_spool_watch_is_done_with(const struct tg_spool_watch *watch, int64_t worker)
{
    struct tg_arena *arena;
    struct tg_spool_file *files;
    size_t count;
    bool done;

    /* no folder: this is not where the workers write, so nothing is known about them */
    if (access(watch->folder, R_OK) != 0 ||
        tg_spool_worker_is_alive(watch->folder, watch->node, worker))
        return false;
    arena = tg_arena_new();
    done = tg_spool_list(watch->folder, watch->node, arena, &files, &count) == TG_OK;
    for (size_t i = 0; done && i < count; i++)
        done = files[i].worker != worker;
    tg_arena_free(arena);
    return done;
}
