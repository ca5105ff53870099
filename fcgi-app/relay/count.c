/* Tokens of a prompt, free of charge: an upstream of the client's own protocol is asked with the
 * client's bytes; without one, or when none can say, they are counted here. */
#include "common/base/clock.h"
#include "common/json/writer.h"
#include "fcgi-app/answers.h"
#include "fcgi-app/estimate.h"
#include "fcgi-app/relay/ask.h"
#include "fcgi-app/relay/relay.h"
#include "fcgi-app/reply.h"
#include "fcgi-app/shared.h"

#include <string.h>

enum { COUNT_LIMIT_US = 30000000, ANSWER_MOST = 64 * 1024 };

/* What the client's protocol calls the number. */
static const char *count_key(const struct tg_request *req)
{
    return req->endpoint->protocol == TG_PROTOCOL_GEMINI ? "totalTokens" : "input_tokens";
}

/* True: the request is answered, or refused for what it says. */
static bool settle(struct tg_request *req, struct tg_ask *ask)
{
    struct tg_span body = {tg_buf_text(&ask->body), ask->body.len};
    struct tg_json_place place;

    if (ask->error.class == TG_OK && tg_json_find(body.ptr, body.len, count_key(req), &place)) {
        tg_reply_set_json(req, 200, body.ptr, body.len);
        return true;
    }
    if ((ask->error.flags & TG_ERROR_NO_RETRY) == 0)
        return false;
    req->error = ask->error;
    return true;
}

static bool ask_channel(struct tg_request *req, const struct tg_choice *choice)
{
    const struct tg_provider_input input = {
        .arena = req->arena,
        .channel = &choice->channel,
        .body = req->body,
        .client_model = req->model,
        .model = req->model,
        .counts = true,
        .client = req->endpoint->protocol,
        .json = req->json,
        .anthropic_version = tg_relay_client_header(req, "anthropic-version"),
        .anthropic_beta = tg_relay_client_header(req, "anthropic-beta"),
    };
    struct tg_provider_call call = {0};
    struct tg_ask ask = {.channel = &choice->channel,
                         .call = &call,
                         .limit_us = COUNT_LIMIT_US,
                         .most = ANSWER_MOST};
    struct tg_error err;
    bool settled;

    if (choice->provider->prepare(&input, &call, &err) != TG_OK)
        return false;
    tg_ask_run(req, &ask);
    settled = settle(req, &ask);
    tg_ask_done(&ask);
    return settled;
}

/* A count says nothing about whether the channel serves the model. */
static void give_back(const struct tg_relay *relay, const struct tg_choice *choice)
{
    const struct tg_breaker_rules rules = tg_relay_breaker_rules(relay->settings->conf);

    (void)tg_breaker_report(tg_shared_breakers(relay->req->worker->shared), &rules, &choice->pass,
                            TG_BREAKER_NEUTRAL, tg_now_us());
}

static bool ask_upstreams(struct tg_request *req)
{
    struct tg_relay relay = {.req = req,
                             .settings = tg_worker_settings(req->worker),
                             .quote = &req->quotes[0],
                             .native_only = true};
    struct tg_choice choice;
    struct tg_error err;
    bool settled = false, fits = true;

    while (fits && !settled && tg_relay_choose(&relay, &choice, &err) == TG_OK) {
        fits = choice.provider != NULL &&
               choice.provider->protocol == req->endpoint->protocol &&
               !tg_relay_was_tried(&relay, choice.channel.id);
        settled = fits && ask_channel(req, &choice);
        give_back(&relay, &choice);
        tg_relay_mark_tried(&relay, choice.channel.id);
    }
    return settled;
}

void tg_answer_count(struct tg_request *req)
{
    struct tg_json_writer json;
    struct tg_buf body;

    if (ask_upstreams(req))
        return;
    tg_buf_init(&body, 0);
    tg_json_writer_init(&json, &body);
    tg_json_begin_object(&json);
    if (req->endpoint->protocol == TG_PROTOCOL_RESPONSES)
        tg_json_put_str(&json, "object", "response.input_tokens");
    tg_json_put_int(&json, count_key(req), tg_estimate_prompt(req));
    tg_json_end_object(&json);
    req->estimated = true;
    tg_reply_set_json(req, 200, body.data, body.len);
    tg_buf_done(&body);
}
