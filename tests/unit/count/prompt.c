/* Prompts of Chat bodies: what is text, what counts otherwise, exactly and estimated. */
#include "tests/unit/unit.h"

#include "fcgi-app/count/prompt.h"
#include "tests/unit/count/ranks.h"

#include <stdio.h>

static const struct tg_encoders *encoders;

static int64_t chat(const char *text, const char *model, const struct tg_encoders *with)
{
    struct tg_json *body;
    int64_t tokens;

    assert_int_equal(tg_json_parse(text, strlen(text), &body, NULL), TG_OK);
    tokens = tg_prompt_chat(with, body, model);
    tg_json_free(body);
    return tokens;
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
        cmocka_unit_test(a_tool_weighs_less_than_its_json),
    };

    return cmocka_run_group_tests(tests, make_encoders, close_encoders);
}
