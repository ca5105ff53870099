/* generationConfig of Gemini in the words of Chat (PROTOCOLS B3, B0.5, B0.8, B0.13). */
#include "fcgi-app/convert/effort.h"
#include "fcgi-app/convert/gemini_hub.h"
#include "fcgi-app/convert/gemini_to_chat.h"
#include "fcgi-app/convert/schema_gemini.h"

#include <string.h>
#include <strings.h>

enum { STOPS_MOST = 4 };

/* What goes over under another name, as it is. */
static const struct {
    const char *from, *to;
} same[] = {
    {"temperature", "temperature"},
    {"topP", "top_p"},
    {"topK", "x_top_k"},
    {"presencePenalty", "presence_penalty"},
    {"frequencyPenalty", "frequency_penalty"},
    {"seed", "seed"},
};

/* Read elsewhere. */
static const char *const known[] = {
    "temperature",      "topP",           "topK",           "candidateCount",
    "maxOutputTokens",  "stopSequences",  "presencePenalty", "frequencyPenalty",
    "seed",             "responseLogprobs", "logprobs",     "responseMimeType",
    "responseSchema",   "responseJsonSchema", "_responseJsonSchema", "responseModalities",
    "thinkingConfig",   "mediaResolution",
};

/* Only other models and kinds of output know these. */
static const char *const dropped[] = {
    "speechConfig",  "imageConfig",          "audioTimestamp", "translationConfig",
    "routingConfig", "modelSelectionConfig", "responseFormat",
};

static bool note_key(void *opaque, const char *key, const struct tg_json *value)
{
    const struct tg_convert *context = opaque;
    const char *path = tg_arena_printf(context->arena, "generationConfig.%s", key);

    if (tg_json_type(value) == TG_JSON_NULL || tg_json_type(value) == TG_JSON_FALSE)
        return true;
    for (size_t i = 0; i < TG_COUNT_OF(known); i++)
        if (tg_gemini_key_is(key, known[i]))
            return true;
    for (size_t i = 0; i < TG_COUNT_OF(dropped); i++)
        if (tg_gemini_key_is(key, dropped[i])) {
            tg_diagnose(context->diagnostics, TG_SEVERITY_WARN, "PARAM_DROPPED", path, "");
            return true;
        }
    if (strncmp(key, "enable", 6) == 0)
        tg_diagnose(context->diagnostics, TG_SEVERITY_WARN, "PARAM_DROPPED", path, "");
    else
        tg_diagnose(context->diagnostics, TG_SEVERITY_INFO, "PARAM_UNKNOWN", path, "");
    return true;
}

/* --- limits --------------------------------------------------------------------------------- */

static enum tg_class set_int(const struct tg_json *config, const char *key, const char *to,
                             struct tg_json *made, struct tg_error *err)
{
    const struct tg_json *value = tg_gemini_get(config, key);
    int64_t number;

    if (value == NULL)
        return TG_OK;
    if (!tg_json_int(value, &number) || number < 1)
        return tg_hub_invalid(err, key, "is no positive integer");
    tg_json_set_int(made, to, number);
    return TG_OK;
}

static void set_stop(const struct tg_convert *context, const struct tg_json *config,
                     struct tg_json *made)
{
    const struct tg_json *stops = tg_gemini_array(config, "stopSequences");
    struct tg_json *list;
    struct tg_span text;

    if (stops == NULL)
        return;
    list = tg_json_new_array();
    for (size_t i = 0; i < tg_json_array_len(stops); i++)
        if (tg_json_string(tg_json_array_at(stops, i), &text) && text.len > 0 &&
            tg_json_array_len(list) < STOPS_MOST)
            tg_json_push(list, tg_json_new_string(text));
    if (tg_json_array_len(stops) > STOPS_MOST)
        tg_diagnose(context->diagnostics, TG_SEVERITY_WARN, "STOP_TRUNCATED",
                    "generationConfig.stopSequences", "only the first 4 were kept");
    tg_hub_set_list(made, "stop", list);
}

static void set_logprobs(const struct tg_json *config, struct tg_json *made)
{
    const struct tg_json *count = tg_gemini_get(config, "logprobs");
    int64_t number;

    if (!tg_gemini_true(config, "responseLogprobs"))
        return;
    tg_json_set_bool(made, "logprobs", true);
    if (count != NULL && tg_json_int(count, &number))
        tg_json_set_int(made, "top_logprobs", number);
}

static void note_modalities(const struct tg_convert *context, const struct tg_json *config)
{
    const struct tg_json *list = tg_gemini_array(config, "responseModalities");
    struct tg_span word;

    for (size_t i = 0; list != NULL && i < tg_json_array_len(list); i++)
        if (tg_json_string(tg_json_array_at(list, i), &word) &&
            (word.len != 4 || strncasecmp(word.ptr, "text", 4) != 0))
            tg_diagnose(context->diagnostics, TG_SEVERITY_ERROR, "PARAM_DROPPED",
                        "generationConfig.responseModalities", "only text can be answered");
}

/* --- thinking ------------------------------------------------------------------------------- */

static const char *effort_of_level(struct tg_span level)
{
    static const char *const words[] = {"minimal", "low", "medium", "high", "xhigh"};

    for (size_t i = 0; i < TG_COUNT_OF(words); i++)
        if (level.len == strlen(words[i]) && strncasecmp(level.ptr, words[i], level.len) == 0)
            return words[i];
    return NULL;
}

/* Said exactly for a target that takes budgets, and as the nearest effort for one that does not. */
static const char *read_thinking(const struct tg_convert *context, const struct tg_json *thinking,
                                 struct tg_json *exact)
{
    struct tg_span level = tg_gemini_text(thinking, "thinkingLevel");
    const struct tg_json *budget = tg_gemini_get(thinking, "thinkingBudget");
    int64_t tokens = 0;

    if (level.len > 0) {
        if (budget != NULL)
            tg_diagnose(context->diagnostics, TG_SEVERITY_WARN, "PARAM_CONFLICT",
                        "generationConfig.thinkingConfig", "the level was taken");
        tg_json_set_str(exact, "mode", "adaptive");
        tg_json_set_span(exact, "level", level);
        return effort_of_level(level);
    }
    if (budget == NULL || !tg_json_int(budget, &tokens))
        return NULL;
    if (tokens > 0)
        tg_json_set_int(exact, "budget", tokens);
    tg_json_set_str(exact, "mode",
                    tokens == 0  ? "disabled"
                    : tokens < 0 ? "dynamic"
                                 : "enabled");
    return tokens >= 0 ? tg_effort_of_budget(tokens) : NULL;
}

static void set_thinking(const struct tg_convert *context, const struct tg_json *config,
                         struct tg_json *made)
{
    const struct tg_json *thinking = tg_gemini_object(config, "thinkingConfig"), *wanted;
    struct tg_json *exact;
    const char *effort;

    if (thinking == NULL)
        return;
    exact = tg_json_new_object();
    effort = read_thinking(context, thinking, exact);
    if (effort != NULL) {
        tg_json_set_str(made, "reasoning_effort", effort);
        tg_diagnose(context->diagnostics, TG_SEVERITY_INFO, "REASONING_APPROXIMATED",
                    "generationConfig.thinkingConfig", effort);
    }
    tg_json_set(made, "x_thinking", exact);
    wanted = tg_gemini_get(thinking, "includeThoughts");
    if (wanted != NULL)
        tg_json_set_bool(made, "x_include_thoughts", tg_json_type(wanted) == TG_JSON_TRUE);
}

/* --- format --------------------------------------------------------------------------------- */

/* A line more at the end of the system prompt. */
static void add_to_system(struct tg_json *made, const char *line)
{
    struct tg_json *messages = tg_json_member(made, "messages");
    struct tg_json *first = messages != NULL ? tg_json_element(messages, 0) : NULL, *message;
    struct tg_json *content;

    if (first != NULL && tg_hub_is(first, "role", "system")) {
        struct tg_span before;
        struct tg_buf text;

        content = tg_json_member(first, "content");
        tg_buf_init(&text, 0);
        if (content != NULL && tg_json_string(content, &before)) {
            tg_buf_add(&text, before.ptr, before.len);
            tg_buf_str(&text, "\n\n");
            tg_buf_str(&text, line);
            tg_json_set_span(first, "content", (struct tg_span){text.data, text.len});
        } else if (content != NULL) {
            struct tg_json *part = tg_json_new_object();

            tg_json_set_str(part, "type", "text");
            tg_json_set_str(part, "text", line);
            tg_json_push(content, part);
        }
        tg_buf_done(&text);
        return;
    }
    message = tg_json_new_object();
    tg_json_set_str(message, "role", "system");
    tg_json_set_str(message, "content", line);
    tg_json_insert(messages, 0, message);
}

/* OpenAI refuses json_object when no message speaks of JSON. */
static bool speaks_of_json(struct tg_json *made)
{
    struct tg_json *messages = tg_json_member(made, "messages");
    struct tg_buf text;
    bool found = false;

    tg_buf_init(&text, 0);
    tg_json_print(messages, &text);
    for (size_t i = 0; i + 4 <= text.len && !found; i++)
        found = strncasecmp(text.data + i, "json", 4) == 0;
    tg_buf_done(&text);
    return found;
}

/* One word of a few: nobody else can promise that. */
static void ask_for_enum(const struct tg_convert *context, const struct tg_json *schema,
                         struct tg_json *made)
{
    const struct tg_json *words;
    struct tg_buf line;

    tg_buf_init(&line, 0);
    tg_buf_str(&line, "Respond with exactly one of these values and nothing else: ");
    if (tg_json_get_array(schema, "enum", &words) == TG_JSON_GOT)
        tg_json_print(words, &line);
    add_to_system(made, tg_buf_text(&line));
    tg_buf_done(&line);
    tg_diagnose(context->diagnostics, TG_SEVERITY_WARN, "FORMAT_DOWNGRADED",
                "generationConfig.responseMimeType", "asked for in the system prompt");
}

/* Takes <schema>. */
static void set_schema(struct tg_json *schema, struct tg_json *made)
{
    struct tg_json *format = tg_json_new_object(), *inner = tg_json_new_object();

    tg_json_set_str(format, "type", "json_schema");
    tg_json_set_str(inner, "name", "response");
    tg_json_set(inner, "schema", schema);
    tg_json_set_bool(inner, "strict", tg_schema_is_strict(schema));
    tg_json_set(format, "json_schema", inner);
    tg_json_set(made, "response_format", format);
}

/* The schema of the answer as JSON Schema; NULL: none. */
static struct tg_json *schema_of(const struct tg_convert *context, const struct tg_json *config)
{
    const struct tg_json *schema = tg_gemini_object(config, "responseJsonSchema");

    if (schema == NULL)
        schema = tg_gemini_object(config, "_responseJsonSchema");
    if (schema != NULL)
        return tg_json_copy(schema);
    schema = tg_gemini_object(config, "responseSchema");
    if (schema == NULL)
        return NULL;
    tg_diagnose(context->diagnostics, TG_SEVERITY_INFO, "SCHEMA_REWRITTEN",
                "generationConfig.responseSchema", "");
    return tg_schema_of_gemini(schema);
}

static void set_format(const struct tg_convert *context, const struct tg_json *config,
                       struct tg_json *made)
{
    struct tg_span type = tg_gemini_text(config, "responseMimeType");
    struct tg_json *schema = schema_of(context, config), *format;

    if (tg_span_is(type, "text/x.enum") && schema != NULL) {
        ask_for_enum(context, schema, made);
        tg_json_free(schema);
    } else if (schema != NULL) {
        set_schema(schema, made);
    } else if (tg_span_is(type, "application/json")) {
        if (!speaks_of_json(made))
            add_to_system(made, "Respond in JSON.");
        format = tg_json_new_object();
        tg_json_set_str(format, "type", "json_object");
        tg_json_set(made, "response_format", format);
    }
}

enum tg_class tg_gemini_to_chat_generation(const struct tg_convert *context,
                                           const struct tg_json *request, struct tg_json *made,
                                           struct tg_error *err)
{
    const struct tg_json *config = tg_gemini_object(request, "generationConfig"), *value, *count;
    enum tg_class class;
    int64_t candidates = 1;

    if (config == NULL)
        return TG_OK;
    tg_json_each(config, note_key, (void *)(uintptr_t)context);
    class = set_int(config, "maxOutputTokens", "max_completion_tokens", made, err);
    if (class != TG_OK)
        return class;
    for (size_t i = 0; i < TG_COUNT_OF(same); i++) {
        value = tg_gemini_get(config, same[i].from);
        if (value != NULL)
            tg_json_set(made, same[i].to, tg_json_copy(value));
    }
    count = tg_gemini_get(config, "candidateCount");
    if (count != NULL && tg_json_int(count, &candidates) && candidates > 1)
        tg_json_set_int(made, "n", candidates);
    set_stop(context, config, made);
    set_logprobs(config, made);
    note_modalities(context, config);
    set_thinking(context, config, made);
    set_format(context, config, made);
    return TG_OK;
}
