/* Items of a response in the order of their opening (PROTOCOLS D6). */
#include "common/base/memory.h"
#include "fcgi-app/convert/chat_to_responses.h"
#include "fcgi-app/convert/envelope.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct tg_span span_of(const struct tg_buf *buf)
{
    return (struct tg_span){tg_buf_text(buf), buf->len};
}

struct tg_json *tg_items_event(struct tg_items *state, const char *type)
{
    struct tg_json *event = tg_json_new_object();

    tg_json_set_str(event, "type", type);
    tg_json_set_int(event, "sequence_number", state->sequence++);
    return event;
}

void tg_items_give(struct tg_hop_out *out, struct tg_json *event)
{
    out->event(out->to, event);
}

/* --- items as JSON -------------------------------------------------------------------------- */

static struct tg_json *part_of(const struct tg_item *item)
{
    return item->kind == TG_ITEM_TEXT ? tg_response_text_part(span_of(&item->text))
                                      : tg_response_refusal_part(span_of(&item->text));
}

/* A message that has just been added has no part yet. */
static struct tg_json *message_json(const struct tg_item *item, const char *status, bool is_new)
{
    struct tg_json *made = tg_json_new_object(), *content = tg_json_new_array();

    tg_json_set_str(made, "id", item->id);
    tg_json_set_str(made, "type", "message");
    tg_json_set_str(made, "status", status);
    tg_json_set_str(made, "role", "assistant");
    if (!is_new)
        tg_json_push(content, part_of(item));
    tg_json_set(made, "content", content);
    return made;
}

static struct tg_json *reasoning_json(const struct tg_item *item)
{
    struct tg_json *made = tg_json_new_object(), *summary = tg_json_new_array();

    tg_json_set_str(made, "id", item->id);
    tg_json_set_str(made, "type", "reasoning");
    if (item->text.len > 0)
        tg_json_push(summary, tg_response_summary(span_of(&item->text)));
    tg_json_set(made, "summary", summary);
    if (item->encrypted.len > 0)
        tg_json_set_span(made, "encrypted_content", span_of(&item->encrypted));
    else
        tg_json_set_null(made, "encrypted_content");
    return made;
}

static struct tg_json *call_json(const struct tg_item *item, const char *status)
{
    bool custom = item->kind == TG_ITEM_CUSTOM;
    struct tg_json *made = tg_json_new_object();

    tg_json_set_str(made, "id", item->id);
    tg_json_set_str(made, "type", custom ? "custom_tool_call" : "function_call");
    tg_json_set_str(made, "status", status);
    tg_json_set_copy(made, "call_id", item->call, "call_id");
    tg_json_set_copy(made, "name", item->call, "name");
    tg_json_set_copy(made, "namespace", item->call, "namespace");
    if (custom && !item->closed)
        tg_json_set_str(made, "input", "");
    else
        tg_json_set_span(made, custom ? "input" : "arguments", span_of(&item->text));
    return made;
}

struct tg_json *tg_items_json(const struct tg_item *item, const char *status)
{
    switch (item->kind) {
    case TG_ITEM_TEXT:
    case TG_ITEM_REFUSAL:
        return message_json(item, status, false);
    case TG_ITEM_REASONING:
        return reasoning_json(item);
    case TG_ITEM_CALL:
    case TG_ITEM_CUSTOM:
        break;
    }
    return call_json(item, status);
}

/* --- events about one item ------------------------------------------------------------------ */

/* An event that says where it belongs. */
static struct tg_json *event_at(struct tg_items *state, const char *type, size_t at)
{
    struct tg_json *event = tg_items_event(state, type);

    tg_json_set_str(event, "item_id", state->items[at].id);
    tg_json_set_int(event, "output_index", (int64_t)at);
    return event;
}

static void give_item(struct tg_items *state, struct tg_hop_out *out, const char *type, size_t at,
                      struct tg_json *item)
{
    struct tg_json *event = tg_items_event(state, type);

    tg_json_set_int(event, "output_index", (int64_t)at);
    tg_json_set(event, "item", item);
    tg_items_give(out, event);
}

static void give_done(struct tg_items *state, struct tg_hop_out *out, size_t at)
{
    give_item(state, out, "response.output_item.done", at,
              tg_items_json(&state->items[at], "completed"));
}

static struct tg_item *new_item(struct tg_items *state, enum tg_item_kind kind, const char *prefix)
{
    struct tg_buf id;

    if (state->count == state->cap) {
        state->cap = state->cap != 0 ? 2 * state->cap : 4;
        state->items = tg_realloc(state->items, state->cap * sizeof *state->items);
    }
    tg_buf_init(&id, 0);
    tg_buf_printf(&id, "%s_%.*s_%zu", prefix, (int)TG_MIN(state->core.len, 200), state->core.ptr,
                  state->count);
    state->items[state->count] = (struct tg_item){.kind = kind, .id = tg_strdup(tg_buf_text(&id))};
    tg_buf_init(&state->items[state->count].text, 0);
    tg_buf_init(&state->items[state->count].encrypted, 0);
    tg_buf_done(&id);
    return &state->items[state->count++];
}

/* --- messages ------------------------------------------------------------------------------- */

static void set_part_place(struct tg_json *event, enum tg_item_kind kind)
{
    tg_json_set_int(event, kind == TG_ITEM_REASONING ? "summary_index" : "content_index", 0);
}

static void give_part(struct tg_items *state, struct tg_hop_out *out, const char *type, size_t at,
                      struct tg_json *part)
{
    struct tg_json *event = event_at(state, type, at);

    set_part_place(event, state->items[at].kind);
    tg_json_set(event, "part", part);
    tg_items_give(out, event);
}

/* <key>: "delta", "text" or "refusal". */
static struct tg_json *text_event(struct tg_items *state, const char *type, size_t at,
                                  const char *key, struct tg_span text)
{
    struct tg_json *event = event_at(state, type, at);

    set_part_place(event, state->items[at].kind);
    tg_json_set_span(event, key, text);
    if (state->items[at].kind == TG_ITEM_TEXT)
        tg_json_set(event, "logprobs", tg_json_new_array());
    return event;
}

static void open_message(struct tg_items *state, struct tg_hop_out *out, enum tg_item_kind kind)
{
    struct tg_item *item = new_item(state, kind, "msg");

    state->open = state->count;
    give_item(state, out, "response.output_item.added", state->count - 1,
              message_json(item, "in_progress", true));
    give_part(state, out, "response.content_part.added", state->count - 1, part_of(item));
}

void tg_items_text(struct tg_items *state, struct tg_hop_out *out, enum tg_item_kind kind,
                   struct tg_span text)
{
    if (state->open > 0 && state->items[state->open - 1].kind != kind)
        tg_items_close(state, out);
    if (state->open == 0)
        open_message(state, out, kind);
    tg_buf_add(&state->items[state->open - 1].text, text.ptr, text.len);
    tg_items_give(out, text_event(state,
                                  kind == TG_ITEM_TEXT ? "response.output_text.delta"
                                                       : "response.refusal.delta",
                                  state->open - 1, "delta", text));
}

static void close_message(struct tg_items *state, struct tg_hop_out *out, size_t at)
{
    const struct tg_item *item = &state->items[at];
    bool is_text = item->kind == TG_ITEM_TEXT;

    tg_items_give(
        out, text_event(state, is_text ? "response.output_text.done" : "response.refusal.done", at,
                        is_text ? "text" : "refusal", span_of(&item->text)));
    give_part(state, out, "response.content_part.done", at, part_of(item));
    give_done(state, out, at);
}

/* --- reasoning ------------------------------------------------------------------------------ */

void tg_items_reasoning(struct tg_items *state, struct tg_hop_out *out, struct tg_span text)
{
    struct tg_item *item;
    size_t at;

    if (state->open > 0 && state->items[state->open - 1].kind != TG_ITEM_REASONING)
        tg_items_close(state, out);
    if (state->open == 0) {
        item = new_item(state, TG_ITEM_REASONING, "rs");
        state->open = state->count;
        give_item(state, out, "response.output_item.added", state->count - 1,
                  reasoning_json(item));
    }
    if (text.len == 0)
        return;
    at = state->open - 1;
    item = &state->items[at];
    if (item->text.len == 0)
        give_part(state, out, "response.reasoning_summary_part.added", at,
                  tg_response_summary((struct tg_span){"", 0}));
    tg_buf_add(&item->text, text.ptr, text.len);
    tg_items_give(out,
                  text_event(state, "response.reasoning_summary_text.delta", at, "delta", text));
}

static void close_reasoning(struct tg_items *state, struct tg_hop_out *out, size_t at)
{
    const struct tg_item *item = &state->items[at];

    if (item->text.len > 0) {
        tg_items_give(out, text_event(state, "response.reasoning_summary_text.done", at, "text",
                                      span_of(&item->text)));
        give_part(state, out, "response.reasoning_summary_part.done", at,
                  tg_response_summary(span_of(&item->text)));
    }
    give_done(state, out, at);
}

static void set_encrypted(struct tg_items *state, struct tg_hop_out *out, struct tg_span text)
{
    struct tg_buf *to;

    tg_items_reasoning(state, out, (struct tg_span){"", 0});
    to = &state->items[state->open - 1].encrypted;
    tg_buf_reset(to);
    tg_buf_add(to, text.ptr, text.len);
    tg_items_close(state, out);
}

void tg_items_detail(struct tg_items *state, struct tg_hop_out *out, const struct tg_json *detail)
{
    struct tg_buf text;

    /* A signature of Gemini's behind the text has no item that it could belong to. */
    if (tg_hub_is(detail, "format", "google-gemini-v1") && state->open > 0 &&
        state->items[state->open - 1].kind != TG_ITEM_REASONING) {
        tg_diagnose(state->hop.context->diagnostics, TG_SEVERITY_INFO, "REASONING_DROPPED",
                    "response", "");
        return;
    }
    tg_buf_init(&text, 0);
    if (tg_response_encrypted(detail, &text))
        set_encrypted(state, out, span_of(&text));
    tg_buf_done(&text);
}

/* --- closing -------------------------------------------------------------------------------- */

void tg_items_close(struct tg_items *state, struct tg_hop_out *out)
{
    size_t at = state->open - 1;

    if (state->open == 0)
        return;
    state->open = 0;
    state->items[at].closed = true;
    if (state->items[at].kind == TG_ITEM_REASONING)
        close_reasoning(state, out, at);
    else
        close_message(state, out, at);
}

static void close_custom(struct tg_items *state, struct tg_hop_out *out, size_t at)
{
    struct tg_item *item = &state->items[at];
    struct tg_json *event;
    struct tg_buf input;

    tg_buf_init(&input, 0);
    tg_response_unwrap_input(span_of(&item->text), &input);
    tg_buf_done(&item->text);
    item->text = input;
    event = event_at(state, "response.custom_tool_call_input.delta", at);
    tg_json_set_span(event, "delta", span_of(&item->text));
    tg_items_give(out, event);
    event = event_at(state, "response.custom_tool_call_input.done", at);
    tg_json_set_span(event, "input", span_of(&item->text));
    tg_items_give(out, event);
    give_done(state, out, at);
}

static void close_call(struct tg_items *state, struct tg_hop_out *out, size_t at)
{
    struct tg_item *item = &state->items[at];
    struct tg_json *event;

    item->closed = true;
    if (item->kind == TG_ITEM_CUSTOM) {
        close_custom(state, out, at);
        return;
    }
    if (item->text.len == 0)
        tg_buf_str(&item->text, "{}"); /* clients parse it */
    event = event_at(state, "response.function_call_arguments.done", at);
    tg_json_set_copy(event, "name", item->call, "name");
    tg_json_set_span(event, "arguments", span_of(&item->text));
    tg_items_give(out, event);
    give_done(state, out, at);
}

static bool is_call(const struct tg_item *item)
{
    return item->kind == TG_ITEM_CALL || item->kind == TG_ITEM_CUSTOM;
}

static void close_calls(struct tg_items *state, struct tg_hop_out *out, bool all)
{
    for (size_t i = 0; i < state->count; i++) {
        const struct tg_item *item = &state->items[i];

        if (is_call(item) && !item->closed && (all || tg_balance_is_complete(&item->balance)))
            close_call(state, out, i);
    }
}

void tg_items_close_all(struct tg_items *state, struct tg_hop_out *out)
{
    tg_items_close(state, out);
    close_calls(state, out, true);
}

/* --- calls ---------------------------------------------------------------------------------- */

static struct tg_json *call_names(const struct tg_items *state, const struct tg_json *entry,
                                  struct tg_span name, bool *ret_custom)
{
    struct tg_json *made = tg_json_new_object();
    struct tg_span id = tg_hub_span(entry, "id");

    if (id.len > 0)
        tg_json_set_span(made, "call_id", id);
    else
        tg_json_set_str(made, "call_id",
                        tg_arena_printf(state->hop.context->arena, "call_%.*s_%lld",
                                        (int)TG_MIN(state->core.len, 200), state->core.ptr,
                                        (long long)tg_hub_int(entry, "index", 0)));
    *ret_custom = tg_response_set_name(state->hop.context, name, made);
    return made;
}

static void give_signature(struct tg_items *state, struct tg_hop_out *out,
                           const struct tg_json *entry)
{
    const struct tg_json *extra, *google;
    struct tg_span signature;
    struct tg_buf text;

    if (tg_json_get_object(entry, "extra_content", &extra) != TG_JSON_GOT ||
        tg_json_get_object(extra, "google", &google) != TG_JSON_GOT ||
        !tg_hub_text(google, "thought_signature", &signature))
        return;
    tg_items_close(state, out);
    tg_buf_init(&text, 0);
    tg_envelope_wrap(TG_ORIGIN_GEMINI, signature, &text);
    set_encrypted(state, out, span_of(&text));
    tg_buf_done(&text);
}

static size_t open_call(struct tg_items *state, struct tg_hop_out *out,
                        const struct tg_json *entry, struct tg_span name)
{
    struct tg_item *item;
    struct tg_json *call;
    bool custom;

    give_signature(state, out, entry);
    tg_items_close(state, out);
    close_calls(state, out, false);
    call = call_names(state, entry, name, &custom);
    item = new_item(state, custom ? TG_ITEM_CUSTOM : TG_ITEM_CALL, custom ? "ctc" : "fc");
    item->call = call;
    item->call_index = tg_hub_int(entry, "index", 0);
    give_item(state, out, "response.output_item.added", state->count - 1,
              call_json(item, "in_progress"));
    return state->count - 1;
}

static size_t find_call(const struct tg_items *state, int64_t index)
{
    size_t at = 0;

    while (at < state->count &&
           !(is_call(&state->items[at]) && state->items[at].call_index == index))
        at++;
    return at;
}

void tg_items_call(struct tg_items *state, struct tg_hop_out *out, const struct tg_json *entry)
{
    size_t at = find_call(state, tg_hub_int(entry, "index", 0));
    const struct tg_json *function = NULL;
    struct tg_span text = {"", 0}, name = {"", 0};
    struct tg_json *event;

    if (tg_json_get_object(entry, "function", &function) == TG_JSON_GOT) {
        text = tg_hub_span(function, "arguments");
        name = tg_hub_span(function, "name");
    }
    if (at == state->count)
        at = open_call(state, out, entry, name);
    if (text.len == 0 || state->items[at].closed)
        return;
    tg_balance_add(&state->items[at].balance, text);
    tg_buf_add(&state->items[at].text, text.ptr, text.len);
    if (state->items[at].kind == TG_ITEM_CUSTOM)
        return;
    event = event_at(state, "response.function_call_arguments.delta", at);
    tg_json_set_span(event, "delta", text);
    tg_items_give(out, event);
}

void tg_items_free(struct tg_items *state)
{
    for (size_t i = 0; i < state->count; i++) {
        free(state->items[i].id);
        tg_buf_done(&state->items[i].text);
        tg_buf_done(&state->items[i].encrypted);
        tg_json_free(state->items[i].call);
    }
    free(state->items);
}
