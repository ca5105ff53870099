/* Channels, their keys, groups, and who may use which. */
#include "common/store/paging.h"

#include "common/store/channel_watch.h"
#include "common/store/read.h"

/* What its node has said lately. */
#define SEEN "b.seen_at > UTC_TIMESTAMP(6) - INTERVAL 90 SECOND"
#define CHANNELS \
    "SELECT c.id, c.name, c.tag, c.provider, c.base_url, c.organisation, c.status, " \
    "c.status_reason, c.priority, c.weight, c.models, c.groups_list, c.model_mapping, " \
    "c.status_mapping, c.proxy, c.timeouts, c.auto_disable, c.test_model, c.bill, c.created_at, " \
    "(SELECT COUNT(*) FROM breaker_states b WHERE b.channel_id = c.id AND " SEEN "), " \
    "c.tested_at, c.test_ms, c.test_code, c.balance_usd, c.balance_at, c.balance_code, " \
    "(SELECT COUNT(*) FROM channel_keys k WHERE k.channel_id = c.id), " \
    "(SELECT k.hint FROM channel_keys k WHERE k.channel_id = c.id ORDER BY k.position LIMIT 1), "
#define CHANNELS_FROM \
    " FROM channels c WHERE c.name LIKE ? ESCAPE '!' AND c.provider = COALESCE(?, c.provider) " \
    "AND c.status = COALESCE(?, c.status) AND c.tag = COALESCE(?, c.tag) AND " \
    "(? IS NULL OR EXISTS (SELECT 1 FROM abilities a WHERE a.channel_id = c.id AND " \
    "a.group_name = ?)) AND (? IS NULL OR EXISTS (SELECT 1 FROM abilities a WHERE " \
    "a.channel_id = c.id AND a.model = ?))"
static const struct tg_column channel_columns[] = {
    {"id", TG_INT}, {"name", TG_TEXT}, {"tag", TG_TEXT}, {"provider", TG_TEXT},
    {"base_url", TG_TEXT}, {"organisation", TG_TEXT}, {"status", TG_TEXT},
    {"status_reason", TG_TEXT}, {"priority", TG_INT}, {"weight", TG_INT}, {"models", TG_JSON},
    {"groups_list", TG_JSON}, {"model_mapping", TG_JSON}, {"status_mapping", TG_JSON},
    {"proxy", TG_PROXY}, {"timeouts", TG_JSON}, {"auto_disable", TG_FLAG},
    {"test_model", TG_TEXT}, {"bill", TG_TEXT}, {"created_at", TG_TIME}, {"resting", TG_INT},
    {"tested_at", TG_TIME},
    {"test_ms", TG_INT}, {"test_code", TG_TEXT}, {"balance_usd", TG_DECIMAL},
    {"balance_at", TG_TIME}, {"balance_code", TG_TEXT}, {"key_count", TG_INT},
    {"key_hint", TG_TEXT}};
static const struct tg_sort channel_sorts[] = {
    TG_SORT("id", TG_SORT_NUMBER, TG_SORT_NUMBER, CHANNELS "c.id, c.id" CHANNELS_FROM, "c.id",
            "c.id"),
    TG_SORT("name", TG_SORT_TEXT, TG_SORT_NUMBER, CHANNELS "c.name, c.id" CHANNELS_FROM, "c.name",
            "c.id"),
    TG_SORT("priority", TG_SORT_NUMBER, TG_SORT_NUMBER, CHANNELS "c.priority, c.id" CHANNELS_FROM,
            "c.priority", "c.id"),
};
static const struct tg_list channels = {.columns = channel_columns,
                                        .column_count = TG_COUNT_OF(channel_columns),
                                        .sorts = channel_sorts,
                                        .sort_count = TG_COUNT_OF(channel_sorts),
                                        .usual = "id"};

enum tg_class tg_list_channels(struct tg_db *db, const struct tg_channel_filter *filter,
                               const struct tg_page *page, struct tg_json_writer *out,
                               struct tg_error *err)
{
    struct tg_buf like;
    const struct tg_db_value group = tg_list_text(filter->group_name);
    const struct tg_db_value model = tg_list_text(filter->model);
    const struct tg_db_value filters[] = {tg_list_like(&like, filter->search),
                                          tg_list_text(filter->provider),
                                          tg_list_text(filter->status),
                                          tg_list_text(filter->tag),
                                          group,
                                          group,
                                          model,
                                          model};
    const struct tg_list_query query = {&channels, filters, TG_COUNT_OF(filters), page};
    enum tg_class class = tg_list_write(db, &query, out, err);

    tg_buf_done(&like);
    return class;
}

static enum tg_class write_all(enum tg_class class, struct tg_db_rows *rows,
                               const struct tg_list *shape, struct tg_json_writer *out)
{
    if (class != TG_OK)
        return class;
    tg_json_key(out, "rows");
    tg_columns_rows(out, shape->columns, shape->column_count, rows);
    tg_db_rows_free(rows);
    return TG_OK;
}

#define KEYS \
    "SELECT id, position, hint, key_version, " \
    "IF(state = 'resting' AND state_until_at <= UTC_TIMESTAMP(6), 'active', state), " \
    "state_until_at, state_reason, cap_unit, cap_value, reset_hour, reset_zone, " \
    "IF(used_since_at > UTC_TIMESTAMP(6) - INTERVAL 25 HOUR, used, 0), used_since_at " \
    "FROM channel_keys WHERE channel_id = ? "
static const struct tg_column key_columns[] = {
    {"id", TG_INT}, {"position", TG_INT}, {"hint", TG_TEXT}, {"key_version", TG_INT},
    {"state", TG_TEXT}, {"state_until_at", TG_TIME}, {"state_reason", TG_TEXT},
    {"cap_unit", TG_TEXT}, {"cap_value", TG_INT}, {"reset_hour", TG_INT},
    {"reset_zone", TG_TEXT}, {"used", TG_INT}, {"used_since_at", TG_TIME}};

enum tg_class tg_list_channel_keys(struct tg_db *db, int64_t channel_id,
                                   struct tg_json_writer *out, struct tg_error *err)
{
    static const struct tg_list shape = {.columns = key_columns,
                                         .column_count = TG_COUNT_OF(key_columns)};
    struct tg_db_rows *rows = NULL;
    enum tg_class class = tg_db_select(db, KEYS "ORDER BY position LIMIT 2000",
                                       &TG_DB_I(channel_id), 1, &rows);

    return tg_store_failed(db, write_all(class, rows, &shape, out), err);
}

enum tg_class tg_view_channel_key(struct tg_db *db, int64_t channel_id, int64_t key_id,
                                  struct tg_json_writer *out, struct tg_error *err)
{
    const struct tg_db_value values[] = {TG_DB_I(channel_id), TG_DB_I(key_id)};
    struct tg_db_rows *rows = NULL;
    enum tg_class class = tg_db_select(db, KEYS "AND id = ?", values, TG_COUNT_OF(values), &rows);

    if (class != TG_OK)
        return tg_store_failed(db, class, err);
    if (tg_db_next(rows))
        tg_columns_members(out, key_columns, TG_COUNT_OF(key_columns), rows);
    else
        class = tg_fail(err, TG_CLASS_NOT_FOUND, "key_not_found", "the channel has no such key");
    tg_db_rows_free(rows);
    return class;
}

enum tg_class tg_count_channel_keys(struct tg_db *db, int64_t channel_id,
                                    struct tg_json_writer *out, struct tg_error *err)
{
    static const struct tg_column columns[] = {{"state", TG_TEXT}, {"count", TG_INT}};
    struct tg_db_rows *rows = NULL;
    enum tg_class class = tg_db_select(
        db,
        "SELECT IF(state = 'resting' AND state_until_at <= UTC_TIMESTAMP(6), 'active', state) s, "
        "COUNT(*) FROM channel_keys WHERE channel_id = ? GROUP BY s ORDER BY s",
        &TG_DB_I(channel_id), 1, &rows);

    if (class != TG_OK)
        return tg_store_failed(db, class, err);
    tg_columns_rows(out, columns, TG_COUNT_OF(columns), rows);
    tg_db_rows_free(rows);
    return TG_OK;
}

enum tg_class tg_list_channel_breakers(struct tg_db *db, int64_t channel_id,
                                       struct tg_json_writer *out, struct tg_error *err)
{
    static const struct tg_column columns[] = {
        {"node", TG_TEXT}, {"model", TG_TEXT}, {"state", TG_TEXT}, {"until_at", TG_TIME}};
    struct tg_db_rows *rows = NULL;
    enum tg_class class = tg_db_select(
        db,
        "SELECT b.node, b.model, IF(b.until_at > UTC_TIMESTAMP(6), b.state, 'half_open'), "
        "b.until_at FROM breaker_states b WHERE b.channel_id = ? AND " SEEN
        " ORDER BY b.model, b.node LIMIT 1000",
        &TG_DB_I(channel_id), 1, &rows);

    if (class != TG_OK)
        return tg_store_failed(db, class, err);
    tg_json_key(out, "breakers");
    tg_columns_rows(out, columns, TG_COUNT_OF(columns), rows);
    tg_db_rows_free(rows);
    return TG_OK;
}

#define GROUPS \
    "SELECT g.name, g.ratio, g.order_mode, g.description, g.deposit_factor, " \
    "EXISTS (SELECT 1 FROM users u WHERE u.group_name = g.name), " \
    "EXISTS (SELECT 1 FROM abilities a WHERE a.group_name = g.name), g.name, g.name " \
    "FROM `groups` g WHERE g.name LIKE ? ESCAPE '!'"
static const struct tg_column group_columns[] = {
    {"name", TG_TEXT}, {"ratio", TG_DECIMAL}, {"order_mode", TG_TEXT}, {"description", TG_TEXT},
    {"deposit_factor", TG_DECIMAL}, {"users", TG_FLAG}, {"channels", TG_FLAG}};
static const struct tg_sort group_sorts[] = {
    TG_SORT("name", TG_SORT_TEXT, TG_SORT_TEXT, GROUPS, "g.name", "g.name"),
};
static const struct tg_list groups = {.columns = group_columns,
                                      .column_count = TG_COUNT_OF(group_columns),
                                      .sorts = group_sorts,
                                      .sort_count = TG_COUNT_OF(group_sorts),
                                      .usual = "name"};

enum tg_class tg_list_groups(struct tg_db *db, const char *search, const struct tg_page *page,
                             struct tg_json_writer *out, struct tg_error *err)
{
    struct tg_buf like;
    const struct tg_db_value filters[] = {tg_list_like(&like, search)};
    const struct tg_list_query query = {&groups, filters, TG_COUNT_OF(filters), page};
    enum tg_class class = tg_list_write(db, &query, out, err);

    tg_buf_done(&like);
    return class;
}

enum tg_class tg_list_group_access(struct tg_db *db, const char *user_group,
                                   struct tg_json_writer *out, struct tg_error *err)
{
    static const struct tg_column columns[] = {{"user_group", TG_TEXT},
                                               {"used_group", TG_TEXT},
                                               {"allowed", TG_FLAG},
                                               {"ratio", TG_DECIMAL}};
    static const struct tg_list shape = {.columns = columns, .column_count = TG_COUNT_OF(columns)};
    const struct tg_db_value values[] = {tg_list_text(user_group), TG_DB_I(TG_PAGE_MOST)};
    struct tg_db_rows *rows = NULL;
    enum tg_class class =
        tg_db_select(db,
                     "SELECT user_group, used_group, allowed, ratio FROM group_access WHERE "
                     "user_group = COALESCE(?, user_group) ORDER BY user_group, used_group LIMIT ?",
                     values, TG_COUNT_OF(values), &rows);

    return tg_store_failed(db, write_all(class, rows, &shape, out), err);
}
