#include "fcgi-app/reply.h"

#include "common/base/log.h"
#include "fcgi-app/endpoint.h"
#include "fcgi-app/reply_error.h"

#include <stdio.h>
#include <string.h>

/* The words of RFC 9110 and of the vendors' own numbers; servers pass them on. */
static const struct {
    int status;
    const char *words;
} phrases[] = {
    {200, "OK"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {402, "Payment Required"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {413, "Content Too Large"},
    {422, "Unprocessable Content"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {499, "Client Closed Request"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {502, "Bad Gateway"},
    {503, "Service Unavailable"},
    {504, "Gateway Timeout"},
    {529, "Overloaded"},
};

static const char *phrase(int status)
{
    for (size_t i = 0; i < TG_COUNT_OF(phrases); i++)
        if (phrases[i].status == status)
            return phrases[i].words;
    return "Status";
}

/* Errors of unknown paths speak Chat, which every tool can show, but for Gemini's own. */
static enum tg_protocol protocol_of(const struct tg_request *req)
{
    if (req->endpoint != NULL)
        return req->endpoint->protocol;
    return req->path != NULL && strncmp(req->path, "/v1beta/", 8) == 0 ? TG_PROTOCOL_GEMINI
                                                                       : TG_PROTOCOL_CHAT;
}

static void add_header(struct tg_buf *out, const char *name, const char *value)
{
    if (strpbrk(value, "\r\n") != NULL || strpbrk(name, "\r\n:") != NULL) {
        tg_log(TG_LOG_WARNING, "reply", "a header with a line break was dropped");
        return;
    }
    tg_buf_printf(out, "%s: %s\r\n", name, value);
}

static enum tg_class write_out(struct tg_request *req, const void *bytes, size_t len)
{
    enum tg_class class = tg_fcgi_write(req->fcgi, bytes, len);

    if (class != TG_OK && req->end_reason == TG_END_NONE)
        req->end_reason = TG_END_CLIENT_GONE;
    return class;
}

enum tg_class tg_reply_begin(struct tg_request *req, int status, const char *content_type,
                             const struct tg_reply_header *extra, size_t extra_count)
{
    struct tg_buf head;
    enum tg_class class;

    tg_assert(!req->headers_sent);
    tg_buf_init(&head, 0);
    tg_buf_printf(&head, "Status: %d %s\r\n", status, phrase(status));
    add_header(&head, "Content-Type", content_type);
    add_header(&head, "x-request-id", req->id_text);
    if (protocol_of(req) == TG_PROTOCOL_MESSAGES)
        add_header(&head, "request-id", req->id_text);
    for (size_t i = 0; i < extra_count; i++)
        add_header(&head, extra[i].name, extra[i].value);
    for (size_t i = 0; i < req->passed_count; i++)
        add_header(&head, req->passed[i].name, req->passed[i].value);
    tg_buf_str(&head, "\r\n");
    req->headers_sent = true;
    req->answer_status = status;
    class = write_out(req, head.data, head.len);
    tg_buf_done(&head);
    return class;
}

static enum tg_class begin_array(struct tg_request *req, const struct tg_reply_header *headers,
                                 size_t count)
{
    enum tg_class class = tg_reply_begin(req, 200, "application/json", headers, count);

    req->array_open = true;
    return class == TG_OK ? write_out(req, "[", 1) : class;
}

/* Elements come with a comma before each: the first has none. */
static void skip_comma(struct tg_request *req, const char **bytes, size_t *len)
{
    if (!req->array || req->array_begun || *len == 0 || **bytes != ',')
        return;
    req->array_begun = true;
    ++*bytes;
    --*len;
}

enum tg_class tg_reply_begin_stream(struct tg_request *req)
{
    static const struct tg_reply_header stream_headers[] = {
        {"Cache-Control", "no-cache"},
        {"X-Accel-Buffering", "no"},
    };

    if (req->headers_sent)
        return TG_OK;
    if (req->array)
        return begin_array(req, stream_headers, TG_COUNT_OF(stream_headers));
    return tg_reply_begin(req, 200, "text/event-stream", stream_headers,
                          TG_COUNT_OF(stream_headers));
}

enum tg_class tg_reply_send(struct tg_request *req, const void *bytes, size_t len)
{
    const char *text = bytes;
    enum tg_class class;

    skip_comma(req, &text, &len);
    class = write_out(req, text, len);
    if (class == TG_OK)
        class = tg_fcgi_flush(req->fcgi);
    if (class == TG_OK)
        req->sent_bytes += (int64_t)len;
    else if (req->end_reason == TG_END_NONE)
        req->end_reason = TG_END_CLIENT_GONE;
    return class;
}

enum tg_class tg_reply_keepalive(struct tg_request *req)
{
    static const char *const frames[] = {
        [TG_PROTOCOL_CHAT] = ": ka\n\n",
        [TG_PROTOCOL_RESPONSES] = ": ka\n\n",
        [TG_PROTOCOL_MESSAGES] = "event: ping\ndata: {\"type\":\"ping\"}\n\n",
        [TG_PROTOCOL_GEMINI] = "\n", /* anything else breaks its Python client */
    };
    const char *frame = frames[protocol_of(req)];

    return tg_reply_send(req, frame, strlen(frame));
}

static struct tg_error_scene scene_of(const struct tg_request *req)
{
    return (struct tg_error_scene){.protocol = protocol_of(req),
                                   .request_id = req->id_text,
                                   .array = req->array,
                                   .attempts = req->attempt_count};
}

void tg_reply_set_error(struct tg_request *req)
{
    const struct tg_error_scene scene = scene_of(req);
    struct tg_error_view view;

    tg_assert(req->error.class != TG_OK);
    tg_error_view(&req->error, &scene, &view);
    tg_buf_reset(&req->tail);
    if (req->headers_sent && req->failure != NULL) {
        tg_buf_str(&req->tail, req->failure);
        return;
    }
    if (req->headers_sent) {
        tg_error_event(&view, &scene, &req->tail);
        return;
    }
    req->answer_status = view.status;
    tg_error_body(&view, &scene, &req->tail);
}

void tg_reply_set_json(struct tg_request *req, int status, const char *json, size_t len)
{
    req->answer_status = status;
    tg_buf_reset(&req->tail);
    tg_buf_add(&req->tail, json, len);
}

/* Headers of an answer that is complete in req->tail. */
static void begin_whole(struct tg_request *req)
{
    struct tg_reply_header extra[6];
    char length[32], retry[32], allow[64];
    const struct tg_error_scene scene = scene_of(req);
    struct tg_error_view view = {0};
    size_t count = 0;

    snprintf(length, sizeof length, "%zu", req->tail.len);
    extra[count++] = (struct tg_reply_header){"Content-Length", length};
    if (req->error.class != TG_OK)
        tg_error_view(&req->error, &scene, &view);
    if (view.retry_after_s > 0) {
        snprintf(retry, sizeof retry, "%lld", (long long)view.retry_after_s);
        extra[count++] = (struct tg_reply_header){"Retry-After", retry};
    }
    if (view.never_retry && scene.protocol != TG_PROTOCOL_GEMINI)
        extra[count++] = (struct tg_reply_header){"x-should-retry", "false"};
    if (req->estimated)
        extra[count++] = (struct tg_reply_header){"x-tollgate-estimated", "true"};
    if (req->replayed)
        extra[count++] = (struct tg_reply_header){"idempotent-replayed", "true"};
    if (req->error.class == TG_CLASS_METHOD) {
        tg_endpoint_allow(req->path, allow, sizeof allow);
        extra[count++] = (struct tg_reply_header){"Allow", allow};
    }
    (void)tg_reply_begin(req, req->answer_status, "application/json", extra, count);
}

static void send_tail(struct tg_request *req)
{
    const char *bytes = tg_buf_text(&req->tail);
    bool ends_array = req->array_open;
    size_t len = req->tail.len;

    skip_comma(req, &bytes, &len);
    if (len > 0 && write_out(req, bytes, len) == TG_OK)
        req->sent_bytes += (int64_t)len;
    if (ends_array)
        (void)write_out(req, "]", 1);
}

void tg_reply_finish(struct tg_request *req)
{
    if (!req->headers_sent && req->answer_status == 0)
        return; /* the client left before there was anything to say */
    if (!req->headers_sent)
        begin_whole(req);
    send_tail(req);
    tg_fcgi_end(req->fcgi);
}
