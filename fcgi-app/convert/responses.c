#include "fcgi-app/convert/responses.h"

#include "fcgi-app/convert/envelope.h"
#include "fcgi-app/convert/mask.h"
#include "fcgi-app/convert/toolset.h"

#include <stdio.h>
#include <string.h>

static bool equals(struct tg_span text, const char *word)
{
    return text.len == strlen(word) && memcmp(text.ptr, word, text.len) == 0;
}

/* --- the response --------------------------------------------------------------------------- */

/* What a response repeats of its request. */
static const char *const repeated[] = {
    "instructions", "max_output_tokens", "metadata",     "parallel_tool_calls",
    "reasoning",    "temperature",       "text",         "tool_choice",
    "tools",        "top_p",             "top_logprobs", "user",
};

static void repeat_request(const struct tg_convert *context, struct tg_json *response)
{
    const struct tg_json *value;

    if (context->request == NULL || context->client != TG_PROTOCOL_RESPONSES)
        return;
    for (size_t i = 0; i < TG_COUNT_OF(repeated); i++)
        if (tg_json_get(context->request, repeated[i], &value) == TG_JSON_GOT)
            tg_json_set(response, repeated[i], tg_json_copy(value));
    tg_json_set_null(response, "previous_response_id");
    tg_json_set_bool(response, "store", false);
}

struct tg_json *tg_response_new(const struct tg_convert *context, const struct tg_chunk_head *head,
                                const char *status)
{
    struct tg_json *response = tg_json_new_object();

    tg_json_set_str(response, "id", head->id);
    tg_json_set_str(response, "object", "response");
    tg_json_set_int(response, "created_at", head->created_unix_s);
    tg_json_set_str(response, "status", status);
    tg_json_set_null(response, "error");
    tg_json_set_null(response, "incomplete_details");
    tg_json_set_null(response, "instructions");
    tg_json_set(response, "metadata", tg_json_new_object());
    tg_json_set_str(response, "model", head->model);
    tg_json_set(response, "output", tg_json_new_array());
    tg_json_set_bool(response, "parallel_tool_calls", true);
    tg_json_set_null(response, "temperature");
    tg_json_set_str(response, "tool_choice", "auto");
    tg_json_set(response, "tools", tg_json_new_array());
    tg_json_set_null(response, "top_p");
    repeat_request(context, response);
    return response;
}

void tg_response_set_incomplete(struct tg_json *response, const char *reason)
{
    struct tg_json *details;

    if (reason == NULL) {
        tg_json_set_null(response, "incomplete_details");
        return;
    }
    details = tg_json_new_object();
    tg_json_set_str(details, "reason", reason);
    tg_json_set(response, "incomplete_details", details);
}

const char *tg_response_incomplete(struct tg_span finish)
{
    if (equals(finish, "length"))
        return "max_output_tokens";
    return equals(finish, "content_filter") ? "content_filter" : NULL;
}

const char *tg_response_finish(const struct tg_json *response, bool has_calls)
{
    const struct tg_json *details;

    if (!tg_hub_is(response, "status", "incomplete"))
        return has_calls ? "tool_calls" : "stop";
    if (tg_json_get_object(response, "incomplete_details", &details) == TG_JSON_GOT &&
        tg_hub_is(details, "reason", "content_filter"))
        return "content_filter";
    return "length";
}

/* --- usage ---------------------------------------------------------------------------------- */

static int64_t number(const struct tg_json *object, const char *key)
{
    return TG_MIN(TG_MAX(tg_hub_int(object, key, 0), 0), (int64_t)1 << 50);
}

static int64_t inner(const struct tg_json *object, const char *key, const char *inner_key)
{
    const struct tg_json *details;

    return tg_json_get_object(object, key, &details) == TG_JSON_GOT ? number(details, inner_key)
                                                                    : 0;
}

struct tg_hub_usage tg_usage_of_responses(const struct tg_json *usage)
{
    struct tg_hub_usage made = {
        .read = number(usage, "input_tokens"),
        .cached = inner(usage, "input_tokens_details", "cached_tokens"),
        .written = inner(usage, "input_tokens_details", "cache_write_tokens"),
        .generated = number(usage, "output_tokens"),
        .reasoning = inner(usage, "output_tokens_details", "reasoning_tokens"),
    };

    made.cached = TG_MIN(made.cached, made.read);
    made.written = TG_MIN(made.written, made.read - made.cached);
    made.reasoning = TG_MIN(made.reasoning, made.generated);
    return made;
}

struct tg_json *tg_usage_to_responses(const struct tg_hub_usage *usage)
{
    struct tg_json *made = tg_json_new_object(), *in = tg_json_new_object();
    struct tg_json *out = tg_json_new_object();

    tg_json_set_int(made, "input_tokens", usage->read);
    tg_json_set_int(in, "cached_tokens", usage->cached);
    tg_json_set_int(in, "cache_write_tokens", usage->written);
    tg_json_set(made, "input_tokens_details", in);
    tg_json_set_int(made, "output_tokens", usage->generated);
    tg_json_set_int(out, "reasoning_tokens", usage->reasoning);
    tg_json_set(made, "output_tokens_details", out);
    tg_json_set_int(made, "total_tokens", usage->read + usage->generated);
    return made;
}

/* --- errors --------------------------------------------------------------------------------- */

static const struct {
    const char *code;
    int status;
    const char *type;
} errors[] = {
    {"rate_limit_exceeded", 429, "rate_limit_error"},
    {"insufficient_quota", 402, "insufficient_quota"},
    {"invalid_prompt", 400, "invalid_request_error"},
    {"context_length_exceeded", 400, "invalid_request_error"},
    {"server_is_overloaded", 503, "server_error"},
    {"server_error", 500, "server_error"}, /* and every other code */
};

void tg_error_of_responses(const struct tg_json *error, struct tg_error *ret)
{
    struct tg_span code = tg_hub_span(error, "code"), type = tg_hub_span(error, "type");
    struct tg_span message = {"The upstream reported an error.", 31};
    struct tg_buf masked;
    size_t i = 0;

    tg_hub_text(error, "message", &message);
    while (i + 1 < TG_COUNT_OF(errors) && !equals(code, errors[i].code))
        i++;
    (void)tg_fail(ret, TG_CLASS_UPSTREAM, errors[i].code, "%s", "");
    ret->status = errors[i].status;
    snprintf(ret->type, sizeof ret->type, "%s", errors[i].type);
    if (type.len > 0 && type.len < sizeof ret->type && !equals(type, "error"))
        snprintf(ret->type, sizeof ret->type, "%s", type.ptr);
    if (code.len > 0 && code.len < sizeof ret->code)
        snprintf(ret->code, sizeof ret->code, "%s", code.ptr);
    tg_buf_init(&masked, 0);
    tg_mask(message, &masked);
    snprintf(ret->message, sizeof ret->message, "%s", tg_buf_text(&masked));
    tg_buf_done(&masked);
}

const char *tg_response_error_code(int status)
{
    if (status == 429)
        return "rate_limit_exceeded";
    return status == 400 ? "invalid_prompt" : "server_error";
}

/* --- parts of items ------------------------------------------------------------------------- */

struct tg_json *tg_response_text_part(struct tg_span text)
{
    struct tg_json *part = tg_json_new_object();

    tg_json_set_str(part, "type", "output_text");
    tg_json_set_span(part, "text", text);
    tg_json_set(part, "annotations", tg_json_new_array());
    tg_json_set(part, "logprobs", tg_json_new_array());
    return part;
}

struct tg_json *tg_response_refusal_part(struct tg_span text)
{
    struct tg_json *part = tg_json_new_object();

    tg_json_set_str(part, "type", "refusal");
    tg_json_set_span(part, "refusal", text);
    return part;
}

struct tg_json *tg_response_summary(struct tg_span text)
{
    struct tg_json *part = tg_json_new_object();

    tg_json_set_str(part, "type", "summary_text");
    tg_json_set_span(part, "text", text);
    return part;
}

bool tg_response_encrypted(const struct tg_json *detail, struct tg_buf *out)
{
    struct tg_span data = tg_hub_span(detail, "data");
    struct tg_span signature = tg_hub_span(detail, "signature");

    if (tg_hub_is(detail, "format", "openai-responses-v1"))
        tg_buf_add(out, data.ptr, data.len);
    else if (tg_hub_is(detail, "format", "anthropic-claude-v1") && signature.len > 0)
        tg_envelope_wrap(TG_ORIGIN_CLAUDE, signature, out);
    else if (tg_hub_is(detail, "format", "anthropic-claude-v1") && data.len > 0)
        tg_envelope_wrap(TG_ORIGIN_REDACTED, data, out);
    else if (tg_hub_is(detail, "format", "google-gemini-v1") && data.len > 0)
        tg_envelope_wrap(TG_ORIGIN_GEMINI, data, out);
    return out->len > 0;
}

static const struct tg_tool_form *tool_of(const struct tg_convert *context,
                                          struct tg_span wire_name)
{
    const struct tg_toolset *set =
        context->client == TG_PROTOCOL_RESPONSES ? context->tools : NULL;

    for (size_t i = 0; set != NULL && i < set->tool_count; i++)
        if (equals(wire_name, set->tools[i].wire_name))
            return &set->tools[i];
    return NULL;
}

bool tg_response_set_name(const struct tg_convert *context, struct tg_span wire_name,
                          struct tg_json *item)
{
    const struct tg_tool_form *tool = tool_of(context, wire_name);

    if (tool == NULL) {
        tg_json_set_span(item, "name", wire_name);
        return false;
    }
    if (tool->space == NULL) {
        tg_json_set_str(item, "name", tool->name);
    } else {
        tg_json_set_str(item, "name", tool->name + strlen(tool->space) + 2);
        tg_json_set_str(item, "namespace", tool->space);
    }
    return tool->kind == TG_TOOL_CUSTOM;
}

void tg_response_unwrap_input(struct tg_span arguments, struct tg_buf *out)
{
    struct tg_json *parsed;
    struct tg_span input;

    if (tg_json_parse(arguments.ptr, arguments.len, &parsed, NULL) != TG_OK) {
        tg_buf_add(out, arguments.ptr, arguments.len);
        return;
    }
    if (tg_json_get_string(parsed, "input", &input) == TG_JSON_GOT)
        tg_buf_add(out, input.ptr, input.len);
    else
        tg_buf_add(out, arguments.ptr, arguments.len);
    tg_json_free(parsed);
}
