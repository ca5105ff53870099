/* Typed reading: absent, null and wrong type are three answers, nothing is coerced. */
#include "tests/unit/unit.h"

#include "common/base/buf.h"
#include "common/json/json.h"

static struct tg_json *parse(const char *text)
{
    struct tg_json *root;
    struct tg_error err;

    if (tg_json_parse(text, strlen(text), &root, &err) != TG_OK)
        fail_msg("%s: %s", text, err.message);
    return root;
}

static void absent_null_and_wrong_are_told_apart(void **state)
{
    struct tg_json *root = parse("{\"n\":null,\"s\":\"x\",\"i\":7,\"b\":false,\"a\":[],\"o\":{}}");
    const struct tg_json *value = NULL;
    struct tg_span text;
    int64_t number;
    bool flag = true;

    (void)state;
    assert_int_equal(tg_json_get(root, "x", &value), TG_JSON_GOT_ABSENT);
    assert_int_equal(tg_json_get(root, "n", &value), TG_JSON_GOT_NULL);
    assert_int_equal(tg_json_get_string(root, "x", &text), TG_JSON_GOT_ABSENT);
    assert_int_equal(tg_json_get_string(root, "n", &text), TG_JSON_GOT_NULL);
    assert_int_equal(tg_json_get_string(root, "i", &text), TG_JSON_GOT_WRONG);
    assert_int_equal(tg_json_get_string(root, "s", &text), TG_JSON_GOT);
    assert_string_equal(text.ptr, "x");
    assert_int_equal(tg_json_get_int(root, "s", &number), TG_JSON_GOT_WRONG);
    assert_int_equal(tg_json_get_int(root, "b", &number), TG_JSON_GOT_WRONG);
    assert_int_equal(tg_json_get_int(root, "i", &number), TG_JSON_GOT);
    assert_int_equal(number, 7);
    assert_int_equal(tg_json_get_bool(root, "s", &flag), TG_JSON_GOT_WRONG);
    assert_int_equal(tg_json_get_bool(root, "i", &flag), TG_JSON_GOT_WRONG);
    assert_int_equal(tg_json_get_bool(root, "b", &flag), TG_JSON_GOT);
    assert_false(flag);
    assert_int_equal(tg_json_get_object(root, "a", &value), TG_JSON_GOT_WRONG);
    assert_int_equal(tg_json_get_object(root, "n", &value), TG_JSON_GOT_NULL);
    assert_int_equal(tg_json_get_object(root, "o", &value), TG_JSON_GOT);
    assert_int_equal(tg_json_get_array(root, "o", &value), TG_JSON_GOT_WRONG);
    assert_int_equal(tg_json_get_array(root, "a", &value), TG_JSON_GOT);
    assert_int_equal(tg_json_get(value, "x", &value), TG_JSON_GOT_ABSENT);
    tg_json_free(root);
    tg_json_free(NULL);
}

static void numbers_are_integers_or_wrong(void **state)
{
    static const struct {
        const char *text;
        enum tg_json_got got;
        int64_t value;
    } cases[] = {
        {"{\"v\":-0}", TG_JSON_GOT, 0},
        {"{\"v\":9223372036854775807}", TG_JSON_GOT, INT64_MAX},
        {"{\"v\":-9223372036854775808}", TG_JSON_GOT, INT64_MIN},
        {"{\"v\":9223372036854775808}", TG_JSON_GOT_WRONG, 0},
        {"{\"v\":18446744073709551615}", TG_JSON_GOT_WRONG, 0},
        {"{\"v\":1.0}", TG_JSON_GOT_WRONG, 0},
        {"{\"v\":1e2}", TG_JSON_GOT_WRONG, 0},
        {"{\"v\":1e400}", TG_JSON_GOT_WRONG, 0},
        {"{\"v\":-1E-400}", TG_JSON_GOT_WRONG, 0},
        {"{\"v\":\"12\"}", TG_JSON_GOT_WRONG, 0},
    };
    int64_t value;

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++) {
        struct tg_json *root = parse(cases[i].text);

        assert_int_equal(tg_json_get_int(root, "v", &value), cases[i].got);
        if (cases[i].got == TG_JSON_GOT)
            assert_true(value == cases[i].value);
        tg_json_free(root);
    }
}

static void every_type_can_be_the_document(void **state)
{
    static const struct {
        const char *text;
        enum tg_json_type type;
    } cases[] = {
        {"null", TG_JSON_NULL},   {"true", TG_JSON_TRUE}, {"false", TG_JSON_FALSE},
        {"12", TG_JSON_NUMBER},   {"-1.5e3", TG_JSON_NUMBER}, {"\"x\"", TG_JSON_STRING},
        {" [1] ", TG_JSON_ARRAY}, {"{}", TG_JSON_OBJECT},
    };
    const struct tg_json *value;

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++) {
        struct tg_json *root = parse(cases[i].text);

        assert_int_equal(tg_json_type(root), cases[i].type);
        assert_int_equal(tg_json_get(root, "x", &value), TG_JSON_GOT_ABSENT);
        tg_json_free(root);
    }
}

static void a_null_element_is_an_element(void **state)
{
    struct tg_json *root = parse("[null, 3]");
    int64_t number;

    (void)state;
    assert_int_equal(tg_json_array_len(root), 2);
    assert_int_equal(tg_json_type(tg_json_array_at(root, 0)), TG_JSON_NULL);
    assert_true(tg_json_int(tg_json_array_at(root, 1), &number));
    assert_int_equal(number, 3);
    assert_null(tg_json_array_at(root, 2));
    assert_int_equal(tg_json_array_len(tg_json_array_at(root, 0)), 0);
    tg_json_free(root);
}

static void strings_may_hold_nul(void **state)
{
    struct tg_json *root = parse("{\"s\":\"a\\u0000b\"}");
    struct tg_span text;

    (void)state;
    assert_int_equal(tg_json_get_string(root, "s", &text), TG_JSON_GOT);
    assert_int_equal(text.len, 3);
    assert_memory_equal(text.ptr, "a\0b", 4);
    tg_json_free(root);
}

static bool collect(void *context, const char *key, const struct tg_json *value)
{
    tg_buf_printf(context, "%s=%d,", key, (int)tg_json_type(value));
    return strcmp(key, "stop") != 0;
}

static void members_come_in_their_order(void **state)
{
    struct tg_json *root = parse("{\"z\":1,\"a\":null,\"stop\":[],\"b\":2}");
    struct tg_buf buf;

    (void)state;
    tg_buf_init(&buf, 0);
    tg_json_each(root, collect, &buf);
    assert_string_equal(tg_buf_text(&buf), "z=3,a=0,stop=5,");
    tg_buf_done(&buf);
    tg_json_free(root);
}

static void what_the_gate_refuses_is_not_parsed(void **state)
{
    static const char *const bad[] = {"", "{\"a\":1,\"\\u0061\":2}", "NaN", "{} x", "\"\xff\"",
                                      "18446744073709551616", "{\"a\\u0000\":1}"};
    struct tg_json *root = NULL;
    struct tg_error err;

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(bad); i++) {
        assert_int_equal(tg_json_parse(bad[i], strlen(bad[i]), &root, &err), TG_CLASS_INVALID);
        assert_string_equal(err.code, "invalid_json");
        assert_null(root);
    }
}

static void the_deepest_text_the_gate_allows_is_parsed(void **state)
{
    struct tg_json *root;
    struct tg_buf buf;

    (void)state;
    tg_buf_init(&buf, 0);
    for (int i = 0; i < TG_JSON_DEPTH; i++)
        tg_buf_str(&buf, i % 2 == 0 ? "[" : "{\"a\":");
    tg_buf_str(&buf, "\"x\"");
    for (int i = TG_JSON_DEPTH; i-- > 0;)
        tg_buf_str(&buf, i % 2 == 0 ? "]" : "}");
    root = parse(tg_buf_text(&buf));
    tg_json_free(root);
    tg_buf_done(&buf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(absent_null_and_wrong_are_told_apart),
        cmocka_unit_test(numbers_are_integers_or_wrong),
        cmocka_unit_test(every_type_can_be_the_document),
        cmocka_unit_test(a_null_element_is_an_element),
        cmocka_unit_test(strings_may_hold_nul),
        cmocka_unit_test(members_come_in_their_order),
        cmocka_unit_test(what_the_gate_refuses_is_not_parsed),
        cmocka_unit_test(the_deepest_text_the_gate_allows_is_parsed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
