#include "fcgi-app/route/select.h"

/* Wide enough for any number of the largest weights. */
__extension__ typedef unsigned __int128 wide;

enum { WEIGHT_MOST = 1000000 };

/* What a choice is made among: the candidates from..to-1, of one priority. */
struct pool {
    const struct tg_candidate *candidates;
    size_t from, to;
    bool tried, native_only;
};

static bool is_in(const struct pool *pool, size_t i)
{
    const struct tg_candidate *c = &pool->candidates[i];

    return !c->excluded && c->tried == pool->tried && (!pool->native_only || c->native);
}

/* --- tiers --------------------------------------------------------------------------------- */

/* The end of the run of one priority that begins at <from>. */
static size_t end_of_run(const struct tg_candidate *candidates, size_t count, size_t from)
{
    size_t to = from;

    while (to < count && candidates[to].priority == candidates[from].priority)
        to++;
    return to;
}

static bool has_any(const struct tg_candidate *candidates, size_t from, size_t to, bool untried)
{
    for (size_t i = from; i < to; i++)
        if (!candidates[i].excluded && !(untried && candidates[i].tried))
            return true;
    return false;
}

/* Tier <wanted>, or the last one there is; its number, -1: there is none. With <untried> a tier
 * counts only when something in it was not tried. */
static int find_tier(struct pool *pool, size_t count, int wanted, bool untried)
{
    int tier = -1;

    for (size_t from = 0, to; from < count && tier < wanted; from = to) {
        to = end_of_run(pool->candidates, count, from);
        if (!has_any(pool->candidates, from, to, untried))
            continue;
        tier++;
        pool->from = from;
        pool->to = to;
    }
    return tier;
}

/* How many tiers stand above candidate <index>. */
static int tier_of(const struct tg_candidate *candidates, size_t index)
{
    int tier = 0;

    for (size_t from = 0, to; from < index; from = to) {
        to = end_of_run(candidates, index, from);
        tier += candidates[from].priority != candidates[index].priority &&
                has_any(candidates, from, to, false);
    }
    return tier;
}

/* --- the draw ------------------------------------------------------------------------------ */

static uint64_t weight_of(const struct tg_candidate *candidate, bool all_zero)
{
    return all_zero ? 1 : (uint64_t)TG_MAX(TG_MIN(candidate->weight, WEIGHT_MOST), 0);
}

static bool all_weights_zero(const struct pool *pool)
{
    for (size_t i = pool->from; i < pool->to; i++)
        if (is_in(pool, i) && pool->candidates[i].weight > 0)
            return false;
    return true;
}

static bool draw_from(const struct pool *pool, uint32_t draw, size_t *ret)
{
    bool all_zero = all_weights_zero(pool);
    wide sum = 0, at;

    for (size_t i = pool->from; i < pool->to; i++)
        if (is_in(pool, i))
            sum += weight_of(&pool->candidates[i], all_zero);
    if (sum == 0)
        return false;
    at = sum * draw >> 32;
    for (size_t i = pool->from; i < pool->to; i++) {
        uint64_t weight = is_in(pool, i) ? weight_of(&pool->candidates[i], all_zero) : 0;

        if (at < weight) {
            *ret = i;
            return true;
        }
        at -= weight;
    }
    return false;
}

/* Native ones first, where there are any. */
static bool draw_native_first(struct pool pool, uint32_t draw, size_t *ret)
{
    pool.native_only = true;
    if (draw_from(&pool, draw, ret))
        return true;
    pool.native_only = false;
    return draw_from(&pool, draw, ret);
}

/* --- spend_free_first ---------------------------------------------------------------------- */

static bool most_room(const struct pool *pool, size_t *ret)
{
    int64_t most = 0;

    for (size_t i = pool->from; i < pool->to; i++)
        if (is_in(pool, i) && pool->candidates[i].room > most) {
            most = pool->candidates[i].room;
            *ret = i;
        }
    return most > 0;
}

static bool pick(const struct pool *pool, const struct tg_select_wish *wish, size_t *ret)
{
    if (wish->spend_free_first && most_room(pool, ret))
        return true;
    return draw_native_first(*pool, wish->draw, ret);
}

static bool select_index(struct pool *pool, size_t count, const struct tg_select_wish *wish,
                         size_t *ret)
{
    struct pool other = *pool;

    if (find_tier(pool, count, wish->failed_channels, false) < 0)
        return false;
    if (pick(pool, wish, ret))
        return true;
    /* This tier is used up: any untried channel is better than a repeat. */
    if (find_tier(&other, count, 0, true) == 0)
        return pick(&other, wish, ret);
    pool->tried = true;
    return pick(pool, wish, ret);
}

bool tg_select(const struct tg_candidate *candidates, size_t count,
               const struct tg_select_wish *wish, struct tg_selection *ret)
{
    struct pool pool = {.candidates = candidates};
    size_t index = 0;

    if (!select_index(&pool, count, wish, &index))
        return false;
    ret->index = index;
    ret->tier = tier_of(candidates, index);
    return true;
}
