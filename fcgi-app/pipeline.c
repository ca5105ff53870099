#include "fcgi-app/pipeline.h"

#include "common/base/clock.h"
#include "fcgi-app/answers.h"
#include "fcgi-app/endpoint.h"
#include "fcgi-app/pool/intake.h"
#include "fcgi-app/reply.h"
#include "fcgi-app/shared.h"
#include "fcgi-app/stages.h"
#include "fcgi-app/worker.h"

#define FOR(operation) (1u << TG_OPERATION_##operation)

/* The stages behind the endpoint, which says for which operations each of them runs. */
static const struct {
    enum tg_stage stage;
    enum tg_verdict (*run)(struct tg_request *req);
    unsigned operations;
} stages[] = {
    {TG_STAGE_ACCESS, tg_stage_access, FOR(GENERATE) | FOR(COUNT) | FOR(MODELS)},
    {TG_STAGE_RATE, tg_stage_rate, FOR(GENERATE) | FOR(COUNT) | FOR(MODELS)},
    {TG_STAGE_BODY, tg_stage_body, FOR(GENERATE) | FOR(COUNT) | FOR(CHANNEL_TEST)},
    {TG_STAGE_SESSION, tg_stage_session, FOR(GENERATE)},
    {TG_STAGE_SCREEN, tg_stage_screen, FOR(GENERATE)},
    {TG_STAGE_RULES, tg_stage_rules, FOR(GENERATE) | FOR(COUNT)},
    {TG_STAGE_ESTIMATE, tg_stage_estimate, FOR(GENERATE)},
    {TG_STAGE_QUOTA, tg_stage_quota, FOR(GENERATE)},
    {TG_STAGE_RESERVE, tg_stage_reserve, FOR(GENERATE)},
    {TG_STAGE_RELAY, tg_stage_relay, FOR(GENERATE)},
};

/* What answers an operation whose stages all said NEXT. */
static void (*const answers[])(struct tg_request *req) = {
    [TG_OPERATION_COUNT] = tg_answer_count,
    [TG_OPERATION_MODELS] = tg_answer_models,
    [TG_OPERATION_HEALTH] = tg_answer_health,
    [TG_OPERATION_READY] = tg_answer_ready,
    [TG_OPERATION_METRICS] = tg_answer_metrics,
    [TG_OPERATION_CHANNEL_TEST] = tg_answer_channel_test,
    [TG_OPERATION_ABSENT] = NULL,
};

static enum tg_verdict timed(struct tg_request *req, enum tg_stage stage,
                             enum tg_verdict (*run)(struct tg_request *req))
{
    int64_t from_us = tg_now_us();
    enum tg_verdict verdict = run(req);

    req->stage_us[stage] += tg_now_us() - from_us;
    tg_shared_stage_time(req->worker->shared, stage, req->stage_us[stage]);
    return verdict;
}

/* Is the node full, or this worker of it? Questions about its health and its models do not count
 * and are answered all the same. */
static bool is_shed(struct tg_request *req)
{
    struct tg_worker *worker = req->worker;
    const struct tg_settings *settings = tg_worker_settings(worker);

    if (!tg_endpoint_asks_model(req->endpoint))
        return false;
    req->in_flight = true;
    tg_shared_gauge(worker->shared, worker->index, TG_GAUGE_INFLIGHT, 1);
    return tg_shared_gauge_sum(worker->shared, TG_GAUGE_INFLIGHT) >
               tg_conf_int(settings->conf, TG_OPTION_POOL_MAX_INFLIGHT) ||
           tg_shared_gauge_of(worker->shared, worker->index, TG_GAUGE_INFLIGHT) >
               settings->requests_most;
}

/* Headers that are missing may be the ones that matter: nothing is guessed from the others. */
static enum tg_verdict check_params(struct tg_request *req)
{
    switch (tg_fcgi_params_flaw(req->fcgi)) {
    case TG_FCGI_TOO_LARGE:
        tg_fail(&req->error, TG_CLASS_HEADERS, "headers_too_large",
                "A header is larger than %d bytes, or all are larger than %d bytes.",
                TG_FCGI_VALUE_BYTES, TG_FCGI_PARAMS_BYTES);
        return TG_ANSWER;
    case TG_FCGI_MALFORMED:
        tg_fail(&req->error, TG_CLASS_INVALID, "invalid_header",
                "The web server sent a parameter that is none.");
        return TG_ANSWER;
    case TG_FCGI_SOUND:
        break;
    }
    return TG_NEXT;
}

/* What a known credential would refuse, or may not decide, is decided on one that was just read.
 * When that one says something else, everything behind rate is done again; *at is the stage that
 * runs next. */
static enum tg_verdict look_again(struct tg_request *req, enum tg_verdict verdict, size_t *at)
{
    const struct tg_error refusal = req->error;
    bool stale = verdict == TG_AGAIN && !req->doubtful, same = false;
    int64_t from_us = tg_now_us();
    enum tg_verdict access = tg_access_again(req, stale, &same);

    req->stage_us[TG_STAGE_ACCESS] += tg_now_us() - from_us;
    if (access != TG_NEXT)
        return access;
    if (verdict == TG_AGAIN && same)
        return TG_NEXT; /* the same stage again */
    if (same || (stages[*at].stage == TG_STAGE_BODY && !req->body_understood)) {
        req->error = refusal;
        return TG_ANSWER;
    }
    while (stages[*at].stage != TG_STAGE_BODY)
        (*at)--;
    return TG_NEXT;
}

static enum tg_verdict run_stages(struct tg_request *req)
{
    enum tg_verdict verdict = timed(req, TG_STAGE_ENDPOINT, tg_stage_endpoint);
    unsigned operation;

    if (check_params(req) != TG_NEXT)
        verdict = TG_ANSWER;
    if (verdict != TG_NEXT)
        return verdict;
    if (is_shed(req)) {
        tg_shared_count(req->worker->shared, TG_COUNTER_SHED, 1);
        tg_fail(&req->error, TG_CLASS_OVERLOAD, "overloaded",
                "The gateway is at its limit of requests in flight. Try again later.");
        req->error.retry_after_ms = 1000;
        return TG_ANSWER;
    }
    operation = 1u << req->endpoint->operation;
    for (size_t i = 0; i < TG_COUNT_OF(stages) && verdict == TG_NEXT;) {
        if ((stages[i].operations & operation) != 0)
            verdict = timed(req, stages[i].stage, stages[i].run);
        if (verdict == TG_AGAIN || (verdict == TG_ANSWER && req->doubtful))
            verdict = look_again(req, verdict, &i);
        else
            i++;
    }
    if (verdict == TG_NEXT && req->endpoint->operation != TG_OPERATION_GENERATE) {
        answers[req->endpoint->operation](req);
        verdict = TG_ANSWER;
    }
    return verdict;
}

static void count(struct tg_request *req, enum tg_verdict verdict)
{
    struct tg_shared *shared = req->worker->shared;

    tg_shared_count(shared, TG_COUNTER_REQUESTS, 1);
    if (req->error.class != TG_OK)
        tg_shared_count(shared, TG_COUNTER_ERRORS, 1);
    if (verdict == TG_GONE || req->end_reason == TG_END_CLIENT_GONE)
        tg_shared_count(shared, TG_COUNTER_CLIENT_GONE, 1);
    if (req->usage.source != TG_USAGE_NONE) {
        tg_shared_count(shared, TG_COUNTER_INPUT_TOKENS, tg_usage_input_total(&req->usage));
        tg_shared_count(shared, TG_COUNTER_OUTPUT_TOKENS, req->usage.output);
    }
    tg_shared_count(shared, TG_COUNTER_QUOTA, req->bill_quota);
}

/* What a user caused is in the books, refusals too (a refund of nothing), so that no request is
 * missing from the log. A refused credential names nobody to book it on. */
static bool is_recorded(const struct tg_request *req)
{
    return req->credential != NULL && req->endpoint->operation == TG_OPERATION_GENERATE &&
           req->error.class != TG_CLASS_AUTH;
}

/* From the verdict to a closed connection; the order is the header's. */
static void finish(struct tg_request *req, enum tg_verdict verdict)
{
    struct tg_worker *worker = req->worker;

    if (verdict == TG_GONE && req->end_reason == TG_END_NONE)
        req->end_reason = TG_END_CLIENT_GONE;
    if (req->error.class != TG_OK && req->error.class != TG_CLASS_GONE && req->tail.len == 0)
        tg_reply_set_error(req);
    if (is_recorded(req))
        tg_stage_settle(req);
    tg_idempotent_end(req);
    count(req, verdict);
    if (verdict != TG_GONE)
        tg_reply_finish(req);
    tg_fcgi_end(req->fcgi);
    tg_stage_remember(req);
    tg_body_done(req);
    tg_access_done(req);
    if (req->in_flight)
        tg_shared_gauge(worker->shared, worker->index, TG_GAUGE_INFLIGHT, -1);
    tg_shared_gauge(worker->shared, worker->index, TG_GAUGE_FINISHING, 1);
    tg_fcgi_finish(req->fcgi);
    tg_shared_gauge(worker->shared, worker->index, TG_GAUGE_FINISHING, -1);
    tg_buf_done(&req->tail);
    tg_buf_done(&req->bill_steps);
}

void tg_pipeline_serve(struct tg_worker *worker, struct tg_arena *arena, struct tg_fcgi *fcgi)
{
    struct tg_request req = {.worker = worker, .arena = arena, .fcgi = fcgi};

    tg_intake(&req);
    finish(&req, run_stages(&req));
}
