/* exchange - what the HTTP tests share: a pool, a spec for the test server, a recording sink. */
#ifndef TOLLGATE_TESTS_HTTP_EXCHANGE_H
#define TOLLGATE_TESTS_HTTP_EXCHANGE_H

#include "common/http/http.h"
#include "tests/unit/http/server.h"

struct recorded {
    struct tg_buf body;
    int headers_calls, ticks, client_ready;
    char header[256];   /* value of the header asked for */
    const char *wanted; /* its name, NULL: none */
    bool refuse_headers, refuse_body, refuse_client;
    int64_t tick_every_us;
};

extern const struct tg_cidr loopback_ranges[1];

struct tg_http_pool *test_pool(size_t idle_most);
/* GET <url>, generous limits, loopback allowed. */
struct tg_http_spec test_spec(const char *url);
struct tg_http_result test_exchange(struct tg_http_pool *pool, const struct tg_http_spec *spec,
                                    struct recorded *recorded);

#endif
