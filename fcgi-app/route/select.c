#include "fcgi-app/route/select.h"

/* Wide enough for any number of the largest weights. */
__extension__ typedef unsigned __int128 wide;

enum { WEIGHT_MOST = 1000000, WEIGHT_SCALE = 100 };

/* What a draw is made among. */
struct draw_pool {
    const struct tg_candidate *candidates;
    size_t count;
    int64_t priority;
    bool tried, native_only;
};

static bool in_pool(const struct draw_pool *pool, size_t i)
{
    const struct tg_candidate *c = &pool->candidates[i];

    return !c->excluded && c->tried == pool->tried && (!pool->native_only || c->native) &&
           c->priority == pool->priority;
}

/* Distinct priorities above <priority> among what is not excluded. */
static int tier_of(const struct tg_candidate *candidates, size_t count, int64_t priority)
{
    int tier = 0;

    for (size_t i = 0; i < count; i++) {
        bool counted = candidates[i].excluded || candidates[i].priority <= priority;

        for (size_t k = 0; k < i && !counted; k++)
            counted = !candidates[k].excluded && candidates[k].priority == candidates[i].priority;
        tier += !counted;
    }
    return tier;
}

/* The priority of tier <tier>, or of the last one. False: there is none. */
static bool tier_priority(const struct tg_candidate *candidates, size_t count, int tier,
                          int64_t *ret)
{
    bool found = false;
    int64_t least = 0;

    for (size_t i = 0; i < count; i++) {
        const struct tg_candidate *c = &candidates[i];

        if (c->excluded || tier_of(candidates, count, c->priority) > tier)
            continue;
        if (!found || c->priority < least)
            least = c->priority;
        found = true;
    }
    *ret = least;
    return found;
}

static uint64_t weight_of(const struct tg_candidate *candidate, bool all_zero)
{
    if (all_zero)
        return WEIGHT_SCALE;
    return (uint64_t)TG_MAX(TG_MIN(candidate->weight, WEIGHT_MOST), 0) * WEIGHT_SCALE;
}

static bool all_weights_zero(const struct draw_pool *pool)
{
    for (size_t i = 0; i < pool->count; i++)
        if (in_pool(pool, i) && pool->candidates[i].weight > 0)
            return false;
    return true;
}

static bool draw_from(const struct draw_pool *pool, uint32_t draw, size_t *ret)
{
    bool all_zero = all_weights_zero(pool);
    wide sum = 0, at;

    for (size_t i = 0; i < pool->count; i++)
        if (in_pool(pool, i))
            sum += weight_of(&pool->candidates[i], all_zero);
    if (sum == 0)
        return false;
    at = sum * draw >> 32;
    for (size_t i = 0; i < pool->count; i++) {
        uint64_t weight = in_pool(pool, i) ? weight_of(&pool->candidates[i], all_zero) : 0;

        if (at < weight) {
            *ret = i;
            return true;
        }
        at -= weight;
    }
    return false;
}

/* Native ones first, where there are any. */
static bool draw_native_first(struct draw_pool pool, uint32_t draw, size_t *ret)
{
    pool.native_only = true;
    if (draw_from(&pool, draw, ret))
        return true;
    pool.native_only = false;
    return draw_from(&pool, draw, ret);
}

/* The highest priority that still has an untried candidate. */
static bool untried_priority(const struct tg_candidate *candidates, size_t count, int64_t *ret)
{
    bool found = false;

    for (size_t i = 0; i < count; i++) {
        if (candidates[i].excluded || candidates[i].tried)
            continue;
        if (!found || candidates[i].priority > *ret)
            *ret = candidates[i].priority;
        found = true;
    }
    return found;
}

static bool select_index(const struct tg_candidate *candidates, size_t count, int failed_channels,
                         uint32_t draw, size_t *ret)
{
    struct draw_pool pool = {.candidates = candidates, .count = count};
    int64_t tier = 0;

    if (!tier_priority(candidates, count, failed_channels, &tier))
        return false;
    pool.priority = tier;
    if (draw_native_first(pool, draw, ret))
        return true;
    /* This tier is used up: any untried channel is better than a repeat. */
    if (untried_priority(candidates, count, &pool.priority))
        return draw_native_first(pool, draw, ret);
    pool.priority = tier;
    pool.tried = true;
    return draw_native_first(pool, draw, ret);
}

bool tg_select(const struct tg_candidate *candidates, size_t count, int failed_channels,
               uint32_t draw, struct tg_selection *ret)
{
    size_t index;

    if (!select_index(candidates, count, failed_channels, draw, &index))
        return false;
    ret->index = index;
    ret->tier = tier_of(candidates, count, candidates[index].priority);
    return true;
}
