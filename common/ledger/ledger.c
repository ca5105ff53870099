#include "common/ledger/run.h"

#include "common/base/memory.h"
#include "common/ledger/offline.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PLANS_MOST = 16 /* of a funding list */, OFFLINE_AFTER_US = 3000000 };

struct tg_ledger *tg_ledger_new(const struct tg_ledger_conf *conf)
{
    struct tg_ledger *ledger = tg_calloc(1, sizeof *ledger);

    /* The name is a word of the hold's text. */
    tg_assert(conf->node[0] != '\0' && strlen(conf->node) < sizeof ledger->node &&
              strpbrk(conf->node, " \t\r\n\v\f") == NULL);
    ledger->conf = *conf;
    snprintf(ledger->node, sizeof ledger->node, "%s", conf->node);
    ledger->lease_ms = conf->lease_us / 1000;
    ledger->mode = conf->mode != NULL ? conf->mode : &ledger->own_mode;
    if (conf->offline_after_us == 0)
        ledger->conf.offline_after_us = OFFLINE_AFTER_US;
    pthread_mutex_init(&ledger->refreshing, NULL);
    ledger->refreshed_at_us = INT64_MIN / 2;
    return ledger;
}

void tg_ledger_free(struct tg_ledger *ledger)
{
    if (ledger == NULL)
        return;
    pthread_mutex_destroy(&ledger->refreshing);
    free(ledger);
}

int tg_shard_of(int64_t user_id)
{
    tg_assert(user_id >= 0);
    return (int)(user_id % TG_SHARDS);
}

static struct tg_run start_run(struct tg_ledger *ledger, struct tg_step *step, int64_t user_id,
                               struct tg_error *err)
{
    return (struct tg_run){.ledger = ledger, .step = step, .user_id = user_id, .err = err};
}

/* ---- the steps */

static void build_reserve(struct tg_step *step, const struct tg_ledger *ledger,
                          const struct tg_reserve *reserve)
{
    tg_step_begin(step, &tg_script_reserve, tg_shard_of(reserve->user_id));
    tg_step_key(step, "state");
    tg_step_key_of(step, "user", reserve->user_id);
    tg_step_key_of(step, "token", reserve->token_id);
    tg_step_key(step, "holds");
    tg_step_key(step, "ended");
    for (size_t i = 0; i < reserve->funding_count; i++)
        if (reserve->funding[i].plan_id != 0)
            tg_step_key_of(step, "sub", reserve->funding[i].plan_id);
    tg_step_fence(step);
    tg_step_span(step, reserve->request_id.bytes, TG_ID_BYTES);
    tg_step_int(step, reserve->user_id);
    tg_step_int(step, reserve->token_id);
    tg_step_int(step, reserve->amount_quota);
    tg_step_int(step, reserve->trust_quota);
    tg_step_int(step, reserve->authver);
    tg_step_span(step, ledger->node, strlen(ledger->node));
    tg_step_int(step, ledger->conf.worker);
    tg_step_int(step, ledger->lease_ms);
    for (size_t i = 0; i < reserve->funding_count; i++)
        tg_step_int(step, reserve->funding[i].plan_id);
}

enum tg_ledger_answer tg_ledger_reserve(struct tg_ledger *ledger, const struct tg_reserve *reserve,
                                        int64_t deadline_at_us, struct tg_funding *ret_funding,
                                        struct tg_error *err)
{
    struct tg_error own;
    struct tg_step step;
    struct tg_outcome outcome;
    struct tg_run run = start_run(ledger, &step, reserve->user_id, err != NULL ? err : &own);
    enum tg_ledger_answer answer;

    tg_assert(reserve->funding_count > 0 && reserve->funding_count <= PLANS_MOST);
    if (tg_mode_is_offline(ledger, tg_shard_of(reserve->user_id)))
        return tg_offline_step_reserve(ledger, reserve, deadline_at_us, ret_funding, run.err);
    run.token_id = reserve->token_id;
    run.funding = reserve->funding;
    run.funding_count = reserve->funding_count;
    run.deadline_at_us = deadline_at_us;
    build_reserve(&step, ledger, reserve);
    answer = tg_run_to_answer(&run, &outcome);
    if (answer == TG_LEDGER_OK)
        *ret_funding = (struct tg_funding){outcome.numbers[0], outcome.numbers[1]};
    if (answer == TG_LEDGER_TOKEN_SHORT && outcome.numbers[0] <= 0)
        tg_fail(run.err, TG_CLASS_AUTH, "token_exhausted", "nothing is left of the token's limit");
    else if (answer == TG_LEDGER_TOKEN_SHORT)
        tg_fail(run.err, TG_CLASS_FUNDS, "token_quota_insufficient",
                "the token's limit leaves %" PRId64 " quota", outcome.numbers[0]);
    return answer;
}

static void build_extend(struct tg_step *step, const struct tg_ledger *ledger,
                         const struct tg_extend *extend)
{
    tg_step_begin(step, &tg_script_extend, tg_shard_of(extend->user_id));
    tg_step_key(step, "state");
    tg_step_key_of(step, "user", extend->user_id);
    tg_step_key_of(step, "token", extend->token_id);
    tg_step_key(step, "holds");
    tg_step_key(step, "ended");
    if (extend->funding.plan_id != 0)
        tg_step_key_of(step, "sub", extend->funding.plan_id);
    tg_step_fence(step);
    tg_step_span(step, extend->request_id.bytes, TG_ID_BYTES);
    tg_step_int(step, extend->user_id);
    tg_step_int(step, extend->token_id);
    tg_step_int(step, extend->funding.plan_id);
    tg_step_int(step, extend->amount_quota);
    tg_step_int(step, extend->earned_quota);
    tg_step_int(step, extend->refuse_when_short ? 1 : 0);
    tg_step_span(step, ledger->node, strlen(ledger->node));
    tg_step_int(step, ledger->conf.worker);
    tg_step_int(step, ledger->lease_ms);
    tg_step_int(step, extend->funding.period);
}

enum tg_ledger_answer tg_ledger_extend(struct tg_ledger *ledger, const struct tg_extend *extend,
                                       int64_t deadline_at_us, struct tg_error *err)
{
    struct tg_error own;
    struct tg_step step;
    struct tg_outcome outcome;
    struct tg_run run = start_run(ledger, &step, extend->user_id, err != NULL ? err : &own);

    if (tg_mode_is_offline(ledger, tg_shard_of(extend->user_id)))
        return tg_offline_step_extend(ledger, extend, deadline_at_us, run.err);
    run.token_id = extend->token_id;
    run.funding = &extend->funding;
    run.funding_count = 1;
    run.deadline_at_us = deadline_at_us;
    build_extend(&step, ledger, extend);
    return tg_run_to_answer(&run, &outcome);
}

static void build_settle(struct tg_step *step, const struct tg_entry *entry, int64_t plan_id)
{
    const char *kind = tg_entry_kind_name(entry->kind);
    bool adjust = entry->kind == TG_ENTRY_ADJUST;

    tg_step_begin(step, &tg_script_settle, tg_shard_of(entry->user_id));
    tg_step_key(step, "state");
    tg_step_key_of(step, "user", entry->user_id);
    tg_step_key(step, "holds");
    tg_step_key(step, "ended");
    tg_step_key(step, "journal");
    if (entry->token_id != 0)
        tg_step_key_of(step, "token", entry->token_id);
    if (plan_id != 0)
        tg_step_key_of(step, "sub", plan_id);
    tg_step_fence(step);
    tg_step_span(step, entry->id.bytes, TG_ID_BYTES);
    tg_step_span(step, kind, strlen(kind));
    tg_step_int(step, entry->user_id);
    tg_step_int(step, entry->token_id);
    tg_step_int(step, plan_id);
    tg_step_int(step, entry->amount_quota);
    tg_step_int(step, entry->channel_id);
    tg_step_int(step, adjust ? entry->token_delta_quota : 0);
    tg_step_int(step, adjust ? entry->token_unlimited : -1);
    tg_step_int(step, adjust ? entry->authver : 0);
    tg_step_span(step, entry->record.ptr, entry->record.len);
    tg_step_int(step, entry->funding.period);
}

static void build_reset(struct tg_step *step, const struct tg_entry *entry)
{
    tg_step_begin(step, &tg_script_reset, tg_shard_of(entry->user_id));
    tg_step_key(step, "state");
    tg_step_key_of(step, "sub", entry->funding.plan_id);
    tg_step_key(step, "holds");
    tg_step_key(step, "ended");
    tg_step_key(step, "journal");
    tg_step_fence(step);
    tg_step_span(step, entry->id.bytes, TG_ID_BYTES);
    tg_step_int(step, entry->user_id);
    tg_step_int(step, entry->funding.plan_id);
    tg_step_int(step, entry->grant_quota);
    tg_step_int(step, entry->funding.period);
    tg_step_span(step, entry->record.ptr, entry->record.len);
}

enum tg_ledger_answer tg_ledger_settle_in(struct tg_ledger *ledger, int64_t epoch,
                                          const struct tg_entry *entry, int64_t deadline_at_us,
                                          struct tg_error *err)
{
    struct tg_error own;
    struct tg_step step;
    struct tg_outcome outcome;
    struct tg_funding funding = entry->funding;
    struct tg_run run = start_run(ledger, &step, entry->user_id, err != NULL ? err : &own);
    enum tg_ledger_answer answer;

    run.token_id = entry->token_id;
    run.funding = &funding;
    run.funding_count = 1;
    run.only_epoch = epoch;
    run.deadline_at_us = deadline_at_us;
    if (entry->kind == TG_ENTRY_RESET)
        build_reset(&step, entry);
    else
        build_settle(&step, entry, funding.plan_id);
    answer = tg_run_to_answer(&run, &outcome);
    if (answer != TG_LEDGER_UNAVAILABLE || outcome.word != TG_WORD_PLAN)
        return answer;
    funding.plan_id = outcome.numbers[0]; /* what the hold names */
    build_settle(&step, entry, funding.plan_id);
    return tg_run_to_answer(&run, &outcome);
}

enum tg_ledger_answer tg_ledger_settle(struct tg_ledger *ledger, const struct tg_entry *entry,
                                       int64_t deadline_at_us, struct tg_error *err)
{
    struct tg_error own;

    if (tg_mode_is_offline(ledger, tg_shard_of(entry->user_id)))
        return tg_offline_step_settle(ledger, entry, deadline_at_us, err != NULL ? err : &own);
    return tg_ledger_settle_in(ledger, 0, entry, deadline_at_us, err);
}

enum tg_ledger_answer tg_ledger_look(struct tg_ledger *ledger, int64_t user_id,
                                     int64_t deadline_at_us, struct tg_live_account *ret,
                                     struct tg_error *err)
{
    struct tg_error own;
    struct tg_step step;
    struct tg_outcome outcome;
    struct tg_run run = start_run(ledger, &step, user_id, err != NULL ? err : &own);
    enum tg_ledger_answer answer;

    run.deadline_at_us = deadline_at_us;
    tg_step_begin(&step, &tg_script_look, tg_shard_of(user_id));
    tg_step_key(&step, "state");
    tg_step_key_of(&step, "user", user_id);
    tg_step_key(&step, "holds");
    tg_step_fence(&step);
    tg_step_int(&step, user_id);
    answer = tg_run_to_answer(&run, &outcome);
    if (answer == TG_LEDGER_OK)
        *ret = (struct tg_live_account){.quota = outcome.numbers[0],
                                        .used = outcome.numbers[1],
                                        .held_quota = outcome.numbers[2],
                                        .authver = outcome.numbers[3]};
    return answer;
}
