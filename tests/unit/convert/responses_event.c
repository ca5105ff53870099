/* What Responses events and answers say: content or not, usage, errors, ends, the model's name. */
#include "tests/unit/unit.h"

#include "fcgi-app/convert/responses_event.h"

static struct tg_span span(const char *text)
{
    return (struct tg_span){text, strlen(text)};
}

static void events_are_told_apart(void **state)
{
    static const struct {
        const char *event;
        unsigned content;
        const char *text;
        bool done, idle, failed;
    } cases[] = {
        {"{\"type\":\"response.output_text.delta\",\"delta\":\"hi\"}", TG_CHAT_TEXT, "hi", false,
         false, false},
        {"{\"type\":\"response.output_text.delta\",\"delta\":\"\"}", 0, "", false, false, false},
        {"{\"type\":\"response.refusal.delta\",\"delta\":\"no\"}", TG_CHAT_REFUSAL, "no", false,
         false, false},
        {"{\"type\":\"response.reasoning_summary_text.delta\",\"delta\":\"t\"}",
         TG_CHAT_REASONING, "t", false, false, false},
        {"{\"type\":\"response.function_call_arguments.delta\",\"delta\":\"{\"}",
         TG_CHAT_TOOL_CALL, "{", false, false, false},
        {"{\"type\":\"response.output_item.added\",\"item\":{\"type\":\"function_call\","
         "\"name\":\"f\"}}",
         TG_CHAT_TOOL_CALL, "f", false, false, false},
        {"{\"type\":\"response.output_item.added\",\"item\":{\"type\":\"message\"}}", 0, "", false,
         false, false},
        {"{\"type\":\"response.output_text.done\",\"text\":\"hi\"}", 0, "", false, false, false},
        {"{\"type\":\"response.created\",\"response\":{}}", 0, "", false, false, false},
        {"{\"type\":\"response.completed\",\"response\":{}}", 0, "", true, false, false},
        {"{\"type\":\"response.incomplete\",\"response\":{}}", 0, "", true, false, false},
        {"{\"type\":\"response.failed\",\"response\":{\"error\":{\"message\":\"x\"}}}", 0, "",
         false, false, true},
        {"{\"type\":\"error\",\"message\":\"x\"}", 0, "", false, false, true},
        {"{\"type\":\"keepalive\"}", 0, "", false, true, false},
        {"{\"type\":\"codex.rate_limits\",\"limit_reached\":false}", 0, "", false, true, false},
    };

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++) {
        struct tg_chat_event read;
        struct tg_buf text;

        tg_buf_init(&text, 0);
        tg_responses_event_read(span(cases[i].event), &read, &text);
        assert_false(read.malformed);
        assert_int_equal(read.content, cases[i].content);
        assert_string_equal(tg_buf_text(&text), cases[i].text);
        assert_int_equal(read.done, cases[i].done);
        assert_int_equal(read.idle, cases[i].idle);
        assert_int_equal(read.has_error, cases[i].failed);
        tg_buf_done(&text);
    }
}

static void an_error_keeps_its_words(void **state)
{
    static const char *const events[] = {
        "{\"type\":\"error\",\"sequence_number\":2,\"error\":{\"type\":\"service_unavailable_error"
        "\",\"code\":\"server_is_overloaded\",\"message\":\"overloaded\",\"param\":null}}",
        "{\"type\":\"response.failed\",\"response\":{\"status\":\"failed\",\"error\":{\"code\":"
        "\"server_is_overloaded\",\"message\":\"overloaded\"}}}",
    };

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(events); i++) {
        struct tg_chat_event read;

        tg_responses_event_read(span(events[i]), &read, NULL);
        assert_true(read.has_error);
        assert_string_equal(read.error.code, "server_is_overloaded");
        assert_string_equal(read.error.message, "overloaded");
    }
}

static void the_end_tells_what_was_used(void **state)
{
    static const char event[] =
        "{\"type\":\"response.incomplete\",\"response\":{\"model\":\"m\",\"usage\":{"
        "\"input_tokens\":912,\"input_tokens_details\":{\"cached_tokens\":800,"
        "\"cache_write_tokens\":100},\"output_tokens\":40,\"output_tokens_details\":{"
        "\"reasoning_tokens\":33},\"total_tokens\":952}}}";
    struct tg_chat_event read;

    (void)state;
    tg_responses_event_read(span(event), &read, NULL);
    assert_true(read.has_usage);
    assert_int_equal(read.usage.input, 912);
    assert_int_equal(read.usage.cache_read, 800);
    assert_int_equal(read.usage.output, 40);
    assert_int_equal(read.usage.reasoning, 33);
    assert_int_equal(read.model.len, 3);
}

static void a_whole_response_is_read(void **state)
{
    static const char body[] =
        "{\"id\":\"resp_1\",\"status\":\"completed\",\"error\":null,\"output\":["
        "{\"type\":\"reasoning\",\"summary\":[{\"type\":\"summary_text\",\"text\":\"t\"}]},"
        "{\"type\":\"message\",\"content\":[{\"type\":\"output_text\",\"text\":\"h\"}]},"
        "{\"type\":\"function_call\",\"name\":\"f\",\"arguments\":\"{}\"}],"
        "\"usage\":{\"input_tokens\":3,\"output_tokens\":4}}";
    struct tg_chat_event read;
    struct tg_buf text;

    (void)state;
    tg_buf_init(&text, 0);
    tg_responses_answer_read(span(body), &read, &text);
    assert_int_equal(read.content, TG_CHAT_TEXT | TG_CHAT_REASONING | TG_CHAT_TOOL_CALL);
    assert_string_equal(tg_buf_text(&text), "thf{}");
    assert_string_equal(read.finish_reason, "completed");
    assert_true(read.has_usage);
    tg_buf_done(&text);
}

static void only_the_model_is_renamed(void **state)
{
    static const struct {
        const char *event, *renamed;
    } cases[] = {
        {"{ \"response\":{\"id\":1, \"model\":\"up\",\"x\":1.0} }",
         "{ \"response\":{\"id\":1, \"model\":\"m\",\"x\":1.0} }"},
        {"{\"delta\":\"model\"}", "{\"delta\":\"model\"}"},
    };

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++) {
        struct tg_buf text;

        tg_buf_init(&text, 0);
        tg_responses_event_rename(span(cases[i].event), "m", &text);
        assert_string_equal(tg_buf_text(&text), cases[i].renamed);
        tg_buf_done(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_are_told_apart),
        cmocka_unit_test(an_error_keeps_its_words),
        cmocka_unit_test(the_end_tells_what_was_used),
        cmocka_unit_test(a_whole_response_is_read),
        cmocka_unit_test(only_the_model_is_renamed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
