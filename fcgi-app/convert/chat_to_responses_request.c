/* A request of Chat as one of Responses: everything but its messages and tools (PROTOCOLS B6). */
#include "fcgi-app/convert/chat_to_responses_request.h"
#include "fcgi-app/convert/chat_read.h"
#include "fcgi-app/convert/hub.h"
#include "fcgi-app/convert/sha256.h"

#include <string.h>

enum { TOKENS_LEAST = 16, USER_MOST = 64 };

/* What Responses has no word for. A value that asks for nothing (null, false, 0, 1 answer) is no
 * loss. */
static const struct tg_lost_key lost[] = {
    {"stop", "STOP_UNSUPPORTED", TG_SEVERITY_WARN},
    {"n", "N_UNSUPPORTED", TG_SEVERITY_ERROR},
    {"seed", "PARAM_DROPPED", TG_SEVERITY_INFO},
    {"frequency_penalty", "PARAM_DROPPED", TG_SEVERITY_WARN},
    {"presence_penalty", "PARAM_DROPPED", TG_SEVERITY_WARN},
    {"logit_bias", "PARAM_DROPPED", TG_SEVERITY_WARN},
    {"prediction", "PARAM_DROPPED", TG_SEVERITY_INFO},
    {"audio", "PARAM_DROPPED", TG_SEVERITY_ERROR},
    {"cache_control", "CACHE_HINT_DROPPED", TG_SEVERITY_INFO},
};

/* The same word and meaning in both. */
static const char *const same[] = {
    "temperature",          "top_p",  "metadata",        "service_tier",
    "prompt_cache_key",     "moderation", "prompt_cache_options", "prompt_cache_retention",
    "top_logprobs",
};

static const char *const known[] = {
    "model",     "messages",      "max_tokens",          "max_completion_tokens",
    "stream",    "stream_options", "tools",              "functions",
    "tool_choice", "function_call", "parallel_tool_calls", "response_format",
    "user",      "safety_identifier", "reasoning_effort", "modalities",
    "verbosity", "logprobs",      "web_search_options",  "store",
};

static bool is_in(const char *const *list, size_t count, const char *key)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(list[i], key) == 0)
            return true;
    return false;
}

static bool asks_nothing(const char *key, const struct tg_json *value)
{
    int64_t number;

    switch (tg_json_type(value)) {
    case TG_JSON_NULL:
    case TG_JSON_FALSE:
        return true;
    case TG_JSON_NUMBER:
        return tg_json_int(value, &number) && number == (strcmp(key, "n") == 0 ? 1 : 0);
    case TG_JSON_ARRAY:
        return tg_json_array_len(value) == 0;
    default:
        return false;
    }
}

static const struct tg_known_keys told = {lost, TG_COUNT_OF(lost), known, TG_COUNT_OF(known)};

static bool note_lost(void *opaque, const char *key, const struct tg_json *value)
{
    const struct tg_convert *context = opaque;

    if (strncmp(key, "x_", 2) == 0) {
        if (strcmp(key, "x_top_k") == 0)
            tg_diagnose(context->diagnostics, TG_SEVERITY_INFO, "PARAM_DROPPED", "top_k", "");
        return true;
    }
    if (asks_nothing(key, value))
        return true;
    if (is_in(same, TG_COUNT_OF(same), key))
        return true;
    tg_diagnose_key(context->diagnostics, &told, key);
    return true;
}

/* --- scalars -------------------------------------------------------------------------------- */

static enum tg_class set_max_tokens(const struct tg_convert *context,
                                    const struct tg_json *request, struct tg_json *made,
                                    struct tg_error *err)
{
    static const char *const keys[] = {"max_completion_tokens", "max_tokens"};
    int64_t most;

    for (size_t i = 0; i < TG_COUNT_OF(keys); i++) {
        enum tg_json_got got = tg_json_get_int(request, keys[i], &most);

        if (got == TG_JSON_GOT_WRONG || (got == TG_JSON_GOT && most < 1))
            return tg_hub_invalid(err, keys[i], "is no positive integer");
        if (got != TG_JSON_GOT)
            continue;
        if (most < TOKENS_LEAST)
            tg_diagnose(context->diagnostics, TG_SEVERITY_WARN, "PARAM_CLAMPED", keys[i],
                        "at least 16");
        tg_json_set_int(made, "max_output_tokens", TG_MAX(most, TOKENS_LEAST));
        break;
    }
    return TG_OK;
}

static void set_same(const struct tg_json *request, struct tg_json *made)
{
    const struct tg_json *value;

    for (size_t i = 0; i < TG_COUNT_OF(same); i++)
        if (tg_json_get(request, same[i], &value) == TG_JSON_GOT)
            tg_json_set(made, same[i], tg_json_copy(value));
}

/* OpenAI takes 64 characters; longer ones become their hash, the same every time. */
static void set_user(const struct tg_convert *context, const struct tg_json *request,
                     struct tg_json *made, const char *key)
{
    char hash[TG_SHA256_HEX];
    struct tg_span user;

    if (!tg_hub_text(request, key, &user))
        return;
    if (user.len > USER_MOST) {
        tg_convert_sha256_hex(user, hash);
        user = (struct tg_span){hash, sizeof hash - 1};
        tg_diagnose(context->diagnostics, TG_SEVERITY_INFO, "USER_HASHED", key, "");
    }
    tg_json_set_span(made, key, user);
}

/* Models before the reasoning ones refuse to be asked about it. */
static bool can_reason(const struct tg_convert *context)
{
    static const char *const others[] = {"gpt-3", "gpt-4", "chatgpt-"};

    for (size_t i = 0; i < TG_COUNT_OF(others); i++)
        if (strncmp(context->upstream_model, others[i], strlen(others[i])) == 0)
            return false;
    return true;
}

static void set_reasoning(const struct tg_convert *context, const struct tg_json *request,
                          struct tg_json *made)
{
    struct tg_span effort = {"", 0};
    struct tg_json *reasoning;
    bool thoughts = false;

    (void)tg_json_get_bool(request, "x_include_thoughts", &thoughts);
    thoughts = thoughts && can_reason(context);
    if (!tg_hub_text(request, "reasoning_effort", &effort) && !thoughts)
        return;
    reasoning = tg_json_new_object();
    if (effort.len > 0)
        tg_json_set_span(reasoning, "effort", effort);
    if (thoughts) {
        tg_json_set_str(reasoning, "summary", "auto");
        tg_diagnose(context->diagnostics, TG_SEVERITY_INFO, "REASONING_APPROXIMATED",
                    "reasoning_effort", "");
    }
    tg_json_set(made, "reasoning", reasoning);
}

/* {"type":"json_schema","json_schema":{…}} is flat here. */
static void set_text(const struct tg_json *request, struct tg_json *made)
{
    static const char *const moved[] = {"name", "description", "schema", "strict"};
    struct tg_json *text = tg_json_new_object(), *format;
    const struct tg_json *said, *inner;
    struct tg_span word;

    if (tg_json_get_object(request, "response_format", &said) == TG_JSON_GOT) {
        format = tg_json_new_object();
        tg_json_set_copy(format, "type", said, "type");
        if (tg_json_get_object(said, "json_schema", &inner) == TG_JSON_GOT) {
            tg_json_set_str(format, "name", "response");
            for (size_t i = 0; i < TG_COUNT_OF(moved); i++)
                tg_json_set_copy(format, moved[i], inner, moved[i]);
        }
        tg_json_set(text, "format", format);
    }
    if (tg_hub_text(request, "verbosity", &word))
        tg_json_set_span(text, "verbosity", word);
    if (tg_json_get(text, "format", &said) == TG_JSON_GOT ||
        tg_json_get(text, "verbosity", &said) == TG_JSON_GOT)
        tg_json_set(made, "text", text);
    else
        tg_json_free(text);
}

/* Absent, "store" would mean true: what nobody asked to be kept is not kept. What is not kept
 * brings its reasoning along. */
static void set_state(const struct tg_convert *context, const struct tg_json *request,
                      struct tg_json *made)
{
    struct tg_json *include = tg_json_new_array();
    bool store = false, logprobs = false;

    (void)tg_json_get_bool(request, "store", &store);
    (void)tg_json_get_bool(request, "logprobs", &logprobs);
    tg_json_set_bool(made, "store", store);
    if (!store && can_reason(context))
        tg_json_push(include, tg_json_new_str("reasoning.encrypted_content"));
    if (logprobs)
        tg_json_push(include, tg_json_new_str("message.output_text.logprobs"));
    tg_hub_set_list(made, "include", include);
}

/* --- the request ---------------------------------------------------------------------------- */

static enum tg_class convert_request(const struct tg_convert *context,
                                     const struct tg_json *request, struct tg_json **ret,
                                     struct tg_error *err)
{
    struct tg_json *made = tg_json_new_object();
    enum tg_class class;
    bool stream = false;

    tg_json_each(request, note_lost, (void *)(uintptr_t)context);
    tg_json_set_str(made, "model", context->upstream_model);
    class = set_max_tokens(context, request, made, err);
    if (class == TG_OK)
        class = tg_chat_to_responses_input(context, request, made, err);
    if (class != TG_OK) {
        tg_json_free(made);
        return class;
    }
    set_same(request, made);
    set_user(context, request, made, "user");
    set_user(context, request, made, "safety_identifier");
    set_reasoning(context, request, made);
    set_text(request, made);
    set_state(context, request, made);
    tg_chat_note_audio(context, request);
    if (tg_json_get_bool(request, "stream", &stream) == TG_JSON_GOT && stream)
        tg_json_set_bool(made, "stream", true);
    *ret = made;
    return TG_OK;
}

const struct tg_converter tg_convert_chat_responses = {
    .client = TG_PROTOCOL_CHAT,
    .upstream = TG_PROTOCOL_RESPONSES,
    .grade = 'B',
    .request = convert_request,
    .answer = tg_responses_to_chat_answer,
    .stream = &tg_hop_responses_to_chat,
};
