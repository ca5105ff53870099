#include "common/store/channel.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/json/writer.h"
#include "common/store/check.h"
#include "common/store/read.h"
#include "common/store/routing.h"

enum { KEY_LIMIT = 8000, WEIGHT_LIMIT = 1000000, LIST_LIMIT = 2000 };

static enum tg_class check_url(const char *url, struct tg_error *err)
{
    const char *host = strncmp(url, "https://", 8) == 0  ? url + 8
                       : strncmp(url, "http://", 7) == 0 ? url + 7
                                                         : NULL;
    size_t len = strlen(url);

    for (const char *at = url; *at != '\0'; at++)
        if (*at <= 0x20 || *at >= 0x7f || strchr("\"'<>\\^`{|}#?", *at) != NULL)
            host = NULL;
    if (host == NULL || *host == '\0' || *host == '/' || len > 512 ||
        memchr(host, '@', strcspn(host, "/")) != NULL)
        return tg_fail(err, TG_CLASS_INVALID, "invalid_url",
                       "a base URL is http(s)://HOST[:PORT][/PATH] without account, query and "
                       "fragment");
    return TG_OK;
}

static enum tg_class check_lists(const struct tg_channel_new *channel, struct tg_error *err)
{
    enum tg_class class = TG_OK;

    if (channel->model_count == 0 || channel->model_count > LIST_LIMIT ||
        channel->group_count == 0 || channel->group_count > LIST_LIMIT)
        return tg_fail(err, TG_CLASS_INVALID, "invalid_list",
                       "a channel has 1 to %d models and groups", LIST_LIMIT);
    for (size_t i = 0; i < channel->model_count && class == TG_OK; i++)
        class = tg_check_model(channel->models[i], err);
    for (size_t i = 0; i < channel->group_count && class == TG_OK; i++)
        class = tg_check_name("group", channel->groups[i], err);
    return class;
}

static enum tg_class check(const struct tg_channel_new *channel, struct tg_error *err)
{
    enum tg_class class = tg_check_label("name", channel->name, err);
    size_t key_len = strlen(channel->key);

    if (class == TG_OK)
        class = tg_check_name("provider", channel->provider, err);
    if (class == TG_OK)
        class = check_url(channel->base_url, err);
    if (class == TG_OK)
        class = check_lists(channel, err);
    if (class != TG_OK)
        return class;
    if (channel->weight < 0 || channel->weight > WEIGHT_LIMIT)
        return tg_fail(err, TG_CLASS_INVALID, "invalid_weight", "a weight is 0 to %d",
                       WEIGHT_LIMIT);
    if (key_len == 0 || key_len > KEY_LIMIT || strpbrk(channel->key, "\r\n") != NULL)
        return tg_fail(err, TG_CLASS_INVALID, "invalid_key",
                       "a key is one line of at most %d bytes", KEY_LIMIT);
    return TG_OK;
}

static void write_list(struct tg_json_writer *out, const char *const *list, size_t count)
{
    tg_json_begin_array(out);
    for (size_t i = 0; i < count; i++)
        tg_json_write_str(out, list[i]);
    tg_json_end_array(out);
}

static const char *list_json(struct tg_buf *buf, const char *const *list, size_t count)
{
    struct tg_json_writer out;

    tg_buf_init(buf, 0);
    tg_json_writer_init(&out, buf);
    write_list(&out, list, count);
    return tg_buf_text(buf);
}

/* A name out of JSON_TABLE, whose own collation may hold "GPT" and "gpt" for the same. */
#define EXACT(name) "CONVERT(" name " USING utf8mb4) COLLATE utf8mb4_bin"

/* The product of the channel's models and groups, made by the database from the channel's row. */
static void rewrite_abilities(struct tg_change *change, int64_t channel_id)
{
    tg_change_run(change, "DELETE FROM abilities WHERE channel_id = ?", &TG_DB_I(channel_id), 1);
    tg_change_run(change,
                  "INSERT INTO abilities (group_name, model, channel_id, enabled, priority, "
                  "weight) SELECT DISTINCT " EXACT("g.name") ", " EXACT("m.name") ", c.id, "
                  "c.status = 'enabled', c.priority, c.weight FROM channels c, "
                  "JSON_TABLE(c.models, '$[*]' COLUMNS (name VARCHAR(191) PATH '$')) m, "
                  "JSON_TABLE(c.groups_list, '$[*]' COLUMNS (name VARCHAR(64) PATH '$')) g "
                  "WHERE c.id = ?",
                  &TG_DB_I(channel_id), 1);
    tg_change_routing(change);
}

static void add_key(struct tg_change *change, const struct tg_channel_new *channel,
                    int64_t channel_id)
{
    char aad[TG_KEY_AAD_TEXT], hint[5] = "";
    size_t len = strlen(channel->key);
    struct tg_buf sealed;
    int64_t key_id;

    if (len >= 16) /* four characters of a short key are too much of it */
        snprintf(hint, sizeof hint, "%s", channel->key + len - 4);
    tg_change_run(change,
                  "INSERT INTO channel_keys (channel_id, position, sealed, key_version, hint) "
                  "VALUES (?, 0, '', ?, ?)",
                  (struct tg_db_value[]){TG_DB_I(channel_id), TG_DB_I(channel->key_version),
                                         TG_DB_S(hint)},
                  3);
    key_id = change->done.last_id;
    tg_channel_key_aad(key_id, aad);
    tg_buf_init(&sealed, 0);
    tg_seal(channel->seal_public, aad, channel->key, &sealed);
    tg_change_run(change, "UPDATE channel_keys SET sealed = ? WHERE id = ?",
                  (struct tg_db_value[]){TG_DB_B(sealed.data, sealed.len), TG_DB_I(key_id)}, 2);
    tg_buf_done(&sealed);
}

static void note_added(struct tg_change *change, const struct tg_channel_new *channel, int64_t id)
{
    char text[24];
    struct tg_json_writer out;
    struct tg_buf after;

    snprintf(text, sizeof text, "%" PRId64, id);
    tg_buf_init(&after, 0);
    tg_json_writer_init(&out, &after);
    tg_json_begin_object(&out);
    tg_json_put_str(&out, "name", channel->name);
    tg_json_put_str(&out, "provider", channel->provider);
    tg_json_put_str(&out, "base_url", channel->base_url);
    tg_json_key(&out, "models");
    write_list(&out, channel->models, channel->model_count);
    tg_json_key(&out, "groups_list");
    write_list(&out, channel->groups, channel->group_count);
    tg_json_put_int(&out, "priority", channel->priority);
    tg_json_put_int(&out, "weight", channel->weight);
    tg_json_end_object(&out);
    tg_change_audit(change, &(struct tg_audit_note){.action = "channel.add",
                                                    .object_type = "channel",
                                                    .object_id = text,
                                                    .after_json = tg_buf_text(&after)});
    tg_buf_done(&after);
}

enum tg_class tg_store_channel_add(struct tg_db *db, const struct tg_actor *actor,
                                   const struct tg_channel_new *channel, int64_t *ret_id,
                                   struct tg_error *err)
{
    struct tg_buf models, groups;
    struct tg_change change;
    int64_t id;
    enum tg_class class = check(channel, err);

    if (class != TG_OK)
        return class;
    const struct tg_db_value values[] = {
        TG_DB_S(channel->name),
        TG_DB_S(channel->provider),
        TG_DB_S(channel->base_url),
        TG_DB_S(channel->organisation),
        TG_DB_S(channel->proxy),
        TG_DB_S(list_json(&models, channel->models, channel->model_count)),
        TG_DB_S(list_json(&groups, channel->groups, channel->group_count)),
        TG_DB_S(channel->model_mapping),
        TG_DB_S(channel->timeouts),
        TG_DB_I(channel->priority),
        TG_DB_I(channel->weight)};

    tg_change_begin(&change, db, actor, err);
    tg_change_run(&change,
                  "INSERT INTO channels (name, provider, base_url, organisation, proxy, models, "
                  "groups_list, model_mapping, timeouts, priority, weight) "
                  "VALUES (?,?,?,?,?,?,?,?,?,?,?)",
                  values, TG_COUNT_OF(values));
    if (change.class == TG_CLASS_CONFLICT && strcmp(err->code, "db_duplicate") == 0)
        change.class = tg_fail(err, TG_CLASS_CONFLICT, "channel_exists",
                               "there is a channel %s already", channel->name);
    id = change.done.last_id;
    tg_buf_done(&models);
    tg_buf_done(&groups);
    add_key(&change, channel, id);
    rewrite_abilities(&change, id);
    note_added(&change, channel, id);
    class = tg_change_end(&change);
    if (class == TG_OK)
        *ret_id = id;
    return class;
}

/* Takes the row's lock; *before gets its status as JSON. */
static void lock_channel(struct tg_change *change, int64_t channel_id, char *before, size_t room)
{
    struct tg_db_rows *rows = tg_change_select(
        change, "SELECT status FROM channels WHERE id = ? FOR UPDATE", &TG_DB_I(channel_id), 1);

    if (rows != NULL && tg_db_next(rows))
        snprintf(before, room, "{\"status\":\"%s\"}", tg_db_text(rows, 0));
    else if (rows != NULL)
        change->class = tg_fail(change->err, TG_CLASS_NOT_FOUND, "channel_not_found",
                                "there is no channel %" PRId64, channel_id);
    tg_db_rows_free(rows);
}

enum tg_class tg_store_channel_set_status(struct tg_db *db, const struct tg_actor *actor,
                                          int64_t channel_id, const char *status,
                                          struct tg_error *err)
{
    char id[24], before[48] = "", after[48];
    struct tg_change change;

    snprintf(id, sizeof id, "%" PRId64, channel_id);
    snprintf(after, sizeof after, "{\"status\":\"%s\"}", status);
    tg_change_begin(&change, db, actor, err);
    lock_channel(&change, channel_id, before, sizeof before);
    tg_change_run(&change, "UPDATE channels SET status = ?, status_reason = '' WHERE id = ?",
                  (struct tg_db_value[]){TG_DB_S(status), TG_DB_I(channel_id)}, 2);
    rewrite_abilities(&change, channel_id);
    tg_change_audit(&change, &(struct tg_audit_note){.action = "channel.status",
                                                     .object_type = "channel",
                                                     .object_id = id,
                                                     .before_json = before,
                                                     .after_json = after});
    return tg_change_end(&change);
}
