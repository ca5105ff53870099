/* A whole answer of Chat as one of Gemini (PROTOCOLS C1). */
#include "fcgi-app/convert/chat_to_gemini.h"
#include "fcgi-app/convert/chat_read.h"
#include "fcgi-app/convert/gemini_hub.h"
#include "fcgi-app/convert/gemini_logprobs.h"
#include "fcgi-app/convert/toolset.h"

static struct tg_json *text_part(struct tg_span text)
{
    struct tg_json *part = tg_json_new_object();

    tg_json_set_span(part, "text", text);
    return part;
}

/* --- parts ---------------------------------------------------------------------------------- */

static void push_thoughts(const struct tg_convert *context, const struct tg_json *message,
                          struct tg_json *parts)
{
    struct tg_span text = tg_hub_span(message, "reasoning_content");
    struct tg_json *part;

    if (text.len == 0)
        text = tg_hub_span(message, "reasoning");
    if (text.len == 0 || !context->include_thoughts)
        return;
    part = text_part(text);
    tg_json_set_bool(part, "thought", true);
    tg_json_push(parts, part);
}

/* Gemini's own signatures stand behind the text, those of others behind the thoughts. */
static void push_details(const struct tg_convert *context, const struct tg_json *message,
                         bool own, struct tg_json *parts)
{
    const struct tg_json *details;

    if (tg_json_get_array(message, "reasoning_details", &details) != TG_JSON_GOT)
        return;
    for (size_t i = 0; i < tg_json_array_len(details); i++) {
        const struct tg_json *detail = tg_json_array_at(details, i);
        struct tg_json *part;

        if (tg_hub_is(detail, "format", "google-gemini-v1") != own)
            continue;
        part = tg_gemini_detail_part(context, detail);
        if (part != NULL)
            tg_json_push(parts, part);
    }
}

static void push_text(struct tg_span text, struct tg_json *parts)
{
    if (text.len > 0)
        tg_json_push(parts, text_part(text));
}

static void push_call(const struct tg_convert *context, const struct tg_json *call,
                      const char *otherwise, struct tg_json *parts)
{
    struct tg_gemini_call facts = {.signature = tg_gemini_signature_of(call)};
    struct tg_span id = tg_hub_span(call, "id");
    const struct tg_json *function;

    facts.id = id.len > 0 ? tg_arena_strndup(context->arena, id.ptr, id.len) : otherwise;
    if (tg_json_get_object(call, "function", &function) != TG_JSON_GOT)
        function = call;
    facts.name = tg_toolset_name(context, TG_PROTOCOL_GEMINI, tg_hub_span(function, "name"));
    facts.arguments = tg_hub_span(function, "arguments");
    tg_json_push(parts, tg_gemini_call_part(context, &facts));
}

static struct tg_json *parts_of(const struct tg_convert *context, const struct tg_json *answer,
                                const struct tg_json *message, int64_t index)
{
    struct tg_json *parts = tg_json_new_array();
    const struct tg_json *calls;

    push_thoughts(context, message, parts);
    push_details(context, message, false, parts);
    push_text(tg_hub_span(message, "content"), parts);
    push_text(tg_hub_span(message, "refusal"), parts);
    push_details(context, message, true, parts);
    if (tg_json_get_array(message, "tool_calls", &calls) == TG_JSON_GOT)
        for (size_t i = 0; i < tg_json_array_len(calls); i++)
            push_call(context, tg_json_array_at(calls, i),
                      tg_arena_printf(context->arena, "%s_%lld_%zu",
                                      tg_id_make(context, "call_", tg_hub_span(answer, "id")),
                                      (long long)index, i),
                      parts);
    return parts;
}

/* --- candidates ----------------------------------------------------------------------------- */

/* One that was stopped before it said anything has no content, as with Gemini itself. */
static struct tg_json *candidate_of(const struct tg_convert *context, const struct tg_json *answer,
                                    const struct tg_json *choice, const struct tg_json *message)
{
    struct tg_json *made = tg_json_new_object(), *content;
    int64_t index = tg_hub_int(choice, "index", 0);
    struct tg_json *parts = parts_of(context, answer, message, index);
    const char *finish = tg_finish_to_gemini(tg_hub_span(choice, "finish_reason"),
                                             tg_hub_span(message, "refusal").len > 0);
    const struct tg_json *logprobs;

    if (tg_json_array_len(parts) == 0 && tg_hub_is(choice, "finish_reason", "content_filter")) {
        tg_json_free(parts);
    } else {
        if (tg_json_array_len(parts) == 0)
            tg_json_push(parts, text_part((struct tg_span){"", 0}));
        content = tg_json_new_object();
        tg_json_set_str(content, "role", "model");
        tg_json_set(content, "parts", parts);
        tg_json_set(made, "content", content);
    }
    tg_json_set_str(made, "finishReason", finish);
    tg_json_set_int(made, "index", index);
    if (tg_json_get_object(choice, "logprobs", &logprobs) == TG_JSON_GOT)
        tg_logprobs_to_gemini(logprobs, made);
    return made;
}

static struct tg_json *candidates_of(const struct tg_convert *context,
                                     const struct tg_json *answer)
{
    struct tg_json *list = tg_json_new_array();
    const struct tg_json *choices, *message;

    if (tg_json_get_array(answer, "choices", &choices) != TG_JSON_GOT)
        return list;
    for (size_t i = 0; i < tg_json_array_len(choices); i++) {
        const struct tg_json *choice = tg_json_array_at(choices, i);

        if (tg_hub_int(choice, "index", 0) > 0 && !context->several)
            tg_diagnose(context->diagnostics, TG_SEVERITY_WARN, "CHOICES_DROPPED", "response", "");
        else if (tg_json_get_object(choice, "message", &message) == TG_JSON_GOT)
            tg_json_push(list, candidate_of(context, answer, choice, message));
    }
    return list;
}

enum tg_class tg_chat_to_gemini_answer(const struct tg_convert *context,
                                       const struct tg_json *answer, struct tg_json **ret,
                                       struct tg_error *err)
{
    struct tg_json *made, *candidates;
    const struct tg_json *usage, *error;
    struct tg_span model = tg_hub_span(answer, "model");
    struct tg_hub_usage figures;

    if (tg_json_get(answer, "error", &error) == TG_JSON_GOT)
        return tg_chat_error(answer, err);
    candidates = candidates_of(context, answer);
    if (tg_json_array_len(candidates) == 0) {
        tg_json_free(candidates);
        return tg_fail(err, TG_CLASS_TRANSPORT, "upstream_invalid",
                       "the answer is no completion: it has no choices");
    }
    made = tg_json_new_object();
    tg_json_set(made, "candidates", candidates);
    if (tg_json_get_object(answer, "usage", &usage) == TG_JSON_GOT) {
        figures = tg_usage_of_chat(usage);
        tg_json_set(made, "usageMetadata", tg_usage_to_gemini(&figures));
    } else {
        tg_diagnose(context->diagnostics, TG_SEVERITY_WARN, "USAGE_MISSING", "response", "");
    }
    if (context->client_model != NULL)
        tg_json_set_str(made, "modelVersion", context->client_model);
    else
        tg_json_set_span(made, "modelVersion", model);
    tg_json_set_str(made, "responseId", tg_id_make(context, "", tg_hub_span(answer, "id")));
    *ret = made;
    return TG_OK;
}
