#include "common/ledger/offline.h"

#include "common/ledger/run.h"
#include "common/store/offline_hold.h"

#include <string.h>

enum { TRIES = 3 }; /* of a transaction that a deadlock undid */

static bool worth_a_repeat(enum tg_class class, const struct tg_error *err)
{
    return class == TG_CLASS_CONFLICT && strcmp(err->code, "db_retry") == 0;
}

static enum tg_ledger_answer translate(enum tg_class class, enum tg_offline_answer answer,
                                       struct tg_error *err)
{
    if (class != TG_OK)
        return TG_LEDGER_UNAVAILABLE;
    switch (answer) {
    case TG_OFFLINE_OK:
        return TG_LEDGER_OK;
    case TG_OFFLINE_ENDED:
        return TG_LEDGER_ENDED;
    case TG_OFFLINE_DUPLICATE:
        return TG_LEDGER_DUPLICATE;
    case TG_OFFLINE_STALE:
        return TG_LEDGER_STALE;
    case TG_OFFLINE_USER_SHORT:
        return TG_LEDGER_USER_SHORT;
    case TG_OFFLINE_TOKEN_EXHAUSTED:
        tg_fail(err, TG_CLASS_AUTH, "token_exhausted", "nothing is left of the token's limit");
        return TG_LEDGER_TOKEN_SHORT;
    case TG_OFFLINE_TOKEN_SHORT:
        tg_fail(err, TG_CLASS_FUNDS, "token_quota_insufficient",
                "the token's limit leaves less than this deposit");
        return TG_LEDGER_TOKEN_SHORT;
    case TG_OFFLINE_UNKNOWN:
        break;
    }
    return TG_LEDGER_UNKNOWN_ACCOUNT;
}

/* One step, as any of them: a transaction that is repeated when a deadlock undid it. */
struct offline_call {
    enum tg_class (*act)(struct tg_db *db, struct offline_call *call, struct tg_error *err);
    struct tg_offline_hold hold;
    const struct tg_entry *entry;
    struct tg_funding funding; /* whose money reserve took */
    enum tg_offline_answer answer;
};

static enum tg_ledger_answer run(struct tg_ledger *ledger, struct offline_call *call,
                                 int64_t deadline_at_us, struct tg_error *err)
{
    struct tg_db *db;
    enum tg_class class = tg_db_acquire(ledger->conf.main_db, deadline_at_us, &db, err);

    if (class != TG_OK)
        return TG_LEDGER_UNAVAILABLE;
    call->hold.node = ledger->node;
    call->hold.worker = ledger->conf.worker;
    call->hold.lease_us = ledger->conf.lease_us;
    call->hold.allowance_quota = ledger->conf.single ? -1 : ledger->conf.allowance_quota;
    for (int i = 0; i == 0 || (i < TRIES && worth_a_repeat(class, err)); i++)
        class = call->act(db, call, err);
    tg_db_release(db);
    return translate(class, call->answer, err);
}

static enum tg_class reserve_once(struct tg_db *db, struct offline_call *call,
                                  struct tg_error *err)
{
    return tg_offline_reserve(db, &call->hold, &call->answer, &call->funding, err);
}

static enum tg_class extend_once(struct tg_db *db, struct offline_call *call,
                                 struct tg_error *err)
{
    return tg_offline_extend(db, &call->hold, &call->answer, err);
}

static enum tg_class settle_once(struct tg_db *db, struct offline_call *call,
                                 struct tg_error *err)
{
    return tg_offline_settle(db, call->entry, call->hold.node, &call->answer, err);
}

enum tg_ledger_answer tg_offline_step_reserve(struct tg_ledger *ledger,
                                              const struct tg_reserve *reserve,
                                              int64_t deadline_at_us,
                                              struct tg_funding *ret_funding,
                                              struct tg_error *err)
{
    struct offline_call call = {.act = reserve_once,
                                .funding = *ret_funding,
                                .hold = {.request_id = reserve->request_id,
                                         .user_id = reserve->user_id,
                                         .token_id = reserve->token_id,
                                         .funding = reserve->funding,
                                         .funding_count = reserve->funding_count,
                                         .amount_quota = reserve->amount_quota,
                                         .authver = reserve->authver}};
    enum tg_ledger_answer answer = run(ledger, &call, deadline_at_us, err);

    *ret_funding = call.funding;
    return answer;
}

enum tg_ledger_answer tg_offline_step_extend(struct tg_ledger *ledger,
                                             const struct tg_extend *extend,
                                             int64_t deadline_at_us, struct tg_error *err)
{
    struct offline_call call = {.act = extend_once,
                                .hold = {.request_id = extend->request_id,
                                         .user_id = extend->user_id,
                                         .token_id = extend->token_id,
                                         .amount_quota = extend->amount_quota,
                                         .earned_quota = extend->earned_quota,
                                         .refuse_when_short = extend->refuse_when_short}};

    return run(ledger, &call, deadline_at_us, err);
}

enum tg_ledger_answer tg_offline_step_settle(struct tg_ledger *ledger,
                                             const struct tg_entry *entry,
                                             int64_t deadline_at_us, struct tg_error *err)
{
    struct offline_call call = {.act = settle_once, .entry = entry};

    return run(ledger, &call, deadline_at_us, err);
}
