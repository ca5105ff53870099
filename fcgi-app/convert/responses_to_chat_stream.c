/* A stream of Responses as chunks of Chat (PROTOCOLS D5). */
#include "common/base/memory.h"
#include "fcgi-app/convert/envelope.h"
#include "fcgi-app/convert/responses.h"
#include "fcgi-app/convert/toolset.h"

#include <stdlib.h>
#include <string.h>

/* An item that has begun. Their number is bounded by what the upstream sends. */
struct item {
    int64_t index; /* output_index, -1: the upstream tells none */
    char *id;      /* NULL: none */
    int64_t ordinal; /* of a call among the calls; -1: it is none */
    bool custom, has_arguments, has_text, has_summary;
};

struct state {
    struct tg_hop hop;
    struct tg_chunk_head head;
    bool started;
    struct item *items;
    size_t count, cap;
    int64_t call_count;
    size_t last_message; /* the message whose text came last, plus 1 */
    size_t last_reasoning;
    int64_t summaries;
};

static void give(struct tg_hop_out *out, struct tg_json *event)
{
    out->event(out->to, event);
}

static void give_text(struct state *state, struct tg_hop_out *out, const char *key,
                      struct tg_span text)
{
    if (text.len > 0)
        give(out, tg_chunk_text(&state->head, key, text));
}

static void give_list(struct state *state, struct tg_hop_out *out, const char *key,
                      struct tg_json *entry)
{
    struct tg_json *delta = tg_json_new_object(), *list = tg_json_new_array();

    tg_json_push(list, entry);
    tg_json_set(delta, key, list);
    give(out, tg_chunk(&state->head, 0, delta, NULL));
}

/* --- the response --------------------------------------------------------------------------- */

static const struct tg_json *response_of(const struct tg_json *event)
{
    const struct tg_json *response;

    return tg_json_get_object(event, "response", &response) == TG_JSON_GOT ? response : event;
}

/* Some servers leave out response.created: any event may be the first. */
static void start(struct state *state, const struct tg_json *event, struct tg_hop_out *out)
{
    const struct tg_convert *context = state->hop.context;
    const struct tg_json *response = response_of(event);
    struct tg_span id = {"", 0}, model = {"", 0};
    struct tg_json *delta;

    if (state->started)
        return;
    state->started = true;
    if (response != event) {
        id = tg_hub_span(response, "id");
        model = tg_hub_span(response, "model");
    }
    state->head = (struct tg_chunk_head){
        .id = tg_id_make(context, "chatcmpl-", id),
        .model = context->client_model != NULL
                     ? context->client_model
                     : tg_arena_strndup(context->arena, model.ptr, model.len),
        .created_unix_s = tg_hub_int(response, "created_at", context->now_unix_s),
    };
    delta = tg_json_new_object();
    tg_json_set_str(delta, "role", "assistant");
    tg_json_set_str(delta, "content", "");
    give(out, tg_chunk(&state->head, 0, delta, NULL));
}

/* --- items ---------------------------------------------------------------------------------- */

static bool has_id(const struct item *item, struct tg_span id)
{
    return item->id != NULL && id.len == strlen(item->id) && memcmp(item->id, id.ptr, id.len) == 0;
}

static struct item *find_item(struct state *state, int64_t index, struct tg_span id)
{
    for (size_t i = state->count; i-- > 0;)
        if (index >= 0 ? state->items[i].index == index : has_id(&state->items[i], id))
            return &state->items[i];
    return NULL;
}

/* The item that an event speaks of, made up where nothing announced it. */
static struct item *item_of(struct state *state, const struct tg_json *event, struct tg_span id)
{
    int64_t index = tg_hub_int(event, "output_index", -1);
    struct item *item = find_item(state, index, id);

    if (item != NULL)
        return item;
    if (state->count == state->cap) {
        state->cap = state->cap != 0 ? 2 * state->cap : 4;
        state->items = tg_realloc(state->items, state->cap * sizeof *state->items);
    }
    item = &state->items[state->count++];
    *item = (struct item){.index = index, .ordinal = -1};
    if (id.len > 0)
        item->id = tg_strndup(id.ptr, id.len);
    return item;
}

static size_t place_of(const struct state *state, const struct item *item)
{
    return (size_t)(item - state->items) + 1;
}

/* --- calls ---------------------------------------------------------------------------------- */

static void give_arguments(struct state *state, struct tg_hop_out *out, struct item *item,
                           struct tg_span text)
{
    struct tg_json *entry = tg_json_new_object(), *function = tg_json_new_object();

    item->has_arguments = true;
    tg_json_set_int(entry, "index", item->ordinal);
    tg_json_set_span(function, "arguments", text);
    tg_json_set(entry, "function", function);
    give_list(state, out, "tool_calls", entry);
}

static void open_call(struct state *state, struct tg_hop_out *out, struct item *item,
                      const struct tg_json *said)
{
    struct tg_json *entry = tg_json_new_object(), *function = tg_json_new_object();
    struct tg_span arguments = tg_hub_span(said, "arguments");

    item->ordinal = state->call_count++;
    item->custom = tg_hub_is(said, "type", "custom_tool_call");
    item->has_arguments = arguments.len > 0;
    tg_json_set_int(entry, "index", item->ordinal);
    tg_json_set_span(entry, "id", tg_hub_span(said, "call_id"));
    tg_json_set_str(entry, "type", "function");
    tg_json_set_span(function, "name",
                     tg_toolset_name(state->hop.context, TG_PROTOCOL_CHAT,
                                     tg_hub_span(said, "name")));
    tg_json_set_span(function, "arguments", arguments);
    tg_json_set(entry, "function", function);
    give_list(state, out, "tool_calls", entry);
}

/* {"input":<text>}: Chat's streams have no custom calls. */
static void give_input(struct state *state, struct tg_hop_out *out, struct item *item,
                       struct tg_span input)
{
    struct tg_json *arguments = tg_json_new_object();
    struct tg_buf text;

    tg_json_set_span(arguments, "input", input);
    tg_buf_init(&text, 0);
    tg_json_print(arguments, &text);
    give_arguments(state, out, item, (struct tg_span){tg_buf_text(&text), text.len});
    tg_buf_done(&text);
    tg_json_free(arguments);
}

static bool is_call(const struct tg_json *item)
{
    return tg_hub_is(item, "type", "function_call") || tg_hub_is(item, "type", "custom_tool_call");
}

static void end_call(struct state *state, struct tg_hop_out *out, struct item *item,
                     const struct tg_json *said)
{
    struct tg_span arguments = tg_hub_span(said, "arguments");

    if (item->ordinal < 0)
        open_call(state, out, item, said);
    if (item->custom)
        give_input(state, out, item, tg_hub_span(said, "input"));
    else if (!item->has_arguments)
        give_arguments(state, out, item,
                       arguments.len > 0 ? arguments : (struct tg_span){"{}", 2});
}

/* --- text and reasoning --------------------------------------------------------------------- */

/* Between two messages stands a blank line. */
static void on_text(struct state *state, const struct tg_json *event, struct tg_hop_out *out)
{
    struct item *item = item_of(state, event, tg_hub_span(event, "item_id"));
    struct tg_span text = tg_hub_span(event, "delta");
    struct tg_buf joined;

    if (text.len == 0)
        return;
    item->has_text = true;
    tg_buf_init(&joined, 0);
    if (state->last_message != 0 && state->last_message != place_of(state, item))
        tg_buf_str(&joined, "\n\n");
    tg_buf_add(&joined, text.ptr, text.len);
    state->last_message = place_of(state, item);
    give_text(state, out, "content", (struct tg_span){tg_buf_text(&joined), joined.len});
    tg_buf_done(&joined);
}

static void on_summary_part(struct state *state, const struct tg_json *event,
                            struct tg_hop_out *out)
{
    struct item *item = item_of(state, event, tg_hub_span(event, "item_id"));
    struct tg_json *chunk;

    if (state->summaries++ > 0) {
        chunk = tg_chunk_text(&state->head, "reasoning_content", (struct tg_span){"\n\n", 2});
        if (state->last_reasoning != place_of(state, item))
            tg_json_set_bool(tg_chunk_choice(chunk), "x_sep", true);
        give(out, chunk);
    }
    state->last_reasoning = place_of(state, item);
}

/* A server that sends the reasoning itself besides its summary is read once. */
static void add_reasoning(struct state *state, struct tg_hop_out *out, const struct tg_json *event,
                          bool summary)
{
    struct item *item = item_of(state, event, tg_hub_span(event, "item_id"));

    if (summary ? item->has_text : item->has_summary)
        return;
    if (summary)
        item->has_summary = true;
    else
        item->has_text = true;
    give_text(state, out, "reasoning_content", tg_hub_span(event, "delta"));
}

static void give_encrypted(struct state *state, struct tg_hop_out *out, const struct tg_json *item)
{
    struct tg_span data = tg_hub_span(item, "encrypted_content");
    struct tg_json *entry;

    if (data.len == 0 || tg_envelope_is(data))
        return;
    entry = tg_json_new_object();
    tg_json_set_str(entry, "type", "reasoning.encrypted");
    tg_json_set_str(entry, "format", "openai-responses-v1");
    tg_json_set_int(entry, "index", 0);
    tg_json_set_copy(entry, "id", item, "id");
    tg_json_set_span(entry, "data", data);
    give_list(state, out, "reasoning_details", entry);
}

/* A message of which no delta came: it is told at its end. */
static void end_message(struct state *state, struct tg_hop_out *out, struct item *item,
                        const struct tg_json *said)
{
    const struct tg_json *content;

    if (item->has_text || tg_json_get_array(said, "content", &content) != TG_JSON_GOT)
        return;
    for (size_t i = 0; i < tg_json_array_len(content); i++) {
        const struct tg_json *part = tg_json_array_at(content, i);

        if (tg_hub_is(part, "type", "refusal"))
            give_text(state, out, "refusal", tg_hub_span(part, "refusal"));
        else
            give_text(state, out, "content", tg_hub_span(part, "text"));
    }
}

/* --- events --------------------------------------------------------------------------------- */

static const struct tg_json *item_in(const struct tg_json *event)
{
    const struct tg_json *item;

    return tg_json_get_object(event, "item", &item) == TG_JSON_GOT ? item : NULL;
}

static void on_added(struct state *state, const struct tg_json *event, struct tg_hop_out *out)
{
    const struct tg_json *said = item_in(event);
    struct item *item;

    if (said == NULL)
        return;
    item = item_of(state, event, tg_hub_span(said, "id"));
    if (is_call(said) && item->ordinal < 0)
        open_call(state, out, item, said);
}

static void on_item_done(struct state *state, const struct tg_json *event, struct tg_hop_out *out)
{
    const struct tg_json *said = item_in(event);
    struct item *item;

    if (said == NULL)
        return;
    item = item_of(state, event, tg_hub_span(said, "id"));
    if (is_call(said))
        end_call(state, out, item, said);
    else if (tg_hub_is(said, "type", "reasoning"))
        give_encrypted(state, out, said);
    else if (tg_hub_is(said, "type", "message"))
        end_message(state, out, item, said);
    else
        tg_diagnose(state->hop.context->diagnostics, TG_SEVERITY_WARN, "BLOCK_DROPPED",
                    "response", "");
}

static void on_arguments(struct state *state, const struct tg_json *event, struct tg_hop_out *out)
{
    struct item *item = item_of(state, event, tg_hub_span(event, "item_id"));
    struct tg_span text = tg_hub_span(event, "delta");

    if (item->ordinal >= 0 && !item->custom && text.len > 0)
        give_arguments(state, out, item, text);
}

static void on_arguments_done(struct state *state, const struct tg_json *event,
                              struct tg_hop_out *out)
{
    struct item *item = item_of(state, event, tg_hub_span(event, "item_id"));
    struct tg_span text = tg_hub_span(event, "arguments");

    if (item->ordinal >= 0 && !item->custom && !item->has_arguments && text.len > 0)
        give_arguments(state, out, item, text);
}

static void on_refusal(struct state *state, const struct tg_json *event, struct tg_hop_out *out)
{
    struct item *item = item_of(state, event, tg_hub_span(event, "item_id"));

    item->has_text = true;
    give_text(state, out, "refusal", tg_hub_span(event, "delta"));
}

static void on_summary(struct state *state, const struct tg_json *event, struct tg_hop_out *out)
{
    add_reasoning(state, out, event, true);
}

static void on_reasoning(struct state *state, const struct tg_json *event, struct tg_hop_out *out)
{
    add_reasoning(state, out, event, false);
}

static void finish(struct state *state, const struct tg_json *event, struct tg_hop_out *out)
{
    const struct tg_json *response = response_of(event), *usage;
    struct tg_hub_usage figures;
    struct tg_json *chunk;

    for (size_t i = 0; i < state->count; i++)
        if (state->items[i].ordinal >= 0 && !state->items[i].has_arguments)
            give_arguments(state, out, &state->items[i], (struct tg_span){"{}", 2});
    give(out, tg_chunk(&state->head, 0, tg_json_new_object(),
                       tg_response_finish(response, state->call_count > 0)));
    if (tg_json_get_object(response, "usage", &usage) == TG_JSON_GOT) {
        figures = tg_usage_of_responses(usage);
        chunk = tg_chunk_usage(&state->head, tg_usage_to_chat(&figures));
        tg_json_set(tg_json_member(chunk, "usage"), "x_usage", tg_json_copy(usage));
        give(out, chunk);
    }
    out->end = TG_HOP_END_DONE;
}

static void fail_with(const struct tg_json *event, struct tg_hop_out *out)
{
    const struct tg_json *error = NULL;

    if (tg_json_get_object(response_of(event), "error", &error) != TG_JSON_GOT)
        error = event; /* {"type":"error","code":…} */
    tg_error_of_responses(error, &out->error);
    out->end = TG_HOP_END_ERROR;
}

static const struct {
    const char *type;
    void (*take)(struct state *state, const struct tg_json *event, struct tg_hop_out *out);
} events[] = {
    {"response.output_text.delta", on_text},
    {"response.function_call_arguments.delta", on_arguments},
    {"response.reasoning_summary_text.delta", on_summary},
    {"response.reasoning_text.delta", on_reasoning},
    {"response.refusal.delta", on_refusal},
    {"response.output_item.added", on_added},
    {"response.output_item.done", on_item_done},
    {"response.reasoning_summary_part.added", on_summary_part},
    {"response.function_call_arguments.done", on_arguments_done},
    {"response.created", start},
    {"response.completed", finish},
    {"response.incomplete", finish},
};

static void feed(struct tg_hop *hop, const struct tg_json *event, struct tg_hop_out *out)
{
    struct state *state = (struct state *)hop;

    if (tg_hub_is(event, "type", "response.failed") || tg_hub_is(event, "type", "error")) {
        fail_with(event, out);
        return;
    }
    for (size_t i = 0; i < TG_COUNT_OF(events); i++)
        if (tg_hub_is(event, "type", events[i].type)) {
            start(state, event, out);
            events[i].take(state, event, out);
            return;
        }
}

/* Nothing but the response's own last event is an end. */
static void end_at(struct tg_hop *hop, enum tg_hop_end end, const struct tg_error *error,
                   struct tg_hop_out *out)
{
    (void)hop;
    out->end = TG_HOP_END_ERROR;
    if (end == TG_HOP_END_ERROR)
        out->error = *error;
    else
        tg_error_truncated(&out->error);
}

static void done(struct tg_hop *hop)
{
    struct state *state = (struct state *)hop;

    for (size_t i = 0; i < state->count; i++)
        free(state->items[i].id);
    free(state->items);
}

const struct tg_hop_kind tg_hop_responses_to_chat = {
    .name = "responses_to_chat",
    .state_size = sizeof(struct state),
    .feed = feed,
    .end = end_at,
    .done = done,
};
