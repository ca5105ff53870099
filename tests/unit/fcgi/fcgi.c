/* The wrapper of libfcgi: what it hides and what it promises, against a peer of our own. */
#include "tests/unit/unit.h"

#include "common/base/clock.h"
#include "common/fcgi/fcgi.h"
#include "tests/unit/lib/peer.h"

#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SEND_TIMEOUT_US = 2000000 };

struct pair {
    struct test_door door;
    struct tg_fcgi *fcgi;
    int peer;
};

static void open_pair(struct pair *pair, bool on_tcp)
{
    test_door_open(&pair->door, on_tcp);
    pair->fcgi = tg_fcgi_new(pair->door.fd, -1);
    pair->peer = test_peer_connect(&pair->door);
}

static void close_pair(struct pair *pair)
{
    if (pair->peer >= 0)
        close(pair->peer);
    tg_fcgi_free(pair->fcgi);
    test_door_close(&pair->door);
}

static void accept_request(struct pair *pair)
{
    assert_int_equal(tg_fcgi_accept(pair->fcgi, SEND_TIMEOUT_US), TG_FCGI_REQUEST);
}

static void accept_post(struct pair *pair)
{
    test_peer_begin(pair->peer, 0);
    test_peer_params(pair->peer, "REQUEST_METHOD", "POST", NULL);
    test_peer_params_end(pair->peer);
    accept_request(pair);
}

static void nobody_waiting_is_no_request(void **state)
{
    struct pair pair;

    (void)state;
    test_door_open(&pair.door, false);
    pair.fcgi = tg_fcgi_new(pair.door.fd, -1);
    pair.peer = -1;
    assert_int_equal(tg_fcgi_accept(pair.fcgi, SEND_TIMEOUT_US), TG_FCGI_NOTHING);
    assert_int_equal(tg_fcgi_descriptor(pair.fcgi), -1);
    close_pair(&pair);
}

static void count_param(void *context, const char *name, const char *value)
{
    (void)value;
    assert_string_not_equal(name, "HTTP_PROXY");
    ++*(int *)context;
}

static void parameters_and_headers_are_found(void **state)
{
    struct pair pair;
    char long_value[3000];
    int count = 0;

    (void)state;
    memset(long_value, 'x', sizeof long_value);
    long_value[sizeof long_value - 1] = '\0';
    open_pair(&pair, false);
    test_peer_begin(pair.peer, 0);
    test_peer_params(pair.peer, "REQUEST_METHOD", "POST", "HTTP_X_API_KEY", "k", "CONTENT_TYPE",
                     "application/json", "CONTENT_LENGTH", "", "HTTP_LONG", long_value,
                     "HTTP_PROXY", "http://evil", NULL);
    test_peer_params(pair.peer, "HTTP_TWICE", "a", "HTTP_TWICE_TOO", "z", "HTTP_TWICE", "b",
                     "HTTP_TWICE", "", NULL);
    test_peer_params_end(pair.peer);
    accept_request(&pair);
    assert_string_equal(tg_fcgi_param(pair.fcgi, "REQUEST_METHOD"), "POST");
    assert_null(tg_fcgi_param(pair.fcgi, "REQUEST"));
    assert_string_equal(tg_fcgi_header(pair.fcgi, "x-api-key"), "k");
    assert_string_equal(tg_fcgi_header(pair.fcgi, "Content-Type"), "application/json");
    assert_string_equal(tg_fcgi_header(pair.fcgi, "content-length"), "");
    assert_string_equal(tg_fcgi_header(pair.fcgi, "long"), long_value);
    assert_null(tg_fcgi_header(pair.fcgi, "proxy"));
    assert_null(tg_fcgi_header(pair.fcgi, long_value));
    for (int i = 0; i < 2; i++)
        assert_string_equal(tg_fcgi_header(pair.fcgi, "twice"), "a, b, ");
    tg_fcgi_each_param(pair.fcgi, count_param, &count);
    assert_in_range(count, 7, 9); /* the library adds FCGI_ROLE */
    close(pair.peer);
    pair.peer = -1;
    tg_fcgi_finish(pair.fcgi);
    close_pair(&pair);
}

static void garbage_is_no_request(void **state)
{
    static const struct {
        const char *bytes;
        size_t len;
    } cases[] = {
        {"GET / HTTP/1.1\r\n\r\n", 18},
        {"\x01\x01\x00\x01\xff\xff\x00\x00", 8},
        {"", 0},
        {"\x01\x09\x00\x00\x00\x00\x00\x00", 8},
        {"\x02\x01\x00\x01\x00\x08\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00", 16},
    };

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++) {
        struct pair pair;

        open_pair(&pair, false);
        test_peer_raw(pair.peer, cases[i].bytes, cases[i].len);
        shutdown(pair.peer, SHUT_WR);
        assert_int_equal(tg_fcgi_accept(pair.fcgi, SEND_TIMEOUT_US), TG_FCGI_NOTHING);
        assert_int_equal(tg_fcgi_descriptor(pair.fcgi), -1);
        close_pair(&pair);
    }
}

static void parameters_that_break_off_are_no_request(void **state)
{
    (void)state;
    for (int some = 0; some < 2; some++) {
        struct pair pair;

        open_pair(&pair, false);
        test_peer_begin(pair.peer, 0);
        if (some)
            test_peer_params(pair.peer, "REQUEST_METHOD", "GET", NULL);
        shutdown(pair.peer, SHUT_WR);
        assert_int_equal(tg_fcgi_accept(pair.fcgi, SEND_TIMEOUT_US), TG_FCGI_NOTHING);
        assert_int_equal(tg_fcgi_descriptor(pair.fcgi), -1);
        close_pair(&pair);
    }
}

static void parameters_are_bounded(void **state)
{
    struct pair pair;
    char *value = malloc(60001);
    pid_t child;

    (void)state;
    memset(value, 'v', 60000);
    value[60000] = '\0';
    open_pair(&pair, false);
    test_peer_begin(pair.peer, 0);
    for (int i = 0; i < 3; i++) /* a socket's buffer holds three */
        test_peer_params(pair.peer, "A", value, NULL);
    child = fork();
    if (child == 0) {
        test_peer_params(pair.peer, "B", value, "C", value, NULL);
        test_peer_params_end(pair.peer);
        _exit(0);
    }
    accept_request(&pair);
    assert_int_equal(tg_fcgi_params_flaw(pair.fcgi), TG_FCGI_TOO_LARGE);
    assert_string_equal(tg_fcgi_param(pair.fcgi, "A"), value);
    assert_null(tg_fcgi_param(pair.fcgi, "C"));
    free(value);
    close(pair.peer);
    pair.peer = -1;
    tg_fcgi_finish(pair.fcgi);
    close_pair(&pair);
    assert_int_equal(waitpid(child, NULL, 0), child);
}

static void a_body_is_given_as_it_comes_and_has_an_end(void **state)
{
    struct pair pair;
    char bytes[64];
    size_t len, sum = 0;

    (void)state;
    open_pair(&pair, false);
    accept_post(&pair);
    test_peer_body(pair.peer, "abc", 3);
    assert_int_equal(tg_fcgi_read(pair.fcgi, bytes, sizeof bytes, &len, NULL), TG_OK);
    assert_int_equal(len, 3); /* without waiting for the room to be full */
    assert_memory_equal(bytes, "abc", 3);
    test_peer_body(pair.peer, "0123456789", 10);
    test_peer_body_end(pair.peer);
    do {
        assert_int_equal(tg_fcgi_read(pair.fcgi, bytes, 4, &len, NULL), TG_OK);
        sum += len;
    } while (len > 0);
    assert_int_equal(sum, 10);
    close(pair.peer);
    pair.peer = -1;
    tg_fcgi_finish(pair.fcgi);
    close_pair(&pair);
}

static void a_body_that_breaks_off_is_gone(void **state)
{
    (void)state;
    for (int aborts = 0; aborts < 2; aborts++) {
        struct pair pair;
        struct tg_error err;
        char bytes[16];
        size_t len;

        open_pair(&pair, false);
        accept_post(&pair);
        test_peer_body(pair.peer, "abc", 3);
        if (aborts)
            test_peer_abort(pair.peer);
        else
            shutdown(pair.peer, SHUT_WR);
        assert_int_equal(tg_fcgi_read(pair.fcgi, bytes, sizeof bytes, &len, &err), TG_OK);
        assert_int_equal(tg_fcgi_read(pair.fcgi, bytes, sizeof bytes, &len, &err), TG_CLASS_GONE);
        assert_string_equal(err.code, "client_gone");
        close(pair.peer);
        pair.peer = -1;
        tg_fcgi_finish(pair.fcgi);
        close_pair(&pair);
    }
}

static void a_silent_body_ends_at_its_deadline(void **state)
{
    struct pair pair;
    struct tg_error err;
    char bytes[16];
    size_t len;

    (void)state;
    open_pair(&pair, false);
    accept_post(&pair);
    tg_fcgi_set_read_deadline(pair.fcgi, tg_now_us() + 20000);
    assert_int_equal(tg_fcgi_read(pair.fcgi, bytes, sizeof bytes, &len, &err), TG_CLASS_TIMEOUT);
    assert_string_equal(err.code, "body_timeout");
    /* The answer still reaches the client. */
    assert_int_equal(tg_fcgi_write(pair.fcgi, "late", 4), TG_OK);
    tg_fcgi_end(pair.fcgi);
    {
        struct tg_buf out;

        tg_buf_init(&out, 0);
        assert_true(test_peer_answer(pair.peer, &out));
        assert_string_equal(tg_buf_text(&out), "late");
        tg_buf_done(&out);
    }
    close(pair.peer);
    pair.peer = -1;
    tg_fcgi_finish(pair.fcgi);
    close_pair(&pair);
}

/* The client has its end before the connection is closed: nothing waits for the peer in between. */
static void the_end_is_sent_before_finish(void **state)
{
    struct pair pair;
    struct tg_buf out;

    (void)state;
    open_pair(&pair, false);
    test_peer_get(pair.peer, "/");
    accept_request(&pair);
    assert_int_equal(tg_fcgi_write(pair.fcgi, "Status: 200 OK\r\n\r\nhi", 20), TG_OK);
    tg_fcgi_end(pair.fcgi);
    tg_buf_init(&out, 0);
    assert_true(test_peer_answer(pair.peer, &out));
    assert_string_equal(tg_buf_text(&out), "Status: 200 OK\r\n\r\nhi");
    close(pair.peer);
    pair.peer = -1;
    tg_fcgi_finish(pair.fcgi);
    tg_buf_done(&out);
    close_pair(&pair);
}

static bool becomes_gone(struct tg_fcgi *fcgi)
{
    struct pollfd wait = {.fd = tg_fcgi_descriptor(fcgi), .events = tg_fcgi_poll_events(fcgi)};

    assert_int_equal(poll(&wait, 1, 10000), 1);
    return tg_fcgi_is_gone(fcgi);
}

static void read_to_end(struct tg_fcgi *fcgi)
{
    char byte;
    size_t len;

    assert_int_equal(tg_fcgi_read(fcgi, &byte, 1, &len, NULL), TG_OK);
    assert_int_equal(len, 0);
}

enum leaving { CLOSES, ABORTS, HALF_CLOSES };

static void leaving_is_seen_on_the_descriptor(void **state)
{
    static const struct {
        bool on_tcp;
        enum leaving how;
        bool gone;
    } cases[] = {
        {false, CLOSES, true}, {true, CLOSES, true},       {false, ABORTS, true},
        {true, ABORTS, true},  {false, HALF_CLOSES, false}, {true, HALF_CLOSES, true},
    };

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++) {
        struct pair pair;

        open_pair(&pair, cases[i].on_tcp);
        test_peer_get(pair.peer, "/");
        accept_request(&pair);
        read_to_end(pair.fcgi);
        assert_false(tg_fcgi_is_gone(pair.fcgi));
        assert_int_not_equal(tg_fcgi_poll_events(pair.fcgi), 0);
        if (cases[i].how == ABORTS)
            test_peer_abort(pair.peer);
        else if (cases[i].how == HALF_CLOSES)
            shutdown(pair.peer, SHUT_WR);
        else
            close(pair.peer);
        assert_int_equal(becomes_gone(pair.fcgi), cases[i].gone);
        if (!cases[i].gone) /* or waiting would spin */
            assert_int_equal(tg_fcgi_poll_events(pair.fcgi), 0);
        if (cases[i].how != CLOSES)
            close(pair.peer);
        pair.peer = -1;
        if (!cases[i].gone)
            assert_true(tg_fcgi_is_gone(pair.fcgi));
        tg_fcgi_finish(pair.fcgi);
        close_pair(&pair);
    }
}

static void a_broken_pipe_is_remembered(void **state)
{
    struct pair pair;

    (void)state;
    open_pair(&pair, false);
    test_peer_get(pair.peer, "/");
    accept_request(&pair);
    close(pair.peer);
    pair.peer = -1;
    assert_int_equal(tg_fcgi_write(pair.fcgi, "x", 1), TG_OK); /* buffered */
    assert_int_equal(tg_fcgi_flush(pair.fcgi), TG_CLASS_GONE);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(tg_fcgi_write(pair.fcgi, "x", 1), TG_CLASS_GONE);
        assert_int_equal(tg_fcgi_flush(pair.fcgi), TG_CLASS_GONE);
    }
    assert_true(tg_fcgi_is_gone(pair.fcgi));
    tg_fcgi_finish(pair.fcgi);
    close_pair(&pair);
}

static void a_reader_that_does_not_read_is_cut(void **state)
{
    struct pair pair;
    char block[8192] = {0};
    int writes = 0;

    (void)state;
    open_pair(&pair, false);
    test_peer_get(pair.peer, "/");
    assert_int_equal(tg_fcgi_accept(pair.fcgi, 20000), TG_FCGI_REQUEST);
    while (writes < 10000 && tg_fcgi_write(pair.fcgi, block, sizeof block) == TG_OK)
        writes++;
    assert_in_range(writes, 1, 9999);
    close(pair.peer);
    pair.peer = -1;
    tg_fcgi_finish(pair.fcgi);
    close_pair(&pair);
}

static void a_kept_connection_serves_again(void **state)
{
    struct pair pair;
    struct tg_buf out;

    (void)state;
    open_pair(&pair, false);
    tg_buf_init(&out, 0);
    for (int i = 0; i < 3; i++) {
        test_peer_begin(pair.peer, TEST_KEEP_CONN);
        test_peer_params(pair.peer, "REQUEST_METHOD", "GET", NULL);
        test_peer_params_end(pair.peer);
        test_peer_body_end(pair.peer);
        accept_request(&pair);
        assert_int_equal(tg_fcgi_write(pair.fcgi, "y", 1), TG_OK);
        tg_fcgi_finish(pair.fcgi);
        assert_true(test_peer_answer(pair.peer, &out));
        assert_int_not_equal(tg_fcgi_descriptor(pair.fcgi), -1);
    }
    assert_string_equal(tg_buf_text(&out), "yyy");
    close(pair.peer);
    pair.peer = -1;
    assert_int_equal(tg_fcgi_accept(pair.fcgi, SEND_TIMEOUT_US), TG_FCGI_NOTHING);
    assert_int_equal(tg_fcgi_descriptor(pair.fcgi), -1);
    tg_buf_done(&out);
    close_pair(&pair);
}

/* What nobody read would be taken for the next request's records. */
static void a_connection_with_an_unread_body_is_not_kept(void **state)
{
    struct pair pair;
    struct tg_buf out;

    (void)state;
    open_pair(&pair, false);
    test_peer_begin(pair.peer, TEST_KEEP_CONN);
    test_peer_params(pair.peer, "REQUEST_METHOD", "POST", NULL);
    test_peer_params_end(pair.peer);
    test_peer_body(pair.peer, "unread", 6);
    accept_request(&pair);
    tg_fcgi_end(pair.fcgi);
    tg_buf_init(&out, 0);
    assert_true(test_peer_answer(pair.peer, &out));
    shutdown(pair.peer, SHUT_WR);
    tg_fcgi_finish(pair.fcgi);
    assert_int_equal(tg_fcgi_descriptor(pair.fcgi), -1);
    assert_true(test_peer_is_closed(pair.peer));
    tg_buf_done(&out);
    close_pair(&pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nobody_waiting_is_no_request),
        cmocka_unit_test(parameters_and_headers_are_found),
        cmocka_unit_test(garbage_is_no_request),
        cmocka_unit_test(parameters_that_break_off_are_no_request),
        cmocka_unit_test(parameters_are_bounded),
        cmocka_unit_test(a_body_is_given_as_it_comes_and_has_an_end),
        cmocka_unit_test(a_body_that_breaks_off_is_gone),
        cmocka_unit_test(a_silent_body_ends_at_its_deadline),
        cmocka_unit_test(the_end_is_sent_before_finish),
        cmocka_unit_test(leaving_is_seen_on_the_descriptor),
        cmocka_unit_test(a_broken_pipe_is_remembered),
        cmocka_unit_test(a_reader_that_does_not_read_is_cut),
        cmocka_unit_test(a_kept_connection_serves_again),
        cmocka_unit_test(a_connection_with_an_unread_body_is_not_kept),
    };

    if (tg_fcgi_library_init(NULL) != TG_OK)
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
