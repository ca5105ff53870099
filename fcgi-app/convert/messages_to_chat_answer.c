/* A whole answer of Messages as one of Chat (PROTOCOLS C1). */
#include "fcgi-app/convert/citations.h"
#include "fcgi-app/convert/envelope.h"
#include "fcgi-app/convert/hub.h"
#include "fcgi-app/convert/toolset.h"

struct reading {
    const struct tg_convert *context;
    struct tg_buf text, reasoning;
    struct tg_json *details, *calls, *annotations;
    int64_t chars; /* of the text so far */
    bool has_reasoning;
};

static int64_t chars_of(struct tg_span text)
{
    int64_t count = 0;

    for (size_t i = 0; i < text.len; i++)
        count += ((unsigned char)text.ptr[i] & 0xC0) != 0x80;
    return count;
}

static void read_text(struct reading *reading, const struct tg_json *block)
{
    struct tg_span text = tg_hub_span(block, "text");
    struct tg_citations_range range = {reading->chars, reading->chars + chars_of(text)};

    tg_buf_add(&reading->text, text.ptr, text.len);
    tg_citations_to_chat(reading->context, block, range, reading->annotations);
    reading->chars = range.to;
}

static struct tg_json *detail(const char *type, size_t index)
{
    struct tg_json *entry = tg_json_new_object();

    tg_json_set_str(entry, "type", type);
    tg_json_set_str(entry, "format", "anthropic-claude-v1");
    tg_json_set_int(entry, "index", (int64_t)index);
    return entry;
}

static void read_thinking(struct reading *reading, const struct tg_json *block, size_t index)
{
    struct tg_span text = tg_hub_span(block, "thinking");
    struct tg_span signature = tg_hub_span(block, "signature");
    struct tg_json *entry;

    if (reading->has_reasoning && text.len > 0)
        tg_buf_str(&reading->reasoning, "\n\n");
    tg_buf_add(&reading->reasoning, text.ptr, text.len);
    reading->has_reasoning |= text.len > 0;
    if (signature.len == 0 || tg_envelope_is(signature))
        return;
    entry = detail("reasoning.text", index);
    tg_json_set_span(entry, "text", text);
    tg_json_set_span(entry, "signature", signature);
    tg_json_push(reading->details, entry);
}

static void read_redacted(struct reading *reading, const struct tg_json *block, size_t index)
{
    struct tg_json *entry = detail("reasoning.encrypted", index);

    tg_json_set_span(entry, "data", tg_hub_span(block, "data"));
    tg_json_push(reading->details, entry);
}

static void read_call(struct reading *reading, const struct tg_json *block)
{
    struct tg_json *call = tg_json_new_object(), *function = tg_json_new_object();
    const struct tg_json *input;
    struct tg_buf text;

    tg_buf_init(&text, 0);
    if (tg_json_get_object(block, "input", &input) == TG_JSON_GOT)
        tg_json_print(input, &text);
    else
        tg_buf_str(&text, "{}");
    tg_json_set_span(call, "id", tg_hub_span(block, "id"));
    tg_json_set_str(call, "type", "function");
    tg_json_set_span(function, "name",
                     tg_toolset_name(reading->context, TG_PROTOCOL_CHAT,
                                     tg_hub_span(block, "name")));
    tg_json_set_span(function, "arguments", (struct tg_span){text.data, text.len});
    tg_json_set(call, "function", function);
    tg_json_push(reading->calls, call);
    tg_buf_done(&text);
}

static void read_block(struct reading *reading, const struct tg_json *block, size_t index)
{
    struct tg_span text;

    if (tg_hub_is(block, "type", "text")) {
        read_text(reading, block);
    } else if (tg_hub_is(block, "type", "thinking")) {
        read_thinking(reading, block, index);
    } else if (tg_hub_is(block, "type", "redacted_thinking")) {
        read_redacted(reading, block, index);
    } else if (tg_hub_is(block, "type", "tool_use")) {
        read_call(reading, block);
    } else {
        text = tg_hub_span(block, "type");
        tg_diagnose(reading->context->diagnostics, TG_SEVERITY_WARN, "BLOCK_DROPPED", "response",
                    tg_arena_strndup(reading->context->arena, text.ptr, TG_MIN(text.len, 60)));
    }
}

static void set_refusal(struct tg_json *message, const struct tg_json *answer)
{
    const struct tg_json *details;
    struct tg_span text;

    if (tg_hub_is(answer, "stop_reason", "refusal") &&
        tg_json_get_object(answer, "stop_details", &details) == TG_JSON_GOT &&
        tg_hub_text(details, "explanation", &text))
        tg_json_set_span(message, "refusal", text);
    else
        tg_json_set_null(message, "refusal");
}

/* Takes what <reading> has gathered. */
static struct tg_json *message_of(struct reading *reading, const struct tg_json *answer)
{
    struct tg_json *message = tg_json_new_object();

    tg_json_set_str(message, "role", "assistant");
    if (reading->text.len > 0)
        tg_json_set_span(message, "content",
                         (struct tg_span){reading->text.data, reading->text.len});
    else
        tg_json_set_null(message, "content");
    set_refusal(message, answer);
    if (reading->reasoning.len > 0)
        tg_json_set_span(message, "reasoning_content",
                         (struct tg_span){reading->reasoning.data, reading->reasoning.len});
    tg_hub_set_list(message, "reasoning_details", reading->details);
    tg_hub_set_list(message, "tool_calls", reading->calls);
    tg_hub_set_list(message, "annotations", reading->annotations);
    tg_buf_done(&reading->text);
    tg_buf_done(&reading->reasoning);
    return message;
}

static struct tg_json *choice_of(struct reading *reading, const struct tg_json *answer)
{
    const char *finish = tg_finish_of_messages(tg_hub_span(answer, "stop_reason"));
    struct tg_json *choice = tg_json_new_object();
    struct tg_span stop;

    if (finish == NULL)
        tg_diagnose(reading->context->diagnostics, TG_SEVERITY_WARN, "FINISH_MISSING", "response",
                    "");
    tg_json_set_int(choice, "index", 0);
    tg_json_set(choice, "message", message_of(reading, answer));
    tg_json_set_null(choice, "logprobs");
    tg_json_set_str(choice, "finish_reason", finish != NULL ? finish : "stop");
    if (tg_hub_is(answer, "stop_reason", "stop_sequence") &&
        tg_hub_text(answer, "stop_sequence", &stop))
        tg_json_set_span(choice, "x_stop_sequence", stop);
    return choice;
}

static void set_usage(struct tg_json *made, const struct tg_json *answer)
{
    const struct tg_json *usage;
    struct tg_hub_usage figures;
    struct tg_json *to;

    if (tg_json_get_object(answer, "usage", &usage) != TG_JSON_GOT)
        return;
    figures = tg_usage_of_messages(usage);
    to = tg_usage_to_chat(&figures);
    tg_json_set(to, "x_usage", tg_json_copy(usage));
    tg_json_set(made, "usage", to);
}

enum tg_class tg_messages_to_chat_answer(const struct tg_convert *context,
                                         const struct tg_json *answer, struct tg_json **ret,
                                         struct tg_error *err)
{
    struct reading reading = {.context = context};
    const struct tg_json *content, *error;
    struct tg_json *made, *choices;

    if (tg_json_get_object(answer, "error", &error) == TG_JSON_GOT) {
        tg_error_of_messages(error, err);
        return err->class;
    }
    if (tg_json_get_array(answer, "content", &content) != TG_JSON_GOT)
        return tg_fail(err, TG_CLASS_TRANSPORT, "upstream_invalid",
                       "the answer is no message: it has no content");
    tg_buf_init(&reading.text, 0);
    tg_buf_init(&reading.reasoning, 0);
    reading.details = tg_json_new_array();
    reading.calls = tg_json_new_array();
    reading.annotations = tg_json_new_array();
    for (size_t i = 0; i < tg_json_array_len(content); i++)
        read_block(&reading, tg_json_array_at(content, i), i);
    made = tg_json_new_object();
    tg_json_set_str(made, "id", tg_id_make(context, "chatcmpl-", tg_hub_span(answer, "id")));
    tg_json_set_str(made, "object", "chat.completion");
    tg_json_set_int(made, "created", context->now_unix_s);
    tg_hub_set_model(context, made, answer);
    choices = tg_json_new_array();
    tg_json_push(choices, choice_of(&reading, answer));
    tg_json_set(made, "choices", choices);
    set_usage(made, answer);
    *ret = made;
    return TG_OK;
}
