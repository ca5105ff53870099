/* Upstream refusals in every shape, and nothing secret in what is passed on. */
#include "tests/unit/unit.h"

#include "fcgi-app/convert/error_body.h"
#include "fcgi-app/convert/mask.h"

static struct tg_span span(const char *text)
{
    return (struct tg_span){text, strlen(text)};
}

static const struct {
    int status;
    const char *body;
    int is;
    const char *type, *code, *message, *param;
} shapes[] = {
    {400,
     "{\"error\":{\"message\":\"Unknown parameter: 'x'.\",\"type\":\"invalid_request_error\","
     "\"param\":\"x\",\"code\":\"unknown_parameter\"}}",
     400, "invalid_request_error", "unknown_parameter", "Unknown parameter: 'x'.", "x"},
    {429,
     "{\"error\":{\"message\":\"You exceeded your current quota\",\"type\":"
     "\"insufficient_quota\",\"param\":null,\"code\":\"insufficient_quota\"}}",
     429, "insufficient_quota", "insufficient_quota", "You exceeded your current quota", ""},
    {400, "{\"error\":{\"message\":\"m\",\"code\":\"context_length_exceeded\"}}", 400,
     "invalid_request_error", "context_length_exceeded", "m", ""},
    {404, "{\"error\":{\"message\":\"m\",\"type\":null,\"code\":null}}", 404,
     "invalid_request_error", "not_found", "m", ""},
    {529, "{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"O\"}}",
     529, "overloaded_error", "overloaded", "O", ""},
    {400, "[{\"error\":{\"code\":400,\"message\":\"m\",\"status\":\"INVALID_ARGUMENT\"}}]", 400,
     "INVALID_ARGUMENT", "invalid_request", "m", ""},
    {401, "{\"error\":\"bad key\"}", 401, "authentication_error", "invalid_api_key",
     "bad key", ""},
    {403, "{\"message\":\"no\"}", 403, "permission_error", "permission_denied", "no", ""},
    {404, "{\"detail\":\"Not Found\"}", 404, "invalid_request_error", "not_found",
     "Not Found", ""},
    {422, "{\"detail\":[{\"loc\":[\"body\"],\"msg\":\"field required\"}]}", 422,
     "invalid_request_error", "invalid_request",
     "[{\"loc\":[\"body\"],\"msg\":\"field required\"}]", ""},
    {400, "{\"object\":\"error\",\"message\":\"m\",\"type\":\"BadRequestError\",\"code\":400}",
     400, "BadRequestError", "invalid_request", "m", ""},
    {500, "{\"oops\":1}", 500, "server_error", "server_error", "{\"oops\":1}", ""},
    {502, "<html>\r\n<head><title>502 Bad Gateway</title></head>\n<body>x</body></html>", 502,
     "server_error", "upstream_unreachable", "502 Bad Gateway x", ""},
    {503, "", 503, "server_error", "overloaded", "Service Unavailable", ""},
    {504, " \n", 504, "server_error", "timeout", "Gateway Timeout", ""},
    {500, "{\"error\":{\"message\":\"\"}}", 500, "server_error", "server_error",
     "{\"message\":\"\"}", ""},
    {418, "teapot", 418, "invalid_request_error", "invalid_request", "teapot", ""},
    {599, "", 599, "server_error", "server_error", "Internal Server Error", ""},
    {0, "{\"error\":{\"message\":\"m\",\"code\":429}}", 429, "rate_limit_error",
     "rate_limit_exceeded", "m", ""},
    {200, "{\"error\":{\"message\":\"m\",\"code\":7}}", 500, "server_error", "server_error",
     "m", ""},
    {0, "{\"error\":{\"message\":\"m\",\"type\":\"authentication_error\"}}", 401,
     "authentication_error", "invalid_api_key", "m", ""},
    {500, "{\"error\":{\"message\":\"half", 500, "server_error", "server_error",
     "{\"error\":{\"message\":\"half", ""},
};

static void every_shape_becomes_one_error(void **state)
{
    struct tg_error got;

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(shapes); i++) {
        tg_error_body_read(shapes[i].status, span(shapes[i].body), &got);
        assert_int_equal(got.class, TG_CLASS_UPSTREAM);
        assert_int_equal(got.status, shapes[i].is);
        assert_string_equal(got.type, shapes[i].type);
        assert_string_equal(got.code, shapes[i].code);
        assert_string_equal(got.message, shapes[i].message);
        assert_string_equal(got.param, shapes[i].param);
    }
}

static void long_texts_are_cut_between_characters(void **state)
{
    struct tg_error got;
    struct tg_buf body;

    (void)state;
    tg_buf_init(&body, 0);
    for (int i = 0; i < 400; i++)
        tg_buf_str(&body, "\xe4\xbd\xa0");
    tg_error_body_read(500, span(tg_buf_text(&body)), &got);
    assert_int_equal(strlen(got.message), 198); /* plain text: 200 at most */
    tg_buf_reset(&body);
    tg_buf_str(&body, "{\"error\":{\"type\":\"");
    for (int i = 0; i < 100; i++)
        tg_buf_char(&body, 't');
    tg_buf_str(&body, "\",\"message\":\"");
    for (int i = 0; i < 4000; i++)
        tg_buf_str(&body, "\xe4\xbd\xa0");
    tg_buf_str(&body, "\"}}");
    tg_error_body_read(500, span(tg_buf_text(&body)), &got);
    assert_int_equal(strlen(got.message), 510);
    assert_int_equal(strlen(got.type), sizeof(got.type) - 1);
    tg_buf_reset(&body);
    tg_buf_str(&body, "{\"error\":{\"type\":\"");
    for (int i = 0; i < 30; i++)
        tg_buf_str(&body, "\xe4\xbd\xa0");
    tg_buf_str(&body, "\"}}");
    tg_error_body_read(500, span(tg_buf_text(&body)), &got);
    assert_int_equal(strlen(got.type), 45);
    tg_buf_done(&body);
}

static void secrets_and_addresses_are_masked(void **state)
{
    static const struct {
        const char *text, *masked;
    } cases[] = {
        {"Incorrect API key provided: sk-abc12***********wxyz. You can find your API key at "
         "https://platform.openai.com/account/api-keys.",
         "Incorrect API key provided: ***. You can find your API key at ***."},
        {"key=sk-proj-A1b2_C3, next", "key=***, next"},
        {"key:sk-live", "key:***"},
        {"\"AIzaSyA-1234567890abcdef\"", "\"***\""},
        {"Authorization: Bearer abcdef123456.x-y", "Authorization: ***"},
        {"Rate limit reached for gpt-4o in organization org-Ab12Cd34 on tokens per min",
         "Rate limit reached for gpt-4o in organization *** on tokens per min"},
        {"connect to 10.0.0.7:8443 failed", "connect to *** failed"},
        {"from 192.168.1.1, then", "from ***, then"},
        {"[2001:db8::1]:443 and ::1", "[***]:443 and ***"},
        {"http://user:pw@proxy.corp:3128/x?y=1 refused", "*** refused"},
        {"host api.internal.example.com is down.", "host *** is down."},
        {"llm.lan/v1/chat said no", "*** said no"},
        {"upstream node-3.rack.prod:9000", "upstream ***"},
        {"localhost:8080 and localhost", "*** and ***"},
        {"mail ops+x@example.org!", "mail ***!"},
        {"token 0123456789abcdef0123456789abcdef end", "token *** end"},
    };
    static const char *const kept[] = {
        "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens",
        "prompt is too long: 205123 tokens > 200000 maximum",
        "messages.0.content: field required at tools[1].function.parameters",
        "claude-3.5-sonnet, gpt-4.1-mini and meta-llama/Llama-4-Maverick-17B-128E-Instruct-FP8",
        "at 12:30:45 (line 3:14), e.g. std::vector, i.e. 1.5 of 2.0.1",
        "request 0197a1b2-0000-7000-8000-00000000000a, req_011CSHoEeqs5C35K2UUq",
        "an org-wide key-value task-based sk",
        "organisational org-specific key-dependent",
        "caf\xc3\xa9 \xe4\xbd\xa0\xe5\xa5\xbd \xff", "",
        "internationalizationinternationalization", "Bearer token missing", "a@b and @c",
    };
    struct tg_buf out;

    (void)state;
    tg_buf_init(&out, 0);
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++) {
        tg_buf_reset(&out);
        tg_mask(span(cases[i].text), &out);
        assert_string_equal(tg_buf_text(&out), cases[i].masked);
    }
    for (size_t i = 0; i < TG_COUNT_OF(kept); i++) {
        tg_buf_reset(&out);
        tg_mask(span(kept[i]), &out);
        assert_string_equal(tg_buf_text(&out), kept[i]);
    }
    tg_buf_done(&out);
}

static void messages_are_masked_wherever_they_come_from(void **state)
{
    static const char *const bodies[] = {
        "{\"error\":{\"message\":\"bad sk-secret123\"}}", "{\"error\":\"bad sk-secret123\"}",
        "{\"detail\":[\"bad sk-secret123\"]}", "<p>bad sk-secret123</p>", "bad sk-secret123",
        "{\"x\":\"bad sk-secret123\"}",
    };
    struct tg_error got;

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(bodies); i++) {
        tg_error_body_read(401, span(bodies[i]), &got);
        assert_null(strstr(got.message, "secret"));
        assert_non_null(strstr(got.message, "bad ***"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_shape_becomes_one_error),
        cmocka_unit_test(long_texts_are_cut_between_characters),
        cmocka_unit_test(secrets_and_addresses_are_masked),
        cmocka_unit_test(messages_are_masked_wherever_they_come_from),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
