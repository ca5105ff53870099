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

static void visit_all(struct tg_db_rows *rows, tg_group_visit_fn *visit, void *context)
{
    while (tg_db_next(rows))
        visit(context, tg_db_text(rows, 0));
    tg_db_rows_free(rows);
}

enum tg_class tg_each_group(struct tg_db *db, tg_group_visit_fn *visit, void *context,
                            struct tg_error *err)
{
    static const char sql[] = "SELECT name FROM `groups` ORDER BY name LIMIT 1000";
    struct tg_db_rows *rows;
    enum tg_class class = tg_db_select(db, sql, NULL, 0, &rows);

    if (class != TG_OK)
        return tg_store_failed(db, class, err);
    visit_all(rows, visit, context);
    return TG_OK;
}

enum tg_class tg_each_group_allowed(struct tg_db *db, const char *user_group,
                                    tg_group_visit_fn *visit, void *context, struct tg_error *err)
{
    static const char sql[] =
        "SELECT g.name FROM `groups` g LEFT JOIN group_access a ON a.user_group = ? AND "
        "a.used_group = g.name WHERE COALESCE(a.allowed, g.name = ?) <> 0 ORDER BY g.name "
        "LIMIT 1000";
    const struct tg_db_value values[] = {TG_DB_S(user_group), TG_DB_S(user_group)};
    struct tg_db_rows *rows;
    enum tg_class class = tg_db_select(db, sql, values, TG_COUNT_OF(values), &rows);

    if (class != TG_OK)
        return tg_store_failed(db, class, err);
    visit_all(rows, visit, context);
    return TG_OK;
}

enum tg_class tg_store_group_model(struct tg_db *db, struct tg_arena *arena, const char *group,
                                   const char **ret, struct tg_error *err)
{
    static const char sql[] =
        "SELECT a.model FROM abilities a LEFT JOIN model_prices p ON p.model = a.model WHERE "
        "a.group_name = ? AND a.enabled = 1 AND a.model NOT LIKE '%*%' "
        "ORDER BY p.model IS NULL, a.model LIMIT 1";
    struct tg_db_rows *rows;
    enum tg_class class =
        tg_db_select(db, sql, (struct tg_db_value[]){TG_DB_S(group)}, 1, &rows);

    if (class != TG_OK)
        return tg_store_failed(db, class, err);
    *ret = tg_db_next(rows) ? tg_store_text(arena, rows, 0) : NULL;
    tg_db_rows_free(rows);
    return TG_OK;
}
