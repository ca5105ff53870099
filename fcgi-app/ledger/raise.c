#include "common/base/clock.h"
#include "common/base/log.h"
#include "fcgi-app/stages.h"
#include "fcgi-app/worker.h"

static enum tg_class refuse(struct tg_error *err, enum tg_class class, const char *code,
                            const char *text)
{
    tg_fail(err, class, code, "%s", text);
    err->flags |= TG_ERROR_NO_RETRY; /* the next attempt would cost as much */
    return class;
}

static void hold(struct tg_request *req, int64_t deposit_quota)
{
    const struct tg_conf *conf = tg_worker_settings(req->worker)->conf;

    req->held = true;
    req->deposit_quota = deposit_quota;
    req->renew_at_us = tg_now_us() + tg_conf_int(conf, TG_OPTION_HOLD_RENEW);
}

static enum tg_class take_more(struct tg_request *req, int64_t deposit_quota, struct tg_error *err)
{
    const struct tg_conf *conf = tg_worker_settings(req->worker)->conf;
    const struct tg_extend extend = {
        .request_id = req->id,
        .user_id = req->credential->user_id,
        .token_id = req->credential->token_id,
        .funding = req->funding,
        .amount_quota = deposit_quota,
        .refuse_when_short = true,
    };
    struct tg_error why = {0};

    switch (tg_ledger_extend(req->worker->ledger, &extend,
                             tg_now_us() + tg_conf_int(conf, TG_OPTION_LEDGER_RESERVE_TIMEOUT),
                             &why)) {
    case TG_LEDGER_OK:
        hold(req, deposit_quota);
        return TG_OK;
    case TG_LEDGER_USER_SHORT:
        return refuse(err, TG_CLASS_FUNDS, "insufficient_quota",
                      "The balance of your account is less than this request may cost.");
    case TG_LEDGER_TOKEN_SHORT:
        return refuse(err, TG_CLASS_FUNDS, "token_quota_insufficient",
                      "What is left of this API token's limit is less than this request may cost.");
    default:
        tg_log_error(TG_LOG_WARNING, "raise", &why);
        return refuse(err, TG_CLASS_OVERLOAD, "overloaded",
                      "The gateway cannot reach its books now. Try again later.");
    }
}

enum tg_class tg_hold_raise(struct tg_request *req, int64_t deposit_quota, struct tg_error *err)
{
    int64_t has_quota = req->held ? req->deposit_quota : 0;

    return deposit_quota > has_quota ? take_more(req, deposit_quota, err) : TG_OK;
}
