/* Which operation a path is, and how paths are brought into one form. */
#include "tests/unit/unit.h"

#include "fcgi-app/endpoint.h"

#include <stdio.h>

enum { UNKNOWN = -1, WRONG_METHOD = -2 };

struct row {
    const char *method, *path;
    int operation;
};

static void check_rows(const struct row *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char path[128];
        bool wrong;
        const struct tg_endpoint *found;

        snprintf(path, sizeof path, "%s", cases[i].path);
        tg_endpoint_tidy(path);
        found = tg_endpoint_find(cases[i].method, path, &wrong);
        if (cases[i].operation < 0) {
            assert_null(found);
            assert_int_equal(wrong, cases[i].operation == WRONG_METHOD);
        } else {
            assert_non_null(found);
            assert_int_equal(found->operation, cases[i].operation);
        }
    }
}

static void every_row_is_found(void **state)
{
    static const struct row cases[] = {
        {"POST", "/v1/chat/completions", TG_OPERATION_GENERATE},
        {"POST", "//v1/chat/completions", TG_OPERATION_GENERATE},
        {"POST", "/v1/v1/chat/completions", TG_OPERATION_GENERATE},
        {"POST", "/v1//v1//v1/chat//completions/", TG_OPERATION_GENERATE},
        {"GET", "/v1/chat/completions", WRONG_METHOD},
        {"PUT", "/v1/chat/completions", WRONG_METHOD},
        {"GET", "/v1/models", TG_OPERATION_MODELS},
        {"HEAD", "/v1/models", TG_OPERATION_MODELS},
        {"GET", "/v1/models/", TG_OPERATION_MODELS},
        {"GET", "/v1/models/org/name:tag", TG_OPERATION_MODELS},
        {"DELETE", "/v1/models", WRONG_METHOD},
        {"DELETE", "/v1/models/m", TG_OPERATION_ABSENT},
        {"GET", "/healthz", TG_OPERATION_HEALTH},
        {"GET", "/readyz", TG_OPERATION_READY},
        {"GET", "/metrics", TG_OPERATION_METRICS},
        {"POST", "/tollgate/channel-test", TG_OPERATION_CHANNEL_TEST},
        {"POST", "/v1/images/variations", TG_OPERATION_ABSENT},
        {"GET", "/v1/files", TG_OPERATION_ABSENT},
        {"POST", "/v1/files", TG_OPERATION_ABSENT},
        {"DELETE", "/v1/files/f", TG_OPERATION_ABSENT},
        {"GET", "/v1/files/f/content", TG_OPERATION_ABSENT},
        {"POST", "/v1/fine-tunes", TG_OPERATION_ABSENT},
        {"POST", "/v1/fine-tunes/f/cancel", TG_OPERATION_ABSENT},
        {"GET", "/v1/realtime", TG_OPERATION_ABSENT},
        {"GET", "/v1/chat/completions/c", TG_OPERATION_ABSENT},
        {"GET", "/", UNKNOWN},
        {"GET", "", UNKNOWN},
        {"GET", "/v1", UNKNOWN},
        {"POST", "/v1/nothing", UNKNOWN},
        {"POST", "/v1/chat/completionsx", UNKNOWN},
        {"GET", "/V1/models", UNKNOWN},
        {"GET", "/v1/../etc/passwd", UNKNOWN},
        {"get", "/v1/models", WRONG_METHOD},
    };

    (void)state;
    check_rows(cases, TG_COUNT_OF(cases));
}

static void paths_of_gemini_are_found(void **state)
{
    static const struct row cases[] = {
        {"POST", "/v1beta/models/gemini-x:generateContent", TG_OPERATION_GENERATE},
        {"POST", "/v1beta/models/a/b:c:streamGenerateContent", TG_OPERATION_GENERATE},
        {"POST", "/v1beta/models/gemini-x:countTokens", TG_OPERATION_COUNT},
        {"POST", "/v1/models/gemini-x:generateContent", TG_OPERATION_GENERATE},
        {"POST", "/v1beta/v1beta/models/m:generateContent", TG_OPERATION_GENERATE},
        {"POST", "/v1/v1beta/models/m:generateContent", TG_OPERATION_GENERATE},
        {"POST", "/v1beta/models/:generateContent", WRONG_METHOD},
        {"POST", "/v1beta/models/m:embedContent", WRONG_METHOD},
        {"GET", "/v1beta/models", TG_OPERATION_MODELS},
        {"GET", "/v1beta/models/gemini-x", TG_OPERATION_MODELS},
        {"GET", "/v1beta/files", UNKNOWN},
    };

    (void)state;
    check_rows(cases, TG_COUNT_OF(cases));
}

static void the_rest_of_a_path_keeps_its_slashes(void **state)
{
    bool wrong;
    const struct tg_endpoint *found = tg_endpoint_find("GET", "/v1/models/org/name", &wrong);

    (void)state;
    assert_string_equal(tg_endpoint_rest(found, "/v1/models/org/name"), "org/name");
    found = tg_endpoint_find("GET", "/v1/models", &wrong);
    assert_string_equal(tg_endpoint_rest(found, "/v1/models"), "");
}

static void a_models_name_ends_before_the_last_colon(void **state)
{
    static const char path[] = "/v1beta/models/org/name:tag:generateContent";
    struct tg_arena *arena = tg_arena_new();
    bool wrong;
    const struct tg_endpoint *found = tg_endpoint_find("POST", path, &wrong);

    (void)state;
    assert_string_equal(tg_endpoint_model(arena, found, path), "org/name:tag");
    assert_false(tg_endpoint_streams(found));
    found = tg_endpoint_find("POST", "/v1beta/models/m:streamGenerateContent", &wrong);
    assert_true(tg_endpoint_streams(found));
    tg_arena_free(arena);
}

static void a_path_names_its_methods(void **state)
{
    char text[64];

    (void)state;
    tg_endpoint_allow("/v1/models/m", text, sizeof text);
    assert_string_equal(text, "GET, DELETE");
    tg_endpoint_allow("/v1/chat/completions", text, sizeof text);
    assert_string_equal(text, "POST");
    tg_endpoint_allow("/nothing", text, sizeof text);
    assert_string_equal(text, "");
}

static void shared_paths_have_a_form_of_messages(void **state)
{
    static const char *const shared[] = {"/v1/models", "/v1/models/m"};
    const struct tg_endpoint *found;
    bool wrong;

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(shared); i++) {
        const struct tg_endpoint *other;

        found = tg_endpoint_find("GET", shared[i], &wrong);
        other = tg_endpoint_of(found, TG_PROTOCOL_MESSAGES);
        assert_int_equal(found->protocol, TG_PROTOCOL_CHAT);
        assert_int_equal(other->protocol, TG_PROTOCOL_MESSAGES);
        assert_string_equal(other->name, found->name);
        assert_string_equal(tg_endpoint_rest(other, shared[i]), tg_endpoint_rest(found, shared[i]));
    }
    found = tg_endpoint_find("GET", "/healthz", &wrong);
    assert_ptr_equal(tg_endpoint_of(found, TG_PROTOCOL_GEMINI), found);
    found = tg_endpoint_find("DELETE", "/v1/models/m", &wrong);
    assert_ptr_equal(tg_endpoint_of(found, TG_PROTOCOL_GEMINI), found);
    found = tg_endpoint_find("GET", "/v1/models", &wrong);
    assert_int_equal(tg_endpoint_of(found, TG_PROTOCOL_GEMINI)->protocol, TG_PROTOCOL_GEMINI);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_is_found),
        cmocka_unit_test(paths_of_gemini_are_found),
        cmocka_unit_test(the_rest_of_a_path_keeps_its_slashes),
        cmocka_unit_test(a_models_name_ends_before_the_last_colon),
        cmocka_unit_test(a_path_names_its_methods),
        cmocka_unit_test(shared_paths_have_a_form_of_messages),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
