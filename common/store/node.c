#include "common/store/node.h"

#include "common/store/read.h"

enum tg_class tg_node_seen(struct tg_db *db, const char *name, struct tg_error *err)
{
    static const char sql[] =
        "INSERT INTO node (name, state, seen_at) VALUES (?, 'online', NOW(6))"
        " ON DUPLICATE KEY UPDATE seen_at = VALUES(seen_at),"
        " state = IF(node.state = 'gone', 'online', node.state)";
    struct tg_db_value values[] = {TG_DB_S(name)};

    return tg_db_run(db, sql, values, 1, err);
}

enum tg_class tg_node_spool_clear(struct tg_db *db, const char *name, struct tg_error *err)
{
    static const char sql[] = "UPDATE node SET spool_clear_at = NOW(6) WHERE name = ?";
    struct tg_db_value values[] = {TG_DB_S(name)};

    return tg_db_run(db, sql, values, 1, err);
}

enum tg_class tg_node_set_state(struct tg_db *db, const char *name, const char *state,
                                struct tg_error *err)
{
    static const char sql[] =
        "INSERT INTO node (name, state, seen_at) VALUES (?, ?, NOW(6))"
        " ON DUPLICATE KEY UPDATE state = VALUES(state), seen_at = VALUES(seen_at)";
    const struct tg_db_value values[] = {TG_DB_S(name), TG_DB_S(state)};

    return tg_db_run(db, sql, values, 2, err);
}

enum tg_class tg_node_forget(struct tg_db *db, const char *name, bool *ret_was_there,
                             struct tg_error *err)
{
    static const char sql[] = "UPDATE node SET state = 'gone' WHERE name = ? AND state <> 'gone'";
    struct tg_db_value values[] = {TG_DB_S(name)};
    enum tg_class class = tg_db_run(db, sql, values, 1, err);

    if (class == TG_OK)
        *ret_was_there = tg_db_done(db).affected > 0;
    return class;
}

enum tg_class tg_node_gone(struct tg_db *db, struct tg_arena *arena, const char *const **ret,
                           size_t *ret_count, struct tg_error *err)
{
    enum { MOST = 1000 };
    static const char sql[] = "SELECT name FROM node WHERE state = 'gone' ORDER BY name LIMIT ?";
    struct tg_db_value values[] = {TG_DB_I(MOST)};
    const char **list = tg_arena_calloc(arena, MOST, sizeof *list);
    struct tg_db_rows *rows;
    size_t count = 0;
    enum tg_class class = tg_db_select(db, sql, values, 1, &rows);

    if (class != TG_OK)
        return tg_store_failed(db, class, err);
    while (count < MOST && tg_db_next(rows))
        list[count++] = tg_arena_strdup(arena, tg_db_text(rows, 0));
    tg_db_rows_free(rows);
    *ret = list;
    *ret_count = count;
    return TG_OK;
}

enum tg_class tg_node_list(struct tg_db *db, struct tg_arena *arena, struct tg_node **ret,
                           size_t *ret_count, struct tg_error *err)
{
    enum { MOST = 1000 };
    static const char sql[] =
        "SELECT n.name, n.state, COALESCE(n.seen_at, ''), COALESCE(n.spool_clear_at, ''),"
        " (SELECT COUNT(*) FROM offline_hold h WHERE h.node = n.name),"
        " (SELECT COUNT(*) FROM offline_entry e WHERE e.node = n.name)"
        " FROM node n ORDER BY n.name LIMIT ?";
    struct tg_db_value values[] = {TG_DB_I(MOST)};
    struct tg_node *list = tg_arena_calloc(arena, MOST, sizeof *list);
    struct tg_db_rows *rows;
    size_t count = 0;
    enum tg_class class = tg_db_select(db, sql, values, 1, &rows);

    if (class != TG_OK)
        return tg_store_failed(db, class, err);
    for (; count < MOST && tg_db_next(rows); count++)
        list[count] = (struct tg_node){.name = tg_store_text(arena, rows, 0),
                                       .state = tg_store_text(arena, rows, 1),
                                       .seen_at = tg_store_text(arena, rows, 2),
                                       .spool_clear_at = tg_store_text(arena, rows, 3),
                                       .offline_holds = tg_db_int(rows, 4),
                                       .offline_entries = tg_db_int(rows, 5)};
    tg_db_rows_free(rows);
    *ret = list;
    *ret_count = count;
    return TG_OK;
}
