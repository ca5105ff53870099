#include "fcgi-app/relay/ask.h"

#include "common/base/clock.h"
#include "fcgi-app/convert/error_body.h"
#include "fcgi-app/relay/classify.h"
#include "fcgi-app/worker.h"

enum { STOP_LOOK_US = 100000 };

static bool take_body(void *context, const char *bytes, size_t len)
{
    struct tg_ask *ask = context;

    tg_buf_add(&ask->body, bytes, TG_MIN(len, ask->most - ask->body.len));
    return ask->body.len < ask->most;
}

/* Looks whether it is to end. */
static bool tick(void *context, int64_t now_us, bool client_ready, int64_t *ret_wake_at_us)
{
    const struct tg_ask *ask = context;

    (void)client_ready;
    *ret_wake_at_us = now_us + STOP_LOOK_US;
    return !atomic_load(ask->stop);
}

static void judge(struct tg_ask *ask)
{
    static const struct tg_retry_hints no_hints;
    struct tg_span body = {tg_buf_text(&ask->body), ask->body.len};
    int status = ask->http.status;
    bool cut = body.len >= ask->most;

    if (ask->http.end != TG_HTTP_DONE && !cut)
        tg_classify_end(&ask->http, &ask->error);
    else if (status < 200 || status > 299)
        tg_classify_status(status, body, &no_hints, 0, &ask->error);
    else if (tg_error_body_is(body))
        tg_error_body_read(status, body, &ask->error);
    else if (!cut && tg_json_check(body.ptr, body.len, NULL) != TG_OK)
        (void)tg_fail(&ask->error, TG_CLASS_TRANSPORT, "upstream_invalid",
                      "the answer is no JSON");
}

void tg_ask_run(struct tg_request *req, struct tg_ask *ask)
{
    const struct tg_settings *settings = tg_worker_settings(req->worker);
    const struct tg_http_sink sink = {.context = ask,
                                      .on_body = take_body,
                                      .on_tick = ask->stop != NULL ? tick : NULL};
    const struct tg_http_spec spec = {
        .purpose = TG_HTTP_CHANNEL,
        .method = ask->method != NULL ? ask->method : "POST",
        .url = ask->call->url,
        .proxy = ask->channel->proxy,
        .headers = ask->call->headers,
        .header_count = ask->call->header_count,
        .body = ask->call->body.spans,
        .body_count = ask->call->body.count,
        .connect_us = tg_conf_int(settings->conf, TG_OPTION_UPSTREAM_CONNECT),
        .first_byte_us = ask->limit_us,
        .idle_us = ask->limit_us,
        .allow = settings->channel_allow,
        .allow_count = settings->channel_allow_count,
        .client_fd = -1,
    };
    int64_t from_us = tg_now_us();

    tg_buf_init(&ask->body, 0);
    tg_http_exchange(req->worker->http, &spec, &sink, &ask->http);
    ask->took_us = tg_now_us() - from_us;
    judge(ask);
}

void tg_ask_done(struct tg_ask *ask)
{
    tg_buf_done(&ask->body);
}
