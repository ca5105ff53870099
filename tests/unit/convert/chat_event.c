/* What Chat events and answers say: content or not, usage, errors, the text that is counted. */
#include "tests/unit/unit.h"

#include "fcgi-app/convert/chat_event.h"
#include "fcgi-app/convert/chat_usage.h"

static struct tg_span span(const char *text)
{
    return (struct tg_span){text, strlen(text)};
}

#define DELTA(inside) "{\"choices\":[{\"index\":0,\"delta\":" inside "}]}"

static const struct {
    const char *event;
    unsigned content;
    const char *text;
} deltas[] = {
    {DELTA("{\"content\":\"hi\"}"), TG_CHAT_TEXT, "hi"},
    {DELTA("{\"content\":\" \"}"), TG_CHAT_TEXT, " "},
    {DELTA("{\"role\":\"assistant\",\"content\":\"\"}"), 0, ""},
    {DELTA("{\"content\":null,\"refusal\":null,\"tool_calls\":null}"), 0, ""},
    {DELTA("{\"tool_calls\":[],\"audio\":{},\"images\":[],\"content\":[]}"), 0, ""},
    {DELTA("{\"content\":7}"), 0, ""},
    {DELTA("{}"), 0, ""},
    {DELTA("null"), 0, ""},
    {DELTA("{\"reasoning_content\":\"hm\"}"), TG_CHAT_REASONING, "hm"},
    {DELTA("{\"reasoning\":\"hm\"}"), TG_CHAT_REASONING, "hm"},
    {DELTA("{\"reasoning\":\"hm\",\"reasoning_content\":\"hm\"}"), TG_CHAT_REASONING, "hm"},
    {DELTA("{\"reasoning_details\":[{\"type\":\"reasoning.encrypted\",\"data\":\"x\"}]}"),
     TG_CHAT_REASONING, ""},
    {DELTA("{\"content\":\"4\",\"reasoning_content\":\"\"}"), TG_CHAT_TEXT, "4"},
    {DELTA("{\"refusal\":\"no\"}"), TG_CHAT_REFUSAL, "no"},
    {DELTA("{\"audio\":{\"data\":\"AAAA\"}}"), TG_CHAT_AUDIO, ""},
    {DELTA("{\"audio\":{\"transcript\":\"la\"}}"), TG_CHAT_AUDIO, "la"},
    {DELTA("{\"images\":[{\"image_url\":{\"url\":\"u\"}}]}"), TG_CHAT_IMAGE, ""},
    {DELTA("{\"content\":[{\"type\":\"text\",\"text\":\"a\"},{\"text\":\"b\"}]}"),
     TG_CHAT_TEXT, "ab"},
    {DELTA("{\"content\":[{\"type\":\"text\",\"text\":\"\"}]}"), 0, ""},
    {DELTA("{\"content\":[{\"type\":\"thinking\",\"thinking\":[{\"type\":\"text\","
           "\"text\":\"hm\"}]}]}"), TG_CHAT_REASONING, "hm"},
    {DELTA("{\"content\":[{\"type\":\"thinking\",\"thinking\":[]}]}"), 0, ""},
    {DELTA("{\"tool_calls\":[{\"index\":0,\"id\":\"c\",\"type\":\"function\",\"function\":"
           "{\"name\":\"f\",\"arguments\":\"\"}}]}"), TG_CHAT_TOOL_CALL, "f"},
    {DELTA("{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"{\\\"a\\\":1}\"}},"
           "{\"index\":1,\"function\":{\"name\":\"g\"}}]}"), TG_CHAT_TOOL_CALL, "{\"a\":1}g"},
    {DELTA("{\"function_call\":{\"name\":\"f\",\"arguments\":\"{}\"}}"), TG_CHAT_TOOL_CALL,
     "f{}"},
    {"{\"choices\":[{\"text\":\"old\"}]}", TG_CHAT_TEXT, "old"},
    {"{\"choices\":[{\"delta\":{\"content\":\"a\"}},{\"delta\":{\"content\":\"b\"}}]}",
     TG_CHAT_TEXT, "ab"},
    {DELTA("{\"content\":\"a\\n\\u00e9\\\"\"}"), TG_CHAT_TEXT, "a\n\xc3\xa9\""},
    {DELTA("{\"content\":\"\\ud83d\"}"), TG_CHAT_TEXT, "\\ud83d"},
    {"{\"choices\":[{\"message\":{\"content\":\"not a delta\"}}]}", 0, ""},
};

static void content_is_what_a_client_may_be_charged_for(void **state)
{
    struct tg_chat_event event;
    struct tg_buf text;

    (void)state;
    tg_buf_init(&text, 0);
    for (size_t i = 0; i < TG_COUNT_OF(deltas); i++) {
        tg_buf_reset(&text);
        tg_chat_event_read(span(deltas[i].event), &event, &text);
        if (event.malformed || event.content != deltas[i].content)
            fail_msg("%s: %u", deltas[i].event, event.content);
        assert_string_equal(tg_buf_text(&text), deltas[i].text);
        assert_false(event.done || event.has_error || event.has_usage);
        assert_int_equal(event.choices, TG_CHAT_CHOICES);
        tg_chat_event_read(span(deltas[i].event), &event, NULL);
        assert_int_equal(event.content, deltas[i].content);
    }
    tg_buf_done(&text);
}

static void done_and_malformed_say_nothing_else(void **state)
{
    static const struct {
        const char *data;
        bool done;
    } events[] = {
        {"[DONE]", true},   {" [DONE] ", true}, {"[DONE]\r", true}, {"[done]", false},
        {"[DONE]]", false}, {"", false},        {"ping", false},    {"{\"a\":", false},
        {"[]", false},      {"7", false},       {"{\"a\":1}x", false},
        {"{\"choices\":[{oops}]}", false},      {"{\"usage\":{\"prompt_tokens\":1},}", false},
        {"{\"a\":\"\\ud8zz\"}", false},         {"{\"a\":\"\\\\ud83d\"", false},
        {"<html>", false},
    };
    struct tg_chat_event event;

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(events); i++) {
        tg_chat_event_read(span(events[i].data), &event, NULL);
        assert_int_equal(event.done, events[i].done);
        assert_int_equal(event.malformed, !events[i].done);
        assert_false(event.has_usage || event.has_error || event.content != 0);
    }
}

static void choices_finish_and_model_are_seen(void **state)
{
    static const struct {
        const char *event;
        enum tg_chat_choices choices;
        const char *finish;
    } events[] = {
        {"{\"model\":\"m-1\",\"choices\":[]}", TG_CHAT_EMPTY_CHOICES, ""},
        {"{\"model\":\"m-1\"}", TG_CHAT_NO_CHOICES, ""},
        {"{\"model\":\"m-1\",\"choices\":null}", TG_CHAT_NO_CHOICES, ""},
        {"{\"model\":\"m-1\",\"choices\":[{\"delta\":{},\"finish_reason\":null}]}",
         TG_CHAT_CHOICES, ""},
        {"{\"model\":\"m-1\",\"choices\":[{\"delta\":{},\"finish_reason\":\"tool_calls\"}]}",
         TG_CHAT_CHOICES, "tool_calls"},
        {"{\"model\":\"m-1\",\"choices\":[{\"finish_reason\":null},{\"finish_reason\":\"stop\"}]}",
         TG_CHAT_CHOICES, "stop"},
    };
    struct tg_chat_event event;

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(events); i++) {
        tg_chat_event_read(span(events[i].event), &event, NULL);
        assert_int_equal(event.choices, events[i].choices);
        assert_string_equal(event.finish_reason, events[i].finish);
        assert_int_equal(event.model.len, 5);
        assert_memory_equal(event.model.ptr, "\"m-1\"", 5);
    }
}

/* Counts in the order of struct tg_usage's first members. */
struct counts {
    int64_t input, read, written, image, audio, output, reasoning, audio_out;
};

static const struct {
    const char *event;
    struct counts is;
    bool clamped;
    enum tg_usage_semantics semantics;
} usages[] = {
    {"{\"choices\":[{\"index\":0,\"delta\":{}}],\"usage\":{\"prompt_tokens\":280,"
     "\"completion_tokens\":8,\"total_tokens\":288,"
     "\"prompt_tokens_details\":{\"cached_tokens\":260}}}",
     {280, 260, 0, 0, 0, 8, 0, 0}, false, TG_USAGE_INPUT_INCLUDES_CACHE},
    {"{\"usage\":{\"prompt_tokens\":912,\"prompt_tokens_details\":{\"cached_tokens\":800,"
     "\"cache_write_tokens\":100},\"completion_tokens\":40,"
     "\"completion_tokens_details\":{\"reasoning_tokens\":33}}}",
     {912, 800, 100, 0, 0, 40, 33, 0}, false, TG_USAGE_INPUT_INCLUDES_CACHE},
    {"{\"usage\":{\"prompt_tokens\":50,\"prompt_tokens_details\":{\"image_tokens\":20,"
     "\"audio_tokens\":10,\"cached_tokens\":null},\"completion_tokens\":9,"
     "\"completion_tokens_details\":{\"audio_tokens\":4,\"reasoning_tokens\":null}}}",
     {50, 0, 0, 20, 10, 9, 0, 4}, false, TG_USAGE_INPUT_INCLUDES_CACHE},
    {"{\"usage\":{\"prompt_tokens\":10,\"prompt_cache_hit_tokens\":6,"
     "\"prompt_cache_miss_tokens\":4,\"completion_tokens\":1}}",
     {10, 6, 0, 0, 0, 1, 0, 0}, false, TG_USAGE_INPUT_INCLUDES_CACHE},
    {"{\"usage\":{\"prompt_tokens\":10,\"cached_tokens\":5,\"completion_tokens\":1,"
     "\"prompt_tokens_details\":null}}",
     {10, 5, 0, 0, 0, 1, 0, 0}, false, TG_USAGE_INPUT_INCLUDES_CACHE},
    {"{\"usage\":{\"prompt_tokens\":10,\"prompt_cache_hit_tokens\":6,"
     "\"prompt_tokens_details\":{\"cached_tokens\":0}}}",
     {10, 0, 0, 0, 0, 0, 0, 0}, false, TG_USAGE_INPUT_INCLUDES_CACHE},
    {"{\"usage\":null,\"x_groq\":{\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":2}}}",
     {3, 0, 0, 0, 0, 2, 0, 0}, false, TG_USAGE_INPUT_INCLUDES_CACHE},
    {"{\"choices\":[{\"delta\":{},\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":2}}]}",
     {3, 0, 0, 0, 0, 2, 0, 0}, false, TG_USAGE_INPUT_INCLUDES_CACHE},
    {"{\"usage\":{\"prompt_tokens\":12.0,\"completion_tokens\":3.9}}",
     {12, 0, 0, 0, 0, 3, 0, 0}, false, TG_USAGE_INPUT_INCLUDES_CACHE},
    {"{\"usage\":{\"prompt_tokens\":5,\"prompt_tokens_details\":{\"cached_tokens\":9}}}",
     {5, 9, 0, 0, 0, 0, 0, 0}, true, TG_USAGE_INPUT_EXCLUDES_CACHE},
    {"{\"usage\":{\"prompt_tokens\":-5,\"completion_tokens\":7}}",
     {0, 0, 0, 0, 0, 7, 0, 0}, true,
     TG_USAGE_INPUT_INCLUDES_CACHE},
    {"{\"usage\":{\"prompt_tokens\":1e30,\"completion_tokens\":18446744073709551615}}",
     {TG_USAGE_TOKENS_MAX, 0, 0, 0, 0, TG_USAGE_TOKENS_MAX, 0, 0}, true,
     TG_USAGE_INPUT_INCLUDES_CACHE},
    {"{\"usage\":{\"prompt_tokens\":1.5e30,\"completion_tokens\":1}}",
     {TG_USAGE_TOKENS_MAX, 0, 0, 0, 0, 1, 0, 0}, true,
     TG_USAGE_INPUT_INCLUDES_CACHE},
    {"{\"usage\":{\"prompt_tokens\":\"7\",\"completion_tokens\":1}}",
     {0, 0, 0, 0, 0, 1, 0, 0}, false, TG_USAGE_INPUT_INCLUDES_CACHE},
};

static void usage_is_read_wherever_it_stands(void **state)
{
    struct tg_chat_event event;

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(usages); i++) {
        const struct tg_usage *usage = &event.usage;
        struct counts got;

        tg_chat_event_read(span(usages[i].event), &event, NULL);
        assert_true(event.has_usage);
        assert_int_equal(usage->semantics, usages[i].semantics);
        assert_int_equal(usage->source, TG_USAGE_UPSTREAM);
        got = (struct counts){usage->input, usage->cache_read, usage->cache_write_5m,
                              usage->image_in, usage->audio_in, usage->output,
                              usage->reasoning, usage->audio_out};
        if (memcmp(&got, &usages[i].is, sizeof(got)) != 0 || usage->clamped != usages[i].clamped)
            fail_msg("%s", usages[i].event);
    }
}

static void usage_that_says_nothing_never_overwrites(void **state)
{
    static const char *const events[] = {
        "null", "{}", "7", "[1]", "", "{\"prompt_tokens\":0,\"completion_tokens\":0}",
        "{\"total_tokens\":0}", "{\"prompt_tokens\":null}", "{\"prompt_tokens\":-1}",
    };
    struct tg_usage usage = {.input = 41, .output = 42};
    struct tg_chat_event event;

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(events); i++) {
        assert_false(tg_chat_usage_read(span(events[i]), &usage));
        assert_int_equal(usage.input, 41);
        assert_int_equal(usage.output, 42);
    }
    tg_chat_event_read(span("{\"x_groq\":{\"id\":\"r\"},\"usage\":null,\"choices\":[]}"), &event,
                       NULL);
    assert_false(event.has_usage || event.malformed);
    tg_chat_event_read(span("{\"usage\":{\"prompt_tokens\":1},\"choices\":[{\"usage\":"
                            "{\"prompt_tokens\":2}}]}"), &event, NULL);
    assert_int_equal(event.usage.input, 1);
}

static void errors_inside_a_stream_are_errors(void **state)
{
    static const struct {
        const char *event;
        int status;
        const char *code, *message;
    } events[] = {
        {"{\"error\":{\"message\":\"slow down\",\"type\":\"rate_limit_error\",\"code\":null}}",
         429, "rate_limit_exceeded", "slow down"},
        {"{\"error\":{\"code\":503,\"message\":\"busy\"}}", 503, "overloaded", "busy"},
        {"{\"error\":\"boom\"}", 500, "server_error", "boom"},
        {"{\"object\":\"error\",\"message\":\"bad\",\"code\":400}", 400, "invalid_request", "bad"},
        {"{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"o\"}}", 529,
         "overloaded", "o"},
        {"{\"id\":\"c\",\"choices\":[],\"error\":{\"message\":\"x\"}}", 500, "server_error", "x"},
    };
    static const char *const fine[] = {
        "{\"error\":null,\"choices\":[]}", "{\"error\":\"\"}", "{\"error\":{}}",
        "{\"error\":false}", "{\"object\":\"chat.completion.chunk\"}", "{\"type\":\"ping\"}",
        (DELTA("{\"error\":\"x\"}")),
    };
    struct tg_chat_event event;

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(events); i++) {
        tg_chat_event_read(span(events[i].event), &event, NULL);
        assert_true(event.has_error);
        assert_int_equal(event.content, 0);
        assert_int_equal(event.error.class, TG_CLASS_UPSTREAM);
        assert_int_equal(event.error.status, events[i].status);
        assert_string_equal(event.error.code, events[i].code);
        assert_string_equal(event.error.message, events[i].message);
    }
    for (size_t i = 0; i < TG_COUNT_OF(fine); i++) {
        tg_chat_event_read(span(fine[i]), &event, NULL);
        assert_false(event.has_error || event.malformed);
    }
}

static void whole_answers_are_read_like_one_event(void **state)
{
    static const char body[] =
        "{\"id\":\"c\",\"object\":\"chat.completion\",\"model\":\"up\",\"choices\":[{\"index\":0,"
        "\"message\":{\"role\":\"assistant\",\"content\":\"four\",\"refusal\":null},"
        "\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":1}}\n";
    static const char empty[] =
        "{\"choices\":[{\"message\":{\"role\":\"assistant\",\"content\":\"\"},"
        "\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":0}}";
    struct tg_chat_event event;
    struct tg_buf text;

    (void)state;
    tg_buf_init(&text, 0);
    tg_chat_answer_read(span(body), &event, &text);
    assert_false(event.malformed || event.done || event.has_error);
    assert_int_equal(event.content, TG_CHAT_TEXT);
    assert_string_equal(tg_buf_text(&text), "four");
    assert_string_equal(event.finish_reason, "stop");
    assert_int_equal(event.usage.input, 3);
    assert_memory_equal(event.model.ptr, "\"up\"", 4);
    tg_chat_answer_read(span(empty), &event, NULL);
    assert_int_equal(event.content, 0);
    assert_true(event.has_usage);
    tg_chat_answer_read(span("[DONE]"), &event, NULL);
    assert_true(event.malformed);
    tg_chat_answer_read(span("{\"error\":{\"message\":\"no\"}}"), &event, NULL);
    assert_true(event.has_error);
    tg_buf_done(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(content_is_what_a_client_may_be_charged_for),
        cmocka_unit_test(done_and_malformed_say_nothing_else),
        cmocka_unit_test(choices_finish_and_model_are_seen),
        cmocka_unit_test(usage_is_read_wherever_it_stands),
        cmocka_unit_test(usage_that_says_nothing_never_overwrites),
        cmocka_unit_test(errors_inside_a_stream_are_errors),
        cmocka_unit_test(whole_answers_are_read_like_one_event),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
