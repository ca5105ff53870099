#include "fcgi-app/estimate.h"

#include "common/base/log.h"
#include "fcgi-app/count/prompt.h"
#include "fcgi-app/endpoint.h"
#include "fcgi-app/stages.h"
#include "fcgi-app/worker.h"

#include <stdio.h>
#include <string.h>

/* price.unpriced: does a model without a price cost the default one for this user? */
static bool takes_default(const struct tg_request *req, const struct tg_conf *conf)
{
    const char *rule = tg_conf_text(conf, TG_OPTION_PRICE_UNPRICED);

    return strcmp(rule, "bill") == 0 ||
           (strcmp(rule, "opt_in") == 0 && req->credential->accepts_unpriced);
}

static struct tg_price default_price(const struct tg_conf *conf)
{
    struct tg_price price = {.form = TG_PRICE_TOKEN};

    snprintf(price.rates.input, sizeof price.rates.input, "%s",
             tg_conf_text(conf, TG_OPTION_PRICE_DEFAULT_INPUT));
    snprintf(price.rates.output, sizeof price.rates.output, "%s",
             tg_conf_text(conf, TG_OPTION_PRICE_DEFAULT_OUTPUT));
    tg_price_hash(&price);
    return price;
}

/* Price and deposit of every model in the plan; all of it is copied, so that a change in
 * mid-request changes nothing. */
static enum tg_class set_price(struct tg_request *req, const struct tg_snapshot *snapshot,
                               struct tg_quote *quote)
{
    const struct tg_conf *conf = tg_worker_settings(req->worker)->conf;
    const struct tg_price *price = tg_snapshot_price(snapshot, quote->model);

    if (price != NULL)
        quote->price = tg_price_copy(req->arena, price);
    else if (takes_default(req, conf))
        quote->price = default_price(conf);
    else
        return tg_fail(&req->error, TG_CLASS_UNPRICED, "price_not_configured",
                       "No price is configured for the model `%s`.", quote->model);
    return TG_OK;
}

enum tg_class tg_quote_deposit(const struct tg_request *req, struct tg_quote *quote,
                               struct tg_error *err)
{
    const struct tg_conf *conf = tg_worker_settings(req->worker)->conf;
    const struct tg_deposit_facts facts = {
        .input_tokens = req->input_estimate,
        .max_output_tokens = req->max_output_tokens,
        .default_output = tg_conf_int(conf, TG_OPTION_DEPOSIT_OUTPUT),
        .calls = req->answers,
        .factor = quote->deposit_factor,
        .group_ratio = quote->group_ratio,
    };
    struct tg_error why;
    enum tg_class class = tg_deposit(&quote->price, &facts, &quote->deposit_quota, &why);

    if (class == TG_CLASS_FUNDS)
        *err = why;
    if (class == TG_OK || class == TG_CLASS_FUNDS)
        return class;
    /* A row that no command of ours would have written. */
    tg_log(TG_LOG_ERROR, "price", "the price of %s cannot be used: %s", quote->model, why.message);
    return tg_fail(err, TG_CLASS_UNPRICED, "price_not_configured",
                   "The price of the model `%s` cannot be used.", quote->model);
}

static enum tg_class set_quote(struct tg_request *req, const struct tg_snapshot *snapshot,
                               struct tg_quote *quote)
{
    const struct tg_conf *conf = tg_worker_settings(req->worker)->conf;
    const char *factor = tg_snapshot_deposit_factor(snapshot, quote->group);
    enum tg_class class = set_price(req, snapshot, quote);

    quote->deposit_factor = factor[0] != '\0' ? tg_arena_strdup(req->arena, factor)
                                              : tg_conf_text(conf, TG_OPTION_DEPOSIT_FACTOR);
    return class == TG_OK ? tg_quote_deposit(req, quote, &req->error) : class;
}

int64_t tg_estimate_prompt(const struct tg_request *req)
{
    static tg_prompt_fn *const counts[] = {
        [TG_PROTOCOL_CHAT] = tg_prompt_chat,
        [TG_PROTOCOL_RESPONSES] = tg_prompt_responses,
        [TG_PROTOCOL_MESSAGES] = tg_prompt_messages,
        [TG_PROTOCOL_GEMINI] = tg_prompt_gemini,
    };

    return counts[req->endpoint->protocol](req->worker->encoders, req->json, req->model);
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
    req->input_estimate = tg_estimate_prompt(req);
    for (size_t i = 0; i < req->quote_count && class == TG_OK; i++)
        class = set_quote(req, snapshot, &req->quotes[i]);
    tg_snapshot_release(req->worker->snapshots, snapshot);
    return class == TG_OK ? TG_NEXT : TG_ANSWER;
}
