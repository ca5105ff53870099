/* Streams from an upstream, chunk by chunk: what reaches the client, how it ends, what is owed. */
#include "tests/unit/unit.h"

#include "common/base/clock.h"
#include "tests/unit/stream/scene.h"

#include <stdio.h>

/* --- how streams end --------------------------------------------------------------------- */

static const struct {
    const char *stream;
    enum tg_http_end how;
    enum tg_class class;
    const char *code;
    enum tg_end_reason reason;
    bool arrived, has_usage;
    const char *sent;
} ends[] = {
    /* whole */
    {ROLE TEXT("hi") FINISH USAGE DONE, TG_HTTP_DONE, TG_OK, "", TG_END_DONE, true, true,
     "<begin>" ROLE TEXT("hi") FINISH},
    {ROLE TEXT("hi") FINISH USAGE, TG_HTTP_DONE, TG_OK, "", TG_END_EOF, true, true,
     "<begin>" ROLE TEXT("hi") FINISH},
    {TEXT("hi") DONE, TG_HTTP_DONE, TG_OK, "", TG_END_DONE, true, false, "<begin>" TEXT("hi")},
    {TEXT("hi") FINISH "data: [DONE]", TG_HTTP_DONE, TG_OK, "", TG_END_DONE, true, false,
     "<begin>" TEXT("hi") FINISH},
    {TEXT("hi") DONE, TG_HTTP_RESET, TG_OK, "", TG_END_DONE, true, false,
     "<begin>" TEXT("hi")},
    /* cut short */
    {ROLE TEXT("hi"), TG_HTTP_DONE, TG_CLASS_UPSTREAM, "upstream_truncated", TG_END_EOF, true,
     false, "<begin>" ROLE TEXT("hi")},
    {ROLE TEXT("hi"), TG_HTTP_RESET, TG_CLASS_UPSTREAM, "upstream_truncated", TG_END_EOF, true,
     false, "<begin>" ROLE TEXT("hi")},
    {TEXT("hi") FINISH, TG_HTTP_RESET, TG_CLASS_UPSTREAM, "upstream_truncated", TG_END_EOF,
     true, false, "<begin>" TEXT("hi") FINISH},
    {ROLE TEXT("hi"), TG_HTTP_TIMEOUT_IDLE, TG_CLASS_TIMEOUT, "upstream_timeout",
     TG_END_TIMEOUT, true, false, "<begin>" ROLE TEXT("hi")},
    /* nothing but preamble: the client has not seen a byte */
    {"", TG_HTTP_DONE, TG_CLASS_TRANSPORT, "upstream_truncated", TG_END_EOF, false, false, ""},
    {ROLE, TG_HTTP_DONE, TG_CLASS_TRANSPORT, "upstream_truncated", TG_END_EOF, false, false,
     ""},
    {ROLE, TG_HTTP_RESET, TG_CLASS_TRANSPORT, "upstream_truncated", TG_END_EOF, false, false,
     ""},
    {ROLE, TG_HTTP_TIMEOUT_IDLE, TG_CLASS_TIMEOUT, "upstream_timeout", TG_END_TIMEOUT, false,
     false, ""},
    {ROLE FINISH USAGE DONE, TG_HTTP_DONE, TG_CLASS_TRANSPORT, "empty_answer", TG_END_DONE,
     false, true, ""},
    {DONE, TG_HTTP_DONE, TG_CLASS_TRANSPORT, "empty_answer", TG_END_DONE, false, false, ""},
    /* errors in the stream */
    {"data: {\"error\":{\"message\":\"slow down\",\"type\":\"rate_limit_error\",\"code\":429}}"
     "\n\n",
     TG_HTTP_STOPPED, TG_CLASS_UPSTREAM, "rate_limit_exceeded", TG_END_HANDLER_STOP, false, false,
     ""},
    {ROLE TEXT("hi") "data: {\"error\":{\"message\":\"x\",\"type\":\"server_error\","
                     "\"code\":\"boom\"}}\n\n" TEXT("more") DONE,
     TG_HTTP_STOPPED, TG_CLASS_UPSTREAM, "boom", TG_END_HANDLER_STOP, true, false,
     "<begin>" ROLE TEXT("hi")},
    {TEXT("hi") "data: {\"choices\":[{]}\n\n", TG_HTTP_STOPPED, TG_CLASS_TRANSPORT,
     "upstream_invalid", TG_END_SCANNER_ERROR, true, false, "<begin>" TEXT("hi")},
    {"data: <html>\n\n", TG_HTTP_STOPPED, TG_CLASS_TRANSPORT, "upstream_invalid",
     TG_END_SCANNER_ERROR, false, false, ""},
};

static void every_end_has_its_reason_and_its_error(void **state)
{
    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(ends); i++) {
        struct scene scene;

        scene_begin(&scene);
        (void)scene_feed(&scene, ends[i].stream);
        scene_end(&scene, ends[i].how);
        if (scene.stream.error.class != ends[i].class ||
            strcmp(scene.stream.error.code, ends[i].code) != 0 ||
            strcmp(tg_buf_text(&client_fake.sent), ends[i].sent) != 0)
            fail_msg("case %zu: %s %s, sent %s", i, tg_class_name(scene.stream.error.class),
                     scene.stream.error.code, tg_buf_text(&client_fake.sent));
        assert_int_equal(scene.stream.end_reason, ends[i].reason);
        assert_int_equal(scene.stream.arrived, ends[i].arrived);
        assert_int_equal(scene.req.content_sent, ends[i].arrived);
        assert_int_equal(scene.stream.has_usage, ends[i].has_usage);
        scene_done(&scene);
    }
}

/* Every cut of a stream into two and into single bytes gives the same bytes and the same sums. */
static void cuts_change_nothing(void **state)
{
    static const char text[] = ": comment\r\n\r\n" ROLE TEXT("h\xc3\xa9llo") "data:{\"choices\":"
                               "[{\"delta\":{\"content\":\"x\"}}]}\r\rdata: {\"choices\":[{"
                               "\"delta\""
                               ":{},\n"
                               "data: \"finish_reason\":\"stop\"}]}\n\n" USAGE DONE;
    static const char sent[] =
        "<begin>" ROLE TEXT("h\xc3\xa9llo") "data: {\"choices\":[{\"delta\":{\"content\":\"x\"}}]}"
        "\n\ndata: {\"choices\":[{\"delta\":{},\ndata: \"finish_reason\":\"stop\"}]}\n\n";
    const size_t len = sizeof text - 1;

    (void)state;
    for (size_t cut = 0; cut <= len; cut++) {
        struct scene scene;

        scene_begin(&scene);
        assert_true(tg_stream_feed(&scene.stream, text, cut));
        assert_true(tg_stream_feed(&scene.stream, text + cut, len - cut));
        scene_end(&scene, TG_HTTP_DONE);
        assert_string_equal(tg_buf_text(&client_fake.sent), sent);
        assert_int_equal(scene.stream.usage.input, 11);
        assert_int_equal(scene.stream.usage.output, 7);
        scene_done(&scene);
    }
}

static void every_event_is_flushed_by_itself(void **state)
{
    struct scene scene;

    (void)state;
    scene_begin(&scene);
    assert_true(scene_feed(&scene, TEXT("a") TEXT("b") TEXT("c")));
    assert_int_equal(client_fake.sends, 3);
    scene_done(&scene);
}

/* --- usage ------------------------------------------------------------------------------- */

static void the_latest_usage_wins_wherever_it_comes(void **state)
{
    static const struct {
        const char *stream;
        int64_t input, output;
    } cases[] = {
        {CHUNK("\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"}}],\"usage\":null")
             CHUNK("\"choices\":[{\"index\":0,\"delta\":{}}],\"usage\":{\"prompt_tokens\":280,"
                   "\"completion_tokens\":8}") DONE,
         280, 8},
        {CHUNK("\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"}}],\"usage\":"
               "{\"prompt_tokens\":5,\"completion_tokens\":1}")
             CHUNK("\"choices\":[{\"index\":0,\"delta\":{\"content\":\"b\"}}],\"usage\":"
                   "{\"prompt_tokens\":5,\"completion_tokens\":2}")
                 CHUNK("\"choices\":[{\"index\":0,\"delta\":{}}],\"usage\":null") DONE,
         5, 2},
        {TEXT("a") FINISH DONE USAGE, 11, 7},
        {TEXT("a") "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":4}}",
         3, 4},
    };

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++) {
        struct scene scene;

        scene_begin(&scene);
        (void)scene_feed(&scene, cases[i].stream);
        scene_end(&scene, TG_HTTP_DONE);
        assert_true(scene.stream.has_usage);
        assert_int_equal(scene.stream.usage.input, cases[i].input);
        assert_int_equal(scene.stream.usage.output, cases[i].output);
        scene_done(&scene);
    }
}

static void the_usage_chunk_is_for_clients_that_asked(void **state)
{
    struct scene scene;

    (void)state;
    scene_begin(&scene);
    scene.req.wants_usage = true;
    (void)scene_feed(&scene, TEXT("hi") FINISH USAGE DONE);
    assert_string_equal(tg_buf_text(&client_fake.sent), "<begin>" TEXT("hi") FINISH USAGE);
    scene_done(&scene);

    /* zeros are a usage chunk as well */
    scene_begin(&scene);
    (void)scene_feed(&scene, TEXT("hi") CHUNK("\"choices\":[],\"usage\":{\"prompt_tokens\":0}")
                                 DONE);
    assert_string_equal(tg_buf_text(&client_fake.sent), "<begin>" TEXT("hi"));
    assert_false(scene.stream.has_usage);
    scene_done(&scene);

    /* other chunks without choices are the upstream's business */
    scene_begin(&scene);
    (void)scene_feed(&scene, TEXT("hi") CHUNK("\"choices\":[],\"prompt_filter_results\":[]") DONE);
    assert_string_equal(tg_buf_text(&client_fake.sent),
                        "<begin>" TEXT("hi") CHUNK("\"choices\":[],\"prompt_filter_results\":[]"));
    scene_done(&scene);
}

static void content_of_every_kind_commits_and_is_counted(void **state)
{
    static const char *const kinds[] = {
        "{\"content\":\"four little words here\"}",
        "{\"reasoning_content\":\"four little words here\"}",
        "{\"refusal\":\"four little words here\"}",
        "{\"tool_calls\":[{\"index\":0,\"id\":\"t\",\"function\":{\"name\":\"four_words\","
        "\"arguments\":\"{}\"}}]}",
    };

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(kinds); i++) {
        struct scene scene;
        char event[512];

        snprintf(event, sizeof event, "data: {\"choices\":[{\"delta\":%s}]}\n\n", kinds[i]);
        scene_begin(&scene);
        assert_true(scene_feed(&scene, event));
        assert_true(scene.req.content_sent);
        assert_true(scene.req.first_token_us > 0);
        assert_in_range(tg_count_so_far(&scene.stream.count), 1, 20);
        assert_int_equal(scene.client.delivered_tokens,
                         tg_count_so_far(&scene.stream.count));
        scene_done(&scene);
    }
}

/* --- names ------------------------------------------------------------------------------- */

static void the_model_is_renamed_and_event_names_stay(void **state)
{
    const struct tg_stream_conf conf = {
        .count_as = "gpt-4o", .rename_to = "alias", .event_limit = 4096, .refuse_empty = true};
    struct scene scene;

    (void)state;
    scene_begin_with(&scene, &conf);
    assert_true(scene_feed(&scene, "event: chunk\nid: 7\nretry: 1\ndata: {\"model\":\"real\", "
                                   "\"choices\":[{\"delta\":{\"content\":\"x\"}}]}\n\n"));
    assert_string_equal(tg_buf_text(&client_fake.sent),
                        "<begin>event: chunk\ndata: {\"model\":\"alias\", \"choices\":[{\"delta\":"
                        "{\"content\":\"x\"}}]}\n\n");
    scene_done(&scene);
}

static void an_empty_answer_may_be_let_through(void **state)
{
    const struct tg_stream_conf conf = {.count_as = "gpt-4o", .event_limit = 4096};
    struct scene scene;

    (void)state;
    scene_begin_with(&scene, &conf);
    (void)scene_feed(&scene, ROLE FINISH DONE);
    assert_string_equal(tg_buf_text(&client_fake.sent), "");
    scene_end(&scene, TG_HTTP_DONE);
    assert_int_equal(scene.stream.error.class, TG_OK);
    assert_false(scene.stream.arrived);
    assert_string_equal(tg_buf_text(&client_fake.sent), "<begin>" ROLE FINISH);
    scene_done(&scene);

    scene_begin_with(&scene, &conf);
    (void)scene_feed(&scene, DONE);
    scene_end(&scene, TG_HTTP_DONE);
    assert_string_equal(scene.stream.error.code, "empty_answer");
    scene_done(&scene);
}

/* --- limits ------------------------------------------------------------------------------ */

static void an_event_over_the_limit_ends_the_stream(void **state)
{
    static char large[6000];
    struct scene scene;

    (void)state;
    memset(large, 'x', sizeof large - 1);
    scene_begin(&scene);
    assert_true(scene_feed(&scene, TEXT("hi")));
    assert_false(scene_feed(&scene, large));
    scene_end(&scene, TG_HTTP_STOPPED);
    assert_int_equal(scene.stream.end_reason, TG_END_SCANNER_ERROR);
    assert_string_equal(scene.stream.error.code, "upstream_invalid");
    scene_done(&scene);
}

static void a_preamble_without_end_is_no_stream(void **state)
{
    struct scene scene;
    bool going = true;
    int fed = 0;

    (void)state;
    scene_begin(&scene);
    for (; going && fed < 1000; fed++)
        going = scene_feed(&scene, ROLE);
    assert_false(going);
    assert_int_equal(scene.stream.end_reason, TG_END_SCANNER_ERROR);
    assert_string_equal(tg_buf_text(&client_fake.sent), "");
    scene_done(&scene);
}

static void an_upstream_that_does_not_hang_up_is_let_go(void **state)
{
    struct scene scene;
    int64_t wake_at_us = INT64_MAX, now_us;

    (void)state;
    scene_begin(&scene);
    assert_true(scene_feed(&scene, TEXT("hi") "data: [DONE]\n"));
    now_us = tg_now_us();
    assert_true(tg_stream_tick(&scene.stream, now_us, &wake_at_us));
    assert_true(wake_at_us <= now_us + 100000);
    assert_false(tg_stream_tick(&scene.stream, wake_at_us, &wake_at_us));
    scene_end(&scene, TG_HTTP_STOPPED);
    assert_int_equal(scene.stream.error.class, TG_OK);
    assert_int_equal(scene.stream.end_reason, TG_END_DONE);
    scene_done(&scene);
}

static void the_request_deadline_ends_a_stream_without_content(void **state)
{
    const struct tg_http_result result = {.end = TG_HTTP_STOPPED, .status = 200};
    struct scene scene;

    (void)state;
    scene_begin(&scene);
    assert_true(scene_feed(&scene, ROLE));
    tg_stream_end(&scene.stream, &result, true);
    assert_int_equal(scene.stream.error.class, TG_CLASS_TIMEOUT);
    assert_int_equal(scene.stream.end_reason, TG_END_TIMEOUT);
    scene_done(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_end_has_its_reason_and_its_error),
        cmocka_unit_test(cuts_change_nothing),
        cmocka_unit_test(every_event_is_flushed_by_itself),
        cmocka_unit_test(the_latest_usage_wins_wherever_it_comes),
        cmocka_unit_test(the_usage_chunk_is_for_clients_that_asked),
        cmocka_unit_test(content_of_every_kind_commits_and_is_counted),
        cmocka_unit_test(the_model_is_renamed_and_event_names_stay),
        cmocka_unit_test(an_empty_answer_may_be_let_through),
        cmocka_unit_test(an_event_over_the_limit_ends_the_stream),
        cmocka_unit_test(a_preamble_without_end_is_no_stream),
        cmocka_unit_test(an_upstream_that_does_not_hang_up_is_let_go),
        cmocka_unit_test(the_request_deadline_ends_a_stream_without_content),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
