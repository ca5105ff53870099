#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/stop.h"
#include "fcgi-app/stages.h"
#include "fcgi-app/worker.h"

#include <stdlib.h>

enum { FUNDING_MOST = 8 };

/* What the first attempt may need; a dearer model raises it when it is tried. */
static int64_t deposit_of(const struct tg_request *req)
{
    tg_assert(req->quote_count > 0);
    return req->quotes[0].deposit_quota;
}

static enum tg_verdict refuse(struct tg_request *req, enum tg_class class, const char *code,
                              const char *text)
{
    tg_fail(&req->error, class, code, "%s", text);
    return TG_ANSWER;
}

/* "9 12 0": see credential.h. */
static size_t read_funding(const char *text, struct tg_funding *ret)
{
    size_t count = 0;
    char *rest;

    for (; text != NULL && text[0] != '\0' && count < FUNDING_MOST; text = rest)
        ret[count++] = (struct tg_funding){.plan_id = strtoll(text, &rest, 10)};
    return count;
}

static enum tg_ledger_answer ask(struct tg_request *req, int64_t amount_quota,
                                 struct tg_error *why)
{
    struct tg_funding funding[FUNDING_MOST];
    const struct tg_conf *conf = tg_worker_settings(req->worker)->conf;
    size_t count = read_funding(req->credential->funding, funding);
    const struct tg_reserve reserve = {
        .request_id = req->id,
        .user_id = req->credential->user_id,
        .token_id = req->credential->token_id,
        .funding = funding,
        .funding_count = count,
        .amount_quota = amount_quota,
        .trust_quota = tg_conf_int(conf, TG_OPTION_DEPOSIT_TRUST_USD),
        .authver = req->credential->authver,
    };

    if (count == 0) /* nobody who could pay: plans only, and none is active */
        return TG_LEDGER_USER_SHORT;
    return tg_ledger_reserve(req->worker->ledger, &reserve,
                             tg_now_us() + tg_conf_int(conf, TG_OPTION_LEDGER_RESERVE_TIMEOUT),
                             &req->funding, why);
}

static enum tg_verdict hold(struct tg_request *req, int64_t amount_quota)
{
    TG_STOP("reserved");
    req->held = true;
    req->doubtful = false; /* its authver was compared */
    req->deposit_quota = amount_quota;
    req->renew_at_us =
        tg_now_us() + tg_conf_int(tg_worker_settings(req->worker)->conf, TG_OPTION_HOLD_RENEW);
    return TG_NEXT;
}

static enum tg_verdict refuse_token(struct tg_request *req, const struct tg_error *why)
{
    if (why->class == TG_CLASS_AUTH)
        return refuse(req, TG_CLASS_AUTH, "token_exhausted",
                      "The limit of this API token is used up.");
    return refuse(req, TG_CLASS_FUNDS, "token_quota_insufficient",
                  "What is left of this API token's limit is less than this request may cost.");
}

enum tg_verdict tg_stage_reserve(struct tg_request *req)
{
    int64_t amount_quota = deposit_of(req);
    struct tg_error why = {0};
    enum tg_verdict verdict = tg_idempotent_check(req);
    enum tg_ledger_answer answer;

    if (verdict != TG_NEXT)
        return verdict;
    if (amount_quota == 0) /* free: no hold, the record is written all the same */
        return req->doubtful ? TG_AGAIN : TG_NEXT;
    if (!tg_spool_is_healthy(req->worker->spool))
        return refuse(req, TG_CLASS_OVERLOAD, "overloaded",
                      "The gateway cannot keep its books now. Try again later.");
    answer = ask(req, amount_quota, &why);
    switch (answer) {
    case TG_LEDGER_OK:
        return hold(req, amount_quota);
    case TG_LEDGER_USER_SHORT:
        return refuse(req, TG_CLASS_FUNDS, "insufficient_quota",
                      "The balance of your account is less than this request may cost.");
    case TG_LEDGER_TOKEN_SHORT:
        return refuse_token(req, &why);
    case TG_LEDGER_UNKNOWN_ACCOUNT:
        return refuse(req, TG_CLASS_AUTH, "invalid_api_key", "No valid API token was given.");
    case TG_LEDGER_STALE: /* the user was changed after the credential was read */
        if (!req->looked_again)
            return TG_AGAIN;
        return refuse(req, TG_CLASS_OVERLOAD, "overloaded",
                      "The account is being changed. Try again.");
    case TG_LEDGER_UNAVAILABLE: /* it may have run: settle ends it with a refund */
        tg_log_error(TG_LOG_WARNING, "reserve", &why);
        return refuse(req, TG_CLASS_OVERLOAD, "overloaded",
                      "The gateway cannot reach its books now. Try again later.");
    case TG_LEDGER_ENDED:
    case TG_LEDGER_DUPLICATE:
        break;
    }
    return refuse(req, TG_CLASS_INTERNAL, "internal", "a new request has a hold or an end already");
}
