#include "common/base/clock.h"
#include "common/base/log.h"
#include "fcgi-app/stages.h"
#include "fcgi-app/worker.h"

enum { AGAIN_US = 5000000, NEVER_US = INT64_C(3600000000) };

/* What the stream has cost so far: charged if this worker dies, so that what was delivered is not
 * lost, and the size the deposit must have, so that the same money is not promised twice. */
static int64_t earned_by(const struct tg_request *req, int64_t output_tokens)
{
    const struct tg_quote *quote = req->trying != NULL ? req->trying : &req->quotes[0];
    const struct tg_usage usage = {.semantics = TG_USAGE_INPUT_INCLUDES_CACHE,
                                   .source = TG_USAGE_COUNTED_LOCALLY,
                                   .input = req->input_estimate,
                                   .output = output_tokens};
    int64_t quota;

    if (output_tokens == 0 ||
        tg_bill(&quote->price, &usage, quote->group_ratio, NULL, &quota) != TG_OK)
        return 0; /* nothing delivered, nothing owed (R3) */
    return quota;
}

int64_t tg_hold_wake_at_us(const struct tg_request *req)
{
    return req->held ? req->renew_at_us : INT64_MAX;
}

void tg_hold_tick(struct tg_request *req, int64_t now_us, int64_t output_tokens)
{
    const struct tg_conf *conf = tg_worker_settings(req->worker)->conf;
    struct tg_error err = {0};
    struct tg_extend extend;

    if (!req->held || now_us < req->renew_at_us)
        return;
    extend = (struct tg_extend){
        .request_id = req->id,
        .user_id = req->credential->user_id,
        .token_id = req->credential->token_id,
        .funding = req->funding,
        .earned_quota = earned_by(req, output_tokens),
    };
    extend.amount_quota = TG_MAX(req->deposit_quota, extend.earned_quota);
    switch (tg_ledger_extend(req->worker->ledger, &extend,
                             tg_now_us() + tg_conf_int(conf, TG_OPTION_LEDGER_SETTLE_TIMEOUT),
                             &err)) {
    case TG_LEDGER_OK:
        req->deposit_quota = extend.amount_quota;
        req->renew_at_us = now_us + tg_conf_int(conf, TG_OPTION_HOLD_RENEW);
        tg_idempotent_tick(req);
        return;
    case TG_LEDGER_ENDED: /* this node was given up by an operator: nothing is left to renew */
        tg_log(TG_LOG_WARNING, "hold", "request %s has been ended by somebody else", req->id_text);
        req->renew_at_us = now_us + NEVER_US;
        return;
    default:
        tg_log_error(TG_LOG_WARNING, "hold", &err);
        req->renew_at_us = now_us + TG_MIN(tg_conf_int(conf, TG_OPTION_HOLD_RENEW), AGAIN_US);
    }
}
