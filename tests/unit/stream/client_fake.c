#include "tests/unit/stream/client_fake.h"

#include "fcgi-app/reply.h"
#include "fcgi-app/stages.h"

#include <poll.h>

struct client_fake client_fake = {.fail_after = -1, .descriptor = -1};

void client_fake_reset(void)
{
    tg_buf_done(&client_fake.sent);
    client_fake = (struct client_fake){
        .fail_after = -1, .descriptor = -1, .hold_wake_at_us = INT64_MAX};
}

struct tg_fcgi *client_fake_fcgi(void)
{
    static max_align_t nothing;

    return (struct tg_fcgi *)&nothing;
}

static enum tg_class put(const void *bytes, size_t len)
{
    if (client_fake.fail_after >= 0 && client_fake.sends >= client_fake.fail_after)
        return TG_CLASS_GONE;
    client_fake.sends++;
    tg_buf_add(&client_fake.sent, bytes, len);
    return TG_OK;
}

enum tg_class tg_reply_begin_stream(struct tg_request *req)
{
    if (req->headers_sent)
        return TG_OK;
    req->headers_sent = true;
    req->answer_status = 200;
    tg_buf_str(&client_fake.sent, "<begin>");
    return TG_OK;
}

enum tg_class tg_reply_send(struct tg_request *req, const void *bytes, size_t len)
{
    enum tg_class class = put(bytes, len);

    if (class != TG_OK && req->end_reason == TG_END_NONE)
        req->end_reason = TG_END_CLIENT_GONE; /* as reply.c does */
    return class;
}

enum tg_class tg_reply_keepalive(struct tg_request *req)
{
    return tg_reply_send(req, "<ka>", 4);
}

void tg_reply_set_json(struct tg_request *req, int status, const char *json, size_t len)
{
    req->answer_status = status;
    tg_buf_reset(&req->tail);
    tg_buf_add(&req->tail, json, len);
}

bool tg_fcgi_is_gone(struct tg_fcgi *fcgi)
{
    (void)fcgi;
    return client_fake.gone;
}

short tg_fcgi_poll_events(const struct tg_fcgi *fcgi)
{
    (void)fcgi;
    return POLLIN | POLLRDHUP;
}

int tg_fcgi_descriptor(const struct tg_fcgi *fcgi)
{
    (void)fcgi;
    return client_fake.descriptor;
}

const char *tg_fcgi_header(const struct tg_fcgi *fcgi, const char *name)
{
    (void)fcgi;
    (void)name;
    return NULL;
}

int64_t tg_hold_wake_at_us(const struct tg_request *req)
{
    (void)req;
    return client_fake.hold_wake_at_us;
}

void tg_hold_tick(struct tg_request *req, int64_t now_us, int64_t output_tokens)
{
    (void)req;
    client_fake.hold_ticks++;
    client_fake.hold_tokens = output_tokens;
    client_fake.hold_wake_at_us = now_us + 30000000;
}
