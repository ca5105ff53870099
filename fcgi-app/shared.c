#include "fcgi-app/shared.h"

#include "fcgi-app/route/key_board.h"

#include <stdatomic.h>
#include <sys/mman.h>

/* One slot per worker on cache lines of its own. */
struct slot {
    _Alignas(64) _Atomic int64_t gauges[TG_GAUGE__COUNT];
};

struct tg_shared {
    int workers;
    _Alignas(64) _Atomic int64_t counters[TG_COUNTER__COUNT];
    _Alignas(64) _Atomic int64_t stage_us[TG_STAGE__COUNT];
    _Atomic int64_t stage_count[TG_STAGE__COUNT];
    _Atomic int64_t wishes[TG_WISH__COUNT];
    struct tg_money_mode money;
    struct tg_key_board *keys; /* a mapping of its own, at the same place in all workers */
    struct tg_breakers *breakers; /* at the same place in all workers */
    struct slot slots[];
};

struct tg_shared *tg_shared_new(int workers)
{
    struct tg_shared *shared;

    tg_assert(workers > 0);
    shared = mmap(NULL, sizeof *shared + (size_t)workers * sizeof shared->slots[0],
                  PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    tg_assert(shared != MAP_FAILED);
    shared->workers = workers;
    shared->keys = tg_key_board_new();
    shared->breakers = tg_breakers_new();
    return shared;
}

void tg_shared_gauge(struct tg_shared *shared, int worker, enum tg_gauge gauge, int64_t change)
{
    tg_assert(worker >= 0 && worker < shared->workers);
    atomic_fetch_add_explicit(&shared->slots[worker].gauges[gauge], change, memory_order_relaxed);
}

int64_t tg_shared_gauge_of(const struct tg_shared *shared, int worker, enum tg_gauge gauge)
{
    tg_assert(worker >= 0 && worker < shared->workers);
    return atomic_load_explicit(&shared->slots[worker].gauges[gauge], memory_order_relaxed);
}

int64_t tg_shared_gauge_sum(const struct tg_shared *shared, enum tg_gauge gauge)
{
    int64_t sum = 0;

    for (int i = 0; i < shared->workers; i++)
        sum += atomic_load_explicit(&shared->slots[i].gauges[gauge], memory_order_relaxed);
    return sum;
}

void tg_shared_worker_died(struct tg_shared *shared, int worker)
{
    tg_assert(worker >= 0 && worker < shared->workers);
    for (int i = 0; i < TG_GAUGE__COUNT; i++)
        atomic_store_explicit(&shared->slots[worker].gauges[i], 0, memory_order_relaxed);
}

void tg_shared_count(struct tg_shared *shared, enum tg_counter counter, int64_t more)
{
    atomic_fetch_add_explicit(&shared->counters[counter], more, memory_order_relaxed);
}

int64_t tg_shared_counter(const struct tg_shared *shared, enum tg_counter counter)
{
    return atomic_load_explicit(&shared->counters[counter], memory_order_relaxed);
}

struct tg_money_mode *tg_shared_money(struct tg_shared *shared)
{
    return &shared->money;
}

void tg_shared_wish(struct tg_shared *shared, enum tg_wish wish)
{
    atomic_fetch_add(&shared->wishes[wish], 1);
}

int64_t tg_shared_wishes(const struct tg_shared *shared, enum tg_wish wish)
{
    return atomic_load(&shared->wishes[wish]);
}

struct tg_breakers *tg_shared_breakers(struct tg_shared *shared)
{
    return shared->breakers;
}

struct tg_key_board *tg_shared_keys(struct tg_shared *shared)
{
    return shared->keys;
}

void tg_shared_stage_time(struct tg_shared *shared, enum tg_stage stage, int64_t us)
{
    atomic_fetch_add_explicit(&shared->stage_us[stage], us, memory_order_relaxed);
    atomic_fetch_add_explicit(&shared->stage_count[stage], 1, memory_order_relaxed);
}

void tg_shared_stage_sum(const struct tg_shared *shared, enum tg_stage stage, int64_t *ret_us,
                         int64_t *ret_count)
{
    *ret_us = atomic_load_explicit(&shared->stage_us[stage], memory_order_relaxed);
    *ret_count = atomic_load_explicit(&shared->stage_count[stage], memory_order_relaxed);
}
