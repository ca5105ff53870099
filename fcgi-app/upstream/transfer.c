#include "fcgi-app/upstream/transfer.h"

#include "common/base/clock.h"
#include "common/base/log.h"
#include "fcgi-app/convert/error_body.h"
#include "fcgi-app/relay/classify.h"
#include "fcgi-app/upstream/passed.h"
#include "fcgi-app/worker.h"

#include <string.h>
#include <strings.h>

enum { ERROR_BODY_MOST = 64 * 1024 };

/* --- the exchange -------------------------------------------------------------------------- */

static const char *copy_header(struct tg_transfer *transfer, const struct tg_http_answer *answer,
                               const char *name)
{
    const char *value = tg_http_answer_header(answer, name);

    return value == NULL ? NULL : tg_arena_strdup(transfer->req->arena, value);
}

static bool type_is(const struct tg_http_answer *answer, const char *type)
{
    const char *value = tg_http_answer_header(answer, "content-type");

    return value != NULL && strncasecmp(value, type, strlen(type)) == 0;
}

/* Upstreams that mislabel a stream are common; one that says JSON or HTML means it. */
static bool is_stream(const struct tg_http_answer *answer)
{
    return !type_is(answer, "application/json") && !type_is(answer, "text/html");
}

static bool on_headers(void *context, int status, const struct tg_http_answer *answer)
{
    struct tg_transfer *transfer = context;
    const struct tg_conf *conf = tg_worker_settings(transfer->req->worker)->conf;

    transfer->most = ERROR_BODY_MOST;
    tg_passed_take(transfer->req, answer);
    if (status < 200 || status > 299) {
        transfer->take = TG_TAKE_ERROR;
        for (size_t i = 0; i < TG_SIGN__COUNT; i++)
            transfer->signs[i] = copy_header(transfer, answer, tg_key_sign_names[i]);
        transfer->should_retry = copy_header(transfer, answer, "x-should-retry");
    } else if (transfer->req->stream) {
        transfer->take = is_stream(answer) ? TG_TAKE_STREAM : TG_TAKE_WRONG;
    } else if (type_is(answer, "text/event-stream")) {
        transfer->take = TG_TAKE_WRONG;
        return false;
    } else {
        transfer->take = TG_TAKE_ANSWER;
        transfer->most = (size_t)tg_conf_int(conf, TG_OPTION_UPSTREAM_ANSWER_LIMIT);
    }
    return true;
}

static bool on_body(void *context, const char *bytes, size_t len)
{
    struct tg_transfer *transfer = context;

    if (transfer->take == TG_TAKE_STREAM)
        return tg_stream_feed(&transfer->stream, bytes, len);
    transfer->too_large = len > transfer->most - transfer->body.len;
    if (transfer->too_large)
        len = transfer->most - transfer->body.len;
    tg_buf_add(&transfer->body, bytes, len);
    return !transfer->too_large;
}

/* A stream that has content may go on beyond the request's deadline. */
static bool is_late(const struct tg_transfer *transfer, int64_t now_us)
{
    return now_us >= transfer->deadline_at_us && !transfer->stream.arrived;
}

static bool on_tick(void *context, int64_t now_us, bool client_ready, int64_t *ret_wake_at_us)
{
    struct tg_transfer *transfer = context;

    (void)client_ready; /* the tick looks for itself */
    if (!tg_client_tick(transfer->client, now_us, ret_wake_at_us))
        return false;
    transfer->spec.client_events = transfer->client->poll_events;
    transfer->late = is_late(transfer, now_us);
    if (!transfer->stream.arrived)
        *ret_wake_at_us = TG_MIN(*ret_wake_at_us, transfer->deadline_at_us);
    return !transfer->late && tg_stream_tick(&transfer->stream, now_us, ret_wake_at_us);
}

static int64_t limit(int64_t own_us, const struct tg_conf *conf, enum tg_option_id option)
{
    return own_us > 0 ? own_us : tg_conf_int(conf, option);
}

static void exchange(struct tg_transfer *transfer)
{
    const struct tg_settings *settings = tg_worker_settings(transfer->req->worker);
    const struct tg_channel *channel = transfer->channel;
    const struct tg_http_sink sink = {transfer, on_headers, on_body, on_tick};

    transfer->spec = (struct tg_http_spec){
        .purpose = TG_HTTP_CHANNEL,
        .method = "POST",
        .url = transfer->call->url,
        .proxy = channel->proxy,
        .headers = transfer->call->headers,
        .header_count = transfer->call->header_count,
        .body = transfer->call->body.spans,
        .body_count = transfer->call->body.count,
        .connect_us = limit(channel->connect_us, settings->conf, TG_OPTION_UPSTREAM_CONNECT),
        .first_byte_us =
            limit(channel->first_byte_us, settings->conf, TG_OPTION_UPSTREAM_FIRST_BYTE),
        .idle_us = limit(channel->idle_us, settings->conf, TG_OPTION_UPSTREAM_IDLE),
        .deadline_at_us = transfer->deadline_at_us,
        .allow = settings->channel_allow,
        .allow_count = settings->channel_allow_count,
        .client_fd = tg_fcgi_descriptor(transfer->req->fcgi),
        .client_events = transfer->client->poll_events,
        .trickles = transfer->req->stream,
        .wake_fd = transfer->req->worker->cut_fd,
    };
    tg_http_exchange(transfer->req->worker->http, &transfer->spec, &sink, &transfer->http);
    transfer->req->received_bytes += transfer->http.received_bytes;
    if (transfer->http.detail[0] != '\0')
        tg_log(TG_LOG_INFO, "upstream", "request %s, channel %lld: %s: %s",
               transfer->req->id_text, (long long)channel->id,
               tg_http_end_name(transfer->http.end), transfer->http.detail);
}

/* --- what it was --------------------------------------------------------------------------- */

static void fail_invalid(struct tg_transfer *transfer, const char *message)
{
    (void)tg_fail(&transfer->error, TG_CLASS_TRANSPORT, "upstream_invalid", "%s", message);
    transfer->error.flags |= TG_ERROR_MAYBE_ACCEPTED;
}

static void end_error(struct tg_transfer *transfer)
{
    const struct tg_retry_hints hints = {transfer->signs[TG_SIGN_RETRY_AFTER_MS],
                                         transfer->signs[TG_SIGN_RETRY_AFTER],
                                         transfer->should_retry};
    struct tg_span body = {tg_buf_text(&transfer->body), transfer->body.len};

    tg_classify_status(transfer->http.status, body, &hints, tg_unix_us(), &transfer->error);
}

/* JSON where a stream was asked for: an error, or an answer that cannot be given to the client. */
static void end_wrong(struct tg_transfer *transfer)
{
    struct tg_span body = {tg_buf_text(&transfer->body), transfer->body.len};

    if (transfer->req->stream && tg_error_body_is(body)) {
        tg_error_body_read(transfer->http.status, body, &transfer->error);
        tg_classify_inside(&transfer->error);
        return;
    }
    fail_invalid(transfer, transfer->req->stream ? "the upstream did not answer with a stream"
                                                 : "the upstream answered with a stream");
}

static void end_stream(struct tg_transfer *transfer)
{
    struct tg_stream *stream = &transfer->stream;

    tg_stream_end(stream, &transfer->http, transfer->late);
    transfer->error = stream->error;
    transfer->end_reason = stream->end_reason;
    transfer->arrived = stream->arrived;
    transfer->has_usage = stream->has_usage;
    transfer->usage = stream->usage;
    transfer->counted_output = tg_count_total(&stream->count);
}

static bool is_converted(const struct tg_transfer *transfer)
{
    return transfer->call->route != NULL && transfer->call->route->step_count > 0;
}

static void rename_answer(struct tg_transfer *transfer)
{
    struct tg_span body = {transfer->body.data, transfer->body.len};
    struct tg_buf renamed;

    if (transfer->call->rename_to == NULL)
        return;
    tg_buf_init(&renamed, 0);
    tg_dialect_of(transfer->call->protocol)
        ->rename_answer(body, transfer->call->rename_to, &renamed);
    tg_buf_done(&transfer->body);
    transfer->body = renamed;
}

/* The answer in the client's protocol. */
static void convert_answer(struct tg_transfer *transfer)
{
    struct tg_span body = {tg_buf_text(&transfer->body), transfer->body.len};
    struct tg_json *answer, *made;

    if (tg_json_parse(body.ptr, body.len, &answer, NULL) != TG_OK) {
        fail_invalid(transfer, "the answer cannot be converted");
        return;
    }
    if (tg_route_answer(transfer->call->route, transfer->call->convert, answer, &made,
                        &transfer->error) == TG_OK) {
        tg_buf_reset(&transfer->body);
        tg_json_print(made, &transfer->body);
        tg_json_free(made);
    }
    tg_json_free(answer);
}

static void read_answer(struct tg_transfer *transfer, struct tg_buf *content)
{
    const struct tg_dialect *dialect = tg_dialect_of(transfer->call->protocol);
    struct tg_span body = {tg_buf_text(&transfer->body), transfer->body.len};
    const struct tg_conf *conf = tg_worker_settings(transfer->req->worker)->conf;
    struct tg_chat_event read;

    dialect->read_answer(body, &read, content);
    if (read.malformed) {
        fail_invalid(transfer, "the answer is no JSON");
        return;
    }
    if (read.has_error) {
        transfer->error = read.error;
        tg_classify_inside(&transfer->error);
        return;
    }
    transfer->has_usage = read.has_usage;
    transfer->usage = read.usage;
    transfer->arrived = read.content != 0;
    transfer->counted_output = tg_count_text(transfer->req->worker->encoders, transfer->model,
                                             tg_buf_text(content), content->len);
    if (!transfer->arrived && tg_conf_bool(conf, TG_OPTION_RETRY_EMPTY_ANSWER))
        (void)tg_fail(&transfer->error, TG_CLASS_TRANSPORT, "empty_answer",
                      "the answer holds no content");
    else if (is_converted(transfer))
        convert_answer(transfer);
    else
        rename_answer(transfer);
}

static void end_answer(struct tg_transfer *transfer)
{
    struct tg_buf content;

    tg_buf_init(&content, 0);
    read_answer(transfer, &content);
    tg_buf_done(&content);
}

/* The exchange broke off before there was a whole answer. */
static void end_broken(struct tg_transfer *transfer)
{
    struct tg_http_result shown = transfer->http;

    if (transfer->too_large) {
        fail_invalid(transfer, "the answer is larger than upstream.answer_limit");
        return;
    }
    if (transfer->client->cut) {
        tg_client_cut_error(&transfer->error);
        transfer->end_reason = TG_END_HANDLER_STOP;
        return;
    }
    if (transfer->late)
        shown.end = TG_HTTP_TIMEOUT_DEADLINE;
    tg_classify_end(&shown, &transfer->error);
    if (transfer->error.class == TG_CLASS_TIMEOUT)
        transfer->end_reason = TG_END_TIMEOUT;
}

static void conclude(struct tg_transfer *transfer)
{
    bool whole = transfer->http.end == TG_HTTP_DONE;

    switch (transfer->take) {
    case TG_TAKE_STREAM:
        end_stream(transfer);
        return;
    case TG_TAKE_ERROR:
        end_error(transfer); /* a broken body does not change the status */
        return;
    case TG_TAKE_WRONG:
        if (whole || transfer->too_large || !transfer->req->stream)
            end_wrong(transfer);
        else
            end_broken(transfer);
        return;
    case TG_TAKE_ANSWER:
        if (whole)
            end_answer(transfer);
        else
            end_broken(transfer);
        return;
    case TG_TAKE_NOTHING:
        end_broken(transfer);
        return;
    }
}

void tg_transfer_run(struct tg_transfer *transfer)
{
    const struct tg_conf *conf = tg_worker_settings(transfer->req->worker)->conf;
    const struct tg_stream_conf stream_conf = {
        .upstream = tg_dialect_as(transfer->call->protocol, transfer->req->array),
        .spoken = tg_dialect_as(transfer->req->endpoint->protocol, transfer->req->array),
        .route = transfer->call->route,
        .convert = transfer->call->convert,
        .encoders = transfer->req->worker->encoders,
        .count_as = transfer->model,
        .rename_to = transfer->call->rename_to,
        .event_limit = (size_t)tg_conf_int(conf, TG_OPTION_STREAM_EVENT_LIMIT),
        .refuse_empty = tg_conf_bool(conf, TG_OPTION_RETRY_EMPTY_ANSWER),
        .idle_us = limit(transfer->channel->idle_us, conf, TG_OPTION_UPSTREAM_IDLE),
    };

    transfer->req->passed_count = 0;
    tg_buf_init(&transfer->body, 0);
    tg_stream_init(&transfer->stream, transfer->client, &stream_conf);
    exchange(transfer);
    conclude(transfer);
    if (is_converted(transfer))
        transfer->error.type[0] = '\0'; /* a word of the upstream's protocol, not the client's */
    /* An answer that came whole is one, even when nobody waits for it any more (R1). */
    if (transfer->client->gone &&
        (transfer->take != TG_TAKE_ANSWER || transfer->http.end != TG_HTTP_DONE))
        (void)tg_fail(&transfer->error, TG_CLASS_GONE, "client_gone", "the client has left");
}

void tg_transfer_done(struct tg_transfer *transfer)
{
    tg_stream_done(&transfer->stream);
    tg_buf_done(&transfer->body);
}
