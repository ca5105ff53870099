#include "fcgi-app/route/breaker.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

enum {
    PLACES = 8192, /* a power of two */
    PROBES = 16,   /* places that a name may stand at */
    BUCKETS = 6,
    BUCKET_US = 10000000,
    COUNT_MOST = UINT16_MAX,
    REPEATS_FREE = 3, /* what one request may make */
    NAME_WORDS = TG_BREAKER_MODEL / 8
};

struct tg_breaker {
    _Atomic uint64_t key;  /* hash of channel and model; 0: free */
    _Atomic uint64_t word; /* see pack() */
    _Atomic int64_t channel_id;
    _Atomic uint64_t name[NAME_WORDS]; /* of the model, padded with zeroes */
    _Atomic int64_t in_a_row;
    _Atomic uint64_t buckets[BUCKETS]; /* period 32 | calls 16 | failures 16 */
    _Atomic uint64_t repeats;          /* period 32 | repeats 32 */
    _Atomic int64_t used_at_us;
};

struct tg_breakers {
    _Atomic int64_t not_closed; /* at least as many; a worker that dies leaves it too high */
    _Atomic int64_t opened;
    struct tg_breaker places[PLACES];
};

/* --- the word ------------------------------------------------------------------------------ */

enum state { CLOSED, OPEN, PROBING };

struct parts {
    enum state state;
    unsigned doublings;   /* 6 bits */
    unsigned generation;  /* 16 bits */
    int64_t until_ms;     /* 40 bits */
};

static uint64_t pack(struct parts parts)
{
    return (uint64_t)parts.state | (uint64_t)(parts.doublings & 63u) << 2 |
           (uint64_t)(parts.generation & 0xffffu) << 8 | (uint64_t)parts.until_ms << 24;
}

static struct parts unpack(uint64_t word)
{
    return (struct parts){.state = (enum state)(word & 3),
                          .doublings = (unsigned)(word >> 2) & 63u,
                          .generation = (unsigned)(word >> 8) & 0xffffu,
                          .until_ms = (int64_t)(word >> 24)};
}

static int64_t period_us(const struct tg_breaker_rules *rules, unsigned doublings)
{
    int64_t us = rules->open_us;

    for (unsigned i = 0; i < doublings && us < rules->open_most_us; i++)
        us *= 2;
    return TG_MIN(us, TG_MAX(rules->open_us, rules->open_most_us));
}

/* --- places -------------------------------------------------------------------------------- */

struct tg_breakers *tg_breakers_new(void)
{
    struct tg_breakers *made = mmap(NULL, sizeof *made, PROT_READ | PROT_WRITE,
                                    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    tg_assert(made != MAP_FAILED);
    return made;
}

static uint64_t key_of(int64_t channel_id, const char *model)
{
    uint64_t value = UINT64_C(14695981039346656037) ^ (uint64_t)channel_id;

    value *= UINT64_C(1099511628211);
    for (size_t i = 0; i < TG_BREAKER_MODEL - 1 && model[i] != '\0'; i++)
        value = (value ^ (unsigned char)model[i]) * UINT64_C(1099511628211);
    value ^= value >> 32;
    return value == 0 ? 1 : value;
}

static struct tg_breaker *place_at(struct tg_breakers *breakers, uint64_t key, size_t nth)
{
    return &breakers->places[(key + nth) & (PLACES - 1)];
}

static struct tg_breaker *find(struct tg_breakers *breakers, uint64_t key)
{
    for (size_t i = 0; i < PROBES; i++) {
        struct tg_breaker *place = place_at(breakers, key, i);

        if (atomic_load_explicit(&place->key, memory_order_acquire) == key)
            return place;
    }
    return NULL;
}

struct tg_breaker *tg_breaker_find(struct tg_breakers *breakers, int64_t channel_id,
                                   const char *model)
{
    return find(breakers, key_of(channel_id, model));
}

bool tg_breakers_any(const struct tg_breakers *breakers)
{
    return atomic_load_explicit(&breakers->not_closed, memory_order_relaxed) > 0;
}

static void forget_counts(struct tg_breaker *place)
{
    atomic_store(&place->in_a_row, 0);
    for (int i = 0; i < BUCKETS; i++)
        atomic_store(&place->buckets[i], 0);
}

static void write_name(struct tg_breaker *place, const struct tg_breaker_call *call)
{
    char text[TG_BREAKER_MODEL] = "";
    uint64_t words[NAME_WORDS];
    size_t len = strnlen(call->model, TG_BREAKER_MODEL - 1);

    memcpy(text, call->model, len);
    memcpy(words, text, sizeof words);
    for (int i = 0; i < NAME_WORDS; i++)
        atomic_store_explicit(&place->name[i], words[i], memory_order_relaxed);
    atomic_store(&place->channel_id, call->channel_id);
    atomic_store(&place->used_at_us, call->now_us);
}

/* Closed, and what was counted there is older than the window. */
static bool is_idle(const struct tg_breaker *place, int64_t now_us)
{
    return unpack(atomic_load(&place->word)).state == CLOSED &&
           now_us - atomic_load(&place->used_at_us) > (int64_t)BUCKETS * BUCKET_US;
}

static struct tg_breaker *claim(struct tg_breakers *breakers, const struct tg_breaker_call *call,
                                uint64_t key)
{
    struct tg_breaker *place = find(breakers, key);

    for (size_t i = 0; i < PROBES && place == NULL; i++) {
        struct tg_breaker *at = place_at(breakers, key, i);
        uint64_t before = atomic_load(&at->key);

        if (before != 0 && !is_idle(at, call->now_us))
            continue;
        if (atomic_compare_exchange_strong(&at->key, &before, key)) {
            forget_counts(at);
            atomic_store(&at->repeats, 0);
            write_name(at, call);
            place = at;
        } else if (before == key) {
            place = at;
        }
    }
    return place;
}

/* --- counts -------------------------------------------------------------------------------- */

static uint32_t period_of(int64_t now_us)
{
    return (uint32_t)(now_us / BUCKET_US + 1); /* 0 is a bucket that was never used */
}

static void count_call(struct tg_breaker *place, int64_t now_us, bool failed)
{
    uint32_t period = period_of(now_us);
    _Atomic uint64_t *bucket = &place->buckets[period % BUCKETS];
    uint64_t before = atomic_load(bucket), after;

    do {
        bool same = (uint32_t)(before >> 32) == period;
        uint64_t calls = same ? before >> 16 & COUNT_MOST : 0;
        uint64_t failures = same ? before & COUNT_MOST : 0;

        if (calls == COUNT_MOST) { /* their ratio is what counts */
            calls /= 2;
            failures /= 2;
        }
        after = (uint64_t)period << 32 | (calls + 1) << 16 | (failures + failed);
    } while (!atomic_compare_exchange_weak(bucket, &before, after));
}

static bool too_many_failed(const struct tg_breaker *place, const struct tg_breaker_rules *rules,
                            int64_t now_us)
{
    uint32_t period = period_of(now_us);
    int64_t calls = 0, failures = 0;

    if (atomic_load(&place->in_a_row) >= rules->failures)
        return true;
    for (int i = 0; i < BUCKETS; i++) {
        uint64_t bucket = atomic_load(&place->buckets[i]);

        if (period - (uint32_t)(bucket >> 32) >= BUCKETS)
            continue;
        calls += (int64_t)(bucket >> 16 & COUNT_MOST);
        failures += (int64_t)(bucket & COUNT_MOST);
    }
    return calls >= rules->calls && failures * 100 > calls * rules->ratio;
}

bool tg_breaker_may_repeat(const struct tg_breaker_pass *pass, int64_t now_us)
{
    uint32_t period = period_of(now_us);
    struct tg_breaker *place = pass->breaker;
    uint64_t bucket, before, made;

    if (place == NULL || atomic_load(&place->key) != pass->key)
        return true;
    bucket = atomic_load(&place->buckets[period % BUCKETS]);
    before = atomic_load(&place->repeats);
    do {
        uint64_t calls = (uint32_t)(bucket >> 32) == period ? bucket >> 16 & COUNT_MOST : 0;

        made = (uint32_t)(before >> 32) == period ? before & UINT32_MAX : 0;
        if (made >= REPEATS_FREE && (made + 1) * 10 > calls)
            return false;
    } while (!atomic_compare_exchange_weak(&place->repeats, &before,
                                           (uint64_t)period << 32 | (made + 1)));
    return true;
}

/* --- the states ---------------------------------------------------------------------------- */

bool tg_breaker_admits(const struct tg_breaker *breaker, int64_t now_us, int64_t *ret_until_us)
{
    struct parts parts;

    if (breaker == NULL)
        return true;
    parts = unpack(atomic_load_explicit(&breaker->word, memory_order_relaxed));
    *ret_until_us = parts.until_ms * 1000;
    return parts.state == CLOSED || now_us / 1000 >= parts.until_ms;
}

bool tg_breaker_take(struct tg_breakers *breakers, const struct tg_breaker_rules *rules,
                     const struct tg_breaker_call *call, struct tg_breaker_pass *ret)
{
    uint64_t key = key_of(call->channel_id, call->model), word, wanted;
    struct parts parts;

    *ret = (struct tg_breaker_pass){.breaker = claim(breakers, call, key), .key = key};
    if (ret->breaker == NULL)
        return true;
    atomic_store_explicit(&ret->breaker->used_at_us, call->now_us, memory_order_relaxed);
    word = atomic_load(&ret->breaker->word);
    parts = unpack(word);
    if (parts.state == CLOSED || rules->failures == 0)
        return true;
    if (call->now_us / 1000 < parts.until_ms)
        return false;
    parts.state = PROBING;
    parts.generation++;
    parts.until_ms = (call->now_us + period_us(rules, parts.doublings)) / 1000;
    wanted = pack(parts);
    ret->probe = wanted;
    return atomic_compare_exchange_strong(&ret->breaker->word, &word, wanted);
}

static enum tg_breaker_change close_it(struct tg_breakers *breakers, struct tg_breaker *place)
{
    uint64_t word = atomic_load(&place->word);
    struct parts parts;

    do {
        parts = unpack(word);
        if (parts.state == CLOSED)
            return TG_BREAKER_SAME;
        parts = (struct parts){.state = CLOSED, .generation = parts.generation};
    } while (!atomic_compare_exchange_weak(&place->word, &word, pack(parts)));
    forget_counts(place);
    atomic_fetch_sub(&breakers->not_closed, 1);
    return TG_BREAKER_CLOSED;
}

/* The count is raised before the word says so: one that dies in between leaves it too high. */
static enum tg_breaker_change open_it(struct tg_breakers *breakers, struct tg_breaker *place,
                                      int64_t until_us)
{
    uint64_t word = atomic_load(&place->word);
    struct parts parts = unpack(word);

    if (parts.state != CLOSED)
        return TG_BREAKER_SAME;
    parts.state = OPEN;
    parts.doublings = 0;
    parts.until_ms = until_us / 1000;
    atomic_fetch_add(&breakers->not_closed, 1);
    if (atomic_compare_exchange_strong(&place->word, &word, pack(parts))) {
        atomic_fetch_add(&breakers->opened, 1);
        return TG_BREAKER_OPENED;
    }
    atomic_fetch_sub(&breakers->not_closed, 1);
    return TG_BREAKER_SAME;
}

/* A probe that failed, or said nothing: then the next call may be one at once. */
static enum tg_breaker_change end_probe(struct tg_breakers *breakers,
                                        const struct tg_breaker_rules *rules,
                                        const struct tg_breaker_pass *pass, bool failed,
                                        int64_t now_us)
{
    uint64_t word = pass->probe;
    struct parts parts = unpack(word);

    parts.state = OPEN;
    parts.doublings = TG_MIN(parts.doublings + failed, 63u);
    parts.until_ms = (now_us + (failed ? period_us(rules, parts.doublings) : 0)) / 1000;
    if (!atomic_compare_exchange_strong(&pass->breaker->word, &word, pack(parts)) || !failed)
        return TG_BREAKER_SAME;
    atomic_fetch_add(&breakers->opened, 1);
    return TG_BREAKER_OPENED;
}

enum tg_breaker_change tg_breaker_report(struct tg_breakers *breakers,
                                         const struct tg_breaker_rules *rules,
                                         const struct tg_breaker_pass *pass,
                                         enum tg_breaker_outcome outcome, int64_t now_us)
{
    struct tg_breaker *place = pass->breaker;
    bool failed = outcome == TG_BREAKER_FAILURE;

    if (place == NULL || atomic_load(&place->key) != pass->key)
        return TG_BREAKER_SAME;
    if (outcome != TG_BREAKER_NEUTRAL)
        count_call(place, now_us, failed);
    if (outcome == TG_BREAKER_SUCCESS) {
        atomic_store(&place->in_a_row, 0);
        return pass->probe != 0 ? close_it(breakers, place) : TG_BREAKER_SAME;
    }
    if (failed)
        atomic_fetch_add(&place->in_a_row, 1);
    if (pass->probe != 0)
        return end_probe(breakers, rules, pass, failed, now_us);
    if (!failed || rules->failures == 0 || !too_many_failed(place, rules, now_us))
        return TG_BREAKER_SAME;
    return open_it(breakers, place, now_us + rules->open_us);
}

/* --- what is seen of it -------------------------------------------------------------------- */

/* False: the place has been given to another meanwhile. */
static bool read_name(const struct tg_breaker *place, struct tg_breaker_view *ret)
{
    uint64_t words[NAME_WORDS];

    for (int i = 0; i < NAME_WORDS; i++)
        words[i] = atomic_load_explicit(&place->name[i], memory_order_relaxed);
    memcpy(ret->model, words, sizeof ret->model);
    ret->model[sizeof ret->model - 1] = '\0';
    ret->channel_id = atomic_load(&place->channel_id);
    return key_of(ret->channel_id, ret->model) == atomic_load(&place->key);
}

void tg_breakers_each(const struct tg_breakers *breakers, tg_breaker_view_fn *visit, void *context)
{
    if (!tg_breakers_any(breakers))
        return;
    for (size_t i = 0; i < PLACES; i++) {
        struct parts parts = unpack(atomic_load(&breakers->places[i].word));
        struct tg_breaker_view view;

        if (parts.state == CLOSED || !read_name(&breakers->places[i], &view))
            continue;
        view.probing = parts.state == PROBING;
        view.until_us = parts.until_ms * 1000;
        view.doublings = parts.doublings;
        visit(context, &view);
    }
}

int64_t tg_breakers_opened(const struct tg_breakers *breakers)
{
    return atomic_load(&breakers->opened);
}
