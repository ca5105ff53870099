#include "fcgi-app/convert/hub.h"

#include "fcgi-app/convert/mask.h"

#include <stdio.h>
#include <string.h>

static bool begins(struct tg_span text, const char *prefix)
{
    size_t len = strlen(prefix);

    return text.len >= len && memcmp(text.ptr, prefix, len) == 0;
}

static bool equals(struct tg_span text, const char *word)
{
    return text.len == strlen(word) && begins(text, word);
}

bool tg_hub_text(const struct tg_json *object, const char *key, struct tg_span *ret)
{
    struct tg_span text;

    if (tg_json_get_string(object, key, &text) != TG_JSON_GOT || text.len == 0)
        return false;
    *ret = text;
    return true;
}

struct tg_span tg_hub_span(const struct tg_json *object, const char *key)
{
    struct tg_span text = {"", 0};

    tg_hub_text(object, key, &text);
    return text;
}

bool tg_hub_is(const struct tg_json *object, const char *key, const char *word)
{
    struct tg_span text;

    return tg_json_get_string(object, key, &text) == TG_JSON_GOT && equals(text, word);
}

int64_t tg_hub_int(const struct tg_json *object, const char *key, int64_t otherwise)
{
    int64_t value;

    return tg_json_get_int(object, key, &value) == TG_JSON_GOT ? value : otherwise;
}

/* --- ids ------------------------------------------------------------------------------------ */

struct tg_span tg_id_core(struct tg_span id)
{
    static const char *const prefixes[] = {"chatcmpl-", "msg_", "resp_"};

    for (size_t i = 0; i < TG_COUNT_OF(prefixes); i++)
        if (begins(id, prefixes[i])) {
            size_t len = strlen(prefixes[i]);

            return (struct tg_span){id.ptr + len, id.len - len};
        }
    return id;
}

const char *tg_id_make(const struct tg_convert *context, const char *prefix, struct tg_span id)
{
    struct tg_span core = tg_id_core(id);

    if (core.len == 0)
        return tg_arena_printf(context->arena, "%s%s", prefix, context->random_core);
    return tg_arena_printf(context->arena, "%s%.*s", prefix, (int)TG_MIN(core.len, 200), core.ptr);
}

/* --- chunks --------------------------------------------------------------------------------- */

static struct tg_json *envelope(const struct tg_chunk_head *head, struct tg_json *choices)
{
    struct tg_json *chunk = tg_json_new_object();

    tg_json_set_str(chunk, "id", head->id);
    tg_json_set_str(chunk, "object", "chat.completion.chunk");
    tg_json_set_int(chunk, "created", head->created_unix_s);
    tg_json_set_str(chunk, "model", head->model);
    tg_json_set(chunk, "choices", choices);
    return chunk;
}

struct tg_json *tg_chunk(const struct tg_chunk_head *head, int64_t index, struct tg_json *delta,
                         const char *finish)
{
    struct tg_json *choices = tg_json_new_array(), *choice = tg_json_new_object();

    tg_json_set_int(choice, "index", index);
    tg_json_set(choice, "delta", delta);
    tg_json_set(choice, "finish_reason",
                finish != NULL ? tg_json_new_str(finish) : tg_json_new_null());
    tg_json_push(choices, choice);
    return envelope(head, choices);
}

struct tg_json *tg_chunk_text(const struct tg_chunk_head *head, const char *key,
                              struct tg_span text)
{
    struct tg_json *delta = tg_json_new_object();

    tg_json_set_span(delta, key, text);
    return tg_chunk(head, 0, delta, NULL);
}

struct tg_json *tg_chunk_usage(const struct tg_chunk_head *head, struct tg_json *usage)
{
    struct tg_json *chunk = envelope(head, tg_json_new_array());

    tg_json_set(chunk, "usage", usage);
    return chunk;
}

struct tg_json *tg_chunk_choice(struct tg_json *chunk)
{
    return tg_json_element(tg_json_member(chunk, "choices"), 0);
}

/* --- usage ---------------------------------------------------------------------------------- */

static int64_t number(const struct tg_json *object, const char *key)
{
    int64_t value = tg_hub_int(object, key, 0);

    return TG_MIN(TG_MAX(value, 0), (int64_t)1 << 50);
}

static int64_t inner(const struct tg_json *object, const char *key, const char *inner_key)
{
    const struct tg_json *details;

    return tg_json_get_object(object, key, &details) == TG_JSON_GOT ? number(details, inner_key)
                                                                    : 0;
}

static struct tg_hub_usage cut(struct tg_hub_usage usage)
{
    usage.cached = TG_MIN(usage.cached, usage.read);
    usage.written = TG_MIN(usage.written, usage.read - usage.cached);
    usage.reasoning = TG_MIN(usage.reasoning, usage.generated);
    return usage;
}

struct tg_hub_usage tg_usage_of_chat(const struct tg_json *usage)
{
    const struct tg_json *details;
    struct tg_hub_usage made = {
        .read = number(usage, "prompt_tokens"),
        .cached = inner(usage, "prompt_tokens_details", "cached_tokens"),
        .written = inner(usage, "prompt_tokens_details", "cache_write_tokens"),
        .generated = number(usage, "completion_tokens"),
        .reasoning = inner(usage, "completion_tokens_details", "reasoning_tokens"),
    };

    /* DeepSeek and Moonshot tell it at the top. */
    if (tg_json_get_object(usage, "prompt_tokens_details", &details) != TG_JSON_GOT)
        made.cached = TG_MAX(number(usage, "prompt_cache_hit_tokens"),
                             number(usage, "cached_tokens"));
    return cut(made);
}

struct tg_hub_usage tg_usage_of_messages(const struct tg_json *usage)
{
    struct tg_hub_usage made = {
        .cached = number(usage, "cache_read_input_tokens"),
        .written = number(usage, "cache_creation_input_tokens"),
        .generated = number(usage, "output_tokens"),
        .reasoning = inner(usage, "output_tokens_details", "thinking_tokens"),
    };

    if (made.written == 0)
        made.written = inner(usage, "cache_creation", "ephemeral_5m_input_tokens") +
                       inner(usage, "cache_creation", "ephemeral_1h_input_tokens");
    made.read = number(usage, "input_tokens") + made.cached + made.written;
    return cut(made);
}

struct tg_json *tg_usage_to_chat(const struct tg_hub_usage *usage)
{
    struct tg_json *made = tg_json_new_object(), *prompt = tg_json_new_object();
    struct tg_json *completion = tg_json_new_object();

    tg_json_set_int(made, "prompt_tokens", usage->read);
    tg_json_set_int(made, "completion_tokens", usage->generated);
    tg_json_set_int(made, "total_tokens", usage->read + usage->generated);
    tg_json_set_int(prompt, "cached_tokens", usage->cached);
    tg_json_set_int(prompt, "cache_write_tokens", usage->written);
    tg_json_set(made, "prompt_tokens_details", prompt);
    tg_json_set_int(completion, "reasoning_tokens", usage->reasoning);
    tg_json_set(made, "completion_tokens_details", completion);
    return made;
}

struct tg_json *tg_usage_to_messages(const struct tg_hub_usage *usage)
{
    struct tg_json *made = tg_json_new_object(), *details;

    tg_json_set_int(made, "input_tokens", usage->read - usage->cached - usage->written);
    tg_json_set_int(made, "cache_creation_input_tokens", usage->written);
    tg_json_set_int(made, "cache_read_input_tokens", usage->cached);
    tg_json_set_int(made, "output_tokens", usage->generated);
    if (usage->reasoning > 0) {
        details = tg_json_new_object();
        tg_json_set_int(details, "thinking_tokens", usage->reasoning);
        tg_json_set(made, "output_tokens_details", details);
    }
    return made;
}

/* --- finish reasons ------------------------------------------------------------------------- */

static const struct {
    const char *messages, *chat;
} finishes[] = {
    /* the first row with a word is its translation */
    {"end_turn", "stop"},           {"stop_sequence", "stop"},
    {"max_tokens", "length"},       {"model_context_window_exceeded", "length"},
    {"tool_use", "tool_calls"},     {"pause_turn", "stop"},
    {"compaction", "stop"},         {"refusal", "content_filter"},
    {"tool_use", "function_call"},
};

const char *tg_finish_of_messages(struct tg_span stop_reason)
{
    for (size_t i = 0; i < TG_COUNT_OF(finishes); i++)
        if (equals(stop_reason, finishes[i].messages))
            return finishes[i].chat;
    return NULL;
}

static const char *finish_to_messages(struct tg_span finish)
{
    for (size_t i = 0; i < TG_COUNT_OF(finishes); i++)
        if (equals(finish, finishes[i].chat))
            return finishes[i].messages;
    return "end_turn";
}

static const char *stop_reason(const struct tg_stop_facts *facts)
{
    const char *reason = finish_to_messages(facts->finish);

    if (strcmp(reason, "end_turn") != 0)
        return reason;
    if (facts->has_calls)
        return "tool_use";
    if (facts->refusal.len > 0)
        return "refusal";
    return facts->stop_sequence.len > 0 ? "stop_sequence" : reason;
}

static void set_span_or_null(struct tg_json *to, const char *key, struct tg_span text)
{
    if (text.len > 0)
        tg_json_set_span(to, key, text);
    else
        tg_json_set_null(to, key);
}

void tg_stop_set(const struct tg_stop_facts *facts, struct tg_json *to)
{
    const char *reason = stop_reason(facts);
    struct tg_json *details;

    tg_json_set_str(to, "stop_reason", reason);
    set_span_or_null(to, "stop_sequence", facts->stop_sequence);
    if (strcmp(reason, "refusal") != 0)
        return;
    details = tg_json_new_object();
    tg_json_set_str(details, "type", "refusal");
    tg_json_set_null(details, "category");
    set_span_or_null(details, "explanation", facts->refusal);
    tg_json_set(to, "stop_details", details);
}

/* --- what calls and answers share ----------------------------------------------------------- */

static bool is_blank(struct tg_span text)
{
    for (size_t i = 0; i < text.len; i++)
        if (strchr(" \t\r\n", text.ptr[i]) == NULL)
            return false;
    return true;
}

enum tg_class tg_hub_invalid(struct tg_error *err, const char *param, const char *problem)
{
    (void)tg_fail(err, TG_CLASS_INVALID, "invalid_request", "%s %s", param, problem);
    if (err != NULL)
        snprintf(err->param, sizeof err->param, "%s", param);
    return TG_CLASS_INVALID;
}

const struct tg_json *tg_hub_keep(const struct tg_convert *context, struct tg_json *value)
{
    tg_json_push(context->kept, value);
    return value;
}

struct tg_json *tg_hub_arguments(const struct tg_convert *context, struct tg_span text,
                                 const char *path)
{
    struct tg_json *made;

    if (is_blank(text))
        return tg_json_new_object();
    if (tg_json_parse(text.ptr, text.len, &made, NULL) == TG_OK) {
        if (tg_json_type(made) == TG_JSON_OBJECT)
            return made;
        tg_json_free(made);
    }
    tg_diagnose(context->diagnostics, TG_SEVERITY_WARN, "TOOL_ARGS_INVALID", path,
                "the arguments are no JSON object");
    made = tg_json_new_object();
    tg_json_set_span(made, "_raw_arguments", text);
    return made;
}

void tg_hub_set_list(struct tg_json *object, const char *key, struct tg_json *list)
{
    if (tg_json_array_len(list) > 0)
        tg_json_set(object, key, list);
    else
        tg_json_free(list);
}

void tg_hub_set_model(const struct tg_convert *context, struct tg_json *to,
                      const struct tg_json *from)
{
    if (context->client_model != NULL)
        tg_json_set_str(to, "model", context->client_model);
    else
        tg_json_set_span(to, "model", tg_hub_span(from, "model"));
}

/* --- errors --------------------------------------------------------------------------------- */

static const struct {
    const char *word;
    int status;
    const char *type, *code;
} messages_errors[] = {
    {"invalid_request_error", 400, "invalid_request_error", "invalid_request"},
    {"authentication_error", 401, "authentication_error", "invalid_api_key"},
    {"billing_error", 402, "insufficient_quota", "insufficient_quota"},
    {"permission_error", 403, "permission_error", "permission_denied"},
    {"not_found_error", 404, "invalid_request_error", "not_found"},
    {"conflict_error", 409, "invalid_request_error", "conflict"},
    {"request_too_large", 413, "invalid_request_error", "request_too_large"},
    {"rate_limit_error", 429, "rate_limit_error", "rate_limit_exceeded"},
    {"timeout_error", 504, "server_error", "timeout"},
    {"overloaded_error", 503, "server_error", "overloaded"},
    {"api_error", 500, "server_error", "server_error"}, /* and every other word */
};

static void mask_message(struct tg_span text, struct tg_error *ret)
{
    struct tg_buf masked;

    tg_buf_init(&masked, 0);
    tg_mask(text, &masked);
    snprintf(ret->message, sizeof ret->message, "%s", tg_buf_text(&masked));
    tg_buf_done(&masked);
}

void tg_error_of_messages(const struct tg_json *error, struct tg_error *ret)
{
    struct tg_span type = {"", 0}, message = {"The upstream reported an error.", 31};
    size_t i = 0;

    tg_hub_text(error, "type", &type);
    tg_hub_text(error, "message", &message);
    while (i + 1 < TG_COUNT_OF(messages_errors) && !equals(type, messages_errors[i].word))
        i++;
    (void)tg_fail(ret, TG_CLASS_UPSTREAM, messages_errors[i].code, "%s", "");
    ret->status = messages_errors[i].status;
    snprintf(ret->type, sizeof ret->type, "%s", messages_errors[i].type);
    mask_message(message, ret);
    if (ret->status == 400 && strncmp(ret->message, "prompt is too long", 18) == 0)
        snprintf(ret->code, sizeof ret->code, "context_length_exceeded");
}

void tg_error_truncated(struct tg_error *ret)
{
    (void)tg_fail(ret, TG_CLASS_UPSTREAM, "upstream_truncated",
                  "The upstream ended its answer before it was complete.");
    ret->status = 502;
}
