/* A stream of Chat as chunks of Gemini (PROTOCOLS D4). Calls go out whole, in their order. */
#include "common/base/memory.h"
#include "fcgi-app/convert/balance.h"
#include "fcgi-app/convert/chat_to_gemini.h"
#include "fcgi-app/convert/gemini_hub.h"
#include "fcgi-app/convert/toolset.h"

#include <stdlib.h>
#include <string.h>

enum { CANDIDATES_MOST = 16 };

struct call {
    int64_t index;
    char *id, *name, *signature; /* NULL: not known */
    struct tg_buf arguments;
    struct tg_balance balance;
    bool sent;
};

struct candidate {
    int64_t index;
    struct call *calls;
    size_t call_count, call_cap;
    char *finish; /* NULL: none yet */
    bool refused;
};

struct state {
    struct tg_hop hop;
    const char *id, *model; /* NULL: no chunk yet */
    struct candidate candidates[CANDIDATES_MOST];
    size_t count;
    struct tg_json *usage;
};

/* --- chunks --------------------------------------------------------------------------------- */

/* Takes <part>. */
static struct tg_json *chunk_of(const struct state *state, const struct candidate *candidate,
                                struct tg_json *part, const char *finish)
{
    struct tg_json *chunk = tg_json_new_object(), *list = tg_json_new_array();

    tg_json_push(list, tg_gemini_candidate(candidate->index, part, finish));
    tg_json_set(chunk, "candidates", list);
    tg_json_set_str(chunk, "modelVersion", state->model);
    tg_json_set_str(chunk, "responseId", state->id);
    return chunk;
}

static void give(const struct state *state, const struct candidate *candidate,
                 struct tg_json *part, struct tg_hop_out *out)
{
    out->event(out->to, chunk_of(state, candidate, part, NULL));
}

static struct tg_json *text_part(struct tg_span text)
{
    struct tg_json *part = tg_json_new_object();

    tg_json_set_span(part, "text", text);
    return part;
}

/* --- calls ---------------------------------------------------------------------------------- */

static void give_call(const struct state *state, const struct candidate *candidate,
                      struct call *call, struct tg_hop_out *out)
{
    const struct tg_convert *context = state->hop.context;
    const char *name = call->name != NULL ? call->name : "";
    const struct tg_gemini_call facts = {
        .id = call->id,
        .name = tg_toolset_name(context, TG_PROTOCOL_GEMINI,
                                (struct tg_span){name, strlen(name)}),
        .arguments = {tg_buf_text(&call->arguments), call->arguments.len},
        .signature = {call->signature, call->signature != NULL ? strlen(call->signature) : 0},
    };

    call->sent = true;
    give(state, candidate, tg_gemini_call_part(context, &facts), out);
}

/* Those below <before> that are whole, up to the first that is not; <all>: whole or not. */
static void flush(const struct state *state, struct candidate *candidate, int64_t before, bool all,
                  struct tg_hop_out *out)
{
    for (size_t i = 0; i < candidate->call_count; i++) {
        struct call *call = &candidate->calls[i];

        if (call->sent || call->index >= before)
            continue;
        if (!all && !tg_balance_is_complete(&call->balance))
            break;
        give_call(state, candidate, call, out);
    }
}

static struct call *new_call(const struct state *state, struct candidate *candidate,
                             int64_t index, struct tg_span id)
{
    size_t at = candidate->call_count;
    const char *made;

    if (candidate->call_count == candidate->call_cap) {
        candidate->call_cap = candidate->call_cap != 0 ? 2 * candidate->call_cap : 2;
        candidate->calls =
            tg_realloc(candidate->calls, candidate->call_cap * sizeof *candidate->calls);
    }
    for (; at > 0 && candidate->calls[at - 1].index > index; at--)
        candidate->calls[at] = candidate->calls[at - 1];
    candidate->call_count++;
    made = id.len > 0 ? tg_arena_strndup(state->hop.context->arena, id.ptr, id.len)
                      : tg_arena_printf(state->hop.context->arena, "call_%s_%lld_%lld", state->id,
                                        (long long)candidate->index, (long long)index);
    candidate->calls[at] = (struct call){.index = index, .id = tg_strdup(made)};
    tg_buf_init(&candidate->calls[at].arguments, 0);
    return &candidate->calls[at];
}

static struct call *find_call(struct candidate *candidate, int64_t index)
{
    for (size_t i = 0; i < candidate->call_count; i++)
        if (candidate->calls[i].index == index)
            return &candidate->calls[i];
    return NULL;
}

static void keep(char **member, struct tg_span text)
{
    if (text.len == 0)
        return;
    free(*member);
    *member = tg_strndup(text.ptr, text.len);
}

static void read_call(struct state *state, struct candidate *candidate,
                      const struct tg_json *entry, struct tg_hop_out *out)
{
    int64_t index = tg_hub_int(entry, "index", 0);
    struct call *call = find_call(candidate, index);
    const struct tg_json *function;
    struct tg_span text;

    if (call == NULL) {
        flush(state, candidate, index, false, out);
        call = new_call(state, candidate, index, tg_hub_span(entry, "id"));
    }
    keep(&call->signature, tg_gemini_signature_of(entry));
    if (tg_json_get_object(entry, "function", &function) != TG_JSON_GOT)
        return;
    keep(&call->name, tg_hub_span(function, "name"));
    text = tg_hub_span(function, "arguments");
    tg_buf_add(&call->arguments, text.ptr, text.len);
    tg_balance_add(&call->balance, text);
}

/* --- choices -------------------------------------------------------------------------------- */

/* Only the first, unless several were asked for: clients read candidates by their place. */
static struct candidate *candidate_of(struct state *state, int64_t index)
{
    if (index > 0 && !state->hop.context->several) {
        tg_diagnose(state->hop.context->diagnostics, TG_SEVERITY_WARN, "CHOICES_DROPPED",
                    "response", "");
        return NULL;
    }
    for (size_t i = 0; i < state->count; i++)
        if (state->candidates[i].index == index)
            return &state->candidates[i];
    if (state->count == CANDIDATES_MOST)
        return NULL;
    state->candidates[state->count] = (struct candidate){.index = index};
    return &state->candidates[state->count++];
}

static void read_reasoning(struct state *state, const struct candidate *candidate,
                           const struct tg_json *choice, const struct tg_json *delta,
                           struct tg_hop_out *out)
{
    struct tg_span text = {NULL, 0};
    const struct tg_json *details;
    struct tg_json *part;
    bool separator = false;

    (void)tg_json_get_bool(choice, "x_sep", &separator);
    if (!separator && !tg_hub_text(delta, "reasoning_content", &text))
        tg_hub_text(delta, "reasoning", &text);
    if (text.len > 0 && state->hop.context->include_thoughts) {
        part = text_part(text);
        tg_json_set_bool(part, "thought", true);
        give(state, candidate, part, out);
    }
    if (tg_json_get_array(delta, "reasoning_details", &details) != TG_JSON_GOT)
        return;
    for (size_t i = 0; i < tg_json_array_len(details); i++) {
        part = tg_gemini_detail_part(state->hop.context, tg_json_array_at(details, i));
        if (part != NULL)
            give(state, candidate, part, out);
    }
}

static void read_choice(struct state *state, const struct tg_json *choice, struct tg_hop_out *out)
{
    struct candidate *candidate = candidate_of(state, tg_hub_int(choice, "index", 0));
    const struct tg_json *delta, *calls;
    struct tg_span text;

    if (candidate == NULL)
        return;
    keep(&candidate->finish, tg_hub_span(choice, "finish_reason"));
    if (tg_json_get_object(choice, "delta", &delta) != TG_JSON_GOT)
        return;
    read_reasoning(state, candidate, choice, delta, out);
    if (tg_hub_text(delta, "content", &text)) {
        flush(state, candidate, INT64_MAX, false, out);
        give(state, candidate, text_part(text), out);
    }
    if (tg_hub_text(delta, "refusal", &text)) {
        candidate->refused = true;
        give(state, candidate, text_part(text), out);
    }
    if (tg_json_get_array(delta, "tool_calls", &calls) == TG_JSON_GOT)
        for (size_t i = 0; i < tg_json_array_len(calls); i++)
            read_call(state, candidate, tg_json_array_at(calls, i), out);
}

static void start(struct state *state, const struct tg_json *chunk)
{
    const struct tg_convert *context = state->hop.context;
    struct tg_span model = tg_hub_span(chunk, "model");

    state->id = tg_id_make(context, "", tg_hub_span(chunk, "id"));
    state->model = context->client_model != NULL
                       ? context->client_model
                       : tg_arena_strndup(context->arena, model.ptr, model.len);
}

static void feed(struct tg_hop *hop, const struct tg_json *chunk, struct tg_hop_out *out)
{
    struct state *state = (struct state *)hop;
    const struct tg_json *choices, *usage;

    if (state->id == NULL)
        start(state, chunk);
    if (tg_json_get_object(chunk, "usage", &usage) == TG_JSON_GOT) {
        tg_json_free(state->usage);
        state->usage = tg_json_copy(usage);
    }
    if (tg_json_get_array(chunk, "choices", &choices) == TG_JSON_GOT)
        for (size_t i = 0; i < tg_json_array_len(choices); i++)
            read_choice(state, tg_json_array_at(choices, i), out);
}

/* --- the end -------------------------------------------------------------------------------- */

static bool is_whole(const struct state *state, enum tg_hop_end end)
{
    for (size_t i = 0; i < state->count; i++)
        if (end == TG_HOP_END_EOF && state->candidates[i].finish == NULL)
            return false;
    return state->count > 0;
}

/* The last chunk has a part, a reason and the usage: clients that gather a conversation drop a
 * turn whose last chunk has no parts. */
static void finish(struct state *state, struct tg_hop_out *out)
{
    struct tg_hub_usage usage;

    for (size_t i = 0; i < state->count; i++)
        flush(state, &state->candidates[i], INT64_MAX, true, out);
    for (size_t i = 0; i < state->count; i++) {
        const struct candidate *candidate = &state->candidates[i];
        const char *reason = candidate->finish != NULL ? candidate->finish : "";
        struct tg_json *chunk =
            chunk_of(state, candidate, text_part((struct tg_span){"", 0}),
                     tg_finish_to_gemini((struct tg_span){reason, strlen(reason)},
                                         candidate->refused));

        if (candidate->finish == NULL)
            tg_diagnose(state->hop.context->diagnostics, TG_SEVERITY_WARN, "FINISH_MISSING",
                        "response", "");
        if (i + 1 == state->count && state->usage != NULL) {
            usage = tg_usage_of_chat(state->usage);
            tg_json_set(chunk, "usageMetadata", tg_usage_to_gemini(&usage));
        }
        out->event(out->to, chunk);
    }
    out->end = TG_HOP_END_DONE;
}

static void end_at(struct tg_hop *hop, enum tg_hop_end end, const struct tg_error *error,
                   struct tg_hop_out *out)
{
    struct state *state = (struct state *)hop;

    if (end == TG_HOP_END_ERROR) {
        out->end = end;
        out->error = *error;
    } else if (is_whole(state, end)) {
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
        struct candidate *candidate = &state->candidates[i];

        for (size_t k = 0; k < candidate->call_count; k++) {
            free(candidate->calls[k].id);
            free(candidate->calls[k].name);
            free(candidate->calls[k].signature);
            tg_buf_done(&candidate->calls[k].arguments);
        }
        free(candidate->calls);
        free(candidate->finish);
    }
    tg_json_free(state->usage);
}

const struct tg_hop_kind tg_hop_chat_to_gemini = {
    .name = "chat_to_gemini",
    .state_size = sizeof(struct state),
    .feed = feed,
    .end = end_at,
    .done = done,
};
