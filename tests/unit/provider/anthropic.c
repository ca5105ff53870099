/* URL, headers, versions, betas and bodies of calls to Anthropic. */
#include "tests/unit/unit.h"

#include "fcgi-app/provider/provider.h"

#define NATIVE "{ \"model\" : \"claude\",\"max_tokens\":9,\"top_p\":1.0,\"messages\":[]}"
#define CHAT_WITH(more) \
    "{\"model\":\"claude\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]" more "}"
#define CHAT CHAT_WITH("")

struct made {
    struct tg_arena *arena;
    struct tg_json *json;
    struct tg_channel channel;
    struct tg_provider_input input;
    struct tg_provider_call call;
    struct tg_error err;
};

static void begin(struct made *made, enum tg_protocol client, const char *body)
{
    memset(made, 0, sizeof *made);
    made->arena = tg_arena_new();
    assert_int_equal(tg_json_parse(body, strlen(body), &made->json, NULL), TG_OK);
    made->channel = (struct tg_channel){
        .base_url = "https://api.example.com/v1/",
        .organisation = "org-1",
        .proxy = "",
        .model_mapping = "",
        .key = "sk-ant-own",
    };
    made->input = (struct tg_provider_input){
        .arena = made->arena,
        .channel = &made->channel,
        .body = {body, strlen(body)},
        .client_model = "claude",
        .model = "claude",
        .client = client,
        .json = made->json,
        .openai_beta = "assistants=v2",
        .anthropic_beta = "a-2025-01-01,b-2025-02-02",
    };
}

static enum tg_class go(struct made *made)
{
    tg_provider_call_done(&made->call);
    return tg_provider_anthropic.prepare(&made->input, &made->call, &made->err);
}

static void done(struct made *made)
{
    tg_provider_call_done(&made->call);
    tg_json_free(made->json);
    tg_arena_free(made->arena);
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
    struct made made;

    (void)state;
    begin(&made, TG_PROTOCOL_MESSAGES, NATIVE);
    assert_int_equal(go(&made), TG_OK);
    assert_string_equal(made.call.url, "https://api.example.com/v1/messages");
    made.input.counts = true;
    assert_int_equal(go(&made), TG_OK);
    assert_string_equal(made.call.url, "https://api.example.com/v1/messages/count_tokens");
    done(&made);
}

/* The channel's key and nothing that says who the client is. */
static void headers_are_the_channels_own(void **state)
{
    struct made made;

    (void)state;
    begin(&made, TG_PROTOCOL_MESSAGES, NATIVE);
    assert_int_equal(go(&made), TG_OK);
    assert_string_equal(header(&made, "x-api-key"), "sk-ant-own");
    assert_string_equal(header(&made, "Content-Type"), "application/json");
    assert_string_equal(header(&made, "Accept"), "application/json");
    assert_null(header(&made, "Authorization"));
    assert_null(header(&made, "OpenAI-Organization"));
    assert_null(header(&made, "OpenAI-Beta"));
    made.input.stream = true;
    assert_int_equal(go(&made), TG_OK);
    assert_string_equal(header(&made, "Accept"), "text/event-stream");
    done(&made);
}

static void versions_and_betas_go_up_from_clients_of_the_same_protocol(void **state)
{
    static const struct {
        enum tg_protocol client;
        const char *version, *sent_version, *sent_beta;
    } cases[] = {
        {TG_PROTOCOL_MESSAGES, "2026-10-21", "2026-10-21", "a-2025-01-01,b-2025-02-02"},
        {TG_PROTOCOL_MESSAGES, NULL, "2023-06-01", "a-2025-01-01,b-2025-02-02"},
        {TG_PROTOCOL_CHAT, "2026-10-21", "2023-06-01", NULL},
    };

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++) {
        bool native = cases[i].client == TG_PROTOCOL_MESSAGES;
        struct made made;

        begin(&made, cases[i].client, native ? NATIVE : CHAT);
        made.input.anthropic_version = cases[i].version;
        assert_int_equal(go(&made), TG_OK);
        assert_string_equal(header(&made, "anthropic-version"), cases[i].sent_version);
        if (cases[i].sent_beta == NULL)
            assert_null(header(&made, "anthropic-beta"));
        else
            assert_string_equal(header(&made, "anthropic-beta"), cases[i].sent_beta);
        made.input.anthropic_beta = NULL;
        assert_int_equal(go(&made), TG_OK);
        assert_null(header(&made, "anthropic-beta"));
        done(&made);
    }
}

static void a_native_body_changes_in_its_model_only(void **state)
{
    static const struct {
        const char *mapping, *sent, *rename_to;
    } cases[] = {
        {"", NATIVE, NULL},
        {"{\"claude\":\"claude-x\"}",
         "{ \"model\" : \"claude-x\",\"max_tokens\":9,\"top_p\":1.0,\"messages\":[]}", "claude"},
    };

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++)
        for (int stream = 0; stream < 2; stream++) {
            struct made made;

            begin(&made, TG_PROTOCOL_MESSAGES, NATIVE);
            made.channel.model_mapping = cases[i].mapping;
            made.input.stream = stream;
            assert_int_equal(go(&made), TG_OK);
            assert_string_equal(body_of(&made), cases[i].sent);
            assert_null(made.call.convert);
            if (cases[i].rename_to == NULL)
                assert_null(made.call.rename_to);
            else
                assert_string_equal(made.call.rename_to, cases[i].rename_to);
            done(&made);
        }
}

static void a_chat_body_is_converted(void **state)
{
    struct made made;

    (void)state;
    begin(&made, TG_PROTOCOL_CHAT, CHAT);
    made.channel.model_mapping = "{\"claude\":\"claude-sonnet-4-5\"}";
    assert_int_equal(go(&made), TG_OK);
    assert_string_equal(body_of(&made),
                        "{\"model\":\"claude-sonnet-4-5\",\"max_tokens\":8192,\"messages\":["
                        "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"hi\"}]}]}");
    assert_non_null(made.call.convert);
    assert_int_equal(made.call.protocol, TG_PROTOCOL_MESSAGES);
    assert_string_equal(made.call.convert->client_model, "claude");
    done(&made);
}

/* A refusal costs nothing: it comes before a byte goes up. */
static void what_is_lost_is_refused_as_the_policy_says(void **state)
{
    static const char *const bodies[] = {
        CHAT_WITH(",\"seed\":1"),                 /* info */
        CHAT_WITH(",\"logit_bias\":{\"1\":2}"), /* warn */
        CHAT_WITH(",\"n\":2"),                    /* error */
    };
    static const bool refused[TG_LOSS__COUNT][TG_COUNT_OF(bodies)] = {
        [TG_LOSS_ALLOW] = {false, false, false},
        [TG_LOSS_SAFE] = {false, false, true},
        [TG_LOSS_STRICT] = {false, true, true},
    };

    (void)state;
    for (int policy = 0; policy < TG_LOSS__COUNT; policy++)
        for (size_t i = 0; i < TG_COUNT_OF(bodies); i++) {
            struct made made;

            begin(&made, TG_PROTOCOL_CHAT, bodies[i]);
            made.input.loss_policy = (enum tg_loss_policy)policy;
            assert_int_equal(go(&made), refused[policy][i] ? TG_CLASS_INVALID : TG_OK);
            if (refused[policy][i]) {
                assert_string_equal(made.err.code, "conversion_loss");
                assert_true((made.err.flags & TG_ERROR_NO_RETRY) != 0);
            }
            done(&made);
        }
}

static void it_is_found_by_its_name(void **state)
{
    (void)state;
    assert_ptr_equal(tg_provider_find("anthropic"), &tg_provider_anthropic);
    assert_null(tg_provider_find("Anthropic"));
    assert_int_equal(tg_provider_anthropic.protocol, TG_PROTOCOL_MESSAGES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_url_is_the_base_and_the_operation),
        cmocka_unit_test(headers_are_the_channels_own),
        cmocka_unit_test(versions_and_betas_go_up_from_clients_of_the_same_protocol),
        cmocka_unit_test(a_native_body_changes_in_its_model_only),
        cmocka_unit_test(a_chat_body_is_converted),
        cmocka_unit_test(what_is_lost_is_refused_as_the_policy_says),
        cmocka_unit_test(it_is_found_by_its_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
