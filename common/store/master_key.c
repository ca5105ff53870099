#include "common/store/master_key.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/store/read.h"
#include "common/store/routing.h"

enum { BATCH_ROWS = 100, NODES_MOST = 1000 };

void tg_master_key_share(struct tg_change *change, int64_t version)
{
    /* FOR SHARE is unknown to MariaDB; what stands here both know. */
    struct tg_db_rows *rows = tg_change_select(
        change, "SELECT version FROM master_key WHERE id = 1 LOCK IN SHARE MODE", NULL, 0);

    if (rows != NULL && tg_db_next(rows) && tg_db_int(rows, 0) > version)
        change->class = tg_fail(change->err, TG_CLASS_CONFLICT, "master_key_changed",
                                "the master key was changed: console.secrets of this node is of "
                                "before (version %" PRId64 ", %" PRId64 " is in force)",
                                version, tg_db_int(rows, 0));
    tg_db_rows_free(rows);
}

/* --- the state of a change ----------------------------------------------------------------- */

enum tg_class tg_master_key_read(struct tg_db *db, struct tg_master_key_state *ret,
                                 struct tg_error *err)
{
    struct tg_master_key_state state = {.version = 1};
    struct tg_db_rows *rows;
    enum tg_class class = tg_db_select(
        db, "SELECT version, next_public FROM master_key WHERE id = 1", NULL, 0, &rows);

    if (class != TG_OK)
        return tg_store_failed(db, class, err);
    if (tg_db_next(rows)) {
        struct tg_span next = tg_db_bytes(rows, 1);

        state.version = tg_db_int(rows, 0);
        state.begun = next.len == TG_KEY_BYTES;
        if (state.begun)
            memcpy(state.next_public, next.ptr, TG_KEY_BYTES);
    }
    tg_db_rows_free(rows);
    *ret = state;
    return TG_OK;
}

enum tg_class tg_master_key_lock(struct tg_db *db, bool *ret_got, struct tg_error *err)
{
    struct tg_db_rows *rows;
    enum tg_class class = tg_db_select(
        db, "SELECT GET_LOCK(SHA1(CONCAT(DATABASE(), ' master key')), 0)", NULL, 0, &rows);

    if (class != TG_OK)
        return tg_store_failed(db, class, err);
    *ret_got = tg_db_next(rows) && tg_db_int(rows, 0) == 1;
    tg_db_rows_free(rows);
    return TG_OK;
}

static void note(struct tg_change *change, const char *action, int64_t version)
{
    char after[64];

    if (version != 0)
        snprintf(after, sizeof after, "{\"key_version\":%" PRId64 "}", version);
    tg_change_audit(change, &(struct tg_audit_note){.action = action,
                                                    .object_type = "master_key",
                                                    .object_id = "1",
                                                    .after_json = version != 0 ? after : NULL});
}

enum tg_class tg_master_key_begin(struct tg_db *db, const struct tg_actor *actor,
                                  const uint8_t next_public[TG_KEY_BYTES], struct tg_error *err)
{
    struct tg_change change;

    tg_change_begin(&change, db, actor, err);
    tg_change_run(&change,
                  "UPDATE master_key SET next_public = ? WHERE id = 1 AND next_public IS NULL",
                  (struct tg_db_value[]){TG_DB_B(next_public, TG_KEY_BYTES)}, 1);
    if (change.class == TG_OK && change.done.affected > 0)
        note(&change, "master_key.begin", 0);
    return tg_change_end(&change);
}

enum tg_class tg_master_key_raise(struct tg_db *db, const struct tg_actor *actor, int64_t version,
                                  struct tg_error *err)
{
    struct tg_change change;

    tg_change_begin(&change, db, actor, err);
    tg_change_run(&change, "UPDATE master_key SET version = GREATEST(version, ?) WHERE id = 1",
                  &TG_DB_I(version), 1);
    note(&change, "master_key.switch", version);
    return tg_change_end(&change);
}

enum tg_class tg_master_key_end(struct tg_db *db, const struct tg_actor *actor, int64_t version,
                                struct tg_error *err)
{
    struct tg_change change;

    tg_change_begin(&change, db, actor, err);
    tg_change_run(&change, "UPDATE master_key SET next_public = NULL WHERE id = 1", NULL, 0);
    note(&change, "master_key.retire", version);
    return tg_change_end(&change);
}

/* --- nodes --------------------------------------------------------------------------------- */

enum tg_class tg_master_key_tell(struct tg_db *db, const struct tg_master_key_node *node,
                                 struct tg_error *err)
{
    const struct tg_db_value values[] = {TG_DB_S(node->name), TG_DB_I(node->newest)};

    return tg_db_run(db,
                     "INSERT INTO node_master_key (node, newest, read_at) VALUES (?, ?, NOW(6)) "
                     "ON DUPLICATE KEY UPDATE newest = VALUES(newest), read_at = VALUES(read_at)",
                     values, TG_COUNT_OF(values), err);
}

enum tg_class tg_master_key_behind(struct tg_db *db, struct tg_arena *arena,
                                   const struct tg_master_key_node *own, const char **ret,
                                   struct tg_error *err)
{
    static const char sql[] =
        "SELECT m.node FROM node_master_key m LEFT JOIN node n ON n.name = m.node WHERE "
        "m.newest < ? AND m.node <> ? AND COALESCE(n.state, '') <> 'gone' ORDER BY m.node LIMIT ?";
    const struct tg_db_value values[] = {TG_DB_I(own->newest), TG_DB_S(own->name),
                                         TG_DB_I(NODES_MOST)};
    const char *names = "";
    struct tg_db_rows *rows;
    enum tg_class class = tg_db_select(db, sql, values, TG_COUNT_OF(values), &rows);

    if (class != TG_OK)
        return tg_store_failed(db, class, err);
    while (tg_db_next(rows))
        names = tg_arena_printf(arena, "%s%s%s", names, *names != '\0' ? ", " : "",
                                tg_db_text(rows, 0));
    tg_db_rows_free(rows);
    *ret = names;
    return TG_OK;
}

/* --- rows ---------------------------------------------------------------------------------- */

struct sealed_row {
    int64_t id, version;
    struct tg_span sealed;
};
struct sealed_rows {
    struct tg_arena *arena;
    struct sealed_row rows[BATCH_ROWS];
    size_t count;
};

/* Opens the row and stores it again, if it is as it was read. */
static void reseal(struct tg_change *change, const struct tg_secrets *secrets,
                   const struct sealed_row *row, struct tg_reseal *batch)
{
    char aad[TG_KEY_AAD_TEXT];
    const struct tg_sealed stored = {row->version, aad, row->sealed};
    struct tg_buf key, sealed;

    tg_channel_key_aad(row->id, aad);
    tg_buf_init(&key, 0);
    tg_buf_init(&sealed, 0);
    if (tg_secrets_unseal(secrets, &stored, &key, NULL) != TG_OK) {
        batch->unopened++;
        if (batch->first_unopened == 0)
            batch->first_unopened = row->id;
    } else {
        tg_seal(secrets->seal_public, aad, tg_buf_text(&key), &sealed);
        const struct tg_db_value values[] = {
            TG_DB_B(sealed.data, sealed.len), TG_DB_I(secrets->key_version), TG_DB_I(row->id),
            TG_DB_I(row->version), TG_DB_B(row->sealed.ptr, row->sealed.len)};

        tg_change_run(change,
                      "UPDATE channel_keys SET sealed = ?, key_version = ? WHERE id = ? AND "
                      "key_version = ? AND sealed = ?",
                      values, TG_COUNT_OF(values));
        batch->done += change->class == TG_OK ? change->done.affected : 0;
    }
    if (key.len > 0)
        tg_wipe(key.data, key.len);
    tg_buf_done(&key);
    tg_buf_done(&sealed);
}

static enum tg_class read_batch(struct tg_db *db, int64_t version, int64_t after_id,
                                struct sealed_rows *ret, struct tg_error *err)
{
    const struct tg_db_value values[] = {TG_DB_I(version), TG_DB_I(after_id),
                                         TG_DB_I(BATCH_ROWS)};
    struct tg_db_rows *rows;
    enum tg_class class =
        tg_db_select(db,
                     "SELECT id, key_version, sealed FROM channel_keys WHERE key_version < ? AND "
                     "id > ? ORDER BY id LIMIT ?",
                     values, TG_COUNT_OF(values), &rows);

    if (class != TG_OK)
        return tg_store_failed(db, class, err);
    while (ret->count < BATCH_ROWS && tg_db_next(rows)) {
        struct tg_span sealed = tg_db_bytes(rows, 2);

        ret->rows[ret->count++] = (struct sealed_row){
            tg_db_int(rows, 0), tg_db_int(rows, 1),
            {tg_arena_strndup(ret->arena, sealed.ptr, sealed.len), sealed.len}};
    }
    tg_db_rows_free(rows);
    return TG_OK;
}

enum tg_class tg_master_key_reseal(struct tg_db *db, const struct tg_secrets *secrets,
                                   struct tg_reseal *batch, struct tg_error *err)
{
    static const struct tg_actor nobody = {.user_id = 0, .address = ""};
    struct sealed_rows read = {.arena = tg_arena_new()};
    struct tg_reseal result = *batch;
    struct tg_change change;
    enum tg_class class = read_batch(db, secrets->key_version, batch->last_id, &read, err);

    if (class == TG_OK && read.count > 0) {
        tg_change_begin(&change, db, &nobody, err);
        for (size_t i = 0; i < read.count; i++)
            reseal(&change, secrets, &read.rows[i], &result);
        class = tg_change_end(&change);
        result.last_id = read.rows[read.count - 1].id;
    }
    result.seen = (int64_t)read.count;
    if (class == TG_OK)
        *batch = result;
    tg_arena_free(read.arena);
    return class;
}

enum tg_class tg_master_key_older(struct tg_db *db, int64_t version, int64_t *ret,
                                  struct tg_error *err)
{
    struct tg_db_rows *rows;
    enum tg_class class =
        tg_db_select(db, "SELECT COUNT(*) FROM channel_keys WHERE key_version < ?",
                     &TG_DB_I(version), 1, &rows);

    if (class != TG_OK)
        return tg_store_failed(db, class, err);
    *ret = tg_db_next(rows) ? tg_db_int(rows, 0) : 0;
    tg_db_rows_free(rows);
    return TG_OK;
}
