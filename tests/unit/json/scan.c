/* The strict gate: what it lets through, what it refuses and where it says so. */
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/base/buf.h"
#include "common/base/memory.h"
#include "common/json/keys.h"
#include "common/json/scan.h"

#define TEXT(text) text, sizeof(text) - 1

struct text {
    const char *text;
    size_t len;
};

/* In a heap block of exactly its size: a read behind the end is a sanitizer report. */
static enum tg_class check(const char *text, size_t len, struct tg_error *err)
{
    char *copy = tg_malloc(len);
    enum tg_class class;

    memcpy(copy, text, len);
    class = tg_json_check(copy, len, err);
    free(copy);
    return class;
}

static void assert_all(const struct text *texts, size_t count, enum tg_class expected)
{
    struct tg_error err;

    for (size_t i = 0; i < count; i++)
        if (check(texts[i].text, texts[i].len, &err) != expected)
            fail_msg("%s: %s", expected == TG_OK ? "refused" : "accepted", texts[i].text);
}

static void well_formed_texts_pass(void **state)
{
    static const struct text good[] = {
        {TEXT("null")},
        {TEXT(" true ")},
        {TEXT("\r\n\tfalse\n")},
        {TEXT("0")},
        {TEXT("-0")},
        {TEXT("-0.0e-0")},
        {TEXT("1e400")},
        {TEXT("1E+2")},
        {TEXT("123.456e-789")},
        {TEXT("18446744073709551615")},
        {TEXT("-9223372036854775808")},
        {TEXT("100000000000000000000.0")},
        {TEXT("\"\"")},
        {TEXT("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0000\\uABcd\"")},
        {TEXT("\"\\ud83d\\uDE00\"")},
        {TEXT("\"\x7f\xc2\x80\xdf\xbf\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf\"")},
        {TEXT("\"\xf0\x90\x80\x80\xf4\x8f\xbf\xbf\"")},
        {TEXT("[]")},
        {TEXT("{ }")},
        {TEXT("[ 1 , [ ] , { } , \"x\" ]")},
        {TEXT("{ \"a\" : 1 , \"b\" : { \"a\" : [ { \"a\" : null } , { \"a\" : 2 } ] } }")},
        {TEXT("{\"\":0,\" \":1}")},
        {TEXT("{\"a\":{\"b\":1},\"b\":{\"a\":1}}")},
    };

    (void)state;
    assert_all(good, TG_COUNT_OF(good), TG_OK);
}

static void malformed_texts_are_refused(void **state)
{
    static const struct text bad[] = {
        {TEXT("")},
        {TEXT(" ")},
        {TEXT("\xef\xbb\xbf{}")}, /* byte order mark */
        {TEXT("\xff\xfe{\0}\0")},
        {TEXT("{}\0")},
        {TEXT("\0")},
        {TEXT("{}x")},
        {TEXT("{}{}")},
        {TEXT("1 2")},
        {TEXT("[1]]")},
        {TEXT("[1,]")},
        {TEXT("[,1]")},
        {TEXT("[1 2]")},
        {TEXT("[1}")},
        {TEXT("{\"a\":1]")},
        {TEXT("[")},
        {TEXT("{\"a\"")},
        {TEXT("{\"a\":")},
        {TEXT("{\"a\":1")},
        {TEXT("{\"a\":1,")},
        {TEXT("{\"a\":1,}")},
        {TEXT("{\"a\" 1}")},
        {TEXT("{a:1}")},
        {TEXT("{'a':1}")},
        {TEXT("{1:1}")},
        {TEXT("['a']")},
        {TEXT("[1] // x")},
        {TEXT("/* x */ [1]")},
        {TEXT("# x\n[1]")},
        {TEXT("NaN")},
        {TEXT("Infinity")},
        {TEXT("-Infinity")},
        {TEXT("True")},
        {TEXT("TRUE")},
        {TEXT("nul")},
        {TEXT("nulll")},
        {TEXT("undefined")},
        {TEXT("\v1")},
        {TEXT("\xc2\xa0" "1")}, /* a blank of Unicode is none of JSON */
    };

    (void)state;
    assert_all(bad, TG_COUNT_OF(bad), TG_CLASS_INVALID);
}

static void bad_numbers_are_refused(void **state)
{
    static const struct text bad[] = {
        {TEXT("+1")},
        {TEXT("01")},
        {TEXT("-01")},
        {TEXT("00")},
        {TEXT("-")},
        {TEXT("--1")},
        {TEXT(".5")},
        {TEXT("1.")},
        {TEXT("1.e5")},
        {TEXT("1e")},
        {TEXT("1e+")},
        {TEXT("1e5.5")},
        {TEXT("0x10")},
        {TEXT("1_000")},
        {TEXT("1,000")},
        {TEXT("1f")},
        {TEXT("18446744073709551616")},
        {TEXT("-9223372036854775809")},
        {TEXT("99999999999999999999999999999999999999")},
        {TEXT("[100000000000000000000]")},
        {TEXT("\xd9\xa1")}, /* an Arabic digit */
    };

    (void)state;
    assert_all(bad, TG_COUNT_OF(bad), TG_CLASS_INVALID);
}

static void bad_strings_are_refused(void **state)
{
    static const struct text bad[] = {
        {TEXT("\"")},
        {TEXT("\"\\")},
        {TEXT("\"\\\"")},
        {TEXT("\"a\nb\"")},
        {TEXT("\"a\0b\"")},
        {TEXT("\"\x1f\"")},
        {TEXT("\"\\x41\"")},
        {TEXT("\"\\'\"")},
        {TEXT("\"\\U0041\"")},
        {TEXT("\"\\\0\"")},
        {TEXT("\"\\u\"")},
        {TEXT("\"\\u004\"")},
        {TEXT("\"\\u004g\"")},
        {TEXT("\"\\u00")},
        {TEXT("\"\\ud800\"")},
        {TEXT("\"\\ud800x\"")},
        {TEXT("\"\\ud800\\n\"")},
        {TEXT("\"\\ud800\\u0041\"")},
        {TEXT("\"\\ud800\\ud800\"")},
        {TEXT("\"\\udc00\"")},
        {TEXT("\"\\udc00\\ud800\"")},
        {TEXT("\"\\ud83d\\ude0")},
        {TEXT("\"\x80\"")},
        {TEXT("\"\xbf\"")},
        {TEXT("\"\xc0\x80\"")}, /* overlong */
        {TEXT("\"\xc1\xbf\"")},
        {TEXT("\"\xe0\x80\xaf\"")},
        {TEXT("\"\xe0\x9f\xbf\"")},
        {TEXT("\"\xf0\x80\x80\xaf\"")},
        {TEXT("\"\xf0\x8f\xbf\xbf\"")},
        {TEXT("\"\xed\xa0\x80\"")}, /* surrogates */
        {TEXT("\"\xed\xbf\xbf\"")},
        {TEXT("\"\xf4\x90\x80\x80\"")}, /* above U+10FFFF */
        {TEXT("\"\xf5\x80\x80\x80\"")},
        {TEXT("\"\xff\"")},
        {TEXT("\"\xc2\"")}, /* cut off */
        {TEXT("\"\xe2\x82\"")},
        {TEXT("\"\xf0\x9f\x98\"")},
        {TEXT("\"\xf0\x9f\x98")},
        {TEXT("\"\xe2\x28\xa1\"")},
    };

    (void)state;
    assert_all(bad, TG_COUNT_OF(bad), TG_CLASS_INVALID);
}

static void duplicate_keys_are_refused_however_they_are_written(void **state)
{
    static const struct text bad[] = {
        {TEXT("{\"a\":1,\"a\":2}")},
        {TEXT("{\"\":1,\"\":2}")},
        {TEXT("{\"a\":1,\"\\u0061\":2}")},
        {TEXT("{\"\\u0061\":1,\"b\":0,\"a\":2}")},
        {TEXT("{\"/\":1,\"\\/\":2}")},
        {TEXT("{\"\\n\":1,\"\\u000A\":2}")},
        {TEXT("{\"\xc3\xa9\":1,\"\\u00e9\":2}")},
        {TEXT("{\"\xf0\x9f\x98\x80\":1,\"\\ud83d\\ude00\":2}")},
        {TEXT("[{\"x\":{\"a\":1,\"b\":{\"a\":1},\"a\":2}}]")},
        {TEXT("{\"a\":{\"a\":{\"a\":1}},\"a\":1}")},
        {TEXT("{\"a\\u0000b\":1}")}, /* json-c would end the key at the NUL */
        {TEXT("{\"a\":1,\"a\\u0000\":2}")},
    };

    (void)state;
    assert_all(bad, TG_COUNT_OF(bad), TG_CLASS_INVALID);
}

/* As one of few keys and of many, as the first and as the last, escaped early, late and not. */
static void a_duplicate_is_found_among_any_number_of_keys(void **state)
{
    static const char *const forms[] = {"a-longer-key-", "\\u0061-longer-key-",
                                        "a-longer-key\\u002d"};
    static const int counts[] = {1, 2, 8, 15, 16, 17, 40, 63, 64, 65, 66, 130};

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(counts); i++)
        for (size_t form = 0; form < TG_COUNT_OF(forms) * 2; form++) {
            int twice = form % 2 == 0 ? 0 : counts[i] - 1;
            struct tg_buf buf;

            tg_buf_init(&buf, 0);
            for (int n = 0; n < counts[i]; n++)
                tg_buf_printf(&buf, "%s\"a-longer-key-%d\":0", n == 0 ? "{" : ",", n);
            tg_buf_char(&buf, '}');
            assert_int_equal(check(buf.data, buf.len, NULL), TG_OK);
            buf.len--;
            tg_buf_printf(&buf, ",\"%s%d\":0}", forms[form / 2], twice);
            assert_int_equal(check(buf.data, buf.len, NULL), TG_CLASS_INVALID);
            tg_buf_done(&buf);
        }
}

static void the_error_names_the_byte_and_the_reason(void **state)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"[1, x]", "invalid JSON at byte 4: a value was expected"},
        {"{\"a\":1,\"a\":2}", "invalid JSON at byte 7: duplicate key"},
        {"\"ab\\ud800\"", "invalid JSON at byte 3: lone surrogate"},
        {"[1", "invalid JSON at byte 2: text without end"},
        {"{}, {}", "invalid JSON at byte 2: text behind the value"},
        {"[18446744073709551616]", "invalid JSON at byte 1: integer beyond 64 bits"},
    };
    struct tg_error err;

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++) {
        assert_int_equal(check(cases[i].text, strlen(cases[i].text), &err), TG_CLASS_INVALID);
        assert_string_equal(err.code, "invalid_json");
        assert_string_equal(err.message, cases[i].message);
    }
    assert_int_equal(tg_json_check("x", 1, NULL), TG_CLASS_INVALID);
}

static void depth_is_limited_to_128(void **state)
{
    static const char *const openings[] = {"[", "{\"a\":"}, *const closings[] = {"]", "}"};
    struct tg_buf buf;

    (void)state;
    tg_buf_init(&buf, 0);
    for (size_t kind = 0; kind < 2; kind++)
        for (int depth = TG_JSON_DEPTH - 1; depth <= TG_JSON_DEPTH + 1; depth++) {
            tg_buf_reset(&buf);
            for (int i = 0; i < depth; i++)
                tg_buf_str(&buf, openings[kind]);
            tg_buf_str(&buf, "1");
            for (int i = 0; i < depth; i++)
                tg_buf_str(&buf, closings[kind]);
            assert_int_equal(check(buf.data, buf.len, NULL),
                             depth > TG_JSON_DEPTH ? TG_CLASS_INVALID : TG_OK);
        }
    tg_buf_done(&buf);
}

/* Every prefix of a valid text is invalid, and none of them is read past its end. */
static void every_cut_text_is_refused(void **state)
{
    static const char text[] = "{\"k\\u00e9\":[1.5e3,-7,true,null,\"\\ud83d\\ude00\xe2\x82\xac\"],"
                               "\"o\":{\"x\":{},\"y\":[]}}";

    (void)state;
    for (size_t len = 0; len < sizeof text - 1; len++)
        assert_int_equal(check(text, len, NULL), TG_CLASS_INVALID);
    assert_int_equal(check(text, sizeof text - 1, NULL), TG_OK);
}

static void many_keys_take_linear_work(void **state)
{
    enum { COUNT = 100000 };
    struct tg_json_keys_object object;
    struct tg_json_keys keys;
    struct tg_buf buf;

    (void)state;
    tg_buf_init(&buf, 0);
    tg_buf_char(&buf, '{');
    for (int i = 0; i < COUNT; i++)
        tg_buf_printf(&buf, "%s\"%d\":0", i > 0 ? "," : "", i);
    tg_buf_char(&buf, '}');
    assert_int_equal(check(buf.data, buf.len, NULL), TG_OK);

    tg_json_keys_init(&keys, buf.data, buf.len);
    object = tg_json_keys_begin(&keys);
    for (size_t at = 0; at < buf.len; at++)
        if (buf.data[at] == '{' || buf.data[at] == ',')
            assert_true(tg_json_keys_add(&keys, &object, at + 2));
    assert_int_equal(keys.count, COUNT);
    assert_in_range(keys.step_count, COUNT, 8 * COUNT);
    tg_json_keys_end(&keys, &object);
    assert_in_range(keys.step_count, COUNT, 12 * COUNT);
    assert_int_equal(keys.count, 0);
    for (size_t i = 0; i < keys.slot_count; i++)
        assert_int_equal(keys.slots[i], 0);
    tg_json_keys_done(&keys);

    /* The last key once more. */
    buf.len--;
    tg_buf_printf(&buf, ",\"\\u00%02x%s\":0}", '9', "9999");
    assert_int_equal(check(buf.data, buf.len, NULL), TG_CLASS_INVALID);
    tg_buf_done(&buf);
}

/* One key per level and the same one in all of them, with many more in the innermost object. */
static void nested_objects_with_the_same_keys_take_linear_work(void **state)
{
    enum { LEVELS = 100, COUNT = 2000 };
    struct tg_json_keys_object objects[LEVELS];
    struct tg_json_keys keys;
    static const char text[] = "a\"";

    (void)state;
    tg_json_keys_init(&keys, text, sizeof text - 1);
    for (int round = 0; round < COUNT; round++) {
        for (int i = 0; i < LEVELS; i++) {
            objects[i] = tg_json_keys_begin(&keys);
            assert_true(tg_json_keys_add(&keys, &objects[i], 0));
            assert_false(tg_json_keys_add(&keys, &objects[i], 0));
        }
        for (int i = LEVELS; i-- > 0;)
            tg_json_keys_end(&keys, &objects[i]);
    }
    assert_in_range(keys.step_count, LEVELS * COUNT, 10 * LEVELS * COUNT);
    assert_in_range(keys.cap, LEVELS, 4 * LEVELS); /* forgotten keys take no memory */
    tg_json_keys_done(&keys);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(well_formed_texts_pass),
        cmocka_unit_test(malformed_texts_are_refused),
        cmocka_unit_test(bad_numbers_are_refused),
        cmocka_unit_test(bad_strings_are_refused),
        cmocka_unit_test(duplicate_keys_are_refused_however_they_are_written),
        cmocka_unit_test(a_duplicate_is_found_among_any_number_of_keys),
        cmocka_unit_test(the_error_names_the_byte_and_the_reason),
        cmocka_unit_test(depth_is_limited_to_128),
        cmocka_unit_test(every_cut_text_is_refused),
        cmocka_unit_test(many_keys_take_linear_work),
        cmocka_unit_test(nested_objects_with_the_same_keys_take_linear_work),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
