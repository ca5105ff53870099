#include "common/json/json.h"
#include "fcgi-app/count/estimate.h"
#include "fcgi-app/stages.h"
#include "fcgi-app/worker.h"

/* Price and deposit of every model in the plan; all of it is copied, so that a change in
 * mid-request changes nothing. */
static enum tg_class set_price(struct tg_request *req, const struct tg_snapshot *snapshot,
                               struct tg_quote *quote)
{
    const struct tg_price *price = tg_snapshot_price(snapshot, quote->model);

    if (price == NULL)
        return tg_fail(&req->error, TG_CLASS_UNPRICED, "price_not_configured",
                       "No price is configured for the model `%s`.", quote->model);
    quote->price = tg_price_copy(req->arena, price);
    return TG_OK;
}

static enum tg_class set_deposit(struct tg_request *req, struct tg_quote *quote)
{
    const struct tg_conf *conf = tg_worker_settings(req->worker)->conf;
    const struct tg_deposit_facts facts = {
        .input_tokens = req->input_estimate,
        .max_output_tokens = req->max_output_tokens,
        .default_output = tg_conf_int(conf, TG_OPTION_DEPOSIT_OUTPUT),
        .calls = 1,
        .factor = tg_conf_text(conf, TG_OPTION_DEPOSIT_FACTOR),
        .group_ratio = quote->group_ratio,
    };

    return tg_deposit(&quote->price, &facts, &quote->deposit_quota, &req->error);
}

static enum tg_class set_quote(struct tg_request *req, const struct tg_snapshot *snapshot,
                               struct tg_quote *quote)
{
    enum tg_class class = set_price(req, snapshot, quote);

    return class == TG_OK ? set_deposit(req, quote) : class;
}

enum tg_verdict tg_stage_estimate(struct tg_request *req)
{
    const struct tg_snapshot *snapshot = tg_snapshot_acquire(req->worker->snapshots);
    enum tg_class class = TG_OK;

    if (snapshot == NULL) {
        (void)tg_fail(&req->error, TG_CLASS_OVERLOAD, "routing_unavailable",
                      "The gateway has no routing data yet. Try again later.");
        return TG_ANSWER;
    }
    req->input_estimate = tg_estimate_chat(req->json, req->model);
    for (size_t i = 0; i < req->quote_count && class == TG_OK; i++)
        class = set_quote(req, snapshot, &req->quotes[i]);
    tg_snapshot_release(req->worker->snapshots, snapshot);
    return class == TG_OK ? TG_NEXT : TG_ANSWER;
}
