#include "fcgi-app/route/snapshot_build.h"

#include "common/base/log.h"
#include "common/base/zone.h"
#include "common/conf/units.h"
#include "common/json/scan.h"

#include <stdlib.h>
#include <string.h>

/* Arrays of pointers to routes are meant. NOLINTNEXTLINE(bugprone-sizeof-expression) */
enum { ROUTE_POINTER = sizeof(struct tg_route *) };

/* --- channels and their keys --------------------------------------------------------------- */

static int compare_ids(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int by_channel_id(const void *a, const void *b)
{
    return compare_ids(((const struct tg_channel *)a)->id, ((const struct tg_channel *)b)->id);
}

/* A member of the timeouts object; 0 when absent or no duration. */
static int64_t timeout_of(const struct tg_channel_row *row, const char *name)
{
    size_t len = strlen(row->timeouts);
    struct tg_json_place place;
    char text[32];
    int64_t us;

    if (len == 0 || !tg_json_find(row->timeouts, len, name, &place))
        return 0;
    if (tg_json_place_string(row->timeouts, &place, text, sizeof text) &&
        tg_duration_parse(text, &us) && us > 0)
        return us;
    tg_log(TG_LOG_WARNING, "route", "channel %lld: the timeout \"%s\" is ignored",
           (long long)row->id, name);
    return 0;
}

static struct tg_channel channel_of(const struct tg_channel_row *row)
{
    return (struct tg_channel){
        .id = row->id,
        .priority = row->priority,
        .weight = row->weight,
        .name = row->name,
        .provider = row->provider,
        .base_url = row->base_url,
        .organisation = row->organisation,
        .loss_policy = row->loss_policy,
        .proxy = row->proxy,
        .connect_us = timeout_of(row, "connect"),
        .first_byte_us = timeout_of(row, "first_byte"),
        .idle_us = timeout_of(row, "idle"),
        .bill_upstream = row->bill_upstream,
        .auto_disable = row->auto_disable,
        .off = row->off,
        .test_model = row->test_model != NULL ? row->test_model : "",
        .balance_from = row->balance_from != NULL ? row->balance_from : "",
        .model_mapping = row->model_mapping,
        .key = "",
        .key_hint = "",
        .key_mode = tg_key_mode_read(row->key_mode),
    };
}

static struct tg_channel *channel_at(const struct tg_snapshot *snapshot, int64_t id)
{
    const struct tg_channel wanted = {.id = id};

    if (snapshot->channel_count == 0)
        return NULL;
    return bsearch(&wanted, snapshot->channels, snapshot->channel_count, sizeof wanted,
                   by_channel_id);
}

/* Zones are few: most keys share one. A zone that is gone from the system counts as UTC. */
static const struct tg_zone *zone_of(struct tg_snapshot *snapshot, const char *name)
{
    struct tg_error err;
    struct tg_zone *zone;

    for (size_t i = 0; i < snapshot->zone_count; i++)
        if (strcmp(snapshot->zone_names[i], name) == 0)
            return snapshot->zones[i];
    if (tg_zone_load(name, &zone, &err) != TG_OK) {
        tg_log(TG_LOG_ERROR, "route", "%s: %s; UTC is used", name, err.message);
        tg_assert(tg_zone_load("UTC", &zone, &err) == TG_OK);
    }
    snapshot->zone_names[snapshot->zone_count] = name;
    snapshot->zones[snapshot->zone_count++] = zone;
    return zone;
}

static struct tg_channel_key key_of(struct tg_snapshot *snapshot,
                                    const struct tg_channel_key_row *row, const char *key)
{
    struct tg_channel_key made = {
        .id = row->id,
        .key = key,
        .hint = row->hint,
        .row = {.event = row->state_event, .until_s = row->state_until_us / 1000000},
        .cap_unit = tg_cap_unit_read(row->cap_unit),
        .cap = row->cap_value,
        .used = row->used,
        .used_since_s = row->used_since_us / 1000000,
        .reset_hour = (int)row->reset_hour,
        .zone = zone_of(snapshot, row->reset_zone),
    };

    if (!tg_key_state_read(row->state, &made.row.state))
        made.row.state = TG_KEY_DISABLED; /* a word of another version */
    return made;
}

/* A key that does not open is left out, and the loss is logged. */
static void open_key(struct tg_snapshot *snapshot, const struct tg_channel_key_row *row,
                     const struct tg_secrets *secrets)
{
    struct tg_channel *channel = channel_at(snapshot, row->channel_id);
    char aad[TG_KEY_AAD_TEXT];
    const struct tg_sealed sealed = {row->key_version, aad, row->sealed};
    struct tg_error err;
    struct tg_buf key;

    if (channel == NULL)
        return;
    tg_channel_key_aad(row->id, aad);
    tg_buf_init(&key, 0);
    if (tg_secrets_unseal(secrets, &sealed, &key, &err) == TG_OK)
        snapshot->keys[snapshot->key_count++] = key_of(
            snapshot, row, tg_arena_strndup(snapshot->arena, tg_buf_text(&key), key.len));
    else
        tg_log(TG_LOG_ERROR, "route", "channel %lld: key %lld cannot be opened (%s)",
               (long long)row->channel_id, (long long)row->id, err.code);
    if (key.len > 0)
        tg_wipe(key.data, key.len);
    tg_buf_done(&key);
}

static int by_position(const void *left, const void *right)
{
    const struct tg_channel_key_row *a = left, *b = right;
    int order = compare_ids(a->channel_id, b->channel_id);

    return order != 0 ? order : compare_ids(a->position, b->position);
}

static void build_keys(struct tg_snapshot *snapshot, struct tg_routing_rows *rows,
                       const struct tg_secrets *secrets)
{
    snapshot->keys = tg_arena_calloc(snapshot->arena, rows->key_count, sizeof *snapshot->keys);
    snapshot->zones = tg_arena_calloc(snapshot->arena, rows->key_count, sizeof(void *));
    snapshot->zone_names = tg_arena_calloc(snapshot->arena, rows->key_count, sizeof(char *));
    if (rows->key_count > 0)
        qsort(rows->keys, rows->key_count, sizeof *rows->keys, by_position);
    for (size_t i = 0; i < rows->key_count; i++) {
        struct tg_channel *channel = channel_at(snapshot, rows->keys[i].channel_id);
        size_t before = snapshot->key_count;

        open_key(snapshot, &rows->keys[i], secrets);
        if (snapshot->key_count == before)
            continue;
        if (channel->key_count++ > 0)
            continue;
        channel->keys = &snapshot->keys[before];
        channel->key_id = channel->keys->id;
        channel->key = channel->keys->key;
        channel->key_hint = channel->keys->hint;
    }
}

static void build_channels(struct tg_snapshot *snapshot, struct tg_routing_rows *rows,
                           const struct tg_secrets *secrets)
{
    snapshot->channel_count = rows->channel_count;
    snapshot->channels =
        tg_arena_calloc(snapshot->arena, rows->channel_count, sizeof *snapshot->channels);
    for (size_t i = 0; i < rows->channel_count; i++)
        snapshot->channels[i] = channel_of(&rows->channels[i]);
    if (rows->channel_count > 0)
        qsort(snapshot->channels, snapshot->channel_count, sizeof *snapshot->channels,
              by_channel_id);
    build_keys(snapshot, rows, secrets);
    if (tg_zone_load("America/Los_Angeles", &snapshot->pacific, NULL) != TG_OK)
        snapshot->pacific = NULL;
}

/* --- the index group -> model -> channels -------------------------------------------------- */

static int by_ability(const void *left, const void *right)
{
    const struct tg_ability_row *a = left, *b = right;
    int order = strcmp(a->group_name, b->group_name);

    if (order == 0)
        order = strcmp(a->model, b->model);
    if (order == 0)
        order = compare_ids(b->priority, a->priority);
    return order != 0 ? order : compare_ids(a->channel_id, b->channel_id);
}

static bool starts_route(const struct tg_route *route, const struct tg_ability_row *row)
{
    return route == NULL || strcmp(route->group, row->group_name) != 0 ||
           strcmp(route->model, row->model) != 0;
}

static void build_routes(struct tg_snapshot *snapshot, struct tg_routing_rows *rows)
{
    struct tg_ability *abilities =
        tg_arena_calloc(snapshot->arena, rows->ability_count, sizeof *abilities);
    struct tg_route *route = NULL;

    if (rows->ability_count > 0)
        qsort(rows->abilities, rows->ability_count, sizeof *rows->abilities, by_ability);
    snapshot->routes =
        tg_arena_calloc(snapshot->arena, rows->ability_count, sizeof *snapshot->routes);
    for (size_t i = 0; i < rows->ability_count; i++) {
        const struct tg_ability_row *row = &rows->abilities[i];
        const struct tg_channel *channel = channel_at(snapshot, row->channel_id);

        if (channel == NULL)
            continue;
        if (starts_route(route, row)) {
            route = &snapshot->routes[snapshot->route_count++];
            route->group = row->group_name;
            route->model = row->model;
            route->abilities = abilities;
            route->pattern = strchr(row->model, '*') != NULL;
        }
        *abilities++ = (struct tg_ability){row->priority, row->weight, channel};
        route->count++;
    }
}

uint64_t tg_route_hash(const char *group, const char *model)
{
    uint64_t value = UINT64_C(14695981039346656037); /* FNV-1a over "group NUL model" */

    for (; *group != '\0'; group++)
        value = (value ^ (unsigned char)*group) * UINT64_C(1099511628211);
    value *= UINT64_C(1099511628211);
    for (; *model != '\0'; model++)
        value = (value ^ (unsigned char)*model) * UINT64_C(1099511628211);
    return value;
}

static void put_slot(struct tg_snapshot *snapshot, struct tg_route *route)
{
    size_t at = tg_route_hash(route->group, route->model) & (snapshot->slot_count - 1);

    while (snapshot->slots[at] != NULL)
        at = (at + 1) & (snapshot->slot_count - 1);
    snapshot->slots[at] = route;
}

static int most_exact_first(const void *left, const void *right)
{
    const struct tg_route *const *a = left, *const *b = right;

    return tg_pattern_compare((*b)->model, (*a)->model);
}

static struct tg_route **route_pointers(struct tg_arena *arena, size_t count)
{
    return tg_arena_calloc(arena, count, ROUTE_POINTER);
}

static void build_index(struct tg_snapshot *snapshot)
{
    snapshot->slot_count = 8;
    while (snapshot->slot_count < 2 * snapshot->route_count)
        snapshot->slot_count *= 2;
    snapshot->slots = route_pointers(snapshot->arena, snapshot->slot_count);
    snapshot->patterns = route_pointers(snapshot->arena, snapshot->route_count);
    for (size_t i = 0; i < snapshot->route_count; i++) {
        struct tg_route *route = &snapshot->routes[i];

        if (route->pattern)
            snapshot->patterns[snapshot->pattern_count++] = route;
        else
            put_slot(snapshot, route);
    }
    if (snapshot->pattern_count > 0)
        qsort(snapshot->patterns, snapshot->pattern_count, ROUTE_POINTER, most_exact_first);
}

static int by_name(const void *left, const void *right)
{
    const char *const *a = left, *const *b = right;

    return strcmp(*a, *b);
}

static void build_names(struct tg_snapshot *snapshot)
{
    snapshot->names = tg_arena_calloc(snapshot->arena, snapshot->route_count, sizeof(char *));
    for (size_t i = 0; i < snapshot->route_count; i++)
        if (!snapshot->routes[i].pattern)
            snapshot->names[snapshot->name_count++] = snapshot->routes[i].model;
    if (snapshot->name_count > 0)
        qsort(snapshot->names, snapshot->name_count, sizeof(char *), by_name);
}

static int by_price_model(const void *left, const void *right)
{
    const struct tg_price_row *a = left, *b = right;
    bool a_exact = strchr(a->model, '*') == NULL, b_exact = strchr(b->model, '*') == NULL;

    if (a_exact != b_exact)
        return a_exact - b_exact;
    return a_exact ? strcmp(a->model, b->model) : tg_pattern_compare(b->model, a->model);
}

static void build_prices(struct tg_snapshot *snapshot, struct tg_routing_rows *rows)
{
    if (rows->price_count > 0)
        qsort(rows->prices, rows->price_count, sizeof *rows->prices, by_price_model);
    snapshot->prices = rows->prices;
    snapshot->price_count = rows->price_count;
    for (size_t i = 0; i < rows->price_count; i++)
        snapshot->price_pattern_count += strchr(rows->prices[i].model, '*') != NULL;
}

struct tg_snapshot *tg_snapshot_build(struct tg_routing_rows *rows, struct tg_arena *arena,
                                      const struct tg_secrets *secrets)
{
    struct tg_snapshot *made = tg_arena_calloc(arena, 1, sizeof *made);

    made->arena = arena;
    made->version = rows->version;
    build_channels(made, rows, secrets);
    build_routes(made, rows);
    build_index(made);
    build_names(made);
    build_prices(made, rows);
    made->groups = rows->groups;
    made->group_count = rows->group_count;
    made->access = rows->access;
    made->access_count = rows->access_count;
    return made;
}

void tg_snapshot_free(struct tg_snapshot *snapshot)
{
    if (snapshot == NULL)
        return;
    for (size_t i = 0; i < snapshot->key_count; i++) {
        char *key = (char *)(uintptr_t)snapshot->keys[i].key;

        tg_wipe(key, strlen(key));
    }
    for (size_t i = 0; i < snapshot->zone_count; i++)
        tg_zone_free(snapshot->zones[i]);
    tg_zone_free(snapshot->pacific);
    tg_arena_free(snapshot->arena);
}
