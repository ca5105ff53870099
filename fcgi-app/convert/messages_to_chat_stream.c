/* A stream of Messages as chunks of Chat (PROTOCOLS D1). */
#include "common/base/memory.h"
#include "fcgi-app/convert/envelope.h"
#include "fcgi-app/convert/hub.h"
#include "fcgi-app/convert/toolset.h"

#include <stdlib.h>
#include <string.h>

enum block_kind { BLOCK_OTHER, BLOCK_TEXT, BLOCK_THINKING, BLOCK_TOOL };

/* A block that is open. Servers keep one open at a time; the list is bounded all the same. */
enum { BLOCKS_MOST = 64 };

struct block {
    int64_t index;
    enum block_kind kind;
    int64_t ordinal;     /* of a tool call among the calls */
    bool has_arguments;  /* some came */
    struct tg_json *input;
    struct tg_buf text, signature; /* of a thinking block: a signature binds to its whole text */
};

struct state {
    struct tg_hop hop;
    struct tg_chunk_head head;
    bool started;
    struct block blocks[BLOCKS_MOST];
    size_t block_count;
    int64_t call_count;
    int64_t last_thinking; /* index + 1 of the thinking block before */
    struct tg_json *usage; /* merged: the latest value of each field */
    struct tg_json *stop;  /* {"stop_reason":…,"stop_sequence":…,"stop_details":…} */
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

static void give_delta(struct state *state, struct tg_hop_out *out, const char *key,
                       struct tg_json *entry)
{
    struct tg_json *delta = tg_json_new_object(), *list = tg_json_new_array();

    tg_json_push(list, entry);
    tg_json_set(delta, key, list);
    give(out, tg_chunk(&state->head, 0, delta, NULL));
}

/* --- blocks --------------------------------------------------------------------------------- */

static struct block *find_block(struct state *state, int64_t index)
{
    for (size_t i = 0; i < state->block_count; i++)
        if (state->blocks[i].index == index)
            return &state->blocks[i];
    return NULL;
}

static void free_block(struct block *block)
{
    tg_json_free(block->input);
    tg_buf_done(&block->text);
    tg_buf_done(&block->signature);
}

static struct block *open_block(struct state *state, int64_t index)
{
    struct block *block = find_block(state, index);

    if (block != NULL)
        free_block(block);
    else if (state->block_count < BLOCKS_MOST)
        block = &state->blocks[state->block_count++];
    else
        return NULL;
    *block = (struct block){.index = index};
    tg_buf_init(&block->text, 0);
    tg_buf_init(&block->signature, 0);
    return block;
}

static void close_block(struct state *state, struct block *block)
{
    free_block(block);
    *block = state->blocks[--state->block_count];
}

static struct tg_json *call_entry(int64_t ordinal, struct tg_span arguments)
{
    struct tg_json *entry = tg_json_new_object(), *function = tg_json_new_object();

    tg_json_set_int(entry, "index", ordinal);
    tg_json_set_span(function, "arguments", arguments);
    tg_json_set(entry, "function", function);
    return entry;
}

static struct tg_json *call_header(const struct state *state, int64_t ordinal,
                                   const struct tg_json *block)
{
    struct tg_json *entry = tg_json_new_object(), *function = tg_json_new_object();

    tg_json_set_int(entry, "index", ordinal);
    tg_json_set_span(entry, "id", tg_hub_span(block, "id"));
    tg_json_set_str(entry, "type", "function");
    tg_json_set_span(function, "name",
                     tg_toolset_name(state->hop.context, TG_PROTOCOL_CHAT,
                                     tg_hub_span(block, "name")));
    tg_json_set_str(function, "arguments", "");
    tg_json_set(entry, "function", function);
    return entry;
}

static struct tg_json *reasoning_entry(const char *type, int64_t index)
{
    struct tg_json *entry = tg_json_new_object();

    tg_json_set_str(entry, "type", type);
    tg_json_set_str(entry, "format", "anthropic-claude-v1");
    tg_json_set_int(entry, "index", index);
    return entry;
}

static void start_tool(struct state *state, struct block *block, const struct tg_json *content,
                       struct tg_hop_out *out)
{
    const struct tg_json *input;

    block->kind = BLOCK_TOOL;
    block->ordinal = state->call_count++;
    if (tg_json_get(content, "input", &input) == TG_JSON_GOT)
        block->input = tg_json_copy(input);
    give_delta(state, out, "tool_calls", call_header(state, block->ordinal, content));
}

static void start_other(struct state *state, const struct tg_json *content, struct tg_hop_out *out,
                        int64_t index)
{
    struct tg_json *entry;

    if (!tg_hub_is(content, "type", "redacted_thinking")) {
        tg_diagnose(state->hop.context->diagnostics, TG_SEVERITY_WARN, "BLOCK_DROPPED",
                    "response", "");
        return;
    }
    entry = reasoning_entry("reasoning.encrypted", index);
    tg_json_set_span(entry, "data", tg_hub_span(content, "data"));
    give_delta(state, out, "reasoning_details", entry);
}

static void start_block(struct state *state, const struct tg_json *event, struct tg_hop_out *out)
{
    int64_t index = tg_hub_int(event, "index", 0);
    const struct tg_json *content;
    struct block *block;
    struct tg_span text;

    if (tg_json_get_object(event, "content_block", &content) != TG_JSON_GOT)
        return;
    block = open_block(state, index);
    if (block == NULL)
        return;
    if (tg_hub_is(content, "type", "text")) {
        block->kind = BLOCK_TEXT;
        give_text(state, out, "content", tg_hub_span(content, "text"));
    } else if (tg_hub_is(content, "type", "thinking")) {
        block->kind = BLOCK_THINKING;
        text = tg_hub_span(content, "thinking");
        give_text(state, out, "reasoning_content", text);
        tg_buf_add(&block->text, text.ptr, text.len);
        text = tg_hub_span(content, "signature");
        tg_buf_add(&block->signature, text.ptr, text.len);
    } else if (tg_hub_is(content, "type", "tool_use")) {
        start_tool(state, block, content, out);
    } else {
        start_other(state, content, out, index);
    }
}

/* --- deltas --------------------------------------------------------------------------------- */

/* Between two thinking blocks stands a blank line, for Chat clients only. */
static void separate(struct state *state, const struct block *block, struct tg_hop_out *out)
{
    struct tg_json *chunk;

    if (state->last_thinking != 0 && state->last_thinking != block->index + 1) {
        chunk = tg_chunk_text(&state->head, "reasoning_content", (struct tg_span){"\n\n", 2});
        tg_json_set_bool(tg_chunk_choice(chunk), "x_sep", true);
        give(out, chunk);
    }
    state->last_thinking = block->index + 1;
}

static void add_thinking(struct state *state, struct block *block, struct tg_span text,
                         struct tg_hop_out *out)
{
    if (text.len == 0)
        return;
    separate(state, block, out);
    tg_buf_add(&block->text, text.ptr, text.len);
    give_text(state, out, "reasoning_content", text);
}

static void add_arguments(struct state *state, struct block *block, struct tg_span text,
                          struct tg_hop_out *out)
{
    if (text.len == 0 || block->kind != BLOCK_TOOL)
        return;
    block->has_arguments = true;
    give_delta(state, out, "tool_calls", call_entry(block->ordinal, text));
}

static void add_delta(struct state *state, const struct tg_json *event, struct tg_hop_out *out)
{
    struct block *block = find_block(state, tg_hub_int(event, "index", 0));
    const struct tg_json *delta;
    struct tg_span text;

    if (block == NULL || tg_json_get_object(event, "delta", &delta) != TG_JSON_GOT)
        return;
    if (tg_hub_is(delta, "type", "text_delta")) {
        give_text(state, out, "content", tg_hub_span(delta, "text"));
    } else if (tg_hub_is(delta, "type", "thinking_delta")) {
        add_thinking(state, block, tg_hub_span(delta, "thinking"), out);
    } else if (tg_hub_is(delta, "type", "signature_delta")) {
        text = tg_hub_span(delta, "signature");
        tg_buf_add(&block->signature, text.ptr, text.len);
    } else if (tg_hub_is(delta, "type", "input_json_delta")) {
        add_arguments(state, block, tg_hub_span(delta, "partial_json"), out);
    } else if (tg_hub_is(delta, "type", "citations_delta")) {
        tg_diagnose(state->hop.context->diagnostics, TG_SEVERITY_INFO, "CITATION_DROPPED",
                    "response", "");
    }
}

static void give_signature(struct state *state, const struct block *block, struct tg_hop_out *out)
{
    struct tg_span signature = {block->signature.data, block->signature.len};
    struct tg_json *entry;

    if (signature.len == 0 || tg_envelope_is(signature))
        return;
    entry = reasoning_entry("reasoning.text", block->index);
    tg_json_set_span(entry, "text", (struct tg_span){tg_buf_text(&block->text), block->text.len});
    tg_json_set_span(entry, "signature", signature);
    give_delta(state, out, "reasoning_details", entry);
}

/* A call without arguments has those it began with: clients parse the text. */
static void give_whole_input(struct state *state, const struct block *block,
                             struct tg_hop_out *out)
{
    struct tg_buf text;

    tg_buf_init(&text, 0);
    if (block->input != NULL)
        tg_json_print(block->input, &text);
    else
        tg_buf_str(&text, "{}");
    give_delta(state, out, "tool_calls",
               call_entry(block->ordinal, (struct tg_span){text.data, text.len}));
    tg_buf_done(&text);
}

static void stop_block(struct state *state, const struct tg_json *event, struct tg_hop_out *out)
{
    struct block *block = find_block(state, tg_hub_int(event, "index", 0));

    if (block == NULL)
        return;
    if (block->kind == BLOCK_TOOL && !block->has_arguments)
        give_whole_input(state, block, out);
    else if (block->kind == BLOCK_THINKING)
        give_signature(state, block, out);
    close_block(state, block);
}

/* --- the message ---------------------------------------------------------------------------- */

static bool merge_member(void *context, const char *key, const struct tg_json *value)
{
    if (tg_json_type(value) != TG_JSON_NULL)
        tg_json_set(context, key, tg_json_copy(value));
    return true;
}

static void merge(struct tg_json **into, const struct tg_json *from, const char *key)
{
    const struct tg_json *object;

    if (tg_json_get_object(from, key, &object) != TG_JSON_GOT)
        return;
    if (*into == NULL)
        *into = tg_json_new_object();
    tg_json_each(object, merge_member, *into);
}

static void start_message(struct state *state, const struct tg_json *event,
                          struct tg_hop_out *out)
{
    const struct tg_convert *context = state->hop.context;
    const struct tg_json *message;
    struct tg_json *delta;
    struct tg_span model = {"", 0};

    if (state->started || tg_json_get_object(event, "message", &message) != TG_JSON_GOT)
        return;
    state->started = true;
    tg_hub_text(message, "model", &model);
    state->head = (struct tg_chunk_head){
        .id = tg_id_make(context, "chatcmpl-", tg_hub_span(message, "id")),
        .model = context->client_model != NULL
                     ? context->client_model
                     : tg_arena_strndup(context->arena, model.ptr, model.len),
        .created_unix_s = context->now_unix_s,
    };
    merge(&state->usage, message, "usage");
    delta = tg_json_new_object();
    tg_json_set_str(delta, "role", "assistant");
    tg_json_set_str(delta, "content", "");
    give(out, tg_chunk(&state->head, 0, delta, NULL));
}

static void finish(struct state *state, struct tg_hop_out *out)
{
    struct tg_span reason = tg_hub_span(state->stop, "stop_reason");
    const char *finish = tg_finish_of_messages(reason);
    const struct tg_json *details;
    struct tg_hub_usage usage;
    struct tg_json *chunk;

    if (tg_hub_is(state->stop, "stop_reason", "refusal") &&
        tg_json_get_object(state->stop, "stop_details", &details) == TG_JSON_GOT)
        give_text(state, out, "refusal", tg_hub_span(details, "explanation"));
    chunk = tg_chunk(&state->head, 0, tg_json_new_object(), finish != NULL ? finish : "stop");
    if (tg_hub_is(state->stop, "stop_reason", "stop_sequence") &&
        tg_hub_span(state->stop, "stop_sequence").len > 0)
        tg_json_set_span(tg_chunk_choice(chunk), "x_stop_sequence",
                         tg_hub_span(state->stop, "stop_sequence"));
    give(out, chunk);
    if (state->usage != NULL) {
        usage = tg_usage_of_messages(state->usage);
        chunk = tg_chunk_usage(&state->head, tg_usage_to_chat(&usage));
        tg_json_set(tg_json_member(chunk, "usage"), "x_usage", tg_json_copy(state->usage));
        give(out, chunk);
    }
    out->end = TG_HOP_END_DONE;
}

/* EOF behind a stop reason is an end; anything else without message_stop is none. */
static void end_at(struct tg_hop *hop, enum tg_hop_end end, const struct tg_error *error,
                   struct tg_hop_out *out)
{
    struct state *state = (struct state *)hop;

    if (end == TG_HOP_END_ERROR) {
        out->end = end;
        out->error = *error;
    } else if (state->started && state->stop != NULL &&
               tg_hub_span(state->stop, "stop_reason").len > 0) {
        finish(state, out);
    } else {
        out->end = TG_HOP_END_ERROR;
        tg_error_truncated(&out->error);
    }
}

static void fail_with(const struct tg_json *event, struct tg_hop_out *out)
{
    const struct tg_json *error;

    tg_error_of_messages(tg_json_get_object(event, "error", &error) == TG_JSON_GOT ? error : event,
                         &out->error);
    out->end = TG_HOP_END_ERROR;
}

static void feed(struct tg_hop *hop, const struct tg_json *event, struct tg_hop_out *out)
{
    struct state *state = (struct state *)hop;

    if (tg_hub_is(event, "type", "message_start"))
        start_message(state, event, out);
    else if (tg_hub_is(event, "type", "error"))
        fail_with(event, out);
    else if (!state->started)
        return;
    else if (tg_hub_is(event, "type", "content_block_delta"))
        add_delta(state, event, out);
    else if (tg_hub_is(event, "type", "content_block_start"))
        start_block(state, event, out);
    else if (tg_hub_is(event, "type", "content_block_stop"))
        stop_block(state, event, out);
    else if (tg_hub_is(event, "type", "message_delta")) {
        merge(&state->stop, event, "delta");
        merge(&state->usage, event, "usage");
    } else if (tg_hub_is(event, "type", "message_stop")) {
        if (state->stop == NULL)
            state->stop = tg_json_new_object();
        finish(state, out);
    }
}

static void done(struct tg_hop *hop)
{
    struct state *state = (struct state *)hop;

    for (size_t i = 0; i < state->block_count; i++)
        free_block(&state->blocks[i]);
    tg_json_free(state->usage);
    tg_json_free(state->stop);
}

const struct tg_hop_kind tg_hop_messages_to_chat = {
    .name = "messages_to_chat",
    .state_size = sizeof(struct state),
    .feed = feed,
    .end = end_at,
    .done = done,
};
