#include "common/store/pending.h"

#include "common/base/buf.h"
#include "common/store/ids.h"
#include "common/store/offline.h"
#include "common/store/read.h"

#include <string.h>

static struct tg_entry read_entry(const struct tg_db_rows *rows)
{
    static const enum tg_entry_kind kinds[] = {TG_ENTRY_CREDIT, TG_ENTRY_ADJUST, TG_ENTRY_RESET};
    struct tg_entry entry = {.kind = kinds[tg_db_int(rows, 1)],
                             .user_id = tg_db_int(rows, 2),
                             .token_unlimited = (int)tg_db_int(rows, 5)};

    memcpy(entry.id.bytes, tg_db_bytes(rows, 0).ptr, TG_ID_BYTES);
    switch (entry.kind) {
    case TG_ENTRY_CREDIT:
        entry.amount_quota = -tg_db_int(rows, 4);
        break;
    case TG_ENTRY_RESET:
        entry.funding = (struct tg_funding){tg_db_int(rows, 3), tg_db_int(rows, 6)};
        entry.grant_quota = tg_db_int(rows, 4);
        break;
    default:
        entry.token_id = tg_db_int(rows, 3);
        entry.token_delta_quota = tg_db_int(rows, 4);
        entry.authver = tg_db_int(rows, 6);
    }
    return entry;
}

enum tg_class tg_pending_entries(struct tg_db *db, struct tg_arena *arena, int most,
                                 struct tg_entry_list *ret, struct tg_error *err)
{
    static const char sql[] =
        "(SELECT entry_id, 0 AS what, user_id, 0 AS token_id, amount_quota, -1 AS flag,"
        " 0 AS ver FROM credits WHERE applied_at IS NULL ORDER BY entry_id LIMIT ?)"
        " UNION ALL (SELECT entry_id, 1, user_id, token_id, delta, unlimited, authver"
        " FROM adjustments WHERE applied_at IS NULL ORDER BY entry_id LIMIT ?)"
        " UNION ALL (SELECT entry_id, 2, user_id, subscription_id, quota, -1, period_number"
        " FROM plan_resets WHERE applied_at IS NULL ORDER BY entry_id LIMIT ?)"
        " ORDER BY entry_id LIMIT ?";
    struct tg_db_value values[] = {TG_DB_I(most), TG_DB_I(most), TG_DB_I(most), TG_DB_I(most)};
    struct tg_entry *list = tg_arena_calloc(arena, (size_t)most, sizeof *list);
    struct tg_db_rows *rows;
    size_t count = 0;
    enum tg_class class = tg_db_select(db, sql, values, TG_COUNT_OF(values), &rows);

    if (class != TG_OK)
        return tg_store_failed(db, class, err);
    while (count < (size_t)most && tg_db_next(rows)) {
        list[count++] = read_entry(rows);
    }
    tg_db_rows_free(rows);
    *ret = (struct tg_entry_list){.entries = list, .count = count};
    return TG_OK;
}

static void id_list(const struct tg_id *ids, size_t count, struct tg_buf *out)
{
    for (size_t i = 0; i < count; i++)
        tg_ids_add(out, &ids[i]);
    tg_ids_end(out);
}

enum tg_class tg_pending_known(struct tg_db *db, const struct tg_id *ids, size_t count,
                               bool *ret_known, struct tg_error *err)
{
    /* STRAIGHT_JOIN: the list is small, ledger_entry is not */
    static const char sql[] =
        "SELECT e.n FROM JSON_TABLE(?, '$[*]' COLUMNS (n FOR ORDINALITY, entry CHAR(36) PATH '$'))"
        " AS e STRAIGHT_JOIN ledger_entry l ON l.request_id = UNHEX(REPLACE(e.entry, '-', ''))";
    struct tg_db_rows *rows;
    struct tg_buf json;
    enum tg_class class;

    memset(ret_known, 0, count * sizeof *ret_known);
    tg_buf_init(&json, 0);
    id_list(ids, count, &json);
    struct tg_db_value values[] = {TG_DB_S(tg_buf_text(&json))};
    class = tg_db_select(db, sql, values, 1, &rows);
    if (class == TG_OK) {
        while (tg_db_next(rows))
            ret_known[tg_db_int(rows, 0) - 1] = true;
        tg_db_rows_free(rows);
    }
    class = tg_store_failed(db, class, err);
    tg_buf_done(&json);
    return class;
}

enum tg_class tg_pending_mark(struct tg_db *db, const char *ids_json, struct tg_error *err)
{
    static const char credits[] =
        "UPDATE credits c JOIN JSON_TABLE(?, '$[*]' COLUMNS (entry CHAR(36) PATH '$')) AS e"
        " ON c.entry_id = UNHEX(REPLACE(e.entry, '-', ''))"
        " SET c.applied_at = NOW(6) WHERE c.applied_at IS NULL";
    static const char adjustments[] =
        "UPDATE adjustments a JOIN JSON_TABLE(?, '$[*]' COLUMNS (entry CHAR(36) PATH '$')) AS e"
        " ON a.entry_id = UNHEX(REPLACE(e.entry, '-', ''))"
        " SET a.applied_at = NOW(6) WHERE a.applied_at IS NULL";
    static const char resets[] =
        "UPDATE plan_resets r JOIN JSON_TABLE(?, '$[*]' COLUMNS (entry CHAR(36) PATH '$')) AS e"
        " ON r.entry_id = UNHEX(REPLACE(e.entry, '-', ''))"
        " SET r.applied_at = NOW(6) WHERE r.applied_at IS NULL";
    static const char *const steps[] = {credits, adjustments, resets};
    struct tg_db_value ids = TG_DB_S(ids_json);
    enum tg_class class = TG_OK;

    for (size_t i = 0; class == TG_OK && i < TG_COUNT_OF(steps); i++)
        class = tg_db_run(db, steps[i], &ids, 1, err);
    return class;
}

enum tg_class tg_pending_acknowledge(struct tg_db *db, const struct tg_id *ids, size_t count,
                                     struct tg_error *err)
{
    struct tg_buf json;
    enum tg_class class = tg_db_begin(db, err);

    tg_buf_init(&json, 0);
    id_list(ids, count, &json);
    if (class == TG_OK)
        class = tg_pending_mark(db, tg_buf_text(&json), err);
    if (class == TG_OK)
        class = tg_offline_clear(db, tg_buf_text(&json), err);
    if (class == TG_OK)
        class = tg_db_commit(db, err);
    if (class != TG_OK)
        tg_db_rollback(db);
    tg_buf_done(&json);
    return class;
}
