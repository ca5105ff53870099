#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/compress/inflate.h"
#include "fcgi-app/access/access.h"
#include "fcgi-app/body_gemini.h"
#include "fcgi-app/body_store.h"
#include "fcgi-app/endpoint.h"
#include "fcgi-app/stages.h"
#include "fcgi-app/worker.h"

#include <stdio.h>
#include <string.h>

enum {
    CHUNK = 4 * 1024, /* on the stack, whose pages stay with the thread */
    SLOW_AFTER_US = 10000000, /* then a body must come at SLOW_BYTES a second (AMENDMENTS T5) */
    SLOW_BYTES = 4096,
    RATIO_FROM = 1024 * 1024, /* body.ratio asks no questions below */
    UNKNOWN_CALLER_MOST = 64 * 1024, /* internal calls prove themselves by what their body says */
    ANSWERS_MOST = 128               /* as OpenAI allows */
};

/* ---- arrival ---- */

struct arrival {
    struct tg_request *req;
    struct tg_body_store store;
    struct tg_inflate *inflate; /* NULL: not compressed */
    int64_t announced;          /* CONTENT_LENGTH, -1 when there is none to trust */
    int64_t received;           /* as sent, before inflating */
    int64_t began_at_us;
    int64_t ratio; /* 0: no limit */
};

/* Chunked bodies arrive as "-1" (Caddy), empty (nginx) or absent (Apache). */
static int64_t announced_length(const struct tg_request *req)
{
    const char *text = tg_fcgi_param(req->fcgi, "CONTENT_LENGTH");
    int64_t length = 0;

    if (text == NULL || *text == '\0')
        return -1;
    for (; *text != '\0'; text++) {
        if (*text < '0' || *text > '9' || length > INT64_MAX / 100)
            return -1;
        length = length * 10 + (*text - '0');
    }
    return length;
}

static enum tg_class too_large(const struct arrival *arrival)
{
    return tg_fail(&arrival->req->error, TG_CLASS_TOO_LARGE, "request_too_large",
                   "The request body is larger than %zu bytes.", arrival->store.most);
}

static enum tg_class store_failed(const struct arrival *arrival)
{
    if (arrival->store.too_large)
        return too_large(arrival);
    tg_log(TG_LOG_ERROR, "body", "cannot keep a body in %s: %s", arrival->store.folder,
           strerror(arrival->store.error_number));
    return tg_fail(&arrival->req->error, TG_CLASS_OVERLOAD, "overloaded",
                   "There is no room for this request body now.");
}

/* A bomb is refused before it has filled a disk with zeros up to body.limit. */
static bool is_bomb(const struct arrival *arrival)
{
    return arrival->ratio > 0 && arrival->store.len > RATIO_FROM &&
           (int64_t)arrival->store.len / arrival->ratio > arrival->received;
}

static enum tg_class take_piece(struct arrival *arrival, const char *bytes, size_t len)
{
    const struct tg_inflate_target target = {tg_body_store_add, &arrival->store};
    enum tg_class class;

    arrival->received += (int64_t)len;
    if (arrival->inflate != NULL) {
        class = tg_inflate_feed(arrival->inflate, (struct tg_span){bytes, len}, &target,
                                &arrival->req->error);
        if (class != TG_OK)
            return class;
    } else {
        (void)!tg_body_store_add(&arrival->store, bytes, len);
    }
    if (arrival->store.too_large || arrival->store.error_number != 0)
        return store_failed(arrival);
    if (arrival->inflate != NULL && is_bomb(arrival))
        return tg_fail(&arrival->req->error, TG_CLASS_TOO_LARGE, "request_too_large",
                       "The compressed request body is larger than %lld times what was sent.",
                       (long long)arrival->ratio);
    return TG_OK;
}

static enum tg_class late(const struct arrival *arrival)
{
    return tg_fail(&arrival->req->error, TG_CLASS_INVALID, "body_timeout",
                   "The request body did not arrive in time.");
}

static bool is_too_slow(const struct arrival *arrival)
{
    int64_t since_us = tg_now_us() - arrival->began_at_us;

    return since_us > SLOW_AFTER_US && arrival->received / SLOW_BYTES < since_us / 1000000 - 10;
}

static enum tg_class read_all(struct arrival *arrival)
{
    struct tg_request *req = arrival->req;
    char chunk[CHUNK];
    enum tg_class class;
    size_t len;

    for (;;) {
        class = tg_fcgi_read(req->fcgi, chunk, sizeof chunk, &len, &req->error);
        if (class == TG_CLASS_TIMEOUT)
            return late(arrival);
        if (class != TG_OK)
            return class;
        if (len == 0)
            break;
        class = take_piece(arrival, chunk, len);
        if (class != TG_OK)
            return class;
        if (is_too_slow(arrival))
            return late(arrival);
    }
    if (arrival->announced > arrival->received)
        return tg_fail(&req->error, TG_CLASS_INVALID, "body_incomplete",
                       "The request body ended after %lld of %lld bytes.",
                       (long long)arrival->received, (long long)arrival->announced);
    if (arrival->announced >= 0 && arrival->announced < arrival->received)
        return tg_fail(&req->error, TG_CLASS_INVALID, "body_too_long",
                       "The request body goes on after its %lld bytes.",
                       (long long)arrival->announced);
    if (arrival->inflate != NULL && arrival->received > 0 &&
        !tg_inflate_is_whole(arrival->inflate))
        return tg_fail(&req->error, TG_CLASS_INVALID, "bad_encoding",
                       "The compressed request body is cut short.");
    return TG_OK;
}

static enum tg_class begin_arrival(struct arrival *arrival, struct tg_request *req)
{
    const struct tg_conf *conf = tg_worker_settings(req->worker)->conf;
    const char *encoding = tg_fcgi_header(req->fcgi, "content-encoding");
    enum tg_encoding form = TG_ENCODING_IDENTITY;

    *arrival = (struct arrival){
        .req = req,
        .announced = announced_length(req),
        .began_at_us = tg_now_us(),
        .ratio = tg_conf_int(conf, TG_OPTION_BODY_RATIO)};
    tg_body_store_init(&arrival->store, (size_t)tg_conf_int(conf, TG_OPTION_BODY_MEMORY),
                       req->credential != NULL ? (size_t)tg_conf_int(conf, TG_OPTION_BODY_LIMIT)
                                               : (size_t)UNKNOWN_CALLER_MOST,
                       tg_conf_text(conf, TG_OPTION_BODY_FOLDER));
    tg_fcgi_set_read_deadline(req->fcgi,
                              arrival->began_at_us + tg_conf_int(conf, TG_OPTION_BODY_DEADLINE));
    if (encoding != NULL && !tg_encoding_parse(encoding, &form))
        return tg_fail(&req->error, TG_CLASS_INVALID, "unsupported_encoding",
                       "Content-Encoding must be gzip, deflate, zstd or identity.");
    if (arrival->announced > (int64_t)arrival->store.most)
        return too_large(arrival);
    if (form != TG_ENCODING_IDENTITY)
        arrival->inflate = tg_inflate_new(form);
    return TG_OK;
}

static enum tg_class receive(struct tg_request *req)
{
    struct arrival arrival;
    enum tg_class class = begin_arrival(&arrival, req);

    if (class == TG_OK)
        class = read_all(&arrival);
    req->request_bytes = arrival.received;
    if (class == TG_OK && !tg_body_store_take(&arrival.store, &req->body, &req->body_mapped))
        class = store_failed(&arrival);
    tg_inflate_free(arrival.inflate);
    tg_body_store_done(&arrival.store);
    return class;
}

/* ---- what must be known of it ---- */

static enum tg_class invalid(struct tg_request *req, const char *param, const char *expected)
{
    enum tg_class class = tg_fail(&req->error, TG_CLASS_INVALID, "invalid_type", "'%s' must be %s.",
                                  param, expected);

    memcpy(req->error.param, param, strlen(param) + 1);
    return class;
}

static bool is_missing(enum tg_json_got got)
{
    return got == TG_JSON_GOT_ABSENT || got == TG_JSON_GOT_NULL;
}

static enum tg_class take_model(struct tg_request *req)
{
    struct tg_span model;
    enum tg_json_got got = tg_json_get_string(req->json, "model", &model);

    if (is_missing(got) || (got == TG_JSON_GOT && model.len == 0)) {
        tg_fail(&req->error, TG_CLASS_INVALID, "invalid_model", "'model' is required.");
        memcpy(req->error.param, "model", sizeof "model");
        return TG_CLASS_INVALID;
    }
    if (got != TG_JSON_GOT)
        return invalid(req, "model", "a string");
    if (model.len > TG_MODEL_NAME_MOST || memchr(model.ptr, '\0', model.len) != NULL)
        return invalid(req, "model", "a name of at most 191 bytes");
    req->model = tg_arena_strndup(req->arena, model.ptr, model.len);
    return TG_OK;
}

static enum tg_class take_stream(struct tg_request *req)
{
    enum tg_json_got got = tg_json_get_bool(req->json, "stream", &req->stream);

    if (!is_missing(got) && got != TG_JSON_GOT)
        return invalid(req, "stream", "true or false");
    return TG_OK;
}

static enum tg_class refuse_messages(struct tg_request *req, const char *code, const char *message)
{
    enum tg_class class = tg_fail(&req->error, TG_CLASS_INVALID, code, "%s", message);

    memcpy(req->error.param, "messages", sizeof "messages");
    return class;
}

/* What no upstream of any protocol would take is not asked of one. */
static enum tg_class check_messages(struct tg_request *req)
{
    const struct tg_json *messages;
    enum tg_json_got got = tg_json_get_array(req->json, "messages", &messages);

    if (is_missing(got))
        return refuse_messages(req, "missing_required_parameter", "'messages' is required.");
    if (got != TG_JSON_GOT)
        return invalid(req, "messages", "an array");
    if (tg_json_array_len(messages) == 0)
        return refuse_messages(req, "empty_array", "'messages' must not be empty.");
    return TG_OK;
}

/* The provider keeps responses under the operator's account, for all users alike: whose they are
 * is not known here, so nobody may go on with one. */
static enum tg_class refuse_state(struct tg_request *req, const char *param)
{
    bool previous = strcmp(param, "previous_response_id") == 0;

    (void)tg_fail(&req->error, TG_CLASS_INVALID,
                  previous ? "previous_response_not_found" : "unsupported_parameter",
                  "'%s' is not offered by this gateway, which keeps no responses. Send the whole "
                  "conversation as 'input'.",
                  param);
    snprintf(req->error.param, sizeof req->error.param, "%s", param);
    return TG_CLASS_INVALID;
}

static enum tg_class check_state(struct tg_request *req)
{
    static const char *const states[] = {"previous_response_id", "conversation"};
    const struct tg_json *value;
    bool background = false;

    for (size_t i = 0; i < TG_COUNT_OF(states); i++)
        if (tg_json_get(req->json, states[i], &value) == TG_JSON_GOT)
            return refuse_state(req, states[i]);
    (void)tg_json_get_bool(req->json, "background", &background);
    return background ? refuse_state(req, "background") : TG_OK;
}

static enum tg_class check_input(struct tg_request *req)
{
    const struct tg_json *input;
    struct tg_span type;

    if (tg_json_get(req->json, "input", &input) != TG_JSON_GOT)
        return check_state(req);
    if (tg_json_type(input) != TG_JSON_STRING && tg_json_type(input) != TG_JSON_ARRAY)
        return invalid(req, "input", "a string or an array");
    for (size_t i = 0; i < tg_json_array_len(input); i++)
        if (tg_json_get_string(tg_json_array_at(input, i), "type", &type) == TG_JSON_GOT &&
            type.len == 14 && memcmp(type.ptr, "item_reference", 14) == 0)
            return refuse_state(req, "input");
    return check_state(req);
}

static enum tg_class check_prompt(struct tg_request *req)
{
    return req->endpoint->protocol == TG_PROTOCOL_RESPONSES ? check_input(req)
                                                            : check_messages(req);
}

static enum tg_class take_options(struct tg_request *req)
{
    const struct tg_json *options;
    enum tg_json_got got;

    got = tg_json_get_object(req->json, "stream_options", &options);
    if (is_missing(got))
        return TG_OK;
    if (got != TG_JSON_GOT)
        return invalid(req, "stream_options", "an object");
    got = tg_json_get_bool(options, "include_usage", &req->wants_usage);
    if (!is_missing(got) && got != TG_JSON_GOT)
        return invalid(req, "stream_options.include_usage", "true or false");
    return TG_OK;
}

/* Each answer may use the whole output: all of them are deposited for. */
static enum tg_class take_answers(struct tg_request *req)
{
    enum tg_json_got got = tg_json_get_int(req->json, "n", &req->answers);

    if (is_missing(got))
        return TG_OK;
    if (got != TG_JSON_GOT || req->answers < 1 || req->answers > ANSWERS_MOST)
        return invalid(req, "n", "a whole number from 1 to 128");
    return TG_OK;
}

static enum tg_class take_ceiling(struct tg_request *req, const char *name, int64_t least)
{
    int64_t value;
    enum tg_json_got got = tg_json_get_int(req->json, name, &value);

    if (is_missing(got))
        return TG_OK;
    if (got != TG_JSON_GOT || value < least)
        return invalid(req, name, least == 0 ? "a whole number" : "a whole number, 1 or more");
    req->max_output_tokens = TG_MAX(value, 1);
    return TG_OK;
}

/* Of the two names of the ceiling the newer one wins. */
static enum tg_class take_chat(struct tg_request *req)
{
    enum tg_class class = take_options(req);

    if (class == TG_OK)
        class = take_ceiling(req, "max_tokens", 1);
    if (class == TG_OK)
        class = take_ceiling(req, "max_completion_tokens", 1);
    if (class == TG_OK)
        class = take_answers(req);
    return class;
}

/* A ceiling of 0 warms a prompt cache. */
static enum tg_class take_protocol(struct tg_request *req)
{
    switch (req->endpoint->protocol) {
    case TG_PROTOCOL_MESSAGES:
        return take_ceiling(req, "max_tokens", 0);
    case TG_PROTOCOL_RESPONSES:
        return take_ceiling(req, "max_output_tokens", 1);
    case TG_PROTOCOL_CHAT:
    case TG_PROTOCOL_GEMINI:
        break;
    }
    return take_chat(req);
}

static enum tg_class understand(struct tg_request *req)
{
    enum tg_class class = tg_json_parse(req->body.ptr != NULL ? req->body.ptr : "", req->body.len,
                                        &req->json, &req->error);

    if (class != TG_OK)
        return class;
    if (tg_json_type(req->json) != TG_JSON_OBJECT)
        return tg_fail(&req->error, TG_CLASS_INVALID, "invalid_json",
                       "The request body must be a JSON object.");
    req->answers = 1;
    if (req->endpoint->protocol == TG_PROTOCOL_GEMINI)
        return tg_body_gemini(req);
    class = take_model(req);
    if (class == TG_OK)
        class = take_stream(req);
    if (class == TG_OK)
        class = take_protocol(req);
    if (class == TG_OK)
        class = check_prompt(req);
    return class;
}

enum tg_verdict tg_stage_body(struct tg_request *req)
{
    enum tg_class class = req->body_understood ? TG_OK : receive(req);

    if (class == TG_CLASS_GONE)
        return TG_GONE;
    if (class != TG_OK)
        return TG_ANSWER;
    if (!tg_endpoint_asks_model(req->endpoint))
        return TG_NEXT;
    if (!req->body_understood && understand(req) != TG_OK)
        return TG_ANSWER;
    req->body_understood = true;
    if (!tg_access_model_allowed(req->credential, req->model)) {
        tg_fail(&req->error, TG_CLASS_FORBIDDEN, "model_not_allowed",
                "This API token may not use the model '%s'.", req->model);
        return TG_ANSWER;
    }
    return TG_NEXT;
}

void tg_body_done(struct tg_request *req)
{
    tg_json_free(req->json);
    req->json = NULL;
    if (req->body.ptr != NULL)
        tg_body_release(req->body, req->body_mapped);
    req->body = (struct tg_span){0};
}
