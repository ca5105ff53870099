/* Tool calls of Chat, whose fragments may come interleaved, as blocks one after the other. */
#include "fcgi-app/convert/chat_to_messages.h"

#include "common/base/memory.h"
#include "fcgi-app/convert/toolset.h"

#include <stdio.h>
#include <string.h>

static struct tg_span client_name(const struct tg_blocks *state, const struct tg_blocks_call *call)
{
    const char *name = call->name != NULL ? call->name : "";

    return tg_toolset_name(state->hop.context, TG_PROTOCOL_MESSAGES,
                           (struct tg_span){name, strlen(name)});
}

static void open_call(struct tg_blocks *state, struct tg_hop_out *out, size_t at)
{
    struct tg_blocks_call *call = &state->calls[at];
    struct tg_json *content;

    if (call->signature != NULL)
        tg_blocks_wrapped(state, out, TG_ORIGIN_GEMINI,
                          (struct tg_span){call->signature, strlen(call->signature)});
    content = tg_blocks_event("tool_use");
    tg_json_set_str(content, "id", call->id);
    tg_json_set_span(content, "name", client_name(state, call));
    tg_json_set(content, "input", tg_json_new_object());
    tg_blocks_open(state, out, TG_BLOCK_TOOL, content);
    state->open_call = at;
    call->opened = true;
    if (call->waiting.len > 0)
        tg_blocks_delta(state, out, "input_json_delta", "partial_json",
                        (struct tg_span){call->waiting.data, call->waiting.len});
    tg_buf_reset(&call->waiting);
}

/* The call with the lowest index that has not been opened; call_count: none. */
static size_t next_call(const struct tg_blocks *state)
{
    size_t next = state->call_count;

    for (size_t i = 0; i < state->call_count; i++)
        if (!state->calls[i].opened &&
            (next == state->call_count || state->calls[i].index < state->calls[next].index))
            next = i;
    return next;
}

void tg_blocks_pump(struct tg_blocks *state, struct tg_hop_out *out, bool all)
{
    for (;;) {
        size_t next = next_call(state);

        if (next == state->call_count || (!all && tg_blocks_call_is_open(state)) ||
            (!all && state->calls[next].name == NULL))
            return;
        open_call(state, out, next);
    }
}

static char *dup_of(struct tg_span text)
{
    return text.len > 0 ? tg_strndup(text.ptr, text.len) : NULL;
}

static char *made_id(const struct tg_blocks *state, int64_t index)
{
    struct tg_span core = tg_id_core((struct tg_span){state->id, strlen(state->id)});
    char text[256];

    snprintf(text, sizeof text, "call_%.*s_%lld", (int)TG_MIN(core.len, 200), core.ptr,
             (long long)index);
    return tg_strdup(text);
}

static struct tg_blocks_call *find_call(struct tg_blocks *state, const struct tg_json *entry)
{
    int64_t index = tg_hub_int(entry, "index", 0);
    struct tg_span id = tg_hub_span(entry, "id");
    struct tg_blocks_call *call;

    for (size_t i = 0; i < state->call_count; i++)
        if (state->calls[i].index == index)
            return &state->calls[i];
    if (state->call_count == state->call_cap) {
        state->call_cap = state->call_cap != 0 ? 2 * state->call_cap : 4;
        state->calls = tg_realloc(state->calls, state->call_cap * sizeof *state->calls);
    }
    call = &state->calls[state->call_count++];
    *call = (struct tg_blocks_call){.index = index};
    call->id = id.len > 0 ? dup_of(id) : made_id(state, index);
    tg_buf_init(&call->waiting, 0);
    return call;
}

static char *gemini_signature(const struct tg_json *entry)
{
    const struct tg_json *extra, *google;

    if (tg_json_get_object(entry, "extra_content", &extra) != TG_JSON_GOT ||
        tg_json_get_object(extra, "google", &google) != TG_JSON_GOT)
        return NULL;
    return dup_of(tg_hub_span(google, "thought_signature"));
}

static void add_arguments(struct tg_blocks *state, struct tg_blocks_call *call, struct tg_span text,
                          struct tg_hop_out *out)
{
    tg_balance_add(&call->balance, text);
    if (text.len == 0)
        return;
    if (state->open == TG_BLOCK_TOOL && call == &state->calls[state->open_call])
        tg_blocks_delta(state, out, "input_json_delta", "partial_json", text);
    else if (!call->closed)
        tg_buf_add(&call->waiting, text.ptr, text.len);
    else if (strspn(text.ptr, " \t\r\n") < text.len)
        tg_diagnose(state->hop.context->diagnostics, TG_SEVERITY_WARN, "TOOL_ARGS_INVALID",
                    "response", "arguments behind the end of a call");
}

void tg_blocks_call(struct tg_blocks *state, const struct tg_json *entry, struct tg_hop_out *out)
{
    struct tg_blocks_call *call = find_call(state, entry);
    const struct tg_json *function;

    if (tg_json_get_object(entry, "function", &function) != TG_JSON_GOT)
        return;
    if (call->name == NULL)
        call->name = dup_of(tg_hub_span(function, "name"));
    if (call->signature == NULL && !call->opened)
        call->signature = gemini_signature(entry);
    add_arguments(state, call, tg_hub_span(function, "arguments"), out);
    tg_blocks_pump(state, out, false);
}
