/* URL, headers and body of Gemini's dialect. */
#include "tests/unit/unit.h"

#include "fcgi-app/provider/provider.h"

static const char body[] = "{ \"contents\" : [] , \"model\":\"x\" }";

struct made {
    struct tg_arena *arena;
    struct tg_channel channel;
    struct tg_provider_input input;
    struct tg_provider_call call;
    struct tg_error err;
};

static void begin(struct made *made, const char *model)
{
    memset(made, 0, sizeof *made);
    made->arena = tg_arena_new();
    made->channel = (struct tg_channel){
        .base_url = "https://g.example.com/v1beta/",
        .organisation = "",
        .proxy = "",
        .model_mapping = "",
        .key = "AIza-own",
    };
    made->input = (struct tg_provider_input){
        .arena = made->arena,
        .channel = &made->channel,
        .body = {body, sizeof body - 1},
        .client_model = model,
        .model = model,
        .client = TG_PROTOCOL_GEMINI,
    };
}

static enum tg_class go(struct made *made)
{
    return tg_provider_gemini.prepare(&made->input, &made->call, &made->err);
}

static void the_model_is_one_segment_of_the_path(void **state)
{
    static const struct {
        const char *model, *url;
        bool stream, counts;
    } cases[] = {
        {"gemini-2.5-pro", "/models/gemini-2.5-pro:generateContent", false, false},
        {"gemini-2.5-pro", "/models/gemini-2.5-pro:streamGenerateContent?alt=sse", true, false},
        {"gemini-2.5-pro", "/models/gemini-2.5-pro:countTokens", false, true},
        {"models/g", "/models/g:generateContent", false, false},
        {"tunedModels/g", "/tunedModels/g:generateContent", false, false},
        {"../../v1/files?x=", "/models/..%2F..%2Fv1%2Ffiles%3Fx%3D:generateContent", false, false},
        {"a b#c%41", "/models/a%20b%23c%2541:generateContent", false, false},
    };

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++) {
        struct made made;

        begin(&made, cases[i].model);
        made.input.stream = cases[i].stream;
        made.input.counts = cases[i].counts;
        assert_int_equal(go(&made), TG_OK);
        assert_string_equal(made.call.url + strlen("https://g.example.com/v1beta"), cases[i].url);
        assert_null(strstr(made.call.url, "AIza"));
        tg_arena_free(made.arena);
    }
}

static void the_key_goes_in_a_header(void **state)
{
    struct made made;
    bool found = false;

    (void)state;
    begin(&made, "g");
    assert_int_equal(go(&made), TG_OK);
    for (size_t i = 0; i < made.call.header_count; i++)
        found |= strcmp(made.call.headers[i].name, "x-goog-api-key") == 0 &&
                 strcmp(made.call.headers[i].value, "AIza-own") == 0;
    assert_true(found);
    tg_arena_free(made.arena);
}

static void the_body_goes_as_it_came(void **state)
{
    struct made made;

    (void)state;
    begin(&made, "mine");
    made.channel.model_mapping = "{\"mine\":\"theirs\"}";
    made.input.stream = true;
    assert_int_equal(go(&made), TG_OK);
    assert_int_equal(made.call.body.count, 1);
    assert_memory_equal(made.call.body.spans[0].ptr, body, sizeof body - 1);
    assert_int_equal(made.call.body.len, sizeof body - 1);
    assert_non_null(strstr(made.call.url, "/models/theirs:"));
    assert_string_equal(made.call.rename_to, "mine");
    tg_arena_free(made.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_model_is_one_segment_of_the_path),
        cmocka_unit_test(the_key_goes_in_a_header),
        cmocka_unit_test(the_body_goes_as_it_came),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
