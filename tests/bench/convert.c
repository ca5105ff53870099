/* What a conversion costs: prints "convert_100k_ms VALUE ms", the slower direction of a request of
 * 100 KB, and "convert_event_us VALUE us", the slower direction of one event of a stream and hop.
 * Each is the median of some runs in processor time of this thread. */
#include "common/base/memory.h"
#include "common/json/tree.h"
#include "fcgi-app/convert/registry.h"
#include "fcgi-app/convert/toolset.h"
#include "tests/unit/convert/sample.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TURNS = 200, TURN_BYTES = 500, RUNS = 21, EVENTS = 2000, EVENT_RUNS = 7 };

static double now_us(void)
{
    struct timespec at;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &at);
    return (double)at.tv_sec * 1e6 + (double)at.tv_nsec / 1e3;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(double *values, size_t count)
{
    qsort(values, count, sizeof *values, by_value);
    return values[count / 2];
}

static void must(bool good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "bench-convert: %s\n", what);
    exit(1);
}

/* A conversation whose turns call tools and answer them: the same in both protocols' words. */
static void write_request(enum tg_protocol protocol, struct tg_buf *out)
{
    char text[TURN_BYTES + 1];

    memset(text, 'x', TURN_BYTES);
    text[TURN_BYTES] = '\0';
    tg_buf_str(out, "{\"model\":\"m\",\"max_tokens\":1000,\"messages\":[");
    for (int i = 0; i < TURNS; i++) {
        tg_buf_printf(out, "%s{\"role\":\"user\",\"content\":\"%s\"},", i > 0 ? "," : "", text);
        if (protocol == TG_PROTOCOL_CHAT)
            tg_buf_printf(out,
                          "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":"
                          "\"c%d\",\"type\":\"function\",\"function\":{\"name\":\"f\","
                          "\"arguments\":\"{\\\"a\\\":1}\"}}]},{\"role\":\"tool\","
                          "\"tool_call_id\":\"c%d\",\"content\":\"r\"}", i, i);
        else
            tg_buf_printf(out,
                          "{\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"id\":"
                          "\"c%d\",\"name\":\"f\",\"input\":{\"a\":1}}]},{\"role\":\"user\","
                          "\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"c%d\","
                          "\"content\":\"r\"}]}", i, i);
    }
    tg_buf_str(out, "]}");
}

static struct tg_convert *context_of(struct tg_arena *arena, enum tg_protocol client)
{
    return sample_context(arena, client,
                          client == TG_PROTOCOL_CHAT ? TG_PROTOCOL_MESSAGES : TG_PROTOCOL_CHAT);
}

/* From the tree that every request is parsed into to the bytes that go up. */
static double request_us(enum tg_protocol client, const struct tg_json *request)
{
    double taken[RUNS];

    for (int i = 0; i < RUNS; i++) {
        struct tg_arena *arena = tg_arena_new();
        double from_us = now_us();
        struct tg_convert *context = context_of(arena, client);
        const struct tg_route *route = tg_route_find(client, context->upstream);
        struct tg_toolset *tools;
        struct tg_json *made;
        struct tg_error err;
        struct tg_buf text;

        must(tg_toolset_extract(context, client, request, &tools, &err) == TG_OK, "tools");
        context->tools = tools;
        must(tg_route_request(route, context, request, &made, &err) == TG_OK, "request");
        tg_buf_init(&text, 0);
        tg_json_print(made, &text);
        must(text.len > TURNS * TURN_BYTES, "a request that has lost its text");
        tg_buf_done(&text);
        tg_json_free(made);
        tg_json_free(context->kept);
        taken[i] = now_us() - from_us;
        tg_arena_free(arena);
    }
    return median(taken, RUNS);
}

static void on_event(void *to, const struct tg_json *event)
{
    struct tg_buf *text = to;

    tg_buf_reset(text);
    tg_json_print(event, text);
}

static void feed(struct tg_chain *chain, const char *text)
{
    struct tg_json *event;

    must(tg_json_parse(text, strlen(text), &event, NULL) == TG_OK, "an event");
    must(tg_chain_feed(chain, event), "a stream that has ended");
    tg_json_free(event);
}

/* From the bytes of an event to the bytes of what the client gets. */
static double event_us(enum tg_protocol client, const char *const *before, const char *event)
{
    double taken[EVENT_RUNS];

    for (int i = 0; i < EVENT_RUNS; i++) {
        struct tg_arena *arena = tg_arena_new();
        struct tg_convert *context = context_of(arena, client);
        struct tg_chain *chain;
        struct tg_buf text;
        double from_us;

        tg_buf_init(&text, 0);
        chain = tg_chain_open(tg_route_find(client, context->upstream), context, on_event, &text);
        for (size_t b = 0; before[b] != NULL; b++)
            feed(chain, before[b]);
        from_us = now_us();
        for (int n = 0; n < EVENTS; n++)
            feed(chain, event);
        taken[i] = (now_us() - from_us) / EVENTS;
        tg_chain_close(chain);
        tg_buf_done(&text);
        tg_json_free(context->kept);
        tg_arena_free(arena);
    }
    return median(taken, EVENT_RUNS);
}

static double slower_request_us(void)
{
    static const enum tg_protocol clients[] = {TG_PROTOCOL_CHAT, TG_PROTOCOL_MESSAGES};
    double worst = 0;

    for (size_t i = 0; i < TG_COUNT_OF(clients); i++) {
        struct tg_json *request;
        struct tg_buf text;
        double taken;

        tg_buf_init(&text, 0);
        write_request(clients[i], &text);
        must(tg_json_parse(text.data, text.len, &request, NULL) == TG_OK, "a request");
        taken = request_us(clients[i], request);
        worst = TG_MAX(worst, taken);
        tg_json_free(request);
        tg_buf_done(&text);
    }
    return worst;
}

static double slower_event_us(void)
{
    static const char *const chat_before[] = {
        "{\"id\":\"c\",\"model\":\"u\",\"choices\":[{\"index\":0,\"delta\":"
        "{\"role\":\"assistant\"}}]}",
        NULL};
    static const char *const messages_before[] = {
        "{\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"model\":\"u\",\"content\":[]}}",
        "{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\","
        "\"text\":\"\"}}",
        NULL};
    double chat = event_us(TG_PROTOCOL_MESSAGES, chat_before,
                           "{\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"created\":1,"
                           "\"model\":\"u\",\"choices\":[{\"index\":0,\"delta\":{\"content\":"
                           "\" word\"},\"logprobs\":null,\"finish_reason\":null}]}");
    double messages = event_us(TG_PROTOCOL_CHAT, messages_before,
                               "{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":"
                               "\"text_delta\",\"text\":\" word\"}}");

    return TG_MAX(chat, messages);
}

int main(void)
{
    printf("convert_100k_ms %.3f ms\n", slower_request_us() / 1000);
    printf("convert_event_us %.3f us\n", slower_event_us());
    return 0;
}
