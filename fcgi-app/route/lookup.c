#include "common/store/group.h"
#include "fcgi-app/route/snapshot_build.h"

#include <stdlib.h>
#include <string.h>

int64_t tg_snapshot_version(const struct tg_snapshot *snapshot)
{
    return snapshot->version;
}

static const struct tg_route *exact_route(const struct tg_snapshot *snapshot, const char *group,
                                          const char *model)
{
    size_t at = tg_route_hash(group, model) & (snapshot->slot_count - 1);
    const struct tg_route *route;

    for (; (route = snapshot->slots[at]) != NULL; at = (at + 1) & (snapshot->slot_count - 1))
        if (strcmp(route->group, group) == 0 && strcmp(route->model, model) == 0)
            return route;
    return NULL;
}

bool tg_snapshot_has_exact(const struct tg_snapshot *snapshot, const char *group,
                           const char *model)
{
    return exact_route(snapshot, group, model) != NULL;
}

static const struct tg_route *pattern_route(const struct tg_snapshot *snapshot, const char *group,
                                            const char *model)
{
    for (size_t i = 0; i < snapshot->pattern_count; i++)
        if (strcmp(snapshot->patterns[i]->group, group) == 0 &&
            tg_pattern_matches(snapshot->patterns[i]->model, model))
            return snapshot->patterns[i];
    return NULL;
}

const struct tg_ability *tg_snapshot_abilities(const struct tg_snapshot *snapshot,
                                               const char *group, const char *model,
                                               size_t *ret_count)
{
    const struct tg_route *route = exact_route(snapshot, group, model);

    /* A star in a client's model name is a character like any other: no exact name has one. */
    if (route == NULL)
        route = pattern_route(snapshot, group, model);
    *ret_count = route == NULL ? 0 : route->count;
    return route == NULL ? NULL : route->abilities;
}

static int compare_name(const void *name, const void *element)
{
    return strcmp(name, *(const char *const *)element);
}

bool tg_snapshot_knows_model(const struct tg_snapshot *snapshot, const char *model)
{
    if (snapshot->name_count > 0 && bsearch(model, snapshot->names, snapshot->name_count,
                                            sizeof *snapshot->names, compare_name) != NULL)
        return true;
    for (size_t i = 0; i < snapshot->pattern_count; i++)
        if (tg_pattern_matches(snapshot->patterns[i]->model, model))
            return true;
    return false;
}

static int compare_price(const void *name, const void *element)
{
    return strcmp(name, ((const struct tg_price_row *)element)->model);
}

static const struct tg_price_row *exact_price(const struct tg_snapshot *snapshot,
                                              const char *model)
{
    size_t count = snapshot->price_count - snapshot->price_pattern_count;

    if (count == 0)
        return NULL;
    return bsearch(model, snapshot->prices + snapshot->price_pattern_count, count,
                   sizeof *snapshot->prices, compare_price);
}

const struct tg_price *tg_snapshot_price(const struct tg_snapshot *snapshot, const char *model)
{
    const struct tg_price_row *best = exact_price(snapshot, model);

    for (size_t i = 0; best == NULL && i < snapshot->price_pattern_count; i++)
        if (tg_pattern_matches(snapshot->prices[i].model, model))
            best = &snapshot->prices[i];
    return best == NULL ? NULL : &best->price;
}

static const struct tg_group_access_row *access_row(const struct tg_snapshot *snapshot,
                                                    const char *user_group, const char *used_group)
{
    for (size_t i = 0; i < snapshot->access_count; i++)
        if (strcmp(snapshot->access[i].user_group, user_group) == 0 &&
            strcmp(snapshot->access[i].used_group, used_group) == 0)
            return &snapshot->access[i];
    return NULL;
}

static const struct tg_group_row *group_row(const struct tg_snapshot *snapshot, const char *name)
{
    for (size_t i = 0; i < snapshot->group_count; i++)
        if (strcmp(snapshot->groups[i].name, name) == 0)
            return &snapshot->groups[i];
    return NULL;
}

const char *tg_snapshot_ratio(const struct tg_snapshot *snapshot, const char *user_group,
                              const char *used_group)
{
    const struct tg_group_access_row *access = access_row(snapshot, user_group, used_group);
    const struct tg_group_row *group;

    if (access != NULL ? !access->allowed : strcmp(user_group, used_group) != 0)
        return NULL;
    if (access != NULL && access->ratio[0] != '\0')
        return access->ratio;
    group = group_row(snapshot, used_group);
    return group != NULL ? group->ratio : "1"; /* a group nobody has priced */
}

const char *tg_snapshot_deposit_factor(const struct tg_snapshot *snapshot, const char *group)
{
    const struct tg_group_row *row = group_row(snapshot, group);

    return row != NULL ? row->deposit_factor : "";
}

bool tg_snapshot_spends_free_first(const struct tg_snapshot *snapshot, const char *group)
{
    const struct tg_group_row *row = group_row(snapshot, group);

    return row != NULL && strcmp(row->order_mode, TG_GROUP_SPEND_FREE_FIRST) == 0;
}

void tg_snapshot_models(const struct tg_snapshot *snapshot, const char *group,
                        tg_snapshot_model_fn *visit, void *context)
{
    for (size_t i = 0; i < snapshot->route_count; i++)
        if (!snapshot->routes[i].pattern && strcmp(snapshot->routes[i].group, group) == 0)
            visit(context, snapshot->routes[i].model);
}

const struct tg_channel *tg_snapshot_channel(const struct tg_snapshot *snapshot, int64_t id)
{
    size_t low = 0, high = snapshot->channel_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (snapshot->channels[middle].id == id)
            return &snapshot->channels[middle];
        if (snapshot->channels[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

const int64_t *tg_snapshot_channel_ids(const struct tg_snapshot *snapshot, struct tg_arena *arena,
                                       bool all, size_t *ret_count)
{
    int64_t *ids = tg_arena_calloc(arena, snapshot->channel_count + 1, sizeof *ids);

    *ret_count = 0;
    for (size_t i = 0; i < snapshot->channel_count; i++)
        if (all || snapshot->channels[i].off)
            ids[(*ret_count)++] = snapshot->channels[i].id;
    return ids;
}

const struct tg_zone *tg_snapshot_pacific(const struct tg_snapshot *snapshot)
{
    return snapshot->pacific;
}
