/* JSON written forward: commas, escapes, bad bytes, the buffer's failure. */
#include "tests/unit/unit.h"

#include "common/json/scan.h"
#include "common/json/writer.h"

static void nesting_gets_its_commas(void **state)
{
    struct tg_json_writer out;
    struct tg_buf buf;

    (void)state;
    tg_buf_init(&buf, 0);
    tg_json_writer_init(&out, &buf);
    tg_json_begin_object(&out);
    tg_json_put_int(&out, "id", -7);
    tg_json_key(&out, "list");
    tg_json_begin_array(&out);
    tg_json_begin_object(&out);
    tg_json_end_object(&out);
    tg_json_begin_array(&out);
    tg_json_end_array(&out);
    tg_json_write_int(&out, INT64_MIN);
    tg_json_write_null(&out);
    tg_json_write_raw(&out, "1.50", 4);
    tg_json_end_array(&out);
    tg_json_put_bool(&out, "on", true);
    tg_json_put_bool(&out, "off", false);
    tg_json_put_str(&out, "none", NULL);
    tg_json_put_str(&out, "a\"b", "x");
    tg_json_end_object(&out);
    assert_string_equal(tg_buf_text(&buf),
                        "{\"id\":-7,\"list\":[{},[],-9223372036854775808,null,1.50],\"on\":true,"
                        "\"off\":false,\"none\":null,\"a\\\"b\":\"x\"}");
    assert_int_equal(tg_json_check(buf.data, buf.len, NULL), TG_OK);
    tg_buf_done(&buf);
}

static void strings_are_escaped_and_made_valid(void **state)
{
    static const struct {
        const char *text;
        size_t len;
        const char *json;
    } cases[] = {
        {"", 0, "\"\""},
        {"a/b</script>", 12, "\"a/b</script>\""},
        {"\"\\\b\f\n\r\t", 7, "\"\\\"\\\\\\b\\f\\n\\r\\t\""},
        {"a\0b\x01\x1f\x7f", 6, "\"a\\u0000b\\u0001\\u001f\x7f\""},
        {"\xc3\xa9\xf0\x9f\x98\x80", 6, "\"\xc3\xa9\xf0\x9f\x98\x80\""},
        {"a\xff" "b", 3, "\"a\xef\xbf\xbd" "b\""},
        {"\xc0\x80", 2, "\"\xef\xbf\xbd\xef\xbf\xbd\""},
        {"\xe2\x82", 2, "\"\xef\xbf\xbd\xef\xbf\xbd\""},
        {"\xed\xa0\x80", 3, "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
    };
    struct tg_json_writer out;
    struct tg_buf buf;

    (void)state;
    tg_buf_init(&buf, 0);
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++) {
        tg_buf_reset(&buf);
        tg_json_writer_init(&out, &buf);
        tg_json_write_strn(&out, cases[i].text, cases[i].len);
        assert_string_equal(tg_buf_text(&buf), cases[i].json);
        assert_int_equal(tg_json_check(buf.data, buf.len, NULL), TG_OK);
    }
    tg_buf_done(&buf);
}

static void every_byte_gives_valid_json(void **state)
{
    struct tg_json_writer out;
    struct tg_buf buf;

    (void)state;
    tg_buf_init(&buf, 0);
    for (int first = 0; first < 256; first++)
        for (int second = 0; second < 256; second++) {
            const char text[2] = {(char)first, (char)second};

            tg_buf_reset(&buf);
            tg_json_writer_init(&out, &buf);
            tg_json_write_strn(&out, text, 2);
            assert_int_equal(tg_json_check(buf.data, buf.len, NULL), TG_OK);
        }
    tg_buf_done(&buf);
}

static void the_failure_is_the_buffers(void **state)
{
    struct tg_json_writer out;
    struct tg_buf buf;

    (void)state;
    tg_buf_init(&buf, 8);
    tg_json_writer_init(&out, &buf);
    tg_json_begin_object(&out);
    tg_json_put_str(&out, "key", "value");
    tg_json_end_object(&out);
    assert_true(buf.failed);
    tg_buf_done(&buf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nesting_gets_its_commas),
        cmocka_unit_test(strings_are_escaped_and_made_valid),
        cmocka_unit_test(every_byte_gives_valid_json),
        cmocka_unit_test(the_failure_is_the_buffers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
