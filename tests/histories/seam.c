#include "tests/histories/seam.h"

#include "tests/histories/acts.h"
#include "tests/histories/servers.h"
#include "tests/histories/world.h"

#include "common/base/clock.h"
#include "common/redis/kv_link.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { ARGS_MOST = 64, SHORTEST_NAP_US = 250000, DUEL_NAP_US = 50000 };

/* The wall clock at the history's zero: 1 December 2026. */
static const int64_t zero_unix_us = INT64_C(1796083200000000);

#define SEAM(type, name, parameters) \
    type __real_##name parameters;   \
    type __wrap_##name parameters;   \
    type __wrap_##name parameters

/* ---- time and ids */

SEAM(int64_t, tg_now_us, (void))
{
    return world.virtual_time ? world.now_us : __real_tg_now_us();
}

SEAM(int64_t, tg_unix_us, (void))
{
    return world.virtual_time ? zero_unix_us + world.now_us : __real_tg_unix_us();
}

SEAM(void, tg_clock_sleep_us, (int64_t duration_us))
{
    if (!world.virtual_time) {
        __real_tg_clock_sleep_us(duration_us);
        return;
    }
    if (actor_running() != NULL)
        fiber_yield();
    world.now_us += TG_MAX(duration_us, world.duel ? DUEL_NAP_US : SHORTEST_NAP_US);
}

SEAM(struct tg_id, tg_id_new, (void))
{
    uint64_t unix_ms = (uint64_t)(tg_unix_us() / 1000), number = ++world.ids;
    struct tg_id id = {{0}};

    for (int i = 0; i < 6; i++)
        id.bytes[i] = (uint8_t)(unix_ms >> (40 - 8 * i));
    id.bytes[6] = 0x70;
    id.bytes[8] = 0x80;
    for (int i = 0; i < 7; i++)
        id.bytes[15 - i] = (uint8_t)(number >> (8 * i));
    return id;
}

/* ---- Redis */

SEAM(int64_t, tg_kv_server_ms, (const struct tg_kv *kv))
{
    (void)kv;
    return tg_unix_us() / 1000;
}

SEAM(enum tg_class, tg_kv_acquire,
     (struct tg_kv_pool *pool, int64_t deadline_at_us,
      struct tg_kv **ret, struct tg_error *err))
{
    struct actor *actor = actor_running();
    enum tg_class class;
    size_t i = 0;

    if (actor != NULL && !world.quiet &&
        (world.down || (actor->process->node_index >= 0 &&
                        world.cut[actor->process->node_index])))
        return tg_fail(err, TG_CLASS_DOWN, "redis_down", "cut off");
    class = __real_tg_kv_acquire(pool, deadline_at_us, ret, err);
    if (class != TG_OK || actor == NULL)
        return class;
    while (actor->kvs[i] != NULL)
        tg_assert(++i < LINKS_MOST);
    actor->kvs[i] = *ret;
    return class;
}

SEAM(void, tg_kv_release, (struct tg_kv *kv))
{
    struct actor *actor = actor_running();

    for (size_t i = 0; kv != NULL && actor != NULL && i < LINKS_MOST; i++)
        if (actor->kvs[i] == kv)
            actor->kvs[i] = NULL;
    __real_tg_kv_release(kv);
}

static enum tg_class broke(struct tg_kv *kv)
{
    kv->broken = true;
    (void)tg_fail(&kv->error, TG_CLASS_DOWN, "redis_down", "the history says so");
    return TG_CLASS_DOWN;
}

enum tg_class __real_tg_kv_run(struct tg_kv *kv, const struct tg_kv_script *script,
                               const struct tg_kv_call *call, size_t key_count,
                               const struct tg_kv_reply **ret);

enum tg_class seam_run(struct tg_kv *kv, const struct tg_kv_script *script,
                       const struct tg_kv_call *call, size_t key_count,
                       const struct tg_kv_reply **ret)
{
    struct tg_span args[ARGS_MOST];
    struct tg_kv_call timed = *call;
    char until[64];
    enum tg_class class;

    tg_assert(call->count <= ARGS_MOST && call->count >= key_count + 3);
    memcpy(args, call->args, call->count * sizeof *args);
    snprintf(until, sizeof until, "%.*s@%" PRId64, (int)args[key_count + 2].len,
             args[key_count + 2].ptr, tg_unix_us() / 1000);
    args[key_count + 2] = (struct tg_span){until, strlen(until)};
    timed.args = args;
    timed.deadline_at_us = tg_now_us() + 10000000;
    class = __real_tg_kv_run(kv, rules_script(&world.rules, script), &timed, key_count, ret);
    if (class != TG_OK && class != TG_CLASS_DOWN) {
        fprintf(stderr, "%s: %s\n", script->name, kv->error.message);
        tg_assert(!"a script must not fail");
    }
    if (class == TG_OK)
        servers_note(kv);
    return class;
}

static void stand_still(int moves)
{
    for (; moves > 0; moves--)
        fiber_yield();
}

/* A process may stand still for long between what it read and what it writes. */
static void stall(void)
{
    if (actor_running() != NULL && !world.quiet && chance(15))
        stand_still(dice(30));
}

/* The books are ready, the shard is not on yet: whoever stands still now wakes up in the middle of
 * another one's work. */
static void stand_still_before_the_last_step(void)
{
    struct actor *actor = actor_running();

    if (actor == NULL || world.quiet || !actor->began || actor->last_step ||
        !chance(world.duel ? 60 : 20))
        return;
    if (actor->overtaken) {
        stand_still(5 + dice(25));
        return;
    }
    world.faults++;
    lose_lock(actor);
    actor->still += 30;
    actor->last_step = true;
}

/* The shard is off, and MySQL has not heard of it. */
static void stand_still_behind_the_first_step(void)
{
    struct actor *actor = actor_running();

    if (actor == NULL || world.quiet || !actor->began || actor->renewed)
        return;
    actor->renewed = true;
    for (size_t i = 0; i < world.actor_count; i++)
        if (world.actors[i]->last_step && world.actors[i]->still > 0 && chance(70)) {
            world.actors[i]->still = dice(2);
            actor->overtaken = true;
            stand_still(4 + dice(12));
            return;
        }
}

enum fault { NONE, ANSWER_LOST, COMMAND_LOST, LATE };

static enum fault throw_fault(void)
{
    struct actor *actor = actor_running();
    int number;

    if (world.quiet || actor == NULL || world.duel)
        return NONE;
    if (actor->process->node_index >= 0 && world.cut[actor->process->node_index])
        return COMMAND_LOST;
    if (world.down)
        return chance(50) ? LATE : COMMAND_LOST;
    number = dice(100);
    return number < 3 ? ANSWER_LOST : number < 5 ? COMMAND_LOST : number < 8 ? LATE : NONE;
}

SEAM(enum tg_class, tg_kv_run,
     (struct tg_kv *kv, const struct tg_kv_script *script,
      const struct tg_kv_call *call, size_t key_count, const struct tg_kv_reply **ret))
{
    bool begin = strcmp(script->name, "begin") == 0;
    bool finish = strcmp(script->name, "finish") == 0;
    enum fault fault;

    if (finish)
        stand_still_before_the_last_step();
    if (begin || finish ||
        (actor_running() != NULL && strcmp(actor_running()->what, "replay") == 0))
        stall();
    if (actor_running() != NULL)
        fiber_yield();
    if (actor_running() != NULL && begin)
        actor_running()->began = true;
    fault = throw_fault();
    if (fault != NONE) {
        world.faults++;
        note("%s: %s", script->name,
             fault == LATE ? "stuck on its way" : fault == ANSWER_LOST ? "answer lost" : "lost");
    }
    if (fault == LATE)
        servers_delay(kv, script, call, key_count);
    if (fault == LATE || fault == COMMAND_LOST)
        return broke(kv);
    if (seam_run(kv, script, call, key_count, ret) != TG_OK)
        return TG_CLASS_DOWN;
    if (tg_kv_len(*ret) > 0)
        note("%s: %s", script->name, tg_kv_string(tg_kv_at(*ret, 0)).ptr);
    return fault == ANSWER_LOST ? broke(kv) : TG_OK;
}

enum tg_class __real_tg_kv_command(struct tg_kv *kv, const struct tg_kv_call *call,
                                   const struct tg_kv_reply **ret, struct tg_error *err);

enum tg_class seam_command(struct tg_kv *kv, const struct tg_kv_call *call,
                           const struct tg_kv_reply **ret)
{
    return __real_tg_kv_command(kv, call, ret, NULL);
}

SEAM(enum tg_class, tg_kv_command,
     (struct tg_kv *kv, const struct tg_kv_call *call,
      const struct tg_kv_reply **ret, struct tg_error *err))
{
    struct tg_kv_call timed = *call;

    if (actor_running() != NULL)
        fiber_yield();
    if (throw_fault() != NONE) {
        world.faults++;
        if (err != NULL)
            (void)tg_fail(err, TG_CLASS_DOWN, "redis_down", "the history says so");
        return broke(kv);
    }
    timed.deadline_at_us = tg_now_us() + 10000000;
    return __real_tg_kv_command(kv, &timed, ret, err);
}

SEAM(enum tg_class, tg_kv_sync_clock,
     (struct tg_kv *kv, int64_t deadline_at_us,
      struct tg_error *err))
{
    (void)kv;
    (void)deadline_at_us;
    (void)err;
    return TG_OK; /* the history has one clock */
}

/* ---- MySQL: a transaction is one move */

static struct tg_error failed;
static const struct tg_db *failed_db;

static bool is_away(struct tg_db *db)
{
    struct actor *actor = actor_running();

    failed_db = NULL;
    if (actor == NULL || actor->in_transaction)
        return false;
    fiber_yield();
    if (world.quiet || !world.mysql_down)
        return false;
    world.faults++;
    (void)tg_fail(&failed, TG_CLASS_DOWN, "db_down", "the history says so");
    seam_forget_locks(db); /* a connection that broke holds none */
    failed_db = db;
    return true;
}

static enum tg_class away(struct tg_error *err)
{
    if (err != NULL)
        *err = failed;
    return TG_CLASS_DOWN;
}

SEAM(const struct tg_error *, tg_db_error, (const struct tg_db *db))
{
    return db == failed_db ? &failed : __real_tg_db_error(db);
}

SEAM(enum tg_class, tg_db_acquire,
     (struct tg_db_pool *pool, int64_t deadline_at_us,
      struct tg_db **ret, struct tg_error *err))
{
    struct actor *actor = actor_running();
    enum tg_class class = __real_tg_db_acquire(pool, deadline_at_us, ret, err);
    size_t i = 0;

    if (class != TG_OK || actor == NULL)
        return class;
    while (actor->dbs[i] != NULL)
        tg_assert(++i < LINKS_MOST);
    actor->dbs[i] = *ret;
    return class;
}

SEAM(void, tg_db_release, (struct tg_db *db))
{
    struct actor *actor = actor_running();

    for (size_t i = 0; db != NULL && actor != NULL && i < LINKS_MOST; i++)
        if (actor->dbs[i] == db)
            actor->dbs[i] = NULL;
    __real_tg_db_release(db);
}

SEAM(enum tg_class, tg_db_run,
     (struct tg_db *db, const char *sql,
      const struct tg_db_value *values, size_t count, struct tg_error *err))
{
    return is_away(db) ? away(err) : __real_tg_db_run(db, sql, values, count, err);
}

SEAM(enum tg_class, tg_db_select,
     (struct tg_db *db, const char *sql,
      const struct tg_db_value *values, size_t count, struct tg_db_rows **ret))
{
    return is_away(db) ? TG_CLASS_DOWN : __real_tg_db_select(db, sql, values, count, ret);
}

static void in_transaction(bool now)
{
    if (actor_running() != NULL)
        actor_running()->in_transaction = now;
}

SEAM(enum tg_class, tg_db_begin, (struct tg_db *db, struct tg_error *err))
{
    enum tg_class class;

    stall();
    stand_still_behind_the_first_step();
    class = is_away(db) ? away(err) : __real_tg_db_begin(db, err);
    in_transaction(class == TG_OK);
    return class;
}

SEAM(void, tg_db_rollback, (struct tg_db *db))
{
    in_transaction(false);
    __real_tg_db_rollback(db);
}

/* Nobody knows whether a commit without an answer took place. */
SEAM(enum tg_class, tg_db_commit, (struct tg_db *db, struct tg_error *err))
{
    bool lost = actor_running() != NULL && !world.quiet && chance(4);
    enum tg_class class = TG_OK;

    if (lost) {
        world.faults++;
        (void)tg_fail(&failed, TG_CLASS_DOWN, "db_down", "the answer to a commit was lost");
    }
    if (lost && chance(50))
        __real_tg_db_rollback(db);
    else
        class = __real_tg_db_commit(db, err);
    in_transaction(false);
    return lost ? away(err) : class;
}

void seam_forget_locks(struct tg_db *db)
{
    struct tg_db_rows *rows;

    if (__real_tg_db_select(db, "SELECT RELEASE_ALL_LOCKS()", NULL, 0, &rows) == TG_OK)
        tg_db_rows_free(rows);
}
