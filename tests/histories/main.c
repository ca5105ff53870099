/* histories - random histories of the ledger, with the real scripts and the real appliers.
 *
 *     histories [--steps N] [--seed S] [--put-back RULE]... [--trace]
 *     histories --only S         one history, as its failure named it
 *     histories --duels ...      only such in which rebuilds get in each other's way
 *
 * Requests of two nodes, credits, adjustments, appliers, replays, sweeps, rebuilds and trims of
 * three daemons run in any order, each cut into moves of one call; answers are lost, commands run
 * late, processes are killed, Redis is restarted, emptied, cut back to an earlier moment or split
 * in two, MySQL goes away, commits stay unanswered. The books are looked at all the time, and at
 * rest after each history (truth.h). A failure is made smaller by leaving steps out, then shown.
 * Exit: 0 nothing was wrong, 1 something was, 2 usage.
 */
#include "tests/histories/acts.h"
#include "tests/histories/seam.h"
#include "tests/histories/servers.h"
#include "tests/histories/truth.h"

#include "common/base/clock.h"
#include "common/base/log.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 400, CHECK_EVERY = 30, STEP_US = 1000, SHRINK_SECONDS = 60 };
enum { FIRST_ROUNDS = 3, ROUNDS_MOST = 16 }; /* of coming to rest */

static bool skipped[STEPS];
static bool only_duels;

/* ---- faults */

static void kill_one(void)
{
    struct process *all[] = {&world.workers[0], &world.workers[1], &world.daemons[0],
                             &world.daemons[1], &world.daemons[2], &world.console};
    struct process *one = all[dice(TG_COUNT_OF(all))];

    note("a process of %s is killed", one->node);
    process_kill(one);
    process_start(one);
}

static void lose_a_lock(void)
{
    for (size_t i = 0; i < world.actor_count; i++) {
        struct actor *actor = world.actors[i];

        if (!actor->began || actor->still > 0)
            continue;
        lose_lock(actor);
        return;
    }
    actor_add("rebuild", act_rebuild, &world.daemons[dice(DAEMONS)], 1);
}

static void fault(void)
{
    int number = dice(100), node = dice(NODES), back = dice(servers_states());

    world.faults++;
    note("fault %d", number);
    if (number < 15) {
        servers_restart(back, chance(30));
        world.down = false;
    } else if (number < 19) {
        servers_replace();
        world.down = false;
    } else if (number < 23) {
        servers_empty();
    } else if (number < 35) {
        servers_fail_over(back);
        world.down = false;
    } else if (number < 46) {
        servers_end_old();
    } else if (number < 56) {
        world.down = !world.down;
    } else if (number < 68) {
        world.cut[node] = !world.cut[node];
    } else if (number < 76) {
        world.mysql_down = !world.mysql_down;
    } else if (number < 88) {
        kill_one();
    } else {
        lose_a_lock();
    }
}

static void pass_time(void)
{
    static const int64_t seconds[] = {1, 3, 3, 40, 130, 130, 1000};
    int number = dice(world.calm ? 3 : (int)TG_COUNT_OF(seconds));

    world.now_us += seconds[number] * 1000000;
    if (seconds[number] * 1000000 > LEASE_US)
        truth_overdue();
    note("%" PRId64 " s pass", seconds[number]);
}

static void go_wrong(void)
{
    if (world.calm)
        pass_time();
    else if (!world.duel)
        fault();
    else if (chance(30))
        lose_a_lock();
}

/* ---- a history */

struct chore {
    int share; /* of a thousand */
    const char *what;
    void (*act)(struct actor *);
};
static const struct chore chores[] = {
    {70, "apply", act_apply}, {30, "replay", act_replay}, {45, "sweep", act_sweep},
    {60, "rebuild", act_rebuild}, {12, "trim", act_trim}, {4, "log", act_log}};

static bool begin_chore(int *number, int step)
{
    for (size_t i = 0; i < TG_COUNT_OF(chores); i++) {
        if (*number < chores[i].share) {
            actor_add(chores[i].what, chores[i].act, &world.daemons[dice(DAEMONS)], step);
            return true;
        }
        *number -= chores[i].share;
    }
    return false;
}

static void move_some(void)
{
    for (int i = 0; i < 3 && world.actor_count > 0; i++)
        actor_move((size_t)dice((int)world.actor_count));
}

/* Outages end; else little would happen in a history that begins with one. */
static void heal(void)
{
    world.down = world.down && !chance(4);
    world.mysql_down = world.mysql_down && !chance(4);
    for (int i = 0; i < NODES; i++)
        world.cut[i] = world.cut[i] && !chance(2);
}

static void step(int number)
{
    int what = dice(1000);

    world.now_us += STEP_US;
    heal();
    if (what < 90)
        actor_add("request", act_request, &world.workers[dice(NODES)], number);
    else if (what < 105)
        actor_add("credit", act_credit, &world.console, number);
    else if (what < 111)
        actor_add("adjust", act_adjust, &world.console, number);
    else if (what < 115)
        actor_add("period", act_period, &world.daemons[dice(DAEMONS)], number);
    else if (what < 140)
        go_wrong();
    else if (what < 154 && !world.duel)
        pass_time();
    else if (what < 174 && world.rules.drop)
        actor_add("drop", act_drop, &world.daemons[dice(DAEMONS)], number);
    else if ((what -= 174) < 0 || !begin_chore(&what, number + 2))
        move_some();
    servers_deliver(false);
}

/* Every chore of the daemons once. */
static void one_round(void)
{
    actor_finish("rebuild", act_rebuild, &world.daemons[0], 0);
    for (int j = 0; j < 2; j++)
        actor_finish("apply", act_apply, &world.daemons[0], 0);
    for (int j = 0; j < NODES; j++) {
        actor_finish("replay", act_replay, &world.daemons[j], 0);
        actor_finish("sweep", act_sweep, &world.daemons[j], 0);
    }
    for (int j = 0; j < 2; j++)
        actor_finish("apply", act_apply, &world.daemons[1], 0);
    actor_finish("trim", act_trim, &world.daemons[0], 0);
    actor_finish("log", act_log, &world.daemons[0], 0);
}

/* Everything works again and is given its time. */
static void come_to_rest(void)
{
    world.quiet = true;
    world.down = world.mysql_down = false;
    memset(world.cut, 0, sizeof world.cut);
    servers_end_old();
    servers_deliver(true);
    while (world.actor_count > 0)
        actor_move(0);
    for (int i = 0; i < NODES; i++) { /* whoever still held something is dead now */
        process_kill(&world.workers[i]);
        process_start(&world.workers[i]);
    }
    truth_overdue();
    for (int i = 0; i < ROUNDS_MOST; i++) {
        if (i == FIRST_ROUNDS)
            world.now_us += INT64_C(1000000000);
        one_round();
        if (i > FIRST_ROUNDS && truth_is_at_rest())
            break;
    }
    for (int j = 0; j < 4; j++)
        actor_finish("log", act_log, &world.daemons[0], 0);
}

/* False: the books were wrong. */
static bool play(uint64_t seed, const char **ret_why)
{
    world.calm = seed % 8 == 0 && !only_duels;
    world.duel = seed % 8 == 4 || only_duels;
    truth_reset();
    world_reset(seed);
    for (int i = 0; i < STEPS; i++) {
        world.dice = seed * UINT64_C(1000003) + (uint64_t)i;
        if (skipped[i])
            continue;
        step(i);
        if (i % CHECK_EVERY == 0 && !truth_holds(ret_why)) {
            note("seen at step %d", i);
            return false;
        }
    }
    come_to_rest();
    return truth_at_the_end(ret_why);
}

/* ---- a failure, made smaller */

static int left(void)
{
    int count = 0;

    for (int i = 0; i < STEPS; i++)
        count += !skipped[i];
    return count;
}

static bool fails_without(uint64_t seed, int from, int count)
{
    bool before[STEPS];
    const char *why;

    memcpy(before, skipped, sizeof before);
    for (int i = from; i < from + count && i < STEPS; i++)
        skipped[i] = true;
    if (memcmp(before, skipped, sizeof before) != 0 && !play(seed, &why))
        return true;
    memcpy(skipped, before, sizeof before);
    return false;
}

static void shrink(uint64_t seed)
{
    int64_t until_us;

    world.virtual_time = false;
    until_us = tg_now_us() + INT64_C(1000000) * SHRINK_SECONDS;
    for (int size = STEPS / 2; size > 0; size /= 2)
        for (int from = STEPS - size; from >= 0; from -= size) {
            world.virtual_time = false;
            if (tg_now_us() > until_us)
                return;
            (void)fails_without(seed, from, size);
        }
}

static void show(uint64_t seed, const char *why)
{
    printf("history %" PRIu64 ": %s\n", seed, why);
    fflush(stdout);
    shrink(seed);
    world.trace = true;
    printf("left of it are %d of %d steps:\n", left(), STEPS);
    if (play(seed, &why))
        printf("(it did not fail again)\n");
    else
        printf("%s\n", why);
    world.trace = false;
}

/* ---- the program */

struct options {
    int64_t steps;
    uint64_t seed;
    bool only, no_shrink;
};

static bool read_options(int argc, char **argv, struct options *ret)
{
    static const struct option long_options[] = {
        {"steps", required_argument, NULL, 'n'}, {"seed", required_argument, NULL, 's'},
        {"put-back", required_argument, NULL, 'r'}, {"only", required_argument, NULL, 'o'},
        {"trace", no_argument, NULL, 't'}, {"no-shrink", no_argument, NULL, 'k'},
        {"duels", no_argument, NULL, 'd'},
        {NULL, 0, NULL, 0}};
    int got;

    *ret = (struct options){.steps = 100000, .seed = (uint64_t)tg_unix_us() / 1000 % 1000000000};
    while ((got = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
        switch (got) {
        case 'n':
            ret->steps = strtoll(optarg, NULL, 10);
            break;
        case 'o':
            ret->only = true;
            /* fall through */
        case 's':
            ret->seed = strtoull(optarg, NULL, 10);
            break;
        case 'r':
            if (!rules_put_back(&world.rules, optarg))
                return false;
            break;
        case 't':
            world.trace = true;
            break;
        case 'd':
            only_duels = true;
            break;
        case 'k':
            ret->no_shrink = true;
            break;
        default:
            return false;
        }
    }
    return optind == argc && ret->steps > 0;
}

static int run(const struct options *options)
{
    int64_t histories = 0;
    const char *why;

    while (world.moves < options->steps) {
        uint64_t seed = options->seed + (uint64_t)histories++;

        if (!play(seed, &why)) {
            if (options->no_shrink)
                printf("history %" PRIu64 ": %s\n", seed, why);
            else
                show(seed, why);
            printf("%" PRId64 " histories, %" PRId64 " steps: wrong\n", histories, world.moves);
            return 1;
        }
        if (options->only)
            break;
    }
    printf("%" PRId64 " histories, %" PRId64 " steps, %" PRId64 " faults, %" PRId64
           " looks at offline rows: all right\n",
           histories, world.moves, world.faults, world.offline_seen);
    return 0;
}

int main(int argc, char **argv)
{
    struct options options;
    struct tg_error err;
    int code;

    if (!read_options(argc, argv, &options)) {
        fputs("Usage: histories [--steps N] [--seed S | --only S] [--put-back RULE]... [--trace]"
              " [--no-shrink] [--duels]\nRules:", stderr);
        for (size_t i = 0; rules_name(i) != NULL; i++)
            fprintf(stderr, " %s", rules_name(i));
        fputc('\n', stderr);
        return 2;
    }
    if (tg_log_open("histories", "/dev/null", TG_LOG_ERROR, &err) != TG_OK)
        return 2;
    printf("seed %" PRIu64 "\n", options.seed);
    world_start();
    code = run(&options);
    world_stop();
    return code;
}

/* A killed process frees nothing. The rest is for speed: a large memory makes every fork slow, and
 * there are many; the stacks of dropped fibers are cleared without a mapping each. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "detect_leaks=0:quarantine_size_mb=4:thread_local_quarantine_size_kb=64:"
           "malloc_context_size=6:clear_shadow_mmap_threshold=1048576";
}
