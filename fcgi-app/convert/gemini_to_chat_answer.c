/* A whole answer of Gemini as one of Chat (PROTOCOLS C1, C2). */
#include "fcgi-app/convert/gemini_hub.h"
#include "fcgi-app/convert/gemini_logprobs.h"
#include "fcgi-app/convert/toolset.h"

#include <limits.h>
#include <string.h>

struct reading {
    const struct tg_convert *context;
    const char *core; /* of the answer's id */
    int64_t index;
    struct tg_buf text, thoughts;
    struct tg_json *details, *calls, *annotations;
};

static void note(const struct reading *reading, enum tg_severity severity, const char *code)
{
    tg_diagnose(reading->context->diagnostics, severity, code, "response", "");
}

/* --- parts ---------------------------------------------------------------------------------- */

static void read_call(struct reading *reading, const struct tg_json *part,
                      const struct tg_json *said)
{
    struct tg_json *call = tg_json_new_object(), *function = tg_json_new_object();
    struct tg_span id = tg_hub_span(said, "id"), signature = tg_hub_span(part, "thoughtSignature");
    const struct tg_json *args;
    struct tg_buf text;

    if (id.len > 0)
        tg_json_set_span(call, "id", id);
    else
        tg_json_set_str(call, "id",
                        tg_arena_printf(reading->context->arena, "call_%s_%lld_%zu",
                                        reading->core, (long long)reading->index,
                                        tg_json_array_len(reading->calls)));
    tg_json_set_str(call, "type", "function");
    tg_json_set_span(function, "name",
                     tg_toolset_name(reading->context, TG_PROTOCOL_CHAT,
                                     tg_hub_span(said, "name")));
    tg_buf_init(&text, 0);
    if (tg_json_get_object(said, "args", &args) == TG_JSON_GOT)
        tg_json_print(args, &text);
    else
        tg_buf_str(&text, "{}");
    tg_json_set_span(function, "arguments", (struct tg_span){text.data, text.len});
    tg_buf_done(&text);
    tg_json_set(call, "function", function);
    if (signature.len > 0)
        tg_json_set(call, "extra_content", tg_gemini_extra(signature));
    tg_json_push(reading->calls, call);
}

static void read_part(struct reading *reading, const struct tg_json *part)
{
    struct tg_span text = tg_hub_span(part, "text");
    struct tg_span signature = tg_hub_span(part, "thoughtSignature");
    const struct tg_json *value;

    if (tg_json_get_object(part, "functionCall", &value) == TG_JSON_GOT) {
        read_call(reading, part, value);
        return;
    }
    if (tg_json_get(part, "text", &value) != TG_JSON_GOT && signature.len == 0)
        note(reading, TG_SEVERITY_WARN, "BLOCK_DROPPED");
    tg_buf_add(tg_gemini_true(part, "thought") ? &reading->thoughts : &reading->text, text.ptr,
               text.len);
    if (signature.len > 0)
        tg_json_push(reading->details, tg_gemini_detail(signature));
}

/* --- citations ------------------------------------------------------------------------------ */

/* {"type":"url_citation","url_citation":{…}} of one page that supports a stretch of the text. */
static struct tg_json *annotation_of(const struct tg_json *segment, const struct tg_json *web)
{
    struct tg_json *made = tg_json_new_object(), *inner = tg_json_new_object();

    tg_json_set_str(made, "type", "url_citation");
    tg_json_set_int(inner, "start_index", tg_hub_int(segment, "startIndex", 0));
    tg_json_set_int(inner, "end_index", tg_hub_int(segment, "endIndex", 0));
    tg_json_set_span(inner, "title", tg_hub_span(web, "title"));
    tg_json_set_span(inner, "url", tg_hub_span(web, "uri"));
    tg_json_set(made, "url_citation", inner);
    return made;
}

static void read_support(struct reading *reading, const struct tg_json *support,
                         const struct tg_json *chunks)
{
    const struct tg_json *segment, *indices, *web;
    int64_t at;

    if (tg_json_get_object(support, "segment", &segment) != TG_JSON_GOT ||
        tg_json_get_array(support, "groundingChunkIndices", &indices) != TG_JSON_GOT)
        return;
    for (size_t i = 0; i < tg_json_array_len(indices); i++)
        if (tg_json_int(tg_json_array_at(indices, i), &at) && at >= 0 &&
            (size_t)at < tg_json_array_len(chunks) &&
            tg_json_get_object(tg_json_array_at(chunks, (size_t)at), "web", &web) == TG_JSON_GOT)
            tg_json_push(reading->annotations, annotation_of(segment, web));
}

static void read_grounding(struct reading *reading, const struct tg_json *candidate)
{
    const struct tg_json *grounding, *chunks, *supports;

    if (tg_json_get_object(candidate, "groundingMetadata", &grounding) != TG_JSON_GOT ||
        tg_json_get_array(grounding, "groundingChunks", &chunks) != TG_JSON_GOT ||
        tg_json_get_array(grounding, "groundingSupports", &supports) != TG_JSON_GOT)
        return;
    for (size_t i = 0; i < tg_json_array_len(supports); i++)
        read_support(reading, tg_json_array_at(supports, i), chunks);
}

/* --- choices -------------------------------------------------------------------------------- */

static struct tg_json *message_of(struct reading *reading)
{
    struct tg_json *message = tg_json_new_object();

    tg_json_set_str(message, "role", "assistant");
    if (reading->text.len > 0)
        tg_json_set_span(message, "content",
                         (struct tg_span){reading->text.data, reading->text.len});
    else
        tg_json_set_null(message, "content");
    tg_json_set_null(message, "refusal");
    if (reading->thoughts.len > 0)
        tg_json_set_span(message, "reasoning_content",
                         (struct tg_span){reading->thoughts.data, reading->thoughts.len});
    tg_hub_set_list(message, "reasoning_details", reading->details);
    tg_hub_set_list(message, "tool_calls", reading->calls);
    tg_hub_set_list(message, "annotations", reading->annotations);
    return message;
}

/* Takes <message>. */
static void push_choice(struct tg_json *choices, int64_t index, struct tg_json *message,
                        struct tg_json *logprobs, const char *finish)
{
    struct tg_json *choice = tg_json_new_object();

    tg_json_set_int(choice, "index", index);
    tg_json_set(choice, "message", message);
    tg_json_set(choice, "logprobs", logprobs);
    tg_json_set_str(choice, "finish_reason", finish);
    tg_json_push(choices, choice);
}

static enum tg_class read_candidate(const struct tg_convert *context, const char *core,
                                    const struct tg_json *candidate, struct tg_json *choices,
                                    struct tg_error *err)
{
    struct reading reading = {.context = context,
                              .core = core,
                              .index = tg_hub_int(candidate, "index", 0),
                              .details = tg_json_new_array(),
                              .calls = tg_json_new_array(),
                              .annotations = tg_json_new_array()};
    struct tg_span reason = tg_hub_span(candidate, "finishReason");
    const char *finish = tg_finish_of_gemini(reason);
    const struct tg_json *content, *parts;
    bool broken;

    tg_buf_init(&reading.text, 0);
    tg_buf_init(&reading.thoughts, 0);
    if (tg_json_get_object(candidate, "content", &content) == TG_JSON_GOT &&
        tg_json_get_array(content, "parts", &parts) == TG_JSON_GOT)
        for (size_t i = 0; i < tg_json_array_len(parts); i++)
            read_part(&reading, tg_json_array_at(parts, i));
    read_grounding(&reading, candidate);
    if (tg_json_array_len(reading.calls) > 0 && strcmp(finish, "stop") == 0)
        finish = "tool_calls";
    broken = tg_finish_is_broken(reason);
    if (broken || reason.len == 0)
        note(&reading, TG_SEVERITY_WARN, broken ? "FINISH_APPROXIMATED" : "FINISH_MISSING");
    broken = broken && tg_json_array_len(reading.calls) == 0 && reading.text.len == 0;
    push_choice(choices, reading.index, message_of(&reading), tg_logprobs_of_gemini(candidate),
                finish);
    tg_buf_done(&reading.text);
    tg_buf_done(&reading.thoughts);
    if (broken && err != NULL)
        tg_error_broken(reason, err);
    return broken ? TG_CLASS_UPSTREAM : TG_OK;
}

/* The prompt itself was blocked: there is no candidate, but there is an answer. */
static void push_blocked(const struct tg_convert *context, struct tg_span reason,
                         struct tg_json *choices)
{
    struct tg_json *message = tg_json_new_object();

    tg_json_set_str(message, "role", "assistant");
    tg_json_set_null(message, "content");
    tg_json_set_str(message, "refusal",
                    tg_arena_printf(context->arena, "Prompt blocked: %.*s",
                                    (int)TG_MIN(reason.len, INT_MAX), reason.ptr));
    push_choice(choices, 0, message, tg_json_new_null(), "content_filter");
}

static enum tg_class read_choices(const struct tg_convert *context, const struct tg_json *answer,
                                  struct tg_json *choices, struct tg_error *err)
{
    const char *core = tg_id_make(context, "", tg_hub_span(answer, "responseId"));
    const struct tg_json *candidates, *feedback;
    enum tg_class class = TG_OK;

    if (tg_json_get_array(answer, "candidates", &candidates) == TG_JSON_GOT)
        for (size_t i = 0; i < tg_json_array_len(candidates) && class == TG_OK; i++)
            class = read_candidate(context, core, tg_json_array_at(candidates, i), choices, err);
    if (class != TG_OK || tg_json_array_len(choices) > 0)
        return class;
    if (tg_json_get_object(answer, "promptFeedback", &feedback) != TG_JSON_GOT ||
        tg_hub_span(feedback, "blockReason").len == 0)
        return tg_fail(err, TG_CLASS_TRANSPORT, "upstream_invalid",
                       "the answer has no candidates");
    push_blocked(context, tg_hub_span(feedback, "blockReason"), choices);
    return TG_OK;
}

static void set_model(const struct tg_convert *context, const struct tg_json *answer,
                      struct tg_json *made)
{
    if (context->client_model != NULL)
        tg_json_set_str(made, "model", context->client_model);
    else
        tg_json_set_span(made, "model", tg_hub_span(answer, "modelVersion"));
}

enum tg_class tg_gemini_to_chat_answer(const struct tg_convert *context,
                                       const struct tg_json *answer, struct tg_json **ret,
                                       struct tg_error *err)
{
    const struct tg_json *error = tg_gemini_error_in(answer), *usage;
    struct tg_json *choices, *made;
    struct tg_hub_usage figures;
    enum tg_class class;

    if (error != NULL) {
        struct tg_error said;

        tg_error_of_gemini(error, &said);
        if (err != NULL)
            *err = said;
        return said.class;
    }
    choices = tg_json_new_array();
    class = read_choices(context, answer, choices, err);
    if (class != TG_OK) {
        tg_json_free(choices);
        return class;
    }
    made = tg_json_new_object();
    tg_json_set_str(made, "id",
                    tg_id_make(context, "chatcmpl-", tg_hub_span(answer, "responseId")));
    tg_json_set_str(made, "object", "chat.completion");
    tg_json_set_int(made, "created", context->now_unix_s);
    set_model(context, answer, made);
    tg_json_set(made, "choices", choices);
    if (tg_json_get_object(answer, "usageMetadata", &usage) == TG_JSON_GOT) {
        figures = tg_usage_of_gemini(usage);
        tg_json_set(made, "usage", tg_usage_to_chat(&figures));
    } else {
        tg_diagnose(context->diagnostics, TG_SEVERITY_WARN, "USAGE_MISSING", "response", "");
    }
    *ret = made;
    return TG_OK;
}
