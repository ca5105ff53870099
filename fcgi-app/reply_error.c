#include "fcgi-app/reply_error.h"

#include "common/base/clock.h"
#include "common/json/writer.h"

#include <string.h>

enum { RETRY_AFTER_MOST_S = 300 }; /* SDKs sleep whatever we say, without a limit of their own */

/* What each protocol is told. A code of NULL is the error's own. */
struct row {
    int status;
    const char *type, *code;
    int messages_status;
    const char *messages_type;
    int gemini_status;
    const char *gemini_word;
    int64_t retry_after_s; /* when the error knows none; 0: no header */
    const char *message;   /* NULL: the error's own */
};

#define ROW(...) {__VA_ARGS__}

static const struct row own_rows[TG_CLASS__COUNT] = {
    [TG_CLASS_AUTH] = ROW(401, "invalid_request_error", NULL, 401, "authentication_error", 401,
                          "UNAUTHENTICATED", 0, NULL),
    [TG_CLASS_FORBIDDEN] = ROW(403, "permission_error", NULL, 403, "permission_error", 403,
                               "PERMISSION_DENIED", 0, NULL),
    [TG_CLASS_FUNDS] = ROW(429, "insufficient_quota", "insufficient_quota", 402, "billing_error",
                           403, "PERMISSION_DENIED", 0, NULL),
    [TG_CLASS_INVALID] = ROW(400, "invalid_request_error", NULL, 400, "invalid_request_error", 400,
                             "INVALID_ARGUMENT", 0, NULL),
    [TG_CLASS_NOT_FOUND] = ROW(404, "invalid_request_error", NULL, 404, "not_found_error", 404,
                               "NOT_FOUND", 0, NULL),
    [TG_CLASS_METHOD] = ROW(405, "invalid_request_error", "unknown_url", 405, "not_found_error",
                            405, "NOT_FOUND", 0, NULL),
    [TG_CLASS_TOO_LARGE] = ROW(413, "invalid_request_error", "request_too_large", 413,
                               "request_too_large", 413, "INVALID_ARGUMENT", 0, NULL),
    [TG_CLASS_HEADERS] = ROW(431, "invalid_request_error", "headers_too_large", 431,
                             "invalid_request_error", 431, "INVALID_ARGUMENT", 0, NULL),
    [TG_CLASS_LIMIT] = ROW(429, "rate_limit_error", "rate_limit_exceeded", 429, "rate_limit_error",
                           429, "RESOURCE_EXHAUSTED", 1, NULL),
    [TG_CLASS_UNPRICED] = ROW(400, "invalid_request_error", "price_not_configured", 400,
                              "invalid_request_error", 400, "FAILED_PRECONDITION", 0, NULL),
    [TG_CLASS_EXHAUSTED] = ROW(429, "rate_limit_error", "channels_exhausted", 429,
                               "rate_limit_error", 429, "RESOURCE_EXHAUSTED", 1, NULL),
    [TG_CLASS_ACCOUNT] = ROW(502, "server_error", "upstream_account", 529, "overloaded_error", 502,
                             "UNAVAILABLE", 0,
                             "The upstream provider refused the gateway's account."),
    [TG_CLASS_ABSENT] = ROW(501, "server_error", "api_not_implemented", 501, "api_error", 501,
                            "UNIMPLEMENTED", 0, NULL),
    [TG_CLASS_NO_CHANNEL] = ROW(503, "server_error", "no_channel", 529, "overloaded_error", 503,
                                "UNAVAILABLE", 1, NULL),
    [TG_CLASS_TIMEOUT] = ROW(504, "server_error", "upstream_timeout", 504, "timeout_error", 504,
                             "DEADLINE_EXCEEDED", 0, NULL),
    [TG_CLASS_OVERLOAD] = ROW(503, "server_error", "overloaded", 529, "overloaded_error", 503,
                              "UNAVAILABLE", 1, NULL),
    [TG_CLASS_INTERNAL] = ROW(500, "server_error", "internal", 500, "api_error", 500, "INTERNAL", 0,
                              "Internal error of the gateway."),
    [TG_CLASS_TRANSPORT] = ROW(502, "server_error", "upstream_unreachable", 500, "api_error", 503,
                               "UNAVAILABLE", 0,
                               "The upstream provider could not be reached or broke off."),
    [TG_CLASS_GONE] = ROW(499, "server_error", "cancelled", 500, "api_error", 499, "CANCELLED", 0,
                          "The client has left."),
    [TG_CLASS_DOWN] = ROW(503, "server_error", "overloaded", 529, "overloaded_error", 503,
                          "UNAVAILABLE", 1, "The gateway's stores do not answer. Try again later."),
    [TG_CLASS_UNPROCESSABLE] = ROW(422, "invalid_request_error", NULL, 422,
                                   "invalid_request_error", 422, "FAILED_PRECONDITION", 0, NULL),
    [TG_CLASS_CONFLICT] = ROW(409, "invalid_request_error", NULL, 409, "conflict_error", 409,
                              "ABORTED", 0, NULL),
    [TG_CLASS_CONFIG] = ROW(500, "server_error", "internal", 500, "api_error", 500, "INTERNAL", 0,
                            "Internal error of the gateway."),
};

/* An upstream's error by its status. Type and code are the upstream's when it gave any. */
static const struct {
    int upstream;
    struct row row;
} upstream_rows[] = {
    {400, ROW(400, "invalid_request_error", NULL, 400, "invalid_request_error", 400,
              "INVALID_ARGUMENT", 0, NULL)},
    {422, ROW(422, "invalid_request_error", NULL, 400, "invalid_request_error", 400,
              "INVALID_ARGUMENT", 0, NULL)},
    {401, ROW(401, "authentication_error", NULL, 401, "authentication_error", 401,
              "UNAUTHENTICATED", 0, NULL)},
    {402, ROW(429, "insufficient_quota", "insufficient_quota", 402, "billing_error", 403,
              "PERMISSION_DENIED", 0, NULL)},
    {403, ROW(403, "permission_error", NULL, 403, "permission_error", 403, "PERMISSION_DENIED", 0,
              NULL)},
    {404, ROW(404, "invalid_request_error", NULL, 404, "not_found_error", 404, "NOT_FOUND", 0,
              NULL)},
    {408, ROW(408, "server_error", NULL, 504, "timeout_error", 504, "DEADLINE_EXCEEDED", 0, NULL)},
    {409, ROW(409, "invalid_request_error", NULL, 409, "conflict_error", 409, "ABORTED", 0, NULL)},
    {413, ROW(413, "invalid_request_error", NULL, 413, "request_too_large", 400,
              "INVALID_ARGUMENT", 0, NULL)},
    {429, ROW(429, "rate_limit_error", NULL, 429, "rate_limit_error", 429, "RESOURCE_EXHAUSTED", 0,
              NULL)},
    {499, ROW(499, "server_error", NULL, 500, "api_error", 499, "CANCELLED", 0, NULL)},
    {500, ROW(500, "server_error", NULL, 500, "api_error", 500, "INTERNAL", 0, NULL)},
    {501, ROW(501, "server_error", NULL, 500, "api_error", 501, "UNIMPLEMENTED", 0, NULL)},
    {502, ROW(502, "server_error", NULL, 500, "api_error", 503, "UNAVAILABLE", 0, NULL)},
    {503, ROW(503, "server_error", NULL, 529, "overloaded_error", 503, "UNAVAILABLE", 0, NULL)},
    {529, ROW(503, "server_error", NULL, 529, "overloaded_error", 503, "UNAVAILABLE", 0, NULL)},
    {504, ROW(504, "server_error", NULL, 504, "timeout_error", 504, "DEADLINE_EXCEEDED", 0, NULL)},
};

static struct row upstream_row(int status)
{
    struct row row;

    for (size_t i = 0; i < TG_COUNT_OF(upstream_rows); i++)
        if (upstream_rows[i].upstream == status)
            return upstream_rows[i].row;
    if (status >= 400 && status < 500) {
        row = upstream_rows[0].row;
        row.status = status;
        return row;
    }
    row = own_rows[TG_CLASS_INTERNAL]; /* an unknown 5xx, or no error status at all */
    row.status = status >= 500 && status < 600 ? status : 502;
    row.code = row.message = NULL;
    return row;
}

static const char *own_code(const struct tg_error *err)
{
    return err->code[0] != '\0' ? err->code : NULL;
}

void tg_error_view(const struct tg_error *err, const struct tg_error_scene *scene,
                   struct tg_error_view *ret)
{
    bool upstream = err->class == TG_CLASS_UPSTREAM;
    struct row row = upstream ? upstream_row(err->status) : own_rows[err->class];
    int64_t retry_s = (err->retry_after_ms + 999) / 1000;

    *ret = (struct tg_error_view){
        .status = row.status,
        .type = upstream && err->type[0] != '\0' ? err->type : row.type,
        .code = row.code != NULL ? row.code : own_code(err),
        .message = row.message != NULL ? row.message : err->message,
        .param = err->param,
        .retry_after_s = TG_MIN(retry_s > 0 ? retry_s : row.retry_after_s, RETRY_AFTER_MOST_S),
        .never_retry = err->class == TG_CLASS_FUNDS || (upstream && err->status == 402) ||
                       (scene->attempts > 0 && row.status >= 500),
    };
    if (scene->protocol == TG_PROTOCOL_MESSAGES) {
        ret->status = row.messages_status;
        ret->type = row.messages_type;
    } else if (scene->protocol == TG_PROTOCOL_GEMINI) {
        ret->status = row.gemini_status;
        ret->type = row.gemini_word;
    }
}

static void put_openai_error(struct tg_json_writer *out, const struct tg_error_view *view)
{
    tg_json_key(out, "error");
    tg_json_begin_object(out);
    tg_json_put_str(out, "message", view->message);
    tg_json_put_str(out, "type", view->type);
    tg_json_key(out, "param");
    tg_json_write_str(out, view->param[0] != '\0' ? view->param : NULL);
    tg_json_key(out, "code");
    tg_json_write_str(out, view->code);
    tg_json_end_object(out);
}

static void put_messages_error(struct tg_json_writer *out, const struct tg_error_view *view,
                               const struct tg_error_scene *scene)
{
    tg_json_put_str(out, "type", "error");
    tg_json_key(out, "error");
    tg_json_begin_object(out);
    tg_json_put_str(out, "type", view->type);
    tg_json_put_str(out, "message", view->message);
    tg_json_end_object(out);
    tg_json_put_str(out, "request_id", scene->request_id);
}

static void put_retry_info(struct tg_json_writer *out, int64_t seconds)
{
    char delay[32];
    struct tg_buf text;

    tg_buf_init(&text, sizeof delay);
    tg_buf_printf(&text, "%llds", (long long)seconds);
    tg_json_key(out, "details");
    tg_json_begin_array(out);
    tg_json_begin_object(out);
    tg_json_put_str(out, "@type", "type.googleapis.com/google.rpc.RetryInfo");
    tg_json_put_str(out, "retryDelay", tg_buf_text(&text));
    tg_json_end_object(out);
    tg_json_end_array(out);
    tg_buf_done(&text);
}

static void put_gemini_error(struct tg_json_writer *out, const struct tg_error_view *view)
{
    tg_json_key(out, "error");
    tg_json_begin_object(out);
    tg_json_put_int(out, "code", view->status); /* clients ignore frames without a numeric code */
    tg_json_put_str(out, "message", view->message);
    tg_json_put_str(out, "status", view->type);
    if (view->retry_after_s > 0)
        put_retry_info(out, view->retry_after_s);
    tg_json_end_object(out);
}

static void put_body(const struct tg_error_view *view, const struct tg_error_scene *scene,
                     struct tg_buf *out)
{
    struct tg_json_writer json;

    tg_json_writer_init(&json, out);
    tg_json_begin_object(&json);
    switch (scene->protocol) {
    case TG_PROTOCOL_MESSAGES:
        put_messages_error(&json, view, scene);
        break;
    case TG_PROTOCOL_GEMINI:
        put_gemini_error(&json, view);
        break;
    case TG_PROTOCOL_CHAT:
    case TG_PROTOCOL_RESPONSES:
        put_openai_error(&json, view);
        break;
    }
    tg_json_end_object(&json);
}

void tg_error_body(const struct tg_error_view *view, const struct tg_error_scene *scene,
                   struct tg_buf *out)
{
    tg_buf_str(out, scene->array ? "[" : "");
    put_body(view, scene, out);
    tg_buf_str(out, scene->array ? "]" : "");
}

/* response.failed wants a code of its own short list (PROTOCOLS A8). */
static const char *responses_code(int status)
{
    if (status == 429)
        return "rate_limit_exceeded";
    return status == 400 ? "invalid_prompt" : "server_error";
}

/* The members that the types of the client's library want, but for its status. */
static void put_response(struct tg_json_writer *out, const char *status,
                         const struct tg_error_view *failed, const struct tg_error_scene *scene)
{
    struct tg_buf id;

    tg_buf_init(&id, 0);
    tg_buf_printf(&id, "resp_%s", scene->request_id);
    tg_json_key(out, "response");
    tg_json_begin_object(out);
    tg_json_put_str(out, "id", tg_buf_text(&id));
    tg_json_put_str(out, "object", "response");
    tg_json_put_int(out, "created_at", tg_unix_us() / 1000000);
    tg_json_put_str(out, "status", status);
    tg_json_key(out, "error");
    if (failed == NULL) {
        tg_json_write_str(out, NULL);
    } else {
        tg_json_begin_object(out);
        tg_json_put_str(out, "code", responses_code(failed->status));
        tg_json_put_str(out, "message", failed->message);
        tg_json_end_object(out);
    }
    tg_json_put_str(out, "model", "");
    tg_json_key(out, "output");
    tg_json_begin_array(out);
    tg_json_end_array(out);
    tg_json_put_bool(out, "parallel_tool_calls", true);
    tg_json_put_str(out, "tool_choice", "auto");
    tg_json_key(out, "tools");
    tg_json_begin_array(out);
    tg_json_end_array(out);
    tg_json_end_object(out);
    tg_buf_done(&id);
}

static void put_response_event(const char *type, int64_t sequence,
                               const struct tg_error_view *failed,
                               const struct tg_error_scene *scene, struct tg_buf *out)
{
    struct tg_json_writer json;

    tg_buf_printf(out, "event: %s\ndata: ", type);
    tg_json_writer_init(&json, out);
    tg_json_begin_object(&json);
    tg_json_put_str(&json, "type", type);
    tg_json_put_int(&json, "sequence_number", sequence);
    put_response(&json, failed == NULL ? "in_progress" : "failed", failed, scene);
    tg_json_end_object(&json);
}

/* Only keep-alives went out before: clients fail on a response that was never created. */
static void put_failed_response(const struct tg_error_view *view,
                                const struct tg_error_scene *scene, struct tg_buf *out)
{
    put_response_event("response.created", 0, NULL, scene, out);
    tg_buf_str(out, "\n\n");
    put_response_event("response.failed", 1, view, scene, out);
}

void tg_error_event(const struct tg_error_view *view, const struct tg_error_scene *scene,
                    struct tg_buf *out)
{
    if (scene->array) {
        tg_buf_char(out, ',');
        put_body(view, scene, out);
        return;
    }
    switch (scene->protocol) {
    case TG_PROTOCOL_RESPONSES:
        put_failed_response(view, scene, out);
        break;
    case TG_PROTOCOL_MESSAGES:
        tg_buf_str(out, "event: error\ndata: ");
        put_body(view, scene, out);
        break;
    case TG_PROTOCOL_CHAT:
    case TG_PROTOCOL_GEMINI:
        tg_buf_str(out, "data: ");
        put_body(view, scene, out);
        break;
    }
    tg_buf_str(out, "\n\n");
}
