/* A whole answer of Responses as one of Chat (PROTOCOLS C1). */
#include "fcgi-app/convert/envelope.h"
#include "fcgi-app/convert/responses.h"
#include "fcgi-app/convert/toolset.h"


struct reading {
    const struct tg_convert *context;
    struct tg_buf text, refusal, reasoning;
    struct tg_json *details, *calls, *annotations, *logprobs;
};

static struct tg_span span_of(const struct tg_buf *buf)
{
    return (struct tg_span){tg_buf_text(buf), buf->len};
}

static void add(struct tg_buf *to, struct tg_span text)
{
    tg_buf_add(to, text.ptr, text.len);
}

/* --- messages ------------------------------------------------------------------------------- */

static void read_annotations(struct reading *reading, const struct tg_json *part)
{
    const struct tg_json *list;

    if (tg_json_get_array(part, "annotations", &list) != TG_JSON_GOT)
        return;
    for (size_t i = 0; i < tg_json_array_len(list); i++) {
        const struct tg_json *one = tg_json_array_at(list, i);
        struct tg_json *made, *inner;

        if (!tg_hub_is(one, "type", "url_citation")) {
            tg_diagnose(reading->context->diagnostics, TG_SEVERITY_INFO, "CITATION_DROPPED",
                        "response", "");
            continue;
        }
        made = tg_json_new_object();
        inner = tg_json_copy(one);
        tg_json_remove(inner, "type");
        tg_json_set_str(made, "type", "url_citation");
        tg_json_set(made, "url_citation", inner);
        tg_json_push(reading->annotations, made);
    }
}

static void read_logprobs(struct reading *reading, const struct tg_json *part)
{
    const struct tg_json *list;

    if (tg_json_get_array(part, "logprobs", &list) == TG_JSON_GOT)
        for (size_t i = 0; i < tg_json_array_len(list); i++)
            tg_json_push(reading->logprobs, tg_json_copy(tg_json_array_at(list, i)));
}

static void read_message(struct reading *reading, const struct tg_json *item)
{
    const struct tg_json *content;
    bool apart = reading->text.len > 0; /* from the message before */

    if (tg_json_get_array(item, "content", &content) != TG_JSON_GOT)
        return;
    for (size_t i = 0; i < tg_json_array_len(content); i++) {
        const struct tg_json *part = tg_json_array_at(content, i);
        struct tg_span text = tg_hub_span(part, "text");

        if (tg_hub_is(part, "type", "refusal")) {
            add(&reading->refusal, tg_hub_span(part, "refusal"));
            continue;
        }
        if (apart && text.len > 0)
            tg_buf_str(&reading->text, "\n\n");
        apart = apart && text.len == 0;
        add(&reading->text, text);
        read_annotations(reading, part);
        read_logprobs(reading, part);
    }
}

/* --- reasoning ------------------------------------------------------------------------------ */

static void read_reasoning(struct reading *reading, const struct tg_json *item)
{
    static const char *const keys[] = {"content", "summary"};
    struct tg_span data = tg_hub_span(item, "encrypted_content");
    const struct tg_json *list;
    struct tg_json *entry;
    bool found = false;

    for (size_t i = 0; i < TG_COUNT_OF(keys) && !found; i++) {
        if (tg_json_get_array(item, keys[i], &list) != TG_JSON_GOT)
            continue;
        for (size_t k = 0; k < tg_json_array_len(list); k++) {
            struct tg_span text = tg_hub_span(tg_json_array_at(list, k), "text");

            if (text.len > 0 && reading->reasoning.len > 0)
                tg_buf_str(&reading->reasoning, "\n\n");
            add(&reading->reasoning, text);
            found = true;
        }
    }
    if (data.len == 0 || tg_envelope_is(data))
        return;
    entry = tg_json_new_object();
    tg_json_set_str(entry, "type", "reasoning.encrypted");
    tg_json_set_str(entry, "format", "openai-responses-v1");
    tg_json_set_int(entry, "index", 0);
    tg_json_set_copy(entry, "id", item, "id");
    tg_json_set_span(entry, "data", data);
    tg_json_push(reading->details, entry);
}

/* --- calls ---------------------------------------------------------------------------------- */

/* A namespace is the provider's own: nobody who does not speak Responses has declared one. */
static struct tg_span client_name(const struct reading *reading, const struct tg_json *item)
{
    return tg_toolset_name(reading->context, TG_PROTOCOL_CHAT, tg_hub_span(item, "name"));
}

/* Clients of Chat know custom calls in whole answers. */
static void set_custom(const struct reading *reading, const struct tg_json *item,
                       struct tg_json *call)
{
    struct tg_json *custom = tg_json_new_object();

    tg_json_set_str(call, "type", "custom");
    tg_json_set_span(custom, "name", client_name(reading, item));
    tg_json_set_span(custom, "input", tg_hub_span(item, "input"));
    tg_json_set(call, "custom", custom);
}

static void set_function(const struct reading *reading, const struct tg_json *item,
                         struct tg_json *call)
{
    struct tg_json *function = tg_json_new_object(), *wrapped;
    struct tg_span arguments = tg_hub_span(item, "arguments");
    struct tg_buf json;

    tg_json_set_str(call, "type", "function");
    tg_json_set_span(function, "name", client_name(reading, item));
    tg_buf_init(&json, 0);
    if (tg_hub_is(item, "type", "custom_tool_call")) {
        wrapped = tg_json_new_object();
        tg_json_set_span(wrapped, "input", tg_hub_span(item, "input"));
        tg_json_print(wrapped, &json);
        tg_json_free(wrapped);
    } else if (arguments.len > 0) {
        add(&json, arguments);
    } else {
        tg_buf_str(&json, "{}");
    }
    tg_json_set_span(function, "arguments", span_of(&json));
    tg_json_set(call, "function", function);
    tg_buf_done(&json);
}

static void read_call(struct reading *reading, const struct tg_json *item)
{
    struct tg_json *call = tg_json_new_object();

    tg_json_set_span(call, "id", tg_hub_span(item, "call_id"));
    if (tg_hub_is(item, "type", "custom_tool_call") &&
        reading->context->client == TG_PROTOCOL_CHAT)
        set_custom(reading, item, call);
    else
        set_function(reading, item, call);
    tg_json_push(reading->calls, call);
}

static void read_item(struct reading *reading, const struct tg_json *item)
{
    struct tg_span type = tg_hub_span(item, "type");

    if (tg_hub_is(item, "type", "message"))
        read_message(reading, item);
    else if (tg_hub_is(item, "type", "reasoning"))
        read_reasoning(reading, item);
    else if (tg_hub_is(item, "type", "function_call") ||
             tg_hub_is(item, "type", "custom_tool_call"))
        read_call(reading, item);
    else
        tg_diagnose(reading->context->diagnostics, TG_SEVERITY_WARN, "BLOCK_DROPPED", "response",
                    tg_arena_strndup(reading->context->arena, type.ptr, TG_MIN(type.len, 60)));
}

/* --- the completion ------------------------------------------------------------------------- */

static void begin(struct reading *reading, const struct tg_convert *context)
{
    *reading = (struct reading){.context = context,
                                .details = tg_json_new_array(),
                                .calls = tg_json_new_array(),
                                .annotations = tg_json_new_array(),
                                .logprobs = tg_json_new_array()};
    tg_buf_init(&reading->text, 0);
    tg_buf_init(&reading->refusal, 0);
    tg_buf_init(&reading->reasoning, 0);
}

static void set_or_null(struct tg_json *to, const char *key, const struct tg_buf *text)
{
    if (text->len > 0)
        tg_json_set_span(to, key, span_of(text));
    else
        tg_json_set_null(to, key);
}

/* Takes what <reading> has gathered, but for its logprobs. */
static struct tg_json *message_of(struct reading *reading)
{
    struct tg_json *message = tg_json_new_object();

    tg_json_set_str(message, "role", "assistant");
    set_or_null(message, "content", &reading->text);
    set_or_null(message, "refusal", &reading->refusal);
    if (reading->reasoning.len > 0)
        tg_json_set_span(message, "reasoning_content", span_of(&reading->reasoning));
    tg_hub_set_list(message, "reasoning_details", reading->details);
    tg_hub_set_list(message, "annotations", reading->annotations);
    tg_hub_set_list(message, "tool_calls", reading->calls);
    tg_buf_done(&reading->text);
    tg_buf_done(&reading->refusal);
    tg_buf_done(&reading->reasoning);
    return message;
}

static struct tg_json *choice_of(struct reading *reading, const struct tg_json *answer)
{
    bool has_calls = tg_json_array_len(reading->calls) > 0;
    struct tg_json *choice = tg_json_new_object(), *logprobs;

    tg_json_set_int(choice, "index", 0);
    tg_json_set(choice, "message", message_of(reading));
    if (tg_json_array_len(reading->logprobs) > 0) {
        logprobs = tg_json_new_object();
        tg_json_set(logprobs, "content", reading->logprobs);
        tg_json_set_null(logprobs, "refusal");
        tg_json_set(choice, "logprobs", logprobs);
    } else {
        tg_json_free(reading->logprobs);
        tg_json_set_null(choice, "logprobs");
    }
    tg_json_set_str(choice, "finish_reason", tg_response_finish(answer, has_calls));
    return choice;
}

static void set_usage(const struct tg_json *answer, struct tg_json *made)
{
    const struct tg_json *usage;
    struct tg_hub_usage figures;
    struct tg_json *to;

    if (tg_json_get_object(answer, "usage", &usage) != TG_JSON_GOT)
        return;
    figures = tg_usage_of_responses(usage);
    to = tg_usage_to_chat(&figures);
    tg_json_set(to, "x_usage", tg_json_copy(usage));
    tg_json_set(made, "usage", to);
}

/* An answer that is none: failed, cancelled, or still to come. */
static enum tg_class check(const struct tg_json *answer, struct tg_error *err)
{
    const struct tg_json *error, *output;

    if (tg_json_get_object(answer, "error", &error) == TG_JSON_GOT) {
        tg_error_of_responses(error, err);
        return err->class;
    }
    if (tg_hub_is(answer, "status", "cancelled")) {
        (void)tg_fail(err, TG_CLASS_UPSTREAM, "cancelled", "The response was cancelled.");
        err->status = 499;
        return err->class;
    }
    if (tg_json_get_array(answer, "output", &output) != TG_JSON_GOT)
        return tg_fail(err, TG_CLASS_TRANSPORT, "upstream_invalid",
                       "the answer is no response: it has no output");
    if (tg_hub_is(answer, "status", "queued") || tg_hub_is(answer, "status", "in_progress") ||
        tg_hub_is(answer, "status", "failed"))
        return tg_fail(err, TG_CLASS_TRANSPORT, "upstream_invalid",
                       "the answer is no whole response");
    return TG_OK;
}

enum tg_class tg_responses_to_chat_answer(const struct tg_convert *context,
                                          const struct tg_json *answer, struct tg_json **ret,
                                          struct tg_error *err)
{
    enum tg_class class = check(answer, err);
    struct tg_json *made, *choices;
    const struct tg_json *output;
    struct reading reading;

    if (class != TG_OK)
        return class;
    begin(&reading, context);
    if (tg_json_get_array(answer, "output", &output) == TG_JSON_GOT)
        for (size_t i = 0; i < tg_json_array_len(output); i++)
            read_item(&reading, tg_json_array_at(output, i));
    made = tg_json_new_object();
    tg_json_set_str(made, "id", tg_id_make(context, "chatcmpl-", tg_hub_span(answer, "id")));
    tg_json_set_str(made, "object", "chat.completion");
    tg_json_set_int(made, "created", tg_hub_int(answer, "created_at", context->now_unix_s));
    tg_hub_set_model(context, made, answer);
    choices = tg_json_new_array();
    tg_json_push(choices, choice_of(&reading, answer));
    tg_json_set(made, "choices", choices);
    set_usage(answer, made);
    tg_json_set_copy(made, "service_tier", answer, "service_tier");
    *ret = made;
    return TG_OK;
}
