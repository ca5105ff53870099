/* What a choice of a channel costs: prints "select_us VALUE us", the median of some runs in
 * processor time of this thread. A selection is all that the attempt loop does for it: the index of
 * 10,000 abilities (10 groups, 100 models, 10 channels each, in two tiers), the candidates with
 * their breakers, keys and protocols, the draw, the pass and the copies. */
#include "common/base/clock.h"
#include "common/base/memory.h"
#include "fcgi-app/endpoint.h"
#include "fcgi-app/relay/relay.h"
#include "fcgi-app/shared.h"
#include "tests/bench/select_world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { RUNS = 21, CHOICES = 20000 };

static struct tg_settings settings;
static struct tg_snapshot *world;

/* --- in place of worker.c and the holder --- */

const struct tg_settings *tg_worker_settings(struct tg_worker *worker)
{
    (void)worker;
    return &settings;
}

const struct tg_snapshot *tg_snapshot_acquire(struct tg_snapshot_holder *holder)
{
    (void)holder;
    return world;
}

void tg_snapshot_release(struct tg_snapshot_holder *holder, const struct tg_snapshot *snapshot)
{
    (void)holder;
    (void)snapshot;
}

/* --- the measure --- */

static void must(bool good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "bench-select: %s\n", what);
    exit(1);
}

static void read_settings(void)
{
    char path[] = "/tmp/tollgate-bench-XXXXXX";
    int fd = mkstemp(path);
    struct tg_error err;

    must(fd >= 0 && tg_conf_load(path, NULL, 0, &settings.conf, &err) == TG_OK, "no settings");
    close(fd);
    unlink(path);
}

static double now_us(void)
{
    struct timespec at;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &at);
    return (double)at.tv_sec * 1e6 + (double)at.tv_nsec / 1e3;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double measure(struct tg_relay *relay)
{
    static char groups[WORLD_GROUPS][16], models[WORLD_MODELS][16];
    static struct tg_quote quote;
    double from_us;

    for (int i = 0; i < WORLD_GROUPS; i++)
        snprintf(groups[i], sizeof groups[i], "group-%d", i);
    for (int i = 0; i < WORLD_MODELS; i++)
        snprintf(models[i], sizeof models[i], "model-%d", i);
    relay->quote = &quote;
    from_us = now_us();
    for (unsigned i = 0; i < CHOICES; i++) {
        struct tg_choice choice;
        struct tg_error err;

        quote.group = groups[i * 7 % WORLD_GROUPS];
        quote.model = models[i * 31 % WORLD_MODELS];
        must(tg_relay_choose(relay, &choice, &err) == TG_OK, "nothing was chosen");
        tg_arena_reset(relay->req->arena);
    }
    return (now_us() - from_us) / CHOICES;
}

int main(void)
{
    static const struct tg_endpoint endpoint = {"chat_completions", "POST", "/v1/chat/completions",
                                                TG_PROTOCOL_CHAT, TG_OPERATION_GENERATE};
    static const struct tg_credential credential = {.loss_policy = ""};
    static max_align_t nothing; /* never looked into */
    struct tg_worker worker = {.shared = tg_shared_new(1),
                               .snapshots = (struct tg_snapshot_holder *)&nothing};
    struct tg_request req = {.worker = &worker,
                             .arena = tg_arena_new(),
                             .endpoint = &endpoint,
                             .credential = &credential,
                             .body = {"{}", 2}};
    struct tg_relay relay = {.req = &req, .settings = &settings};
    struct tg_error err;
    double values[RUNS];

    must(tg_crypto_init(&err) == TG_OK, "no random numbers");
    read_settings();
    world = select_world_new();
    for (int i = 0; i < RUNS; i++)
        values[i] = measure(&relay);
    qsort(values, RUNS, sizeof *values, by_value);
    printf("select_us %.3f us\n", values[RUNS / 2]);
    select_world_free(world);
    tg_arena_free(req.arena);
    tg_conf_free(settings.conf);
    return 0;
}
