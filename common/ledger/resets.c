#include "common/ledger/resets.h"

#include "common/base/log.h"
#include "common/ledger/period.h"
#include "common/store/plan_reset.h"

#include <inttypes.h>

enum { ROUND = 200, SECOND_US = 1000000 };

/* A zone that this machine does not know must not stop a plan for ever. */
static enum tg_class load_zone(const char *name, struct tg_zone **ret, struct tg_error *err)
{
    struct tg_error why;

    if (tg_zone_load(name, ret, &why) == TG_OK)
        return TG_OK;
    tg_log_error(TG_LOG_ERROR, "resets", &why);
    return tg_zone_load("UTC", ret, err);
}

static enum tg_class begin_next(struct tg_db *db, const struct tg_plan_due *due,
                                struct tg_error *err)
{
    struct tg_zone *zone;
    int64_t end_s;
    enum tg_class class = load_zone(due->zone, &zone, err);
    bool known;

    if (class != TG_OK)
        return class;
    known = tg_period_next_end(due->period, zone, due->end_unix_us / SECOND_US,
                               due->now_unix_us / SECOND_US, &end_s);
    tg_zone_free(zone);
    if (known)
        return tg_plan_reset_put(db, due, end_s * SECOND_US, err);
    tg_log(TG_LOG_ERROR, "resets", "subscription %" PRId64 " has no period that is known: '%s'",
           due->subscription_id, due->period);
    return TG_OK;
}

enum tg_class tg_resets_round(struct tg_db *db, struct tg_error *err)
{
    struct tg_arena *arena = tg_arena_new();
    struct tg_plan_due_list due = {0};
    enum tg_class class = tg_plan_due(db, arena, ROUND, &due, err);

    for (size_t i = 0; class == TG_OK && i < due.count; i++)
        class = begin_next(db, &due.plans[i], err);
    tg_arena_free(arena);
    return class;
}
