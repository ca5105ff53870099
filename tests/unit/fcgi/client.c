/* The FastCGI client against a peer that answers as it is told. */
#include "tests/unit/unit.h"

#include <pthread.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/fcgi/client.h"

enum { END = 3, STDOUT = 6, STDERR = 7 };

struct peer {
    char path[64], address[80];
    int listener;
    pthread_t thread;
    bool joined;
    struct tg_buf asked;  /* what the client sent */
    struct tg_buf answer; /* what it gets, in pieces of <piece> bytes */
    size_t piece;
    int pause; /* readable when the peer may close; -1: at once */
};

static void record(struct tg_buf *out, int type, const char *content, int padding)
{
    size_t len = strlen(content);
    const unsigned char header[8] = {1, (unsigned char)type, 0, 1, (unsigned char)(len >> 8),
                                     (unsigned char)len, (unsigned char)padding, 0};

    tg_buf_add(out, header, sizeof header);
    tg_buf_add(out, content, len);
    for (int i = 0; i < padding; i++)
        tg_buf_char(out, 'p');
}

static void end(struct tg_buf *out)
{
    record(out, END, "12345678", 0);
}

/* Up to the empty STDIN record. */
static void read_request(int fd, struct tg_buf *ret)
{
    unsigned char header[8];
    char content[65536];

    do {
        if (recv(fd, header, sizeof header, MSG_WAITALL) != (ssize_t)sizeof header)
            return;
        size_t len = (size_t)header[4] << 8 | header[5];

        if (len > 0 && recv(fd, content, len, MSG_WAITALL) != (ssize_t)len)
            return;
        tg_buf_add(ret, content, len);
    } while (header[1] != 5 || header[4] != 0 || header[5] != 0);
}

static void *serve(void *context)
{
    struct peer *peer = context;
    int fd = accept(peer->listener, NULL, NULL);
    char byte;

    read_request(fd, &peer->asked);
    for (size_t at = 0; at < peer->answer.len; at += peer->piece)
        if (send(fd, peer->answer.data + at, TG_MIN(peer->piece, peer->answer.len - at),
                 MSG_NOSIGNAL) < 0)
            break;
    if (peer->pause >= 0 && read(peer->pause, &byte, 1) < 0)
        byte = 0;
    close(fd);
    return NULL;
}

static void peer_start(struct peer *peer)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    snprintf(peer->path, sizeof peer->path, "/tmp/tollgate-fcgi.%d", (int)getpid());
    snprintf(peer->address, sizeof peer->address, "unix:%s", peer->path);
    snprintf(address.sun_path, sizeof address.sun_path, "%s", peer->path);
    unlink(peer->path);
    peer->listener = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(peer->listener, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(peer->listener, 1), 0);
    if (peer->piece == 0)
        peer->piece = 100000;
    tg_buf_init(&peer->asked, 0);
    assert_int_equal(pthread_create(&peer->thread, NULL, serve, peer), 0);
}

/* After it, what the client sent can be read. */
static void peer_join(struct peer *peer)
{
    if (!peer->joined)
        pthread_join(peer->thread, NULL);
    peer->joined = true;
}

static void peer_stop(struct peer *peer)
{
    peer_join(peer);
    close(peer->listener);
    unlink(peer->path);
    tg_buf_done(&peer->asked);
    tg_buf_done(&peer->answer);
}

static enum tg_class ask(struct peer *peer, int64_t wait_us, struct tg_buf *bytes,
                         struct tg_fcgi_answer *answer, struct tg_error *err)
{
    static char long_value[300];
    const struct tg_fcgi_pair params[] = {{"REQUEST_METHOD", "POST"}, {"LONG", long_value}};
    const struct tg_fcgi_call call = {.address = peer->address,
                                      .params = params,
                                      .param_count = 2,
                                      .body = {"{\"a\":1}", 7},
                                      .deadline_at_us = tg_now_us() + wait_us,
                                      .answer_limit_bytes = 1000};

    memset(long_value, 'v', sizeof long_value - 1);
    return tg_fcgi_ask(&call, bytes, answer, err);
}

static void an_answer_in_any_pieces_is_whole(void **state)
{
    static const size_t pieces[] = {1, 7, 8, 1000};

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(pieces); i++) {
        struct peer peer = {.piece = pieces[i], .pause = -1};
        struct tg_fcgi_answer answer;
        struct tg_error err;
        struct tg_buf bytes;

        record(&peer.answer, STDOUT, "Status: 503 Busy\r\nContent-Type: x\r\n", 5);
        record(&peer.answer, STDERR, "noise", 0);
        record(&peer.answer, STDOUT, "\r\n{\"ok\":", 0);
        record(&peer.answer, STDOUT, "true}", 3);
        record(&peer.answer, STDOUT, "", 0);
        end(&peer.answer);
        peer_start(&peer);
        assert_int_equal(ask(&peer, 20000000, &bytes, &answer, &err), TG_OK);
        assert_int_equal(answer.status, 503);
        assert_int_equal(answer.body.len, 11);
        assert_memory_equal(answer.body.ptr, "{\"ok\":true}", 11);
        tg_buf_done(&bytes);
        peer_join(&peer);
        /* what was sent: the begin body, both parameters, the body */
        assert_memory_equal(peer.asked.data, "\0\1\0\0\0\0\0\0\x0e\x04REQUEST_METHODPOST\x04", 29);
        assert_memory_equal(peer.asked.data + 29, "\x80\0\x01\x2bLONGvvv", 11);
        assert_memory_equal(peer.asked.data + peer.asked.len - 7, "{\"a\":1}", 7);
        assert_int_equal(peer.asked.len, 29 + 4 + 4 + 299 + 7);
        peer_stop(&peer);
    }
}

static void without_a_status_it_is_200(void **state)
{
    struct peer peer = {.pause = -1};
    struct tg_fcgi_answer answer;
    struct tg_buf bytes;

    (void)state;
    record(&peer.answer, STDOUT, "Content-Type: x\n\nbody", 0);
    end(&peer.answer);
    peer_start(&peer);
    assert_int_equal(ask(&peer, 20000000, &bytes, &answer, NULL), TG_OK);
    assert_int_equal(answer.status, 200);
    assert_int_equal(answer.body.len, 4);
    tg_buf_done(&bytes);
    peer_stop(&peer);
}

/* What a peer can do wrong, and what is said of it. */
static void bad_answers_are_errors(void **state)
{
    static const char head[] = {1, 6, 0, 1, 4, (char)0xa8, 0, 0, '\n'};
    static char too_long[2000];
    static const struct {
        const char *bytes;
        size_t len;
        bool with_end;
        enum tg_class class;
    } cases[] = {
        {"", 0, false, TG_CLASS_DOWN},                                    /* closes at once */
        {"\1\6\0\1\0\x10\0\0half", 12, false, TG_CLASS_DOWN},             /* half a record */
        {"HTTP/1.1 200 OK\r\n\r\n", 19, false, TG_CLASS_TRANSPORT},       /* no FastCGI */
        {"\1\6\0\1\0\4\0\0head", 12, true, TG_CLASS_TRANSPORT},           /* no end of the head */
        {"", 0, true, TG_CLASS_TRANSPORT},                                /* no head at all */
        {too_long, 1200, true, TG_CLASS_TRANSPORT},
    };

    (void)state;
    memcpy(too_long, head, sizeof head);
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++) {
        struct peer peer = {.pause = -1};
        struct tg_fcgi_answer answer;
        struct tg_error err;
        struct tg_buf bytes;

        tg_buf_add(&peer.answer, cases[i].bytes, cases[i].len);
        if (cases[i].with_end)
            end(&peer.answer);
        peer_start(&peer);
        assert_int_equal(ask(&peer, 20000000, &bytes, &answer, &err), cases[i].class);
        assert_string_equal(err.code,
                            cases[i].class == TG_CLASS_DOWN ? "gateway_down" : "fcgi_protocol");
        tg_buf_done(&bytes);
        peer_stop(&peer);
    }
}

static void a_silent_peer_is_left_at_the_deadline(void **state)
{
    struct peer peer = {.pause = -1};
    struct tg_fcgi_answer answer;
    struct tg_error err;
    struct tg_buf bytes;
    int pipe_ends[2];

    (void)state;
    assert_int_equal(pipe(pipe_ends), 0);
    peer.pause = pipe_ends[0];
    record(&peer.answer, STDOUT, "Status: 200\r\n\r\nhalf", 0);
    peer_start(&peer);
    assert_int_equal(ask(&peer, 50000, &bytes, &answer, &err), TG_CLASS_DOWN);
    assert_string_equal(err.code, "gateway_down");
    tg_buf_done(&bytes);
    close(pipe_ends[1]);
    peer_stop(&peer);
    close(pipe_ends[0]);
}

static void nobody_there_is_down(void **state)
{
    static const char *const addresses[] = {"unix:/nonexistent/socket", "tcp:127.0.0.1:1", "tcp:1",
                                            "http://127.0.0.1", "tcp:[::1:1"};

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(addresses); i++) {
        struct peer peer;
        struct tg_fcgi_answer answer;
        struct tg_error err;
        struct tg_buf bytes;

        snprintf(peer.address, sizeof peer.address, "%s", addresses[i]);
        assert_int_equal(ask(&peer, 20000000, &bytes, &answer, &err), TG_CLASS_DOWN);
        assert_non_null(strstr(err.message, addresses[i]));
        tg_buf_done(&bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_answer_in_any_pieces_is_whole),
        cmocka_unit_test(without_a_status_it_is_200),
        cmocka_unit_test(bad_answers_are_errors),
        cmocka_unit_test(a_silent_peer_is_left_at_the_deadline),
        cmocka_unit_test(nobody_there_is_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
