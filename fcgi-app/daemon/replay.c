#include "fcgi-app/daemon/advice.h"
#include "fcgi-app/daemon/daemon.h"
#include "fcgi-app/daemon/once.h"

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/ledger/resets.h"
#include "common/ledger/sweep.h"
#include "common/store/node.h"

#include <stdio.h>
#include <string.h>

enum {
    PAUSE_US = 300000,
    BACKLOG_PAUSE_US = 20000,
    TABLES_EVERY_US = 1000000,
    SWEEP_EVERY_US = 5000000,
    RUN_US = 60000000 /* end markers live fifteen minutes */
};

struct worker {
    struct daemon *daemon;
    struct tg_spool_watch *watch;
    int64_t tables_at_us, swept_at_us;
    char advised[TG_RUN_ID_TEXT]; /* the server that was looked at */
    bool clear;
};

static struct tg_replay replay_of(struct worker *worker, struct daemon_links *links,
                                  struct tg_error *err)
{
    return (struct tg_replay){.ledger = worker->daemon->ledger,
                              .kv = links->kv,
                              .db = links->main_db,
                              .deadline_at_us = tg_now_us() + RUN_US,
                              .err = err};
}

static enum tg_class spool_round(struct worker *worker, struct daemon_links *links,
                                 struct tg_error *err)
{
    struct tg_replay replay = replay_of(worker, links, err);
    bool was_clear = worker->clear;
    enum tg_class class = tg_spool_watch_round(worker->watch, &replay, &worker->clear);

    if (class == TG_OK && worker->clear && !was_clear)
        class = tg_node_spool_clear(links->main_db, worker->daemon->node, err);
    return class;
}

static enum tg_class sweep_shards(struct worker *worker, struct daemon_links *links,
                                  struct tg_arena *arena, struct tg_error *err)
{
    struct tg_replay replay = replay_of(worker, links, err);
    struct tg_sweep sweep = {
        .replay = &replay, .watch = worker->watch, .node = worker->daemon->node};
    struct tg_cursor cursors[TG_SHARDS];
    struct tg_swept swept;
    enum tg_class class = tg_node_gone(links->main_db, arena, &sweep.gone, &sweep.gone_count, err);

    if (class == TG_OK)
        class = tg_sweep_offline(&sweep, &swept);
    if (class == TG_OK && swept.ended > 0)
        tg_log(TG_LOG_WARNING, "sweep", "%zu offline deposits of dead workers ended", swept.ended);
    if (class == TG_OK)
        class = tg_store_cursors(links->main_db, cursors, err);
    for (int i = 0; class == TG_OK && i < TG_SHARDS; i++) {
        if (daemon_is_stopping(worker->daemon) || links->kv == NULL ||
            !atomic_load(&worker->daemon->shard_on[i]))
            continue;
        class = tg_sweep_shard(&sweep, i, cursors[i].epoch, &swept);
        if (swept.lapsed > 0)
            tg_log(TG_LOG_WARNING, "sweep", "shard %d: %zu holds lapsed", i, swept.lapsed);
    }
    return class;
}

static enum tg_class sweep_round(struct worker *worker, struct daemon_links *links,
                                 struct tg_error *err)
{
    struct tg_arena *arena = tg_arena_new();
    enum tg_class class = sweep_shards(worker, links, arena, err);

    tg_arena_free(arena);
    return class;
}

static bool is_due(int64_t *at_us, int64_t every_us)
{
    int64_t now_us = tg_now_us();

    if (now_us - *at_us < every_us)
        return false;
    *at_us = now_us;
    return true;
}

static enum tg_class tables_round(const struct tg_replay *replay, size_t *ret_told)
{
    enum tg_class class = tg_resets_round(replay->db, replay->err);

    *ret_told = 0;
    return class == TG_OK ? tg_replay_tables(replay, ret_told) : class;
}

static enum tg_class replay_round(void *context, struct daemon_links *links,
                                  int64_t *ret_pause_us, struct tg_error *err)
{
    struct worker *worker = context;
    struct tg_replay replay = replay_of(worker, links, err);
    size_t told;
    enum tg_class class = TG_OK;

    if (links->kv != NULL && strcmp(worker->advised, tg_kv_run_id(links->kv)) != 0) {
        class = daemon_advise(links->kv, err);
        snprintf(worker->advised, sizeof worker->advised, "%s", tg_kv_run_id(links->kv));
    }
    if (class == TG_OK && is_due(&worker->tables_at_us, TABLES_EVERY_US))
        class = tables_round(&replay, &told);
    if (class == TG_OK)
        class = spool_round(worker, links, err);
    if (class == TG_OK && is_due(&worker->swept_at_us, SWEEP_EVERY_US))
        class = sweep_round(worker, links, err);
    *ret_pause_us =
        tg_spool_watch_has_backlog(worker->watch) ? BACKLOG_PAUSE_US : PAUSE_US;
    return class;
}

static struct worker worker_of(struct daemon *daemon)
{
    return (struct worker){
        .daemon = daemon,
        .watch = tg_spool_watch_new(tg_conf_text(daemon->conf, TG_OPTION_LEDGER_SPOOL_DIR),
                                    daemon->node)};
}

void *daemon_replay_thread(void *context)
{
    struct worker worker = worker_of(context);

    daemon_loop(worker.daemon, AREA_REPLAY, NEED_MAIN | NEED_KV, replay_round, &worker);
    tg_spool_watch_free(worker.watch);
    return NULL;
}

enum tg_class daemon_replay_once(struct daemon *daemon, struct daemon_links *links,
                                 bool *ret_moved, struct tg_error *err)
{
    struct worker worker = worker_of(daemon);
    struct tg_replay replay = replay_of(&worker, links, err);
    size_t told = 0;
    enum tg_class class = tables_round(&replay, &told);

    /* whoever runs this by hand waits for it: a first look, and what is left after it is told */
    tg_spool_watch_set_ripe(worker.watch, 0);
    for (int i = 0; class == TG_OK && i < 3; i++)
        class = spool_round(&worker, links, err);
    if (class == TG_OK)
        class = sweep_round(&worker, links, err);
    *ret_moved = told > 0 || !worker.clear;
    tg_spool_watch_free(worker.watch);
    return class;
}
