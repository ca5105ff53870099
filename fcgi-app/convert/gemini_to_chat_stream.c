/* A stream of Gemini as chunks of Chat (PROTOCOLS D3). */
#include "common/base/memory.h"
#include "fcgi-app/convert/gemini_hub.h"
#include "fcgi-app/convert/toolset.h"

#include <stdlib.h>
#include <string.h>

/* Gemini gives at most eight candidates. */
enum { CANDIDATES_MOST = 16 };

struct candidate {
    int64_t index;
    int64_t call_count;
    bool has_text;
    char *finish; /* NULL: none yet */
    char *block;  /* why the prompt was blocked; NULL: it was not */
};

struct state {
    struct tg_hop hop;
    struct tg_chunk_head head; /* id NULL: no event yet */
    const char *core;          /* of that id */
    struct candidate candidates[CANDIDATES_MOST];
    size_t count;
    struct tg_json *usage; /* the latest: figures are cumulative */
};

static void give(struct state *state, int64_t index, struct tg_json *delta, const char *finish,
                 struct tg_hop_out *out)
{
    out->event(out->to, tg_chunk(&state->head, index, delta, finish));
}

static void give_text(struct state *state, int64_t index, const char *key, struct tg_span text,
                      struct tg_hop_out *out)
{
    struct tg_json *delta = tg_json_new_object();

    tg_json_set_span(delta, key, text);
    give(state, index, delta, NULL, out);
}

static void give_entry(struct state *state, int64_t index, const char *key, struct tg_json *entry,
                       struct tg_hop_out *out)
{
    struct tg_json *delta = tg_json_new_object(), *list = tg_json_new_array();

    tg_json_push(list, entry);
    tg_json_set(delta, key, list);
    give(state, index, delta, NULL, out);
}

static void note_dropped(const struct state *state)
{
    tg_diagnose(state->hop.context->diagnostics, TG_SEVERITY_WARN, "BLOCK_DROPPED", "response",
                "");
}

/* --- parts ---------------------------------------------------------------------------------- */

static struct tg_json *call_of(const struct state *state, const struct candidate *candidate,
                               const struct tg_json *part, const struct tg_json *call)
{
    const struct tg_convert *context = state->hop.context;
    struct tg_json *entry = tg_json_new_object(), *function = tg_json_new_object();
    struct tg_span id = tg_hub_span(call, "id"), signature = tg_hub_span(part, "thoughtSignature");
    const struct tg_json *args;
    struct tg_buf text;

    tg_json_set_int(entry, "index", candidate->call_count);
    if (id.len == 0)
        tg_json_set_str(entry, "id",
                        tg_arena_printf(context->arena, "call_%s_%lld_%lld", state->core,
                                        (long long)candidate->index,
                                        (long long)candidate->call_count));
    else
        tg_json_set_span(entry, "id", id);
    tg_json_set_str(entry, "type", "function");
    tg_json_set_span(function, "name",
                     tg_toolset_name(context, TG_PROTOCOL_CHAT, tg_hub_span(call, "name")));
    tg_buf_init(&text, 0);
    if (tg_json_get_object(call, "args", &args) == TG_JSON_GOT)
        tg_json_print(args, &text);
    else
        tg_buf_str(&text, "{}");
    tg_json_set_span(function, "arguments", (struct tg_span){text.data, text.len});
    tg_buf_done(&text);
    tg_json_set(entry, "function", function);
    if (signature.len > 0)
        tg_json_set(entry, "extra_content", tg_gemini_extra(signature));
    return entry;
}

static void read_text(struct state *state, struct candidate *candidate, const struct tg_json *part,
                      struct tg_hop_out *out)
{
    struct tg_span text = tg_hub_span(part, "text");
    struct tg_span signature = tg_hub_span(part, "thoughtSignature");
    bool thought = tg_gemini_true(part, "thought");

    if (text.len > 0) {
        candidate->has_text |= !thought;
        give_text(state, candidate->index, thought ? "reasoning_content" : "content", text, out);
    }
    if (signature.len > 0)
        give_entry(state, candidate->index, "reasoning_details", tg_gemini_detail(signature), out);
}

/* Nothing but a signature is a text without letters. */
static bool is_signature(const struct tg_json *part)
{
    return tg_hub_span(part, "thoughtSignature").len > 0 &&
           tg_gemini_object(part, "inlineData") == NULL &&
           tg_gemini_object(part, "executableCode") == NULL &&
           tg_gemini_object(part, "codeExecutionResult") == NULL;
}

static void read_part(struct state *state, struct candidate *candidate, const struct tg_json *part,
                      struct tg_hop_out *out)
{
    const struct tg_json *value;

    if (tg_json_get_object(part, "functionCall", &value) == TG_JSON_GOT) {
        give_entry(state, candidate->index, "tool_calls", call_of(state, candidate, part, value),
                   out);
        candidate->call_count++;
    } else if (tg_json_get(part, "text", &value) == TG_JSON_GOT || is_signature(part)) {
        read_text(state, candidate, part, out);
    } else {
        note_dropped(state);
    }
}

/* --- candidates ----------------------------------------------------------------------------- */

static struct candidate *candidate_of(struct state *state, int64_t index, struct tg_hop_out *out)
{
    struct tg_json *delta;

    for (size_t i = 0; i < state->count; i++)
        if (state->candidates[i].index == index)
            return &state->candidates[i];
    if (state->count == CANDIDATES_MOST)
        return NULL;
    state->candidates[state->count] = (struct candidate){.index = index};
    delta = tg_json_new_object();
    tg_json_set_str(delta, "role", "assistant");
    tg_json_set_str(delta, "content", "");
    give(state, index, delta, NULL, out);
    return &state->candidates[state->count++];
}

static void keep(char **member, struct tg_span text)
{
    if (text.len == 0)
        return;
    free(*member);
    *member = tg_strndup(text.ptr, text.len);
}

static void read_candidate(struct state *state, const struct tg_json *said,
                           struct tg_hop_out *out)
{
    struct candidate *candidate = candidate_of(state, tg_hub_int(said, "index", 0), out);
    const struct tg_json *content, *parts;

    if (candidate == NULL)
        return;
    if (tg_json_get_object(said, "content", &content) == TG_JSON_GOT &&
        tg_json_get_array(content, "parts", &parts) == TG_JSON_GOT)
        for (size_t i = 0; i < tg_json_array_len(parts); i++)
            read_part(state, candidate, tg_json_array_at(parts, i), out);
    if (tg_gemini_object(said, "groundingMetadata") != NULL)
        tg_diagnose(state->hop.context->diagnostics, TG_SEVERITY_INFO, "CITATION_DROPPED",
                    "response", "");
    keep(&candidate->finish, tg_hub_span(said, "finishReason"));
}

static void read_block(struct state *state, const struct tg_json *event, struct tg_hop_out *out)
{
    const struct tg_json *feedback;
    struct candidate *candidate;

    if (tg_json_get_object(event, "promptFeedback", &feedback) != TG_JSON_GOT ||
        tg_hub_span(feedback, "blockReason").len == 0)
        return;
    candidate = candidate_of(state, 0, out);
    keep(&candidate->block, tg_hub_span(feedback, "blockReason"));
}

static void start(struct state *state, const struct tg_json *event)
{
    const struct tg_convert *context = state->hop.context;
    struct tg_span model = tg_hub_span(event, "modelVersion");

    state->core = tg_id_make(context, "", tg_hub_span(event, "responseId"));
    state->head = (struct tg_chunk_head){
        .id = tg_arena_printf(context->arena, "chatcmpl-%s", state->core),
        .model = context->client_model != NULL
                     ? context->client_model
                     : tg_arena_strndup(context->arena, model.ptr, model.len),
        .created_unix_s = context->now_unix_s,
    };
}

static void feed(struct tg_hop *hop, const struct tg_json *event, struct tg_hop_out *out)
{
    struct state *state = (struct state *)hop;
    const struct tg_json *error = tg_gemini_error_in(event), *usage, *candidates = NULL;

    if (error != NULL) {
        tg_error_of_gemini(error, &out->error);
        out->end = TG_HOP_END_ERROR;
        return;
    }
    if (state->head.id == NULL)
        start(state, event);
    if (tg_json_get_object(event, "usageMetadata", &usage) == TG_JSON_GOT) {
        tg_json_free(state->usage);
        state->usage = tg_json_copy(usage);
    }
    if (tg_json_get_array(event, "candidates", &candidates) != TG_JSON_GOT ||
        tg_json_array_len(candidates) == 0) {
        read_block(state, event, out);
        return;
    }
    for (size_t i = 0; i < tg_json_array_len(candidates); i++)
        read_candidate(state, tg_json_array_at(candidates, i), out);
}

/* --- the end -------------------------------------------------------------------------------- */

static bool is_whole(const struct state *state)
{
    for (size_t i = 0; i < state->count; i++)
        if (state->candidates[i].finish == NULL && state->candidates[i].block == NULL)
            return false;
    return state->count > 0;
}

static struct tg_span span_of(const char *text)
{
    return (struct tg_span){text, strlen(text)};
}

static bool is_broken(const struct candidate *candidate)
{
    return candidate->block == NULL && tg_finish_is_broken(span_of(candidate->finish)) &&
           candidate->call_count == 0 && !candidate->has_text;
}

static void finish_one(struct state *state, const struct candidate *candidate,
                       struct tg_hop_out *out)
{
    const char *finish;

    if (candidate->block != NULL) {
        const char *text = tg_arena_printf(state->hop.context->arena, "Prompt blocked: %s",
                                           candidate->block);

        give_text(state, candidate->index, "refusal", span_of(text), out);
        give(state, candidate->index, tg_json_new_object(), "content_filter", out);
        return;
    }
    finish = tg_finish_of_gemini(span_of(candidate->finish));
    if (candidate->call_count > 0 && strcmp(finish, "stop") == 0)
        finish = "tool_calls";
    if (tg_finish_is_broken(span_of(candidate->finish)))
        tg_diagnose(state->hop.context->diagnostics, TG_SEVERITY_WARN, "FINISH_APPROXIMATED",
                    "response", candidate->finish);
    give(state, candidate->index, tg_json_new_object(), finish, out);
}

/* Behind the first broken candidate nothing is whole. */
static void finish(struct state *state, struct tg_hop_out *out)
{
    struct tg_hub_usage usage = {0};

    for (size_t i = 0; i < state->count; i++) {
        if (is_broken(&state->candidates[i])) {
            tg_error_broken(span_of(state->candidates[i].finish), &out->error);
            out->end = TG_HOP_END_ERROR;
            return;
        }
    }
    for (size_t i = 0; i < state->count; i++)
        finish_one(state, &state->candidates[i], out);
    if (state->usage != NULL)
        usage = tg_usage_of_gemini(state->usage);
    else
        tg_diagnose(state->hop.context->diagnostics, TG_SEVERITY_WARN, "USAGE_MISSING",
                    "response", "");
    out->event(out->to, tg_chunk_usage(&state->head, tg_usage_to_chat(&usage)));
    out->end = TG_HOP_END_DONE;
}

/* EOF is no success by itself: every candidate that was begun must have said why it ended. */
static void end_at(struct tg_hop *hop, enum tg_hop_end end, const struct tg_error *error,
                   struct tg_hop_out *out)
{
    struct state *state = (struct state *)hop;

    if (end == TG_HOP_END_ERROR) {
        out->end = end;
        out->error = *error;
    } else if (is_whole(state)) {
        finish(state, out);
    } else {
        out->end = TG_HOP_END_ERROR;
        tg_error_truncated(&out->error);
    }
}

static void done(struct tg_hop *hop)
{
    struct state *state = (struct state *)hop;

    for (size_t i = 0; i < state->count; i++) {
        free(state->candidates[i].finish);
        free(state->candidates[i].block);
    }
    tg_json_free(state->usage);
}

const struct tg_hop_kind tg_hop_gemini_to_chat = {
    .name = "gemini_to_chat",
    .state_size = sizeof(struct state),
    .feed = feed,
    .end = end_at,
    .done = done,
};
