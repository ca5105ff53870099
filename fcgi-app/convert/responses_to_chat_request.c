/* A request of Responses as one of Chat: everything but its items and tools (PROTOCOLS B5). */
#include "fcgi-app/convert/hub.h"
#include "fcgi-app/convert/responses_to_chat.h"

#include <string.h>

/* What cannot be said in Chat. A value of false, null or nothing asks for nothing. */
static const struct tg_lost_key lost[] = {
    {"previous_response_id", "STATE_UNSUPPORTED", TG_SEVERITY_ERROR},
    {"conversation", "STATE_UNSUPPORTED", TG_SEVERITY_ERROR},
    {"prompt", "STATE_UNSUPPORTED", TG_SEVERITY_ERROR},
    {"background", "STATE_UNSUPPORTED", TG_SEVERITY_ERROR},
    {"context_management", "PARAM_DROPPED", TG_SEVERITY_WARN},
    {"max_tool_calls", "PARAM_DROPPED", TG_SEVERITY_INFO},
    {"background_options", "PARAM_DROPPED", TG_SEVERITY_INFO},
    {"access_programs", "PARAM_DROPPED", TG_SEVERITY_INFO},
    {"image", "PARAM_DROPPED", TG_SEVERITY_INFO},
};

static const char *const known[] = {
    "model",       "input",        "instructions",       "max_output_tokens",
    "temperature", "top_p",        "stream",             "stream_options",
    "tools",       "tool_choice",  "parallel_tool_calls", "reasoning",
    "text",        "include",      "top_logprobs",       "truncation",
    "store",
};

/* The same word and meaning in both. */
static const char *const same[] = {
    "temperature",      "top_p",                "metadata",
    "safety_identifier", "user",                "service_tier",
    "prompt_cache_key", "prompt_cache_options", "prompt_cache_retention",
    "moderation",
};

static void note(const struct tg_convert *context, enum tg_severity severity, const char *code,
                 const char *path)
{
    tg_diagnose(context->diagnostics, severity, code, path, "");
}

static bool is_in(const char *const *list, size_t count, const char *key)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(list[i], key) == 0)
            return true;
    return false;
}

static const struct tg_known_keys told = {lost, TG_COUNT_OF(lost), known, TG_COUNT_OF(known)};

static bool note_lost(void *opaque, const char *key, const struct tg_json *value)
{
    const struct tg_convert *context = opaque;

    if (tg_json_type(value) == TG_JSON_NULL || tg_json_type(value) == TG_JSON_FALSE)
        return true;
    if (is_in(same, TG_COUNT_OF(same), key))
        return true;
    tg_diagnose_key(context->diagnostics, &told, key);
    return true;
}

/* --- scalars -------------------------------------------------------------------------------- */

static enum tg_class set_max_tokens(const struct tg_json *request, struct tg_json *made,
                                    struct tg_error *err)
{
    int64_t most;

    switch (tg_json_get_int(request, "max_output_tokens", &most)) {
    case TG_JSON_GOT:
        break;
    case TG_JSON_GOT_WRONG:
        return tg_hub_invalid(err, "max_output_tokens", "is no integer");
    default:
        return TG_OK;
    }
    if (most < 1)
        return tg_hub_invalid(err, "max_output_tokens", "is not positive");
    tg_json_set_int(made, "max_completion_tokens", most);
    return TG_OK;
}

static void set_same(const struct tg_json *request, struct tg_json *made)
{
    const struct tg_json *value;

    for (size_t i = 0; i < TG_COUNT_OF(same); i++)
        if (tg_json_get(request, same[i], &value) == TG_JSON_GOT)
            tg_json_set(made, same[i], tg_json_copy(value));
}

static void set_reasoning(const struct tg_convert *context, const struct tg_json *request,
                          struct tg_json *made)
{
    static const char *const dropped[] = {"mode", "context"};
    const struct tg_json *reasoning, *value;
    struct tg_span effort;

    if (tg_json_get_object(request, "reasoning", &reasoning) != TG_JSON_GOT)
        return;
    if (tg_hub_text(reasoning, "effort", &effort))
        tg_json_set_span(made, "reasoning_effort", effort);
    if (tg_json_get(reasoning, "summary", &value) == TG_JSON_GOT ||
        tg_json_get(reasoning, "generate_summary", &value) == TG_JSON_GOT) {
        tg_json_set_bool(made, "x_include_thoughts", true);
        note(context, TG_SEVERITY_INFO, "PARAM_APPROXIMATED", "reasoning.summary");
    }
    for (size_t i = 0; i < TG_COUNT_OF(dropped); i++)
        if (tg_json_get(reasoning, dropped[i], &value) == TG_JSON_GOT)
            note(context, TG_SEVERITY_INFO, "PARAM_DROPPED",
                 tg_arena_printf(context->arena, "reasoning.%s", dropped[i]));
}

static void set_format(const struct tg_json *request, struct tg_json *made)
{
    static const char *const moved[] = {"name", "description", "schema", "strict"};
    const struct tg_json *text, *format;
    struct tg_json *to, *inner;

    if (tg_json_get_object(request, "text", &text) != TG_JSON_GOT)
        return;
    tg_json_set_copy(made, "verbosity", text, "verbosity");
    if (tg_json_get_object(text, "format", &format) != TG_JSON_GOT ||
        tg_hub_is(format, "type", "text"))
        return;
    to = tg_json_new_object();
    tg_json_set_copy(to, "type", format, "type");
    if (tg_hub_is(format, "type", "json_schema")) {
        inner = tg_json_new_object();
        tg_json_set_str(inner, "name", "response");
        for (size_t i = 0; i < TG_COUNT_OF(moved); i++)
            tg_json_set_copy(inner, moved[i], format, moved[i]);
        tg_json_set(to, "json_schema", inner);
    }
    tg_json_set(made, "response_format", to);
}

static void set_include(const struct tg_convert *context, const struct tg_json *request,
                        struct tg_json *made)
{
    static const char logprobs[] = "message.output_text.logprobs";
    static const char encrypted[] = "reasoning.encrypted_content";
    const struct tg_json *list, *top;
    struct tg_span word;

    if (tg_json_get(request, "top_logprobs", &top) == TG_JSON_GOT && tg_json_above(top, 0)) {
        tg_json_set_bool(made, "logprobs", true);
        tg_json_set(made, "top_logprobs", tg_json_copy(top));
    }
    if (tg_json_get_array(request, "include", &list) != TG_JSON_GOT)
        return;
    for (size_t i = 0; i < tg_json_array_len(list); i++) {
        if (!tg_json_string(tg_json_array_at(list, i), &word))
            continue;
        if (word.len == sizeof logprobs - 1 && memcmp(word.ptr, logprobs, word.len) == 0)
            tg_json_set_bool(made, "logprobs", true);
        else if (word.len == sizeof encrypted - 1 && memcmp(word.ptr, encrypted, word.len) == 0)
            tg_json_set_bool(made, "x_encrypted", true);
        else
            note(context, TG_SEVERITY_INFO, "PARAM_DROPPED",
                 tg_arena_printf(context->arena, "include[%zu]", i));
    }
}

/* The client is told "store":false in the answer: nothing can be fetched later. */
static void set_state(const struct tg_convert *context, const struct tg_json *request,
                      struct tg_json *made)
{
    bool store;

    if (tg_json_get_bool(request, "store", &store) == TG_JSON_GOT) {
        if (store)
            note(context, TG_SEVERITY_INFO, "STATE_IGNORED", "store");
        else
            tg_json_set_bool(made, "store", false);
    }
    if (tg_hub_is(request, "truncation", "auto"))
        note(context, TG_SEVERITY_WARN, "PARAM_DROPPED", "truncation");
}

static void set_stream(const struct tg_convert *context, const struct tg_json *request,
                       struct tg_json *made)
{
    const struct tg_json *said;
    struct tg_json *options;
    bool on = false;

    if (tg_json_get_bool(request, "stream", &on) != TG_JSON_GOT || !on)
        return;
    tg_json_set_bool(made, "stream", true);
    options = tg_json_new_object();
    tg_json_set_bool(options, "include_usage", true);
    tg_json_set(made, "stream_options", options);
    if (tg_json_get_object(request, "stream_options", &said) == TG_JSON_GOT &&
        tg_json_get_bool(said, "include_obfuscation", &on) == TG_JSON_GOT && on)
        note(context, TG_SEVERITY_INFO, "PARAM_DROPPED", "stream_options.include_obfuscation");
}

/* --- the request ---------------------------------------------------------------------------- */

static enum tg_class convert_request(const struct tg_convert *context,
                                     const struct tg_json *request, struct tg_json **ret,
                                     struct tg_error *err)
{
    struct tg_json *made = tg_json_new_object();
    enum tg_class class;

    tg_json_each(request, note_lost, (void *)(uintptr_t)context);
    tg_json_set_str(made, "model", context->upstream_model);
    class = set_max_tokens(request, made, err);
    if (class == TG_OK)
        class = tg_responses_to_chat_messages(context, request, made, err);
    if (class != TG_OK) {
        tg_json_free(made);
        return class;
    }
    set_same(request, made);
    set_reasoning(context, request, made);
    set_format(request, made);
    set_include(context, request, made);
    set_state(context, request, made);
    set_stream(context, request, made);
    *ret = made;
    return TG_OK;
}

const struct tg_converter tg_convert_responses_chat = {
    .client = TG_PROTOCOL_RESPONSES,
    .upstream = TG_PROTOCOL_CHAT,
    .grade = 'B',
    .request = convert_request,
    .answer = tg_chat_to_responses_answer,
    .stream = &tg_hop_chat_to_responses,
};
