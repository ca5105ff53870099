#include "fcgi-app/convert/usage_figures.h"

#include "fcgi-app/convert/value.h"

#include <string.h>

/* Where a dialect says a figure: a path below the object that holds its usage. Of several places
 * for one figure the first that holds a number counts. */
struct place {
    const char *path;
    enum tg_figure figure;
};

/* --- the dialects -------------------------------------------------------------------------- */

static const struct place chat_places[] = {
    {"prompt_tokens", TG_FIGURE_INPUT},
    {"prompt_tokens_details.cached_tokens", TG_FIGURE_CACHED},
    {"prompt_cache_hit_tokens", TG_FIGURE_CACHED}, /* DeepSeek */
    {"cached_tokens", TG_FIGURE_CACHED},           /* Moonshot */
    {"num_cached_tokens", TG_FIGURE_CACHED},       /* Mistral */
    {"cache_read_input_tokens", TG_FIGURE_CACHED}, /* gateways in front of Claude */
    {"prompt_tokens_details.cache_write_tokens", TG_FIGURE_WRITTEN},
    {"cache_creation_input_tokens", TG_FIGURE_WRITTEN},
    {"prompt_tokens_details.audio_tokens", TG_FIGURE_AUDIO_IN},
    {"prompt_tokens_details.image_tokens", TG_FIGURE_IMAGE_IN},
    {"completion_tokens", TG_FIGURE_OUTPUT},
    {"completion_tokens_details.reasoning_tokens", TG_FIGURE_REASONING},
    {"completion_tokens_details.audio_tokens", TG_FIGURE_AUDIO_OUT},
};

static const struct place responses_places[] = {
    {"input_tokens", TG_FIGURE_INPUT},
    {"input_tokens_details.cached_tokens", TG_FIGURE_CACHED},
    {"input_tokens_details.cache_write_tokens", TG_FIGURE_WRITTEN},
    {"input_tokens_details.audio_tokens", TG_FIGURE_AUDIO_IN},
    {"input_tokens_details.image_tokens", TG_FIGURE_IMAGE_IN},
    {"input_token_details.cached_tokens", TG_FIGURE_CACHED}, /* transcriptions, realtime */
    {"input_token_details.audio_tokens", TG_FIGURE_AUDIO_IN},
    {"output_tokens", TG_FIGURE_OUTPUT},
    {"output_tokens_details.reasoning_tokens", TG_FIGURE_REASONING},
    {"output_tokens_details.audio_tokens", TG_FIGURE_AUDIO_OUT},
    {"output_token_details.audio_tokens", TG_FIGURE_AUDIO_OUT},
};

static const struct place messages_places[] = {
    {"input_tokens", TG_FIGURE_INPUT},
    {"cache_read_input_tokens", TG_FIGURE_CACHED},
    {"cache_creation_input_tokens", TG_FIGURE_WRITTEN},
    {"cache_creation.ephemeral_5m_input_tokens", TG_FIGURE_WRITTEN_5M},
    {"cache_creation.ephemeral_1h_input_tokens", TG_FIGURE_WRITTEN_1H},
    {"output_tokens", TG_FIGURE_OUTPUT},
    {"output_tokens_details.thinking_tokens", TG_FIGURE_REASONING},
    {"server_tool_use.web_search_requests", TG_FIGURE_WEB_SEARCHES},
};

static const struct place gemini_places[] = {
    {"promptTokenCount", TG_FIGURE_INPUT},
    {"toolUsePromptTokenCount", TG_FIGURE_TOOL_INPUT},
    {"cachedContentTokenCount", TG_FIGURE_CACHED},
    {"candidatesTokenCount", TG_FIGURE_OUTPUT},
    {"thoughtsTokenCount", TG_FIGURE_REASONING},
};

static const struct place converse_places[] = {
    {"inputTokens", TG_FIGURE_INPUT},
    {"cacheReadInputTokens", TG_FIGURE_CACHED},
    {"cacheWriteInputTokens", TG_FIGURE_WRITTEN},
    {"outputTokens", TG_FIGURE_OUTPUT},
};

static const struct place cohere_places[] = {
    {"billed_units.input_tokens", TG_FIGURE_INPUT},
    {"tokens.input_tokens", TG_FIGURE_INPUT},
    {"billed_units.output_tokens", TG_FIGURE_OUTPUT},
    {"tokens.output_tokens", TG_FIGURE_OUTPUT},
};

enum { PLACES_MOST = 16 };

/* What <path> says below a member: itself, or a value inside it. */
static void look_below(const struct tg_json_member *member, const char *text, const char *path,
                       struct tg_value *ret)
{
    const struct tg_span value = {text + member->value.at, member->value.len};
    struct tg_value inside;
    size_t len = member->key.len;

    if (strlen(path) < len || memcmp(path, member->key.ptr, len) != 0)
        return;
    if (path[len] == '\0')
        *ret = (struct tg_value){value, member->value.type};
    else if (path[len] == '.' && tg_value_at(value, path + len + 1, &inside))
        *ret = inside;
}

/* All places in one pass over the members; a key that is written with escapes is nobody's. */
static void find_places(const struct tg_value *usage, const struct place *places, size_t count,
                        struct tg_value found[PLACES_MOST])
{
    struct tg_json_member member;
    size_t at = 0;

    tg_assert(count <= PLACES_MOST);
    for (size_t i = 0; i < count; i++)
        found[i] = (struct tg_value){{"", 0}, TG_JSON_NULL};
    while (tg_json_next(usage->text.ptr, usage->text.len, &at, &member))
        for (size_t i = 0; i < count; i++)
            look_below(&member, usage->text.ptr, places[i].path, &found[i]);
}

static void read_places(struct tg_figures *figures, const struct tg_value *usage,
                        const struct place *places, size_t count)
{
    int64_t said[TG_FIGURE__COUNT] = {0};
    bool is_said[TG_FIGURE__COUNT] = {false};
    struct tg_value found[PLACES_MOST];

    if (usage->type != TG_JSON_OBJECT)
        return;
    find_places(usage, places, count, found);
    for (size_t i = 0; i < count; i++)
        if (!is_said[places[i].figure])
            is_said[places[i].figure] = tg_value_count(&found[i], &said[places[i].figure]);
    for (size_t i = 0; i < TG_FIGURE__COUNT; i++)
        if (said[i] != 0)
            figures->figures[i] = said[i];
}

#define READ(figures, usage, places) read_places(figures, usage, places, TG_COUNT_OF(places))

static struct tg_value at(struct tg_span text, const char *path)
{
    struct tg_value value;

    return tg_value_at(text, path, &value) ? value : (struct tg_value){{"", 0}, TG_JSON_NULL};
}

/* --- what needs more than a table ---------------------------------------------------------- */

/* Embeddings of some vendors say nothing but the total. */
void tg_figures_read_chat(struct tg_figures *figures, struct tg_span usage)
{
    const struct tg_value whole = at(usage, ""), total = at(usage, "total_tokens");
    int64_t number;

    READ(figures, &whole, chat_places);
    if (figures->figures[TG_FIGURE_INPUT] == 0 && figures->figures[TG_FIGURE_OUTPUT] == 0 &&
        tg_value_count(&total, &number))
        figures->figures[TG_FIGURE_INPUT] = number;
}

static void read_chat(struct tg_figures *figures, struct tg_span data)
{
    static const char *const paths[] = {"usage", "x_groq.usage", "choices.0.usage"};

    for (size_t i = 0; i < TG_COUNT_OF(paths); i++) {
        const struct tg_value usage = at(data, paths[i]);

        if (usage.type != TG_JSON_OBJECT)
            continue;
        tg_figures_read_chat(figures, usage.text);
        return;
    }
}

static bool string_is(const struct tg_value *value, const char *word)
{
    char text[48];

    return tg_value_string(value, text, sizeof text) && strcmp(text, word) == 0;
}

static int figure_of_call(const struct tg_value *item)
{
    static const struct place calls[] = {
        {"web_search_call", TG_FIGURE_WEB_SEARCHES},
        {"file_search_call", TG_FIGURE_FILE_SEARCHES},
        {"code_interpreter_call", TG_FIGURE_INTERPRETERS},
        {"image_generation_call", TG_FIGURE_IMAGES_MADE},
    };
    const struct tg_value type = at(item->text, "type"), action = at(item->text, "action.type");

    /* Opening a page and looking for words in it are no searches. */
    if (action.type == TG_JSON_STRING && !string_is(&action, "search") &&
        string_is(&type, "web_search_call"))
        return -1;
    for (size_t i = 0; i < TG_COUNT_OF(calls); i++)
        if (string_is(&type, calls[i].path))
            return (int)calls[i].figure;
    return -1;
}

static void count_calls(struct tg_figures *figures, const struct tg_value *output)
{
    int64_t calls[TG_FIGURE__COUNT] = {0};
    struct tg_value item;
    struct tg_walk walk;

    if (output->type != TG_JSON_ARRAY)
        return;
    for (tg_walk_begin(&walk, output); tg_walk_next(&walk, &item);) {
        int figure = figure_of_call(&item);

        if (figure >= 0)
            calls[figure]++;
    }
    for (size_t i = 0; i < TG_FIGURE__COUNT; i++)
        if (calls[i] != 0)
            figures->figures[i] = calls[i];
}

/* The events that end a stream hold the whole response; an answer is one. */
static void read_responses(struct tg_figures *figures, struct tg_span data)
{
    struct tg_value response = at(data, "response"), usage, output;

    if (response.type != TG_JSON_OBJECT)
        response = at(data, "");
    usage = at(response.text, "usage");
    if (usage.type != TG_JSON_OBJECT)
        return;
    READ(figures, &usage, responses_places);
    output = at(response.text, "output");
    count_calls(figures, &output);
}

static void read_messages(struct tg_figures *figures, struct tg_span data)
{
    const struct tg_value start = at(data, "message.usage"), usage = at(data, "usage");

    READ(figures, &start, messages_places);
    READ(figures, &usage, messages_places);
}

/* [{"modality":"AUDIO","tokenCount":113},…]: adds what is of <modality>. */
static int64_t of_modality(struct tg_span usage, const char *key, const char *modality)
{
    const struct tg_value details = at(usage, key);
    struct tg_value detail, name, tokens;
    int64_t sum = 0, number;
    struct tg_walk walk;

    if (details.type != TG_JSON_ARRAY)
        return 0;
    for (tg_walk_begin(&walk, &details); tg_walk_next(&walk, &detail);) {
        name = at(detail.text, "modality");
        tokens = at(detail.text, "tokenCount");
        if (string_is(&name, modality) && tg_value_count(&tokens, &number))
            sum = TG_MIN(sum + TG_MAX(number, 0), (int64_t)TG_USAGE_TOKENS_MAX + 1);
    }
    return sum;
}

static void read_modalities(struct tg_figures *figures, struct tg_span usage)
{
    static const struct {
        const char *key, *modality;
        enum tg_figure figure;
    } details[] = {
        {"promptTokensDetails", "AUDIO", TG_FIGURE_AUDIO_IN},
        {"promptTokensDetails", "IMAGE", TG_FIGURE_IMAGE_IN},
        {"cacheTokensDetails", "AUDIO", TG_FIGURE_CACHED_AUDIO},
        {"cacheTokensDetails", "IMAGE", TG_FIGURE_CACHED_IMAGE},
        {"candidatesTokensDetails", "AUDIO", TG_FIGURE_AUDIO_OUT},
    };

    for (size_t i = 0; i < TG_COUNT_OF(details); i++) {
        int64_t tokens = of_modality(usage, details[i].key, details[i].modality);

        if (tokens != 0)
            figures->figures[details[i].figure] = tokens;
    }
}

/* Google charges a grounded request once, however many searches it made. */
static void read_gemini(struct tg_figures *figures, struct tg_span data)
{
    const struct tg_value usage = at(data, "usageMetadata");
    const struct tg_value searches =
        at(data, "candidates.0.groundingMetadata.webSearchQueries");

    if (usage.type == TG_JSON_OBJECT) {
        READ(figures, &usage, gemini_places);
        read_modalities(figures, usage.text);
    }
    if (searches.type == TG_JSON_ARRAY && tg_value_is_filled(&searches))
        figures->figures[TG_FIGURE_WEB_SEARCHES] = 1;
}

/* [{"ttl":"1h","inputTokens":700},…]: what of the writes lives for an hour. */
static void read_lives(struct tg_figures *figures, const struct tg_value *usage)
{
    const struct tg_value details = at(usage->text, "cacheDetails");
    struct tg_value detail, life, tokens;
    struct tg_walk walk;
    int64_t number;

    if (details.type != TG_JSON_ARRAY)
        return;
    for (tg_walk_begin(&walk, &details); tg_walk_next(&walk, &detail);) {
        life = at(detail.text, "ttl");
        tokens = at(detail.text, "inputTokens");
        if (string_is(&life, "1h") && tg_value_count(&tokens, &number) && number != 0)
            figures->figures[TG_FIGURE_WRITTEN_1H] = number;
    }
}

/* Streams put the usage into an event called metadata, of which some clients see the inside. */
static void read_converse(struct tg_figures *figures, struct tg_span data)
{
    struct tg_value usage = at(data, "metadata.usage");

    if (usage.type != TG_JSON_OBJECT)
        usage = at(data, "usage");
    READ(figures, &usage, converse_places);
    read_lives(figures, &usage);
}

static void read_cohere(struct tg_figures *figures, struct tg_span data)
{
    const struct tg_value inner = at(data, "delta.usage"), usage = at(data, "usage");
    const struct tg_value billed = at(data, "meta"); /* of embeddings */

    READ(figures, &inner, cohere_places);
    READ(figures, &usage, cohere_places);
    READ(figures, &billed, cohere_places);
}

/* --- together ------------------------------------------------------------------------------ */

void tg_figures_init(struct tg_figures *figures, enum tg_figures_dialect dialect)
{
    *figures = (struct tg_figures){.dialect = dialect};
}

void tg_figures_read(struct tg_figures *figures, struct tg_span data)
{
    static void (*const readers[])(struct tg_figures *, struct tg_span) = {
        [TG_FIGURES_CHAT] = read_chat,         [TG_FIGURES_RESPONSES] = read_responses,
        [TG_FIGURES_MESSAGES] = read_messages, [TG_FIGURES_GEMINI] = read_gemini,
        [TG_FIGURES_CONVERSE] = read_converse, [TG_FIGURES_COHERE] = read_cohere,
    };

    if (data.len > 0)
        readers[figures->dialect](figures, data);
}

/* Figures may be absurd: sums of two stay within int64, for none is beyond TOKENS_MAX + 1. */
static struct tg_usage normalised(const struct tg_figures *figures)
{
    const int64_t *figure = figures->figures;
    int64_t long_lived = figure[TG_FIGURE_WRITTEN_1H];
    int64_t written = figure[TG_FIGURE_WRITTEN];
    int64_t short_lived =
        written < 0 ? written : TG_MAX(written - long_lived, figure[TG_FIGURE_WRITTEN_5M]);
    bool excludes = figures->dialect == TG_FIGURES_CONVERSE ||
                    (figures->dialect == TG_FIGURES_MESSAGES && !figures->input_includes_cache);
    struct tg_usage usage = {
        .semantics = excludes ? TG_USAGE_INPUT_EXCLUDES_CACHE : TG_USAGE_INPUT_INCLUDES_CACHE,
        .source = TG_USAGE_UPSTREAM,
        .input = figure[TG_FIGURE_INPUT] + figure[TG_FIGURE_TOOL_INPUT],
        .cache_read = figure[TG_FIGURE_CACHED],
        .cache_write_5m = short_lived,
        .cache_write_1h = long_lived,
        .audio_in = figure[TG_FIGURE_AUDIO_IN] - figure[TG_FIGURE_CACHED_AUDIO],
        .image_in = figure[TG_FIGURE_IMAGE_IN] - figure[TG_FIGURE_CACHED_IMAGE],
        .output = figure[TG_FIGURE_OUTPUT],
        .reasoning = figure[TG_FIGURE_REASONING],
        .audio_out = figure[TG_FIGURE_AUDIO_OUT],
    };

    if (figures->dialect == TG_FIGURES_GEMINI) /* thoughts are beside the candidates */
        usage.output += figure[TG_FIGURE_REASONING];
    tg_usage_add_tool(&usage, TG_TOOL_WEB_SEARCH, figure[TG_FIGURE_WEB_SEARCHES]);
    tg_usage_add_tool(&usage, TG_TOOL_FILE_SEARCH, figure[TG_FIGURE_FILE_SEARCHES]);
    tg_usage_add_tool(&usage, TG_TOOL_CODE_INTERPRETER, figure[TG_FIGURE_INTERPRETERS]);
    tg_usage_add_tool(&usage, TG_TOOL_IMAGE_GENERATION, figure[TG_FIGURE_IMAGES_MADE]);
    return usage;
}

bool tg_figures_usage(const struct tg_figures *figures, struct tg_usage *ret)
{
    struct tg_usage usage = normalised(figures);

    tg_usage_clamp(&usage);
    if (tg_usage_is_empty(&usage))
        return false;
    *ret = usage;
    return true;
}
