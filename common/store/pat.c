#include "common/store/pat.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/json/writer.h"
#include "common/store/check.h"
#include "common/store/read.h"

enum { SCOPES_LIMIT = 1024 };
static const int64_t touch_every_us = INT64_C(60) * 1000000;

#define COLUMNS \
    "SELECT id, user_id, name, hint, scopes, expires_at, last_used_at, created_at, authver, " \
    "last_address FROM pats "

static void read_row(struct tg_arena *arena, const struct tg_db_rows *rows, struct tg_pat *ret)
{
    *ret = (struct tg_pat){.id = tg_db_int(rows, 0),
                           .user_id = tg_db_int(rows, 1),
                           .name = tg_store_text(arena, rows, 2),
                           .hint = tg_store_text(arena, rows, 3),
                           .scopes = tg_store_text(arena, rows, 4),
                           .expires_unix_us = tg_store_time(rows, 5),
                           .last_used_unix_us = tg_store_time(rows, 6),
                           .created_unix_us = tg_store_time(rows, 7),
                           .authver = tg_db_int(rows, 8),
                           .last_address = tg_store_text(arena, rows, 9)};
}

/* Words of lower-case letters, digits and ". : _ -" with one blank between them. */
static bool are_scopes(const char *text)
{
    size_t len = strlen(text);

    if (len == 0 || len > SCOPES_LIMIT || text[0] == ' ' || text[len - 1] == ' ' ||
        strstr(text, "  ") != NULL)
        return false;
    return strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789.:_- ") == len;
}

static void note(struct tg_change *change, const char *action, int64_t id,
                 const struct tg_pat_new *pat)
{
    char text[24];
    struct tg_json_writer out;
    struct tg_buf after;

    snprintf(text, sizeof text, "%" PRId64, id);
    tg_buf_init(&after, 0);
    tg_json_writer_init(&out, &after);
    tg_json_begin_object(&out);
    if (pat == NULL) {
        tg_json_put_str(&out, "status", "revoked");
    } else {
        tg_json_put_int(&out, "user_id", pat->user_id);
        tg_json_put_str(&out, "name", pat->name);
        tg_json_put_str(&out, "hint", pat->hint);
        tg_json_put_str(&out, "scopes", pat->scopes);
    }
    tg_json_end_object(&out);
    tg_change_audit(change, &(struct tg_audit_note){.action = action,
                                                    .object_type = "pat",
                                                    .object_id = text,
                                                    .after_json = tg_buf_text(&after)});
    tg_buf_done(&after);
}

enum tg_class tg_store_pat_add(struct tg_db *db, const struct tg_actor *actor,
                               const struct tg_pat_new *pat, int64_t *ret_id, struct tg_error *err)
{
    char expires[TG_TIME_TEXT];
    struct tg_change change;
    int64_t id;
    enum tg_class class = tg_check_label("name", pat->name, err);

    if (class != TG_OK)
        return class;
    if (!are_scopes(pat->scopes)) {
        tg_fail(err, TG_CLASS_INVALID, "invalid_scopes", "scopes are words with one blank between");
        snprintf(err->param, sizeof err->param, "scopes");
        return TG_CLASS_INVALID;
    }
    tg_time_format_sql(pat->expires_unix_us, expires);
    const struct tg_db_value values[] = {TG_DB_I(pat->user_id),
                                         TG_DB_S(pat->fingerprint),
                                         TG_DB_S(pat->name),
                                         TG_DB_S(pat->hint),
                                         TG_DB_S(pat->scopes),
                                         TG_DB_I(pat->authver),
                                         TG_DB_S(pat->expires_unix_us != 0 ? expires : NULL)};

    tg_change_begin(&change, db, actor, err);
    tg_change_run(&change,
                  "INSERT INTO pats (user_id, fingerprint, name, hint, scopes, authver, "
                  "expires_at) VALUES (?,?,?,?,?,?,?)",
                  values, TG_COUNT_OF(values));
    id = change.done.last_id;
    note(&change, "pat.add", id, pat);
    class = tg_change_end(&change);
    if (class == TG_OK)
        *ret_id = id;
    return class;
}

enum tg_class tg_store_pat_find(struct tg_db *db, struct tg_arena *arena, const char *fingerprint,
                                struct tg_pat **ret, struct tg_error *err)
{
    char now[TG_TIME_TEXT];
    struct tg_db_rows *rows;
    enum tg_class class;

    tg_time_format_sql(tg_unix_us(), now);
    class = tg_db_select(db,
                         COLUMNS "WHERE fingerprint = ? AND status = 'enabled' AND "
                                 "(expires_at IS NULL OR expires_at > ?)",
                         (struct tg_db_value[]){TG_DB_S(fingerprint), TG_DB_S(now)}, 2, &rows);
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

enum tg_class tg_store_pat_touch(struct tg_db *db, int64_t id, const char *address,
                                 struct tg_error *err)
{
    char now[TG_TIME_TEXT], before[TG_TIME_TEXT];

    tg_time_format_sql(tg_unix_us(), now);
    tg_time_format_sql(tg_unix_us() - touch_every_us, before);
    const struct tg_db_value values[] = {TG_DB_S(now), TG_DB_S(address), TG_DB_I(id),
                                         TG_DB_S(before), TG_DB_S(address)};

    return tg_db_run(db,
                     "UPDATE pats SET last_used_at = ?, last_address = ? WHERE id = ? AND "
                     "(last_used_at IS NULL OR last_used_at < ? OR last_address <> ?)",
                     values, TG_COUNT_OF(values), err);
}

enum tg_class tg_store_pats(struct tg_db *db, struct tg_arena *arena, int64_t user_id,
                            struct tg_pat **ret, size_t *ret_count)
{
    struct tg_pat *list = NULL;
    struct tg_db_rows *rows;
    size_t count = 0;
    enum tg_class class = tg_db_select(
        db, COLUMNS "WHERE user_id = ? AND status = 'enabled' ORDER BY id DESC LIMIT 200",
        &TG_DB_I(user_id), 1, &rows);

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

enum tg_class tg_store_pat_revoke(struct tg_db *db, const struct tg_actor *actor, int64_t user_id,
                                  int64_t id, struct tg_error *err)
{
    struct tg_change change;

    tg_change_begin(&change, db, actor, err);
    tg_change_run(&change,
                  "UPDATE pats SET status = 'revoked' WHERE id = ? AND user_id = ? AND "
                  "status = 'enabled'",
                  (struct tg_db_value[]){TG_DB_I(id), TG_DB_I(user_id)}, 2);
    if (change.class == TG_OK && change.done.affected == 0)
        change.class = tg_fail(err, TG_CLASS_NOT_FOUND, "pat_not_found",
                               "the user has no access token %" PRId64, id);
    note(&change, "pat.revoke", id, NULL);
    return tg_change_end(&change);
}
