/* Streams from an upstream, chunk by chunk: what reaches the client, how it ends, what is owed. */
#include "tests/unit/unit.h"

#include "common/base/clock.h"
#include "fcgi-app/stream/engine.h"
#include "fcgi-app/worker.h"
#include "tests/unit/stream/client_fake.h"

#include <stdio.h>

#define CHUNK(rest) "data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\"," rest "}\n\n"
#define ROLE CHUNK("\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]")
#define TEXT(text) CHUNK("\"choices\":[{\"index\":0,\"delta\":{\"content\":\"" text "\"}}]")
#define FINISH CHUNK("\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]")
#define USAGE \
    CHUNK("\"choices\":[],\"usage\":{\"prompt_tokens\":11,\"completion_tokens\":7," \
          "\"total_tokens\":18}")
#define DONE "data: [DONE]\n\n"

/* client.c asks for it in tg_client_init, which no test here calls. */
const struct tg_settings *tg_worker_settings(struct tg_worker *worker)
{
    (void)worker;
    return NULL;
}

struct scene {
    struct tg_request req;
    struct tg_client client;
    struct tg_stream stream;
};

static void begin_with(struct scene *scene, const struct tg_stream_conf *conf)
{
    memset(scene, 0, sizeof *scene);
    client_fake_reset();
    scene->req.fcgi = client_fake_fcgi();
    scene->req.stream = true;
    scene->req.started_at_us = tg_now_us() - 1000;
    scene->client = (struct tg_client){.req = &scene->req,
                                       .keepalive_first_us = 15000000,
                                       .keepalive_every_us = 5000000,
                                       .last_sent_at_us = scene->req.started_at_us};
    tg_stream_init(&scene->stream, &scene->client, conf);
}

static const struct tg_stream_conf usual = {
    .count_as = "gpt-4o", .event_limit = 4096, .refuse_empty = true};

static void begin(struct scene *scene)
{
    begin_with(scene, &usual);
}

static void end(struct scene *scene, enum tg_http_end how)
{
    const struct tg_http_result result = {.end = how, .status = 200, .body_sent = true};

    tg_stream_end(&scene->stream, &result, false);
}

static void done(struct scene *scene)
{
    tg_stream_done(&scene->stream);
    client_fake_reset();
}

static bool feed(struct scene *scene, const char *text)
{
    return tg_stream_feed(&scene->stream, text, strlen(text));
}

/* --- how streams end ------------------------------------------------------------------------- */

static void every_end_has_its_reason_and_its_error(void **state)
{
    static const struct {
        const char *stream;
        enum tg_http_end how;
        enum tg_class class;
        const char *code;
        enum tg_end_reason reason;
        bool arrived, has_usage;
        const char *sent;
    } cases[] = {
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
         TG_HTTP_STOPPED, TG_CLASS_UPSTREAM, "rate_limit_exceeded", TG_END_HANDLER_STOP, false, false, ""},
        {ROLE TEXT("hi") "data: {\"error\":{\"message\":\"x\",\"type\":\"server_error\","
                         "\"code\":\"boom\"}}\n\n" TEXT("more") DONE,
         TG_HTTP_STOPPED, TG_CLASS_UPSTREAM, "boom", TG_END_HANDLER_STOP, true, false,
         "<begin>" ROLE TEXT("hi")},
        {TEXT("hi") "data: {\"choices\":[{]}\n\n", TG_HTTP_STOPPED, TG_CLASS_TRANSPORT,
         "upstream_invalid", TG_END_SCANNER_ERROR, true, false, "<begin>" TEXT("hi")},
        {"data: <html>\n\n", TG_HTTP_STOPPED, TG_CLASS_TRANSPORT, "upstream_invalid",
         TG_END_SCANNER_ERROR, false, false, ""},
    };

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++) {
        struct scene scene;

        begin(&scene);
        (void)feed(&scene, cases[i].stream);
        end(&scene, cases[i].how);
        if (scene.stream.error.class != cases[i].class ||
            strcmp(scene.stream.error.code, cases[i].code) != 0 ||
            strcmp(tg_buf_text(&client_fake.sent), cases[i].sent) != 0)
            fail_msg("case %zu: %s %s, sent %s", i, tg_class_name(scene.stream.error.class),
                     scene.stream.error.code, tg_buf_text(&client_fake.sent));
        assert_int_equal(scene.stream.end_reason, cases[i].reason);
        assert_int_equal(scene.stream.arrived, cases[i].arrived);
        assert_int_equal(scene.req.content_sent, cases[i].arrived);
        assert_int_equal(scene.stream.has_usage, cases[i].has_usage);
        done(&scene);
    }
}

/* Every cut of a stream into two and into single bytes gives the same bytes and the same sums. */
static void cuts_change_nothing(void **state)
{
    static const char text[] = ": comment\r\n\r\n" ROLE TEXT("h\xc3\xa9llo") "data:{\"choices\":"
                               "[{\"delta\":{\"content\":\"x\"}}]}\r\rdata: {\"choices\":[{\"delta\""
                               ":{},\n"
                               "data: \"finish_reason\":\"stop\"}]}\n\n" USAGE DONE;
    static const char sent[] =
        "<begin>" ROLE TEXT("h\xc3\xa9llo") "data: {\"choices\":[{\"delta\":{\"content\":\"x\"}}]}"
        "\n\ndata: {\"choices\":[{\"delta\":{},\ndata: \"finish_reason\":\"stop\"}]}\n\n";
    const size_t len = sizeof text - 1;

    (void)state;
    for (size_t cut = 0; cut <= len; cut++) {
        struct scene scene;

        begin(&scene);
        assert_true(tg_stream_feed(&scene.stream, text, cut));
        assert_true(tg_stream_feed(&scene.stream, text + cut, len - cut));
        end(&scene, TG_HTTP_DONE);
        assert_string_equal(tg_buf_text(&client_fake.sent), sent);
        assert_int_equal(scene.stream.usage.input, 11);
        assert_int_equal(scene.stream.usage.output, 7);
        done(&scene);
    }
}

static void every_event_is_flushed_by_itself(void **state)
{
    struct scene scene;

    (void)state;
    begin(&scene);
    assert_true(feed(&scene, TEXT("a") TEXT("b") TEXT("c")));
    assert_int_equal(client_fake.sends, 3);
    done(&scene);
}

/* --- usage -------------------------------------------------------------------------------------- */

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

        begin(&scene);
        (void)feed(&scene, cases[i].stream);
        end(&scene, TG_HTTP_DONE);
        assert_true(scene.stream.has_usage);
        assert_int_equal(scene.stream.usage.input, cases[i].input);
        assert_int_equal(scene.stream.usage.output, cases[i].output);
        done(&scene);
    }
}

static void the_usage_chunk_is_for_clients_that_asked(void **state)
{
    struct scene scene;

    (void)state;
    begin(&scene);
    scene.req.wants_usage = true;
    (void)feed(&scene, TEXT("hi") FINISH USAGE DONE);
    assert_string_equal(tg_buf_text(&client_fake.sent), "<begin>" TEXT("hi") FINISH USAGE);
    done(&scene);

    /* zeros are a usage chunk as well */
    begin(&scene);
    (void)feed(&scene, TEXT("hi") CHUNK("\"choices\":[],\"usage\":{\"prompt_tokens\":0}") DONE);
    assert_string_equal(tg_buf_text(&client_fake.sent), "<begin>" TEXT("hi"));
    assert_false(scene.stream.has_usage);
    done(&scene);

    /* other chunks without choices are the upstream's business */
    begin(&scene);
    (void)feed(&scene, TEXT("hi") CHUNK("\"choices\":[],\"prompt_filter_results\":[]") DONE);
    assert_string_equal(tg_buf_text(&client_fake.sent),
                        "<begin>" TEXT("hi") CHUNK("\"choices\":[],\"prompt_filter_results\":[]"));
    done(&scene);
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
        begin(&scene);
        assert_true(feed(&scene, event));
        assert_true(scene.req.content_sent);
        assert_true(scene.req.first_token_us > 0);
        assert_in_range(tg_estimate_total(&scene.stream.estimate), 1, 20);
        assert_int_equal(scene.client.delivered_tokens,
                         tg_estimate_total(&scene.stream.estimate));
        done(&scene);
    }
}

/* --- names ------------------------------------------------------------------------------------------ */

static void the_model_is_renamed_and_event_names_stay(void **state)
{
    const struct tg_stream_conf conf = {
        .count_as = "gpt-4o", .rename_to = "alias", .event_limit = 4096, .refuse_empty = true};
    struct scene scene;

    (void)state;
    begin_with(&scene, &conf);
    assert_true(feed(&scene, "event: chunk\nid: 7\nretry: 1\ndata: {\"model\":\"real\", \"choices\""
                             ":[{\"delta\":{\"content\":\"x\"}}]}\n\n"));
    assert_string_equal(tg_buf_text(&client_fake.sent),
                        "<begin>event: chunk\ndata: {\"model\":\"alias\", \"choices\":[{\"delta\":"
                        "{\"content\":\"x\"}}]}\n\n");
    done(&scene);
}

static void an_empty_answer_may_be_let_through(void **state)
{
    const struct tg_stream_conf conf = {.count_as = "gpt-4o", .event_limit = 4096};
    struct scene scene;

    (void)state;
    begin_with(&scene, &conf);
    (void)feed(&scene, ROLE FINISH DONE);
    assert_string_equal(tg_buf_text(&client_fake.sent), "");
    end(&scene, TG_HTTP_DONE);
    assert_int_equal(scene.stream.error.class, TG_OK);
    assert_false(scene.stream.arrived);
    assert_string_equal(tg_buf_text(&client_fake.sent), "<begin>" ROLE FINISH);
    done(&scene);

    begin_with(&scene, &conf);
    (void)feed(&scene, DONE);
    end(&scene, TG_HTTP_DONE);
    assert_string_equal(scene.stream.error.code, "empty_answer");
    done(&scene);
}

/* --- limits --------------------------------------------------------------------------------------------- */

static void an_event_over_the_limit_ends_the_stream(void **state)
{
    static char large[6000];
    struct scene scene;

    (void)state;
    memset(large, 'x', sizeof large - 1);
    begin(&scene);
    assert_true(feed(&scene, TEXT("hi")));
    assert_false(feed(&scene, large));
    end(&scene, TG_HTTP_STOPPED);
    assert_int_equal(scene.stream.end_reason, TG_END_SCANNER_ERROR);
    assert_string_equal(scene.stream.error.code, "upstream_invalid");
    done(&scene);
}

static void a_preamble_without_end_is_no_stream(void **state)
{
    struct scene scene;
    bool going = true;
    int fed = 0;

    (void)state;
    begin(&scene);
    for (; going && fed < 1000; fed++)
        going = feed(&scene, ROLE);
    assert_false(going);
    assert_int_equal(scene.stream.end_reason, TG_END_SCANNER_ERROR);
    assert_string_equal(tg_buf_text(&client_fake.sent), "");
    done(&scene);
}

static void an_upstream_that_does_not_hang_up_is_let_go(void **state)
{
    struct scene scene;
    int64_t wake_at_us = INT64_MAX, now_us;

    (void)state;
    begin(&scene);
    assert_true(feed(&scene, TEXT("hi") "data: [DONE]\n"));
    now_us = tg_now_us();
    assert_true(tg_stream_tick(&scene.stream, now_us, &wake_at_us));
    assert_true(wake_at_us <= now_us + 100000);
    assert_false(tg_stream_tick(&scene.stream, wake_at_us, &wake_at_us));
    end(&scene, TG_HTTP_STOPPED);
    assert_int_equal(scene.stream.error.class, TG_OK);
    assert_int_equal(scene.stream.end_reason, TG_END_DONE);
    done(&scene);
}

static void the_request_deadline_ends_a_stream_without_content(void **state)
{
    const struct tg_http_result result = {.end = TG_HTTP_STOPPED, .status = 200};
    struct scene scene;

    (void)state;
    begin(&scene);
    assert_true(feed(&scene, ROLE));
    tg_stream_end(&scene.stream, &result, true);
    assert_int_equal(scene.stream.error.class, TG_CLASS_TIMEOUT);
    assert_int_equal(scene.stream.end_reason, TG_END_TIMEOUT);
    done(&scene);
}

/* --- the client ------------------------------------------------------------------------------------------ */

static void a_failed_write_stops_the_stream_but_not_the_count(void **state)
{
    struct scene scene;

    (void)state;
    begin(&scene);
    client_fake.fail_after = 1;
    assert_false(feed(&scene, TEXT("one") TEXT("two") USAGE));
    end(&scene, TG_HTTP_STOPPED);
    assert_true(scene.client.gone);
    assert_int_equal(scene.req.end_reason, TG_END_CLIENT_GONE);
    assert_string_equal(tg_buf_text(&client_fake.sent), "<begin>" TEXT("one"));
    assert_true(scene.stream.has_usage); /* it lay in the same bytes: R1 */
    assert_true(scene.stream.arrived);
    done(&scene);
}

static void keep_alives_come_after_silence_and_commit_headers_only(void **state)
{
    struct scene scene;
    int64_t wake_at_us, start_us;

    (void)state;
    begin(&scene);
    start_us = scene.client.last_sent_at_us;
    assert_true(tg_client_tick(&scene.client, start_us + 14999999, &wake_at_us));
    assert_int_equal(wake_at_us, start_us + 15000000);
    assert_string_equal(tg_buf_text(&client_fake.sent), "");
    assert_true(tg_client_tick(&scene.client, wake_at_us, &wake_at_us));
    assert_string_equal(tg_buf_text(&client_fake.sent), "<begin><ka>");
    assert_false(scene.req.content_sent);
    assert_int_equal(wake_at_us, scene.client.last_sent_at_us + 5000000);
    /* the preamble stays held back: another channel may still serve */
    assert_true(feed(&scene, ROLE));
    assert_string_equal(tg_buf_text(&client_fake.sent), "<begin><ka>");
    assert_true(feed(&scene, TEXT("hi")));
    assert_string_equal(tg_buf_text(&client_fake.sent), "<begin><ka>" ROLE TEXT("hi"));
    done(&scene);
}

static void only_streams_are_kept_alive(void **state)
{
    struct scene scene;
    int64_t wake_at_us;

    (void)state;
    begin(&scene);
    scene.req.stream = false;
    client_fake.hold_wake_at_us = 77;
    assert_true(tg_client_tick(&scene.client, 76, &wake_at_us));
    assert_int_equal(wake_at_us, 77);
    assert_true(tg_client_tick(&scene.client, scene.client.last_sent_at_us + 99000000,
                               &wake_at_us));
    assert_string_equal(tg_buf_text(&client_fake.sent), "");
    done(&scene);
}

static void a_client_that_left_is_seen_before_anything_is_written(void **state)
{
    struct scene scene;
    int64_t wake_at_us;

    (void)state;
    begin(&scene);
    client_fake.gone = true;
    assert_false(tg_client_tick(&scene.client, scene.client.last_sent_at_us + 99000000,
                                &wake_at_us));
    assert_int_equal(scene.req.end_reason, TG_END_CLIENT_GONE);
    assert_string_equal(tg_buf_text(&client_fake.sent), "");
    assert_false(tg_client_wait(&scene.client, INT64_MAX));
    done(&scene);
}

static void a_client_that_takes_no_ping_is_stuck(void **state)
{
    struct scene scene;
    int64_t wake_at_us;

    (void)state;
    begin(&scene);
    client_fake.fail_after = 0;
    assert_false(tg_client_tick(&scene.client, scene.client.last_sent_at_us + 15000000,
                                &wake_at_us));
    assert_int_equal(scene.req.end_reason, TG_END_PING_FAIL);
    assert_true(scene.client.gone);
    done(&scene);
}

static void the_deposit_is_renewed_with_what_was_delivered(void **state)
{
    struct scene scene;
    int64_t wake_at_us;

    (void)state;
    begin(&scene);
    client_fake.hold_wake_at_us = 100;
    assert_true(feed(&scene, TEXT("some words to count")));
    assert_true(tg_client_tick(&scene.client, 99, &wake_at_us));
    assert_int_equal(client_fake.hold_ticks, 0);
    assert_true(tg_client_tick(&scene.client, 100, &wake_at_us));
    assert_int_equal(client_fake.hold_ticks, 1);
    assert_int_equal(client_fake.hold_tokens, tg_estimate_total(&scene.stream.estimate));
    done(&scene);
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
        cmocka_unit_test(a_failed_write_stops_the_stream_but_not_the_count),
        cmocka_unit_test(keep_alives_come_after_silence_and_commit_headers_only),
        cmocka_unit_test(only_streams_are_kept_alive),
        cmocka_unit_test(a_client_that_left_is_seen_before_anything_is_written),
        cmocka_unit_test(a_client_that_takes_no_ping_is_stuck),
        cmocka_unit_test(the_deposit_is_renewed_with_what_was_delivered),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
