#include "common/store/offline_hold.h"

#include "common/store/offline.h"
#include "common/store/read.h"

#include <stdio.h>
#include <string.h>

/* One transaction. The first failure stops it; an answer other than OK undoes it. */
struct work {
    struct tg_db *db;
    struct tg_error *err;
    enum tg_class class;
};

static int64_t run(struct work *work, const char *sql, const struct tg_db_value *values,
                   size_t count)
{
    if (work->class != TG_OK)
        return 0;
    work->class = tg_db_run(work->db, sql, values, count, work->err);
    return work->class == TG_OK ? tg_db_done(work->db).affected : 0;
}

/* NULL after a failure. */
static struct tg_db_rows *ask(struct work *work, const char *sql,
                              const struct tg_db_value *values, size_t count)
{
    struct tg_db_rows *rows = NULL;

    if (work->class != TG_OK)
        return NULL;
    work->class = tg_db_select(work->db, sql, values, count, &rows);
    if (work->class == TG_OK)
        return rows;
    work->class = tg_store_failed(work->db, work->class, work->err);
    return NULL;
}

static bool exists(struct work *work, const char *sql, const struct tg_id *id)
{
    struct tg_db_value values[] = {TG_DB_B(id->bytes, TG_ID_BYTES)};
    struct tg_db_rows *rows = ask(work, sql, values, 1);
    bool found = rows != NULL && tg_db_next(rows);

    tg_db_rows_free(rows);
    return found;
}

static const char entry_sql[] = "SELECT 1 FROM ledger_entry WHERE request_id = ?";
static const char offline_entry_sql[] = "SELECT 1 FROM offline_entry WHERE request_id = ?";

static bool has_ended(struct work *work, const struct tg_id *id)
{
    return exists(work, entry_sql, id) || exists(work, offline_entry_sql, id);
}

static void begin(struct work *work)
{
    work->class = tg_db_begin(work->db, work->err);
}

static enum tg_class end(struct work *work, bool keep)
{
    if (work->class == TG_OK && keep)
        work->class = tg_db_commit(work->db, work->err);
    if (work->class != TG_OK || !keep)
        tg_db_rollback(work->db);
    return work->class;
}

/* ---- taking money */

#define FREE_OF_OTHERS                                                                  \
    " AND (? < 0 OR offline_quota + ? <= ?"                                             \
    " OR NOT EXISTS (SELECT 1 FROM node WHERE state = 'online'))"

static bool bind_source(struct work *work, const struct tg_offline_hold *hold, int64_t plan_id)
{
    static const char wallet[] =
        "UPDATE users SET offline_quota = offline_quota + ? WHERE id = ?"
        " AND quota - offline_quota >= ?" FREE_OF_OTHERS;
    static const char plan[] =
        "UPDATE subscriptions SET offline_quota = offline_quota + ? WHERE id = ?"
        " AND remain_quota - offline_quota >= ?" FREE_OF_OTHERS;
    const struct tg_db_value values[] = {TG_DB_I(hold->amount_quota),
                                         TG_DB_I(plan_id == 0 ? hold->user_id : plan_id),
                                         TG_DB_I(hold->amount_quota),
                                         TG_DB_I(hold->allowance_quota),
                                         TG_DB_I(hold->amount_quota),
                                         TG_DB_I(hold->allowance_quota)};

    return run(work, plan_id == 0 ? wallet : plan, values, TG_COUNT_OF(values)) > 0;
}

static bool bind_token(struct work *work, const struct tg_offline_hold *hold)
{
    static const char sql[] =
        "UPDATE tokens SET offline_quota = offline_quota + ? WHERE id = ? AND (unlimited"
        " OR (remain_quota - offline_quota > 0 AND remain_quota - offline_quota >= ?))";
    const struct tg_db_value values[] = {TG_DB_I(hold->amount_quota), TG_DB_I(hold->token_id),
                                         TG_DB_I(hold->amount_quota)};

    return run(work, sql, values, TG_COUNT_OF(values)) > 0;
}

/* Unconditional: the request is running already, or has ended. */
static void move(struct work *work, const struct tg_offline_hold *who, int64_t plan_id,
                 int64_t delta)
{
    static const char wallet[] = "UPDATE users SET offline_quota = offline_quota + ? WHERE id = ?";
    static const char plan[] =
        "UPDATE subscriptions SET offline_quota = offline_quota + ? WHERE id = ?";
    static const char token[] = "UPDATE tokens SET offline_quota = offline_quota + ? WHERE id = ?";
    struct tg_db_value values[] = {TG_DB_I(delta),
                                   TG_DB_I(plan_id == 0 ? who->user_id : plan_id)};

    if (delta == 0)
        return;
    run(work, plan_id == 0 ? wallet : plan, values, 2);
    values[1] = TG_DB_I(who->token_id);
    if (who->token_id != 0)
        run(work, token, values, 2);
}

static void insert_hold(struct work *work, const struct tg_offline_hold *hold,
                        const struct tg_funding *funding)
{
    static const char sql[] =
        "INSERT INTO offline_hold (request_id, user_id, token_id, plan_id, plan_period,"
        " amount_quota, node, worker, due_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?,"
        " NOW(6) + INTERVAL ? MICROSECOND)";
    const struct tg_db_value values[] = {TG_DB_B(hold->request_id.bytes, TG_ID_BYTES),
                                         TG_DB_I(hold->user_id),
                                         TG_DB_I(hold->token_id),
                                         TG_DB_I(funding->plan_id),
                                         TG_DB_I(funding->period),
                                         TG_DB_I(hold->amount_quota),
                                         TG_DB_S(hold->node),
                                         TG_DB_I(hold->worker),
                                         TG_DB_I(hold->lease_us)};

    run(work, sql, values, TG_COUNT_OF(values));
}

/* Who is asked for, before anything is taken. The rows are locked in the applier's order. */
static enum tg_offline_answer look_at_accounts(struct work *work,
                                               const struct tg_offline_hold *hold)
{
    static const char sql[] =
        "SELECT u.authver, t.unlimited OR t.remain_quota - t.offline_quota > 0 FROM users u"
        " JOIN tokens t ON t.user_id = u.id AND t.id = ? WHERE u.id = ?";
    const struct tg_db_value values[] = {TG_DB_I(hold->token_id), TG_DB_I(hold->user_id)};
    struct tg_db_rows *rows = ask(work, sql, values, 2);
    enum tg_offline_answer answer = TG_OFFLINE_UNKNOWN;

    if (rows != NULL && tg_db_next(rows))
        answer = hold->authver < tg_db_int(rows, 0) ? TG_OFFLINE_STALE
                 : tg_db_int(rows, 1) == 0          ? TG_OFFLINE_TOKEN_EXHAUSTED
                                                    : TG_OFFLINE_OK;
    tg_db_rows_free(rows);
    return answer;
}

static int64_t period_of(struct work *work, int64_t plan_id)
{
    static const char sql[] = "SELECT period_number FROM subscriptions WHERE id = ?";
    const struct tg_db_value values[] = {TG_DB_I(plan_id)};
    struct tg_db_rows *rows = plan_id == 0 ? NULL : ask(work, sql, values, 1);
    int64_t period = rows != NULL && tg_db_next(rows) ? tg_db_int(rows, 0) : 0;

    tg_db_rows_free(rows);
    return period;
}

static enum tg_offline_answer take(struct work *work, const struct tg_offline_hold *hold,
                                   struct tg_funding *ret_funding)
{
    enum tg_offline_answer answer = look_at_accounts(work, hold);
    bool bound = false;

    if (answer == TG_OFFLINE_OK && has_ended(work, &hold->request_id))
        answer = TG_OFFLINE_ENDED;
    if (answer != TG_OFFLINE_OK)
        return answer;
    for (size_t i = 0; !bound && i < hold->funding_count; i++) {
        *ret_funding = hold->funding[i];
        bound = bind_source(work, hold, ret_funding->plan_id);
    }
    if (!bound)
        return TG_OFFLINE_USER_SHORT;
    ret_funding->period = period_of(work, ret_funding->plan_id);
    return bind_token(work, hold) ? TG_OFFLINE_OK : TG_OFFLINE_TOKEN_SHORT;
}

enum tg_class tg_offline_reserve(struct tg_db *db, const struct tg_offline_hold *hold,
                                 enum tg_offline_answer *ret, struct tg_funding *ret_funding,
                                 struct tg_error *err)
{
    struct tg_error own = {0};
    struct work work = {.db = db, .err = err != NULL ? err : &own};

    begin(&work);
    *ret = take(&work, hold, ret_funding);
    if (*ret == TG_OFFLINE_OK)
        insert_hold(&work, hold, ret_funding);
    (void)end(&work, *ret == TG_OFFLINE_OK);
    if (!tg_store_is_duplicate(work.class, work.err))
        return work.class;
    *ret = TG_OFFLINE_DUPLICATE;
    return TG_OK;
}

/* ---- a hold that is there */

struct held {
    bool found;
    struct tg_funding funding;
    int64_t amount;
};

static struct held find_hold(struct work *work, const struct tg_id *id)
{
    static const char sql[] =
        "SELECT plan_id, amount_quota, plan_period FROM offline_hold WHERE request_id = ?"
        " FOR UPDATE";
    struct tg_db_value values[] = {TG_DB_B(id->bytes, TG_ID_BYTES)};
    struct tg_db_rows *rows = ask(work, sql, values, 1);
    struct held held = {0};

    if (rows != NULL && tg_db_next(rows))
        held = (struct held){
            .found = true,
            .funding = {tg_db_int(rows, 0), tg_db_int(rows, 2)},
            .amount = tg_db_int(rows, 1)};
    tg_db_rows_free(rows);
    return held;
}

static void renew(struct work *work, const struct tg_offline_hold *hold, int64_t amount)
{
    static const char sql[] =
        "UPDATE offline_hold SET amount_quota = ?, earned_quota = ?, node = ?, worker = ?,"
        " due_at = NOW(6) + INTERVAL ? MICROSECOND WHERE request_id = ?";
    const struct tg_db_value values[] = {TG_DB_I(amount),
                                         TG_DB_I(hold->earned_quota),
                                         TG_DB_S(hold->node),
                                         TG_DB_I(hold->worker),
                                         TG_DB_I(hold->lease_us),
                                         TG_DB_B(hold->request_id.bytes, TG_ID_BYTES)};

    run(work, sql, values, TG_COUNT_OF(values));
}

static enum tg_offline_answer raise(struct work *work, const struct tg_offline_hold *hold,
                                    const struct held *held)
{
    struct tg_offline_hold more = *hold;

    more.amount_quota = TG_MAX(hold->amount_quota - held->amount, 0);
    if (!hold->refuse_when_short)
        move(work, hold, held->funding.plan_id, more.amount_quota);
    else if (more.amount_quota > 0 && !bind_source(work, &more, held->funding.plan_id))
        return TG_OFFLINE_USER_SHORT;
    else if (more.amount_quota > 0 && !bind_token(work, &more))
        return TG_OFFLINE_TOKEN_SHORT;
    renew(work, hold, held->amount + more.amount_quota);
    return TG_OFFLINE_OK;
}

enum tg_class tg_offline_extend(struct tg_db *db, const struct tg_offline_hold *hold,
                                enum tg_offline_answer *ret, struct tg_error *err)
{
    struct tg_error own = {0};
    struct work work = {.db = db, .err = err != NULL ? err : &own};
    struct held held;

    begin(&work);
    held = find_hold(&work, &hold->request_id);
    if (held.found)
        *ret = raise(&work, hold, &held);
    else
        *ret = has_ended(&work, &hold->request_id) ? TG_OFFLINE_ENDED : TG_OFFLINE_OK;
    return end(&work, *ret == TG_OFFLINE_OK);
}

/* ---- bills */

static bool insert_entry(struct work *work, const struct tg_entry *entry, const char *node)
{
    static const char sql[] =
        "INSERT INTO offline_entry (request_id, user_id, token_id, plan_id, amount_quota, node,"
        " body) VALUES (?, ?, ?, ?, ?, ?, ?)"
        " ON DUPLICATE KEY UPDATE offline_entry.request_id = offline_entry.request_id";
    struct tg_buf body;
    bool fresh;

    tg_buf_init(&body, 0);
    tg_entry_encode(entry, &body);
    const struct tg_db_value values[] = {TG_DB_B(entry->id.bytes, TG_ID_BYTES),
                                         TG_DB_I(entry->user_id),
                                         TG_DB_I(entry->token_id),
                                         TG_DB_I(entry->funding.plan_id),
                                         TG_DB_I(entry->amount_quota),
                                         TG_DB_S(node),
                                         TG_DB_S(tg_buf_text(&body))};
    fresh = run(work, sql, values, TG_COUNT_OF(values)) > 0;
    tg_buf_done(&body);
    return fresh;
}

/* Known to the books already: what is bound for it is free. */
static void clear(struct work *work, const struct tg_id *id)
{
    char text[TG_ID_TEXT], json[TG_ID_TEXT + 8];

    tg_id_format(id, text);
    snprintf(json, sizeof json, "[\"%s\"]", text);
    if (work->class == TG_OK)
        work->class = tg_offline_clear(work->db, json, work->err);
}

static enum tg_offline_answer bill(struct work *work, const struct tg_entry *entry,
                                   const char *node)
{
    static const char drop[] = "DELETE FROM offline_hold WHERE request_id = ?";
    struct tg_db_value id[] = {TG_DB_B(entry->id.bytes, TG_ID_BYTES)};
    const struct tg_offline_hold who = {.user_id = entry->user_id, .token_id = entry->token_id};
    struct held held = find_hold(work, &entry->id);
    struct tg_entry own = *entry;

    if (exists(work, entry_sql, &entry->id)) {
        clear(work, &entry->id);
        return TG_OFFLINE_ENDED;
    }
    if (held.found)
        own.funding = held.funding; /* refunds go back to where it was taken from */
    if (!insert_entry(work, &own, node))
        return TG_OFFLINE_ENDED;
    move(work, &who, own.funding.plan_id, own.amount_quota - held.amount);
    run(work, drop, id, 1);
    return TG_OFFLINE_OK;
}

enum tg_class tg_offline_settle(struct tg_db *db, const struct tg_entry *entry, const char *node,
                                enum tg_offline_answer *ret, struct tg_error *err)
{
    struct tg_error own = {0};
    struct work work = {.db = db, .err = err != NULL ? err : &own};

    begin(&work);
    *ret = bill(&work, entry, node);
    return end(&work, true);
}

/* ---- for the daemon, and for coming back */

enum tg_class tg_offline_overdue(struct tg_db *db, struct tg_arena *arena, int most,
                                 struct tg_offline_overdue_list *ret, struct tg_error *err)
{
    static const char sql[] =
        "SELECT request_id, user_id, token_id, plan_id, earned_quota, node, worker, plan_period"
        " FROM offline_hold WHERE due_at < NOW(6) ORDER BY due_at LIMIT ?";
    struct tg_db_value values[] = {TG_DB_I(most)};
    struct tg_db_rows *rows;
    enum tg_class class = tg_db_select(db, sql, values, 1, &rows);

    if (class != TG_OK)
        return tg_store_failed(db, class, err);
    ret->holds = tg_arena_calloc(arena, (size_t)most, sizeof *ret->holds);
    ret->count = 0;
    while (tg_db_next(rows)) {
        struct tg_offline_overdue *hold = &ret->holds[ret->count++];

        memcpy(hold->request_id.bytes, tg_db_bytes(rows, 0).ptr, TG_ID_BYTES);
        hold->user_id = tg_db_int(rows, 1);
        hold->token_id = tg_db_int(rows, 2);
        hold->funding = (struct tg_funding){tg_db_int(rows, 3), tg_db_int(rows, 7)};
        hold->earned_quota = tg_db_int(rows, 4);
        hold->node = tg_store_text(arena, rows, 5);
        hold->worker = tg_db_int(rows, 6);
    }
    tg_db_rows_free(rows);
    return TG_OK;
}

enum tg_class tg_offline_waits(struct tg_db *db, const char *node, int64_t older_us, bool *ret,
                               struct tg_error *err)
{
    static const char sql[] = "SELECT 1 FROM offline_entry WHERE node = ?"
                              " AND at < NOW(6) - INTERVAL ? MICROSECOND LIMIT 1";
    const struct tg_db_value values[] = {TG_DB_S(node), TG_DB_I(older_us)};
    struct tg_db_rows *rows;
    enum tg_class class = tg_db_select(db, sql, values, 2, &rows);

    if (class != TG_OK)
        return tg_store_failed(db, class, err);
    *ret = tg_db_next(rows);
    tg_db_rows_free(rows);
    return TG_OK;
}
