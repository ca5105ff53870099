/* The attempt loop against real HTTP servers: who is asked, who pays, what the client gets. */
#include "tests/unit/unit.h"

#include "fcgi-app/shared.h"
#include "tests/unit/relay/stage.h"

#include <sys/socket.h>
#include <unistd.h>

#define BODY "{\"model\": \"alias\", \"x\":1e2, \"messages\":[]}"
#define JSON "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"
#define ANSWER                                                                               \
    JSON "{\"id\":\"a\",\"model\":\"real-2024\",\"choices\":[{\"message\":{\"role\":"           \
         "\"assistant\",\"content\":\"hey\"}}],\"usage\":{\"prompt_tokens\":9,"                \
         "\"completion_tokens\":2}}"
#define SSE "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
#define ROLE "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\"}}]}\n\n"
#define TEXT(t) "data: {\"choices\":[{\"delta\":{\"content\":\"" t "\"}}]}\n\n"
#define FINISH "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"
#define DONE "data: [DONE]\n\n"
#define REFUSAL(status, body) \
    "HTTP/1.1 " status " No\r\nContent-Type: application/json\r\n\r\n" body
#define E500 REFUSAL("500", "")
#define E401 REFUSAL("401", "")
#define E404 REFUSAL("404", "")
#define E400 REFUSAL("400", "{\"error\":{\"message\":\"bad thing\",\"code\":\"bad_one\"}}")

#define LIST(...)                         \
    ((const char *const[]){__VA_ARGS__}), \
        sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *)

static void a_plain_answer_goes_through_and_is_billed_as_reported(void **state)
{
    struct stage stage = {0};

    (void)state;
    stage_channel(&stage, LIST(ANSWER));
    assert_int_equal(stage_run(&stage, BODY, false), TG_NEXT);
    assert_int_equal(stage.req.answer_status, 200);
    assert_string_equal(tg_buf_text(&stage.req.tail), strchr(ANSWER, '{'));
    assert_string_equal(stage_events(&stage), "1:success:request_completed");
    assert_int_equal(stage.req.usage.source, TG_USAGE_UPSTREAM);
    assert_int_equal(stage.req.usage.input, 9);
    assert_int_equal(stage.req.usage.output, 2);
    assert_int_equal(stage.req.served->channel_id, 1);
    assert_string_equal(stage.upstreams[0].server.body.data, BODY);
    assert_non_null(strstr(stage.upstreams[0].server.head.data,
                           "POST /v1/chat/completions HTTP/1.1\r\n"));
    assert_non_null(strstr(stage.upstreams[0].server.head.data,
                           "\r\nAuthorization: Bearer sk-upstream\r\n"));
    stage_done(&stage);
}

static void mapping_changes_the_name_both_ways_and_nothing_else(void **state)
{
    struct stage stage = {.mapping = "{\"alias\":\"real.1\",\"other\":\"x\"}"};

    (void)state;
    stage_channel(&stage, LIST(ANSWER));
    assert_int_equal(stage_run(&stage, BODY, false), TG_NEXT);
    assert_string_equal(stage.upstreams[0].server.body.data,
                        "{\"model\": \"real.1\", \"x\":1e2, \"messages\":[]}");
    assert_non_null(strstr(tg_buf_text(&stage.req.tail), "\"model\":\"alias\""));
    assert_string_equal(stage.req.served->upstream_model, "real.1");
    stage_done(&stage);
}

/* One row per course of events; channel 1 has the higher priority. */
static const struct {
    const char *first[3], *second[3]; /* answers; a first one of NULL: no such channel */
    bool stream;
    enum tg_verdict verdict;
    enum tg_class class;
    const char *events;
} courses[] = {
    {{E500}, {ANSWER}, false, TG_NEXT, TG_OK, "1:retry:status 2:success:request_completed"},
    {{E500, ANSWER}, {NULL}, false, TG_NEXT, TG_OK,
     "1:retry:status 1:success:request_completed"},
    {{E500}, {NULL}, false, TG_ANSWER, TG_CLASS_UPSTREAM,
     "1:retry:status 1:retry:status 1:stop:budget"},
    {{E401}, {ANSWER}, false, TG_NEXT, TG_OK,
     "1:retry:channel_error 2:success:request_completed"},
    {{E401}, {E401}, false, TG_ANSWER, TG_CLASS_ACCOUNT,
     "1:retry:channel_error 2:stop:channel_error"},
    {{E400}, {ANSWER}, false, TG_ANSWER, TG_CLASS_UPSTREAM, "1:stop:not_retryable"},
    {{E404}, {ANSWER}, false, TG_NEXT, TG_OK, "1:retry:status 2:success:request_completed"},
    {{E404}, {NULL}, false, TG_ANSWER, TG_CLASS_UPSTREAM, "1:stop:status_not_retryable"},
    {{REFUSAL("504", "")}, {ANSWER}, false, TG_ANSWER, TG_CLASS_UPSTREAM,
     "1:stop:excluded"},
    {{"close"}, {ANSWER}, false, TG_NEXT, TG_OK,
     "1:retry:transport 2:success:request_completed"},
    {{"reset"}, {ANSWER}, false, TG_NEXT, TG_OK,
     "1:retry:transport 2:success:request_completed"},
    {{"hang"}, {ANSWER}, false, TG_NEXT, TG_OK,
     "1:retry:transport 2:success:request_completed"},
    {{"hang"}, {NULL}, false, TG_ANSWER, TG_CLASS_TIMEOUT,
     "1:retry:transport 1:retry:transport 1:stop:budget"},
    /* good statuses that are no answers */
    {{JSON "oops"}, {ANSWER}, false, TG_NEXT, TG_OK,
     "1:retry:transport 2:success:request_completed"},
    {{JSON "{}"}, {ANSWER}, false, TG_NEXT, TG_OK,
     "1:retry:transport 2:success:request_completed"},
    {{SSE TEXT("x") DONE}, {ANSWER}, false, TG_NEXT, TG_OK,
     "1:retry:transport 2:success:request_completed"},
    {{JSON "{\"error\":{\"code\":429,\"m\":\"x\"}}"}, {ANSWER}, false, TG_NEXT,
     TG_OK, "1:retry:status 2:success:request_completed"},
    /* streams */
    {{ANSWER}, {SSE TEXT("hi") FINISH DONE}, true, TG_NEXT, TG_OK,
     "1:retry:transport 2:success:request_completed"},
    {{SSE ROLE}, {SSE TEXT("hi") FINISH DONE}, true, TG_NEXT, TG_OK,
     "1:retry:transport 2:success:request_completed"},
    {{SSE ROLE FINISH DONE}, {SSE TEXT("hi") FINISH DONE}, true, TG_NEXT, TG_OK,
     "1:retry:transport 2:success:request_completed"},
    {{SSE ROLE "data: {\"error\":{\"message\":\"busy\",\"code\":503}}\n\n"},
     {SSE TEXT("hi") FINISH DONE},
     true,
     TG_NEXT,
     TG_OK,
     "1:retry:status 2:success:request_completed"},
    {{SSE "data: {\"error\":{\"message\":\"no\",\"type\":\"invalid_request_error\"}}\n\n"},
     {SSE TEXT("hi") FINISH DONE},
     true,
     TG_ANSWER,
     TG_CLASS_UPSTREAM,
     "1:stop:not_retryable"},
    {{SSE ROLE TEXT("half")}, {SSE TEXT("hi") FINISH DONE}, true, TG_ANSWER,
     TG_CLASS_UPSTREAM, "1:stop:committed"},
};

static void failures_move_to_the_channel_that_they_should(void **state)
{
    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(courses); i++) {
        struct stage stage = {0};
        size_t count = 0;

        while (count < 3 && courses[i].first[count] != NULL)
            count++;
        stage_channel(&stage, courses[i].first, count);
        if (courses[i].second[0] != NULL)
            stage_channel(&stage, courses[i].second, 1);
        if (stage_run(&stage, BODY, courses[i].stream) != courses[i].verdict ||
            strcmp(stage_events(&stage), courses[i].events) != 0 ||
            stage.req.error.class != courses[i].class)
            fail_msg("case %zu: %s %s", i, stage_events(&stage),
                     tg_class_name(stage.req.error.class));
        if (courses[i].stream && courses[i].verdict == TG_NEXT) {
            assert_string_equal(tg_buf_text(&client_fake.sent), "<begin>" TEXT("hi") FINISH);
            assert_string_equal(tg_buf_text(&stage.req.tail), DONE);
        }
        stage_done(&stage);
    }
}

static void a_stream_cut_in_the_middle_is_counted_locally_and_not_finished(void **state)
{
    struct stage stage = {0};

    (void)state;
    stage_channel(&stage, LIST(SSE ROLE TEXT("one two three four")));
    stage_channel(&stage, LIST(SSE TEXT("never") DONE));
    assert_int_equal(stage_run(&stage, BODY, true), TG_ANSWER);
    assert_string_equal(stage.req.error.code, "upstream_truncated");
    assert_string_equal(tg_buf_text(&client_fake.sent),
                        "<begin>" ROLE TEXT("one two three four"));
    assert_int_equal(stage.req.tail.len, 0);
    assert_int_equal(stage.req.end_reason, TG_END_EOF);
    assert_int_equal(stage.req.usage.source, TG_USAGE_COUNTED_LOCALLY);
    assert_int_equal(stage.req.usage.input, 21);
    assert_in_range(stage.req.usage.output, 1, 20);
    assert_int_equal(stage.req.served->channel_id, 1);
    assert_int_equal(test_count(&stage.upstreams[1].server,
                     &stage.upstreams[1].server.connections), 0);
    stage_done(&stage);
}

static void what_an_undelivered_attempt_used_is_recorded_and_not_billed(void **state)
{
    struct stage stage = {0};

    (void)state;
    stage_channel(&stage, LIST(SSE ROLE "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":50,"
                                        "\"completion_tokens\":3}}\n\n" DONE));
    stage_channel(&stage, LIST(SSE TEXT("hi") FINISH DONE));
    assert_int_equal(stage_run(&stage, BODY, true), TG_NEXT);
    assert_int_equal(stage.req.attempts->unbilled_input, 50);
    assert_int_equal(stage.req.attempts->unbilled_output, 3);
    assert_int_equal(stage.req.usage.source, TG_USAGE_COUNTED_LOCALLY);
    assert_int_equal(stage.req.usage.input, 21);
    stage_done(&stage);
}

static void a_stream_asks_for_usage_and_a_plain_request_does_not(void **state)
{
    struct stage stage = {0};

    (void)state;
    stage_channel(&stage, LIST(SSE TEXT("hi") FINISH DONE));
    assert_int_equal(stage_run(&stage, BODY, true), TG_NEXT);
    assert_non_null(strstr(stage.upstreams[0].server.body.data, "\"include_usage\":true"));
    stage_done(&stage);
}

static void a_pinned_channel_gets_one_attempt(void **state)
{
    struct stage stage = {0};

    (void)state;
    stage_channel(&stage, LIST(ANSWER));
    stage_channel(&stage, LIST(E500));
    stage.req.pinned_channel_id = 2;
    assert_int_equal(stage_run(&stage, BODY, false), TG_ANSWER);
    assert_string_equal(stage_events(&stage), "2:stop:pinned");
    stage_done(&stage);
}

static void without_a_channel_there_is_503_and_a_time_to_come_back(void **state)
{
    struct stage stage = {0};

    (void)state;
    assert_int_equal(stage_run(&stage, BODY, false), TG_ANSWER);
    assert_int_equal(stage.req.error.class, TG_CLASS_NO_CHANNEL);
    assert_true(stage.req.error.retry_after_ms > 0);
    assert_int_equal(stage.req.attempt_count, 0);
    assert_string_equal(stage_events(&stage), "0:stop:no_channel");
    stage_done(&stage);
}

/* Stages of one node: the channel that failed four times in a row is not asked a fifth time, and
 * what clients do wrong says nothing about it. */
static void a_channel_that_keeps_failing_is_left_alone(void **state)
{
    static const struct {
        const char *first, *events;
    } requests[] = {
        {E500, "1:retry:status 2:success:request_completed"},
        {E500, "1:retry:status 2:success:request_completed"},
        {E400, "1:stop:not_retryable"},
        {E500, "1:retry:status 2:success:request_completed"},
        {E404, "1:retry:status 2:success:request_completed"},
        {"close", "1:retry:transport 2:success:request_completed"},
        {ANSWER, "2:success:request_completed"},
    };
    struct tg_shared *shared = tg_shared_new(1);

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(requests); i++) {
        struct stage stage = {.worker = {.shared = shared}};

        stage_channel(&stage, LIST(requests[i].first));
        stage_channel(&stage, LIST(ANSWER));
        (void)!stage_run(&stage, BODY, false);
        if (strcmp(stage_events(&stage), requests[i].events) != 0)
            fail_msg("request %zu: %s", i, stage_events(&stage));
        if (i == 5)
            assert_string_equal(stage.req.attempts->effect, "breaker_opened");
        if (i == 6)
            assert_int_equal(stage.req.attempts->channels_resting, 1);
        stage_done(&stage);
    }
}

static void an_open_breaker_says_when_to_come_back(void **state)
{
    struct tg_shared *shared = tg_shared_new(1);

    (void)state;
    for (int i = 0; i < 3; i++) {
        struct stage stage = {.worker = {.shared = shared}};

        stage_channel(&stage, LIST(E500));
        assert_int_equal(stage_run(&stage, BODY, false), TG_ANSWER);
        if (i < 2) { /* three calls, then the fourth failure opens it */
            assert_int_equal(stage.req.error.class, TG_CLASS_UPSTREAM);
        } else {
            assert_string_equal(stage_events(&stage), "0:stop:no_channel");
            assert_in_range(stage.req.error.retry_after_ms, 3590000, 3600000);
        }
        stage_done(&stage);
    }
}

/* Ten requests at once to one channel that fails: a few of them are repeated. */
static void repeats_are_bounded(void **state)
{
    struct tg_shared *shared = tg_shared_new(1);
    int served = 0;

    (void)state;
    for (int i = 0; i < 10; i++) {
        struct stage stage = {.worker = {.shared = shared}};

        stage_channel(&stage, LIST(REFUSAL("409", "")));
        assert_int_equal(stage_run(&stage, BODY, false), TG_ANSWER);
        served += stage.upstreams[0].served;
        stage_done(&stage);
    }
    assert_in_range(served, 13, 16); /* the ten seconds may pass once */
}

static void a_broken_mapping_is_the_channels_fault_and_kept_from_the_client(void **state)
{
    struct stage stage = {.mapping = "{\"alias\":7}"};

    (void)state;
    stage_channel(&stage, LIST(ANSWER));
    assert_int_equal(stage_run(&stage, BODY, false), TG_ANSWER);
    assert_string_equal(stage_events(&stage), "1:stop:channel_error");
    assert_string_equal(stage.req.attempts->error_code, "channel_mapping_invalid");
    assert_int_equal(stage.req.error.class, TG_CLASS_NO_CHANNEL);
    assert_null(strstr(stage.req.error.message, "mapping"));
    stage_done(&stage);
}

static void a_possible_double_cost_is_marked(void **state)
{
    struct stage stage = {0};

    (void)state;
    stage_channel(&stage, LIST("close"));
    stage_channel(&stage, LIST(ANSWER));
    assert_int_equal(stage_run(&stage, BODY, false), TG_NEXT);
    assert_true(stage.req.attempts->maybe_accepted);
    assert_false(stage.req.attempts->next->maybe_accepted);
    stage_done(&stage);
}

static int leaving_fd;

/* The client leaves while the upstream thinks. */
static void leave_and_wait(struct test_server *server, int fd, int connection)
{
    (void)connection;
    if (!test_read_request(server, fd))
        return;
    client_fake.gone = true;
    close(leaving_fd);
    test_wait_closed(server, fd);
}

static void a_client_that_leaves_costs_nothing_and_frees_the_upstream(void **state)
{
    struct stage stage = {0};
    int pair[2];

    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    leaving_fd = pair[1];
    stage_channel(&stage, LIST("hang"));
    stage.upstreams[0].server.script = leave_and_wait;
    client_fake.descriptor = pair[0];
    assert_int_equal(stage_run(&stage, BODY, true), TG_GONE);
    assert_int_equal(stage.req.end_reason, TG_END_CLIENT_GONE);
    assert_string_equal(stage_events(&stage), "1:stop:client_gone");
    assert_int_equal(stage.req.usage.source, TG_USAGE_NONE);
    assert_null(stage.req.served);
    test_wait_count(&stage.upstreams[0].server, &stage.upstreams[0].server.closed, 1);
    close(pair[0]);
    stage_done(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plain_answer_goes_through_and_is_billed_as_reported),
        cmocka_unit_test(mapping_changes_the_name_both_ways_and_nothing_else),
        cmocka_unit_test(failures_move_to_the_channel_that_they_should),
        cmocka_unit_test(a_stream_cut_in_the_middle_is_counted_locally_and_not_finished),
        cmocka_unit_test(what_an_undelivered_attempt_used_is_recorded_and_not_billed),
        cmocka_unit_test(a_stream_asks_for_usage_and_a_plain_request_does_not),
        cmocka_unit_test(a_pinned_channel_gets_one_attempt),
        cmocka_unit_test(without_a_channel_there_is_503_and_a_time_to_come_back),
        cmocka_unit_test(a_channel_that_keeps_failing_is_left_alone),
        cmocka_unit_test(an_open_breaker_says_when_to_come_back),
        cmocka_unit_test(repeats_are_bounded),
        cmocka_unit_test(a_broken_mapping_is_the_channels_fault_and_kept_from_the_client),
        cmocka_unit_test(a_possible_double_cost_is_marked),
        cmocka_unit_test(a_client_that_leaves_costs_nothing_and_frees_the_upstream),
    };

    return cmocka_run_group_tests(tests, stage_set_up, stage_tear_down);
}
