/* A whole answer of Chat as one of Messages (PROTOCOLS C1). */
#include "fcgi-app/convert/citations.h"
#include "fcgi-app/convert/chat_read.h"
#include "fcgi-app/convert/envelope.h"
#include "fcgi-app/convert/hub.h"
#include "fcgi-app/convert/toolset.h"

#include <stdio.h>
#include <string.h>

/* Takes <block>. */
static void push_block(struct tg_json *content, const char *type, struct tg_json *block)
{
    tg_json_set_str(block, "type", type);
    tg_json_push(content, block);
}

static struct tg_json *block_of(const char *type)
{
    struct tg_json *block = tg_json_new_object();

    tg_json_set_str(block, "type", type);
    return block;
}

/* --- reasoning ------------------------------------------------------------------------------ */

static void set_wrapped(struct tg_json *block, const char *key, enum tg_origin origin,
                        struct tg_span payload)
{
    struct tg_buf text;

    tg_buf_init(&text, 0);
    tg_envelope_wrap(origin, payload, &text);
    tg_json_set_span(block, key, (struct tg_span){text.data, text.len});
    tg_buf_done(&text);
}

static void push_thinking(struct tg_json *content, struct tg_span text, struct tg_span signature)
{
    struct tg_json *block = block_of("thinking");

    tg_json_set_span(block, "thinking", text);
    if (signature.len > 0)
        tg_json_set_span(block, "signature", signature);
    else
        set_wrapped(block, "signature", TG_ORIGIN_NONE, (struct tg_span){"", 0});
    tg_json_push(content, block);
}

static void push_redacted(struct tg_json *content, struct tg_span data)
{
    struct tg_json *block = tg_json_new_object();

    tg_json_set_span(block, "data", data);
    push_block(content, "redacted_thinking", block);
}

static void push_wrapped(struct tg_json *content, enum tg_origin origin, struct tg_span payload)
{
    struct tg_json *block = block_of("redacted_thinking");

    set_wrapped(block, "data", origin, payload);
    tg_json_push(content, block);
}

static void push_openai(struct tg_json *content, const struct tg_json *detail)
{
    struct tg_json *payload = tg_json_new_object();
    struct tg_buf text;

    tg_json_set_copy(payload, "id", detail, "id");
    tg_json_set_copy(payload, "e", detail, "data");
    tg_buf_init(&text, 0);
    tg_json_print(payload, &text);
    push_wrapped(content, TG_ORIGIN_OPENAI, (struct tg_span){text.data, text.len});
    tg_buf_done(&text);
    tg_json_free(payload);
}

static void push_detail(struct tg_json *content, const struct tg_json *detail)
{
    struct tg_span data = tg_hub_span(detail, "data");

    if (tg_hub_is(detail, "format", "anthropic-claude-v1")) {
        if (tg_hub_is(detail, "type", "reasoning.encrypted"))
            push_redacted(content, data);
        else if (tg_hub_span(detail, "signature").len > 0)
            push_thinking(content, tg_hub_span(detail, "text"),
                          tg_hub_span(detail, "signature"));
    } else if (tg_hub_is(detail, "format", "google-gemini-v1") && data.len > 0) {
        push_wrapped(content, TG_ORIGIN_GEMINI, data);
    } else if (tg_hub_is(detail, "format", "openai-responses-v1") && data.len > 0) {
        push_openai(content, detail);
    }
}

/* A block signed by Claude holds its own text; other reasoning is one block of the whole text. */
static bool has_signed_text(const struct tg_json *details)
{
    for (size_t i = 0; i < tg_json_array_len(details); i++)
        if (tg_hub_is(tg_json_array_at(details, i), "type", "reasoning.text"))
            return true;
    return false;
}

static void push_reasoning(struct tg_json *content, const struct tg_json *message)
{
    const struct tg_json *details = NULL;
    struct tg_span text = tg_hub_span(message, "reasoning_content");

    if (text.len == 0)
        text = tg_hub_span(message, "reasoning");
    if (tg_json_get_array(message, "reasoning_details", &details) != TG_JSON_GOT)
        details = NULL;
    if (text.len > 0 && (details == NULL || !has_signed_text(details)))
        push_thinking(content, text, (struct tg_span){"", 0});
    for (size_t i = 0; details != NULL && i < tg_json_array_len(details); i++)
        push_detail(content, tg_json_array_at(details, i));
}

/* --- text and calls ------------------------------------------------------------------------- */

static void push_text(struct tg_json *content, struct tg_span text)
{
    struct tg_json *block;

    if (text.len == 0)
        return;
    block = block_of("text");
    tg_json_set_span(block, "text", text);
    tg_json_push(content, block);
}

static void push_signature(struct tg_json *content, const struct tg_json *call)
{
    const struct tg_json *extra, *google;
    struct tg_span signature;

    if (tg_json_get_object(call, "extra_content", &extra) == TG_JSON_GOT &&
        tg_json_get_object(extra, "google", &google) == TG_JSON_GOT &&
        tg_hub_text(google, "thought_signature", &signature))
        push_wrapped(content, TG_ORIGIN_GEMINI, signature);
}

static void push_call(const struct tg_convert *context, struct tg_json *content,
                      const struct tg_json *answer, const struct tg_json *call, size_t at)
{
    struct tg_json *block = block_of("tool_use");
    const struct tg_json *function = NULL;
    struct tg_span id = tg_hub_span(call, "id");

    push_signature(content, call);
    if (id.len > 0)
        tg_json_set_span(block, "id", id);
    else
        tg_json_set_str(block, "id",
                        tg_arena_printf(context->arena, "%s_0_%zu",
                                        tg_id_make(context, "call_", tg_hub_span(answer, "id")),
                                        at));
    if (tg_json_get_object(call, "function", &function) != TG_JSON_GOT)
        function = call;
    tg_json_set_span(block, "name",
                     tg_toolset_name(context, TG_PROTOCOL_MESSAGES,
                                     tg_hub_span(function, "name")));
    tg_json_set(block, "input",
                tg_hub_arguments(context, tg_hub_span(function, "arguments"), "response"));
    tg_json_push(content, block);
}

static struct tg_json *content_of(const struct tg_convert *context, const struct tg_json *answer,
                                  const struct tg_json *message)
{
    struct tg_json *content = tg_json_new_array();
    const struct tg_json *calls;

    push_reasoning(content, message);
    push_text(content, tg_hub_span(message, "content"));
    if (tg_hub_span(message, "content").len > 0)
        tg_citations_to_messages(context, message,
                                 tg_json_element(content, tg_json_array_len(content) - 1));
    push_text(content, tg_hub_span(message, "refusal"));
    if (tg_json_get_array(message, "tool_calls", &calls) == TG_JSON_GOT)
        for (size_t i = 0; i < tg_json_array_len(calls); i++)
            push_call(context, content, answer, tg_json_array_at(calls, i), i);
    return content;
}

/* --- the message ---------------------------------------------------------------------------- */

static bool has_calls(const struct tg_json *message)
{
    const struct tg_json *calls;

    return tg_json_get_array(message, "tool_calls", &calls) == TG_JSON_GOT &&
           tg_json_array_len(calls) > 0;
}

static void set_stop(struct tg_json *made, const struct tg_json *choice,
                     const struct tg_json *message)
{
    const struct tg_stop_facts facts = {
        .finish = tg_hub_span(choice, "finish_reason"),
        .stop_sequence = tg_hub_span(choice, "x_stop_sequence"),
        .refusal = tg_hub_span(message, "refusal"),
        .has_calls = has_calls(message),
    };

    tg_stop_set(&facts, made);
}

enum tg_class tg_chat_to_messages_answer(const struct tg_convert *context,
                                         const struct tg_json *answer, struct tg_json **ret,
                                         struct tg_error *err)
{
    const struct tg_json *choice, *message, *usage, *error;
    struct tg_hub_usage figures = {0};
    struct tg_json *made;

    if (tg_json_get(answer, "error", &error) == TG_JSON_GOT)
        return tg_chat_error(answer, err);
    choice = tg_chat_only_choice(context, answer);
    if (choice == NULL || tg_json_get_object(choice, "message", &message) != TG_JSON_GOT)
        return tg_fail(err, TG_CLASS_TRANSPORT, "upstream_invalid",
                       "the answer is no completion: it has no choices");
    made = block_of("message");
    tg_json_set_str(made, "id", tg_id_make(context, "msg_", tg_hub_span(answer, "id")));
    tg_json_set_str(made, "role", "assistant");
    tg_hub_set_model(context, made, answer);
    tg_json_set(made, "content", content_of(context, answer, message));
    set_stop(made, choice, message);
    if (tg_json_get_object(answer, "usage", &usage) == TG_JSON_GOT)
        figures = tg_usage_of_chat(usage);
    else
        tg_diagnose(context->diagnostics, TG_SEVERITY_WARN, "USAGE_MISSING", "response", "");
    tg_json_set(made, "usage", tg_usage_to_messages(&figures));
    *ret = made;
    return TG_OK;
}
