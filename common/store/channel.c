#include "common/store/channel.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/json/writer.h"
#include "common/store/channel_parts.h"
#include "common/store/master_key.h"
#include "common/store/check.h"
#include "common/store/read.h"

static enum tg_class check(const struct tg_channel_new *channel, struct tg_error *err)
{
    enum tg_class class = tg_check_label("name", channel->name, err);

    if (class == TG_OK)
        class = tg_check_name("provider", channel->provider, err);
    if (class == TG_OK)
        class = tg_channel_check_url(channel->base_url, err);
    if (class == TG_OK)
        class = tg_channel_check_models(channel->models, channel->model_count, err);
    if (class == TG_OK)
        class = tg_channel_check_groups(channel->groups, channel->group_count, err);
    if (class == TG_OK)
        class = tg_channel_check_weight(channel->weight, err);
    if (class == TG_OK && channel->loss_policy != NULL)
        class = tg_check_loss_policy(channel->loss_policy, err);
    return class == TG_OK ? tg_channel_check_key(channel->key, err) : class;
}

static void write_list(struct tg_json_writer *out, const char *const *list, size_t count)
{
    tg_json_begin_array(out);
    for (size_t i = 0; i < count; i++)
        tg_json_write_str(out, list[i]);
    tg_json_end_array(out);
}

static void note_added(struct tg_change *change, const struct tg_channel_new *channel, int64_t id)
{
    struct tg_json_writer out;
    struct tg_buf after;

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
    tg_channel_note(change, id,
                    &(struct tg_audit_note){.action = "channel.add",
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
    tg_buf_init(&models, 0);
    tg_buf_init(&groups, 0);
    const struct tg_db_value values[] = {
        TG_DB_S(channel->name),
        TG_DB_S(channel->provider),
        TG_DB_S(channel->base_url),
        TG_DB_S(channel->organisation),
        TG_DB_S(channel->proxy),
        TG_DB_S(tg_store_list_json(&models, channel->models, channel->model_count)),
        TG_DB_S(tg_store_list_json(&groups, channel->groups, channel->group_count)),
        TG_DB_S(channel->model_mapping),
        TG_DB_S(channel->timeouts),
        TG_DB_I(channel->priority),
        TG_DB_I(channel->weight),
        TG_DB_S(channel->loss_policy != NULL ? channel->loss_policy : "")};

    tg_change_begin(&change, db, actor, err);
    tg_master_key_share(&change, channel->seal.version);
    tg_change_run(&change,
                  "INSERT INTO channels (name, provider, base_url, organisation, proxy, models, "
                  "groups_list, model_mapping, timeouts, priority, weight, loss_policy) "
                  "VALUES (?,?,?,?,?,?,?,?,?,?,?,?)",
                  values, TG_COUNT_OF(values));
    if (change.class == TG_CLASS_CONFLICT && strcmp(err->code, "db_duplicate") == 0)
        change.class = tg_fail(err, TG_CLASS_CONFLICT, "channel_exists",
                               "there is a channel %s already", channel->name);
    id = change.done.last_id;
    tg_buf_done(&models);
    tg_buf_done(&groups);
    tg_channel_add_key(&change,
                       &(struct tg_channel_key_new){
                           .channel_id = id, .key = channel->key, .seal = channel->seal},
                       0);
    tg_channel_rewrite_abilities(&change, id);
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
    char before[48] = "", after[48];
    struct tg_change change;

    snprintf(after, sizeof after, "{\"status\":\"%s\"}", status);
    tg_change_begin(&change, db, actor, err);
    lock_channel(&change, channel_id, before, sizeof before);
    tg_change_run(&change, "UPDATE channels SET status = ?, status_reason = '' WHERE id = ?",
                  (struct tg_db_value[]){TG_DB_S(status), TG_DB_I(channel_id)}, 2);
    tg_channel_rewrite_abilities(&change, channel_id);
    tg_channel_note(&change, channel_id,
                    &(struct tg_audit_note){.action = "channel.status",
                                            .before_json = before,
                                            .after_json = after});
    return tg_change_end(&change);
}
