/* URL, headers, body and names of the OpenAI dialect. */
#include "tests/unit/unit.h"

#include "fcgi-app/provider/provider.h"

struct made {
    struct tg_arena *arena;
    struct tg_channel channel;
    struct tg_provider_input input;
    struct tg_provider_call call;
    struct tg_error err;
};

static void begin(struct made *made, const char *body)
{
    memset(made, 0, sizeof *made);
    made->arena = tg_arena_new();
    made->channel = (struct tg_channel){
        .base_url = "https://api.example.com/v1",
        .organisation = "",
        .proxy = "",
        .model_mapping = "",
        .key = "sk-own",
    };
    made->input = (struct tg_provider_input){
        .arena = made->arena,
        .channel = &made->channel,
        .body = {body, strlen(body)},
        .client_model = "gpt-4.1",
        .model = "gpt-4.1",
    };
}

static enum tg_class go(struct made *made)
{
    return tg_provider_openai.prepare(&made->input, &made->call, &made->err);
}

static const char *header(const struct made *made, const char *name)
{
    for (size_t i = 0; i < made->call.header_count; i++)
        if (strcmp(made->call.headers[i].name, name) == 0)
            return made->call.headers[i].value;
    return NULL;
}

static const char *body_of(struct made *made)
{
    const char *text = "";

    for (size_t i = 0; i < made->call.body.count; i++)
        text = tg_arena_printf(made->arena, "%s%.*s", text, (int)made->call.body.spans[i].len,
                               made->call.body.spans[i].ptr);
    return text;
}

static void the_url_is_the_base_and_the_operation(void **state)
{
    static const char *const bases[] = {"https://api.example.com/v1", "https://api.example.com/v1/",
                                        "https://api.example.com/v1//"};

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(bases); i++) {
        struct made made;

        begin(&made, "{\"model\":\"gpt-4.1\"}");
        made.channel.base_url = bases[i];
        assert_int_equal(go(&made), TG_OK);
        assert_string_equal(made.call.url, "https://api.example.com/v1/chat/completions");
        tg_arena_free(made.arena);
    }
}

static void headers_carry_the_channels_identity_only(void **state)
{
    struct made made;

    (void)state;
    begin(&made, "{\"model\":\"gpt-4.1\"}");
    assert_int_equal(go(&made), TG_OK);
    assert_string_equal(header(&made, "Authorization"), "Bearer sk-own");
    assert_string_equal(header(&made, "Content-Type"), "application/json");
    assert_string_equal(header(&made, "Accept"), "application/json");
    assert_null(header(&made, "OpenAI-Organization"));
    assert_null(header(&made, "OpenAI-Beta"));
    made.channel.organisation = "org-1";
    made.input.openai_beta = "assistants=v2";
    made.input.stream = true;
    assert_int_equal(go(&made), TG_OK);
    assert_string_equal(header(&made, "OpenAI-Organization"), "org-1");
    assert_string_equal(header(&made, "OpenAI-Beta"), "assistants=v2");
    assert_string_equal(header(&made, "Accept"), "text/event-stream");
    tg_arena_free(made.arena);
}

static void the_body_changes_where_it_must(void **state)
{
    static const struct {
        const char *mapping, *client_model, *model;
        bool stream;
        const char *body, *sent, *rename_to;
    } cases[] = {
        {"", "gpt-4.1", "gpt-4.1", false, "{ \"model\" : \"gpt-4.1\",\"n\":1.0}",
         "{ \"model\" : \"gpt-4.1\",\"n\":1.0}", NULL},
        {"{\"gpt-4.1\":\"real\"}", "gpt-4.1", "gpt-4.1", false, "{ \"model\" : \"gpt-4.1\"}",
         "{ \"model\" : \"real\"}", "gpt-4.1"},
        {"{\"gpt-4\":\"real\"}", "gpt-4.1", "gpt-4.1", false, "{\"model\":\"gpt-4.1\"}",
         "{\"model\":\"gpt-4.1\"}", NULL},
        /* an operator's rule serves another model: the answer says which */
        {"", "cheap", "gpt-4.1", false, "{\"model\":\"cheap\"}", "{\"model\":\"gpt-4.1\"}",
         "gpt-4.1"},
        /* mapped back to what the client wrote: nothing to change */
        {"{\"gpt-4.1\":\"cheap\"}", "cheap", "gpt-4.1", false, "{\"model\":\"cheap\"}",
         "{\"model\":\"cheap\"}", NULL},
        {"", "gpt-4.1", "gpt-4.1", true,
         "{\"model\":\"gpt-4.1\",\"stream_options\":{\"include_usage\":false,\"a\":1}}",
         "{\"model\":\"gpt-4.1\",\"stream_options\":{\"include_usage\":true,\"a\":1}}", NULL},
    };

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++) {
        struct made made;

        begin(&made, cases[i].body);
        made.channel.model_mapping = cases[i].mapping;
        made.input.client_model = cases[i].client_model;
        made.input.model = cases[i].model;
        made.input.stream = cases[i].stream;
        assert_int_equal(go(&made), TG_OK);
        assert_string_equal(body_of(&made), cases[i].sent);
        if (cases[i].rename_to == NULL)
            assert_null(made.call.rename_to);
        else
            assert_string_equal(made.call.rename_to, cases[i].rename_to);
        tg_arena_free(made.arena);
    }
}

static void a_broken_mapping_is_the_channels_fault(void **state)
{
    static const char *const mappings[] = {"{", "[]", "\"gpt-4.1\"", "{\"gpt-4.1\":null}",
                                           "{\"gpt-4.1\":[\"real\"]}"};

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(mappings); i++) {
        struct made made;

        begin(&made, "{\"model\":\"gpt-4.1\"}");
        made.channel.model_mapping = mappings[i];
        assert_int_equal(go(&made), TG_CLASS_CONFIG);
        assert_string_equal(made.err.code, "channel_mapping_invalid");
        assert_int_equal(made.err.flags, TG_ERROR_CHANNEL);
        tg_arena_free(made.arena);
    }
}

static void a_body_that_cannot_be_sent_on_is_the_clients_fault(void **state)
{
    struct made made;

    (void)state;
    begin(&made, "{\"model\":\"gpt-4.1\",\"stream_options\":7}");
    made.input.stream = true;
    assert_int_equal(go(&made), TG_CLASS_INVALID);
    assert_int_equal(made.err.flags, TG_ERROR_NO_RETRY);
    tg_arena_free(made.arena);
}

static void providers_are_found_by_name(void **state)
{
    (void)state;
    assert_ptr_equal(tg_provider_find("openai"), &tg_provider_openai);
    assert_ptr_equal(tg_provider_find("openai-responses"), &tg_provider_openai_responses);
    assert_null(tg_provider_find("OpenAI"));
    assert_null(tg_provider_find(""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_url_is_the_base_and_the_operation),
        cmocka_unit_test(headers_carry_the_channels_identity_only),
        cmocka_unit_test(the_body_changes_where_it_must),
        cmocka_unit_test(a_broken_mapping_is_the_channels_fault),
        cmocka_unit_test(a_body_that_cannot_be_sent_on_is_the_clients_fault),
        cmocka_unit_test(providers_are_found_by_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
