/* A stream of Chat as events of Messages (PROTOCOLS D2): the message around the blocks. */
#include "fcgi-app/convert/chat_to_messages.h"
#include "fcgi-app/convert/chat_read.h"

#include "common/base/memory.h"
#include "fcgi-app/convert/citations.h"

#include <stdlib.h>
#include <string.h>

static void start(struct tg_blocks *state, const struct tg_json *chunk, struct tg_hop_out *out)
{
    const struct tg_convert *context = state->hop.context;
    struct tg_json *event = tg_blocks_event("message_start"), *message = tg_blocks_event("message");
    const struct tg_hub_usage nothing = {0};

    state->started = true;
    state->id = tg_strdup(tg_id_make(context, "msg_", tg_hub_span(chunk, "id")));
    tg_json_set_str(message, "id", state->id);
    tg_json_set_str(message, "role", "assistant");
    if (context->client_model != NULL)
        tg_json_set_str(message, "model", context->client_model);
    else
        tg_json_set_span(message, "model", tg_hub_span(chunk, "model"));
    tg_json_set(message, "content", tg_json_new_array());
    tg_json_set_null(message, "stop_reason");
    tg_json_set_null(message, "stop_sequence");
    tg_json_set(message, "usage", tg_usage_to_messages(&nothing));
    tg_json_set(event, "message", message);
    tg_blocks_give(out, event);
}

static void add_reasoning(struct tg_blocks *state, const struct tg_json *choice,
                          const struct tg_json *delta, struct tg_hop_out *out)
{
    struct tg_span text = {NULL, 0};
    const struct tg_json *details;
    bool separator = false;

    (void)tg_json_get_bool(choice, "x_sep", &separator);
    if (!separator && !tg_hub_text(delta, "reasoning_content", &text))
        tg_hub_text(delta, "reasoning", &text);
    if (text.len > 0)
        tg_blocks_thinking(state, out, text);
    if (tg_json_get_array(delta, "reasoning_details", &details) == TG_JSON_GOT)
        for (size_t i = 0; i < tg_json_array_len(details); i++)
            tg_blocks_detail(state, tg_json_array_at(details, i), out);
}

static void add_delta(struct tg_blocks *state, const struct tg_json *delta, struct tg_hop_out *out)
{
    const struct tg_json *calls;
    struct tg_span text;

    if (tg_hub_text(delta, "content", &text))
        tg_blocks_text(state, out, text);
    if (tg_hub_text(delta, "refusal", &text)) {
        tg_buf_add(&state->refusal, text.ptr, text.len);
        tg_blocks_text(state, out, text);
    }
    tg_citations_dropped(state->hop.context, delta, "annotations", "response");
    if (tg_json_get_array(delta, "tool_calls", &calls) == TG_JSON_GOT)
        for (size_t i = 0; i < tg_json_array_len(calls); i++)
            tg_blocks_call(state, tg_json_array_at(calls, i), out);
}

static char *dup_text(const struct tg_json *object, const char *key)
{
    struct tg_span text;

    return tg_hub_text(object, key, &text) ? tg_strndup(text.ptr, text.len) : NULL;
}

static void keep(char **member, char *text)
{
    if (text == NULL)
        return;
    free(*member);
    *member = text;
}

/* Messages has one answer: only the first choice. */
static void feed(struct tg_hop *hop, const struct tg_json *chunk, struct tg_hop_out *out)
{
    struct tg_blocks *state = (struct tg_blocks *)hop;
    const struct tg_json *choice = tg_chat_chunk_choice(hop->context, chunk), *delta, *usage;

    if (tg_json_get_object(chunk, "usage", &usage) == TG_JSON_GOT) {
        tg_json_free(state->usage);
        state->usage = tg_json_copy(usage);
    }
    if (choice == NULL)
        return;
    if (!state->started)
        start(state, chunk, out);
    if (tg_json_get_object(choice, "delta", &delta) == TG_JSON_GOT) {
        add_reasoning(state, choice, delta, out);
        add_delta(state, delta, out);
    }
    keep(&state->finish, dup_text(choice, "finish_reason"));
    keep(&state->stop_sequence, dup_text(choice, "x_stop_sequence"));
}

/* --- the end -------------------------------------------------------------------------------- */

static struct tg_span span_of(const char *text)
{
    return (struct tg_span){text != NULL ? text : "", text != NULL ? strlen(text) : 0};
}

static struct tg_json *stop_delta(const struct tg_blocks *state)
{
    struct tg_json *delta = tg_json_new_object();
    const struct tg_stop_facts facts = {
        .finish = span_of(state->finish),
        .stop_sequence = span_of(state->stop_sequence),
        .refusal = {tg_buf_text(&state->refusal), state->refusal.len},
        .has_calls = state->call_count > 0,
    };

    tg_stop_set(&facts, delta);
    return delta;
}

static void finish(struct tg_blocks *state, struct tg_hop_out *out)
{
    struct tg_hub_usage usage = {0};
    struct tg_json *event;

    if (state->finish == NULL)
        tg_diagnose(state->hop.context->diagnostics, TG_SEVERITY_WARN, "FINISH_MISSING",
                    "response", "");
    tg_blocks_pump(state, out, true);
    if (state->late_text.len > 0) {
        tg_blocks_close(state, out);
        tg_blocks_text(state, out, (struct tg_span){"", 0});
    }
    tg_blocks_close(state, out);
    if (state->usage != NULL)
        usage = tg_usage_of_chat(state->usage);
    event = tg_blocks_event("message_delta");
    tg_json_set(event, "delta", stop_delta(state));
    tg_json_set(event, "usage", tg_usage_to_messages(&usage));
    tg_blocks_give(out, event);
    tg_blocks_give(out, tg_blocks_event("message_stop"));
    out->end = TG_HOP_END_DONE;
}

static void end_at(struct tg_hop *hop, enum tg_hop_end end, const struct tg_error *error,
                   struct tg_hop_out *out)
{
    struct tg_blocks *state = (struct tg_blocks *)hop;

    if (end == TG_HOP_END_ERROR) {
        out->end = end;
        out->error = *error;
    } else if (!state->started || (end == TG_HOP_END_EOF && state->finish == NULL)) {
        out->end = TG_HOP_END_ERROR;
        tg_error_truncated(&out->error);
    } else {
        finish(state, out);
    }
}

static void done(struct tg_hop *hop)
{
    struct tg_blocks *state = (struct tg_blocks *)hop;

    for (size_t i = 0; i < state->call_count; i++) {
        free(state->calls[i].id);
        free(state->calls[i].name);
        free(state->calls[i].signature);
        tg_buf_done(&state->calls[i].waiting);
    }
    free(state->calls);
    free(state->id);
    free(state->finish);
    free(state->stop_sequence);
    tg_buf_done(&state->late_text);
    tg_buf_done(&state->refusal);
    tg_json_free(state->usage);
}

const struct tg_hop_kind tg_hop_chat_to_messages = {
    .name = "chat_to_messages",
    .state_size = sizeof(struct tg_blocks),
    .feed = feed,
    .end = end_at,
    .done = done,
};
