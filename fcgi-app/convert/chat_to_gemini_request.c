/* A request of Chat as one of Gemini: everything but its turns and tools (PROTOCOLS B4). */
#include "fcgi-app/convert/chat_to_gemini.h"
#include "fcgi-app/convert/effort.h"
#include "fcgi-app/convert/gemini_hub.h"
#include "fcgi-app/convert/gemini_model.h"

#include <string.h>

enum { STOPS_MOST = 5, CANDIDATES_MOST = 8, PRO_BUDGET_LEAST = 128, THINKING_ROOM = 1024 };

/* What Gemini has no word for. A value that asks for nothing (null, false, "", {}) is no loss. */
static const struct tg_lost_key lost[] = {
    {"logit_bias", "PARAM_DROPPED", TG_SEVERITY_WARN},
    {"moderation", "PARAM_DROPPED", TG_SEVERITY_WARN},
    {"audio", "PARAM_DROPPED", TG_SEVERITY_ERROR},
    {"metadata", "PARAM_DROPPED", TG_SEVERITY_INFO},
    {"user", "PARAM_DROPPED", TG_SEVERITY_INFO},
    {"safety_identifier", "PARAM_DROPPED", TG_SEVERITY_INFO},
    {"prediction", "PARAM_DROPPED", TG_SEVERITY_INFO},
    {"verbosity", "PARAM_DROPPED", TG_SEVERITY_INFO},
    {"prompt_cache_key", "PARAM_DROPPED", TG_SEVERITY_INFO},
    {"prompt_cache_retention", "PARAM_DROPPED", TG_SEVERITY_INFO},
    {"prompt_cache_options", "PARAM_DROPPED", TG_SEVERITY_INFO},
    {"cache_control", "CACHE_HINT_DROPPED", TG_SEVERITY_INFO},
    {"store", "STATE_IGNORED", TG_SEVERITY_INFO},
};

static const char *const known[] = {
    "model",         "messages",        "max_tokens",    "max_completion_tokens", "temperature",
    "top_p",         "stop",            "stream",        "stream_options",        "tools",
    "functions",     "tool_choice",     "function_call", "parallel_tool_calls",   "n",
    "seed",          "logprobs",        "top_logprobs",  "response_format",       "service_tier",
    "modalities",    "reasoning_effort", "presence_penalty", "frequency_penalty",
    "web_search_options",
};

static bool asks_nothing(const struct tg_json *value)
{
    return tg_json_type(value) == TG_JSON_NULL || tg_json_type(value) == TG_JSON_FALSE;
}

static const struct tg_known_keys told = {lost, TG_COUNT_OF(lost), known, TG_COUNT_OF(known)};

static bool note_lost(void *opaque, const char *key, const struct tg_json *value)
{
    const struct tg_convert *context = opaque;

    if (strncmp(key, "x_", 2) == 0 || asks_nothing(value))
        return true;
    tg_diagnose_key(context->diagnostics, &told, key);
    return true;
}

/* --- numbers -------------------------------------------------------------------------------- */

static void note_clamped(const struct tg_convert *context, const char *key,
                         enum tg_severity severity)
{
    tg_diagnose(context->diagnostics, severity, "PARAM_CLAMPED", key, "");
}

static void set_sampling(const struct tg_convert *context, const struct tg_json *request,
                         struct tg_json *config)
{
    static const struct {
        const char *from, *to;
        int64_t most; /* 0: no limit */
    } rows[] = {
        {"temperature", "temperature", 2},
        {"top_p", "topP", 1},
        {"x_top_k", "topK", 0},
        {"presence_penalty", "presencePenalty", 0},
        {"frequency_penalty", "frequencyPenalty", 0},
    };
    const struct tg_json *value;

    for (size_t i = 0; i < TG_COUNT_OF(rows); i++) {
        if (tg_json_get(request, rows[i].from, &value) != TG_JSON_GOT)
            continue;
        if (rows[i].most == 0 || !tg_json_above(value, rows[i].most)) {
            tg_json_set(config, rows[i].to, tg_json_copy(value));
            continue;
        }
        tg_json_set_int(config, rows[i].to, rows[i].most);
        note_clamped(context, rows[i].from, TG_SEVERITY_WARN);
    }
}

static void set_counts(const struct tg_convert *context, const struct tg_json *request,
                       struct tg_json *config)
{
    int64_t seed, count = tg_hub_int(request, "n", 1), top;
    bool wanted = false;

    if (tg_json_get_int(request, "seed", &seed) == TG_JSON_GOT) {
        if (seed < 0 || seed > INT32_MAX)
            note_clamped(context, "seed", TG_SEVERITY_INFO);
        tg_json_set_int(config, "seed", seed & INT32_MAX);
    }
    if (count > CANDIDATES_MOST)
        note_clamped(context, "n", TG_SEVERITY_WARN);
    if (count > 1)
        tg_json_set_int(config, "candidateCount", TG_MIN(count, CANDIDATES_MOST));
    if (tg_json_get_bool(request, "logprobs", &wanted) != TG_JSON_GOT || !wanted)
        return;
    tg_json_set_bool(config, "responseLogprobs", true);
    if (tg_json_get_int(request, "top_logprobs", &top) == TG_JSON_GOT)
        tg_json_set_int(config, "logprobs", top);
}

static enum tg_class set_max_tokens(const struct tg_json *request, struct tg_json *config,
                                    struct tg_error *err)
{
    static const char *const keys[] = {"max_completion_tokens", "max_tokens"};
    int64_t most = 0;

    for (size_t i = 0; i < TG_COUNT_OF(keys); i++) {
        enum tg_json_got got = tg_json_get_int(request, keys[i], &most);

        if (got == TG_JSON_GOT_WRONG || (got == TG_JSON_GOT && most < 1))
            return tg_hub_invalid(err, keys[i], "is no positive integer");
        if (got != TG_JSON_GOT)
            continue;
        tg_json_set_int(config, "maxOutputTokens", most);
        return TG_OK;
    }
    return TG_OK;
}

static void add_stop(const struct tg_convert *context, const struct tg_json *value,
                     struct tg_json *list)
{
    struct tg_span text;

    if (!tg_json_string(value, &text) || text.len == 0)
        return;
    if (tg_json_array_len(list) < STOPS_MOST)
        tg_json_push(list, tg_json_new_string(text));
    else
        tg_diagnose(context->diagnostics, TG_SEVERITY_WARN, "STOP_TRUNCATED", "stop",
                    "only the first 5 were kept");
}

static void set_stop(const struct tg_convert *context, const struct tg_json *request,
                     struct tg_json *config)
{
    struct tg_json *list = tg_json_new_array();
    const struct tg_json *stop;

    if (tg_json_get(request, "stop", &stop) == TG_JSON_GOT) {
        add_stop(context, stop, list);
        for (size_t i = 0; i < tg_json_array_len(stop); i++)
            add_stop(context, tg_json_array_at(stop, i), list);
    }
    tg_hub_set_list(config, "stopSequences", list);
}

/* --- thinking ------------------------------------------------------------------------------- */

/* From generation 3 on a level, in 2.5 a budget, never both. */
static const char *level_of(const struct tg_gemini_model *model, struct tg_span effort,
                            bool *ret_exact)
{
    bool minimal = tg_span_is(effort, "minimal"), none = tg_span_is(effort, "none");

    *ret_exact = !none;
    if (minimal || none) {
        *ret_exact = !none && !model->pro;
        return model->pro ? "LOW" : "MINIMAL";
    }
    if (tg_span_is(effort, "low"))
        return "LOW";
    if (tg_span_is(effort, "medium")) {
        *ret_exact = !model->pro || model->generation >= TG_GEMINI_3_1;
        return *ret_exact ? "MEDIUM" : "HIGH";
    }
    *ret_exact = tg_span_is(effort, "high");
    return "HIGH";
}

static int64_t fit_budget(const struct tg_gemini_model *model, int64_t budget)
{
    return TG_MAX(TG_MIN(budget, model->budget_max), model->pro ? PRO_BUDGET_LEAST : 0);
}

/* -1: as much as the model likes; -2: nothing was said. */
static int64_t budget_of(const struct tg_json *request, struct tg_span effort)
{
    const struct tg_json *exact;

    if (tg_json_get_object(request, "x_thinking", &exact) == TG_JSON_GOT) {
        if (tg_hub_is(exact, "mode", "enabled") && tg_hub_int(exact, "budget", 0) > 0)
            return tg_hub_int(exact, "budget", 0);
        if (tg_hub_is(exact, "mode", "dynamic"))
            return -1;
        if (tg_hub_is(exact, "mode", "disabled"))
            return 0;
    }
    return effort.len > 0 ? tg_effort_budget(effort) : -2;
}

static void set_budget(const struct tg_convert *context, const struct tg_gemini_model *model,
                       int64_t budget, struct tg_json *thinking)
{
    int64_t fit = budget < 0 ? -1 : fit_budget(model, budget);

    tg_json_set_int(thinking, "thinkingBudget", fit);
    tg_diagnose(context->diagnostics, budget == 0 && fit > 0 ? TG_SEVERITY_WARN : TG_SEVERITY_INFO,
                "REASONING_APPROXIMATED", "reasoning_effort", "");
}

static void set_level(const struct tg_convert *context, const struct tg_gemini_model *model,
                      struct tg_span effort, struct tg_json *thinking)
{
    bool exact;

    tg_json_set_str(thinking, "thinkingLevel", level_of(model, effort, &exact));
    tg_diagnose(context->diagnostics,
                tg_span_is(effort, "none") ? TG_SEVERITY_WARN : TG_SEVERITY_INFO,
                "REASONING_APPROXIMATED", "reasoning_effort", exact ? "" : "the nearest level");
}

static void set_thinking(const struct tg_convert *context, const struct tg_json *request,
                         struct tg_json *config)
{
    const struct tg_gemini_model model = tg_gemini_model_of(context->upstream_model);
    struct tg_span effort = tg_hub_span(request, "reasoning_effort");
    int64_t budget = budget_of(request, effort);
    struct tg_json *thinking;
    bool include = effort.len > 0 ? !tg_span_is(effort, "none") : budget > 0;

    (void)tg_json_get_bool(request, "x_include_thoughts", &include);
    if (budget == -2 && effort.len == 0 && !include)
        return;
    if (model.generation < TG_GEMINI_2_5) {
        tg_diagnose(context->diagnostics, TG_SEVERITY_INFO, "REASONING_DROPPED",
                    "reasoning_effort", "the model does not think");
        return;
    }
    thinking = tg_json_new_object();
    if (model.generation >= TG_GEMINI_3 && effort.len > 0)
        set_level(context, &model, effort, thinking);
    else if (model.generation < TG_GEMINI_3 && budget >= -1)
        set_budget(context, &model, budget, thinking);
    tg_json_set_bool(thinking, "includeThoughts", include);
    tg_json_set(config, "thinkingConfig", thinking);
    if (budget != 0 && tg_hub_int(config, "maxOutputTokens", THINKING_ROOM) < THINKING_ROOM)
        tg_diagnose(context->diagnostics, TG_SEVERITY_WARN, "PARAM_CONFLICT", "max_tokens",
                    "thoughts count against it");
}

/* --- the rest ------------------------------------------------------------------------------- */

static void set_tier(const struct tg_convert *context, const struct tg_json *request,
                     struct tg_json *made)
{
    static const char *const tiers[][2] = {
        {"default", "standard"}, {"flex", "flex"}, {"priority", "priority"}, {"scale", "priority"}};

    for (size_t i = 0; i < TG_COUNT_OF(tiers); i++)
        if (tg_hub_is(request, "service_tier", tiers[i][0])) {
            tg_json_set_str(made, "serviceTier", tiers[i][1]);
            tg_diagnose(context->diagnostics, TG_SEVERITY_INFO, "TIER_MAPPED", "service_tier", "");
        }
}

static void note_modalities(const struct tg_convert *context, const struct tg_json *request)
{
    const struct tg_json *list;
    struct tg_span word;

    if (tg_json_get_array(request, "modalities", &list) != TG_JSON_GOT)
        return;
    for (size_t i = 0; i < tg_json_array_len(list); i++)
        if (tg_json_string(tg_json_array_at(list, i), &word) && !tg_span_is(word, "text"))
            tg_diagnose(context->diagnostics, TG_SEVERITY_ERROR, "PARAM_DROPPED", "modalities",
                        "only text can be answered");
}

static enum tg_class convert_request(const struct tg_convert *context,
                                     const struct tg_json *request, struct tg_json **ret,
                                     struct tg_error *err)
{
    struct tg_json *made = tg_json_new_object(), *config = tg_json_new_object();
    enum tg_class class;

    tg_json_each(request, note_lost, (void *)(uintptr_t)context);
    class = tg_chat_to_gemini_turns(context, request, made, err);
    if (class == TG_OK)
        class = set_max_tokens(request, config, err);
    if (class != TG_OK) {
        tg_json_free(config);
        tg_json_free(made);
        return class;
    }
    set_sampling(context, request, config);
    set_counts(context, request, config);
    set_stop(context, request, config);
    set_thinking(context, request, config);
    note_modalities(context, request);
    tg_chat_to_gemini_format(context, request, made, config);
    if (tg_gemini_is_empty(config))
        tg_json_free(config);
    else
        tg_json_set(made, "generationConfig", config);
    set_tier(context, request, made);
    *ret = made;
    return TG_OK;
}

const struct tg_converter tg_convert_chat_gemini = {
    .client = TG_PROTOCOL_CHAT,
    .upstream = TG_PROTOCOL_GEMINI,
    .grade = 'B',
    .request = convert_request,
    .answer = tg_gemini_to_chat_answer,
    .stream = &tg_hop_gemini_to_chat,
};
