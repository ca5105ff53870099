#include "common/store/doubt.h"

#include "common/store/ids.h"
#include "common/store/read.h"

#include <string.h>

enum tg_class tg_doubt_note(struct tg_db *db, const struct tg_doubt *doubt, struct tg_error *err)
{
    static const char sql[] =
        "INSERT INTO ledger_doubt (kind, node, worker, place, request_id, detail)"
        " VALUES (?, ?, ?, ?, ?, ?) ON DUPLICATE KEY UPDATE ledger_doubt.id = ledger_doubt.id";
    const struct tg_db_value values[] = {
        TG_DB_S(doubt->kind), TG_DB_S(doubt->node),
        TG_DB_I(doubt->worker), TG_DB_I(doubt->place),
        TG_DB_B(doubt->request_id.bytes, TG_ID_BYTES), TG_DB_S(doubt->detail)};

    return tg_db_run(db, sql, values, TG_COUNT_OF(values), err);
}

static struct tg_doubt read_row(struct tg_arena *arena, const struct tg_db_rows *rows)
{
    struct tg_doubt doubt = {.id = tg_db_int(rows, 0),
                             .kind = tg_store_text(arena, rows, 1),
                             .node = tg_store_text(arena, rows, 2),
                             .worker = tg_db_int(rows, 3),
                             .place = tg_db_int(rows, 4),
                             .detail = tg_store_text(arena, rows, 6),
                             .at = tg_store_text(arena, rows, 7)};

    memcpy(doubt.request_id.bytes, tg_db_bytes(rows, 5).ptr, TG_ID_BYTES);
    return doubt;
}

enum tg_class tg_doubt_list(struct tg_db *db, struct tg_arena *arena, int most,
                            struct tg_doubt **ret, size_t *ret_count)
{
    static const char sql[] =
        "SELECT id, kind, node, worker, place, request_id, detail, at FROM ledger_doubt"
        " WHERE accepted_at IS NULL ORDER BY id LIMIT ?";
    const struct tg_db_value values[] = {TG_DB_I(most)};
    struct tg_db_rows *rows;
    enum tg_class class = tg_db_select(db, sql, values, 1, &rows);

    *ret = NULL;
    *ret_count = 0;
    if (class != TG_OK)
        return class;
    while (tg_db_next(rows)) {
        *ret = tg_store_grow(arena, *ret, *ret_count, sizeof **ret);
        (*ret)[(*ret_count)++] = read_row(arena, rows);
    }
    tg_db_rows_free(rows);
    return TG_OK;
}

enum tg_class tg_doubt_accept(struct tg_db *db, int64_t id, bool *ret_was_there,
                              struct tg_error *err)
{
    static const char sql[] =
        "UPDATE ledger_doubt SET accepted_at = NOW(6) WHERE id = ? AND accepted_at IS NULL";
    const struct tg_db_value values[] = {TG_DB_I(id)};
    enum tg_class class = tg_db_run(db, sql, values, 1, err);

    *ret_was_there = class == TG_OK && tg_db_done(db).affected > 0;
    return class;
}

enum tg_class tg_lapse_note(struct tg_db *db, const struct tg_id *request_id,
                            int64_t earned_quota, struct tg_error *err)
{
    static const char sql[] =
        "INSERT INTO ledger_lapse (request_id, earned_quota) VALUES (?, ?) ON DUPLICATE KEY UPDATE"
        " earned_quota = GREATEST(ledger_lapse.earned_quota, VALUES(earned_quota))";
    const struct tg_db_value values[] = {TG_DB_B(request_id->bytes, TG_ID_BYTES),
                                         TG_DB_I(earned_quota)};

    return tg_db_run(db, sql, values, 2, err);
}

enum tg_class tg_lapse_earned(struct tg_db *db, const struct tg_id *ids, size_t count,
                              int64_t *ret, struct tg_error *err)
{
    static const char sql[] =
        "SELECT e.n, l.earned_quota FROM JSON_TABLE(?, '$[*]' COLUMNS (n FOR ORDINALITY,"
        " entry CHAR(36) PATH '$')) AS e STRAIGHT_JOIN ledger_lapse l"
        " ON l.request_id = UNHEX(REPLACE(e.entry, '-', ''))";
    struct tg_db_value values[1];
    struct tg_db_rows *rows;
    struct tg_buf json;
    enum tg_class class;

    tg_buf_init(&json, 0);
    for (size_t i = 0; i < count; i++)
        tg_ids_add(&json, &ids[i]);
    tg_ids_end(&json);
    values[0] = TG_DB_S(tg_buf_text(&json));
    class = tg_db_select(db, sql, values, 1, &rows);
    if (class == TG_OK) {
        while (tg_db_next(rows))
            ret[tg_db_int(rows, 0) - 1] = tg_db_int(rows, 1);
        tg_db_rows_free(rows);
    }
    class = tg_store_failed(db, class, err);
    tg_buf_done(&json);
    return class;
}

enum tg_class tg_worker_end_note(struct tg_db *db, const char *node, int64_t worker,
                                 struct tg_error *err)
{
    static const char sql[] =
        "INSERT INTO ledger_worker_end (node, worker) VALUES (?, ?)"
        " ON DUPLICATE KEY UPDATE ledger_worker_end.worker = ledger_worker_end.worker";
    const struct tg_db_value values[] = {TG_DB_S(node), TG_DB_I(worker)};

    return tg_db_run(db, sql, values, 2, err);
}

enum tg_class tg_worker_end_known(struct tg_db *db, const char *node, int64_t worker, bool *ret,
                                  struct tg_error *err)
{
    static const char sql[] = "SELECT 1 FROM ledger_worker_end WHERE node = ? AND worker = ?";
    const struct tg_db_value values[] = {TG_DB_S(node), TG_DB_I(worker)};
    struct tg_db_rows *rows;
    enum tg_class class = tg_db_select(db, sql, values, 2, &rows);

    if (class != TG_OK)
        return tg_store_failed(db, class, err);
    *ret = tg_db_next(rows);
    tg_db_rows_free(rows);
    return TG_OK;
}

enum tg_class tg_doubt_trim(struct tg_db *db, struct tg_error *err)
{
    enum { PIECE = 5000 };
    static const char *const steps[] = {
        "DELETE FROM ledger_lapse WHERE at < NOW(6) - INTERVAL 35 DAY LIMIT ?",
        "DELETE FROM ledger_worker_end WHERE at < NOW(6) - INTERVAL 35 DAY LIMIT ?"};
    const struct tg_db_value values[] = {TG_DB_I(PIECE)};
    enum tg_class class = TG_OK;

    for (size_t i = 0; class == TG_OK && i < TG_COUNT_OF(steps); i++)
        class = tg_db_run(db, steps[i], values, 1, err);
    return class;
}
