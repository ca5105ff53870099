/* A request of Messages as one of Chat: everything but its messages and tools (PROTOCOLS B1). */
#include "fcgi-app/convert/effort.h"
#include "fcgi-app/convert/hub.h"
#include "fcgi-app/convert/messages_to_chat.h"
#include "fcgi-app/convert/sha256.h"

#include <string.h>

enum { STOPS_MOST = 4, USER_MOST = 64 };

/* What cannot be said in Chat. A value of false, null or nothing asks for nothing. */
static const struct tg_lost_key lost[] = {
    {"container", "STATE_UNSUPPORTED", TG_SEVERITY_ERROR},
    {"mcp_servers", "STATE_UNSUPPORTED", TG_SEVERITY_ERROR},
    {"thread", "STATE_UNSUPPORTED", TG_SEVERITY_ERROR},
    {"inference_geo", "PARAM_DROPPED", TG_SEVERITY_ERROR},
    {"context_management", "PARAM_DROPPED", TG_SEVERITY_WARN},
    {"fallbacks", "PARAM_DROPPED", TG_SEVERITY_WARN},
    {"speed", "PARAM_DROPPED", TG_SEVERITY_WARN},
    {"cache_control", "CACHE_HINT_DROPPED", TG_SEVERITY_INFO},
    {"diagnostics", "PARAM_DROPPED", TG_SEVERITY_INFO},
    {"user_profile_id", "PARAM_DROPPED", TG_SEVERITY_INFO},
    {"workspace_id", "PARAM_DROPPED", TG_SEVERITY_INFO},
};

static const char *const known[] = {
    "model",          "max_tokens",    "system",      "messages",   "temperature",  "top_p",
    "top_k",          "stream",        "tools",       "metadata",   "thinking",     "tool_choice",
    "stop_sequences", "output_config", "output_format", "service_tier",
};

static const struct tg_known_keys told = {lost, TG_COUNT_OF(lost), known, TG_COUNT_OF(known)};

static bool note_lost(void *opaque, const char *key, const struct tg_json *value)
{
    const struct tg_convert *context = opaque;

    if (tg_json_type(value) == TG_JSON_NULL)
        return true;
    tg_diagnose_key(context->diagnostics, &told, key);
    return true;
}

/* --- numbers and words ---------------------------------------------------------------------- */

static enum tg_class set_max_tokens(const struct tg_convert *context,
                                    const struct tg_json *request, struct tg_json *made,
                                    struct tg_error *err)
{
    int64_t most;

    switch (tg_json_get_int(request, "max_tokens", &most)) {
    case TG_JSON_GOT:
        break;
    case TG_JSON_GOT_WRONG:
        return tg_hub_invalid(err, "max_tokens", "is no integer");
    default:
        return TG_OK;
    }
    if (most < 0)
        return tg_hub_invalid(err, "max_tokens", "is negative");
    if (most == 0)
        tg_diagnose(context->diagnostics, TG_SEVERITY_WARN, "PARAM_CLAMPED", "max_tokens",
                    "0 became 1");
    tg_json_set_int(made, "max_completion_tokens", TG_MAX(most, 1));
    return TG_OK;
}

static void set_stop(const struct tg_convert *context, const struct tg_json *request,
                     struct tg_json *made)
{
    const struct tg_json *stops;
    struct tg_json *list;

    if (tg_json_get_array(request, "stop_sequences", &stops) != TG_JSON_GOT ||
        tg_json_array_len(stops) == 0)
        return;
    list = tg_json_new_array();
    for (size_t i = 0; i < tg_json_array_len(stops) && i < STOPS_MOST; i++)
        tg_json_push(list, tg_json_copy(tg_json_array_at(stops, i)));
    if (tg_json_array_len(stops) > STOPS_MOST)
        tg_diagnose(context->diagnostics, TG_SEVERITY_WARN, "STOP_TRUNCATED", "stop_sequences",
                    "only the first 4 were kept");
    tg_json_set(made, "stop", list);
}

/* OpenAI takes 64 characters; longer ones become their hash, the same every time. */
static void set_user(const struct tg_convert *context, const struct tg_json *request,
                     struct tg_json *made)
{
    const struct tg_json *metadata;
    char hash[TG_SHA256_HEX];
    struct tg_span user;

    if (tg_json_get_object(request, "metadata", &metadata) != TG_JSON_GOT ||
        !tg_hub_text(metadata, "user_id", &user))
        return;
    if (user.len > USER_MOST || memchr(user.ptr, '@', user.len) != NULL) {
        tg_convert_sha256_hex(user, hash);
        user = (struct tg_span){hash, sizeof hash - 1};
        tg_diagnose(context->diagnostics, TG_SEVERITY_INFO, "USER_HASHED", "metadata.user_id",
                    "");
    }
    tg_json_set_span(made, "safety_identifier", user);
}

static void set_tier(const struct tg_convert *context, const struct tg_json *request,
                     struct tg_json *made)
{
    if (tg_hub_is(request, "service_tier", "auto"))
        tg_json_set_str(made, "service_tier", "auto");
    if (!tg_hub_is(request, "service_tier", "standard_only"))
        return;
    tg_json_set_str(made, "service_tier", "default");
    tg_diagnose(context->diagnostics, TG_SEVERITY_INFO, "TIER_MAPPED", "service_tier", "");
}

/* --- reasoning and format ------------------------------------------------------------------- */

static void set_effort(const struct tg_convert *context, const struct tg_json *thinking,
                       struct tg_span said, struct tg_json *made)
{
    const char *effort = NULL;

    if (tg_hub_is(thinking, "type", "disabled"))
        effort = "none";
    else if (tg_hub_is(thinking, "type", "enabled"))
        effort = tg_effort_of_budget(tg_hub_int(thinking, "budget_tokens", 8192));
    else if (tg_hub_is(thinking, "type", "between_tools"))
        effort = "low";
    if (said.len > 0 && !tg_hub_is(thinking, "type", "disabled"))
        tg_json_set_span(made, "reasoning_effort", said);
    else if (effort != NULL)
        tg_json_set_str(made, "reasoning_effort", effort);
    if (effort != NULL && said.len == 0)
        tg_diagnose(context->diagnostics,
                    tg_hub_is(thinking, "type", "between_tools") ? TG_SEVERITY_WARN
                    : TG_SEVERITY_INFO,
                    "REASONING_APPROXIMATED", "thinking", effort);
}

static void set_thinking(const struct tg_convert *context, const struct tg_json *request,
                         struct tg_json *made)
{
    const struct tg_json *thinking, *config;
    struct tg_span said = {"", 0};
    struct tg_json *kept;

    if (tg_json_get_object(request, "output_config", &config) == TG_JSON_GOT)
        tg_hub_text(config, "effort", &said);
    if (tg_json_get_object(request, "thinking", &thinking) != TG_JSON_GOT) {
        if (said.len > 0)
            tg_json_set_span(made, "reasoning_effort", said);
        return;
    }
    set_effort(context, thinking, said, made);
    kept = tg_json_new_object();
    tg_json_set_copy(kept, "mode", thinking, "type");
    tg_json_set_copy(kept, "budget", thinking, "budget_tokens");
    tg_json_set(made, "x_thinking", kept);
    tg_json_set_bool(made, "x_include_thoughts", !tg_hub_is(thinking, "type", "disabled") &&
                     !tg_hub_is(thinking, "display", "omitted"));
}

static void set_format(const struct tg_convert *context, const struct tg_json *request,
                       struct tg_json *made)
{
    const struct tg_json *config, *format = NULL, *schema;
    struct tg_json *to, *inner;

    if (tg_json_get_object(request, "output_config", &config) != TG_JSON_GOT ||
        tg_json_get_object(config, "format", &format) != TG_JSON_GOT)
        if (tg_json_get_object(request, "output_format", &format) != TG_JSON_GOT)
            return;
    if (tg_json_get_object(format, "schema", &schema) != TG_JSON_GOT)
        return;
    to = tg_json_new_object();
    inner = tg_json_new_object();
    tg_json_set_str(to, "type", "json_schema");
    tg_json_set_str(inner, "name", "response");
    tg_json_set(inner, "schema", tg_json_copy(schema));
    tg_json_set_bool(inner, "strict", tg_schema_is_strict(schema));
    tg_json_set(to, "json_schema", inner);
    tg_json_set(made, "response_format", to);
    if (!tg_schema_is_strict(schema))
        tg_diagnose(context->diagnostics, TG_SEVERITY_WARN, "FORMAT_DOWNGRADED",
                    "output_config.format", "the schema does not fit strict mode");
}

/* --- the request ---------------------------------------------------------------------------- */

static enum tg_class convert_request(const struct tg_convert *context,
                                     const struct tg_json *request, struct tg_json **ret,
                                     struct tg_error *err)
{
    struct tg_json *made = tg_json_new_object(), *options;
    enum tg_class class;
    bool stream = false;

    tg_json_each(request, note_lost, (void *)(uintptr_t)context);
    tg_json_set_str(made, "model", context->upstream_model);
    class = set_max_tokens(context, request, made, err);
    if (class == TG_OK)
        class = tg_messages_to_chat_messages(context, request, made, err);
    if (class != TG_OK) {
        tg_json_free(made);
        return class;
    }
    tg_json_set_copy(made, "temperature", request, "temperature");
    tg_json_set_copy(made, "top_p", request, "top_p");
    tg_json_set_copy(made, "x_top_k", request, "top_k");
    set_stop(context, request, made);
    set_user(context, request, made);
    set_tier(context, request, made);
    set_thinking(context, request, made);
    set_format(context, request, made);
    if (tg_json_get_bool(request, "stream", &stream) == TG_JSON_GOT && stream) {
        tg_json_set_bool(made, "stream", true);
        options = tg_json_new_object();
        tg_json_set_bool(options, "include_usage", true);
        tg_json_set(made, "stream_options", options);
    }
    *ret = made;
    return TG_OK;
}

const struct tg_converter tg_convert_messages_chat = {
    .client = TG_PROTOCOL_MESSAGES,
    .upstream = TG_PROTOCOL_CHAT,
    .grade = 'B',
    .request = convert_request,
    .answer = tg_chat_to_messages_answer,
    .stream = &tg_hop_chat_to_messages,
};
