/* The audit log, and the rows of options. */
#include "common/store/paging.h"

#include <string.h>

#include "common/base/clock.h"
#include "common/store/csv.h"
#include "common/store/read.h"

#define AUDIT(WHICH) \
    "SELECT l.id, l.at, l.actor_id, (SELECT u.username FROM users u WHERE u.id = l.actor_id), " \
    "l.address, l.action, l.object_type, l.object_id, l.before_json, l.after_json, l.hash, " \
    "l.id, l.id FROM audit_log l WHERE " WHICH " AND l.actor_id = COALESCE(?, l.actor_id) AND " \
    "l.action LIKE ? ESCAPE '!' AND l.at >= COALESCE(?, l.at) AND " \
    "(? IS NULL OR l.at < ?)"
static const struct tg_column audit_columns[] = {
    {"id", TG_INT}, {"at", TG_TIME}, {"actor_id", TG_INT}, {"actor", TG_TEXT},
    {"address", TG_TEXT}, {"action", TG_TEXT}, {"object_type", TG_TEXT}, {"object_id", TG_TEXT},
    {"before_json", TG_JSON}, {"after_json", TG_JSON}, {"hash", TG_TEXT}};
static const struct tg_sort audit_sorts[] = {
    TG_SORT("id", TG_SORT_NUMBER, TG_SORT_NUMBER,
            AUDIT("l.object_type = COALESCE(?, l.object_type) AND ? IS NULL"), "l.id", "l.id"),
};
static const struct tg_sort object_sorts[] = {
    TG_SORT("id", TG_SORT_NUMBER, TG_SORT_NUMBER, AUDIT("l.object_type = ? AND l.object_id = ?"),
            "l.id", "l.id"),
};
static const struct tg_list audit = {.columns = audit_columns,
                                     .column_count = TG_COUNT_OF(audit_columns),
                                     .sorts = audit_sorts,
                                     .sort_count = TG_COUNT_OF(audit_sorts),
                                     .usual = "-id"};
static const struct tg_list audit_of_object = {.columns = audit_columns,
                                               .column_count = TG_COUNT_OF(audit_columns),
                                               .sorts = object_sorts,
                                               .sort_count = TG_COUNT_OF(object_sorts),
                                               .usual = "-id"};

/* "user." stands for all that begins so. */
static void action_pattern(const char *action, struct tg_buf *ret)
{
    size_t len = action == NULL ? 0 : strlen(action);

    tg_buf_init(ret, 0);
    for (size_t i = 0; i < len; i++) {
        if (strchr("!%_", action[i]) != NULL)
            tg_buf_char(ret, '!');
        tg_buf_char(ret, action[i]);
    }
    if (len == 0 || action[len - 1] == '.')
        tg_buf_char(ret, '%');
}

static enum tg_class each(struct tg_db *db, const struct tg_audit_filter *filter,
                          const struct tg_page *page, struct tg_list_visit *visit,
                          struct tg_error *err)
{
    char from[TG_TIME_TEXT], to[TG_TIME_TEXT];
    struct tg_db_value object = tg_list_text(filter->object_id), until;
    bool of_object = tg_list_text(filter->object_type).kind != TG_DB_NULL &&
                     object.kind != TG_DB_NULL;
    struct tg_buf action;
    enum tg_class class;

    tg_time_format_sql(filter->from_unix_us, from);
    tg_time_format_sql(filter->to_unix_us, to);
    until = filter->to_unix_us != 0 ? TG_DB_S(to) : TG_DB_N;
    action_pattern(filter->action, &action);
    const struct tg_db_value filters[] = {tg_list_text(filter->object_type),
                                          of_object ? object : TG_DB_N,
                                          tg_list_id(filter->actor_id),
                                          TG_DB_S(tg_buf_text(&action)),
                                          filter->from_unix_us != 0 ? TG_DB_S(from) : TG_DB_N,
                                          until,
                                          until};
    const struct tg_list_query query = {of_object ? &audit_of_object : &audit, filters,
                                        TG_COUNT_OF(filters), page};

    class = tg_list_each(db, &query, visit, err);
    tg_buf_done(&action);
    return class;
}

static void write_row(void *context, const struct tg_db_rows *rows)
{
    tg_columns_row(context, audit_columns, TG_COUNT_OF(audit_columns), rows);
}

enum tg_class tg_list_audit(struct tg_db *db, const struct tg_audit_filter *filter,
                            const struct tg_page *page, struct tg_json_writer *out,
                            struct tg_error *err)
{
    struct tg_list_visit visit = {.row = write_row, .context = out};
    enum tg_class class;

    tg_json_key(out, "rows");
    tg_json_begin_array(out);
    class = each(db, filter, page, &visit, err);
    tg_json_end_array(out);
    tg_json_put_str(out, "next", class == TG_OK && visit.next[0] != '\0' ? visit.next : NULL);
    return class;
}

static void csv_row(void *context, const struct tg_db_rows *rows)
{
    tg_csv_row(context, audit_columns, TG_COUNT_OF(audit_columns), rows);
    tg_csv_end(context);
}

enum tg_class tg_csv_audit(struct tg_db *db, const struct tg_audit_filter *filter,
                           const struct tg_page *page, struct tg_csv *csv, struct tg_error *err)
{
    struct tg_list_visit visit = {.row = csv_row, .context = csv->out};
    enum tg_class class;

    if (page->after == NULL || page->after[0] == '\0') {
        tg_csv_head(csv->out, audit_columns, TG_COUNT_OF(audit_columns));
        tg_csv_end(csv->out);
    }
    class = each(db, filter, page, &visit, err);
    if (class == TG_OK)
        memcpy(csv->next, visit.next, sizeof csv->next);
    return class;
}

enum tg_class tg_list_options(struct tg_db *db, struct tg_json_writer *out, struct tg_error *err)
{
    static const struct tg_column columns[] = {{"name", TG_TEXT},
                                               {"value", TG_TEXT},
                                               {"updated_at", TG_TIME},
                                               {"updated_by", TG_INT},
                                               {"username", TG_TEXT}};
    struct tg_db_rows *rows;
    enum tg_class class =
        tg_db_select(db,
                     "SELECT o.name, o.value, o.updated_at, o.updated_by, (SELECT u.username FROM "
                     "users u WHERE u.id = o.updated_by) FROM options o ORDER BY o.name",
                     NULL, 0, &rows);

    if (class != TG_OK)
        return tg_store_failed(db, class, err);
    tg_json_key(out, "rows");
    tg_columns_rows(out, columns, TG_COUNT_OF(columns), rows);
    tg_db_rows_free(rows);
    return TG_OK;
}
