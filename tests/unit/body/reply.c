/* What clients are told: POLICIES "Errors to clients" row by row, PROTOCOLS A7 for an upstream's
 * errors, A5 and A8 for streams, and the headers around them. */
#include "tests/unit/unit.h"

#include "fcgi-app/endpoint.h"
#include "fcgi-app/reply.h"
#include "fcgi-app/reply_error.h"
#include "tests/unit/lib/peer.h"

#include <stdio.h>
#include <unistd.h>

#define ID "01a22d5a-9037-7652-88a1-8c2bc1e0e488"

enum { CHAT, MESSAGES, GEMINI, PROTOCOLS };

static const enum tg_protocol protocols[PROTOCOLS] = {TG_PROTOCOL_CHAT, TG_PROTOCOL_MESSAGES,
                                                      TG_PROTOCOL_GEMINI};

struct told {
    int status[PROTOCOLS];
    const char *type[PROTOCOLS], *code; /* code: chat's */
};

static void expect(const struct tg_error *err, int attempts, const struct told *told)
{
    for (int i = 0; i < PROTOCOLS; i++) {
        const struct tg_error_scene scene = {protocols[i], ID, attempts, false};
        struct tg_error_view view;

        tg_error_view(err, &scene, &view);
        assert_int_equal(view.status, told->status[i]);
        assert_string_equal(view.type, told->type[i]);
        if (i == CHAT && told->code != NULL)
            assert_string_equal(view.code, told->code);
        if (i == CHAT && told->code == NULL)
            assert_null(view.code);
    }
}

/* POLICIES "Errors to clients", and the classes that clients are told in other words. */
static const struct {
    enum tg_class class;
    const char *code;
    struct told told;
} own_rows[] = {
    {TG_CLASS_AUTH, "invalid_api_key",
     {{401, 401, 401},
      {"invalid_request_error", "authentication_error", "UNAUTHENTICATED"},
      "invalid_api_key"}},
    {TG_CLASS_AUTH, "token_expired",
     {{401, 401, 401},
      {"invalid_request_error", "authentication_error", "UNAUTHENTICATED"},
      "token_expired"}},
    {TG_CLASS_FORBIDDEN, "model_not_allowed",
     {{403, 403, 403},
      {"permission_error", "permission_error", "PERMISSION_DENIED"},
      "model_not_allowed"}},
    {TG_CLASS_FUNDS, "insufficient_quota",
     {{429, 402, 403},
      {"insufficient_quota", "billing_error", "PERMISSION_DENIED"},
      "insufficient_quota"}},
    {TG_CLASS_FUNDS, "token_quota_insufficient",
     {{429, 402, 403},
      {"insufficient_quota", "billing_error", "PERMISSION_DENIED"},
      "insufficient_quota"}},
    {TG_CLASS_INVALID, "invalid_type",
     {{400, 400, 400},
      {"invalid_request_error", "invalid_request_error", "INVALID_ARGUMENT"},
      "invalid_type"}},
    {TG_CLASS_NOT_FOUND, "model_not_found",
     {{404, 404, 404},
      {"invalid_request_error", "not_found_error", "NOT_FOUND"},
      "model_not_found"}},
    {TG_CLASS_METHOD, "unknown_url",
     {{405, 405, 405},
      {"invalid_request_error", "not_found_error", "NOT_FOUND"},
      "unknown_url"}},
    {TG_CLASS_TOO_LARGE, "request_too_large",
     {{413, 413, 413},
      {"invalid_request_error", "request_too_large", "INVALID_ARGUMENT"},
      "request_too_large"}},
    {TG_CLASS_LIMIT, "rpm",
     {{429, 429, 429},
      {"rate_limit_error", "rate_limit_error", "RESOURCE_EXHAUSTED"},
      "rate_limit_exceeded"}},
    {TG_CLASS_INVALID, "sensitive_words_detected",
     {{400, 400, 400},
      {"invalid_request_error", "invalid_request_error", "INVALID_ARGUMENT"},
      "sensitive_words_detected"}},
    {TG_CLASS_INVALID, "conversion_loss",
     {{400, 400, 400},
      {"invalid_request_error", "invalid_request_error", "INVALID_ARGUMENT"},
      "conversion_loss"}},
    {TG_CLASS_UNPRICED, "price_not_configured",
     {{400, 400, 400},
      {"invalid_request_error", "invalid_request_error", "FAILED_PRECONDITION"},
      "price_not_configured"}},
    {TG_CLASS_EXHAUSTED, "channels_exhausted",
     {{429, 429, 429},
      {"rate_limit_error", "rate_limit_error", "RESOURCE_EXHAUSTED"},
      "channels_exhausted"}},
    {TG_CLASS_ACCOUNT, "invalid_api_key",
     {{502, 529, 502}, {"server_error", "overloaded_error", "UNAVAILABLE"}, "upstream_account"}},
    {TG_CLASS_ABSENT, "api_not_implemented",
     {{501, 501, 501}, {"server_error", "api_error", "UNIMPLEMENTED"}, "api_not_implemented"}},
    {TG_CLASS_NO_CHANNEL, "no_channel",
     {{503, 529, 503}, {"server_error", "overloaded_error", "UNAVAILABLE"}, "no_channel"}},
    {TG_CLASS_TIMEOUT, "timeout_first_byte",
     {{504, 504, 504},
      {"server_error", "timeout_error", "DEADLINE_EXCEEDED"},
      "upstream_timeout"}},
    {TG_CLASS_OVERLOAD, "overloaded",
     {{503, 529, 503}, {"server_error", "overloaded_error", "UNAVAILABLE"}, "overloaded"}},
    {TG_CLASS_INTERNAL, "db_error",
     {{500, 500, 500}, {"server_error", "api_error", "INTERNAL"}, "internal"}},
    {TG_CLASS_DOWN, "redis_down",
     {{503, 529, 503}, {"server_error", "overloaded_error", "UNAVAILABLE"}, "overloaded"}},
    {TG_CLASS_CONFIG, "conf_x",
     {{500, 500, 500}, {"server_error", "api_error", "INTERNAL"}, "internal"}},
    {TG_CLASS_TRANSPORT, "reset",
     {{502, 500, 503}, {"server_error", "api_error", "UNAVAILABLE"}, "upstream_unreachable"}},
};

static void every_row_of_the_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(own_rows); i++) {
        struct tg_error err;

        tg_fail(&err, own_rows[i].class, own_rows[i].code, "text");
        expect(&err, 0, &own_rows[i].told);
    }
}

static void an_upstreams_error_keeps_its_status_and_words(void **state)
{
    static const struct {
        int status;
        struct told told;
    } rows[] = {
        {400, {{400, 400, 400}, {"t", "invalid_request_error", "INVALID_ARGUMENT"}, "c"}},
        {422, {{422, 400, 400}, {"t", "invalid_request_error", "INVALID_ARGUMENT"}, "c"}},
        {401, {{401, 401, 401}, {"t", "authentication_error", "UNAUTHENTICATED"}, "c"}},
        {402, {{429, 402, 403}, {"t", "billing_error", "PERMISSION_DENIED"}, "insufficient_quota"}},
        {403, {{403, 403, 403}, {"t", "permission_error", "PERMISSION_DENIED"}, "c"}},
        {404, {{404, 404, 404}, {"t", "not_found_error", "NOT_FOUND"}, "c"}},
        {408, {{408, 504, 504}, {"t", "timeout_error", "DEADLINE_EXCEEDED"}, "c"}},
        {409, {{409, 409, 409}, {"t", "conflict_error", "ABORTED"}, "c"}},
        {413, {{413, 413, 400}, {"t", "request_too_large", "INVALID_ARGUMENT"}, "c"}},
        {418, {{418, 400, 400}, {"t", "invalid_request_error", "INVALID_ARGUMENT"}, "c"}},
        {429, {{429, 429, 429}, {"t", "rate_limit_error", "RESOURCE_EXHAUSTED"}, "c"}},
        {499, {{499, 500, 499}, {"t", "api_error", "CANCELLED"}, "c"}},
        {500, {{500, 500, 500}, {"t", "api_error", "INTERNAL"}, "c"}},
        {501, {{501, 500, 501}, {"t", "api_error", "UNIMPLEMENTED"}, "c"}},
        {502, {{502, 500, 503}, {"t", "api_error", "UNAVAILABLE"}, "c"}},
        {503, {{503, 529, 503}, {"t", "overloaded_error", "UNAVAILABLE"}, "c"}},
        {504, {{504, 504, 504}, {"t", "timeout_error", "DEADLINE_EXCEEDED"}, "c"}},
        {529, {{503, 529, 503}, {"t", "overloaded_error", "UNAVAILABLE"}, "c"}},
        {599, {{599, 500, 500}, {"t", "api_error", "INTERNAL"}, "c"}},
        {200, {{502, 500, 500}, {"t", "api_error", "INTERNAL"}, "c"}},
    };

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(rows); i++) {
        struct tg_error err;

        tg_fail(&err, TG_CLASS_UPSTREAM, "c", "upstream's text");
        err.status = rows[i].status;
        snprintf(err.type, sizeof err.type, "t");
        expect(&err, 1, &rows[i].told);
    }
}

static void texts_of_stores_and_bugs_stay_inside(void **state)
{
    static const enum tg_class classes[] = {TG_CLASS_INTERNAL, TG_CLASS_DOWN, TG_CLASS_CONFIG,
                                            TG_CLASS_TRANSPORT, TG_CLASS_ACCOUNT};

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(classes); i++)
        for (int p = 0; p < PROTOCOLS; p++) {
            const struct tg_error_scene scene = {protocols[p], ID, 0, false};
            struct tg_error_view view;
            struct tg_error err;
            struct tg_buf body;

            tg_fail(&err, classes[i], "secret_code", "Table 'tokens' at 10.0.0.7: sk-secret");
            tg_error_view(&err, &scene, &view);
            tg_buf_init(&body, 0);
            tg_error_body(&view, &scene, &body);
            tg_error_event(&view, &scene, &body);
            assert_null(strstr(tg_buf_text(&body), "secret"));
            assert_null(strstr(tg_buf_text(&body), "tokens"));
            tg_buf_done(&body);
        }
}

static void bodies_and_events_have_each_protocols_form(void **state)
{
    static const struct {
        enum tg_protocol protocol;
        const char *body, *event;
    } cases[] = {
        {TG_PROTOCOL_CHAT,
         "{\"error\":{\"message\":\"slow \\\"down\\\"\",\"type\":\"rate_limit_error\","
         "\"param\":null,\"code\":\"rate_limit_exceeded\"}}",
         "data: {\"error\":{\"message\":\"slow \\\"down\\\"\",\"type\":\"rate_limit_error\","
         "\"param\":null,\"code\":\"rate_limit_exceeded\"}}\n\n"},
        {TG_PROTOCOL_RESPONSES,
         "{\"error\":{\"message\":\"slow \\\"down\\\"\",\"type\":\"rate_limit_error\","
         "\"param\":null,\"code\":\"rate_limit_exceeded\"}}",
         NULL},
        {TG_PROTOCOL_MESSAGES,
         "{\"type\":\"error\",\"error\":{\"type\":\"rate_limit_error\",\"message\":"
         "\"slow \\\"down\\\"\"},\"request_id\":\"" ID "\"}",
         "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"rate_limit_error\","
         "\"message\":\"slow \\\"down\\\"\"},\"request_id\":\"" ID "\"}\n\n"},
        {TG_PROTOCOL_GEMINI,
         "{\"error\":{\"code\":429,\"message\":\"slow \\\"down\\\"\",\"status\":"
         "\"RESOURCE_EXHAUSTED\",\"details\":[{\"@type\":"
         "\"type.googleapis.com/google.rpc.RetryInfo\",\"retryDelay\":\"3s\"}]}}",
         "data: {\"error\":{\"code\":429,\"message\":\"slow \\\"down\\\"\",\"status\":"
         "\"RESOURCE_EXHAUSTED\",\"details\":[{\"@type\":"
         "\"type.googleapis.com/google.rpc.RetryInfo\",\"retryDelay\":\"3s\"}]}}\n\n"},
    };
    struct tg_error err;

    (void)state;
    tg_fail(&err, TG_CLASS_LIMIT, "rpm", "slow \"down\"");
    err.retry_after_ms = 2001;
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++) {
        const struct tg_error_scene scene = {cases[i].protocol, ID, 0, false};
        struct tg_error_view view;
        struct tg_buf text;

        tg_error_view(&err, &scene, &view);
        tg_buf_init(&text, 0);
        tg_error_body(&view, &scene, &text);
        assert_string_equal(tg_buf_text(&text), cases[i].body);
        tg_buf_reset(&text);
        tg_error_event(&view, &scene, &text);
        if (cases[i].event != NULL)
            assert_string_equal(tg_buf_text(&text), cases[i].event);
        tg_buf_done(&text);
    }
}

/* Clients of Responses fail on a response that was never created. */
static void a_response_fails_after_it_was_created(void **state)
{
    static const char created[] = "event: response.created\ndata: {\"type\":\"response.created\","
                                  "\"sequence_number\":0,\"response\":{\"id\":\"resp_" ID "\"";
    static const char failed[] = "\n\nevent: response.failed\ndata: {\"type\":\"response.failed\","
                                 "\"sequence_number\":1,\"response\":{\"id\":\"resp_" ID "\"";
    static const char why[] = "\"status\":\"failed\",\"error\":{\"code\":"
                              "\"rate_limit_exceeded\",\"message\":\"slow\"}";
    const struct tg_error_scene scene = {TG_PROTOCOL_RESPONSES, ID, 0, false};
    struct tg_error_view view;
    struct tg_error err;
    struct tg_buf text;

    (void)state;
    tg_fail(&err, TG_CLASS_LIMIT, "rpm", "slow");
    tg_error_view(&err, &scene, &view);
    tg_buf_init(&text, 0);
    tg_error_event(&view, &scene, &text);
    assert_memory_equal(tg_buf_text(&text), created, sizeof created - 1);
    assert_non_null(strstr(tg_buf_text(&text), failed));
    assert_non_null(strstr(tg_buf_text(&text), why));
    assert_string_equal(tg_buf_text(&text) + text.len - 4, "}}\n\n");
    tg_buf_done(&text);
}

static void retrying_is_advised_as_it_helps(void **state)
{
    static const struct {
        enum tg_class class;
        int64_t retry_after_ms;
        int attempts;
        int64_t seconds;
        bool never;
    } cases[] = {
        {TG_CLASS_FUNDS, 0, 0, 0, true},         {TG_CLASS_LIMIT, 0, 0, 1, false},
        {TG_CLASS_LIMIT, 1, 0, 1, false},        {TG_CLASS_LIMIT, 1001, 0, 2, false},
        {TG_CLASS_LIMIT, 900000000, 0, 300, false}, {TG_CLASS_OVERLOAD, 0, 0, 1, false},
        {TG_CLASS_NO_CHANNEL, 0, 0, 1, false},   {TG_CLASS_NO_CHANNEL, 0, 3, 1, true},
        {TG_CLASS_TIMEOUT, 0, 1, 0, true},       {TG_CLASS_INVALID, 0, 1, 0, false},
        {TG_CLASS_AUTH, 0, 0, 0, false},         {TG_CLASS_EXHAUSTED, 17000, 2, 17, false},
    };

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++) {
        const struct tg_error_scene scene = {TG_PROTOCOL_CHAT, ID, cases[i].attempts, false};
        struct tg_error_view view;
        struct tg_error err;

        tg_fail(&err, cases[i].class, "x", "y");
        err.retry_after_ms = cases[i].retry_after_ms;
        tg_error_view(&err, &scene, &view);
        assert_int_equal(view.retry_after_s, cases[i].seconds);
        assert_int_equal(view.never_retry, cases[i].never);
    }
}

/* ---- through a connection ---- */

struct talk {
    struct test_door door;
    struct tg_request req;
    int peer;
};

static void begin(struct talk *talk, const struct tg_endpoint *endpoint)
{
    test_door_open(&talk->door, false);
    talk->req = (struct tg_request){.fcgi = tg_fcgi_new(talk->door.fd, -1),
                                    .endpoint = endpoint,
                                    .path = "/v1/models",
                                    .id_text = ID};
    tg_buf_init(&talk->req.tail, 0);
    talk->peer = test_peer_connect(&talk->door);
    test_peer_get(talk->peer, "/");
    assert_int_equal(tg_fcgi_accept(talk->req.fcgi, 2000000), TG_FCGI_REQUEST);
}

static void expect_sent(struct talk *talk, const char *wanted)
{
    struct tg_buf out;

    tg_reply_finish(&talk->req);
    tg_buf_init(&out, 0);
    assert_true(test_peer_answer(talk->peer, &out));
    assert_string_equal(tg_buf_text(&out), wanted);
    close(talk->peer);
    tg_fcgi_finish(talk->req.fcgi);
    tg_fcgi_free(talk->req.fcgi);
    tg_buf_done(&talk->req.tail);
    tg_buf_done(&out);
    test_door_close(&talk->door);
}

static void a_whole_answer_has_its_headers(void **state)
{
    struct talk talk;

    (void)state;
    begin(&talk, NULL);
    tg_reply_set_json(&talk.req, 200, "{}", 2);
    expect_sent(&talk, "Status: 200 OK\r\nContent-Type: application/json\r\nx-request-id: " ID
                       "\r\nContent-Length: 2\r\n\r\n{}");
    assert_int_equal(talk.req.sent_bytes, 2);
}

static void an_error_answer_says_when_to_retry(void **state)
{
    static const struct tg_endpoint messages = {"messages", "POST", "/v1/messages",
                                                TG_PROTOCOL_MESSAGES, TG_OPERATION_GENERATE};
    struct talk talk;

    (void)state;
    begin(&talk, NULL);
    tg_fail(&talk.req.error, TG_CLASS_NO_CHANNEL, "no_channel", "none left");
    talk.req.attempt_count = 2;
    tg_reply_set_error(&talk.req);
    assert_int_equal(talk.req.answer_status, 503);
    expect_sent(&talk,
                "Status: 503 Service Unavailable\r\nContent-Type: application/json\r\n"
                "x-request-id: " ID "\r\nContent-Length: 88\r\nRetry-After: 1\r\n"
                "x-should-retry: false\r\n\r\n{\"error\":{\"message\":\"none left\",\"type\":"
                "\"server_error\",\"param\":null,\"code\":\"no_channel\"}}");
    begin(&talk, &messages);
    tg_fail(&talk.req.error, TG_CLASS_METHOD, "unknown_url", "no");
    tg_reply_set_error(&talk.req);
    expect_sent(&talk, "Status: 405 Method Not Allowed\r\nContent-Type: application/json\r\n"
                       "x-request-id: " ID "\r\nrequest-id: " ID "\r\nContent-Length: 118\r\n"
                       "Allow: GET\r\n\r\n{\"type\":\"error\",\"error\":{\"type\":"
                       "\"not_found_error\",\"message\":\"no\"},\"request_id\":\"" ID "\"}");
}

static void a_stream_begins_once_and_breaks_with_an_event(void **state)
{
    struct talk talk;

    (void)state;
    begin(&talk, NULL);
    assert_int_equal(tg_reply_begin_stream(&talk.req), TG_OK);
    assert_int_equal(tg_reply_begin_stream(&talk.req), TG_OK);
    assert_int_equal(tg_reply_keepalive(&talk.req), TG_OK);
    assert_int_equal(tg_reply_send(&talk.req, "data: 1\n\n", 9), TG_OK);
    tg_fail(&talk.req.error, TG_CLASS_TIMEOUT, "x", "silent");
    tg_reply_set_error(&talk.req);
    assert_int_equal(talk.req.answer_status, 200);
    expect_sent(&talk,
                "Status: 200 OK\r\nContent-Type: text/event-stream\r\nx-request-id: " ID
                "\r\nCache-Control: no-cache\r\nX-Accel-Buffering: no\r\n\r\n: ka\n\ndata: 1\n\n"
                "data: {\"error\":{\"message\":\"silent\",\"type\":\"server_error\",\"param\":null,"
                "\"code\":\"upstream_timeout\"}}\n\n");
}

static void keepalives_are_harmless_in_each_protocol(void **state)
{
    static const struct {
        enum tg_protocol protocol;
        const char *frame;
    } cases[] = {
        {TG_PROTOCOL_CHAT, ": ka\n\n"},
        {TG_PROTOCOL_RESPONSES, ": ka\n\n"},
        {TG_PROTOCOL_MESSAGES, "event: ping\ndata: {\"type\":\"ping\"}\n\n"},
        {TG_PROTOCOL_GEMINI, "\n"},
    };

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++) {
        const struct tg_endpoint endpoint = {"x", "POST", "/x", cases[i].protocol,
                                             TG_OPERATION_GENERATE};
        struct talk talk;

        begin(&talk, &endpoint);
        talk.req.headers_sent = true;
        assert_int_equal(tg_reply_keepalive(&talk.req), TG_OK);
        expect_sent(&talk, cases[i].frame);
    }
}

static void a_header_with_a_line_break_is_dropped(void **state)
{
    static const struct tg_reply_header extra[] = {{"x-tollgate-model", "a\r\nSet-Cookie: b"},
                                                   {"x-good", "c"}};
    struct talk talk;

    (void)state;
    begin(&talk, NULL);
    assert_int_equal(tg_reply_begin(&talk.req, 299, "text/plain", extra, 2), TG_OK);
    expect_sent(&talk, "Status: 299 Status\r\nContent-Type: text/plain\r\nx-request-id: " ID
                       "\r\nx-good: c\r\n\r\n");
}

static void a_client_that_left_is_told_nothing(void **state)
{
    struct talk talk;

    (void)state;
    begin(&talk, NULL);
    assert_int_equal(tg_reply_begin_stream(&talk.req), TG_OK);
    close(talk.peer);
    assert_int_equal(tg_reply_send(&talk.req, "x", 1), TG_CLASS_GONE);
    assert_int_equal(tg_reply_keepalive(&talk.req), TG_CLASS_GONE);
    assert_int_equal(talk.req.end_reason, TG_END_CLIENT_GONE);
    assert_int_equal(talk.req.sent_bytes, 0);
    tg_reply_finish(&talk.req);
    tg_fcgi_finish(talk.req.fcgi);
    tg_fcgi_free(talk.req.fcgi);
    test_door_close(&talk.door);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_of_the_table),
        cmocka_unit_test(an_upstreams_error_keeps_its_status_and_words),
        cmocka_unit_test(texts_of_stores_and_bugs_stay_inside),
        cmocka_unit_test(bodies_and_events_have_each_protocols_form),
        cmocka_unit_test(a_response_fails_after_it_was_created),
        cmocka_unit_test(retrying_is_advised_as_it_helps),
        cmocka_unit_test(a_whole_answer_has_its_headers),
        cmocka_unit_test(an_error_answer_says_when_to_retry),
        cmocka_unit_test(a_stream_begins_once_and_breaks_with_an_event),
        cmocka_unit_test(keepalives_are_harmless_in_each_protocol),
        cmocka_unit_test(a_header_with_a_line_break_is_dropped),
        cmocka_unit_test(a_client_that_left_is_told_nothing),
    };

    if (tg_fcgi_library_init(NULL) != TG_OK)
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
