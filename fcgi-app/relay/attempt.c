#include "fcgi-app/relay/relay.h"

#include "common/base/clock.h"
#include "common/base/stop.h"
#include "fcgi-app/shared.h"
#include "fcgi-app/stages.h"

#include <string.h>

/* How the loop over one model and group ended. */
enum ended { ENDED_SERVED, ENDED_NEXT_GROUP, ENDED_NEXT_MODEL, ENDED_STOPPED };

/* --- one call ------------------------------------------------------------------------------ */

/* Only a provider can make what it alone can read again. */
static bool is_compaction(const struct tg_request *req)
{
    return strcmp(req->endpoint->name, "compact") == 0;
}

struct tg_provider_input tg_relay_input(const struct tg_relay *relay,
                                        const struct tg_channel *channel)
{
    const struct tg_request *req = relay->req;

    return (struct tg_provider_input){
        .arena = req->arena,
        .channel = channel,
        .body = req->body,
        .client_model = req->model,
        .model = relay->quote->model,
        .stream = req->stream,
        .path = is_compaction(req) ? "/responses/compact" : NULL,
        .client = req->endpoint->protocol,
        .json = req->json,
        .wants_usage = req->wants_usage,
        .loss_policy = tg_relay_loss_policy(req, channel),
        .openai_beta = tg_relay_client_header(req, "openai-beta"),
        .anthropic_version = tg_relay_client_header(req, "anthropic-version"),
        .anthropic_beta = tg_relay_client_header(req, "anthropic-beta"),
    };
}

static enum tg_class prepare(struct tg_relay *relay, const struct tg_choice *choice,
                             struct tg_provider_call *call, struct tg_error *err)
{
    const struct tg_provider_input input = tg_relay_input(relay, &choice->channel);
    enum tg_class class = choice->provider->prepare(&input, call, err);

    relay->req->diagnostics = call->convert != NULL ? call->convert->diagnostics : NULL;
    return class;
}

/* Marks the attempt whose content was or would be delivered, and fixes what it costs. */
static void serve(struct tg_relay *relay, const struct tg_choice *choice,
                  const struct tg_attempt *attempt, const struct tg_transfer *transfer)
{
    struct tg_request *req = relay->req;

    req->served = attempt;
    req->quote = choice->quote;
    tg_relay_bill(req, transfer);
}

static void keep_facts(struct tg_attempt *attempt, const struct tg_transfer *transfer)
{
    attempt->status = transfer->http.status;
    attempt->upstream_model = transfer->call->upstream_model;
    attempt->elapsed_us = transfer->http.total_us;
    if (transfer->has_usage && !transfer->arrived) {
        attempt->unbilled_input = tg_usage_input_total(&transfer->usage);
        attempt->unbilled_output = transfer->usage.output;
    }
}

/* A stream must have content within the limit for the first byte: neither its headers nor pings nor
 * the role are an answer. */
static int64_t content_until_us(const struct tg_relay *relay, const struct tg_channel *channel)
{
    int64_t limit_us = channel->first_byte_us > 0
                           ? channel->first_byte_us
                           : tg_conf_int(relay->settings->conf, TG_OPTION_UPSTREAM_FIRST_BYTE);

    return relay->req->stream ? TG_MIN(relay->deadline_at_us, tg_now_us() + limit_us)
                              : relay->deadline_at_us;
}

static void call_upstream(struct tg_relay *relay, const struct tg_choice *choice,
                          const struct tg_provider_call *call, struct tg_attempt **ret_attempt,
                          struct tg_error *ret_error)
{
    struct tg_request *req = relay->req;
    struct tg_transfer transfer = {
        .req = req,
        .client = &relay->client,
        .channel = &choice->channel,
        .call = call,
        .model = relay->quote->model,
        .deadline_at_us = content_until_us(relay, &choice->channel),
    };
    struct tg_attempt *attempt;

    tg_shared_count(req->worker->shared, TG_COUNTER_ATTEMPTS, 1);
    tg_transfer_run(&transfer);
    attempt = tg_relay_record(relay, choice, &transfer.error);
    keep_facts(attempt, &transfer);
    if (transfer.arrived || transfer.error.class == TG_OK)
        serve(relay, choice, attempt, &transfer);
    if (req->end_reason == TG_END_NONE &&
        (transfer.error.class == TG_OK || transfer.arrived))
        req->end_reason = transfer.end_reason;
    if (transfer.error.class == TG_OK)
        tg_relay_finish(req, &transfer);
    else if (req->content_sent && transfer.stream.terminal.len > 0)
        req->failure = tg_arena_strndup(req->arena, transfer.stream.terminal.data,
                                        transfer.stream.terminal.len);
    tg_relay_judge_key(relay, choice, &transfer);
    *ret_attempt = attempt;
    *ret_error = transfer.error;
    tg_transfer_done(&transfer);
}

static struct tg_attempt *attempt_once(struct tg_relay *relay, const struct tg_choice *choice,
                                       struct tg_error *ret_error)
{
    struct tg_provider_call call = {0};
    struct tg_attempt *attempt;

    relay->attempts++;
    relay->repeats += tg_relay_was_tried(relay, choice->channel.id);
    memset(ret_error, 0, sizeof *ret_error);
    if (prepare(relay, choice, &call, ret_error) == TG_OK &&
        tg_hold_raise(relay->req, choice->quote->deposit_quota, ret_error) == TG_OK) {
        relay->req->trying = choice->quote;
        call_upstream(relay, choice, &call, &attempt, ret_error);
    } else {
        tg_relay_judge_key(relay, choice, NULL);
        attempt = tg_relay_record(relay, choice, ret_error);
    }
    tg_provider_call_done(&call);
    return attempt;
}

/* --- and after it -------------------------------------------------------------------------- */

/* None to another channel; full jitter, doubled with each repeat, to one that has just failed, and
 * never less than it asked for. */
static int64_t delay_us(const struct tg_relay *relay, const struct tg_choice *choice,
                        const struct tg_error *error)
{
    const struct tg_conf *conf = relay->settings->conf;
    int64_t base_us = tg_conf_int(conf, TG_OPTION_RETRY_BACKOFF_BASE);
    int64_t most_us = tg_conf_int(conf, TG_OPTION_RETRY_BACKOFF_CAP);
    int64_t window_us = base_us << TG_MIN(relay->repeats, 16);
    uint32_t draw;

    /* Another channel, or another key of this one: nobody is asked a second time. */
    if (choice->channels_left > 0 || relay->keys.key_is_out)
        return 0;
    tg_random(&draw, sizeof draw);
    window_us = TG_MIN(window_us, most_us);
    return TG_MAX((int64_t)((uint64_t)window_us * draw >> 32), error->retry_after_ms * 1000);
}

static struct tg_retry_decision decide(const struct tg_relay *relay, const struct tg_choice *choice,
                                       const struct tg_error *error, int64_t wait_us)
{
    const size_t stays = relay->keys.stay_channel_id != 0; /* another key of it follows */
    struct tg_retry_facts facts = {
        .error = error,
        .content_sent = relay->req->content_sent,
        .client_gone = relay->client.gone,
        .pinned = relay->req->pinned_channel_id != 0,
        .attempts_made = relay->attempts,
        .attempts_most = (int)tg_conf_int(relay->settings->conf, TG_OPTION_RETRY_ATTEMPTS),
        .channels_left = choice->channels_left + stays,
        .channels_all = choice->channels_all + (size_t)relay->keys.stays + stays,
        .now_us = tg_now_us(),
        .deadline_at_us = relay->deadline_at_us,
        .delay_us = wait_us,
        .statuses = &relay->settings->retry_statuses,
    };
    struct tg_retry_decision decision = tg_retry_decide(&facts);

    if (decision.action == TG_RETRY_AGAIN && facts.channels_left == 0 &&
        !tg_breaker_may_repeat(&choice->pass, tg_now_us())) {
        facts.repeats_spent = true;
        decision = tg_retry_decide(&facts);
    }
    return decision;
}

/* A fallback model follows unless the request itself, or its client, is what ended the loop. */
static enum ended after_stop(const char *reason)
{
    static const char *const finals[] = {"committed", "client_gone", "strict_session", "pinned",
                                         "not_retryable"};

    for (size_t i = 0; i < TG_COUNT_OF(finals); i++)
        if (strcmp(reason, finals[i]) == 0)
            return ENDED_STOPPED;
    return ENDED_NEXT_MODEL;
}

static enum ended try_model(struct tg_relay *relay, struct tg_error *ret_error)
{
    for (;;) {
        struct tg_retry_decision decision;
        struct tg_attempt *attempt;
        struct tg_choice choice;
        int64_t wait_us;

        /* What the last call said tells more than that nothing else is left. */
        if (tg_relay_choose(relay, &choice, &relay->req->error) != TG_OK) {
            if (relay->req->attempt_count == 0)
                *ret_error = relay->req->error;
            tg_relay_record_none(relay, &choice);
            return ENDED_NEXT_GROUP;
        }
        if (!tg_relay_take_key(relay, &choice))
            continue; /* its keys were full, or others look at them: without them */
        TG_STOP("chosen");
        attempt = attempt_once(relay, &choice, ret_error);
        tg_relay_judge(relay, &choice, attempt, ret_error);
        TG_STOP("answered");
        if (ret_error->class == TG_OK)
            return ENDED_SERVED;
        wait_us = delay_us(relay, &choice, ret_error);
        decision = decide(relay, &choice, ret_error, wait_us);
        tg_relay_record_decision(relay->req, attempt, &decision);
        if (decision.action == TG_RETRY_STOP)
            return after_stop(decision.reason);
        if (relay->keys.stay_channel_id == 0)
            tg_relay_mark_tried(relay, choice.channel.id);
        if (!tg_client_wait(&relay->client, tg_now_us() + wait_us))
            return ENDED_STOPPED;
    }
}

/* How many quotes from <at> on are for its model: one per group that the token may use. */
static size_t groups_of(const struct tg_request *req, size_t at)
{
    size_t count = 1;

    while (at + count < req->quote_count &&
           strcmp(req->quotes[at + count].model, req->quotes[at].model) == 0)
        count++;
    return count;
}

/* All groups of a model share its budget and what was tried; each begins with its first tier. */
static enum ended try_groups(struct tg_relay *relay, size_t at, size_t count,
                             struct tg_error *ret_error)
{
    enum ended ended = ENDED_NEXT_GROUP;

    relay->attempts = relay->repeats = 0;
    relay->keys.stays = 0;
    relay->keys.stay_channel_id = 0;
    relay->tried_count = 0;
    for (size_t i = 0; i < count && ended == ENDED_NEXT_GROUP; i++) {
        relay->quote = &relay->req->quotes[at + i];
        relay->groups_left = count - i - 1;
        relay->failed = 0;
        ended = try_model(relay, ret_error);
    }
    return ended == ENDED_NEXT_GROUP ? ENDED_NEXT_MODEL : ended;
}

static enum ended try_models(struct tg_relay *relay, struct tg_error *ret_error)
{
    enum ended ended = ENDED_NEXT_MODEL;

    for (size_t i = 0, groups; i < relay->req->quote_count && ended == ENDED_NEXT_MODEL;
         i += groups) {
        groups = groups_of(relay->req, i);
        ended = try_groups(relay, i, groups, ret_error);
    }
    return ended;
}

static enum tg_verdict verdict_of(struct tg_relay *relay, enum ended ended,
                                  const struct tg_error *error)
{
    struct tg_request *req = relay->req;

    memset(&req->error, 0, sizeof req->error);
    if (ended == ENDED_SERVED)
        return TG_NEXT;
    if (relay->client.gone)
        return TG_GONE;
    if (error->class == TG_CLASS_TIMEOUT && req->end_reason == TG_END_NONE)
        req->end_reason = TG_END_TIMEOUT;
    if (relay->client.cut && req->end_reason == TG_END_NONE)
        req->end_reason = TG_END_HANDLER_STOP;
    tg_relay_fail(req, error);
    return TG_ANSWER;
}

enum tg_verdict tg_stage_relay(struct tg_request *req)
{
    struct tg_relay relay = {.req = req, .settings = tg_worker_settings(req->worker)};
    struct tg_error error = {0};
    struct tg_worker *worker = req->worker;
    enum ended ended;

    relay.deadline_at_us =
        req->started_at_us + tg_conf_int(relay.settings->conf, TG_OPTION_REQUEST_DEADLINE);
    relay.native_only = is_compaction(req);
    tg_client_init(&relay.client, req);
    if (req->stream)
        tg_shared_gauge(worker->shared, worker->index, TG_GAUGE_STREAMS, 1);
    ended = try_models(&relay, &error);
    if (req->stream)
        tg_shared_gauge(worker->shared, worker->index, TG_GAUGE_STREAMS, -1);
    return verdict_of(&relay, ended, &error);
}
