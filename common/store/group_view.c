#include "common/store/group_view.h"

#include "common/store/read.h"

enum tg_class tg_view_group(struct tg_db *db, const char *name, struct tg_json_writer *out,
                            struct tg_error *err)
{
    static const char sql[] =
        "SELECT name, ratio, description, order_mode, deposit_factor FROM `groups` WHERE name = ?";
    struct tg_db_value values[] = {TG_DB_S(name)};
    struct tg_db_rows *rows;
    char ratio[40], factor[40];
    enum tg_class class = tg_db_select(db, sql, values, 1, &rows);

    if (class != TG_OK)
        return tg_store_failed(db, class, err);
    if (!tg_db_next(rows)) {
        tg_db_rows_free(rows);
        return tg_fail(err, TG_CLASS_NOT_FOUND, "group_not_found", "there is no such group");
    }
    tg_store_decimal(rows, 1, ratio, sizeof ratio);
    tg_store_decimal(rows, 4, factor, sizeof factor);
    tg_json_put_str(out, "name", tg_db_text(rows, 0));
    tg_json_put_str(out, "ratio", ratio);
    tg_json_put_str(out, "description", tg_db_text(rows, 2));
    tg_json_put_str(out, "order_mode", tg_db_text(rows, 3));
    tg_json_put_str(out, "deposit_factor", factor[0] != '\0' ? factor : NULL);
    tg_db_rows_free(rows);
    return TG_OK;
}

enum tg_class tg_each_group(struct tg_db *db, tg_group_visit_fn *visit, void *context,
                            struct tg_error *err)
{
    static const char sql[] = "SELECT name FROM `groups` ORDER BY name LIMIT 1000";
    struct tg_db_rows *rows;
    enum tg_class class = tg_db_select(db, sql, NULL, 0, &rows);

    if (class != TG_OK)
        return tg_store_failed(db, class, err);
    while (tg_db_next(rows))
        visit(context, tg_db_text(rows, 0));
    tg_db_rows_free(rows);
    return TG_OK;
}
