#include "fcgi-app/daemon/daemon.h"
#include "fcgi-app/daemon/once.h"

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/ledger/rebuild.h"

#include <string.h>

enum {
    ANSWER_US = 2000000,
    /* a transaction costs much more than an entry: under load they are collected for longer */
    LOAD_ENTRIES = 50, /* in one round */
    LOAD_PAUSE_US = 400000,
    BUSY_PAUSE_US = 50000,
    IDLE_PAUSE_US = 200000,
    CHECK_EVERY_US = 1000000,
    PAGES_IN_A_ROW = 16 /* then the next shard has its turn */
};

/* What a thread remembers of one of its shards. */
struct shard {
    struct tg_cursor cursor;
    char applied[TG_STREAM_ID_TEXT]; /* where the cursor was at <applied_at_us>, ... */
    int64_t applied_at_us;
    int64_t applied_epoch; /* ... in this epoch: another one may count from lower ids */
};

struct worker {
    struct daemon *daemon;
    int first, step;
    size_t moved; /* entries of the last round */
    int rebuilt;  /* since it was last logged */
    int64_t checked_at_us;
    struct shard shards[TG_SHARDS];
};

static struct tg_apply apply_of(struct worker *worker, struct daemon_links *links, int shard,
                                struct tg_error *err)
{
    return (struct tg_apply){
        .kv = links->kv,
        .db = links->main_db,
        .shard = shard,
        .batch_count = (size_t)tg_conf_int(worker->daemon->conf, TG_OPTION_LEDGER_BATCH),
        .answer_us = ANSWER_US,
        .err = err};
}

static enum tg_class read_cursors(struct worker *worker, struct daemon_links *links,
                                  struct tg_error *err)
{
    struct tg_cursor cursors[TG_SHARDS];
    enum tg_class class = tg_store_cursors(links->main_db, cursors, err);

    for (int i = 0; class == TG_OK && i < TG_SHARDS; i++)
        worker->shards[i].cursor = cursors[i];
    return class;
}

/* Is the shard on? Rebuilds it when it must be. */
static enum tg_class check(struct worker *worker, struct daemon_links *links, int shard,
                           struct tg_error *err)
{
    struct tg_rebuild rebuild = {.apply = apply_of(worker, links, shard, err),
                                 .node = worker->daemon->node};
    struct tg_shard_call call = tg_apply_call(&rebuild.apply, 0);
    struct tg_shard_state state;
    const char *reason;

    if (tg_shard_read_state(&call, &state) != TG_SHARD_OK)
        return TG_CLASS_DOWN;
    reason = tg_rebuild_reason(&worker->shards[shard].cursor, &state, tg_kv_run_id(links->kv));
    atomic_store(&worker->daemon->shard_on[shard], reason == NULL);
    if (reason == NULL)
        return TG_OK;
    switch (tg_rebuild_shard(&rebuild)) {
    case TG_REBUILD_DONE:
        if (worker->rebuilt++ == 0)
            tg_log(TG_LOG_WARNING, "rebuild", "shard %d was rebuilt: %s", shard, reason);
        /* fall through */
    case TG_REBUILD_NEEDLESS:
        atomic_store(&worker->daemon->shard_on[shard], true);
        return read_cursors(worker, links, err);
    case TG_REBUILD_BUSY: /* another daemon is at it: seen at the next check */
        return TG_OK;
    default:
        /* a newer epoch came between: the next check looks at what it left */
        return err->class == TG_CLASS_CONFLICT ? TG_OK : err->class;
    }
}

static enum tg_class apply_some(struct worker *worker, struct daemon_links *links, int shard,
                                struct tg_error *err)
{
    struct tg_apply apply = apply_of(worker, links, shard, err);
    size_t count = 0;

    for (int i = 0; i < PAGES_IN_A_ROW && !daemon_is_stopping(worker->daemon); i++) {
        enum tg_class class = tg_apply_page(&apply, &worker->shards[shard].cursor, &count);

        if (class == TG_CLASS_CONFLICT) { /* of another epoch, server or owner */
            worker->checked_at_us = 0;
            return TG_OK;
        }
        if (class != TG_OK)
            return class;
        worker->moved += count;
        if (count < apply.batch_count)
            break;
    }
    return TG_OK;
}

/* Trims up to where the cursor was `ledger.journal_keep` ago: a MySQL failover that lost its last
 * seconds finds the entries of these seconds again, and an audit the ones behind its snapshot. */
static enum tg_class trim(struct worker *worker, struct daemon_links *links, int shard,
                          struct tg_error *err)
{
    int64_t keep_us = tg_conf_int(worker->daemon->conf, TG_OPTION_LEDGER_JOURNAL_KEEP);
    struct tg_apply apply = apply_of(worker, links, shard, err);
    struct shard *own = &worker->shards[shard];
    struct tg_shard_call call = tg_apply_call(&apply, own->cursor.epoch);
    int64_t now_us = tg_now_us();
    enum tg_shard_answer answer = TG_SHARD_OK;

    if (own->applied_epoch == own->cursor.epoch) {
        if (now_us - own->applied_at_us < keep_us)
            return TG_OK;
        answer = tg_shard_trim(&call, own->applied, keep_us / 1000);
    }
    memcpy(own->applied, own->cursor.stream_id, sizeof own->applied);
    own->applied_at_us = now_us;
    own->applied_epoch = own->cursor.epoch;
    return answer == TG_SHARD_DOWN ? TG_CLASS_DOWN : TG_OK;
}

static enum tg_class check_all(struct worker *worker, struct daemon_links *links,
                               struct tg_error *err)
{
    enum tg_class class = read_cursors(worker, links, err);

    for (int i = worker->first; class == TG_OK && i < TG_SHARDS; i += worker->step) {
        if (daemon_is_stopping(worker->daemon))
            return TG_OK;
        class = check(worker, links, i, err);
        if (class == TG_OK && atomic_load(&worker->daemon->shard_on[i]))
            class = trim(worker, links, i, err);
    }
    if (worker->rebuilt > 1)
        tg_log(TG_LOG_WARNING, "rebuild", "%d shards were rebuilt", worker->rebuilt);
    worker->rebuilt = 0;
    worker->checked_at_us = tg_now_us();
    return class;
}

static enum tg_class shards_round(void *context, struct daemon_links *links,
                                  int64_t *ret_pause_us, struct tg_error *err)
{
    struct worker *worker = context;
    enum tg_class class = TG_OK;

    if (tg_now_us() - worker->checked_at_us >= CHECK_EVERY_US)
        class = check_all(worker, links, err);
    else if (worker->moved > 0)
        class = read_cursors(worker, links, err);
    worker->moved = 0;
    for (int i = worker->first; class == TG_OK && i < TG_SHARDS; i += worker->step) {
        if (daemon_is_stopping(worker->daemon))
            break;
        if (strcmp(worker->shards[i].cursor.run_id, tg_kv_run_id(links->kv)) == 0)
            class = apply_some(worker, links, i, err);
    }
    *ret_pause_us = worker->moved >= LOAD_ENTRIES ? LOAD_PAUSE_US
                    : worker->moved > 0           ? BUSY_PAUSE_US
                                                  : IDLE_PAUSE_US;
    return class;
}

void *daemon_shards_thread(void *context)
{
    struct daemon_shards *own = context;
    struct worker worker = {
        .daemon = own->daemon, .first = own->index, .step = DAEMON_SHARD_THREADS};

    daemon_loop(own->daemon, AREA_SHARDS, NEED_MAIN | NEED_KV, shards_round, &worker);
    return NULL;
}

enum tg_class daemon_shards_once(struct daemon *daemon, struct daemon_links *links,
                                 bool *ret_moved, struct tg_error *err)
{
    struct worker worker = {.daemon = daemon, .first = 0, .step = 1};
    enum tg_class class = TG_OK;

    *ret_moved = false;
    do {
        int64_t pause_us;

        class = shards_round(&worker, links, &pause_us, err);
        *ret_moved = *ret_moved || worker.moved > 0;
    } while (class == TG_OK && worker.moved > 0);
    return class;
}
