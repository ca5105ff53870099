#include "fcgi-app/stream/engine.h"

#include "common/base/clock.h"
#include "common/base/stack.h"
#include "fcgi-app/convert/chat_event.h"
#include "fcgi-app/relay/classify.h"
#include "fcgi-app/stream/chat.h"

#include <string.h>

enum { DONE_GRACE_US = 100000, SLOWEST_BYTES_PER_S = 1024 };

/* --- what came ----------------------------------------------------------------------------- */

/* The first failure is the one that counts. */
static void fail(struct tg_stream *stream, enum tg_end_reason reason, const struct tg_error *error)
{
    if (stream->error.class != TG_OK)
        return;
    stream->error = *error;
    stream->end_reason = reason;
}

static void fail_invalid(struct tg_stream *stream, const char *message)
{
    struct tg_error error;

    (void)tg_fail(&error, TG_CLASS_TRANSPORT, "upstream_invalid", "%s", message);
    fail(stream, TG_END_SCANNER_ERROR, &error);
}

static void send_event(struct tg_stream *stream, const struct tg_sse_event *event)
{
    tg_buf_reset(&stream->frame);
    tg_chat_frame(event, stream->conf.rename_to, &stream->frame);
    (void)tg_client_send(stream->client, stream->frame.data, stream->frame.len);
}

static void hold_event(struct tg_stream *stream, const struct tg_sse_event *event)
{
    tg_chat_frame(event, stream->conf.rename_to, &stream->preamble);
    if (stream->preamble.failed)
        fail_invalid(stream, "the upstream sends events without content");
}

static void commit(struct tg_stream *stream)
{
    struct tg_request *req = stream->client->req;

    if (req->content_sent)
        return;
    req->content_sent = true;
    tg_stack_trim();
    req->first_token_us = tg_now_us() - req->started_at_us;
    if (stream->preamble.len > 0)
        (void)tg_client_send(stream->client, stream->preamble.data, stream->preamble.len);
}

static void on_content(struct tg_stream *stream, const struct tg_sse_event *event)
{
    tg_count_add(&stream->count, tg_buf_text(&stream->content), stream->content.len);
    stream->client->delivered_tokens = tg_count_so_far(&stream->count);
    stream->arrived = true;
    commit(stream);
    send_event(stream, event);
}

static void on_quiet(struct tg_stream *stream, const struct tg_sse_event *event)
{
    if (stream->client->req->content_sent)
        send_event(stream, event);
    else
        hold_event(stream, event);
}

static void on_upstream_error(struct tg_stream *stream, const struct tg_chat_event *read)
{
    struct tg_error error = read->error;

    tg_classify_inside(&error);
    fail(stream, TG_END_HANDLER_STOP, &error);
}

static void on_done(struct tg_stream *stream)
{
    if (!stream->done_seen)
        stream->done_at_us = tg_now_us();
    stream->done_seen = true;
}

static void dispatch(struct tg_stream *stream, const struct tg_sse_event *event,
                     const struct tg_chat_event *read)
{
    switch (tg_chat_part(event, read)) {
    case TG_CHAT_PART_CONTENT:
        on_content(stream, event);
        break;
    case TG_CHAT_PART_PREAMBLE:
        on_quiet(stream, event);
        break;
    case TG_CHAT_PART_USAGE:
        if (stream->client->req->wants_usage)
            on_quiet(stream, event);
        break;
    case TG_CHAT_PART_ERROR:
        on_upstream_error(stream, read);
        break;
    case TG_CHAT_PART_DONE:
        on_done(stream);
        break;
    case TG_CHAT_PART_INVALID:
        if (!event->unterminated) /* else the stream was cut: its end says so */
            fail_invalid(stream, "the upstream sent an event that is no JSON");
        break;
    case TG_CHAT_PART_EMPTY:
        break;
    }
}

static void on_event(void *context, const struct tg_sse_event *event)
{
    struct tg_stream *stream = context;
    struct tg_chat_event read;

    tg_buf_reset(&stream->content);
    tg_chat_event_read(event->data, &read, &stream->content);
    /* Usage counts wherever it comes, even behind the end. */
    if (!read.done && read.has_usage) {
        stream->usage = read.usage;
        stream->has_usage = true;
    }
    if (stream->done_seen || stream->error.class != TG_OK)
        return;
    if (!read.done && read.finish_reason[0] != '\0')
        stream->finish_seen = true;
    dispatch(stream, event, &read);
}

/* --- the exchange -------------------------------------------------------------------------- */

void tg_stream_init(struct tg_stream *stream, struct tg_client *client,
                    const struct tg_stream_conf *conf)
{
    memset(stream, 0, sizeof *stream);
    stream->client = client;
    stream->conf = *conf;
    client->delivered_tokens = 0;
    tg_count_init(&stream->count, conf->encoders, conf->count_as);
    tg_buf_init(&stream->preamble, conf->event_limit);
    tg_buf_init(&stream->frame, 0);
    tg_buf_init(&stream->content, 0);
    tg_sse_init(&stream->sse, conf->event_limit, on_event, NULL, stream);
}

void tg_stream_done(struct tg_stream *stream)
{
    tg_sse_done(&stream->sse);
    tg_count_done(&stream->count);
    tg_buf_done(&stream->preamble);
    tg_buf_done(&stream->frame);
    tg_buf_done(&stream->content);
}

/* Single bytes are no sign of life: what counts is that lines end, or are long. */
static void watch_lines(struct tg_stream *stream, const char *bytes, size_t len)
{
    bool ends = memchr(bytes, '\n', len) != NULL || memchr(bytes, '\r', len) != NULL;

    if (ends || stream->line_at_us == 0) {
        stream->line_at_us = tg_now_us();
        stream->line_bytes = 0;
    }
    stream->line_bytes += len;
}

bool tg_stream_feed(struct tg_stream *stream, const char *bytes, size_t len)
{
    struct tg_error error;
    struct tg_span pending;

    if (tg_sse_feed(&stream->sse, bytes, len, &error) != TG_OK && !stream->done_seen)
        fail(stream, TG_END_SCANNER_ERROR, &error);
    /* "[DONE]" counts without its blank line, which some upstreams never send. */
    pending = tg_sse_pending(&stream->sse);
    if (pending.len == 6 && memcmp(pending.ptr, "[DONE]", 6) == 0)
        on_done(stream);
    watch_lines(stream, bytes, len); /* after the writes: a slow client is not the upstream */
    return stream->error.class == TG_OK && !stream->client->gone;
}

static bool still_flows(struct tg_stream *stream, int64_t now_us, int64_t *wake_at_us)
{
    int64_t idle_us = stream->conf.idle_us, due_at_us = stream->line_at_us + idle_us;

    if (idle_us == 0 || stream->line_at_us == 0)
        return true;
    if (now_us >= due_at_us) {
        int64_t passed_us = now_us - stream->line_at_us;

        stream->dribbles =
            (int64_t)stream->line_bytes < passed_us / 1000000 * SLOWEST_BYTES_PER_S;
        due_at_us = now_us + 1000000;
    }
    *wake_at_us = TG_MIN(*wake_at_us, due_at_us);
    return !stream->dribbles;
}

bool tg_stream_tick(struct tg_stream *stream, int64_t now_us, int64_t *wake_at_us)
{
    if (!stream->done_seen)
        return still_flows(stream, now_us, wake_at_us);
    *wake_at_us = TG_MIN(*wake_at_us, stream->done_at_us + DONE_GRACE_US);
    return now_us < stream->done_at_us + DONE_GRACE_US;
}

/* --- the end ------------------------------------------------------------------------------- */

static enum tg_end_reason reason_of(enum tg_http_end end)
{
    switch (end) {
    case TG_HTTP_TIMEOUT_CONNECT:
    case TG_HTTP_TIMEOUT_FIRST_BYTE:
    case TG_HTTP_TIMEOUT_IDLE:
    case TG_HTTP_TIMEOUT_DEADLINE:
        return TG_END_TIMEOUT;
    case TG_HTTP_DONE:
    case TG_HTTP_RESET:
        return TG_END_EOF;
    case TG_HTTP_PROTOCOL:
        return TG_END_SCANNER_ERROR;
    default:
        return TG_END_INTERNAL;
    }
}

static void fail_truncated(struct tg_stream *stream)
{
    struct tg_error error;

    if (stream->arrived) {
        (void)tg_fail(&error, TG_CLASS_UPSTREAM, "upstream_truncated",
                      "The upstream ended its answer before it was complete.");
        error.status = 502;
    } else {
        (void)tg_fail(&error, TG_CLASS_TRANSPORT, "upstream_truncated",
                      "the stream ended without content");
    }
    fail(stream, TG_END_EOF, &error);
}

static void fail_end(struct tg_stream *stream, const struct tg_http_result *result)
{
    struct tg_error error;

    tg_classify_end(result, &error);
    if (stream->arrived)
        error.flags |= TG_ERROR_PARTLY_USED;
    fail(stream, reason_of(result->end), &error);
}

static void fail_cut(struct tg_stream *stream)
{
    struct tg_error error;

    tg_client_cut_error(&error);
    fail(stream, TG_END_HANDLER_STOP, &error);
}

static void fail_empty(struct tg_stream *stream)
{
    struct tg_error error;

    (void)tg_fail(&error, TG_CLASS_TRANSPORT, "empty_answer", "the answer holds no content");
    fail(stream, TG_END_DONE, &error);
}

/* A whole answer without content: its preamble is all there is to say. */
static void end_empty(struct tg_stream *stream)
{
    if (stream->conf.refuse_empty || stream->preamble.len == 0) {
        fail_empty(stream);
        return;
    }
    (void)tg_client_send(stream->client, stream->preamble.data, stream->preamble.len);
}

static void end_whole(struct tg_stream *stream)
{
    stream->end_reason = stream->done_seen ? TG_END_DONE : TG_END_EOF;
    if (!stream->arrived)
        end_empty(stream);
}

void tg_stream_end(struct tg_stream *stream, const struct tg_http_result *result, bool late)
{
    struct tg_http_result shown = *result;

    if (late)
        shown.end = TG_HTTP_TIMEOUT_DEADLINE;
    if (stream->dribbles)
        shown.end = TG_HTTP_TIMEOUT_IDLE;
    tg_sse_end(&stream->sse); /* a last event without its blank line may hold the usage */
    if (stream->client->gone || stream->error.class != TG_OK)
        return;
    if (stream->done_seen || (shown.end == TG_HTTP_DONE && stream->finish_seen))
        end_whole(stream);
    else if (stream->client->cut)
        fail_cut(stream);
    else if (shown.end == TG_HTTP_DONE || (shown.end == TG_HTTP_RESET && stream->arrived))
        fail_truncated(stream);
    else
        fail_end(stream, &shown);
}
