#include "fcgi-app/stream/client.h"

#include "common/base/clock.h"
#include "fcgi-app/reply.h"
#include "fcgi-app/stages.h"
#include "fcgi-app/worker.h"

#include <poll.h>

void tg_client_init(struct tg_client *client, struct tg_request *req)
{
    const struct tg_conf *conf = tg_worker_settings(req->worker)->conf;
    int64_t every_us = tg_conf_int(conf, TG_OPTION_STREAM_KEEPALIVE_EVERY);

    *client = (struct tg_client){
        .req = req,
        .keepalive_first_us = tg_conf_int(conf, TG_OPTION_STREAM_KEEPALIVE_FIRST),
        .keepalive_every_us =
            TG_MIN(every_us, tg_conf_int(conf, TG_OPTION_STREAM_GONE_CHECK)),
        .last_sent_at_us = req->started_at_us,
        .poll_events = tg_fcgi_poll_events(req->fcgi),
    };
}

static bool leave(struct tg_client *client, enum tg_end_reason reason)
{
    client->gone = true;
    if (client->req->end_reason == TG_END_NONE)
        client->req->end_reason = reason;
    return false;
}

static bool keep_alive(struct tg_client *client)
{
    struct tg_request *req = client->req;
    enum tg_end_reason before = req->end_reason;

    if (tg_reply_begin_stream(req) == TG_OK && tg_reply_keepalive(req) == TG_OK) {
        client->last_sent_at_us = tg_now_us();
        return true;
    }
    /* It was there a moment ago, so it neither reads nor leaves. The writer only knows that the
     * write failed. */
    req->end_reason = before;
    return leave(client, TG_END_PING_FAIL);
}

static int64_t keepalive_at_us(const struct tg_client *client)
{
    if (!client->req->stream)
        return INT64_MAX;
    return client->last_sent_at_us + (client->req->headers_sent ? client->keepalive_every_us
                                                                : client->keepalive_first_us);
}

bool tg_client_tick(struct tg_client *client, int64_t now_us, int64_t *ret_wake_at_us)
{
    struct tg_request *req = client->req;

    if (client->gone)
        return false;
    if (tg_fcgi_is_gone(req->fcgi))
        return leave(client, TG_END_CLIENT_GONE);
    client->cut = atomic_load_explicit(&req->worker->cut, memory_order_acquire);
    if (client->cut)
        return false;
    client->poll_events = tg_fcgi_poll_events(req->fcgi);
    if (now_us >= tg_hold_wake_at_us(req))
        tg_hold_tick(req, now_us, client->delivered_tokens);
    if (now_us >= keepalive_at_us(client) && !keep_alive(client))
        return false;
    *ret_wake_at_us = TG_MIN(keepalive_at_us(client), tg_hold_wake_at_us(req));
    return true;
}

bool tg_client_send(struct tg_client *client, const void *bytes, size_t len)
{
    if (client->gone)
        return false;
    if (tg_reply_begin_stream(client->req) != TG_OK ||
        tg_reply_send(client->req, bytes, len) != TG_OK)
        return leave(client, TG_END_CLIENT_GONE);
    client->last_sent_at_us = tg_now_us();
    return true;
}

void tg_client_cut_error(struct tg_error *ret)
{
    (void)tg_fail(ret, TG_CLASS_OVERLOAD, "shutting_down",
                  "The gateway is shutting down. Try again.");
    ret->flags = TG_ERROR_NO_RETRY | TG_ERROR_MAYBE_ACCEPTED;
    ret->retry_after_ms = 1000;
}

bool tg_client_wait(struct tg_client *client, int64_t until_us)
{
    for (;;) {
        int64_t now_us = tg_now_us(), wake_at_us = 0;
        struct pollfd look[2];

        if (!tg_client_tick(client, now_us, &wake_at_us))
            return false;
        if (now_us >= until_us)
            return true;
        wake_at_us = TG_MIN(wake_at_us, until_us);
        look[0] = (struct pollfd){.fd = tg_fcgi_descriptor(client->req->fcgi),
                                  .events = client->poll_events};
        look[1] = (struct pollfd){.fd = client->req->worker->cut_fd, .events = POLLIN};
        /* A descriptor that is ready without the client having left would make this spin. */
        if (poll(look, 2, (int)((TG_MAX(wake_at_us - now_us, 0) + 999) / 1000)) > 0 &&
            look[1].revents == 0 && !tg_fcgi_is_gone(client->req->fcgi))
            tg_clock_sleep_us(TG_MAX(TG_MIN(wake_at_us - tg_now_us(), 50000), 0));
    }
}
