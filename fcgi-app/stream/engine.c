#include "fcgi-app/stream/engine.h"

#include "common/base/clock.h"
#include "common/base/stack.h"
#include "fcgi-app/relay/classify.h"

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
    tg_buf_reset(&stream->terminal); /* an answer that failed has no end of a whole one */
}

static void fail_invalid(struct tg_stream *stream, const char *message)
{
    struct tg_error error;

    (void)tg_fail(&error, TG_CLASS_TRANSPORT, "upstream_invalid", "%s", message);
    fail(stream, TG_END_SCANNER_ERROR, &error);
}

static void on_converted(void *to, const struct tg_json *event)
{
    struct tg_stream *stream = to;

    stream->conf.spoken->frame_tree(event, stream->target);
}

static bool tells_failure(const struct tg_stream *stream)
{
    return stream->conf.spoken->protocol == TG_PROTOCOL_RESPONSES;
}

/* What a hop said of its failure goes out behind everything else. */
static void keep_failure(struct tg_stream *stream, struct tg_buf *out, size_t from)
{
    if (!tells_failure(stream) || out->failed)
        return;
    tg_buf_reset(&stream->terminal);
    tg_buf_add(&stream->terminal, tg_buf_text(out) + from, out->len - from);
    out->len = from;
}

static void convert(struct tg_stream *stream, struct tg_span data, struct tg_buf *out)
{
    size_t from = out->len;
    struct tg_json *tree;
    struct tg_error error;

    if (tg_json_parse(data.ptr, data.len, &tree, &error) != TG_OK) {
        fail_invalid(stream, "the upstream sent an event that cannot be converted");
        return;
    }
    stream->target = out;
    if (!tg_chain_feed(stream->chain, tree) &&
        tg_chain_state(stream->chain, &error) == TG_HOP_END_ERROR) {
        fail(stream, TG_END_HANDLER_STOP, &error);
        keep_failure(stream, out, from);
    }
    tg_json_free(tree);
}

/* What the client gets for an event of the upstream, behind what <out> holds. */
static void put_event(struct tg_stream *stream, const struct tg_sse_event *event,
                      struct tg_buf *out)
{
    if (stream->chain != NULL) {
        convert(stream, event->data, out);
        return;
    }
    if (tells_failure(stream))
        tg_opening_keep(&stream->opening, event->data, stream->conf.rename_to);
    stream->conf.upstream->frame(event, stream->conf.rename_to, out);
}

static void send_event(struct tg_stream *stream, const struct tg_sse_event *event)
{
    tg_buf_reset(&stream->frame);
    put_event(stream, event, &stream->frame);
    if (stream->frame.len > 0)
        (void)tg_client_send(stream->client, stream->frame.data, stream->frame.len);
}

static void hold_event(struct tg_stream *stream, const struct tg_sse_event *event)
{
    put_event(stream, event, &stream->preamble);
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
    switch (stream->conf.upstream->part(event, read)) {
    case TG_CHAT_PART_CONTENT:
        on_content(stream, event);
        break;
    case TG_CHAT_PART_PREAMBLE:
        on_quiet(stream, event);
        break;
    case TG_CHAT_PART_USAGE:
        if (stream->client->req->wants_usage || stream->chain != NULL)
            on_quiet(stream, event);
        break;
    case TG_CHAT_PART_ERROR:
        on_upstream_error(stream, read);
        break;
    case TG_CHAT_PART_DONE:
        if (event->data.ptr[0] == '{') /* an event of its own, no mere mark */
            put_event(stream, event, &stream->terminal);
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
    stream->conf.upstream->read_event(event->data, &read, &stream->content);
    /* Usage counts wherever it comes, even behind the end. */
    if (stream->conf.upstream->sums_up) {
        tg_figures_read(&stream->figures, event->data);
    } else if (read.has_usage) {
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
    tg_buf_init(&stream->terminal, 0);
    tg_figures_init(&stream->figures, conf->upstream->figures);
    if (conf->route != NULL && conf->route->step_count > 0)
        stream->chain = tg_chain_open(conf->route, conf->convert, on_converted, stream);
    tg_sse_init(&stream->sse, conf->event_limit, on_event, NULL, stream);
}

void tg_stream_done(struct tg_stream *stream)
{
    tg_sse_done(&stream->sse);
    tg_count_done(&stream->count);
    tg_buf_done(&stream->preamble);
    tg_buf_done(&stream->frame);
    tg_buf_done(&stream->content);
    tg_buf_done(&stream->terminal);
    tg_buf_done(&stream->opening.response);
    tg_chain_close(stream->chain);
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

/* What ends the answer in the client's protocol. */
static void end_chain(struct tg_stream *stream)
{
    struct tg_span last = stream->conf.spoken->last;
    struct tg_error error;

    if (stream->chain != NULL) {
        stream->target = &stream->terminal;
        tg_chain_end(stream->chain, stream->done_seen ? TG_HOP_END_DONE : TG_HOP_END_EOF, NULL);
        if (tg_chain_state(stream->chain, &error) == TG_HOP_END_ERROR)
            fail(stream, TG_END_HANDLER_STOP, &error);
    }
    /* An upstream's own last event is there already, and so is one that was converted to. */
    if (stream->terminal.len == 0 || stream->conf.spoken->protocol == TG_PROTOCOL_CHAT)
        tg_buf_add(&stream->terminal, last.ptr, last.len);
}

static void end_whole(struct tg_stream *stream)
{
    stream->end_reason = stream->done_seen ? TG_END_DONE : TG_END_EOF;
    if (!stream->arrived)
        end_empty(stream);
    if (stream->error.class == TG_OK)
        end_chain(stream);
}

/* The client has had content: its stream ends as what it began with. */
static void tell_failure(struct tg_stream *stream)
{
    const struct tg_request *req = stream->client->req;
    struct tg_error shown;

    if (!tells_failure(stream) || !req->content_sent || stream->error.class == TG_OK)
        return;
    tg_failure_shown(&stream->error, req->id_text, req->attempt_count, &shown);
    if (stream->chain == NULL) {
        tg_buf_reset(&stream->terminal);
        tg_opening_fail(&stream->opening, &shown, &stream->terminal);
        return;
    }
    stream->target = &stream->terminal;
    tg_chain_end(stream->chain, TG_HOP_END_ERROR, &shown);
}

/* Figures that are spread over a stream are known when it has said why it stopped: before that,
 * what it told at its beginning is not what it cost (R2). */
static void sum_up(struct tg_stream *stream)
{
    if (stream->conf.upstream->sums_up && stream->finish_seen)
        stream->has_usage = tg_figures_usage(&stream->figures, &stream->usage);
}

static void end_as(struct tg_stream *stream, const struct tg_http_result *shown)
{
    if (stream->done_seen || (shown->end == TG_HTTP_DONE && stream->finish_seen))
        end_whole(stream);
    else if (stream->client->cut)
        fail_cut(stream);
    else if (shown->end == TG_HTTP_DONE || (shown->end == TG_HTTP_RESET && stream->arrived))
        fail_truncated(stream);
    else
        fail_end(stream, shown);
}

void tg_stream_end(struct tg_stream *stream, const struct tg_http_result *result, bool late)
{
    struct tg_http_result shown = *result;

    if (late)
        shown.end = TG_HTTP_TIMEOUT_DEADLINE;
    if (stream->dribbles)
        shown.end = TG_HTTP_TIMEOUT_IDLE;
    tg_sse_end(&stream->sse); /* a last event without its blank line may hold the usage */
    sum_up(stream);
    if (stream->client->gone)
        return;
    if (stream->error.class == TG_OK)
        end_as(stream, &shown);
    tell_failure(stream);
}
