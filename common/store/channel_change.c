#include "common/store/channel_change.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/json/json.h"
#include "common/json/writer.h"
#include "common/store/channel_parts.h"
#include "common/store/check.h"
#include "common/store/read.h"

/* ---- the wish ---- */

static enum tg_class invalid(struct tg_error *err, const char *code, const char *param,
                             const char *rule)
{
    tg_fail(err, TG_CLASS_INVALID, code, "%s: %s", param, rule);
    if (err != NULL)
        snprintf(err->param, sizeof err->param, "%s", param);
    return TG_CLASS_INVALID;
}

static bool is_text(void *context, const char *key, const struct tg_json *value)
{
    (void)key;
    *(bool *)context &= tg_json_type(value) == TG_JSON_STRING;
    return *(bool *)context;
}

/* A JSON object of texts, "" for none. */
static enum tg_class check_json(const char *param, const char *json, struct tg_error *err)
{
    struct tg_json *root = NULL;
    bool good;

    if (json == NULL || *json == '\0')
        return TG_OK;
    good = tg_json_parse(json, strlen(json), &root, NULL) == TG_OK &&
           tg_json_type(root) == TG_JSON_OBJECT;
    if (good)
        tg_json_each(root, is_text, &good);
    tg_json_free(root);
    return good ? TG_OK : invalid(err, "invalid_json", param, "a JSON object of texts");
}

static enum tg_class check_label(const char *param, const char *text, struct tg_error *err)
{
    return text == NULL || *text == '\0' ? TG_OK : tg_check_label(param, text, err);
}

static enum tg_class check_texts(const struct tg_channel_change *wish, struct tg_error *err)
{
    enum tg_class class = wish->name == NULL ? TG_OK : tg_check_label("name", wish->name, err);

    if (class == TG_OK)
        class = check_label("tag", wish->tag, err);
    if (class == TG_OK && wish->provider != NULL)
        class = tg_check_name("provider", wish->provider, err);
    if (class == TG_OK && wish->base_url != NULL)
        class = tg_channel_check_url(wish->base_url, err);
    if (class == TG_OK && wish->test_model != NULL && wish->test_model[0] != '\0')
        class = tg_check_model(wish->test_model, err);
    if (class == TG_OK && wish->organisation != NULL && strlen(wish->organisation) > 128)
        class = invalid(err, "invalid_name", "organisation", "at most 128 bytes");
    if (class == TG_OK && wish->proxy != NULL && strlen(wish->proxy) > 512)
        class = invalid(err, "invalid_url", "proxy", "at most 512 bytes");
    return class;
}

static enum tg_class check(const struct tg_channel_change *wish, struct tg_error *err)
{
    enum tg_class class = check_texts(wish, err);

    if (class == TG_OK && wish->status != NULL && strcmp(wish->status, "enabled") != 0 &&
        strcmp(wish->status, "disabled") != 0)
        class = invalid(err, "invalid_status", "status", "enabled or disabled");
    if (class == TG_OK && wish->bill != NULL && strcmp(wish->bill, "requested") != 0 &&
        strcmp(wish->bill, "upstream") != 0)
        class = invalid(err, "invalid_bill", "bill", "requested or upstream");
    if (class == TG_OK && wish->loss_policy != NULL)
        class = tg_check_loss_policy(wish->loss_policy, err);
    if (class == TG_OK && wish->balance_from != NULL && *wish->balance_from != '\0')
        class = tg_check_name("balance_from", wish->balance_from, err);
    if (class == TG_OK)
        class = check_json("model_mapping", wish->model_mapping, err);
    if (class == TG_OK)
        class = check_json("timeouts", wish->timeouts, err);
    if (class == TG_OK)
        class = check_json("status_mapping", wish->status_mapping, err);
    if (class == TG_OK && wish->model_count > 0)
        class = tg_channel_check_models(wish->models, wish->model_count, err);
    if (class == TG_OK && wish->group_count > 0)
        class = tg_channel_check_groups(wish->groups, wish->group_count, err);
    if (class == TG_OK && wish->weight != NULL)
        class = tg_channel_check_weight(*wish->weight, err);
    return class;
}

/* ---- the change ---- */

static void update(struct tg_change *change, const struct tg_channel_change *wish,
                   const char *models, const char *groups)
{
    const struct tg_db_value priority = wish->priority != NULL ? TG_DB_I(*wish->priority) : TG_DB_N;
    const struct tg_db_value weight = wish->weight != NULL ? TG_DB_I(*wish->weight) : TG_DB_N;
    const struct tg_db_value disable =
        wish->auto_disable >= 0 ? TG_DB_I(wish->auto_disable) : TG_DB_N;
    const struct tg_db_value values[] = {
        TG_DB_S(wish->name),           TG_DB_S(wish->tag),
        TG_DB_S(wish->provider),       TG_DB_S(wish->base_url),
        TG_DB_S(wish->organisation),   TG_DB_S(wish->proxy),
        TG_DB_S(wish->test_model),     TG_DB_S(wish->status),
        TG_DB_I(wish->status != NULL), TG_DB_S(wish->bill),
        TG_DB_S(models),               TG_DB_S(groups),
        priority,                      weight,
        disable,                       TG_DB_S(wish->model_mapping),
        TG_DB_S(wish->timeouts),       TG_DB_S(wish->status_mapping),
        TG_DB_S(wish->loss_policy),    TG_DB_S(wish->balance_from),
        TG_DB_I(wish->id)};

    tg_change_run(change,
                  "UPDATE channels SET name = COALESCE(?, name), tag = COALESCE(?, tag), "
                  "provider = COALESCE(?, provider), base_url = COALESCE(?, base_url), "
                  "organisation = COALESCE(?, organisation), proxy = COALESCE(?, proxy), "
                  "test_model = COALESCE(?, test_model), status = COALESCE(?, status), "
                  "status_reason = IF(?, '', status_reason), bill = COALESCE(?, bill), "
                  "models = COALESCE(?, models), groups_list = COALESCE(?, groups_list), "
                  "priority = COALESCE(?, priority), weight = COALESCE(?, weight), "
                  "auto_disable = COALESCE(?, auto_disable), "
                  "model_mapping = NULLIF(COALESCE(?, model_mapping, ''), ''), "
                  "timeouts = NULLIF(COALESCE(?, timeouts, ''), ''), "
                  "status_mapping = NULLIF(COALESCE(?, status_mapping, ''), ''), "
                  "loss_policy = COALESCE(?, loss_policy), "
                  "balance_from = COALESCE(?, balance_from) WHERE id = ?",
                  values, TG_COUNT_OF(values));
    if (change->class == TG_CLASS_CONFLICT && strcmp(change->err->code, "db_duplicate") == 0)
        change->class = tg_fail(change->err, TG_CLASS_CONFLICT, "channel_exists",
                                "there is a channel %s already", wish->name);
}

/* What people may see of the row, as JSON in <ret>; takes its lock. */
static void read_state(struct tg_change *change, int64_t id, struct tg_buf *ret)
{
    static const char *const names[] = {
        "name",     "tag",    "provider", "base_url",      "organisation", "test_model",
        "status",   "bill",   "models",   "groups_list",   "priority",     "weight",
        "auto_disable", "model_mapping", "timeouts", "status_mapping", "proxy",
        "loss_policy", "balance_from"};
    enum { FIRST_JSON = 8, FIRST_NUMBER = 10, SECOND_JSON = 13, PROXY = 16 };
    struct tg_json_writer out;
    struct tg_db_rows *rows = tg_change_select(
        change,
        "SELECT name, tag, provider, base_url, organisation, test_model, status, bill, models, "
        "groups_list, priority, weight, auto_disable, model_mapping, timeouts, status_mapping, "
        "IF(proxy = '', '', 'set'), loss_policy, balance_from FROM channels "
        "WHERE id = ? FOR UPDATE",
        &TG_DB_I(id), 1);

    if (rows == NULL)
        return;
    tg_buf_reset(ret);
    tg_json_writer_init(&out, ret);
    tg_json_begin_object(&out);
    if (!tg_db_next(rows)) {
        change->class = tg_fail(change->err, TG_CLASS_NOT_FOUND, "channel_not_found",
                                "there is no channel %" PRId64, id);
        tg_db_rows_free(rows);
        return;
    }
    for (int i = 0; i < (int)TG_COUNT_OF(names); i++) {
        const char *text = tg_db_text(rows, i);

        tg_json_key(&out, names[i]);
        if (i < FIRST_JSON || i >= PROXY || text == NULL)
            tg_json_write_str(&out, text);
        else /* JSON, or digits, which are JSON too */
            tg_json_write_raw(&out, text, strlen(text));
    }
    tg_json_end_object(&out);
    tg_db_rows_free(rows);
}

enum tg_class tg_store_channel_change(struct tg_db *db, const struct tg_actor *actor,
                                      const struct tg_channel_change *wish, struct tg_error *err)
{
    struct tg_buf models, groups, before, after;
    struct tg_change change;
    enum tg_class class = check(wish, err);

    if (class != TG_OK)
        return class;
    tg_buf_init(&models, 0);
    tg_buf_init(&groups, 0);
    tg_buf_init(&before, 0);
    tg_buf_init(&after, 0);
    tg_change_begin(&change, db, actor, err);
    read_state(&change, wish->id, &before);
    update(&change, wish,
           tg_store_list_json(&models, wish->model_count != 0 ? wish->models : NULL,
                              wish->model_count),
           tg_store_list_json(&groups, wish->group_count != 0 ? wish->groups : NULL,
                              wish->group_count));
    tg_channel_rewrite_abilities(&change, wish->id);
    read_state(&change, wish->id, &after);
    tg_channel_note(&change, wish->id,
                    &(struct tg_audit_note){.action = "channel.change",
                                            .before_json = tg_buf_text(&before),
                                            .after_json = tg_buf_text(&after)});
    tg_buf_done(&models);
    tg_buf_done(&groups);
    tg_buf_done(&before);
    tg_buf_done(&after);
    return tg_change_end(&change);
}
