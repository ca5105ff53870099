#include "tests/unit/http/exchange.h"

#include "common/base/clock.h"

#include <stdio.h>
#include <string.h>

const struct tg_cidr loopback_ranges[1] = {
    {.base = {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 0, 0, 0}}, .prefix_len = 104},
};

struct tg_http_pool *test_pool(size_t idle_most)
{
    struct tg_http_pool_conf conf = {
        .idle_most = idle_most, .idle_age_us = 0, .ca_path = "/etc/ssl/certs"};
    struct tg_http_pool *pool;
    struct tg_error err;

    tg_assert(tg_http_pool_new(&conf, &pool, &err) == TG_OK);
    return pool;
}

struct tg_http_spec test_spec(const char *url)
{
    return (struct tg_http_spec){
        .purpose = TG_HTTP_CHANNEL,
        .method = "GET",
        .url = url,
        .proxy = "",
        .connect_us = 30000000,
        .first_byte_us = 60000000,
        .idle_us = 60000000,
        .allow = loopback_ranges,
        .allow_count = 1,
        .client_fd = -1,
    };
}

static bool on_headers(void *context, int status, const struct tg_http_answer *answer)
{
    struct recorded *recorded = context;
    const char *value;

    (void)status;
    recorded->headers_calls++;
    if (recorded->wanted != NULL) {
        value = tg_http_answer_header(answer, recorded->wanted);
        snprintf(recorded->header, sizeof recorded->header, "%s", value == NULL ? "absent" : value);
    }
    return !recorded->refuse_headers;
}

static bool on_body(void *context, const char *bytes, size_t len)
{
    struct recorded *recorded = context;

    tg_buf_add(&recorded->body, bytes, len);
    return !recorded->refuse_body;
}

static bool on_tick(void *context, int64_t now_us, bool client_ready, int64_t *ret_wake_at_us)
{
    struct recorded *recorded = context;

    recorded->ticks++;
    recorded->client_ready += client_ready;
    if (recorded->tick_every_us > 0)
        *ret_wake_at_us = now_us + recorded->tick_every_us;
    return !(client_ready && recorded->refuse_client);
}

struct tg_http_result test_exchange(struct tg_http_pool *pool, const struct tg_http_spec *spec,
                                    struct recorded *recorded)
{
    struct tg_http_sink sink = {recorded, on_headers, on_body, on_tick};
    struct tg_http_result result;

    tg_buf_init(&recorded->body, 0);
    tg_http_exchange(pool, spec, &sink, &result);
    return result;
}
