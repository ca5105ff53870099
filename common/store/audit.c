#include "common/store/audit.h"

#include "common/base/clock.h"
#include "common/store/audit_log.h"
#include "common/store/read.h"

#include <string.h>

#define REQUESTS "('charge', 'refund', 'expired')"

struct reading {
    struct tg_db *db; /* main, in its snapshot */
    struct tg_arena *arena;
    struct tg_error *err;
    struct tg_audit_books *books;
    const struct tg_audit_log *log;
};

static enum tg_class read_users(struct reading *reading)
{
    static const char sql[] =
        "SELECT u.id, u.quota, u.offline_quota, CAST(COALESCE(o.amount, 0) AS SIGNED),"
        " CAST(COALESCE(c.amount, 0) AS SIGNED),"
        " CAST(-COALESCE(e.credits, 0) - COALESCE(d.credits, 0) AS SIGNED),"
        " CAST(COALESCE(e.charges, 0) + COALESCE(d.charges, 0) AS SIGNED),"
        " CAST(COALESCE(e.to_log, 0) + COALESCE(d.to_log, 0) AS SIGNED) FROM users u"
        " LEFT JOIN (SELECT user_id, SUM(amount_quota) AS amount FROM credits"
        " WHERE applied_at IS NOT NULL GROUP BY user_id) AS c ON c.user_id = u.id"
        " LEFT JOIN (SELECT user_id, SUM(IF(kind = 'credit', amount_quota, 0)) AS credits,"
        " SUM(IF(kind IN " REQUESTS " AND plan_id = 0, amount_quota, 0)) AS charges,"
        " SUM(IF(kind IN " REQUESTS " AND request_id >= UNHEX(?), amount_quota, 0)) AS to_log"
        " FROM ledger_entry GROUP BY user_id) AS e ON e.user_id = u.id"
        " LEFT JOIN (SELECT user_id, SUM(IF(kind = 'credit', amount_quota, 0)) AS credits,"
        " SUM(IF(kind IN " REQUESTS ", amount_quota, 0)) AS charges,"
        " SUM(IF(SUBSTRING_INDEX(kind, '/', 1) IN " REQUESTS ", IF(day >= ?, amount_quota, 0), 0))"
        " AS to_log FROM ledger_day GROUP BY user_id) AS d ON d.user_id = u.id"
        " LEFT JOIN (SELECT r.user_id, SUM(r.amount_quota) AS amount FROM"
        " (SELECT user_id, plan_id, amount_quota FROM offline_hold UNION ALL"
        " SELECT user_id, plan_id, amount_quota FROM offline_entry) AS r"
        " WHERE r.plan_id = 0 GROUP BY r.user_id) AS o ON o.user_id = u.id ORDER BY u.id";
    struct tg_audit_books *books = reading->books;
    struct tg_db_value values[] = {TG_DB_S(reading->log->first_id),
                                   TG_DB_S(reading->log->first_day)};
    struct tg_db_rows *rows;
    enum tg_class class = tg_db_select(reading->db, sql, values, 2, &rows);

    if (class != TG_OK)
        return tg_store_failed(reading->db, class, reading->err);
    while (tg_db_next(rows)) {
        books->users = tg_store_grow(reading->arena, books->users, books->user_count,
                                     sizeof *books->users);
        books->users[books->user_count++] =
            (struct tg_audit_user){.id = tg_db_int(rows, 0),
                                   .quota = tg_db_int(rows, 1),
                                   .offline_quota = tg_db_int(rows, 2),
                                   .offline_bound = tg_db_int(rows, 3),
                                   .credited = tg_db_int(rows, 4),
                                   .credit_entries = tg_db_int(rows, 5),
                                   .charged = tg_db_int(rows, 6),
                                   .to_log = tg_db_int(rows, 7)};
    }
    tg_db_rows_free(rows);
    return TG_OK;
}

static enum tg_class read_tokens(struct reading *reading)
{
    static const char sql[] =
        "SELECT t.id, t.user_id, t.remain_quota, t.used_quota,"
        " CAST(COALESCE(e.charges, 0) AS SIGNED), t.offline_quota,"
        " CAST(COALESCE(o.amount, 0) AS SIGNED) FROM tokens t"
        " LEFT JOIN (SELECT token_id, SUM(amount_quota) AS charges FROM ledger_entry"
        " WHERE kind IN " REQUESTS " GROUP BY token_id) AS e ON e.token_id = t.id"
        " LEFT JOIN (SELECT r.token_id, SUM(r.amount_quota) AS amount FROM"
        " (SELECT token_id, amount_quota FROM offline_hold UNION ALL"
        " SELECT token_id, amount_quota FROM offline_entry) AS r GROUP BY r.token_id) AS o"
        " ON o.token_id = t.id ORDER BY t.user_id, t.id";
    struct tg_audit_books *books = reading->books;
    struct tg_db_rows *rows;
    enum tg_class class = tg_db_select(reading->db, sql, NULL, 0, &rows);

    if (class != TG_OK)
        return tg_store_failed(reading->db, class, reading->err);
    while (tg_db_next(rows)) {
        books->tokens = tg_store_grow(reading->arena, books->tokens, books->token_count,
                                      sizeof *books->tokens);
        books->tokens[books->token_count++] =
            (struct tg_audit_token){.id = tg_db_int(rows, 0),
                                    .user_id = tg_db_int(rows, 1),
                                    .remain = tg_db_int(rows, 2),
                                    .used = tg_db_int(rows, 3),
                                    .charged = tg_db_int(rows, 4),
                                    .offline_quota = tg_db_int(rows, 5),
                                    .offline_bound = tg_db_int(rows, 6)};
    }
    tg_db_rows_free(rows);
    return TG_OK;
}

static enum tg_class read_plans(struct reading *reading)
{
    static const char sql[] =
        "SELECT s.id, s.user_id, s.remain_quota, CAST(-COALESCE(e.out_quota, 0) AS SIGNED),"
        " s.offline_quota, CAST(COALESCE(o.amount, 0) AS SIGNED) FROM subscriptions s"
        " LEFT JOIN (SELECT plan_id, SUM(plan_quota) AS out_quota FROM ledger_entry"
        " WHERE plan_id <> 0 GROUP BY plan_id) AS e ON e.plan_id = s.id"
        " LEFT JOIN (SELECT r.plan_id, SUM(r.amount_quota) AS amount FROM"
        " (SELECT plan_id, amount_quota FROM offline_hold UNION ALL"
        " SELECT plan_id, amount_quota FROM offline_entry) AS r GROUP BY r.plan_id) AS o"
        " ON o.plan_id = s.id ORDER BY s.user_id, s.id";
    struct tg_audit_books *books = reading->books;
    struct tg_db_rows *rows;
    enum tg_class class = tg_db_select(reading->db, sql, NULL, 0, &rows);

    if (class != TG_OK)
        return tg_store_failed(reading->db, class, reading->err);
    while (tg_db_next(rows)) {
        books->plans = tg_store_grow(reading->arena, books->plans, books->plan_count,
                                     sizeof *books->plans);
        books->plans[books->plan_count++] =
            (struct tg_audit_plan){.id = tg_db_int(rows, 0),
                                   .user_id = tg_db_int(rows, 1),
                                   .remain = tg_db_int(rows, 2),
                                   .granted = tg_db_int(rows, 3),
                                   .offline_quota = tg_db_int(rows, 4),
                                   .offline_bound = tg_db_int(rows, 5)};
    }
    tg_db_rows_free(rows);
    return TG_OK;
}

static enum tg_class read_counts(struct reading *reading)
{
    static const char sql[] =
        "SELECT (SELECT COUNT(*) FROM ledger_day), (SELECT COUNT(*) FROM ledger_reject),"
        " (SELECT COUNT(*) FROM ledger_rebuild), (SELECT COUNT(*) FROM log_batch),"
        " (SELECT COALESCE(TIMESTAMPDIFF(SECOND, MIN(at), NOW(6)), 0) FROM log_batch),"
        " (SELECT COUNT(*) FROM credits WHERE applied_at IS NULL),"
        " (SELECT COUNT(*) FROM adjustments WHERE applied_at IS NULL),"
        " (SELECT COUNT(*) FROM offline_entry),"
        " (SELECT COUNT(*) FROM ledger_entry WHERE kind = 'expired' AND amount_quota = 0),"
        " (SELECT COUNT(*) FROM ledger_entry e LEFT JOIN users u ON u.id = e.user_id"
        " WHERE u.id IS NULL), (SELECT COUNT(*) FROM plan_resets WHERE applied_at IS NULL)";
    struct tg_audit_counts *counts = &reading->books->counts;
    struct tg_db_rows *rows;
    enum tg_class class = tg_db_select(reading->db, sql, NULL, 0, &rows);

    if (class != TG_OK)
        return tg_store_failed(reading->db, class, reading->err);
    if (tg_db_next(rows))
        *counts = (struct tg_audit_counts){.folded_days = tg_db_int(rows, 0),
                                           .rejects = tg_db_int(rows, 1),
                                           .rebuilds = tg_db_int(rows, 2),
                                           .log_batches = tg_db_int(rows, 3),
                                           .log_lag_s = tg_db_int(rows, 4),
                                           .credits_waiting = tg_db_int(rows, 5),
                                           .adjustments_waiting = tg_db_int(rows, 6),
                                           .offline_entries = tg_db_int(rows, 7),
                                           .expired_empty = tg_db_int(rows, 8),
                                           .orphans = tg_db_int(rows, 9),
                                           .resets_waiting = tg_db_int(rows, 10)};
    tg_db_rows_free(rows);
    return TG_OK;
}

static enum tg_class read_expired(struct reading *reading)
{
    static const char sql[] = "SELECT request_id FROM ledger_entry WHERE kind = 'expired'"
                              " AND amount_quota = 0 ORDER BY request_id DESC LIMIT ?";
    struct tg_audit_counts *counts = &reading->books->counts;
    struct tg_db_value values[] = {TG_DB_I(TG_AUDIT_LISTED)};
    struct tg_db_rows *rows;
    enum tg_class class = tg_db_select(reading->db, sql, values, 1, &rows);

    if (class != TG_OK)
        return tg_store_failed(reading->db, class, reading->err);
    while (counts->expired_count < TG_AUDIT_LISTED && tg_db_next(rows))
        memcpy(counts->expired[counts->expired_count++].bytes, tg_db_bytes(rows, 0).ptr,
               TG_ID_BYTES);
    tg_db_rows_free(rows);
    return TG_OK;
}

static struct tg_audit_user *find_user(struct tg_audit_books *books, int64_t id)
{
    size_t low = 0, high = books->user_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (books->users[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < books->user_count && books->users[low].id == id ? &books->users[low] : NULL;
}

/* Charges whose batch the log's snapshot cannot have. */
static enum tg_class take_out_waiting(struct reading *reading)
{
    static const char sql[] =
        "SELECT l.user_id, CAST(SUM(l.amount_quota) AS SIGNED) FROM"
        " JSON_TABLE(?, '$[*]' COLUMNS (batch CHAR(36) PATH '$')) AS b STRAIGHT_JOIN"
        " ledger_entry l ON l.batch = UNHEX(REPLACE(b.batch, '-', ''))"
        " WHERE l.kind IN " REQUESTS " AND l.request_id >= UNHEX(?) GROUP BY l.user_id";
    struct tg_db_value values[2];
    struct tg_audit_user *user;
    struct tg_db_rows *rows;
    const char *batches;
    enum tg_class class =
        tg_audit_log_missing(reading->log, reading->db, reading->arena, &batches, reading->err);

    if (class != TG_OK)
        return class;
    values[0] = TG_DB_S(batches);
    values[1] = TG_DB_S(reading->log->first_id);
    class = tg_db_select(reading->db, sql, values, 2, &rows);
    if (class != TG_OK)
        return tg_store_failed(reading->db, class, reading->err);
    while (tg_db_next(rows)) {
        user = find_user(reading->books, tg_db_int(rows, 0));
        if (user != NULL)
            user->to_log -= tg_db_int(rows, 1);
    }
    tg_db_rows_free(rows);
    return TG_OK;
}

/* Requests that ended as expired with less than they had earned when they lapsed. */
static enum tg_class read_lapses(struct reading *reading)
{
    static const char sql[] =
        "SELECT e.user_id, CAST(SUM(e.amount_quota) AS SIGNED),"
        " CAST(SUM(l.earned_quota) AS SIGNED) FROM ledger_lapse l JOIN ledger_entry e"
        " ON e.request_id = l.request_id WHERE e.kind = 'expired'"
        " AND e.amount_quota < l.earned_quota GROUP BY e.user_id";
    struct tg_db_rows *rows;
    enum tg_class class = tg_db_select(reading->db, sql, NULL, 0, &rows);

    if (class != TG_OK)
        return tg_store_failed(reading->db, class, reading->err);
    while (tg_db_next(rows)) {
        struct tg_audit_user *user = find_user(reading->books, tg_db_int(rows, 0));

        if (user == NULL)
            continue;
        user->swept = tg_db_int(rows, 1);
        user->earned = tg_db_int(rows, 2);
    }
    tg_db_rows_free(rows);
    return TG_OK;
}

static enum tg_class read_doubts(struct reading *reading)
{
    struct tg_audit_counts *counts = &reading->books->counts;

    return tg_store_failed(reading->db,
                           tg_doubt_list(reading->db, reading->arena, TG_AUDIT_LISTED,
                                         &counts->doubts, &counts->doubt_count),
                           reading->err);
}

static enum tg_class read_cursors(struct reading *reading)
{
    reading->books->read_at_us = tg_now_us();
    return tg_store_cursors(reading->db, reading->books->cursors, reading->err);
}

enum tg_class tg_audit_read(struct tg_db *main_db, struct tg_db *log_db, struct tg_arena *arena,
                            struct tg_audit_books *ret, struct tg_error *err)
{
    static enum tg_class (*const steps[])(struct reading *) = {
        read_cursors, read_users, read_tokens, read_plans, read_counts, read_expired,
        take_out_waiting, read_lapses, read_doubts};
    struct tg_audit_log log = {.db = log_db};
    struct tg_audit_books books = {0};
    struct reading reading = {
        .db = main_db, .arena = arena, .err = err, .books = &books, .log = &log};
    enum tg_class class = tg_audit_log_read(&log, main_db, arena, err);

    if (class == TG_OK)
        class = tg_db_begin_snapshot(main_db, err);
    for (size_t i = 0; class == TG_OK && i < TG_COUNT_OF(steps); i++)
        class = steps[i](&reading);
    tg_db_rollback(main_db);
    for (size_t i = 0; class == TG_OK && i < log.sum_count; i++) {
        struct tg_audit_user *user = find_user(&books, log.sums[i].user_id);

        if (user != NULL)
            user->logged = log.sums[i].quota;
        else
            books.counts.orphans++;
    }
    if (class == TG_OK)
        *ret = books;
    return class;
}
