#include "common/store/change.h"

#include <inttypes.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/crypto/crypto.h"

enum { CHAIN_PAGE = 500 };

void tg_change_begin(struct tg_change *change, struct tg_db *db, const struct tg_actor *actor,
                     struct tg_error *err)
{
    *change = (struct tg_change){.db = db, .actor = actor, .err = err};
    change->class = tg_db_begin(db, err);
}

void tg_change_run(struct tg_change *change, const char *sql, const struct tg_db_value *values,
                   size_t count)
{
    if (change->class != TG_OK)
        return;
    change->class = tg_db_run(change->db, sql, values, count, change->err);
    change->done = tg_db_done(change->db);
}

struct tg_db_rows *tg_change_select(struct tg_change *change, const char *sql,
                                    const struct tg_db_value *values, size_t count)
{
    struct tg_db_rows *rows = NULL;

    if (change->class != TG_OK)
        return NULL;
    change->class = tg_db_select(change->db, sql, values, count, &rows);
    if (change->class == TG_OK)
        return rows;
    *change->err = *tg_db_error(change->db);
    return NULL;
}

struct audit_row {
    int64_t actor_id;
    const char *previous_hash, *at, *address;
    struct tg_audit_note note;
};

/* Fields with their lengths in front: no two rows give the same text. */
static void row_hash(const struct audit_row *row, char hash[TG_HMAC_HEX])
{
    const char *const fields[] = {row->previous_hash,     row->at,
                                  row->address,           row->note.action,
                                  row->note.object_type,  row->note.object_id,
                                  row->note.before_json,  row->note.after_json};
    struct tg_buf text;

    tg_buf_init(&text, 0);
    tg_buf_printf(&text, "%" PRId64 ";", row->actor_id);
    for (size_t i = 0; i < TG_COUNT_OF(fields); i++) {
        if (fields[i] == NULL)
            tg_buf_str(&text, "-;");
        else
            tg_buf_printf(&text, "%zu:%s;", strlen(fields[i]), fields[i]);
    }
    tg_sha256_hex(tg_buf_text(&text), text.len, hash);
    tg_buf_done(&text);
}

void tg_change_audit(struct tg_change *change, const struct tg_audit_note *note)
{
    char at[TG_TIME_TEXT], hash[TG_HMAC_HEX];
    struct tg_db_rows *rows =
        tg_change_select(change, "SELECT hash FROM audit_chain WHERE id = 1 FOR UPDATE", NULL, 0);
    struct audit_row row = {.actor_id = change->actor->user_id,
                            .address = change->actor->address,
                            .at = at,
                            .note = *note};

    if (rows == NULL)
        return;
    if (!tg_db_next(rows)) {
        change->class = tg_fail(change->err, TG_CLASS_INTERNAL, "audit_chain",
                                "the end of the audit chain is missing");
        goto out;
    }
    row.previous_hash = tg_db_text(rows, 0);
    tg_time_format_sql(tg_unix_us(), at);
    row_hash(&row, hash);
    const struct tg_db_value values[] = {
        TG_DB_S(at),                TG_DB_I(row.actor_id),     TG_DB_S(row.address),
        TG_DB_S(note->action),      TG_DB_S(note->object_type), TG_DB_S(note->object_id),
        TG_DB_S(note->before_json), TG_DB_S(note->after_json), TG_DB_S(row.previous_hash),
        TG_DB_S(hash)};

    tg_change_run(change,
                  "INSERT INTO audit_log (at, actor_id, address, action, object_type, object_id, "
                  "before_json, after_json, previous_hash, hash) VALUES (?,?,?,?,?,?,?,?,?,?)",
                  values, TG_COUNT_OF(values));
    tg_change_run(change, "UPDATE audit_chain SET hash = ? WHERE id = 1",
                  (struct tg_db_value[]){TG_DB_S(hash)}, 1);
out:
    tg_db_rows_free(rows);
}

enum tg_class tg_change_note(struct tg_db *db, const struct tg_actor *actor,
                             const struct tg_audit_note *note, struct tg_error *err)
{
    struct tg_change change;

    tg_change_begin(&change, db, actor, err);
    tg_change_audit(&change, note);
    return tg_change_end(&change);
}

void tg_change_routing(struct tg_change *change)
{
    tg_change_run(change, "UPDATE routing_version SET version = version + 1 WHERE id = 1", NULL,
                  0);
}

enum tg_class tg_change_end(struct tg_change *change)
{
    if (change->class == TG_OK)
        return tg_db_commit(change->db, change->err);
    tg_db_rollback(change->db);
    return change->class;
}

/* One page of the chain. <last> holds the hash before, then the hash of the page's last row. */
static int64_t check_page(struct tg_db_rows *rows, char last[TG_HMAC_HEX], int64_t *ret_last_id)
{
    while (tg_db_next(rows)) {
        char hash[TG_HMAC_HEX];
        const struct audit_row row = {.actor_id = tg_db_int(rows, 2),
                                      .previous_hash = tg_db_text(rows, 8),
                                      .at = tg_db_text(rows, 1),
                                      .address = tg_db_text(rows, 3),
                                      .note = {.action = tg_db_text(rows, 4),
                                               .object_type = tg_db_text(rows, 5),
                                               .object_id = tg_db_text(rows, 6),
                                               .before_json = tg_db_text(rows, 7),
                                               .after_json = tg_db_text(rows, 9)}};

        row_hash(&row, hash);
        if (strcmp(row.previous_hash, last) != 0 || strcmp(hash, tg_db_text(rows, 10)) != 0)
            return tg_db_int(rows, 0);
        memcpy(last, hash, TG_HMAC_HEX);
        *ret_last_id = tg_db_int(rows, 0);
    }
    return 0;
}

enum tg_class tg_change_chain_check(struct tg_db *db, int64_t *ret_broken_id, struct tg_error *err)
{
    char last[TG_HMAC_HEX] = "";
    int64_t id = 0, broken = 0, before;
    struct tg_db_rows *rows = NULL;
    enum tg_class class = tg_db_begin_snapshot(db, err);

    if (class != TG_OK)
        return class;
    do {
        const struct tg_db_value values[] = {TG_DB_I(id), TG_DB_I(CHAIN_PAGE)};

        before = id;
        class = tg_db_select(db,
                             "SELECT id, at, actor_id, address, action, object_type, object_id, "
                             "before_json, previous_hash, after_json, hash FROM audit_log "
                             "WHERE id > ? ORDER BY id LIMIT ?",
                             values, 2, &rows);
        if (class != TG_OK)
            goto out;
        broken = check_page(rows, last, &id);
        tg_db_rows_free(rows);
    } while (broken == 0 && id != before);
    class = tg_db_select(db, "SELECT hash FROM audit_chain WHERE id = 1", NULL, 0, &rows);
    if (class != TG_OK)
        goto out;
    if (broken == 0 && (!tg_db_next(rows) || strcmp(tg_db_text(rows, 0), last) != 0))
        broken = -1; /* the newest rows are missing */
    tg_db_rows_free(rows);
    *ret_broken_id = broken;
out:
    if (class != TG_OK && err != NULL)
        *err = *tg_db_error(db);
    tg_db_rollback(db);
    return class;
}
