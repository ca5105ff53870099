/* Usage of every dialect and its variants, of answers and of streams. */
#include "tests/unit/unit.h"

#include "fcgi-app/convert/usage_figures.h"

enum { EVENTS = 4 };

struct counts {
    int64_t input, cache_read, cache_write_5m, cache_write_1h, image_in, audio_in;
    int64_t output, reasoning, audio_out, searches;
};

#define ALL TG_USAGE_INPUT_INCLUDES_CACHE
#define BARE TG_USAGE_INPUT_EXCLUDES_CACHE

static const struct {
    const char *what;
    enum tg_figures_dialect dialect;
    const char *events[EVENTS];
    enum tg_usage_semantics semantics;
    struct counts is;
    bool clamped;
} cases[] = {
    {"Chat", TG_FIGURES_CHAT,
     {"{\"usage\":{\"prompt_tokens\":5000,\"prompt_tokens_details\":{\"cached_tokens\":4000},"
      "\"completion_tokens\":100,\"total_tokens\":5100}}"},
     ALL, {5000, 4000, 0, 0, 0, 0, 100, 0, 0, 0}, false},
    {"Chat of Moonshot", TG_FIGURES_CHAT,
     {"{\"usage\":{\"prompt_tokens\":19,\"completion_tokens\":21,\"cached_tokens\":10}}"},
     ALL, {19, 10, 0, 0, 0, 0, 21, 0, 0, 0}, false},
    {"Chat of DeepSeek", TG_FIGURES_CHAT,
     {"{\"usage\":{\"prompt_tokens\":12,\"completion_tokens\":9,\"prompt_cache_hit_tokens\":8,"
      "\"prompt_cache_miss_tokens\":4,\"completion_tokens_details\":{\"reasoning_tokens\":5}}}"},
     ALL, {12, 8, 0, 0, 0, 0, 9, 5, 0, 0}, false},
    {"Chat of Zhipu", TG_FIGURES_CHAT,
     {"{\"usage\":{\"prompt_tokens\":1200,\"completion_tokens\":300,\"total_tokens\":1500,"
      "\"prompt_tokens_details\":{\"cached_tokens\":800}}}"},
     ALL, {1200, 800, 0, 0, 0, 0, 300, 0, 0, 0}, false},
    {"Chat of Mistral", TG_FIGURES_CHAT,
     {"{\"usage\":{\"prompt_tokens\":997,\"completion_tokens\":181,\"num_cached_tokens\":64}}"},
     ALL, {997, 64, 0, 0, 0, 0, 181, 0, 0, 0}, false},
    {"Chat of Groq's streams", TG_FIGURES_CHAT,
     {"{\"choices\":[],\"x_groq\":{\"id\":\"r\",\"usage\":{\"prompt_tokens\":7,"
      "\"completion_tokens\":3}}}"},
     ALL, {7, 0, 0, 0, 0, 0, 3, 0, 0, 0}, false},
    {"Chat of a gateway before Claude", TG_FIGURES_CHAT,
     {"{\"usage\":{\"prompt_tokens\":1110,\"completion_tokens\":5,"
      "\"cache_read_input_tokens\":1000,\"cache_creation_input_tokens\":100}}"},
     ALL, {1110, 1000, 100, 0, 0, 0, 5, 0, 0, 0}, false},
    {"Chat with usage in every event: the last one counts, never the sum", TG_FIGURES_CHAT,
     {"{\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":1}}",
      "{\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":2}}",
      "{\"usage\":{\"prompt_tokens\":0,\"completion_tokens\":0}}", "{\"usage\":null}"},
     ALL, {7, 0, 0, 0, 0, 0, 2, 0, 0, 0}, false},
    {"embeddings that say the total only", TG_FIGURES_CHAT,
     {"{\"object\":\"list\",\"usage\":{\"total_tokens\":3}}"},
     ALL, {3, 0, 0, 0, 0, 0, 0, 0, 0, 0}, false},
    {"Chat of an upstream that counts like Anthropic", TG_FIGURES_CHAT,
     {"{\"usage\":{\"prompt_tokens\":10,\"completion_tokens\":5,"
      "\"prompt_tokens_details\":{\"cached_tokens\":990}}}"},
     BARE, {10, 990, 0, 0, 0, 0, 5, 0, 0, 0}, true},

    {"Responses", TG_FIGURES_RESPONSES,
     {"{\"object\":\"response\",\"output\":[{\"type\":\"web_search_call\",\"action\":"
      "{\"type\":\"search\"}},{\"type\":\"web_search_call\",\"action\":{\"type\":\"open_page\"}},"
      "{\"type\":\"message\"},{\"type\":\"web_search_call\"}],\"usage\":{\"input_tokens\":1493,"
      "\"input_tokens_details\":{\"cached_tokens\":1280,\"cache_write_tokens\":100},"
      "\"output_tokens\":125,\"output_tokens_details\":{\"reasoning_tokens\":64}}}"},
     ALL, {1493, 1280, 100, 0, 0, 0, 125, 64, 0, 2}, false},
    {"a stream of Responses", TG_FIGURES_RESPONSES,
     {"{\"type\":\"response.created\",\"response\":{\"usage\":null,\"output\":[]}}",
      "{\"type\":\"response.output_text.delta\",\"delta\":\"usage\"}",
      "{\"type\":\"response.completed\",\"response\":{\"output\":[],\"usage\":"
      "{\"input_tokens\":9,\"output_tokens\":4}}}"},
     ALL, {9, 0, 0, 0, 0, 0, 4, 0, 0, 0}, false},

    {"Messages", TG_FIGURES_MESSAGES,
     {"{\"type\":\"message\",\"usage\":{\"input_tokens\":12,\"cache_read_input_tokens\":800,"
      "\"cache_creation_input_tokens\":100,\"output_tokens\":40,\"output_tokens_details\":"
      "{\"thinking_tokens\":33},\"server_tool_use\":{\"web_search_requests\":2,"
      "\"web_fetch_requests\":1}}}"},
     BARE, {12, 800, 100, 0, 0, 0, 40, 33, 0, 2}, false},
    {"writes of both lives, and some of none", TG_FIGURES_MESSAGES,
     {"{\"usage\":{\"input_tokens\":0,\"cache_creation_input_tokens\":1020,\"cache_creation\":"
      "{\"ephemeral_5m_input_tokens\":240,\"ephemeral_1h_input_tokens\":700},"
      "\"cache_read_input_tokens\":0,\"output_tokens\":0}}"},
     BARE, {0, 0, 320, 700, 0, 0, 0, 0, 0, 0}, false},
    {"writes that only their lives tell of", TG_FIGURES_MESSAGES,
     {"{\"usage\":{\"input_tokens\":1,\"cache_creation\":{\"ephemeral_5m_input_tokens\":240,"
      "\"ephemeral_1h_input_tokens\":700},\"output_tokens\":2}}"},
     BARE, {1, 0, 240, 700, 0, 0, 2, 0, 0, 0}, false},
    {"the lives come first, the total again at the end", TG_FIGURES_MESSAGES,
     {"{\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":3,"
      "\"cache_creation_input_tokens\":900,\"cache_creation\":{\"ephemeral_5m_input_tokens\":200,"
      "\"ephemeral_1h_input_tokens\":700},\"output_tokens\":1}}}",
      "{\"type\":\"message_delta\",\"usage\":{\"cache_creation_input_tokens\":900,"
      "\"output_tokens\":50}}"},
     BARE, {3, 0, 200, 700, 0, 0, 50, 0, 0, 0}, false},
    {"the whole prompt first, its parts at the end", TG_FIGURES_MESSAGES,
     {"{\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":8000,"
      "\"output_tokens\":0}}}",
      "{\"type\":\"message_delta\",\"usage\":{\"input_tokens\":20,"
      "\"cache_creation_input_tokens\":0,\"cache_read_input_tokens\":7980,"
      "\"output_tokens\":40}}"},
     BARE, {20, 7980, 0, 0, 0, 0, 40, 0, 0, 0}, false},
    {"a larger input at the end", TG_FIGURES_MESSAGES,
     {"{\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":12,"
      "\"output_tokens\":1}}}",
      "{\"type\":\"message_delta\",\"usage\":{\"input_tokens\":900,\"output_tokens\":30}}"},
     BARE, {900, 0, 0, 0, 0, 0, 30, 0, 0, 0}, false},
    {"no input at the end", TG_FIGURES_MESSAGES,
     {"{\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":12,"
      "\"output_tokens\":1}}}",
      "{\"type\":\"message_delta\",\"usage\":{\"input_tokens\":0,\"output_tokens\":30}}"},
     BARE, {12, 0, 0, 0, 0, 0, 30, 0, 0, 0}, false},

    {"Gemini: thoughts, tools, what was cached of what", TG_FIGURES_GEMINI,
     {"{\"candidates\":[{\"groundingMetadata\":{\"webSearchQueries\":[\"a\",\"b\"]}}],"
      "\"usageMetadata\":{\"promptTokenCount\":232,\"toolUsePromptTokenCount\":60,"
      "\"cachedContentTokenCount\":100,\"candidatesTokenCount\":246,\"thoughtsTokenCount\":545,"
      "\"promptTokensDetails\":[{\"modality\":\"TEXT\",\"tokenCount\":68},{\"modality\":\"AUDIO\","
      "\"tokenCount\":113},{\"modality\":\"IMAGE\",\"tokenCount\":51}],\"cacheTokensDetails\":"
      "[{\"modality\":\"AUDIO\",\"tokenCount\":80},{\"modality\":\"TEXT\",\"tokenCount\":20}],"
      "\"candidatesTokensDetails\":[{\"modality\":\"AUDIO\",\"tokenCount\":46}]}}"},
     ALL, {292, 100, 0, 0, 51, 33, 791, 545, 46, 1}, false},
    {"a stream of Gemini forgets nothing", TG_FIGURES_GEMINI,
     {"{\"usageMetadata\":{\"promptTokenCount\":15,\"totalTokenCount\":15}}",
      "{\"usageMetadata\":{\"promptTokenCount\":15,\"thoughtsTokenCount\":20,"
      "\"candidatesTokenCount\":1}}",
      "{\"usageMetadata\":{\"promptTokenCount\":15,\"toolUsePromptTokenCount\":3,"
      "\"candidatesTokenCount\":7,\"totalTokenCount\":45}}"},
     ALL, {18, 0, 0, 0, 0, 0, 27, 20, 0, 0}, false},

    {"Bedrock", TG_FIGURES_CONVERSE,
     {"{\"usage\":{\"inputTokens\":10,\"outputTokens\":5,\"cacheReadInputTokens\":990,"
      "\"cacheWriteInputTokens\":7,\"totalTokens\":1012}}"},
     BARE, {10, 990, 7, 0, 0, 0, 5, 0, 0, 0}, false},
    {"Bedrock's writes by their life, in a stream", TG_FIGURES_CONVERSE,
     {"{\"metadata\":{\"usage\":{\"inputTokens\":1,\"outputTokens\":2,"
      "\"cacheWriteInputTokens\":1020,\"cacheDetails\":[{\"inputTokens\":700,\"ttl\":\"1h\"},"
      "{\"inputTokens\":320,\"ttl\":\"5m\"}]}}}"},
     BARE, {1, 0, 320, 700, 0, 0, 2, 0, 0, 0}, false},
    {"a transcription", TG_FIGURES_RESPONSES,
     {"{\"text\":\"hi\",\"usage\":{\"type\":\"tokens\",\"input_tokens\":14,"
      "\"input_token_details\":{\"text_tokens\":4,\"audio_tokens\":10},\"output_tokens\":45}}"},
     ALL, {14, 0, 0, 0, 0, 10, 45, 0, 0, 0}, false},
    {"Cohere bills other units than it reads", TG_FIGURES_COHERE,
     {"{\"usage\":{\"billed_units\":{\"input_tokens\":33,\"output_tokens\":22},"
      "\"cached_tokens\":144,\"tokens\":{\"input_tokens\":1452,\"output_tokens\":33}}}"},
     ALL, {33, 0, 0, 0, 0, 0, 22, 0, 0, 0}, false},

    {"negative", TG_FIGURES_RESPONSES,
     {"{\"usage\":{\"input_tokens\":-9,\"output_tokens\":4}}"},
     ALL, {0, 0, 0, 0, 0, 0, 4, 0, 0, 0}, true},
    {"absurd", TG_FIGURES_GEMINI,
     {"{\"usageMetadata\":{\"promptTokenCount\":9223372036854775807,"
      "\"toolUsePromptTokenCount\":1e99,\"candidatesTokenCount\":99999999999999999999,"
      "\"thoughtsTokenCount\":99999999999999999999}}"},
     ALL,
     {TG_USAGE_TOKENS_MAX, 0, 0, 0, 0, 0, TG_USAGE_TOKENS_MAX, TG_USAGE_TOKENS_MAX, 0, 0},
     true},
};

static struct tg_span span(const char *text)
{
    return (struct tg_span){text, strlen(text)};
}

static void figures_are_normalised(void **state)
{
    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++) {
        struct tg_usage usage = {0};
        struct tg_figures figures;
        struct counts got;

        tg_figures_init(&figures, cases[i].dialect);
        for (size_t event = 0; event < EVENTS && cases[i].events[event] != NULL; event++)
            tg_figures_read(&figures, span(cases[i].events[event]));
        if (!tg_figures_usage(&figures, &usage))
            fail_msg("%s: none", cases[i].what);
        got = (struct counts){usage.input, usage.cache_read, usage.cache_write_5m,
                              usage.cache_write_1h, usage.image_in, usage.audio_in, usage.output,
                              usage.reasoning, usage.audio_out, usage.tool_calls};
        if (memcmp(&got, &cases[i].is, sizeof got) != 0 || usage.clamped != cases[i].clamped ||
            usage.semantics != cases[i].semantics || usage.source != TG_USAGE_UPSTREAM)
            fail_msg("%s: %lld %lld %lld %lld, %lld", cases[i].what, (long long)usage.input,
                     (long long)usage.cache_read, (long long)usage.cache_write_5m,
                     (long long)usage.cache_write_1h, (long long)usage.output);
    }
}

static void what_says_nothing_is_none(void **state)
{
    static const char *const texts[] = {
        "", "{}", "null", "[]", "7", "{\"usage\":null}", "{\"usage\":[]}", "{\"usage\":{}}",
        "{\"usage\":{\"prompt_tokens\":0,\"input_tokens\":0,\"inputTokens\":0}}", "no JSON",
        "{\"usageMetadata\":{\"promptTokenCount\":\"7\"}}", "{\"usage\":",
        "{\"message\":{\"usage\":\"x\"},\"response\":{\"usage\":7},\"candidates\":7}",
    };

    (void)state;
    for (int dialect = TG_FIGURES_CHAT; dialect <= TG_FIGURES_COHERE; dialect++)
        for (size_t i = 0; i < TG_COUNT_OF(texts); i++) {
            struct tg_usage usage = {.input = 5};
            struct tg_figures figures;

            tg_figures_init(&figures, (enum tg_figures_dialect)dialect);
            tg_figures_read(&figures, span(texts[i]));
            if (tg_figures_usage(&figures, &usage))
                fail_msg("%s", texts[i]);
            assert_int_equal(usage.input, 5);
        }
}

/* Some vendors speak Messages and count like Chat. */
static void a_vendor_may_count_caches_as_input(void **state)
{
    struct tg_usage usage;
    struct tg_figures figures;

    (void)state;
    tg_figures_init(&figures, TG_FIGURES_MESSAGES);
    figures.input_includes_cache = true;
    tg_figures_read(&figures, span("{\"usage\":{\"input_tokens\":1000,"
                                   "\"cache_read_input_tokens\":990,\"output_tokens\":5}}"));
    assert_true(tg_figures_usage(&figures, &usage));
    assert_int_equal(tg_usage_base_tokens(&usage), 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_are_normalised),
        cmocka_unit_test(what_says_nothing_is_none),
        cmocka_unit_test(a_vendor_may_count_caches_as_input),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
