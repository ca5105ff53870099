/* Places in a text: found by path, read without a tree, and no read outside on bad texts. */
#include "tests/unit/unit.h"

#include <stdlib.h>

#include "common/base/memory.h"
#include "common/json/scan.h"

static void members_are_found_by_path(void **state)
{
    static const char text[] =
        " { \"model\" : \"gpt\" , \"n\":-12, \"stream_options\":{\"x\":[{},\"}\"],"
        "\"include_usage\":true},\"choices\":[{\"delta\":{\"content\":\"a\\\"]\"}},[1, 2 ,[3]],"
        "null], \"m\\u00f6d\\\"el\":1.5,\"last\":false,\"\":0,\"0\":{\"1\":2}} ";
    static const struct {
        const char *path;
        enum tg_json_type type;
        const char *value;
    } cases[] = {
        {"model", TG_JSON_STRING, "\"gpt\""},
        {"n", TG_JSON_NUMBER, "-12"},
        {"stream_options.include_usage", TG_JSON_TRUE, "true"},
        {"stream_options.x", TG_JSON_ARRAY, "[{},\"}\"]"},
        {"stream_options.x.1", TG_JSON_STRING, "\"}\""},
        {"choices.0.delta", TG_JSON_OBJECT, "{\"content\":\"a\\\"]\"}"},
        {"choices.0.delta.content", TG_JSON_STRING, "\"a\\\"]\""},
        {"choices.1.1", TG_JSON_NUMBER, "2"},
        {"choices.1.2.0", TG_JSON_NUMBER, "3"},
        {"choices.2", TG_JSON_NULL, "null"},
        {"m\xc3\xb6" "d\"el", TG_JSON_NUMBER, "1.5"},
        {"last", TG_JSON_FALSE, "false"},
        {"0.1", TG_JSON_NUMBER, "2"},
    };
    static const char *const absent[] = {
        "mode",      "models",      "model.x",  "n.0",      "stream_options.model",
        "choices.3", "choices.x",   "choices.1.9999999999",
        "include_usage", "choices.-1", "choices.0.delta.content.0",
    };
    struct tg_json_place place;

    (void)state;
    assert_int_equal(tg_json_check(text, sizeof text - 1, NULL), TG_OK);
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++) {
        if (!tg_json_find(text, sizeof text - 1, cases[i].path, &place))
            fail_msg("not found: %s", cases[i].path);
        assert_int_equal(place.type, cases[i].type);
        assert_int_equal(place.len, strlen(cases[i].value));
        assert_memory_equal(text + place.at, cases[i].value, place.len);
    }
    for (size_t i = 0; i < TG_COUNT_OF(absent); i++)
        if (tg_json_find(text, sizeof text - 1, absent[i], &place))
            fail_msg("found: %s", absent[i]);
}

static void keys_match_after_unescaping(void **state)
{
    static const char text[] = "{\"\\u006dodel\":1,\"\\ud83d\\ude00\":2,\"a\\/b\":3}";
    static const char *const paths[] = {"model", "\xf0\x9f\x98\x80", "a/b"};
    struct tg_json_place place;
    int64_t value;

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(paths); i++) {
        assert_true(tg_json_find(text, sizeof text - 1, paths[i], &place));
        assert_true(tg_json_place_int(text, &place, &value));
        assert_int_equal(value, i + 1);
    }
    assert_false(tg_json_find(text, sizeof text - 1, "\\u006dodel", &place));
}

static void the_empty_path_is_the_document(void **state)
{
    struct tg_json_place place;

    (void)state;
    assert_true(tg_json_find(" [1] ", 5, "", &place));
    assert_int_equal(place.at, 1);
    assert_int_equal(place.len, 3);
    assert_true(tg_json_find("17", 2, "", &place));
    assert_int_equal(place.len, 2);
}

static void strings_are_unescaped_if_they_fit(void **state)
{
    static const char text[] = "[\"a\\n\\u00e9\\ud83d\\ude00\",\"\",7,\"a\\u0000b\"]";
    struct tg_json_place place;
    char out[9];

    (void)state;
    assert_true(tg_json_find(text, sizeof text - 1, "0", &place));
    assert_true(tg_json_place_string(text, &place, out, 9));
    assert_string_equal(out, "a\n\xc3\xa9\xf0\x9f\x98\x80");
    assert_false(tg_json_place_string(text, &place, out, 8));
    assert_false(tg_json_place_string(text, &place, out, 0));
    assert_true(tg_json_find(text, sizeof text - 1, "1", &place));
    assert_true(tg_json_place_string(text, &place, out, 1));
    assert_string_equal(out, "");
    assert_true(tg_json_find(text, sizeof text - 1, "2", &place));
    assert_false(tg_json_place_string(text, &place, out, 9));
    assert_true(tg_json_find(text, sizeof text - 1, "3", &place));
    assert_false(tg_json_place_string(text, &place, out, 9));
}

static void integers_are_read_within_int64_only(void **state)
{
    static const struct {
        const char *text;
        int64_t value;
    } good[] = {
        {"0", 0},
        {"-0", 0},
        {"9223372036854775807", INT64_MAX},
        {"-9223372036854775808", INT64_MIN},
    };
    static const char *const bad[] = {"9223372036854775808", "18446744073709551615", "1.0",
                                      "1e2", "\"1\"", "true", "null", "[1]"};
    struct tg_json_place place;
    int64_t value;

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(good); i++) {
        assert_true(tg_json_find(good[i].text, strlen(good[i].text), "", &place));
        assert_true(tg_json_place_int(good[i].text, &place, &value));
        assert_true(value == good[i].value);
    }
    for (size_t i = 0; i < TG_COUNT_OF(bad); i++) {
        assert_true(tg_json_find(bad[i], strlen(bad[i]), "", &place));
        assert_false(tg_json_place_int(bad[i], &place, &value));
    }
}

static void members_come_one_after_the_other(void **state)
{
    static const char text[] =
        " { \"a\" : \"x\\\"y\" , \"\\u0062\":-12,\"\":{\"c\":[1,{}]} , \"d\":[ ], \"e\":true } ";
    static const struct {
        const char *key;
        enum tg_json_type type;
        const char *value;
    } cases[] = {{"a", TG_JSON_STRING, "\"x\\\"y\""},
                 {"\\u0062", TG_JSON_NUMBER, "-12"},
                 {"", TG_JSON_OBJECT, "{\"c\":[1,{}]}"},
                 {"d", TG_JSON_ARRAY, "[ ]"},
                 {"e", TG_JSON_TRUE, "true"}};
    static const char *const none[] = {"{}", " { } ", "[1]", "\"a\"", "", "{\"a\"", "{\"a\":"};
    struct tg_json_member member;
    size_t at = 0;

    (void)state;
    assert_int_equal(tg_json_check(text, sizeof text - 1, NULL), TG_OK);
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++) {
        assert_true(tg_json_next(text, sizeof text - 1, &at, &member));
        assert_int_equal(member.key.len, strlen(cases[i].key));
        assert_memory_equal(member.key.ptr, cases[i].key, member.key.len);
        assert_int_equal(member.value.type, cases[i].type);
        assert_int_equal(member.value.len, strlen(cases[i].value));
        assert_memory_equal(text + member.value.at, cases[i].value, member.value.len);
    }
    assert_false(tg_json_next(text, sizeof text - 1, &at, &member));
    for (size_t i = 0; i < TG_COUNT_OF(none); i++) {
        at = 0;
        assert_false(tg_json_next(none[i], strlen(none[i]), &at, &member));
    }
}

/* Unchecked texts: any answer, but never a read outside (the sanitizer watches) nor a place
 * outside. */
static void texts_that_never_passed_the_gate_do_no_harm(void **state)
{
    static const char *const texts[] = {
        "{\"a\":{\"b\":[1,2,{\"c\":\"x\\\"y\"}]}}", "{\"a\"", "{\"a\":", "{\"a\\", "{\"a\\u00",
        "[[[[", "]]]]", "}}}}", "{,}", "[,,]", "{\"a\" \"b\"}", ":::", "\"", "\\\\\\", "{{{\"a\":",
        "[\"\\ud83d\\", "{\"a\":\"\\u12",
    };
    static const char *const paths[] = {"", "a", "a.b.2.c", "0", "1", "0.0.0", "b", "a.b"};
    struct tg_json_member member;
    struct tg_json_place place;
    char out[64];
    int64_t value;

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(texts); i++)
        for (size_t len = 0; len <= strlen(texts[i]); len++) {
            char *copy = tg_malloc(len);

            memcpy(copy, texts[i], len);
            for (size_t j = 0; j < TG_COUNT_OF(paths); j++) {
                if (!tg_json_find(copy, len, paths[j], &place))
                    continue;
                assert_true(place.at < len && place.len <= len - place.at);
                if (tg_json_place_string(copy, &place, out, sizeof out))
                    assert_int_equal(place.type, TG_JSON_STRING);
                if (tg_json_place_int(copy, &place, &value))
                    assert_int_equal(place.type, TG_JSON_NUMBER);
            }
            for (size_t at = 0, steps = 0; tg_json_next(copy, len, &at, &member); steps++)
                assert_true(at <= len && steps <= len && member.value.at < len &&
                            member.value.len <= len - member.value.at);
            free(copy);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_are_found_by_path),
        cmocka_unit_test(keys_match_after_unescaping),
        cmocka_unit_test(the_empty_path_is_the_document),
        cmocka_unit_test(strings_are_unescaped_if_they_fit),
        cmocka_unit_test(integers_are_read_within_int64_only),
        cmocka_unit_test(members_come_one_after_the_other),
        cmocka_unit_test(texts_that_never_passed_the_gate_do_no_harm),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
