/* Requests, answers and streams of any JSON through every converter: no read outside, what comes
 * out can be written and read again, and a stream ends exactly once. */
#include "tests/fuzz/fuzz.h"

#include "common/json/tree.h"
#include "fcgi-app/convert/registry.h"
#include "fcgi-app/convert/toolset.h"
#include "tests/unit/convert/sample.h"

#include <string.h>

static const struct {
    enum tg_protocol client, upstream;
} pairs[] = {
    {TG_PROTOCOL_MESSAGES, TG_PROTOCOL_CHAT},
    {TG_PROTOCOL_CHAT, TG_PROTOCOL_MESSAGES},
    {TG_PROTOCOL_RESPONSES, TG_PROTOCOL_CHAT},
    {TG_PROTOCOL_CHAT, TG_PROTOCOL_RESPONSES},
    {TG_PROTOCOL_GEMINI, TG_PROTOCOL_CHAT},
    {TG_PROTOCOL_CHAT, TG_PROTOCOL_GEMINI},
};

static void check_written(const struct tg_json *made)
{
    struct tg_json *again;
    struct tg_buf text;

    tg_buf_init(&text, 0);
    tg_json_print(made, &text);
    tg_assert(tg_json_parse(tg_buf_text(&text), text.len, &again, NULL) == TG_OK);
    tg_json_free(again);
    tg_buf_done(&text);
}

static void on_event(void *to, const struct tg_json *event)
{
    size_t *count = to;

    (*count)++;
    check_written(event);
}

/* Each line is an event, as far as it is JSON. */
static void run_stream(const struct tg_route *route, const struct tg_convert *context,
                       struct tg_span text)
{
    size_t count = 0, at_end;
    struct tg_chain *chain = tg_chain_open(route, context, on_event, &count);
    const char *at = text.ptr, *end = text.ptr + text.len;
    bool open = true;

    while (open && at < end) {
        const char *line_end = memchr(at, '\n', (size_t)(end - at));
        struct tg_json *event;

        line_end = line_end == NULL ? end : line_end;
        if (tg_json_parse(at, (size_t)(line_end - at), &event, NULL) == TG_OK) {
            open = tg_chain_feed(chain, event);
            tg_json_free(event);
        }
        at = line_end < end ? line_end + 1 : end;
    }
    tg_chain_end(chain, TG_HOP_END_EOF, NULL);
    tg_assert(tg_chain_state(chain, NULL) != TG_HOP_END_OPEN);
    at_end = count;
    tg_chain_end(chain, TG_HOP_END_DONE, NULL);
    tg_assert(count == at_end);
    tg_chain_close(chain);
}

static void run_body(const struct tg_route *route, struct tg_convert *context,
                     const struct tg_json *body)
{
    struct tg_toolset *tools = NULL;
    struct tg_json *made;
    struct tg_error err;

    if (tg_toolset_extract(context, context->client, body, &tools, &err) == TG_OK) {
        context->tools = tools;
        context->request = body;
        if (tg_route_request(route, context, body, &made, &err) == TG_OK) {
            check_written(made);
            tg_json_free(made);
        }
    }
    if (tg_route_answer(route, context, body, &made, &err) == TG_OK) {
        check_written(made);
        tg_json_free(made);
    }
}

static void run_pair(size_t pair, struct tg_span text, const struct tg_json *body)
{
    const struct tg_route *route = tg_route_find(pairs[pair].client, pairs[pair].upstream);
    struct tg_arena *arena = tg_arena_new();
    struct tg_convert *context =
        sample_context(arena, pairs[pair].client, pairs[pair].upstream);

    if (body != NULL)
        run_body(route, context, body);
    run_stream(route, context, text);
    tg_json_free(context->kept);
    tg_arena_free(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct tg_span text = {(const char *)bytes, len};
    struct tg_json *body = NULL;

    if (tg_json_parse(text.ptr, text.len, &body, NULL) != TG_OK)
        body = NULL;
    for (size_t pair = 0; pair < TG_COUNT_OF(pairs); pair++)
        run_pair(pair, text, body);
    tg_json_free(body);
    return 0;
}
