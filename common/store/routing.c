#include "common/store/routing.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/json/json.h"
#include "common/store/read.h"

void tg_channel_key_aad(int64_t key_id, char text[TG_KEY_AAD_TEXT])
{
    snprintf(text, TG_KEY_AAD_TEXT, "channel_key:%" PRId64, key_id);
}

enum tg_class tg_store_routing_version(struct tg_db *db, int64_t *ret, struct tg_error *err)
{
    struct tg_db_rows *rows;
    enum tg_class class =
        tg_db_select(db, "SELECT version FROM routing_version WHERE id = 1", NULL, 0, &rows);

    if (class != TG_OK)
        return tg_store_failed(db, class, err);
    if (tg_db_next(rows))
        *ret = tg_db_int(rows, 0);
    else
        class = tg_fail(err, TG_CLASS_INTERNAL, "routing_version", "routing_version is empty");
    tg_db_rows_free(rows);
    return class;
}

typedef void row_fn(struct tg_arena *arena, const struct tg_db_rows *rows,
                    struct tg_routing_rows *ret);

/* The first of a channel's models that is no pattern, "" when there is none. */
static const char *first_model(struct tg_arena *arena, const char *models)
{
    const char *first = "";
    struct tg_json *list = NULL;
    struct tg_span name;

    if (tg_json_parse(models, strlen(models), &list, NULL) != TG_OK)
        return first;
    for (size_t i = 0; *first == '\0' && i < tg_json_array_len(list); i++)
        if (tg_json_string(tg_json_array_at(list, i), &name) &&
            memchr(name.ptr, '*', name.len) == NULL)
            first = tg_arena_strndup(arena, name.ptr, name.len);
    tg_json_free(list);
    return first;
}

static void add_channel(struct tg_arena *arena, const struct tg_db_rows *rows,
                        struct tg_routing_rows *ret)
{
    ret->channels =
        tg_store_grow(arena, ret->channels, ret->channel_count, sizeof *ret->channels);
    ret->channels[ret->channel_count++] = (struct tg_channel_row){
        .id = tg_db_int(rows, 0),
        .name = tg_store_text(arena, rows, 1),
        .provider = tg_store_text(arena, rows, 2),
        .base_url = tg_store_text(arena, rows, 3),
        .organisation = tg_store_text(arena, rows, 4),
        .proxy = tg_store_text(arena, rows, 5),
        .model_mapping = tg_store_text(arena, rows, 6),
        .timeouts = tg_store_text(arena, rows, 7),
        .status_mapping = tg_store_text(arena, rows, 8),
        .param_override = tg_store_text(arena, rows, 9),
        .header_override = tg_store_text(arena, rows, 10),
        .bill_upstream = strcmp(tg_db_text(rows, 11), "upstream") == 0,
        .auto_disable = tg_db_int(rows, 12) != 0,
        .priority = tg_db_int(rows, 13),
        .weight = tg_db_int(rows, 14),
        .key_mode = tg_store_text(arena, rows, 15),
        .loss_policy = tg_store_text(arena, rows, 16),
        .off = tg_db_int(rows, 17) == 0,
        .test_model = *tg_db_text(rows, 18) != '\0' ? tg_store_text(arena, rows, 18)
                                                    : first_model(arena, tg_db_text(rows, 19)),
        .balance_from = tg_store_text(arena, rows, 20)};
}

static void add_key(struct tg_arena *arena, const struct tg_db_rows *rows,
                    struct tg_routing_rows *ret)
{
    struct tg_span sealed = tg_db_bytes(rows, 2);

    ret->keys = tg_store_grow(arena, ret->keys, ret->key_count, sizeof *ret->keys);
    ret->keys[ret->key_count++] = (struct tg_channel_key_row){
        .id = tg_db_int(rows, 0),
        .channel_id = tg_db_int(rows, 1),
        .sealed = {.ptr = tg_arena_strndup(arena, sealed.ptr, sealed.len), .len = sealed.len},
        .key_version = tg_db_int(rows, 3),
        .hint = tg_store_text(arena, rows, 4),
        .state = tg_store_text(arena, rows, 5),
        .state_until_us = tg_store_time(rows, 6),
        .state_event = tg_db_int(rows, 7),
        .cap_unit = tg_store_text(arena, rows, 8),
        .cap_value = tg_db_int(rows, 9),
        .reset_hour = tg_db_int(rows, 10),
        .reset_zone = tg_store_text(arena, rows, 11),
        .used = tg_db_int(rows, 12),
        .used_since_us = tg_store_time(rows, 13),
        .position = tg_db_int(rows, 14)};
}

static void add_ability(struct tg_arena *arena, const struct tg_db_rows *rows,
                        struct tg_routing_rows *ret)
{
    ret->abilities =
        tg_store_grow(arena, ret->abilities, ret->ability_count, sizeof *ret->abilities);
    ret->abilities[ret->ability_count++] =
        (struct tg_ability_row){.group_name = tg_store_text(arena, rows, 0),
                                .model = tg_store_text(arena, rows, 1),
                                .channel_id = tg_db_int(rows, 2),
                                .priority = tg_db_int(rows, 3),
                                .weight = tg_db_int(rows, 4)};
}

static void add_price(struct tg_arena *arena, const struct tg_db_rows *rows,
                      struct tg_routing_rows *ret)
{
    ret->prices = tg_store_grow(arena, ret->prices, ret->price_count, sizeof *ret->prices);
    ret->prices[ret->price_count++] = tg_store_price_row(arena, rows);
}

static const char *decimal_text(struct tg_arena *arena, const struct tg_db_rows *rows, int column)
{
    char text[TG_DECIMAL_TEXT];

    tg_store_decimal(rows, column, text, sizeof text);
    return tg_arena_strdup(arena, text);
}

static void add_group(struct tg_arena *arena, const struct tg_db_rows *rows,
                      struct tg_routing_rows *ret)
{
    ret->groups = tg_store_grow(arena, ret->groups, ret->group_count, sizeof *ret->groups);
    ret->groups[ret->group_count++] =
        (struct tg_group_row){.name = tg_store_text(arena, rows, 0),
                              .ratio = decimal_text(arena, rows, 1),
                              .order_mode = tg_store_text(arena, rows, 2),
                              .deposit_factor = decimal_text(arena, rows, 3)};
}

static void add_access(struct tg_arena *arena, const struct tg_db_rows *rows,
                       struct tg_routing_rows *ret)
{
    ret->access = tg_store_grow(arena, ret->access, ret->access_count, sizeof *ret->access);
    ret->access[ret->access_count++] =
        (struct tg_group_access_row){.user_group = tg_store_text(arena, rows, 0),
                                     .used_group = tg_store_text(arena, rows, 1),
                                     .ratio = decimal_text(arena, rows, 2),
                                     .allowed = tg_db_int(rows, 3) != 0};
}

/* What is read, in what order and by whom. */
static const struct {
    const char *sql;
    row_fn *add;
} readings[] = {
    {"SELECT id, name, provider, base_url, organisation, proxy, model_mapping, timeouts, "
     "status_mapping, param_override, header_override, bill, auto_disable, priority, weight, "
     "key_mode, loss_policy, status = 'enabled', test_model, models, balance_from "
     "FROM channels "
     "WHERE status IN ('enabled', 'auto_disabled') ORDER BY id",
     add_channel},
    {"SELECT k.id, k.channel_id, k.sealed, k.key_version, k.hint, k.state, k.state_until_at, "
     "k.state_event, k.cap_unit, k.cap_value, k.reset_hour, k.reset_zone, k.used, "
     "k.used_since_at, k.position FROM channel_keys k JOIN channels c ON c.id = k.channel_id "
     "WHERE c.status IN ('enabled', 'auto_disabled') AND k.state <> 'disabled' "
     "ORDER BY k.channel_id, k.position",
     add_key},
    {"SELECT group_name, model, channel_id, priority, weight FROM abilities WHERE enabled = 1 "
     "ORDER BY group_name, model, priority DESC, channel_id",
     add_ability},
    {"SELECT " TG_PRICE_COLUMNS " FROM model_prices ORDER BY model",
     add_price},
    {"SELECT name, ratio, order_mode, deposit_factor FROM `groups` ORDER BY name", add_group},
    {"SELECT user_group, used_group, ratio, allowed FROM group_access "
     "ORDER BY user_group, used_group",
     add_access},
};

enum tg_class tg_store_routing_read(struct tg_db *db, struct tg_arena *arena,
                                    struct tg_routing_rows *ret, struct tg_error *err)
{
    struct tg_routing_rows got = {.version = 0};
    enum tg_class class = tg_db_begin_snapshot(db, err);

    if (class != TG_OK)
        return class;
    class = tg_store_routing_version(db, &got.version, err);
    for (size_t i = 0; i < TG_COUNT_OF(readings) && class == TG_OK; i++) {
        struct tg_db_rows *rows;

        class = tg_store_failed(db, tg_db_select(db, readings[i].sql, NULL, 0, &rows), err);
        if (class != TG_OK)
            break;
        while (tg_db_next(rows))
            readings[i].add(arena, rows, &got);
        tg_db_rows_free(rows);
    }
    tg_db_rollback(db); /* nothing was written */
    if (class == TG_OK)
        *ret = got;
    return class;
}
