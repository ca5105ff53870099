/* How an exchange ends when something breaks, and what a dead kept connection does to the body. */
#include "tests/unit/unit.h"

#include "common/base/clock.h"
#include "common/base/memory.h"
#include "tests/unit/http/exchange.h"

#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

struct run {
    struct test_server server;
    struct tg_http_pool *pool;
    struct recorded recorded;
    struct tg_http_spec spec;
    struct tg_http_result result;
};

static void start(struct run *run, test_script *script)
{
    memset(run, 0, sizeof *run);
    test_server_start(&run->server, script);
    run->pool = test_pool(4);
    run->spec = test_spec(test_server_url(&run->server, "/"));
}

static void go(struct run *run)
{
    tg_buf_done(&run->recorded.body);
    run->result = test_exchange(run->pool, &run->spec, &run->recorded);
}

static void stop(struct run *run)
{
    tg_buf_done(&run->recorded.body);
    tg_http_pool_free(run->pool);
    test_server_stop(&run->server);
}

/* --- the body on a dead kept connection ---------------------------------------------------- */

static const struct tg_span body_pieces[] = {{"first,", 6}, {"second,", 7}, {"third", 5}};
static const char body_text[] = "first,second,third";

/* Each connection answers one request, then closes: at once, or when the next request has come. */
static void close_after_answer(struct test_server *server, int fd, int connection)
{
    (void)connection;
    if (test_read_request(server, fd))
        test_send_answer(fd, 200, "", "ok");
}

static void close_at_next_request(struct test_server *server, int fd, int connection)
{
    (void)connection;
    if (!test_read_request(server, fd))
        return;
    test_send_answer(fd, 200, "", "ok");
    (void)!test_read_request(server, fd);
}

static void post_body(struct run *run)
{
    run->spec.method = "POST";
    run->spec.body = body_pieces;
    run->spec.body_count = 3;
}

static void a_kept_connection_known_to_be_dead_is_not_used(void **state)
{
    struct run run;

    (void)state;
    start(&run, close_after_answer);
    post_body(&run);
    go(&run);
    assert_int_equal(run.result.end, TG_HTTP_DONE);
    test_wait_count(&run.server, &run.server.ended, 1);
    go(&run);
    assert_int_equal(run.result.end, TG_HTTP_DONE);
    assert_false(run.result.reused);
    assert_int_equal(test_count(&run.server, &run.server.requests), 2);
    assert_string_equal(tg_buf_text(&run.server.body), body_text);
    assert_non_null(strstr(run.server.head.data, "\r\nContent-Length: 18\r\n"));
    stop(&run);
}

static void a_body_that_went_out_is_not_sent_again_unasked(void **state)
{
    struct run run;

    (void)state;
    start(&run, close_at_next_request);
    post_body(&run);
    go(&run);
    assert_int_equal(run.result.end, TG_HTTP_DONE);
    go(&run);
    assert_int_equal(run.result.end, TG_HTTP_RESET);
    assert_true(run.result.reused);
    assert_true(run.result.body_sent);
    assert_int_equal(test_count(&run.server, &run.server.connections), 1);
    assert_int_equal(test_count(&run.server, &run.server.requests), 2);
    assert_string_equal(tg_buf_text(&run.server.body), body_text);
    go(&run); /* when asked, over a fresh connection and whole */
    assert_int_equal(run.result.end, TG_HTTP_DONE);
    assert_int_equal(test_count(&run.server, &run.server.connections), 2);
    assert_int_equal(test_count(&run.server, &run.server.requests), 3);
    assert_string_equal(tg_buf_text(&run.server.body), body_text);
    stop(&run);
}

static void a_request_without_a_body_is_repeated_once(void **state)
{
    struct run run;

    (void)state;
    start(&run, close_at_next_request);
    go(&run);
    assert_int_equal(run.result.end, TG_HTTP_DONE);
    go(&run);
    assert_int_equal(run.result.end, TG_HTTP_DONE);
    assert_int_equal(test_count(&run.server, &run.server.connections), 2);
    assert_int_equal(test_count(&run.server, &run.server.requests), 3);
    stop(&run);
}

static void close_at_once(struct test_server *server, int fd, int connection)
{
    (void)connection;
    (void)!test_read_request(server, fd);
}

static void a_fresh_connection_that_closes_is_not_tried_again(void **state)
{
    struct run run;

    (void)state;
    start(&run, close_at_once);
    post_body(&run);
    go(&run);
    assert_int_equal(run.result.end, TG_HTTP_RESET);
    assert_int_equal(run.result.status, 0);
    assert_true(run.result.body_sent);
    assert_int_equal(test_count(&run.server, &run.server.requests), 1);
    stop(&run);
}

/* --- limits of time ------------------------------------------------------------------------ */

static void hang(struct test_server *server, int fd, int connection)
{
    (void)connection;
    if (test_read_request(server, fd))
        test_wait_closed(server, fd);
}

static void hang_after_headers(struct test_server *server, int fd, int connection)
{
    (void)connection;
    if (!test_read_request(server, fd))
        return;
    test_send_text(fd, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n");
    test_wait_closed(server, fd);
}

static void hang_in_body(struct test_server *server, int fd, int connection)
{
    (void)connection;
    if (!test_read_request(server, fd))
        return;
    test_send_text(fd, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf");
    test_wait_closed(server, fd);
}

static void each_limit_of_time_has_its_own_end(void **state)
{
    static const struct {
        test_script *script;
        bool first_byte, idle, deadline;
        enum tg_http_end end;
        int status;
    } cases[] = {
        {hang, true, false, false, TG_HTTP_TIMEOUT_FIRST_BYTE, 0},
        {hang_after_headers, true, false, false, TG_HTTP_TIMEOUT_FIRST_BYTE, 200},
        {hang_in_body, false, true, false, TG_HTTP_TIMEOUT_IDLE, 200},
        {hang, false, false, true, TG_HTTP_TIMEOUT_DEADLINE, 0},
        {hang_after_headers, false, false, true, TG_HTTP_TIMEOUT_DEADLINE, 200},
    };

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++) {
        struct run run;

        start(&run, cases[i].script);
        if (cases[i].first_byte)
            run.spec.first_byte_us = 50000;
        if (cases[i].idle)
            run.spec.idle_us = 50000;
        if (cases[i].deadline)
            run.spec.deadline_at_us = tg_now_us() + 50000;
        go(&run);
        assert_string_equal(tg_http_end_name(run.result.end), tg_http_end_name(cases[i].end));
        assert_int_equal(run.result.status, cases[i].status);
        test_wait_count(&run.server, &run.server.closed, 1); /* the upstream is let go */
        stop(&run);
    }
}

/* --- broken answers ------------------------------------------------------------------------ */

static void reset_in_body(struct test_server *server, int fd, int connection)
{
    (void)connection;
    if (!test_read_request(server, fd))
        return;
    test_send_text(fd, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf");
    test_reset(fd);
}

static void close_in_body(struct test_server *server, int fd, int connection)
{
    (void)connection;
    if (test_read_request(server, fd))
        test_send_text(fd, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf");
}

static void close_in_chunk(struct test_server *server, int fd, int connection)
{
    (void)connection;
    if (test_read_request(server, fd))
        test_send_text(fd, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n");
}

static void no_http(struct test_server *server, int fd, int connection)
{
    (void)connection;
    if (test_read_request(server, fd))
        test_send_text(fd, "SSH-2.0-nothing of ours\r\n");
}

static void many_headers(struct test_server *server, int fd, int connection)
{
    (void)connection;
    if (!test_read_request(server, fd))
        return;
    test_send_text(fd, "HTTP/1.1 200 OK\r\n");
    for (int i = 0; i < 300; i++)
        test_send_text(fd, "X-Flood: y\r\n");
    test_send_text(fd, "Content-Length: 0\r\n\r\n");
}

static void long_headers(struct test_server *server, int fd, int connection)
{
    char *value = tg_malloc(20001);

    (void)connection;
    memset(value, 'v', 20000);
    value[20000] = '\0';
    if (test_read_request(server, fd)) {
        test_send_text(fd, "HTTP/1.1 200 OK\r\n");
        for (int i = 0; i < 4; i++) {
            test_send_text(fd, "X-Flood: ");
            test_send_text(fd, value);
            test_send_text(fd, "\r\n");
        }
        test_send_text(fd, "Content-Length: 0\r\n\r\n");
    }
    free(value);
}

static void bad_gzip(struct test_server *server, int fd, int connection)
{
    (void)connection;
    if (test_read_request(server, fd))
        test_send_answer(fd, 200, "Content-Encoding: gzip\r\n", "this is no gzip at all");
}

static void broken_answers_have_an_end_each(void **state)
{
    static const struct {
        test_script *script;
        enum tg_http_end end;
        bool any_body;
    } cases[] = {
        {reset_in_body, TG_HTTP_RESET, true},  {close_in_body, TG_HTTP_RESET, true},
        {close_in_chunk, TG_HTTP_RESET, true}, {no_http, TG_HTTP_PROTOCOL, false},
        {many_headers, TG_HTTP_PROTOCOL, false}, {long_headers, TG_HTTP_PROTOCOL, false},
        {bad_gzip, TG_HTTP_PROTOCOL, false},
    };

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++) {
        struct run run;

        start(&run, cases[i].script);
        go(&run);
        if (run.result.end != cases[i].end)
            print_error("case %zu: %s (%s)\n", i, tg_http_end_name(run.result.end),
                        run.result.detail);
        assert_int_equal(run.result.end, cases[i].end);
        assert_int_equal(run.result.any_body, cases[i].any_body);
        stop(&run);
    }
}

/* --- what never leaves --------------------------------------------------------------------- */

static void addresses_and_urls_are_refused_before_anything_is_sent(void **state)
{
    static const struct tg_http_header split = {"X-Bad", "a\r\nX-Forged: 1"};
    struct run run;

    (void)state;
    start(&run, close_at_once);
    run.spec.allow_count = 0;
    go(&run);
    assert_int_equal(run.result.end, TG_HTTP_REFUSED_ADDRESS);
    run.spec.allow_count = 1;
    run.spec.purpose = TG_HTTP_FETCH; /* a port of its own is refused there */
    go(&run);
    assert_int_equal(run.result.end, TG_HTTP_REFUSED_ADDRESS);
    run.spec.purpose = TG_HTTP_CHANNEL;
    run.spec.headers = &split;
    run.spec.header_count = 1;
    go(&run);
    assert_int_equal(run.result.end, TG_HTTP_BAD_URL);
    run.spec.header_count = 0;
    run.spec.url = "file:///etc/passwd";
    go(&run);
    assert_int_equal(run.result.end, TG_HTTP_BAD_URL);
    run.spec.url = "http://user:secret@127.0.0.1/";
    go(&run);
    assert_int_equal(run.result.end, TG_HTTP_BAD_URL);
    assert_int_equal(test_count(&run.server, &run.server.connections), 0);
    stop(&run);
}

static void a_closed_port_is_a_connect_error(void **state)
{
    struct run run;
    char url[64];

    (void)state;
    start(&run, close_at_once);
    snprintf(url, sizeof url, "http://127.0.0.1:%d/", run.server.port);
    shutdown(run.server.listen_fd, SHUT_RDWR);
    run.spec.url = url;
    go(&run);
    assert_int_equal(run.result.end, TG_HTTP_CONNECT);
    assert_false(run.result.body_sent);
    stop(&run);
}

/* --- stopping ------------------------------------------------------------------------------ */

static void the_sink_can_stop_in_headers_and_in_the_body(void **state)
{
    struct run run;

    (void)state;
    start(&run, hang_in_body);
    run.recorded.refuse_body = true;
    go(&run);
    assert_int_equal(run.result.end, TG_HTTP_STOPPED);
    assert_true(run.result.any_body);
    test_wait_count(&run.server, &run.server.closed, 1);
    run.recorded.refuse_headers = true;
    go(&run);
    assert_int_equal(run.result.end, TG_HTTP_STOPPED);
    assert_false(run.result.any_body);
    stop(&run);
}

struct leaver {
    struct test_server *server;
    int fd;
};

static void *leave(void *context)
{
    struct leaver *leaver = context;

    test_wait_count(leaver->server, &leaver->server->requests, 1);
    close(leaver->fd);
    return NULL;
}

static void a_client_that_leaves_ends_the_wait_at_once(void **state)
{
    struct run run;
    struct leaver leaver;
    pthread_t thread;
    int pair[2];

    (void)state;
    start(&run, hang);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    leaver = (struct leaver){&run.server, pair[1]};
    run.spec.client_fd = pair[0];
    run.spec.client_events = POLLIN | POLLRDHUP;
    run.recorded.refuse_client = true;
    assert_int_equal(pthread_create(&thread, NULL, leave, &leaver), 0);
    go(&run); /* limits are 30 s and more: only the client ends it */
    assert_int_equal(run.result.end, TG_HTTP_STOPPED);
    assert_true(run.result.total_us < 10000000);
    assert_int_equal(run.recorded.client_ready, 1);
    test_wait_count(&run.server, &run.server.closed, 1);
    pthread_join(thread, NULL);
    close(pair[0]);
    stop(&run);
}

static void a_half_closed_client_does_not_make_it_spin(void **state)
{
    struct run run;
    int pair[2];

    (void)state;
    start(&run, hang);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    shutdown(pair[1], SHUT_WR);
    run.spec.client_fd = pair[0];
    run.spec.client_events = POLLIN | POLLRDHUP;
    run.spec.first_byte_us = 300000;
    go(&run); /* the tick says: not gone, go on */
    assert_int_equal(run.result.end, TG_HTTP_TIMEOUT_FIRST_BYTE);
    assert_int_equal(run.recorded.client_ready, 1);
    assert_true(run.recorded.ticks < 20);
    close(pair[0]);
    close(pair[1]);
    stop(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kept_connection_known_to_be_dead_is_not_used),
        cmocka_unit_test(a_body_that_went_out_is_not_sent_again_unasked),
        cmocka_unit_test(a_request_without_a_body_is_repeated_once),
        cmocka_unit_test(a_fresh_connection_that_closes_is_not_tried_again),
        cmocka_unit_test(each_limit_of_time_has_its_own_end),
        cmocka_unit_test(broken_answers_have_an_end_each),
        cmocka_unit_test(addresses_and_urls_are_refused_before_anything_is_sent),
        cmocka_unit_test(a_closed_port_is_a_connect_error),
        cmocka_unit_test(the_sink_can_stop_in_headers_and_in_the_body),
        cmocka_unit_test(a_client_that_leaves_ends_the_wait_at_once),
        cmocka_unit_test(a_half_closed_client_does_not_make_it_spin),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
