/* What goes out and what comes back when all is well. */
#include "tests/unit/unit.h"

#include "common/base/memory.h"
#include "tests/unit/http/exchange.h"

#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>

static void answer_ok(struct test_server *server, int fd, int connection)
{
    (void)connection;
    while (test_read_request(server, fd))
        test_send_answer(fd, 200, "Content-Type: application/json\r\nX-Two:  spaced \r\n", "{}");
}

static void headers_go_out_as_given_and_identity_is_asked_for(void **state)
{
    static const struct tg_http_header headers[] = {{"Authorization", "Bearer abc"},
                                                    {"X-Empty", ""}};
    struct test_server server = {0};
    struct tg_http_pool *pool = test_pool(4);
    struct recorded recorded = {.wanted = "x-two"};
    struct tg_http_spec spec;
    struct tg_http_result result;

    (void)state;
    test_server_start(&server, answer_ok);
    spec = test_spec(test_server_url(&server, "/v1/models?x=1"));
    spec.headers = headers;
    spec.header_count = 2;
    result = test_exchange(pool, &spec, &recorded);
    assert_int_equal(result.end, TG_HTTP_DONE);
    assert_int_equal(result.status, 200);
    assert_false(result.reused);
    assert_string_equal(tg_buf_text(&recorded.body), "{}");
    assert_string_equal(recorded.header, "spaced");
    assert_int_equal(recorded.headers_calls, 1);
    assert_non_null(strstr(server.head.data, "GET /v1/models?x=1 HTTP/1.1\r\n"));
    assert_non_null(strstr(server.head.data, "\r\nAuthorization: Bearer abc\r\n"));
    assert_non_null(strstr(server.head.data, "\r\nX-Empty:\r\n"));
    assert_non_null(strstr(server.head.data, "\r\nAccept-Encoding: identity\r\n"));
    tg_buf_done(&recorded.body);
    tg_http_pool_free(pool);
    test_server_stop(&server);
}

static char *pattern(size_t len)
{
    char *bytes = tg_malloc(len);

    for (size_t i = 0; i < len; i++)
        bytes[i] = (char)('a' + (i * 7 + i / 251) % 26);
    return bytes;
}

static void a_large_body_in_pieces_arrives_exactly(void **state)
{
    const size_t len = 3 * 1024 * 1024 + 17;
    char *bytes = pattern(len);
    const struct tg_span pieces[] = {
        {bytes, 1}, {bytes + 1, 0}, {bytes + 1, 70000}, {bytes + 70001, len - 70001}};
    struct test_server server = {0};
    struct tg_http_pool *pool = test_pool(4);
    struct recorded recorded = {0};
    struct tg_http_spec spec;
    struct tg_http_result result;

    (void)state;
    test_server_start(&server, answer_ok);
    spec = test_spec(test_server_url(&server, "/"));
    spec.method = "POST";
    spec.body = pieces;
    spec.body_count = 4;
    result = test_exchange(pool, &spec, &recorded);
    assert_int_equal(result.end, TG_HTTP_DONE);
    assert_true(result.body_sent);
    assert_int_equal(server.body.len, len);
    assert_memory_equal(server.body.data, bytes, len);
    assert_non_null(strstr(server.head.data, "\r\nContent-Length: 3145745\r\n"));
    assert_null(strstr(server.head.data, "Expect"));
    assert_null(strstr(server.head.data, "chunked"));
    tg_buf_done(&recorded.body);
    tg_http_pool_free(pool);
    test_server_stop(&server);
    free(bytes);
}

/* Methods, paths, headers and bodies of every size follow each other on one kept handle. */
static void a_kept_handle_keeps_nothing_of_the_exchange_before(void **state)
{
    static const struct tg_http_header header = {"X-Mine", "1"};
    static const struct {
        const char *method, *path, *line;
        size_t body_bytes[2];
        size_t headers;
    } steps[] = {
        {"POST", "/a", "POST /a HTTP/1.1\r\n", {300, 0}, 1},
        {"POST", "/a", "POST /a HTTP/1.1\r\n", {10, 20}, 0},
        {"GET", "/a?b=1", "GET /a?b=1 HTTP/1.1\r\n", {0, 0}, 1},
        {"POST", "/long", "POST /long HTTP/1.1\r\n", {90000, 20}, 0},
        {"PUT", "/long", "PUT /long HTTP/1.1\r\n", {0, 7}, 0},
        {"POST", "/", "POST / HTTP/1.1\r\n", {16384, 0}, 0},
        {"POST", "/", "POST / HTTP/1.1\r\n", {16384, 1}, 0},
        {"GET", "/", "GET / HTTP/1.1\r\n", {0, 0}, 0},
        {"POST", "/", "POST / HTTP/1.1\r\n", {0, 0}, 0},
    };
    char *bytes = pattern(100000);
    struct test_server server = {0};
    struct tg_http_pool *pool = test_pool(4);

    (void)state;
    test_server_start(&server, answer_ok);
    for (size_t i = 0; i < TG_COUNT_OF(steps); i++) {
        const size_t *lens = steps[i].body_bytes, whole = lens[0] + lens[1];
        const struct tg_span pieces[] = {{bytes, lens[0]}, {bytes + lens[0], lens[1]}};
        struct tg_http_spec spec = test_spec(test_server_url(&server, steps[i].path));
        struct recorded recorded = {0};
        struct tg_http_result result;

        spec.method = steps[i].method;
        spec.headers = &header;
        spec.header_count = steps[i].headers;
        spec.body = pieces;
        spec.body_count = strcmp(steps[i].method, "GET") == 0 ? 0 : 2;
        result = test_exchange(pool, &spec, &recorded);
        assert_int_equal(result.end, TG_HTTP_DONE);
        assert_int_equal(result.reused, i > 0);
        assert_true(result.body_sent);
        assert_int_equal(result.sent_bytes, server.head.len + whole);
        assert_memory_equal(server.head.data, steps[i].line, strlen(steps[i].line));
        assert_int_equal(strstr(server.head.data, "\r\nX-Mine: 1\r\n") != NULL,
                         steps[i].headers);
        assert_int_equal(server.body.len, whole);
        assert_memory_equal(tg_buf_text(&server.body), bytes, whole);
        tg_buf_done(&recorded.body);
    }
    tg_http_pool_free(pool);
    test_server_stop(&server);
    free(bytes);
}

static void a_kept_connection_is_found_again_for_its_own_origin_only(void **state)
{
    struct test_server server = {0}, other = {0};
    struct tg_http_pool *pool = test_pool(4);
    struct recorded recorded = {0};
    struct tg_http_spec spec;

    (void)state;
    test_server_start(&server, answer_ok);
    test_server_start(&other, answer_ok);
    spec = test_spec(test_server_url(&server, "/a"));
    assert_false(test_exchange(pool, &spec, &recorded).reused);
    tg_buf_done(&recorded.body);
    spec = test_spec(test_server_url(&server, "/b"));
    assert_true(test_exchange(pool, &spec, &recorded).reused);
    tg_buf_done(&recorded.body);
    spec = test_spec(test_server_url(&other, "/b"));
    assert_false(test_exchange(pool, &spec, &recorded).reused);
    tg_buf_done(&recorded.body);
    assert_int_equal(test_count(&server, &server.connections), 1);
    assert_int_equal(test_count(&server, &server.requests), 2);
    tg_http_pool_free(pool);
    test_server_stop(&other);
    test_server_stop(&server);
}

static void an_idle_connection_is_closed_by_the_sweep(void **state)
{
    struct test_server server = {0};
    struct tg_http_pool *pool = test_pool(4); /* idle age 0 */
    struct recorded recorded = {0};
    struct tg_http_spec spec;

    (void)state;
    test_server_start(&server, answer_ok);
    spec = test_spec(test_server_url(&server, "/"));
    assert_int_equal(test_exchange(pool, &spec, &recorded).end, TG_HTTP_DONE);
    tg_buf_done(&recorded.body);
    assert_int_equal(test_count(&server, &server.closed), 0);
    do
        tg_http_pool_sweep(pool); /* the clock must have moved by one microsecond */
    while (recorded.ticks++ < 1000);
    test_wait_count(&server, &server.closed, 1);
    tg_http_pool_free(pool);
    test_server_stop(&server);
}

static void a_full_pool_closes_what_is_oldest(void **state)
{
    struct test_server server = {0};
    struct tg_http_pool *pool = test_pool(0);
    struct recorded recorded = {0};
    struct tg_http_spec spec;

    (void)state;
    test_server_start(&server, answer_ok);
    spec = test_spec(test_server_url(&server, "/"));
    assert_int_equal(test_exchange(pool, &spec, &recorded).end, TG_HTTP_DONE);
    tg_buf_done(&recorded.body);
    test_wait_count(&server, &server.closed, 1);
    tg_http_pool_free(pool);
    test_server_stop(&server);
}

static void answer_early_hints(struct test_server *server, int fd, int connection)
{
    (void)connection;
    if (!test_read_request(server, fd))
        return;
    test_send_text(fd, "HTTP/1.1 103 Early Hints\r\nX-Which: hint\r\n\r\n");
    test_send_text(fd, "HTTP/1.1 200 OK\r\nX-Which: answer\r\nTransfer-Encoding: chunked\r\n\r\n");
    test_send_text(fd, "3\r\nabc\r\n0\r\nX-Which: trailer\r\n\r\n");
    test_wait_closed(server, fd);
}

static void informational_answers_and_trailers_are_no_headers(void **state)
{
    struct test_server server = {0};
    struct tg_http_pool *pool = test_pool(4);
    struct recorded recorded = {.wanted = "X-Which"};
    struct tg_http_spec spec;
    struct tg_http_result result;

    (void)state;
    test_server_start(&server, answer_early_hints);
    spec = test_spec(test_server_url(&server, "/"));
    result = test_exchange(pool, &spec, &recorded);
    assert_int_equal(result.end, TG_HTTP_DONE);
    assert_int_equal(result.status, 200);
    assert_int_equal(recorded.headers_calls, 1);
    assert_string_equal(recorded.header, "answer");
    assert_string_equal(tg_buf_text(&recorded.body), "abc");
    tg_buf_done(&recorded.body);
    tg_http_pool_free(pool);
    test_server_stop(&server);
}

static void answer_compressed(struct test_server *server, int fd, int connection)
{
    const char *coding = server->context;
    const int window = strcmp(coding, "gzip") == 0 ? 15 + 16 : 15;
    unsigned char packed[256];
    z_stream stream = {.next_in = (Bytef *)(uintptr_t)"compressed text", .avail_in = 15,
                       .next_out = packed, .avail_out = sizeof packed};
    struct tg_buf head;

    (void)connection;
    deflateInit2(&stream, 9, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY);
    deflate(&stream, Z_FINISH);
    deflateEnd(&stream);
    tg_buf_init(&head, 0);
    tg_buf_printf(&head, "HTTP/1.1 200 OK\r\nContent-Encoding: %s\r\nContent-Length: %lu\r\n\r\n",
                  coding, stream.total_out);
    if (test_read_request(server, fd)) {
        test_send(fd, head.data, head.len);
        test_send(fd, packed, stream.total_out);
    }
    tg_buf_done(&head);
}

static void an_answer_compressed_against_our_wish_is_decoded(void **state)
{
    static const char *const codings[] = {"gzip", "deflate"};

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(codings); i++) {
        struct test_server server = {.context = (void *)(uintptr_t)codings[i]};
        struct tg_http_pool *pool = test_pool(4);
        struct recorded recorded = {0};
        struct tg_http_spec spec;

        test_server_start(&server, answer_compressed);
        spec = test_spec(test_server_url(&server, "/"));
        assert_int_equal(test_exchange(pool, &spec, &recorded).end, TG_HTTP_DONE);
        assert_string_equal(tg_buf_text(&recorded.body), "compressed text");
        tg_buf_done(&recorded.body);
        tg_http_pool_free(pool);
        test_server_stop(&server);
    }
}

static void answer_redirect(struct test_server *server, int fd, int connection)
{
    (void)connection;
    while (test_read_request(server, fd))
        test_send_answer(fd, 302, "Location: /elsewhere\r\n", "");
}

static void a_redirect_is_an_answer(void **state)
{
    struct test_server server = {0};
    struct tg_http_pool *pool = test_pool(4);
    struct recorded recorded = {0};
    struct tg_http_spec spec;
    struct tg_http_result result;

    (void)state;
    test_server_start(&server, answer_redirect);
    spec = test_spec(test_server_url(&server, "/"));
    result = test_exchange(pool, &spec, &recorded);
    assert_int_equal(result.end, TG_HTTP_DONE);
    assert_int_equal(result.status, 302);
    assert_false(result.any_body);
    assert_int_equal(test_count(&server, &server.requests), 1);
    tg_buf_done(&recorded.body);
    tg_http_pool_free(pool);
    test_server_stop(&server);
}

static void only_the_channels_own_proxy_is_used(void **state)
{
    struct test_server server = {0};
    struct tg_http_pool *pool = test_pool(4);
    struct recorded recorded = {0};
    struct tg_http_spec spec;
    struct tg_http_result result;
    char proxy[64];

    (void)state;
    test_server_start(&server, answer_ok);
    setenv("http_proxy", "http://127.0.0.1:1", 1);
    setenv("no_proxy", "*", 1);
    spec = test_spec(test_server_url(&server, "/direct"));
    assert_int_equal(test_exchange(pool, &spec, &recorded).end, TG_HTTP_DONE);
    tg_buf_done(&recorded.body);
    assert_non_null(strstr(server.head.data, "GET /direct HTTP"));
    tg_http_pool_free(pool); /* the server serves one connection at a time */

    pool = test_pool(4);
    snprintf(proxy, sizeof proxy, "http://127.0.0.1:%d", server.port);
    spec = test_spec("http://upstream.invalid/far");
    spec.proxy = proxy;
    spec.allow_count = 0; /* the proxy is trusted, its address is not asked about */
    result = test_exchange(pool, &spec, &recorded);
    assert_int_equal(result.end, TG_HTTP_DONE);
    assert_non_null(strstr(server.head.data, "GET http://upstream.invalid/far HTTP"));
    tg_buf_done(&recorded.body);
    unsetenv("http_proxy");
    unsetenv("no_proxy");
    tg_http_pool_free(pool);
    test_server_stop(&server);
}

static void answer_and_close(struct test_server *server, int fd, int connection)
{
    (void)connection;
    if (test_read_request(server, fd))
        test_send_answer(fd, 200, "Connection: close\r\n", "ok");
}

struct worker {
    struct tg_http_pool *pool;
    const char *url;
    int done;
};

static void *exchange_often(void *context)
{
    struct worker *worker = context;
    struct tg_http_spec spec = test_spec(worker->url);

    for (int i = 0; i < 20; i++) {
        struct recorded recorded = {0};

        worker->done += test_exchange(worker->pool, &spec, &recorded).end == TG_HTTP_DONE;
        tg_buf_done(&recorded.body);
        tg_http_pool_sweep(worker->pool);
    }
    return NULL;
}

static void threads_share_a_pool(void **state)
{
    struct test_server server = {0};
    struct tg_http_pool *pool = test_pool(2);
    struct worker workers[6];
    pthread_t threads[6];
    char url[128];

    (void)state;
    test_server_start(&server, answer_and_close);
    snprintf(url, sizeof url, "http://localhost:%d/", server.port); /* through the shared DNS */
    for (size_t i = 0; i < TG_COUNT_OF(workers); i++) {
        workers[i] = (struct worker){.pool = pool, .url = url};
        assert_int_equal(pthread_create(&threads[i], NULL, exchange_often, &workers[i]), 0);
    }
    for (size_t i = 0; i < TG_COUNT_OF(workers); i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(workers[i].done, 20);
    }
    tg_http_pool_free(pool);
    test_server_stop(&server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(headers_go_out_as_given_and_identity_is_asked_for),
        cmocka_unit_test(a_large_body_in_pieces_arrives_exactly),
        cmocka_unit_test(a_kept_handle_keeps_nothing_of_the_exchange_before),
        cmocka_unit_test(a_kept_connection_is_found_again_for_its_own_origin_only),
        cmocka_unit_test(an_idle_connection_is_closed_by_the_sweep),
        cmocka_unit_test(a_full_pool_closes_what_is_oldest),
        cmocka_unit_test(informational_answers_and_trailers_are_no_headers),
        cmocka_unit_test(an_answer_compressed_against_our_wish_is_decoded),
        cmocka_unit_test(a_redirect_is_an_answer),
        cmocka_unit_test(only_the_channels_own_proxy_is_used),
        cmocka_unit_test(threads_share_a_pool),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
