/* Documents that are built and changed: what moves, what stays, what is freed with what. */
#include "tests/unit/unit.h"

#include "common/json/tree.h"

#include <stdio.h>

static struct tg_json *parse(const char *text)
{
    struct tg_json *root = NULL;

    assert_int_equal(tg_json_parse(text, strlen(text), &root, NULL), TG_OK);
    return root;
}

static void assert_text(const struct tg_json *value, const char *wanted)
{
    struct tg_buf text;

    tg_buf_init(&text, 0);
    tg_json_print(value, &text);
    assert_string_equal(tg_buf_text(&text), wanted);
    tg_buf_done(&text);
}

static void a_key_that_is_there_keeps_its_place(void **state)
{
    struct tg_json *root = parse("{\"a\":1,\"b\":2}");

    (void)state;
    tg_json_set_str(root, "a", "x");
    tg_json_set_null(root, "c");
    assert_text(root, "{\"a\":\"x\",\"b\":2,\"c\":null}");
    tg_json_free(root);
}

static void copies_keep_the_text_of_numbers(void **state)
{
    static const char text[] = "{\"a\":[1.10,1E400,30000000000000001,-0.0],\"n\":null}";
    struct tg_json *root = parse(text), *copy = tg_json_copy(root);

    (void)state;
    tg_json_free(root);
    assert_text(copy, text);
    tg_json_free(copy);
}

static void elements_are_put_in_and_dropped(void **state)
{
    struct tg_json *root = parse("[1,2,3]");

    (void)state;
    tg_json_insert(root, 0, tg_json_new_str("first"));
    tg_json_insert(root, 3, tg_json_new_null());
    assert_text(root, "[\"first\",1,2,null,3]");
    tg_json_drop(root, 1);
    assert_text(root, "[\"first\",2,null,3]");
    tg_json_free(root);
}

static void what_is_taken_outlives_its_document(void **state)
{
    struct tg_json *root = parse("{\"a\":{\"b\":\"c\"},\"n\":null,\"list\":[[1],null,{\"k\":2}]}");
    struct tg_json *list = tg_json_member(root, "list");
    struct tg_json *member = tg_json_take(root, "a"), *null = tg_json_take(root, "n");
    struct tg_json *first = tg_json_take_at(list, 0), *second = tg_json_take_at(list, 1);

    (void)state;
    assert_null(tg_json_take(root, "absent"));
    assert_text(root, "{\"list\":[null,null,{\"k\":2}]}");
    tg_json_free(root);
    assert_text(member, "{\"b\":\"c\"}");
    assert_text(null, "null");
    assert_text(first, "[1]");
    assert_text(second, "null");
    tg_json_free(member);
    tg_json_free(null);
    tg_json_free(first);
    tg_json_free(second);
}

static bool keep_short(void *context, const char *key, struct tg_json *value)
{
    int *seen = context;

    (*seen)++;
    if (tg_json_type(value) == TG_JSON_OBJECT)
        tg_json_set_bool(value, "seen", true);
    return strlen(key) < 3;
}

static void members_are_filtered_and_changed(void **state)
{
    static const struct {
        const char *text, *wanted;
        int seen;
    } cases[] = {
        {"{\"long\":1,\"a\":{},\"longer\":{},\"b\":null,\"last\":2}",
         "{\"a\":{\"seen\":true},\"b\":null}", 5},
        {"{\"long\":1}", "{}", 1},
        {"{}", "{}", 0},
        {"[{\"long\":1}]", "[{\"long\":1}]", 0},
        {"\"long\"", "\"long\"", 0},
        {"null", "null", 0},
    };

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++) {
        struct tg_json *root = parse(cases[i].text);
        int seen = 0;

        tg_json_filter(root, keep_short, &seen);
        assert_text(root, cases[i].wanted);
        assert_int_equal(seen, cases[i].seen);
        tg_json_free(root);
    }
}

static void a_filter_takes_any_number_of_members(void **state)
{
    struct tg_json *root = tg_json_new_object();
    int seen = 0;

    (void)state;
    for (int i = 0; i < 1000; i++) {
        char key[16];

        snprintf(key, sizeof key, i % 100 == 0 ? "%d" : "many%d", i / 100);
        tg_json_set_int(root, key, i);
        snprintf(key, sizeof key, "more%d", i);
        tg_json_set_int(root, key, i);
    }
    tg_json_filter(root, keep_short, &seen);
    assert_int_equal(seen, 10 + 10 + 1000);
    assert_text(root, "{\"0\":0,\"1\":100,\"2\":200,\"3\":300,\"4\":400,\"5\":500,\"6\":600,"
                      "\"7\":700,\"8\":800,\"9\":900}");
    tg_json_free(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_key_that_is_there_keeps_its_place),
        cmocka_unit_test(copies_keep_the_text_of_numbers),
        cmocka_unit_test(elements_are_put_in_and_dropped),
        cmocka_unit_test(what_is_taken_outlives_its_document),
        cmocka_unit_test(members_are_filtered_and_changed),
        cmocka_unit_test(a_filter_takes_any_number_of_members),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
