/* convert-tool: the converters behind a pipe, for tests that compare them with other programs.
 *
 * Reads one case a line:
 *   {"do":"stream","client":"chat","upstream":"messages","end":"eof","events":[…]}
 *   {"do":"request","client":…,"upstream":…,"model":…,"body":{…}}
 *   {"do":"answer",…,"body":{…}}
 * and writes one line for it: {"events":[…],"end":"done"} or {"body":…}, with "error" for a
 * failure, and "diagnostics". "tools" (a request of the client) tells a stream or an answer what
 * the request's tools were; "include_usage" and "include_thoughts" are true unless they say
 * false, "stream" and "several" are false unless they say true. */
#include "common/base/memory.h"
#include "common/json/tree.h"
#include "fcgi-app/convert/hub.h"
#include "fcgi-app/convert/model_facts.h"
#include "fcgi-app/convert/registry.h"
#include "fcgi-app/convert/toolset.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NOW = 1700000000, DEFAULT_TOKENS = 8192 };


static enum tg_protocol protocol_of(const struct tg_json *line, const char *key)
{
    for (int i = 0; i < TG_PROTOCOL__COUNT; i++)
        if (tg_hub_is(line, key, tg_protocol_name((enum tg_protocol)i)))
            return (enum tg_protocol)i;
    fprintf(stderr, "convert-tool: no such protocol in %s\n", key);
    exit(2);
}

static bool flag(const struct tg_json *line, const char *key, bool value)
{
    (void)tg_json_get_bool(line, key, &value);
    return value;
}

static void say_error(struct tg_json *said, const struct tg_error *error)
{
    struct tg_json *made = tg_json_new_object();

    tg_json_set_str(made, "class", tg_class_name(error->class));
    tg_json_set_int(made, "status", error->status);
    tg_json_set_str(made, "code", error->code);
    tg_json_set_str(made, "type", error->type);
    tg_json_set_str(made, "param", error->param);
    tg_json_set_str(made, "message", error->message);
    tg_json_set(said, "error", made);
}

static void on_event(void *to, const struct tg_json *event)
{
    tg_json_push(to, tg_json_copy(event));
}

static void run_stream(const struct tg_route *route, const struct tg_convert *context,
                       const struct tg_json *line, struct tg_json *said)
{
    struct tg_json *events = tg_json_new_array();
    struct tg_chain *chain = tg_chain_open(route, context, on_event, events);
    const struct tg_json *list;
    struct tg_error error;

    if (tg_json_get_array(line, "events", &list) == TG_JSON_GOT)
        for (size_t i = 0; i < tg_json_array_len(list); i++)
            if (!tg_chain_feed(chain, tg_json_array_at(list, i)))
                break;
    tg_chain_end(chain, tg_hub_is(line, "end", "done") ? TG_HOP_END_DONE : TG_HOP_END_EOF, NULL);
    tg_json_set(said, "events", events);
    if (tg_chain_state(chain, &error) == TG_HOP_END_DONE) {
        tg_json_set_str(said, "end", "done");
    } else {
        tg_json_set_str(said, "end", "error");
        say_error(said, &error);
    }
    tg_chain_close(chain);
}

static void run_body(const struct tg_route *route, const struct tg_convert *context,
                     const struct tg_json *line, struct tg_json *said)
{
    const struct tg_json *body;
    struct tg_json *made;
    struct tg_error error = {0};
    enum tg_class class;

    if (tg_json_get(line, "body", &body) != TG_JSON_GOT)
        exit(2);
    class = tg_hub_is(line, "do", "request") ? tg_route_request(route, context, body, &made, &error)
                                             : tg_route_answer(route, context, body, &made, &error);
    if (class == TG_OK)
        tg_json_set(said, "body", made);
    else
        say_error(said, &error);
}

static void say_diagnostics(struct tg_json *said, const struct tg_diagnostics *list)
{
    struct tg_json *made = tg_json_new_array();

    for (size_t i = 0; i < list->kept_count; i++) {
        struct tg_json *one = tg_json_new_object();

        tg_json_set_str(one, "code", list->kept[i].code);
        tg_json_set_str(one, "severity", tg_severity_name(list->kept[i].severity));
        tg_json_set_str(one, "path", list->kept[i].path);
        tg_json_set_str(one, "detail", list->kept[i].detail);
        tg_json_push(made, one);
    }
    tg_json_set(said, "diagnostics", made);
}

static bool read_tools(struct tg_convert *context, const struct tg_json *line,
                       struct tg_json *said)
{
    const char *key = tg_hub_is(line, "do", "request") ? "body" : "tools";
    struct tg_error error = {0};
    const struct tg_json *from;
    struct tg_toolset *set;

    if (tg_json_get(line, key, &from) != TG_JSON_GOT)
        return true;
    if (tg_toolset_extract(context, context->client, from, &set, &error) == TG_OK) {
        context->tools = set;
        return true;
    }
    say_error(said, &error);
    return false;
}

static struct tg_json *run(const struct tg_json *line, struct tg_arena *arena)
{
    struct tg_diagnostics diagnostics = {.count = 0};
    struct tg_json *said = tg_json_new_object(), *kept = tg_json_new_array();
    struct tg_span model = {"unknown", 7};
    struct tg_convert context = {.arena = arena,
                                 .kept = kept,
                                 .client = protocol_of(line, "client"),
                                 .upstream = protocol_of(line, "upstream"),
                                 .diagnostics = &diagnostics,
                                 .random_core = "AAAAAAAAAAAAAAAAAAAAAAAA",
                                 .now_unix_s = NOW,
                                 .default_max_tokens = DEFAULT_TOKENS,
                                 .stream = flag(line, "stream", false),
                                 .several = flag(line, "several", false),
                                 .include_usage = flag(line, "include_usage", true),
                                 .include_thoughts = flag(line, "include_thoughts", true)};
    const struct tg_route *route = tg_route_find(context.client, context.upstream);

    tg_hub_text(line, "model", &model);
    context.upstream_model = tg_arena_strndup(arena, model.ptr, model.len);
    context.model = tg_model_facts_of(context.upstream_model);
    if (route == NULL) {
        fprintf(stderr, "convert-tool: no such route\n");
        exit(2);
    }
    if (read_tools(&context, line, said)) {
        if (tg_hub_is(line, "do", "stream"))
            run_stream(route, &context, line, said);
        else
            run_body(route, &context, line, said);
    }
    say_diagnostics(said, &diagnostics);
    tg_json_free(kept);
    return said;
}

int main(void)
{
    struct tg_arena *arena = tg_arena_new();
    struct tg_error error = {0};
    char *text = NULL;
    size_t cap = 0;
    ssize_t len;

    tg_assert(tg_routes_problem() == NULL);
    while ((len = getline(&text, &cap, stdin)) > 0) {
        struct tg_json *line, *said;
        struct tg_buf out;

        if (tg_json_parse(text, (size_t)len, &line, &error) != TG_OK) {
            fprintf(stderr, "convert-tool: %s\n", error.message);
            return 2;
        }
        said = run(line, arena);
        tg_buf_init(&out, 0);
        tg_json_print(said, &out);
        puts(tg_buf_text(&out));
        fflush(stdout);
        tg_buf_done(&out);
        tg_json_free(said);
        tg_json_free(line);
        tg_arena_reset(arena);
    }
    free(text);
    tg_arena_free(arena);
    return 0;
}
