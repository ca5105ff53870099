#include "tests/histories/world.h"

#include "tests/histories/seam.h"
#include "tests/histories/servers.h"

#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/ledger/spool.h"
#include "common/redis/kv_link.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* An actor never waits for a connection: nobody else would move meanwhile. */
enum { DB_MOST = 32, LOG_MOST = 6, KV_MOST = 2 * ACTORS_MOST };

struct world world;

int64_t user_of(int index)
{
    return 1 + TG_SHARDS * index; /* all of one shard */
}

int64_t token_of(int64_t user_id)
{
    return 1000 + user_id;
}

/* ---- dice: splitmix64 */

static uint64_t mix(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

int dice(int n)
{
    return (int)(mix(&world.dice) % (uint64_t)n);
}

bool chance(int percent)
{
    return dice(100) < percent;
}

void note(const char *format, ...)
{
    const struct actor *actor = actor_running();
    va_list args;

    if (!world.trace)
        return;
    if (actor != NULL)
        printf("    %s %" PRId64 ": ", actor->what, actor->a);
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    putchar('\n');
}

/* ---- processes */

static void init_process(struct process *process, const char *node, int node_index)
{
    *process = (struct process){.node = node, .node_index = node_index};
    process->db = world.main_pool;
}

void process_start(struct process *process)
{
    static int64_t workers = 1000;
    bool is_worker = process >= world.workers && process < world.workers + NODES;
    bool is_daemon = process >= world.daemons && process < world.daemons + DAEMONS;
    struct tg_kv_conf kv = {
        .address = servers_address(), .user = "", .password = "", .connections = KV_MOST};
    struct tg_ledger_conf conf = {.main_db = process->db, .node = process->node,
                                  .lease_us = LEASE_US};

    tg_assert(tg_kv_pool_new(&kv, &process->kv, NULL) == TG_OK);
    conf.kv = process->kv;
    conf.worker = is_worker ? ++workers : 0;
    conf.may_go_offline = is_worker;
    conf.offline_after_us = OFFLINE_AFTER_US;
    conf.allowance_quota = ALLOWANCE;
    process->mode = (struct tg_money_mode){.state = TG_MONEY_UNKNOWN};
    conf.mode = &process->mode;
    process->ledger = tg_ledger_new(&conf);
    if (is_worker)
        tg_assert(tg_spool_open(&(struct tg_spool_conf){.folder = world.spool,
                                                        .node = process->node,
                                                        .worker = conf.worker},
                                &process->spool, NULL) == TG_OK);
    if (is_daemon)
        process->watch = tg_spool_watch_new(world.spool, process->node);
    process->shards_busy = process->replay_busy = process->log_busy = false;
    process->trim_at_us = 0;
    process->trim_epoch = 0;
}

void process_kill(struct process *process)
{
    for (size_t i = world.actor_count; i-- > 0;)
        if (world.actors[i]->process == process)
            actor_drop(i);
    tg_spool_close(process->spool);
    tg_spool_watch_free(process->watch);
    tg_ledger_free(process->ledger);
    tg_kv_pool_free(process->kv);
    process->spool = NULL;
    process->watch = NULL;
    process->ledger = NULL;
    process->kv = NULL;
}

/* ---- actors */

static struct actor *running;

struct actor *actor_running(void)
{
    return running;
}

static void body(void *argument)
{
    struct actor *actor = argument;

    actor->body(actor);
}

static struct actor *new_actor(const char *what, void (*act)(struct actor *),
                               struct process *process, int64_t a)
{
    struct actor *actor = tg_calloc(1, sizeof *actor);

    *actor = (struct actor){.what = what, .body = act, .process = process, .a = a};
    actor->fiber = fiber_new(body, actor);
    return actor;
}

/* Gives back what the actor has; a process that was killed holds no lock. */
static void free_actor(struct actor *actor)
{
    for (size_t i = 0; i < LINKS_MOST; i++) {
        if (actor->kvs[i] != NULL) {
            actor->kvs[i]->broken = true;
            tg_kv_release(actor->kvs[i]);
        }
        if (actor->dbs[i] != NULL) {
            seam_forget_locks(actor->dbs[i]);
            tg_db_release(actor->dbs[i]);
        }
    }
    fiber_free(actor->fiber);
    free(actor);
}

static bool resume(struct actor *actor)
{
    bool more;

    running = actor;
    more = fiber_resume(actor->fiber);
    running = NULL;
    world.moves += !world.quiet;
    return more;
}

void actor_add(const char *what, void (*act)(struct actor *), struct process *process, int64_t a)
{
    if (world.actor_count < ACTORS_MOST)
        world.actors[world.actor_count++] = new_actor(what, act, process, a);
}

void actor_drop(size_t index)
{
    struct actor *actor = world.actors[index];

    world.actor_count--;
    memmove(world.actors + index, world.actors + index + 1,
            (world.actor_count - index) * sizeof(void *));
    free_actor(actor);
}

void actor_move(size_t index)
{
    if (world.actors[index]->still > 0 && !world.quiet)
        world.actors[index]->still--;
    else if (!resume(world.actors[index]))
        actor_drop(index);
}

void actor_finish(const char *what, void (*act)(struct actor *), struct process *process,
                  int64_t a)
{
    struct actor *actor = new_actor(what, act, process, a);

    while (resume(actor))
        continue;
    free_actor(actor);
}

/* ---- the world */

void world_start(void)
{
    static const char *const nodes[] = {"n0", "n1", "n0"};

    snprintf(world.spool, sizeof world.spool, "/tmp/tollgate-history-spool.XXXXXX");
    tg_assert(mkdtemp(world.spool) != NULL);
    world.mariadb = test_mariadb_start();
    world.main_pool = test_schema(world.mariadb, "main", "books", DB_MOST);
    world.log_pool = test_schema(world.mariadb, "log", "books_log", LOG_MOST);
    world.main_db = test_take(world.main_pool);
    world.log_db = test_take(world.log_pool);
    for (int i = 0; i < NODES; i++)
        init_process(&world.workers[i], nodes[i], i);
    for (int i = 0; i < DAEMONS; i++)
        init_process(&world.daemons[i], nodes[i], i % NODES);
    init_process(&world.console, "n0", -1);
    servers_start();
}

static void for_all(void (*act)(struct process *))
{
    for (int i = 0; i < NODES; i++)
        act(&world.workers[i]);
    for (int i = 0; i < DAEMONS; i++)
        act(&world.daemons[i]);
    act(&world.console);
}

static void empty_spool(void)
{
    DIR *folder = opendir(world.spool);
    struct dirent *file;
    char path[512];

    tg_assert(folder != NULL);
    while ((file = readdir(folder)) != NULL) {
        snprintf(path, sizeof path, "%s/%s", world.spool, file->d_name);
        if (file->d_name[0] != '.')
            unlink(path);
    }
    closedir(folder);
}

void world_stop(void)
{
    for_all(process_kill);
    tg_db_release(world.main_db);
    tg_db_release(world.log_db);
    tg_db_pool_free(world.main_pool);
    tg_db_pool_free(world.log_pool);
    servers_stop();
    test_mariadb_stop(world.mariadb);
    empty_spool();
    rmdir(world.spool);
}

static void sql(struct tg_db *db, const char *format, ...) printf_like(2, 3);
static void sql(struct tg_db *db, const char *format, ...)
{
    char text[768];
    struct tg_error err;
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (tg_db_script(db, text, &err) != TG_OK) {
        fprintf(stderr, "%s\n%s\n", err.message, text);
        exit(2);
    }
}

static void add_user(int index)
{
    struct tg_id id = tg_id_new();
    int64_t user = user_of(index);
    char text[TG_ID_TEXT], entry[96];

    tg_id_format(&id, text);
    snprintf(entry, sizeof entry, "UNHEX(REPLACE('%s', '-', ''))", text);
    sql(world.main_db, "INSERT INTO users (id, username, quota) VALUES (%" PRId64 ", 'u%" PRId64
                       "', %d)", user, user, BEGIN_QUOTA);
    sql(world.main_db, "INSERT INTO tokens (id, key_hmac, user_id, remain_quota) VALUES (%" PRId64
                       ", '%" PRId64 "', %" PRId64 ", %d)",
        token_of(user), user, user, BEGIN_REMAIN);
    sql(world.main_db, "INSERT INTO credits (entry_id, user_id, amount_quota, kind, applied_at)"
                       " VALUES (%s, %" PRId64 ", %d, 'topup', NOW(6))", entry, user, BEGIN_QUOTA);
    sql(world.main_db, "INSERT INTO ledger_entry (request_id, shard, kind, user_id, amount_quota,"
                       " batch, at) VALUES (%s, %d, 'credit', %" PRId64 ", %d, '', NOW(6))",
        entry, SHARD, user, -BEGIN_QUOTA);
}

/* In its first period. */
static void add_plan(void)
{
    struct tg_id id = tg_id_new();
    char text[TG_ID_TEXT];

    tg_id_format(&id, text);
    sql(world.main_db, "INSERT INTO plans (id, name, quota_per_period, period, duration) VALUES"
                       " (1, 'plan', %d, '1h', '')", PLAN_QUOTA);
    sql(world.main_db, "INSERT INTO subscriptions (id, user_id, plan_id, remain_quota,"
                       " period_number) VALUES (%d, %" PRId64 ", 1, %d, 1)",
        PLAN_ID, user_of(0), PLAN_QUOTA);
    sql(world.main_db, "INSERT INTO ledger_entry (request_id, shard, kind, user_id, plan_id,"
                       " amount_quota, plan_quota, plan_period, batch, at) VALUES"
                       " (UNHEX(REPLACE('%s', '-', '')), %d, 'reset', %" PRId64 ", %d, %d, %d, 1,"
                       " '', NOW(6))",
        text, SHARD, user_of(0), PLAN_ID, -PLAN_QUOTA, -PLAN_QUOTA);
}

static void reset_books(void)
{
    static const char *const tables[] = {
        "ledger_entry", "ledger_day", "ledger_reject", "ledger_rebuild", "ledger_doubt",
        "ledger_lapse", "credits", "adjustments", "offline_hold",
        "offline_entry", "log_batch", "users", "tokens", "subscriptions", "node", "plans",
        "plan_resets", "ledger_worker_end"};
    static const char *const logs[] = {"request_log", "request_detail", "usage_hourly",
                                       "log_applied"};

    for (size_t i = 0; i < TG_COUNT_OF(tables); i++)
        sql(world.main_db, "DELETE FROM %s", tables[i]);
    for (size_t i = 0; i < TG_COUNT_OF(logs); i++)
        sql(world.log_db, "DELETE FROM %s", logs[i]);
    for (int i = 0; i < USERS; i++)
        add_user(i);
    add_plan();
    sql(world.main_db, "UPDATE ledger_cursor SET stream_id = '0-0', epoch = 1, run_id = '%s'",
        servers_link()->run_id);
}

static void switch_on(void)
{
    static const char text[] = "for i = 0, 63 do redis.call('HSET', string.format("
                               "'tg:{s%02d}:state', i), 'epoch', 1, 'run', ARGV[1], 'on', 1) end";
    const struct tg_span words[] = {{"EVAL", 4}, {text, strlen(text)}, {"0", 1},
                                    {servers_link()->run_id, 40}};
    const struct tg_kv_call call = {
        .args = words, .count = 4, .deadline_at_us = tg_now_us() + 10000000};
    const struct tg_kv_reply *reply;

    tg_assert(seam_command(servers_link(), &call, &reply) == TG_OK);
    servers_note(servers_link());
}

void world_reset(uint64_t seed)
{
    world.virtual_time = true;
    world.quiet = false;
    for_all(process_kill);
    empty_spool();
    world.seed = world.dice = seed;
    world.now_us = INT64_C(1000000000000);
    world.down = world.mysql_down = false;
    memset(world.cut, 0, sizeof world.cut);
    world.ids = 0;
    servers_fresh();
    reset_books();
    switch_on();
    for_all(process_start);
}
