/* A stream of Chat as events of Responses (PROTOCOLS D6): the response around its items. */
#include "common/base/memory.h"
#include "fcgi-app/convert/chat_to_responses.h"
#include "fcgi-app/convert/chat_read.h"

#include <stdlib.h>
#include <string.h>

static void give_response(struct tg_items *state, struct tg_hop_out *out, const char *type,
                          struct tg_json *response)
{
    struct tg_json *event = tg_items_event(state, type);

    tg_json_set(event, "response", response);
    tg_items_give(out, event);
}

/* <chunk> NULL: nothing came. */
static void start(struct tg_items *state, const struct tg_json *chunk, struct tg_hop_out *out)
{
    const struct tg_convert *context = state->hop.context;
    struct tg_span id = {"", 0}, model = {"", 0};

    state->started = true;
    if (chunk != NULL) {
        id = tg_hub_span(chunk, "id");
        model = tg_hub_span(chunk, "model");
    }
    state->head = (struct tg_chunk_head){
        .id = tg_id_make(context, "resp_", id),
        .model = context->client_model != NULL
                     ? context->client_model
                     : tg_arena_strndup(context->arena, model.ptr, model.len),
        .created_unix_s = chunk != NULL ? tg_hub_int(chunk, "created", context->now_unix_s)
                                        : context->now_unix_s,
    };
    state->core = tg_id_core((struct tg_span){state->head.id, strlen(state->head.id)});
    give_response(state, out, "response.created",
                  tg_response_new(context, &state->head, "in_progress"));
    give_response(state, out, "response.in_progress",
                  tg_response_new(context, &state->head, "in_progress"));
}

/* --- deltas --------------------------------------------------------------------------------- */

static void add_reasoning(struct tg_items *state, const struct tg_json *choice,
                          const struct tg_json *delta, struct tg_hop_out *out)
{
    struct tg_span text = {NULL, 0};
    const struct tg_json *details;
    bool separator = false;

    (void)tg_json_get_bool(choice, "x_sep", &separator);
    if (!separator && !tg_hub_text(delta, "reasoning_content", &text))
        tg_hub_text(delta, "reasoning", &text);
    if (text.len > 0)
        tg_items_reasoning(state, out, text);
    if (tg_json_get_array(delta, "reasoning_details", &details) == TG_JSON_GOT)
        for (size_t i = 0; i < tg_json_array_len(details); i++)
            tg_items_detail(state, out, tg_json_array_at(details, i));
}

static void add_delta(struct tg_items *state, const struct tg_json *delta, struct tg_hop_out *out)
{
    const struct tg_json *calls;
    struct tg_span text;

    if (tg_hub_text(delta, "content", &text))
        tg_items_text(state, out, TG_ITEM_TEXT, text);
    if (tg_hub_text(delta, "refusal", &text))
        tg_items_text(state, out, TG_ITEM_REFUSAL, text);
    if (tg_json_get_array(delta, "tool_calls", &calls) == TG_JSON_GOT)
        for (size_t i = 0; i < tg_json_array_len(calls); i++)
            tg_items_call(state, out, tg_json_array_at(calls, i));
}

/* Responses has one answer: only the first choice. */
static void feed(struct tg_hop *hop, const struct tg_json *chunk, struct tg_hop_out *out)
{
    struct tg_items *state = (struct tg_items *)hop;
    const struct tg_json *choice = tg_chat_chunk_choice(hop->context, chunk), *delta, *usage;
    struct tg_span finish;

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
    if (tg_hub_text(choice, "finish_reason", &finish)) {
        free(state->finish);
        state->finish = tg_strndup(finish.ptr, finish.len);
    }
}

/* --- the end -------------------------------------------------------------------------------- */

static void set_output(const struct tg_items *state, struct tg_json *response)
{
    struct tg_json *output = tg_json_new_array();
    struct tg_hub_usage usage;

    for (size_t i = 0; i < state->count; i++)
        tg_json_push(output, tg_items_json(&state->items[i],
                                           state->items[i].closed ? "completed" : "incomplete"));
    tg_json_set(response, "output", output);
    if (state->usage == NULL) {
        tg_json_set_null(response, "usage");
        return;
    }
    usage = tg_usage_of_chat(state->usage);
    tg_json_set(response, "usage", tg_usage_to_responses(&usage));
}

static void finish(struct tg_items *state, struct tg_hop_out *out)
{
    const char *word = state->finish != NULL ? state->finish : "";
    const char *reason = tg_response_incomplete((struct tg_span){word, strlen(word)});
    struct tg_diagnostics *diagnostics = state->hop.context->diagnostics;
    struct tg_json *response;

    if (state->finish == NULL)
        tg_diagnose(diagnostics, TG_SEVERITY_WARN, "FINISH_MISSING", "response", "");
    if (state->usage == NULL)
        tg_diagnose(diagnostics, TG_SEVERITY_WARN, "USAGE_MISSING", "response", "");
    tg_items_close_all(state, out);
    response = tg_response_new(state->hop.context, &state->head,
                               reason != NULL ? "incomplete" : "completed");
    tg_response_set_incomplete(response, reason);
    set_output(state, response);
    give_response(state, out, reason != NULL ? "response.incomplete" : "response.completed",
                  response);
    out->end = TG_HOP_END_DONE;
}

/* What came stays with the client: a failed response holds it. */
static void fail(struct tg_items *state, struct tg_hop_out *out)
{
    struct tg_json *response, *error = tg_json_new_object();

    if (!state->started)
        start(state, NULL, out);
    response = tg_response_new(state->hop.context, &state->head, "failed");
    tg_json_set_str(error, "code", tg_response_error_code(out->error.status));
    tg_json_set_str(error, "message", out->error.message);
    tg_json_set(response, "error", error);
    set_output(state, response);
    give_response(state, out, "response.failed", response);
    out->end = TG_HOP_END_ERROR;
}

static void end_at(struct tg_hop *hop, enum tg_hop_end end, const struct tg_error *error,
                   struct tg_hop_out *out)
{
    struct tg_items *state = (struct tg_items *)hop;

    if (end == TG_HOP_END_ERROR) {
        out->error = *error;
        fail(state, out);
    } else if (!state->started || (end == TG_HOP_END_EOF && state->finish == NULL)) {
        tg_error_truncated(&out->error);
        fail(state, out);
    } else {
        finish(state, out);
    }
}

static void done(struct tg_hop *hop)
{
    struct tg_items *state = (struct tg_items *)hop;

    tg_items_free(state);
    tg_json_free(state->usage);
    free(state->finish);
}

const struct tg_hop_kind tg_hop_chat_to_responses = {
    .name = "chat_to_responses",
    .state_size = sizeof(struct tg_items),
    .feed = feed,
    .end = end_at,
    .done = done,
};
