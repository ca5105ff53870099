#include "common/store/option.h"

#include <stdio.h>

#include "common/base/clock.h"
#include "common/json/writer.h"
#include "common/store/read.h"

enum tg_class tg_store_options(struct tg_db *db, struct tg_arena *arena,
                               struct tg_conf_overlay **ret, size_t *ret_count,
                               struct tg_error *err)
{
    struct tg_db_rows *rows;
    struct tg_conf_overlay *list = NULL;
    size_t count = 0;
    enum tg_class class =
        tg_db_select(db, "SELECT name, value FROM options ORDER BY name", NULL, 0, &rows);

    if (class != TG_OK)
        return tg_store_failed(db, class, err);
    while (tg_db_next(rows)) {
        list = tg_store_grow(arena, list, count, sizeof *list);
        list[count++] = (struct tg_conf_overlay){.name = tg_store_text(arena, rows, 0),
                                                 .value = tg_store_text(arena, rows, 1)};
    }
    tg_db_rows_free(rows);
    *ret = list;
    *ret_count = count;
    return TG_OK;
}

/* Takes the row's lock. */
static void read_before(struct tg_change *change, const char *name, struct tg_buf *ret)
{
    struct tg_json_writer out;
    struct tg_db_rows *rows =
        tg_change_select(change, "SELECT value FROM options WHERE name = ? FOR UPDATE",
                         (struct tg_db_value[]){TG_DB_S(name)}, 1);

    tg_buf_init(ret, 0);
    tg_json_writer_init(&out, ret);
    tg_json_begin_object(&out);
    tg_json_put_str(&out, "value", rows != NULL && tg_db_next(rows) ? tg_db_text(rows, 0) : NULL);
    tg_json_end_object(&out);
    tg_db_rows_free(rows);
}

static void note(struct tg_change *change, const char *name, const char *value,
                 struct tg_buf *before)
{
    struct tg_json_writer out;
    struct tg_buf after;

    tg_buf_init(&after, 0);
    tg_json_writer_init(&out, &after);
    tg_json_begin_object(&out);
    tg_json_put_str(&out, "value", value);
    tg_json_end_object(&out);
    tg_change_audit(change, &(struct tg_audit_note){.action = "option.set",
                                                    .object_type = "option",
                                                    .object_id = name,
                                                    .before_json = tg_buf_text(before),
                                                    .after_json = tg_buf_text(&after)});
    tg_buf_done(before);
    tg_buf_done(&after);
}

/* What is taken away may be anything: a row that another version left. */
static enum tg_class check(const char *name, const char *value, struct tg_error *err)
{
    const struct tg_conf_overlay overlay = {name, value};
    struct tg_error why;

    if (value == NULL || tg_conf_check_overlay(&overlay, &why) == TG_OK)
        return TG_OK;
    tg_fail(err, TG_CLASS_INVALID, "invalid_option", "%s", why.message);
    snprintf(err->param, sizeof err->param, "%s", name);
    return TG_CLASS_INVALID;
}

enum tg_class tg_store_option_set(struct tg_db *db, const struct tg_actor *actor, const char *name,
                                  const char *value, struct tg_error *err)
{
    char now[TG_TIME_TEXT];
    struct tg_change change;
    struct tg_buf before;
    enum tg_class class = check(name, value, err);

    if (class != TG_OK)
        return class;
    tg_time_format_sql(tg_unix_us(), now);
    const struct tg_db_value values[] = {TG_DB_S(name), TG_DB_S(value), TG_DB_S(now),
                                         TG_DB_I(actor->user_id)};

    tg_change_begin(&change, db, actor, err);
    read_before(&change, name, &before);
    if (value == NULL)
        tg_change_run(&change, "DELETE FROM options WHERE name = ?", values, 1);
    else
        tg_change_run(&change,
                      "REPLACE INTO options (name, value, updated_at, updated_by) "
                      "VALUES (?,?,?,?)",
                      values, TG_COUNT_OF(values));
    note(&change, name, value, &before);
    return tg_change_end(&change);
}
