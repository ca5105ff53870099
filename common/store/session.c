#include "common/store/session.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/store/read.h"

enum { DEVICE_BYTES = 255 };

#define COLUMNS \
    "SELECT id, user_id, generation, refresh_hash, previous_hash, rotated_at, authver, device, " \
    "address, created_at, last_seen_at, expires_at FROM console_sessions "

static void read_row(struct tg_arena *arena, const struct tg_db_rows *rows, struct tg_session *ret)
{
    *ret = (struct tg_session){.id = tg_db_int(rows, 0),
                               .user_id = tg_db_int(rows, 1),
                               .generation = tg_db_int(rows, 2),
                               .rotated_unix_us = tg_store_time(rows, 5),
                               .authver = tg_db_int(rows, 6),
                               .device = tg_store_text(arena, rows, 7),
                               .address = tg_store_text(arena, rows, 8),
                               .created_unix_us = tg_store_time(rows, 9),
                               .last_seen_unix_us = tg_store_time(rows, 10),
                               .expires_unix_us = tg_store_time(rows, 11)};
    snprintf(ret->refresh_hash, sizeof ret->refresh_hash, "%s", tg_db_text(rows, 3));
    snprintf(ret->previous_hash, sizeof ret->previous_hash, "%s", tg_db_text(rows, 4));
}

enum tg_class tg_store_session_add(struct tg_db *db, const struct tg_session_new *session,
                                   int64_t *ret_id, struct tg_error *err)
{
    char now[TG_TIME_TEXT], expires[TG_TIME_TEXT], device[DEVICE_BYTES + 1];
    enum tg_class class;

    tg_time_format_sql(tg_unix_us(), now);
    tg_time_format_sql(session->expires_unix_us, expires);
    tg_store_cut(session->device, device, sizeof device);
    class = tg_db_run(db, "DELETE FROM console_sessions WHERE expires_at < ? LIMIT 100",
                      (struct tg_db_value[]){TG_DB_S(now)}, 1, err);
    if (class != TG_OK)
        return class;
    const struct tg_db_value values[] = {TG_DB_I(session->user_id), TG_DB_S(session->refresh_hash),
                                         TG_DB_I(session->authver), TG_DB_S(device),
                                         TG_DB_S(session->address), TG_DB_S(now),
                                         TG_DB_S(now),              TG_DB_S(expires)};

    class = tg_db_run(db,
                      "INSERT INTO console_sessions (user_id, refresh_hash, authver, device, "
                      "address, created_at, last_seen_at, expires_at) VALUES (?,?,?,?,?,?,?,?)",
                      values, TG_COUNT_OF(values), err);
    if (class == TG_OK)
        *ret_id = tg_db_done(db).last_id;
    return class;
}

enum tg_class tg_store_session_find(struct tg_db *db, struct tg_arena *arena, int64_t id,
                                    struct tg_session **ret, struct tg_error *err)
{
    char now[TG_TIME_TEXT];
    struct tg_db_rows *rows;
    enum tg_class class;

    tg_time_format_sql(tg_unix_us(), now);
    class = tg_db_select(db, COLUMNS "WHERE id = ? AND expires_at > ?",
                         (struct tg_db_value[]){TG_DB_I(id), TG_DB_S(now)}, 2, &rows);
    if (class != TG_OK)
        return tg_store_failed(db, class, err);
    *ret = NULL;
    if (tg_db_next(rows)) {
        *ret = tg_arena_alloc(arena, sizeof **ret);
        read_row(arena, rows, *ret);
    }
    tg_db_rows_free(rows);
    return TG_OK;
}

enum tg_class tg_store_session_rotate(struct tg_db *db, const struct tg_session_rotation *rotation,
                                      struct tg_error *err)
{
    char now[TG_TIME_TEXT];
    enum tg_class class;

    tg_time_format_sql(tg_unix_us(), now);
    const struct tg_db_value values[] = {TG_DB_S(now),
                                         TG_DB_S(rotation->new_hash),
                                         TG_DB_S(rotation->address),
                                         TG_DB_S(now),
                                         TG_DB_I(rotation->id),
                                         TG_DB_S(rotation->old_hash),
                                         TG_DB_S(now)};

    /* assignments run from left to right: previous_hash takes the old refresh_hash */
    class = tg_db_run(db,
                      "UPDATE console_sessions SET previous_hash = refresh_hash, rotated_at = ?, "
                      "refresh_hash = ?, generation = generation + 1, address = ?, "
                      "last_seen_at = ? WHERE id = ? AND refresh_hash = ? AND expires_at > ?",
                      values, TG_COUNT_OF(values), err);
    if (class == TG_OK && tg_db_done(db).affected == 0)
        class = tg_fail(err, TG_CLASS_CONFLICT, "session_rotated",
                        "the session was renewed by another request");
    return class;
}

enum tg_class tg_store_session_touch(struct tg_db *db, int64_t id, struct tg_error *err)
{
    char now[TG_TIME_TEXT];

    tg_time_format_sql(tg_unix_us(), now);
    return tg_db_run(db, "UPDATE console_sessions SET last_seen_at = ? WHERE id = ?",
                     (struct tg_db_value[]){TG_DB_S(now), TG_DB_I(id)}, 2, err);
}

enum tg_class tg_store_sessions(struct tg_db *db, struct tg_arena *arena, int64_t user_id,
                                struct tg_session **ret, size_t *ret_count)
{
    char now[TG_TIME_TEXT];
    struct tg_session *list = NULL;
    struct tg_db_rows *rows;
    size_t count = 0;
    enum tg_class class;

    tg_time_format_sql(tg_unix_us(), now);
    class = tg_db_select(db,
                         COLUMNS "WHERE user_id = ? AND expires_at > ? "
                                 "ORDER BY last_seen_at DESC, id DESC LIMIT 200",
                         (struct tg_db_value[]){TG_DB_I(user_id), TG_DB_S(now)}, 2, &rows);
    if (class != TG_OK)
        return class;
    while (tg_db_next(rows)) {
        list = tg_store_grow(arena, list, count, sizeof *list);
        read_row(arena, rows, &list[count++]);
    }
    tg_db_rows_free(rows);
    *ret = list;
    *ret_count = count;
    return TG_OK;
}

enum tg_class tg_store_session_end(struct tg_db *db, const struct tg_actor *actor,
                                   const struct tg_session_end *end, struct tg_error *err)
{
    const struct tg_db_value values[] = {TG_DB_I(end->user_id), TG_DB_I(end->id),
                                         TG_DB_I(end->id), TG_DB_I(end->but_id)};
    char user[24], after[64];
    struct tg_change change;

    tg_change_begin(&change, db, actor, err);
    tg_change_run(&change,
                  "DELETE FROM console_sessions WHERE user_id = ? AND (id = ? OR (? = 0 AND "
                  "id <> ?))",
                  values, TG_COUNT_OF(values));
    if (change.class == TG_OK && change.done.affected == 0 && end->id != 0)
        change.class = tg_fail(err, TG_CLASS_NOT_FOUND, "session_not_found",
                               "the user has no session %" PRId64, end->id);
    snprintf(user, sizeof user, "%" PRId64, end->user_id);
    snprintf(after, sizeof after, "{\"ended\":%" PRId64 "}", change.done.affected);
    tg_change_audit(&change, &(struct tg_audit_note){.action = "session.end",
                                                     .object_type = "user",
                                                     .object_id = user,
                                                     .after_json = after});
    return tg_change_end(&change);
}
