#include "common/store/idempotency.h"

#include "common/store/read.h"

#include <string.h>

static enum tg_class insert(struct tg_db *db, const struct tg_idempotent *wish, bool *ret_fresh,
                            struct tg_error *err)
{
    static const char sql[] =
        "INSERT INTO idempotency (token_id, key_hash, body_hash, request_id, due_at)"
        " VALUES (?, ?, ?, ?, NOW(6) + INTERVAL ? MICROSECOND)"
        " ON DUPLICATE KEY UPDATE idempotency.token_id = idempotency.token_id";
    const struct tg_db_value values[] = {
        TG_DB_I(wish->token_id), TG_DB_S(wish->key_hash), TG_DB_S(wish->body_hash),
        TG_DB_B(wish->request_id.bytes, TG_ID_BYTES), TG_DB_I(wish->lease_us)};
    enum tg_class class = tg_db_run(db, sql, values, TG_COUNT_OF(values), err);

    *ret_fresh = class == TG_OK && tg_db_done(db).affected > 0;
    return class;
}

enum { EXPIRED, BODY, RUNS, LEASED, RECENT, STATUS, ANSWER, CHARGED };

static enum tg_idempotent_state judge(const struct tg_db_rows *row)
{
    if (tg_db_int(row, EXPIRED) != 0)
        return TG_IDEMPOTENT_FRESH;
    if (tg_db_int(row, BODY) == 0)
        return TG_IDEMPOTENT_OTHER_BODY;
    if (tg_db_int(row, RUNS) == 0)
        return TG_IDEMPOTENT_DONE;
    if (tg_db_int(row, LEASED) != 0)
        return TG_IDEMPOTENT_RUNNING;
    if (tg_db_is_null(row, CHARGED))
        return tg_db_int(row, RECENT) != 0 ? TG_IDEMPOTENT_RUNNING : TG_IDEMPOTENT_FRESH;
    return tg_db_int(row, CHARGED) > 0 ? TG_IDEMPOTENT_DONE : TG_IDEMPOTENT_FRESH;
}

static enum tg_class look(struct tg_db *db, const struct tg_idempotent *wish,
                          struct tg_arena *arena, struct tg_idempotent_found *ret)
{
    static const char sql[] =
        "SELECT i.at < NOW(6) - INTERVAL 1 DAY, i.body_hash = ?, i.state = 'running',"
        " i.due_at > NOW(6), i.due_at > NOW(6) - INTERVAL 5 MINUTE, i.status, i.answer,"
        " (SELECT l.amount_quota FROM ledger_entry l WHERE l.request_id = i.request_id)"
        " FROM idempotency i WHERE i.token_id = ? AND i.key_hash = ? FOR UPDATE";
    const struct tg_db_value values[] = {TG_DB_S(wish->body_hash), TG_DB_I(wish->token_id),
                                         TG_DB_S(wish->key_hash)};
    struct tg_db_rows *rows;
    enum tg_class class = tg_db_select(db, sql, values, TG_COUNT_OF(values), &rows);

    if (class != TG_OK)
        return class;
    *ret = (struct tg_idempotent_found){.state = TG_IDEMPOTENT_RUNNING};
    if (tg_db_next(rows)) { /* else it went in between: the client asks again */
        ret->state = judge(rows);
        if (ret->state == TG_IDEMPOTENT_DONE && !tg_db_is_null(rows, ANSWER)) {
            ret->status = (int)tg_db_int(rows, STATUS);
            ret->answer = tg_db_bytes(rows, ANSWER);
            ret->answer.ptr = tg_arena_strndup(arena, ret->answer.ptr, ret->answer.len);
        }
    }
    tg_db_rows_free(rows);
    return TG_OK;
}

static enum tg_class take_over(struct tg_db *db, const struct tg_idempotent *wish,
                               struct tg_error *err)
{
    static const char sql[] =
        "UPDATE idempotency SET body_hash = ?, request_id = ?, state = 'running', status = 0,"
        " answer = NULL, at = NOW(6), due_at = NOW(6) + INTERVAL ? MICROSECOND"
        " WHERE token_id = ? AND key_hash = ?";
    const struct tg_db_value values[] = {
        TG_DB_S(wish->body_hash), TG_DB_B(wish->request_id.bytes, TG_ID_BYTES),
        TG_DB_I(wish->lease_us), TG_DB_I(wish->token_id), TG_DB_S(wish->key_hash)};

    return tg_db_run(db, sql, values, TG_COUNT_OF(values), err);
}

enum tg_class tg_idempotent_begin(struct tg_db *db, const struct tg_idempotent *wish,
                                  struct tg_arena *arena, struct tg_idempotent_found *ret,
                                  struct tg_error *err)
{
    bool fresh = false;
    enum tg_class class = tg_db_begin(db, err);

    *ret = (struct tg_idempotent_found){.state = TG_IDEMPOTENT_FRESH};
    if (class == TG_OK)
        class = insert(db, wish, &fresh, err);
    if (class == TG_OK && !fresh) {
        class = tg_store_failed(db, look(db, wish, arena, ret), err);
        if (class == TG_OK && ret->state == TG_IDEMPOTENT_FRESH)
            class = take_over(db, wish, err);
    }
    if (class == TG_OK)
        class = tg_db_commit(db, err);
    if (class != TG_OK)
        tg_db_rollback(db);
    return class;
}

/* The row may have become another request's meanwhile: each names its own. */
#define MINE " WHERE token_id = ? AND key_hash = ? AND request_id = ? AND state = 'running'"

enum tg_class tg_idempotent_renew(struct tg_db *db, const struct tg_idempotent *wish,
                                  struct tg_error *err)
{
    static const char sql[] =
        "UPDATE idempotency SET due_at = NOW(6) + INTERVAL ? MICROSECOND" MINE;
    const struct tg_db_value values[] = {TG_DB_I(wish->lease_us), TG_DB_I(wish->token_id),
                                         TG_DB_S(wish->key_hash),
                                         TG_DB_B(wish->request_id.bytes, TG_ID_BYTES)};

    return tg_db_run(db, sql, values, TG_COUNT_OF(values), err);
}

enum tg_class tg_idempotent_done(struct tg_db *db, const struct tg_idempotent *wish, int status,
                                 const struct tg_span *answer, struct tg_error *err)
{
    static const char sql[] =
        "UPDATE idempotency SET state = 'done', status = ?, answer = ?" MINE;
    const struct tg_db_value values[] = {
        TG_DB_I(status), answer != NULL ? TG_DB_B(answer->ptr, answer->len) : TG_DB_N,
        TG_DB_I(wish->token_id), TG_DB_S(wish->key_hash),
        TG_DB_B(wish->request_id.bytes, TG_ID_BYTES)};

    return tg_db_run(db, sql, values, TG_COUNT_OF(values), err);
}

enum tg_class tg_idempotent_forget(struct tg_db *db, const struct tg_idempotent *wish,
                                   struct tg_error *err)
{
    static const char sql[] = "DELETE FROM idempotency" MINE;
    const struct tg_db_value values[] = {TG_DB_I(wish->token_id), TG_DB_S(wish->key_hash),
                                         TG_DB_B(wish->request_id.bytes, TG_ID_BYTES)};

    return tg_db_run(db, sql, values, TG_COUNT_OF(values), err);
}

enum tg_class tg_idempotent_trim(struct tg_db *db, struct tg_error *err)
{
    enum { PIECE = 5000, PIECES = 20 };
    static const char sql[] =
        "DELETE FROM idempotency WHERE at < NOW(6) - INTERVAL 1 DAY LIMIT ?";
    const struct tg_db_value values[] = {TG_DB_I(PIECE)};
    enum tg_class class = TG_OK;

    for (int i = 0; class == TG_OK && i < PIECES; i++) {
        class = tg_db_run(db, sql, values, 1, err);
        if (class == TG_OK && tg_db_done(db).affected < PIECE)
            break;
    }
    return class;
}
