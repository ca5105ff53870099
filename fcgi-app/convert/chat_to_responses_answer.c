/* A whole answer of Chat as one of Responses (PROTOCOLS C1). */
#include "fcgi-app/convert/envelope.h"
#include "fcgi-app/convert/chat_read.h"
#include "fcgi-app/convert/responses.h"

#include <string.h>

struct making {
    const struct tg_convert *context;
    struct tg_json *output;
    struct tg_span core; /* of the response's id */
};

static struct tg_span span_of(const struct tg_buf *buf)
{
    return (struct tg_span){tg_buf_text(buf), buf->len};
}

/* {"id":"<prefix>_<core>_<place>","type":…}, pushed: it is the output's. */
static struct tg_json *push_item(struct making *making, const char *prefix, const char *type)
{
    struct tg_json *item = tg_json_new_object();

    tg_json_set_str(item, "id",
                    tg_arena_printf(making->context->arena, "%s_%.*s_%zu", prefix,
                                    (int)TG_MIN(making->core.len, 200), making->core.ptr,
                                    tg_json_array_len(making->output)));
    tg_json_set_str(item, "type", type);
    tg_json_push(making->output, item);
    return item;
}

/* --- reasoning ------------------------------------------------------------------------------ */

/* <encrypted> NULL: none. */
static void push_reasoning_item(struct making *making, struct tg_span text,
                                const struct tg_buf *encrypted)
{
    struct tg_json *item = push_item(making, "rs", "reasoning"), *summary = tg_json_new_array();

    if (text.len > 0)
        tg_json_push(summary, tg_response_summary(text));
    tg_json_set(item, "summary", summary);
    if (encrypted != NULL)
        tg_json_set_span(item, "encrypted_content", span_of(encrypted));
    else
        tg_json_set_null(item, "encrypted_content");
}

static bool has_signed_text(const struct tg_json *details)
{
    for (size_t i = 0; i < tg_json_array_len(details); i++)
        if (tg_hub_is(tg_json_array_at(details, i), "type", "reasoning.text") &&
            tg_hub_span(tg_json_array_at(details, i), "text").len > 0)
            return true;
    return false;
}

/* Each payload has an item; the text belongs to the first, unless entries bring their own. */
static void push_reasoning(struct making *making, const struct tg_json *message)
{
    struct tg_span text = tg_hub_span(message, "reasoning_content");
    const struct tg_json *details;
    bool own_texts;
    struct tg_buf encrypted;

    if (text.len == 0)
        text = tg_hub_span(message, "reasoning");
    tg_buf_init(&encrypted, 0);
    if (tg_json_get_array(message, "reasoning_details", &details) == TG_JSON_GOT) {
        own_texts = has_signed_text(details);
        for (size_t i = 0; i < tg_json_array_len(details); i++) {
            const struct tg_json *detail = tg_json_array_at(details, i);

            tg_buf_reset(&encrypted);
            if (!tg_response_encrypted(detail, &encrypted))
                continue;
            push_reasoning_item(making, own_texts ? tg_hub_span(detail, "text") : text,
                                &encrypted);
            text.len = 0;
        }
    }
    if (text.len > 0)
        push_reasoning_item(making, text, NULL);
    tg_buf_done(&encrypted);
}

/* --- text and calls ------------------------------------------------------------------------- */

/* Takes <part>. */
static void push_message(struct making *making, struct tg_json *part)
{
    struct tg_json *item = push_item(making, "msg", "message"), *content = tg_json_new_array();

    tg_json_set_str(item, "status", "completed");
    tg_json_set_str(item, "role", "assistant");
    tg_json_push(content, part);
    tg_json_set(item, "content", content);
}

/* {"type":"url_citation","url_citation":{…}} is flat here. */
static void set_annotations(const struct tg_json *message, struct tg_json *part)
{
    const struct tg_json *list, *inner;
    struct tg_json *made;

    if (tg_json_get_array(message, "annotations", &list) != TG_JSON_GOT)
        return;
    made = tg_json_new_array();
    for (size_t i = 0; i < tg_json_array_len(list); i++)
        if (tg_json_get_object(tg_json_array_at(list, i), "url_citation", &inner) ==
            TG_JSON_GOT) {
            struct tg_json *one = tg_json_copy(inner);

            tg_json_set_str(one, "type", "url_citation");
            tg_json_push(made, one);
        }
    tg_json_set(part, "annotations", made);
}

static void push_text(struct making *making, const struct tg_json *choice,
                      const struct tg_json *message)
{
    const struct tg_json *logprobs, *list;
    struct tg_json *part;
    struct tg_span text;

    if (!tg_hub_text(message, "content", &text))
        return;
    part = tg_response_text_part(text);
    set_annotations(message, part);
    if (tg_json_get_object(choice, "logprobs", &logprobs) == TG_JSON_GOT &&
        tg_json_get_array(logprobs, "content", &list) == TG_JSON_GOT)
        tg_json_set(part, "logprobs", tg_json_copy(list));
    push_message(making, part);
}

static void push_signature(struct making *making, const struct tg_json *call)
{
    const struct tg_json *extra, *google;
    struct tg_span signature;
    struct tg_buf text;

    if (tg_json_get_object(call, "extra_content", &extra) != TG_JSON_GOT ||
        tg_json_get_object(extra, "google", &google) != TG_JSON_GOT ||
        !tg_hub_text(google, "thought_signature", &signature))
        return;
    tg_buf_init(&text, 0);
    tg_envelope_wrap(TG_ORIGIN_GEMINI, signature, &text);
    push_reasoning_item(making, (struct tg_span){"", 0}, &text);
    tg_buf_done(&text);
}

static void set_input(struct tg_json *item, struct tg_span arguments)
{
    struct tg_buf input;

    tg_buf_init(&input, 0);
    tg_response_unwrap_input(arguments, &input);
    tg_json_set_span(item, "input", span_of(&input));
    tg_buf_done(&input);
}

static void push_call(struct making *making, const struct tg_json *call, size_t at)
{
    struct tg_json *names = tg_json_new_object(), *item;
    const struct tg_json *function = NULL;
    struct tg_span id = tg_hub_span(call, "id"), arguments;
    bool custom;

    push_signature(making, call);
    if (tg_json_get_object(call, "function", &function) != TG_JSON_GOT)
        function = call;
    custom = tg_response_set_name(making->context, tg_hub_span(function, "name"), names);
    arguments = tg_hub_span(function, "arguments");
    item = custom ? push_item(making, "ctc", "custom_tool_call")
                  : push_item(making, "fc", "function_call");
    tg_json_set_str(item, "status", "completed");
    if (id.len > 0)
        tg_json_set_span(item, "call_id", id);
    else
        tg_json_set_str(item, "call_id",
                        tg_arena_printf(making->context->arena, "call_%.*s_%zu",
                                        (int)TG_MIN(making->core.len, 200), making->core.ptr,
                                        at));
    tg_json_set_copy(item, "name", names, "name");
    tg_json_set_copy(item, "namespace", names, "namespace");
    if (custom)
        set_input(item, arguments);
    else
        tg_json_set_span(item, "arguments",
                         arguments.len > 0 ? arguments : (struct tg_span){"{}", 2});
    tg_json_free(names);
}

static struct tg_json *output_of(struct making *making, const struct tg_json *choice,
                                 const struct tg_json *message)
{
    const struct tg_json *calls;
    struct tg_span text;

    making->output = tg_json_new_array();
    push_reasoning(making, message);
    push_text(making, choice, message);
    if (tg_hub_text(message, "refusal", &text))
        push_message(making, tg_response_refusal_part(text));
    if (tg_json_get_array(message, "tool_calls", &calls) == TG_JSON_GOT)
        for (size_t i = 0; i < tg_json_array_len(calls); i++)
            push_call(making, tg_json_array_at(calls, i), i);
    return making->output;
}

/* --- the response --------------------------------------------------------------------------- */

static void set_usage(const struct tg_convert *context, const struct tg_json *answer,
                      struct tg_json *response)
{
    const struct tg_json *usage;
    struct tg_hub_usage figures;

    if (tg_json_get_object(answer, "usage", &usage) != TG_JSON_GOT) {
        tg_json_set_null(response, "usage");
        tg_diagnose(context->diagnostics, TG_SEVERITY_WARN, "USAGE_MISSING", "response", "");
        return;
    }
    figures = tg_usage_of_chat(usage);
    tg_json_set(response, "usage", tg_usage_to_responses(&figures));
}

enum tg_class tg_chat_to_responses_answer(const struct tg_convert *context,
                                          const struct tg_json *answer, struct tg_json **ret,
                                          struct tg_error *err)
{
    const struct tg_json *choice, *message, *error;
    struct tg_span model = tg_hub_span(answer, "model");
    struct making making = {.context = context};
    struct tg_chunk_head head;
    struct tg_json *made;
    const char *reason;

    if (tg_json_get(answer, "error", &error) == TG_JSON_GOT)
        return tg_chat_error(answer, err);
    choice = tg_chat_only_choice(context, answer);
    if (choice == NULL || tg_json_get_object(choice, "message", &message) != TG_JSON_GOT)
        return tg_fail(err, TG_CLASS_TRANSPORT, "upstream_invalid",
                       "the answer is no completion: it has no choices");
    head = (struct tg_chunk_head){
        .id = tg_id_make(context, "resp_", tg_hub_span(answer, "id")),
        .model = context->client_model != NULL
                     ? context->client_model
                     : tg_arena_strndup(context->arena, model.ptr, model.len),
        .created_unix_s = tg_hub_int(answer, "created", context->now_unix_s),
    };
    making.core = tg_id_core((struct tg_span){head.id, strlen(head.id)});
    reason = tg_response_incomplete(tg_hub_span(choice, "finish_reason"));
    made = tg_response_new(context, &head, reason != NULL ? "incomplete" : "completed");
    tg_response_set_incomplete(made, reason);
    tg_json_set(made, "output", output_of(&making, choice, message));
    set_usage(context, answer, made);
    tg_json_set_copy(made, "service_tier", answer, "service_tier");
    *ret = made;
    return TG_OK;
}
