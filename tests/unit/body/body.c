/* The body stage: how a body may arrive, and what must be known of it. */
#include "tests/unit/unit.h"

#include "fcgi-app/endpoint.h"
#include "fcgi-app/settings.h"
#include "fcgi-app/stages.h"
#include "tests/unit/lib/peer.h"

#include "tests/unit/body/packed.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum { LIMIT = 8192 };

static struct tg_worker worker;
static struct tg_credential credential;
#define BODY(model) "{\"model\":\"" model "\",\"messages\":[0]}"
#define ASKED "{\"model\":\"m\",\"messages\":[0],"

static const struct tg_endpoint generate = {"chat_completions", "POST", "/v1/chat/completions",
                                            TG_PROTOCOL_CHAT, TG_OPERATION_GENERATE};
static const struct tg_endpoint generate_messages = {
    "messages", "POST", "/v1/messages", TG_PROTOCOL_MESSAGES, TG_OPERATION_GENERATE};

struct arrival {
    struct test_door door;
    struct tg_request req;
    int peer;
};

/* A request whose parameters are in; its body is up to the test. */
static void begin(struct arrival *arrival, const char *length, const char *encoding)
{
    *arrival = (struct arrival){.peer = -1};
    test_door_open(&arrival->door, false);
    arrival->req = (struct tg_request){.worker = &worker,
                                       .arena = tg_arena_new(),
                                       .fcgi = tg_fcgi_new(arrival->door.fd, -1),
                                       .endpoint = &generate,
                                       .credential = &credential};
    arrival->peer = test_peer_connect(&arrival->door);
    test_peer_begin(arrival->peer, 0);
    if (length != NULL)
        test_peer_params(arrival->peer, "CONTENT_LENGTH", length, NULL);
    if (encoding != NULL)
        test_peer_params(arrival->peer, "HTTP_CONTENT_ENCODING", encoding, NULL);
    test_peer_params_end(arrival->peer);
    assert_int_equal(tg_fcgi_accept(arrival->req.fcgi, 2000000), TG_FCGI_REQUEST);
}

static void end(struct arrival *arrival)
{
    tg_body_done(&arrival->req);
    if (arrival->peer >= 0)
        close(arrival->peer);
    tg_fcgi_finish(arrival->req.fcgi);
    tg_fcgi_free(arrival->req.fcgi);
    tg_arena_free(arrival->req.arena);
    test_door_close(&arrival->door);
}

static enum tg_verdict arrive(struct arrival *arrival, const char *length, const char *body)
{
    begin(arrival, length, NULL);
    test_peer_body(arrival->peer, body, strlen(body));
    test_peer_body_end(arrival->peer);
    return tg_stage_body(&arrival->req);
}

static void lengths_are_never_trusted(void **state)
{
    static const char body[] = BODY("m");
    static const struct {
        const char *length;
        enum tg_verdict verdict;
    } cases[] = {
        {NULL, TG_NEXT},   {"", TG_NEXT},      {"-1", TG_NEXT},    {"28", TG_NEXT},
        {"5", TG_ANSWER},  {"x", TG_NEXT},     {"29", TG_ANSWER},  {"8192", TG_ANSWER},
        {"8193", TG_ANSWER}, {"99999999999999999999", TG_NEXT},
    };

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++) {
        struct arrival arrival;

        assert_int_equal(arrive(&arrival, cases[i].length, body), cases[i].verdict);
        if (cases[i].verdict == TG_NEXT) {
            assert_string_equal(arrival.req.model, "m");
            assert_int_equal(arrival.req.request_bytes, strlen(body));
        } else {
            assert_int_equal(arrival.req.error.class, strcmp(cases[i].length, "8193") == 0
                                                          ? TG_CLASS_TOO_LARGE
                                                          : TG_CLASS_INVALID);
        }
        end(&arrival);
    }
}

static void the_limit_holds_whatever_was_announced(void **state)
{
    char *body = malloc(LIMIT + 2);
    static const char head[] = "{\"model\":\"m\",\"messages\":[0],\"x\":\"";

    (void)state;
    for (size_t over = 0; over < 2; over++) {
        struct arrival arrival;

        memset(body, 'y', LIMIT + 1);
        memcpy(body, head, sizeof head - 1);
        snprintf(body + LIMIT + over - 2, 3, "\"}");
        assert_int_equal(arrive(&arrival, NULL, body), over ? TG_ANSWER : TG_NEXT);
        if (over)
            assert_int_equal(arrival.req.error.class, TG_CLASS_TOO_LARGE);
        else
            assert_true(arrival.req.body_mapped); /* above body.memory */
        end(&arrival);
    }
    free(body);
}

static void compressed_bodies_are_inflated(void **state)
{
    static const struct {
        const char *encoding;
        const unsigned char *bytes;
        size_t len;
    } cases[] = {
        {"gzip", packed_gzip, sizeof packed_gzip},
        {"deflate", packed_zlib, sizeof packed_zlib},
        {"zstd", packed_zstd, sizeof packed_zstd},
        {"identity", NULL, 0},
    };

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++) {
        struct arrival arrival;

        begin(&arrival, NULL, cases[i].encoding);
        if (cases[i].bytes != NULL)
            test_peer_body(arrival.peer, cases[i].bytes, cases[i].len);
        else
            test_peer_body(arrival.peer, BODY("m"), sizeof BODY("m") - 1);
        test_peer_body_end(arrival.peer);
        assert_int_equal(tg_stage_body(&arrival.req), TG_NEXT);
        assert_string_equal(arrival.req.model, "m");
        if (cases[i].bytes != NULL)
            assert_int_equal(arrival.req.body.len, PACKED_LEN);
        end(&arrival);
    }
}

static void broken_encodings_are_the_clients_fault(void **state)
{
    static const struct {
        const char *encoding;
        size_t len;
        const char *code;
    } cases[] = {
        {"gzip", sizeof packed_gzip - 1, "bad_encoding"},
        {"zstd", sizeof packed_gzip, "bad_encoding"},
        {"br", sizeof packed_gzip, "unsupported_encoding"},
        {"gzip, gzip", sizeof packed_gzip, "unsupported_encoding"},
    };

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++) {
        struct arrival arrival;

        begin(&arrival, NULL, cases[i].encoding);
        test_peer_body(arrival.peer, packed_gzip, cases[i].len);
        test_peer_body_end(arrival.peer);
        assert_int_equal(tg_stage_body(&arrival.req), TG_ANSWER);
        assert_int_equal(arrival.req.error.class, TG_CLASS_INVALID);
        assert_string_equal(arrival.req.error.code, cases[i].code);
        end(&arrival);
    }
}

static void what_the_request_says_is_read_by_type(void **state)
{
    static const struct {
        const char *body, *code, *param; /* code "": it is right */
    } cases[] = {
        {BODY("m"), "", ""},
        {ASKED "\"stream\":null,\"max_tokens\":null,\"stream_options\":null}", "", ""},
        {ASKED "\"n\":null}", "", ""},
        {ASKED "\"n\":128}", "", ""},
        {ASKED "\"unknown\":{\"stream\":3}}", "", ""},
        {"{\"model\":\"m\"}", "missing_required_parameter", "messages"},
        {"{\"model\":\"m\",\"messages\":null}", "missing_required_parameter", "messages"},
        {"{\"model\":\"m\",\"messages\":7}", "invalid_type", "messages"},
        {"{\"model\":\"m\",\"messages\":[]}", "empty_array", "messages"},
        {"", "invalid_json", ""},
        {"{", "invalid_json", ""},
        {"[]", "invalid_json", ""},
        {"\"m\"", "invalid_json", ""},
        {"{\"model\":\"m\"}x", "invalid_json", ""},
        {"{\"model\":\"m\",\"model\":\"n\"}", "invalid_json", ""},
        {"{\"model\":\"\xff\"}", "invalid_json", ""},
        {"{}", "invalid_model", "model"},
        {"{\"model\":null}", "invalid_model", "model"},
        {"{\"model\":\"\"}", "invalid_model", "model"},
        {"{\"model\":7}", "invalid_type", "model"},
        {"{\"model\":\"a\\u0000b\"}", "invalid_type", "model"},
        {"{\"model\":\"m\",\"stream\":\"false\"}", "invalid_type", "stream"},
        {"{\"model\":\"m\",\"stream\":1}", "invalid_type", "stream"},
        {"{\"model\":\"m\",\"max_tokens\":\"5\"}", "invalid_type", "max_tokens"},
        {"{\"model\":\"m\",\"max_tokens\":1.5}", "invalid_type", "max_tokens"},
        {"{\"model\":\"m\",\"max_tokens\":-1}", "invalid_type", "max_tokens"},
        {"{\"model\":\"m\",\"max_tokens\":0}", "invalid_type", "max_tokens"},
        {"{\"model\":\"m\",\"max_tokens\":1e30}", "invalid_type", "max_tokens"},
        {"{\"model\":\"m\",\"n\":0}", "invalid_type", "n"},
        {"{\"model\":\"m\",\"n\":129}", "invalid_type", "n"},
        {"{\"model\":\"m\",\"n\":-1}", "invalid_type", "n"},
        {"{\"model\":\"m\",\"n\":1.5}", "invalid_type", "n"},
        {"{\"model\":\"m\",\"n\":\"2\"}", "invalid_type", "n"},
        {"{\"model\":\"m\",\"max_completion_tokens\":[]}", "invalid_type",
         "max_completion_tokens"},
        {"{\"model\":\"m\",\"stream_options\":true}", "invalid_type", "stream_options"},
        {"{\"model\":\"m\",\"stream_options\":{\"include_usage\":\"yes\"}}", "invalid_type",
         "stream_options.include_usage"},
    };

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++) {
        struct arrival arrival;
        bool right = cases[i].code[0] == '\0';

        assert_int_equal(arrive(&arrival, NULL, cases[i].body), right ? TG_NEXT : TG_ANSWER);
        assert_string_equal(arrival.req.error.code, cases[i].code);
        assert_string_equal(arrival.req.error.param, cases[i].param);
        end(&arrival);
    }
}

static void flags_and_ceilings_are_taken(void **state)
{
    struct arrival arrival;

    (void)state;
    assert_int_equal(arrive(&arrival, NULL,
                            ASKED "\"stream\":true,\"max_tokens\":5,"
                            "\"max_completion_tokens\":9,"
                            "\"stream_options\":{\"include_usage\":true}}"),
                     TG_NEXT);
    assert_true(arrival.req.stream);
    assert_true(arrival.req.wants_usage);
    assert_int_equal(arrival.req.max_output_tokens, 9);
    end(&arrival);
    assert_int_equal(arrive(&arrival, NULL, BODY("m")), TG_NEXT);
    assert_false(arrival.req.stream || arrival.req.wants_usage);
    assert_int_equal(arrival.req.max_output_tokens, 0);
    end(&arrival);
}

/* What Chat alone knows is no more than an unknown field there. */
static void messages_has_members_of_its_own(void **state)
{
    static const struct {
        const char *body, *param; /* NULL: it is right */
        int64_t ceiling;
    } cases[] = {
        {ASKED "\"max_tokens\":7}", NULL, 7},
        {ASKED "\"max_tokens\":0}", NULL, 1}, /* warms a prompt cache */
        {ASKED "\"max_tokens\":-1}", "max_tokens", 0},
        {ASKED "\"n\":0,\"stream_options\":7,\"max_completion_tokens\":\"x\"}", NULL, 0},
        {"{\"model\":\"m\",\"max_tokens\":1}", "messages", 1},
    };

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++) {
        struct arrival arrival;

        begin(&arrival, NULL, NULL);
        arrival.req.endpoint = &generate_messages;
        test_peer_body(arrival.peer, cases[i].body, strlen(cases[i].body));
        test_peer_body_end(arrival.peer);
        assert_int_equal(tg_stage_body(&arrival.req), cases[i].param == NULL ? TG_NEXT : TG_ANSWER);
        assert_string_equal(arrival.req.error.param, cases[i].param == NULL ? "" : cases[i].param);
        assert_int_equal(arrival.req.max_output_tokens, cases[i].ceiling);
        assert_int_equal(arrival.req.answers, 1);
        end(&arrival);
    }
}

static void a_token_with_a_model_list_gets_only_those(void **state)
{
    static const char *const models[] = {"m-a"};
    struct arrival arrival;

    (void)state;
    credential.models_limited = true;
    credential.models = models;
    credential.model_count = 1;
    assert_int_equal(arrive(&arrival, NULL, BODY("m-a")), TG_NEXT);
    end(&arrival);
    assert_int_equal(arrive(&arrival, NULL, BODY("m-b")), TG_ANSWER);
    assert_int_equal(arrival.req.error.class, TG_CLASS_FORBIDDEN);
    assert_string_equal(arrival.req.error.code, "model_not_allowed");
    end(&arrival);
    credential = (struct tg_credential){0};
}

static void a_client_that_leaves_inside_its_body_is_gone(void **state)
{
    struct arrival arrival;

    (void)state;
    begin(&arrival, "100", NULL);
    test_peer_body(arrival.peer, "{\"model\"", 8);
    close(arrival.peer);
    arrival.peer = -1;
    assert_int_equal(tg_stage_body(&arrival.req), TG_GONE);
    end(&arrival);
}

static void a_body_that_does_not_come_ends_at_its_deadline(void **state)
{
    struct arrival arrival;

    (void)state;
    begin(&arrival, "100", NULL);
    test_peer_body(arrival.peer, "{\"model\"", 8);
    assert_int_equal(tg_stage_body(&arrival.req), TG_ANSWER);
    assert_string_equal(arrival.req.error.code, "body_timeout");
    end(&arrival);
}

static struct tg_conf *load_conf(void)
{
    char path[] = "/tmp/tollgate-conf-XXXXXX";
    int fd = mkstemp(path);
    struct tg_conf *conf = NULL;
    struct tg_error err;

    dprintf(fd, "body: { limit = \"8KiB\"; memory = \"1KiB\"; deadline = \"1s\"; "
                "folder = \"/tmp\"; };\n");
    close(fd);
    if (tg_conf_load(path, NULL, 0, &conf, &err) != TG_OK)
        fprintf(stderr, "%s\n", err.message);
    (void)unlink(path);
    return conf;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lengths_are_never_trusted),
        cmocka_unit_test(the_limit_holds_whatever_was_announced),
        cmocka_unit_test(compressed_bodies_are_inflated),
        cmocka_unit_test(broken_encodings_are_the_clients_fault),
        cmocka_unit_test(what_the_request_says_is_read_by_type),
        cmocka_unit_test(flags_and_ceilings_are_taken),
        cmocka_unit_test(messages_has_members_of_its_own),
        cmocka_unit_test(a_token_with_a_model_list_gets_only_those),
        cmocka_unit_test(a_client_that_leaves_inside_its_body_is_gone),
        cmocka_unit_test(a_body_that_does_not_come_ends_at_its_deadline),
    };
    struct tg_conf *conf = load_conf();
    struct tg_settings *settings;
    int failed;

    if (conf == NULL || tg_settings_new(conf, &settings, NULL) != TG_OK ||
        tg_fcgi_library_init(NULL) != TG_OK)
        return 1;
    atomic_store(&worker.settings, settings);
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    tg_settings_free(settings);
    return failed;
}
