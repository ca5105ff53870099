/* A request of Chat as one of Messages: everything but its messages and tools (PROTOCOLS B2). */
#include "fcgi-app/convert/chat_to_messages_request.h"
#include "fcgi-app/convert/chat_read.h"
#include "fcgi-app/convert/hub.h"
#include "fcgi-app/convert/model_facts.h"
#include "fcgi-app/convert/sha256.h"

#include <string.h>

enum { USER_MOST = 256, BUDGET_LEAST = 1024, ANSWER_RESERVE = 4096 };

/* What Messages has no word for. A value that asks for nothing (null, false, 0, 1 answer) is no
 * loss. */
static const struct tg_lost_key lost[] = {
    {"n", "N_UNSUPPORTED", TG_SEVERITY_ERROR},
    {"logprobs", "LOGPROBS_DROPPED", TG_SEVERITY_WARN},
    {"top_logprobs", "LOGPROBS_DROPPED", TG_SEVERITY_WARN},
    {"logit_bias", "PARAM_DROPPED", TG_SEVERITY_WARN},
    {"frequency_penalty", "PARAM_DROPPED", TG_SEVERITY_WARN},
    {"presence_penalty", "PARAM_DROPPED", TG_SEVERITY_WARN},
    {"moderation", "PARAM_DROPPED", TG_SEVERITY_WARN},
    {"audio", "PARAM_DROPPED", TG_SEVERITY_ERROR},
    {"seed", "PARAM_DROPPED", TG_SEVERITY_INFO},
    {"prediction", "PARAM_DROPPED", TG_SEVERITY_INFO},
    {"verbosity", "PARAM_DROPPED", TG_SEVERITY_INFO},
    {"prompt_cache_key", "PARAM_DROPPED", TG_SEVERITY_INFO},
    {"prompt_cache_retention", "PARAM_DROPPED", TG_SEVERITY_INFO},
    {"prompt_cache_options", "PARAM_DROPPED", TG_SEVERITY_INFO},
    {"metadata", "PARAM_DROPPED", TG_SEVERITY_INFO},
    {"store", "STATE_IGNORED", TG_SEVERITY_INFO},
};

static const char *const known[] = {
    "model",       "messages",        "max_tokens",    "max_completion_tokens", "temperature",
    "top_p",       "stop",            "stream",        "stream_options",        "tools",
    "functions",   "tool_choice",     "function_call", "parallel_tool_calls",   "response_format",
    "user",        "safety_identifier", "service_tier", "reasoning_effort",     "modalities",
    "cache_control", "web_search_options",
};

static bool asks_nothing(const char *key, const struct tg_json *value)
{
    int64_t number;

    switch (tg_json_type(value)) {
    case TG_JSON_NULL:
    case TG_JSON_FALSE:
        return true;
    case TG_JSON_NUMBER:
        return tg_json_int(value, &number) && number == (strcmp(key, "n") == 0 ? 1 : 0);
    default:
        return false;
    }
}

static const struct tg_known_keys told = {lost, TG_COUNT_OF(lost), known, TG_COUNT_OF(known)};

static bool note_lost(void *opaque, const char *key, const struct tg_json *value)
{
    const struct tg_convert *context = opaque;

    if (strncmp(key, "x_", 2) == 0 || asks_nothing(key, value))
        return true;
    tg_diagnose_key(context->diagnostics, &told, key);
    return true;
}

/* --- tokens and reasoning ------------------------------------------------------------------- */

struct tokens {
    int64_t most;
    bool defaulted;
};

static enum tg_class read_tokens(const struct tg_convert *context, const struct tg_json *request,
                                 struct tokens *ret, struct tg_error *err)
{
    static const char *const keys[] = {"max_completion_tokens", "max_tokens"};
    int64_t cap = context->model->max_output_tokens;

    *ret = (struct tokens){TG_MIN(context->default_max_tokens, cap), true};
    for (size_t i = 0; i < TG_COUNT_OF(keys) && ret->defaulted; i++) {
        enum tg_json_got got = tg_json_get_int(request, keys[i], &ret->most);

        if (got == TG_JSON_GOT_WRONG || (got == TG_JSON_GOT && ret->most < 1))
            return tg_hub_invalid(err, keys[i], "is no positive integer");
        ret->defaulted = got != TG_JSON_GOT;
    }
    if (ret->defaulted) {
        ret->most = TG_MIN(context->default_max_tokens, cap);
        tg_diagnose(context->diagnostics, TG_SEVERITY_INFO, "PARAM_DEFAULTED", "max_tokens", "");
    }
    if (ret->most > cap) {
        ret->most = cap;
        tg_diagnose(context->diagnostics, TG_SEVERITY_WARN, "PARAM_CLAMPED", "max_tokens",
                    tg_arena_printf(context->arena, "the model writes at most %lld",
                                    (long long)cap));
    }
    return TG_OK;
}

static int64_t budget_of(struct tg_span effort)
{
    static const struct {
        const char *effort;
        int64_t budget;
    } ladder[] = {{"minimal", 1024}, {"low", 2048},    {"medium", 8192},
                  {"high", 24576},   {"xhigh", 32768}, {"max", 49152}};

    for (size_t i = 0; i < TG_COUNT_OF(ladder); i++)
        if (strlen(ladder[i].effort) == effort.len &&
            memcmp(ladder[i].effort, effort.ptr, effort.len) == 0)
            return ladder[i].budget;
    return 0;
}

static void set_type(struct tg_json *made, const char *type)
{
    struct tg_json *thinking = tg_json_new_object();

    tg_json_set_str(thinking, "type", type);
    tg_json_set(made, "thinking", thinking);
}

static void set_budget(const struct tg_convert *context, int64_t budget, struct tokens *tokens,
                       struct tg_json *made)
{
    if (tokens->defaulted && tokens->most <= budget)
        tokens->most = TG_MIN(budget + ANSWER_RESERVE, context->model->max_output_tokens);
    budget = TG_MIN(budget, tokens->most * 8 / 10);
    if (budget < BUDGET_LEAST && tokens->most > BUDGET_LEAST)
        budget = BUDGET_LEAST;
    if (budget < BUDGET_LEAST) {
        tg_diagnose(context->diagnostics, TG_SEVERITY_WARN, "REASONING_CONFLICT",
                    "reasoning_effort", "max_tokens leaves no room for it");
        return;
    }
    set_type(made, "enabled");
    tg_json_set_int(tg_json_member(made, "thinking"), "budget_tokens", budget);
}

static void set_adaptive(struct tg_span effort, struct tg_json *made)
{
    struct tg_json *config = tg_json_new_object();

    set_type(made, "adaptive");
    if (effort.len == 7 && memcmp(effort.ptr, "minimal", 7) == 0)
        effort.len = 0;
    if (effort.len > 0)
        tg_json_set_span(config, "effort", effort);
    else
        tg_json_set_str(config, "effort", "low");
    tg_json_set(made, "output_config", config);
}

/* The exact form of a Messages client, when the model takes it. */
static bool set_exact(const struct tg_convert *context, const struct tg_json *request,
                      struct tokens *tokens, struct tg_json *made)
{
    const struct tg_json *exact;

    if (tg_json_get_object(request, "x_thinking", &exact) != TG_JSON_GOT ||
        !tg_hub_is(exact, "mode", "enabled") ||
        !tg_model_can(context->model, TG_MODEL_BUDGET))
        return false;
    set_budget(context, tg_hub_int(exact, "budget", 8192), tokens, made);
    return true;
}

/* Thinking cannot begin in the middle of a turn whose reasoning was not replayed. */
static bool must_not_think(const struct tg_json *request)
{
    const struct tg_json *messages, *last, *calls, *details;
    size_t at;

    if (tg_json_get_array(request, "messages", &messages) != TG_JSON_GOT)
        return false;
    at = tg_json_array_len(messages);
    while (at > 0 && tg_hub_is(tg_json_array_at(messages, at - 1), "role", "tool"))
        at--;
    if (at == 0 || at == tg_json_array_len(messages))
        return false;
    last = tg_json_array_at(messages, at - 1);
    return tg_json_get_array(last, "tool_calls", &calls) == TG_JSON_GOT &&
           tg_json_get_array(last, "reasoning_details", &details) != TG_JSON_GOT;
}

static void set_thinking(const struct tg_convert *context, const struct tg_json *request,
                         struct tokens *tokens, struct tg_json *made)
{
    struct tg_span effort = tg_hub_span(request, "reasoning_effort");
    bool off = effort.len == 4 && memcmp(effort.ptr, "none", 4) == 0;

    if (effort.len == 0 && !set_exact(context, request, tokens, made))
        return;
    if (off) {
        if (tg_model_can(context->model, TG_MODEL_THINKING_OFF))
            set_type(made, "disabled");
        return;
    }
    if (must_not_think(request)) {
        tg_json_remove(made, "thinking");
        tg_diagnose(context->diagnostics, TG_SEVERITY_WARN, "REASONING_CONFLICT",
                    "reasoning_effort", "the last call came without its reasoning");
        return;
    }
    if (effort.len == 0 || set_exact(context, request, tokens, made))
        return;
    if (!tg_model_can(context->model, TG_MODEL_BUDGET))
        set_adaptive(effort, made);
    else if (budget_of(effort) > 0)
        set_budget(context, budget_of(effort), tokens, made);
    tg_diagnose(context->diagnostics, TG_SEVERITY_INFO, "REASONING_APPROXIMATED",
                "reasoning_effort", "");
}

/* --- the rest ------------------------------------------------------------------------------- */

static void set_stop(const struct tg_convert *context, const struct tg_json *request,
                     struct tg_json *made)
{
    const struct tg_json *stop;
    struct tg_json *list = tg_json_new_array();
    struct tg_span text;

    if (tg_json_get(request, "stop", &stop) == TG_JSON_GOT) {
        if (tg_json_string(stop, &text))
            tg_json_push(list, tg_json_new_string(text));
        for (size_t i = 0; i < tg_json_array_len(stop); i++)
            if (tg_json_string(tg_json_array_at(stop, i), &text))
                tg_json_push(list, tg_json_new_string(text));
    }
    for (size_t i = tg_json_array_len(list); i-- > 0;) {
        if (tg_json_string(tg_json_array_at(list, i), &text) &&
            strspn(text.ptr, " \t\r\n") < text.len)
            continue;
        tg_json_drop(list, i);
        tg_diagnose(context->diagnostics, TG_SEVERITY_WARN, "STOP_TRUNCATED", "stop",
                    "one of blanks only was left out");
    }
    if (tg_json_array_len(list) > 0)
        tg_json_set(made, "stop_sequences", list);
    else
        tg_json_free(list);
}

static bool is_thinking(const struct tg_json *made)
{
    const struct tg_json *thinking;

    return tg_json_get_object(made, "thinking", &thinking) == TG_JSON_GOT &&
           !tg_hub_is(thinking, "type", "disabled");
}

static void set_sampling(const struct tg_convert *context, const struct tg_json *request,
                         struct tg_json *made)
{
    static const char *const keys[][2] = {
        {"temperature", "temperature"}, {"top_p", "top_p"}, {"x_top_k", "top_k"}};
    const struct tg_json *value;
    bool refused = is_thinking(made) || !tg_model_can(context->model, TG_MODEL_SAMPLING);

    for (size_t i = 0; i < TG_COUNT_OF(keys); i++) {
        if (tg_json_get(request, keys[i][0], &value) != TG_JSON_GOT)
            continue;
        if (refused || (i == 1 && tg_json_get(made, "temperature", &value) == TG_JSON_GOT))
            tg_diagnose(context->diagnostics, TG_SEVERITY_WARN, "PARAM_CONFLICT", keys[i][1], "");
        else
            tg_json_set_copy(made, keys[i][1], request, keys[i][0]);
    }
    if (tg_json_get(made, "temperature", &value) == TG_JSON_GOT && tg_json_above(value, 1)) {
        tg_json_set_int(made, "temperature", 1);
        tg_diagnose(context->diagnostics, TG_SEVERITY_WARN, "PARAM_CLAMPED", "temperature",
                    "at most 1");
    }
}

static void set_user(const struct tg_convert *context, const struct tg_json *request,
                     struct tg_json *made)
{
    struct tg_json *metadata;
    char hash[TG_SHA256_HEX];
    struct tg_span user;

    if (!tg_hub_text(request, "safety_identifier", &user) && !tg_hub_text(request, "user", &user))
        return;
    if (user.len > USER_MOST || memchr(user.ptr, '@', user.len) != NULL) {
        tg_convert_sha256_hex(user, hash);
        user = (struct tg_span){hash, sizeof hash - 1};
        tg_diagnose(context->diagnostics, TG_SEVERITY_INFO, "USER_HASHED", "user", "");
    }
    metadata = tg_json_new_object();
    tg_json_set_span(metadata, "user_id", user);
    tg_json_set(made, "metadata", metadata);
}

static void set_tier(const struct tg_convert *context, const struct tg_json *request,
                     struct tg_json *made)
{
    struct tg_span tier;

    if (!tg_hub_text(request, "service_tier", &tier))
        return;
    tg_json_set_str(made, "service_tier",
                    tg_hub_is(request, "service_tier", "default") ? "standard_only" : "auto");
    if (tg_hub_is(request, "service_tier", "auto"))
        return;
    tg_diagnose(context->diagnostics,
                tg_hub_is(request, "service_tier", "default") ||
                tg_hub_is(request, "service_tier", "flex")
                ? TG_SEVERITY_INFO
                : TG_SEVERITY_WARN,
                tg_hub_is(request, "service_tier", "default") ? "TIER_MAPPED" : "TIER_DROPPED",
                "service_tier", "");
}

static enum tg_class convert_request(const struct tg_convert *context,
                                     const struct tg_json *request, struct tg_json **ret,
                                     struct tg_error *err)
{
    struct tg_json *made = tg_json_new_object();
    struct tokens tokens;
    enum tg_class class = read_tokens(context, request, &tokens, err);
    bool stream = false;

    tg_json_set_str(made, "model", context->upstream_model);
    tg_json_each(request, note_lost, (void *)(uintptr_t)context);
    set_thinking(context, request, &tokens, made);
    if (class == TG_OK)
        tg_json_set_int(made, "max_tokens", tokens.most);
    if (class == TG_OK)
        class = tg_chat_to_messages_turns(context, request, made, err);
    if (class != TG_OK) {
        tg_json_free(made);
        return class;
    }
    set_sampling(context, request, made);
    set_stop(context, request, made);
    set_user(context, request, made);
    set_tier(context, request, made);
    tg_chat_note_audio(context, request);
    tg_chat_to_messages_format(context, request, made);
    tg_json_set_copy(made, "cache_control", request, "cache_control");
    if (tg_json_get_bool(request, "stream", &stream) == TG_JSON_GOT && stream)
        tg_json_set_bool(made, "stream", true);
    *ret = made;
    return TG_OK;
}

const struct tg_converter tg_convert_chat_messages = {
    .client = TG_PROTOCOL_CHAT,
    .upstream = TG_PROTOCOL_MESSAGES,
    .grade = 'B',
    .request = convert_request,
    .answer = tg_messages_to_chat_answer,
    .stream = &tg_hop_messages_to_chat,
};
