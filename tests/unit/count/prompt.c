/* Prompts of Chat bodies: what is text, what counts otherwise, exactly and estimated. */
#include "tests/unit/unit.h"

#include "fcgi-app/count/prompt.h"
#include "tests/unit/count/ranks.h"

#include <stdio.h>

static const struct tg_encoders *encoders;

static int64_t count(tg_prompt_fn *reader, const char *text, const char *model,
                     const struct tg_encoders *with)
{
    struct tg_json *body;
    int64_t tokens;

    assert_int_equal(tg_json_parse(text, strlen(text), &body, NULL), TG_OK);
    tokens = reader(with, body, model);
    tg_json_free(body);
    return tokens;
}

static int64_t chat(const char *text, const char *model, const struct tg_encoders *with)
{
    return count(tg_prompt_chat, text, model, with);
}

#define SCHEMA \
    "{\"type\":\"object\",\"required\":[\"city\"],\"properties\":{" \
    "\"city\":{\"type\":\"string\",\"description\":\"Its name.\"}," \
    "\"unit\":{\"type\":[\"string\",\"null\"],\"enum\":[\"C\",\"F\"]}," \
    "\"when\":{\"type\":\"object\",\"properties\":{\"day\":{\"type\":\"integer\"}}}," \
    "\"who\":{\"type\":\"array\",\"items\":{\"anyOf\":[{\"properties\":{\"id\":{}}}]}}}}"
#define LINES \
    "city:string:Its name\nunit:string|null:\nC\nF\nwhen:object:\nday:integer:\nwho:array:\nid::"

static const struct {
    const char *what, *body;
    int64_t flat;     /* estimated */
    const char *text; /* joined by newlines */
    int64_t exact;    /* with o200k_base, by hand from OpenAI's rules and tiktoken's counts */
} bodies[] = {
    {"nothing", "{}", 3, "", 3},
    {"wrong types", "{\"messages\":{\"a\":1},\"tools\":7}", 3, "", 3},
    {"odd elements", "{\"messages\":[7,null,\"x\"]}", 3 + 9, "", 3 + 9},
    {"one message", "{\"messages\":[{\"role\":\"user\",\"content\":\"hi there\"}]}", 6,
     "hi there", 3 + 3 + 1 + 2},
    {"name", "{\"messages\":[{\"role\":\"user\",\"name\":\"bob\",\"content\":\"hi\"}]}", 9,
     "bob\nhi", 3 + 3 + 1 + 1 + 1 + 1},
    {"parts",
     "{\"messages\":[{\"content\":[{\"type\":\"text\",\"text\":\"a\"},"
     "{\"type\":\"image_url\",\"image_url\":{\"url\":\"https://example.org/x.png\"}},"
     "{\"type\":\"input_audio\",\"input_audio\":{\"data\":\"AAAA\"}},"
     "{\"type\":\"file\",\"file\":{\"file_id\":\"f\"}},"
     "{\"type\":\"video_url\",\"video_url\":{\"url\":\"u\"}},"
     "{\"type\":\"text\",\"text\":\"b\"}]}]}",
     6 + 520 + 256 + 4096 + 8192, "a\nb", 3 + 3 + 255 + 256 + 4096 + 8192 + 2},
    {"history",
     "{\"messages\":[{\"role\":\"assistant\",\"content\":null,\"reasoning_content\":\"hm\","
     "\"tool_calls\":[{\"id\":\"c\",\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}]},"
     "{\"role\":\"tool\",\"tool_call_id\":\"c\",\"content\":\"42\"}]}",
     3 + 6, "hm\nf\n{}\n42", 3 + 6 + 2 + 4},
    {"tools",
     "{\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"f\",\"description\":\"d.\","
     "\"parameters\":" SCHEMA "}},{\"type\":\"web_search\"}],"
     "\"functions\":[{\"name\":\"g\"}]}",
     3 + 24, "f:d\n" LINES "\ng:",
     3 + 12 + 3 * 7 + 2 + 2 + /* three lists of properties */ 3 * 3 +
         /* six properties */ 6 * 3 + 5 + 4 + 4 + 4 + 4 + 2 + /* choices */ -3 + 2 * 3 + 2},
    {"answer's schema",
     "{\"response_format\":{\"type\":\"json_schema\",\"json_schema\":{\"name\":\"n\","
     "\"schema\":{\"properties\":{\"a\":{\"type\":\"string\"}}}}}}",
     3, "n\na:string:", 3 + 1 + 3 + 3 + 3},
};

static void estimates_count_text_and_extras(void **state)
{
    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(bodies); i++) {
        int64_t text = tg_estimate_text(TG_ESTIMATE_CLAUDE, bodies[i].text,
                                        strlen(bodies[i].text));
        int64_t got = chat(bodies[i].body, "claude-x", encoders);

        if (got != bodies[i].flat + text)
            fail_msg("%s: %lld, not %lld", bodies[i].what, (long long)got,
                     (long long)(bodies[i].flat + text));
    }
}

static void openai_models_are_counted_exactly(void **state)
{
    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(bodies); i++) {
        int64_t got = chat(bodies[i].body, "gpt-4o", encoders);

        if (got != bodies[i].exact)
            fail_msg("%s: %lld, not %lld", bodies[i].what, (long long)got,
                     (long long)bodies[i].exact);
    }
}

static void without_encoders_everything_is_estimated(void **state)
{
    const char *body = "{\"messages\":[{\"role\":\"user\",\"content\":\"hi there\"}]}";

    (void)state;
    assert_int_equal(chat(body, "gpt-4o", NULL), 6 + (102 + 42 + 102 + 99) / 100);
}

static void put(char *text, size_t *at, const char *bytes, size_t len)
{
    memcpy(text + *at, bytes, len);
    *at += len;
}

/* A prompt larger than any model reads does not cost seconds. */
static void what_is_beyond_four_megabytes_is_estimated(void **state)
{
    enum { TEXT = 3 << 20, ROOM = 64 };
    static const char begin[] = "{\"messages\":[{\"content\":\"", between[] = "\"},{\"content\":\"",
                      end[] = "\"}]}";
    char *body = test_malloc(2 * TEXT + ROOM * 3);
    size_t at = 0;
    int64_t tokens;

    (void)state;
    for (int message = 0; message < 2; message++) {
        const char *before = message == 0 ? begin : between;

        put(body, &at, before, strlen(before));
        for (size_t i = 0; i < TEXT; i += 4)
            put(body, &at, " a1.", 4);
    }
    memcpy(body + at, end, sizeof end);
    tokens = chat(body, "gpt-4o", encoders);
    /* " a", "1", "." and 1.02 + 1.55 + 0.4 + 0.42 */
    assert_in_range(tokens, TEXT / 4 * 3 + TEXT / 4 * 339 / 100,
                    TEXT / 4 * 3 + TEXT / 4 * 339 / 100 + 20);
    test_free(body);
}

/* What a request of 19 tools was billed by OpenAI is met within a tenth; the JSON that describes
 * them has twice as many tokens. */
static void a_tool_weighs_less_than_its_json(void **state)
{
    static const char tool[] =
        "{\"type\":\"function\",\"function\":{\"name\":\"get_weather\",\"description\":\"\","
        "\"parameters\":{\"additionalProperties\":false,\"properties\":{\"city\":{\"type\":"
        "\"string\"}},\"required\":[\"city\"],\"type\":\"object\"},\"strict\":true}}";
    char body[sizeof tool + 64];
    int64_t counted, written;

    (void)state;
    snprintf(body, sizeof body, "{\"tools\":[%s]}", tool);
    for (size_t i = 0; i < 2; i++) {
        const char *model = i == 0 ? "gpt-4o" : "claude-x";

        counted = chat(body, model, encoders) - chat("{}", model, encoders);
        written = tg_estimate_text(tg_estimate_table_of(model), tool, strlen(tool));
        assert_in_range(counted, 15, written * 6 / 10);
    }
}

#define PICTURE "iVBORw0KGgoAAAANSUhEUgAABAAAAAQAAAAAAAAA" /* 1024 x 1024 */

/* What is said in another protocol is what the texts say, and the extras are the same. */
static const struct {
    const char *what;
    tg_prompt_fn *reader;
    const char *body;
    int64_t flat;     /* estimated */
    const char *text; /* joined by newlines */
    int64_t exact;    /* beside the texts, with o200k_base */
} others[] = {
    {"Responses, one text", tg_prompt_responses,
     "{\"instructions\":\"be brief\",\"input\":\"hi there\"}", 3 + 6, "be brief\nhi there",
     3 + 8},
    {"Responses, items", tg_prompt_responses,
     "{\"input\":[{\"role\":\"user\",\"content\":[{\"type\":\"input_text\",\"text\":\"a b\"},"
     "{\"type\":\"input_image\",\"image_url\":\"data:image/png;base64," PICTURE "\"},"
     "{\"type\":\"input_file\",\"file_id\":\"f\"}]},"
     "{\"type\":\"function_call\",\"name\":\"f\",\"arguments\":\"{}\",\"call_id\":\"c\"},"
     "{\"type\":\"function_call_output\",\"call_id\":\"c\",\"output\":\"42\"},"
     "{\"type\":\"reasoning\",\"summary\":[{\"text\":\"hm\"}]}]}",
     3 + 4 * 3 + 520 + 4096, "a b\nf\n{}\n42", 3 + 4 * 3 + 1 + 765 + 4096},
    {"Responses, tools and a schema", tg_prompt_responses,
     "{\"tools\":[{\"type\":\"function\",\"name\":\"f\",\"parameters\":{\"properties\":{\"a\":"
     "{\"type\":\"string\"}}}}],\"text\":{\"format\":{\"type\":\"json_schema\",\"name\":\"n\","
     "\"schema\":{\"properties\":{\"b\":{\"type\":\"string\"}}}}}}",
     3 + 8, "f:\na:string:\nn\nb:string:", 3 + 12 + 7 + 2 * 6},
    {"Messages, one text", tg_prompt_messages,
     "{\"system\":\"be brief\",\"messages\":[{\"role\":\"user\",\"content\":\"hi there\"}]}",
     3 + 6, "be brief\nhi there", 3 + 8},
    {"Messages, blocks", tg_prompt_messages,
     "{\"system\":[{\"type\":\"text\",\"text\":\"s\"}],\"messages\":[{\"role\":\"user\","
     "\"content\":[{\"type\":\"text\",\"text\":\"a b\"},"
     "{\"type\":\"image\",\"source\":{\"type\":\"base64\","
     "\"media_type\":\"image/png\",\"data\":\"" PICTURE "\"}},{\"type\":\"image\",\"source\":"
     "{\"type\":\"url\",\"url\":\"u\"}},{\"type\":\"document\",\"source\":{\"type\":\"base64\","
     "\"media_type\":\"application/pdf\",\"data\":\"AAAA\"}},{\"type\":\"document\",\"source\":"
     "{\"type\":\"text\",\"data\":\"plain\"}}]},{\"role\":\"assistant\",\"content\":["
     "{\"type\":\"thinking\",\"thinking\":\"hm\"},{\"type\":\"tool_use\",\"name\":\"f\",\"input\":"
     "{\"x\":[1,true],\"y\":\"z\"}}]},{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\","
     "\"content\":[{\"type\":\"text\",\"text\":\"42\"}]}]}]}",
     3 + 4 * 3 + 2 * 520 + 4096,
     "s\na b\nplain\nhm\nf\n{\"x\":[1,true],\"y\":\"z\"}\n42",
     3 + 4 * 3 + 4 + 765 + 255 + 4096},
    {"Messages, tools", tg_prompt_messages,
     "{\"tools\":[{\"name\":\"f\",\"input_schema\":{\"properties\":{\"a\":{\"type\":\"string\"}}}},"
     "{\"type\":\"web_search_20250305\",\"name\":\"web_search\"}]}",
     3 + 16, "f:\na:string:\nweb_search:", 3 + 12 + 2 * 7 + 6},
    {"Gemini", tg_prompt_gemini,
     "{\"systemInstruction\":{\"parts\":[{\"text\":\"be brief\"}]},\"contents\":["
     "{\"role\":\"user\",\"parts\":[{\"text\":\"hi there\"},{\"inlineData\":"
     "{\"mimeType\":\"image/png\",\"data\":\"" PICTURE "\"}},"
     "{\"fileData\":{\"mimeType\":\"video/mp4\",\"fileUri\":\"u\"}},{\"inline_data\":"
     "{\"mime_type\":\"audio/wav\",\"data\":\"AAAA\"}}]},{\"role\":\"model\",\"parts\":["
     "{\"functionCall\":{\"name\":\"f\",\"args\":{\"a\":1}}}]},{\"role\":\"user\",\"parts\":["
     "{\"functionResponse\":{\"name\":\"f\",\"response\":{\"b\":2}}}]}]}",
     3 + 4 * 3 + 520 + 8192 + 256, "be brief\nhi there\nf\n{\"a\":1}\nf\n{\"b\":2}",
     3 + 4 * 3 + 4 + 765 + 8192 + 256},
    {"Gemini, tools and a schema", tg_prompt_gemini,
     "{\"tools\":[{\"functionDeclarations\":[{\"name\":\"f\",\"parameters\":{\"properties\":{\"a\":"
     "{\"type\":\"STRING\"}}}}]},{\"google_search\":{}}],\"generationConfig\":{\"responseSchema\":"
     "{\"properties\":{\"b\":{\"type\":\"STRING\"}}}}}",
     3 + 16, "f:\na:STRING:\nb:STRING:", 3 + 12 + 2 * 7 + 2 * 6},
    {"embeddings", tg_prompt_embeddings, "{\"input\":\"hi there\"}", 0, "hi there", 0},
    {"several embeddings", tg_prompt_embeddings, "{\"input\":[\"a b\",\"c\",[1,2,3]]}", 3,
     "a b\nc", 3},
    {"an embedding of tokens", tg_prompt_embeddings, "{\"input\":[5,6,7,8]}", 4, "", 4},
    {"wrong types", tg_prompt_gemini, "{\"contents\":7,\"tools\":{},\"systemInstruction\":[]}", 3,
     "", 3},
    {"wrong types", tg_prompt_messages, "{\"messages\":7,\"tools\":{}}", 3, "", 3},
    {"wrong types", tg_prompt_responses, "{\"input\":7,\"tools\":{},\"text\":[]}", 3, "", 3},
};

static int64_t tokens_of_lines(const char *text)
{
    int64_t tokens = 0;

    while (*text != '\0') {
        const size_t len = strcspn(text, "\n");
        struct tg_tokens line = {NULL, 0, 0};

        assert_int_equal(tg_bpe_encode(encoders->o200k, (struct tg_span){text, len}, &line, NULL),
                         TG_OK);
        tokens += (int64_t)line.count;
        text += len + (text[len] == '\n');
    }
    return tokens;
}

static void other_protocols_count_alike(void **state)
{
    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(others); i++) {
        const char *text = others[i].text;
        int64_t estimated = count(others[i].reader, others[i].body, "claude-x", encoders);
        int64_t exact = count(others[i].reader, others[i].body, "gpt-4o", encoders);

        if (estimated != others[i].flat +
                             tg_estimate_text(TG_ESTIMATE_CLAUDE, text, strlen(text)) ||
            exact != others[i].exact + tokens_of_lines(text))
            fail_msg("%s: %lld, %lld instead of %lld", others[i].what, (long long)estimated,
                     (long long)exact, (long long)(others[i].exact + tokens_of_lines(text)));
    }
}

static int make_encoders(void **state)
{
    (void)state;
    encoders = ranks_open();
    return 0;
}

static int close_encoders(void **state)
{
    (void)state;
    ranks_close();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(estimates_count_text_and_extras),
        cmocka_unit_test(openai_models_are_counted_exactly),
        cmocka_unit_test(without_encoders_everything_is_estimated),
        cmocka_unit_test(other_protocols_count_alike),
        cmocka_unit_test(what_is_beyond_four_megabytes_is_estimated),
        cmocka_unit_test(a_tool_weighs_less_than_its_json),
    };

    return cmocka_run_group_tests(tests, make_encoders, close_encoders);
}
