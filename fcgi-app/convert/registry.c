#include "fcgi-app/convert/registry.h"

#include "common/base/memory.h"
#include "fcgi-app/convert/chat_edges.h"
#include "fcgi-app/convert/chat_wire.h"
#include "fcgi-app/convert/toolset.h"

#include <stdio.h>
#include <stdlib.h>

#define SAME(protocol) {TG_PROTOCOL_##protocol, TG_PROTOCOL_##protocol, {NULL}, 0}
#define DIRECT(client, upstream, step) {TG_PROTOCOL_##client, TG_PROTOCOL_##upstream, {&(step)}, 1}
#define BY_CHAT(client, upstream, in, out) \
    {TG_PROTOCOL_##client, TG_PROTOCOL_##upstream, {&(in), &(out)}, 2}
static const struct tg_route routes[] = {
    SAME(CHAT),
    SAME(MESSAGES),
    SAME(RESPONSES),
    SAME(GEMINI),
    DIRECT(MESSAGES, CHAT, tg_convert_messages_chat),
    DIRECT(CHAT, MESSAGES, tg_convert_chat_messages),
    DIRECT(RESPONSES, CHAT, tg_convert_responses_chat),
    DIRECT(CHAT, RESPONSES, tg_convert_chat_responses),
    DIRECT(GEMINI, CHAT, tg_convert_gemini_chat),
    DIRECT(CHAT, GEMINI, tg_convert_chat_gemini),
    BY_CHAT(RESPONSES, MESSAGES, tg_convert_responses_chat, tg_convert_chat_messages),
    BY_CHAT(MESSAGES, RESPONSES, tg_convert_messages_chat, tg_convert_chat_responses),
    BY_CHAT(GEMINI, MESSAGES, tg_convert_gemini_chat, tg_convert_chat_messages),
    BY_CHAT(MESSAGES, GEMINI, tg_convert_messages_chat, tg_convert_chat_gemini),
    BY_CHAT(GEMINI, RESPONSES, tg_convert_gemini_chat, tg_convert_chat_responses),
    BY_CHAT(RESPONSES, GEMINI, tg_convert_responses_chat, tg_convert_chat_gemini),
};

const struct tg_route *tg_route_find(enum tg_protocol client, enum tg_protocol upstream)
{
    for (size_t i = 0; i < TG_COUNT_OF(routes); i++)
        if (routes[i].client == client && routes[i].upstream == upstream)
            return &routes[i];
    return NULL;
}

char tg_route_grade(const struct tg_route *route)
{
    char grade = 'A';

    for (size_t i = 0; i < route->step_count; i++)
        grade = TG_MAX(grade, route->steps[i]->grade);
    return grade;
}

/* --- the table itself ----------------------------------------------------------------------- */

static bool is_complete(const struct tg_converter *step)
{
    return step != NULL && step->request != NULL && step->answer != NULL && step->stream != NULL;
}

static const char *check_one(const struct tg_route *route)
{
    enum tg_protocol at = route->client;

    if (route->step_count > TG_ROUTE_STEPS)
        return "a route has too many steps";
    if (route->step_count == 0 && route->client != route->upstream)
        return "a route between two protocols has no step";
    if (route->step_count > 0 && route->client == route->upstream)
        return "a route from a protocol to itself has steps";
    for (size_t i = 0; i < route->step_count; i++) {
        if (!is_complete(route->steps[i]))
            return "a step is missing or incomplete";
        if (route->steps[i]->client != at)
            return "two steps do not meet";
        at = route->steps[i]->upstream;
    }
    return at == route->upstream ? NULL : "a route does not reach its upstream";
}

/* A pair that one step can do must not be composed. */
static bool is_shadowed(const struct tg_route *routes_of, size_t count, size_t at)
{
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < routes_of[i].step_count && routes_of[at].step_count > 1; k++)
            if (routes_of[i].steps[k]->client == routes_of[at].client &&
                routes_of[i].steps[k]->upstream == routes_of[at].upstream)
                return true;
    return false;
}

const char *tg_routes_check(const struct tg_route *table, size_t count)
{
    const char *problem = NULL;

    for (size_t i = 0; i < count && problem == NULL; i++)
        problem = check_one(&table[i]);
    for (size_t i = 0; i < count && problem == NULL; i++) {
        for (size_t k = 0; k < i; k++)
            if (table[k].client == table[i].client && table[k].upstream == table[i].upstream)
                return "two routes for one pair";
        if (is_shadowed(table, count, i))
            return "a pair is both direct and composed";
    }
    return problem;
}

const char *tg_routes_problem(void)
{
    return tg_routes_check(routes, TG_COUNT_OF(routes));
}

/* --- requests and whole answers ------------------------------------------------------------- */

static void write_tools(const struct tg_route *route, const struct tg_convert *context,
                        struct tg_json *request)
{
    if (context->tools != NULL)
        tg_toolset_attach(context, route->upstream, context->tools, request);
    if (route->upstream == TG_PROTOCOL_CHAT)
        tg_chat_request_finish(context, request);
}

/* What the first step reads: <value> itself, or a changed copy, which <ret_copy> then holds. */
static const struct tg_json *visible(const struct tg_route *route, const struct tg_json *request,
                                     struct tg_json **ret_copy)
{
    *ret_copy = NULL;
    if (route->client != TG_PROTOCOL_CHAT || !tg_chat_has_hidden(request))
        return request;
    *ret_copy = tg_json_copy(request);
    tg_chat_strip(*ret_copy); /* a client must not reach the hub's own switches */
    return *ret_copy;
}

/* A later step speaks of the request that the one before it made, not of the client's. */
static void mark_paths(struct tg_diagnostics *list, size_t from)
{
    char path[TG_DIAGNOSTIC_PATH];

    for (size_t i = from; i < list->kept_count; i++) {
        snprintf(path, sizeof path, "%s", list->kept[i].path);
        snprintf(list->kept[i].path, sizeof list->kept[i].path, "hub:%.*s",
                 (int)sizeof path - 5, path);
    }
}

enum tg_class tg_route_request(const struct tg_route *route, const struct tg_convert *context,
                               const struct tg_json *request, struct tg_json **ret,
                               struct tg_error *err)
{
    struct tg_json *made;
    const struct tg_json *at = visible(route, request, &made);

    for (size_t i = 0; i < route->step_count; i++) {
        size_t known = context->diagnostics->kept_count;
        struct tg_json *next;
        enum tg_class class = route->steps[i]->request(context, at, &next, err);

        tg_json_free(made);
        if (i > 0)
            mark_paths(context->diagnostics, known);
        if (class != TG_OK)
            return class;
        at = made = next;
    }
    if (route->step_count > 0)
        write_tools(route, context, made);
    *ret = made != NULL ? made : tg_json_copy(request);
    return TG_OK;
}

enum tg_class tg_route_answer(const struct tg_route *route, const struct tg_convert *context,
                              const struct tg_json *answer, struct tg_json **ret,
                              struct tg_error *err)
{
    struct tg_json *made = NULL;
    const struct tg_json *at = answer;

    if (route->step_count > 0 && route->upstream == TG_PROTOCOL_CHAT) {
        at = made = tg_json_copy(answer);
        tg_chat_answer_normalise(made);
    }
    for (size_t i = route->step_count; i-- > 0;) {
        struct tg_json *next;
        enum tg_class class = route->steps[i]->answer(context, at, &next, err);

        tg_json_free(made);
        if (class != TG_OK)
            return class;
        at = made = next;
    }
    if (route->step_count > 0 && route->client == TG_PROTOCOL_CHAT)
        tg_chat_strip(made);
    *ret = made != NULL ? made : tg_json_copy(answer);
    return TG_OK;
}

/* --- streams -------------------------------------------------------------------------------- */

struct tg_hop *tg_hop_open(const struct tg_hop_kind *kind, const struct tg_convert *context)
{
    struct tg_hop *hop = tg_calloc(1, kind->state_size);

    hop->kind = kind;
    hop->context = context;
    return hop;
}

void tg_hop_close(struct tg_hop *hop)
{
    if (hop == NULL)
        return;
    if (hop->kind->done != NULL)
        hop->kind->done(hop);
    free(hop);
}

/* The steps, and Chat's own rules at either edge. */
enum { HOPS_MOST = TG_ROUTE_STEPS + 2 };

struct tg_chain {
    struct tg_hop *hops[HOPS_MOST];
    bool ended[HOPS_MOST];
    size_t count;
    tg_chain_event_fn *event;
    void *to;
    enum tg_hop_end end;
    struct tg_error error;
};

/* Where the events of hop <at> go. */
struct link {
    struct tg_chain *chain;
    size_t at;
};

struct tg_chain *tg_chain_open(const struct tg_route *route, const struct tg_convert *context,
                               tg_chain_event_fn *event, void *to)
{
    struct tg_chain *chain = tg_calloc(1, sizeof *chain);

    chain->event = event;
    chain->to = to;
    if (route->step_count > 0 && route->upstream == TG_PROTOCOL_CHAT)
        chain->hops[chain->count++] = tg_hop_open(&tg_hop_chat_source, context);
    for (size_t i = route->step_count; i-- > 0;)
        chain->hops[chain->count++] = tg_hop_open(route->steps[i]->stream, context);
    if (route->step_count > 0 && route->client == TG_PROTOCOL_CHAT)
        chain->hops[chain->count++] = tg_hop_open(&tg_hop_chat_sink, context);
    return chain;
}

void tg_chain_close(struct tg_chain *chain)
{
    if (chain == NULL)
        return;
    for (size_t i = 0; i < chain->count; i++)
        tg_hop_close(chain->hops[i]);
    free(chain);
}

static void pass(void *to, struct tg_json *event);
static void end_from(struct tg_chain *chain, size_t at, enum tg_hop_end end,
                     const struct tg_error *error);

/* Hop <at> gets an event; behind the last one it is the client's. */
static void feed(struct tg_chain *chain, size_t at, const struct tg_json *event)
{
    struct link link = {chain, at};
    struct tg_hop_out out = {.event = pass, .to = &link};

    if (at == chain->count) {
        chain->event(chain->to, event);
        return;
    }
    if (chain->ended[at])
        return;
    chain->hops[at]->kind->feed(chain->hops[at], event, &out);
    if (out.end != TG_HOP_END_OPEN) {
        chain->ended[at] = true;
        end_from(chain, at + 1, out.end, &out.error);
    }
}

static void pass(void *to, struct tg_json *event)
{
    const struct link *link = to;

    feed(link->chain, link->at + 1, event);
    tg_json_free(event);
}

/* An end goes through every hop that follows, each exactly once. */
static void end_from(struct tg_chain *chain, size_t at, enum tg_hop_end end,
                     const struct tg_error *error)
{
    for (; at < chain->count; at++) {
        struct link link = {chain, at};
        struct tg_hop_out out = {.event = pass, .to = &link};

        if (chain->ended[at])
            return;
        chain->ended[at] = true;
        chain->hops[at]->kind->end(chain->hops[at], end, error, &out);
        tg_assert(out.end != TG_HOP_END_OPEN);
        end = out.end;
        chain->error = out.error;
        error = &chain->error;
    }
    chain->end = end;
    if (end == TG_HOP_END_ERROR && error != NULL && error != &chain->error)
        chain->error = *error;
}

bool tg_chain_feed(struct tg_chain *chain, const struct tg_json *event)
{
    if (chain->end == TG_HOP_END_OPEN)
        feed(chain, 0, event);
    return chain->end == TG_HOP_END_OPEN;
}

void tg_chain_end(struct tg_chain *chain, enum tg_hop_end end, const struct tg_error *error)
{
    struct tg_error kept = {0};

    if (chain->end != TG_HOP_END_OPEN)
        return;
    if (error != NULL)
        kept = *error;
    end_from(chain, 0, end, &kept);
}

enum tg_hop_end tg_chain_state(const struct tg_chain *chain, struct tg_error *ret_error)
{
    if (chain->end == TG_HOP_END_ERROR && ret_error != NULL)
        *ret_error = chain->error;
    return chain->end;
}
