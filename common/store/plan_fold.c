#include "common/store/plan_fold.h"

#include "common/store/read.h"

/* A plan, as it is before the entry at hand. */
struct plan {
    int64_t remain, bound, period;
};

/* One entry at a time: plans of a site without Redis are few. */
static enum tg_class read_plan(struct tg_db *db, int64_t id, struct plan *ret,
                               struct tg_error *err)
{
    static const char sql[] = "SELECT remain_quota, offline_quota, period_number"
                              " FROM subscriptions WHERE id = ? FOR UPDATE";
    const struct tg_db_value values[] = {TG_DB_I(id)};
    struct tg_db_rows *rows;
    enum tg_class class = tg_db_select(db, sql, values, 1, &rows);

    if (class != TG_OK)
        return tg_store_failed(db, class, err);
    if (tg_db_next(rows))
        *ret = (struct plan){.remain = tg_db_int(rows, 0),
                             .bound = tg_db_int(rows, 1),
                             .period = tg_db_int(rows, 2)};
    tg_db_rows_free(rows);
    return TG_OK;
}

/* What entries before this one in the same batch do to the plan. */
static void go_through(struct plan *plan, const struct tg_entry *entries, size_t count, int64_t id)
{
    for (size_t i = 0; i < count; i++) {
        if (entries[i].funding.plan_id != id)
            continue;
        plan->remain -= entries[i].plan_quota;
        if (entries[i].kind == TG_ENTRY_RESET)
            plan->period = TG_MAX(plan->period, entries[i].funding.period);
    }
}

static void decide(const struct plan *plan, struct tg_entry *entry)
{
    if (entry->kind != TG_ENTRY_RESET) {
        entry->plan_quota = entry->funding.period == plan->period ? entry->amount_quota : 0;
        return;
    }
    entry->plan_quota = 0;
    if (entry->funding.period > plan->period)
        entry->plan_quota =
            plan->remain - entry->grant_quota - TG_MIN(plan->remain - plan->bound, 0);
    entry->amount_quota = entry->plan_quota;
}

static enum tg_class tell(struct tg_db *db, const struct tg_entry *entry, struct tg_error *err)
{
    static const char sql[] =
        "UPDATE ledger_entry SET plan_quota = ?, amount_quota = ? WHERE request_id = ?";
    const struct tg_db_value values[] = {TG_DB_I(entry->plan_quota),
                                         TG_DB_I(entry->amount_quota),
                                         TG_DB_B(entry->id.bytes, TG_ID_BYTES)};

    return tg_db_run(db, sql, values, TG_COUNT_OF(values), err);
}

enum tg_class tg_plan_fold(struct tg_db *db, struct tg_entry *entries, size_t count,
                           struct tg_error *err)
{
    enum tg_class class = TG_OK;

    for (size_t i = 0; class == TG_OK && i < count; i++) {
        struct plan plan = {0};

        class = read_plan(db, entries[i].funding.plan_id, &plan, err);
        if (class != TG_OK)
            break;
        go_through(&plan, entries, i, entries[i].funding.plan_id);
        decide(&plan, &entries[i]);
        class = tell(db, &entries[i], err);
    }
    return class;
}
