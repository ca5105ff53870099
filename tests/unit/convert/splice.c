/* One value changes, every other byte stays. */
#include "tests/unit/unit.h"

#include "common/json/scan.h"
#include "fcgi-app/convert/splice.h"

static struct tg_span span(const char *text)
{
    return (struct tg_span){text, strlen(text)};
}

/* What the upstream gets, joined. */
static void joined(const struct tg_pieces *pieces, struct tg_buf *out)
{
    tg_buf_reset(out);
    for (size_t i = 0; i < pieces->count; i++) {
        assert_true(pieces->spans[i].len > 0);
        tg_buf_add(out, pieces->spans[i].ptr, pieces->spans[i].len);
    }
    assert_int_equal(out->len, pieces->len);
}

static const struct {
    const char *what, *model;
    bool ask_usage;
    const char *body, *sent;
} cases[] = {
    {"nothing to do", NULL, false, " {\"model\":\"a\" }\n", " {\"model\":\"a\" }\n"},
    {"model", "b", false, "{\"model\":\"a\",\"x\":1.10}", "{\"model\":\"b\",\"x\":1.10}"},
    {"model, odd spacing", "b", false, "\t{ \"x\" : [ ] ,\r\n \"model\" : \"aaaa\" } ",
     "\t{ \"x\" : [ ] ,\r\n \"model\" : \"b\" } "},
    {"an escaped key", "b", false, "{\"mod\\u0065l\":\"a\"}", "{\"mod\\u0065l\":\"b\"}"},
    {"model in a nested object is another", "b", false,
     "{\"metadata\":{\"model\":\"z\"},\"model\":\"a\"}",
     "{\"metadata\":{\"model\":\"z\"},\"model\":\"b\"}"},
    {"a name that needs escapes", "q\"\\\n\xe4\xbd\xa0/", false, "{\"model\":\"a\"}",
     "{\"model\":\"q\\\"\\\\\\n\xe4\xbd\xa0/\"}"},
    {"no model yet", "b", false, "{\"x\":1}", "{\"model\":\"b\",\"x\":1}"},
    {"no member at all", "b", true, "{ }",
     "{\"model\":\"b\",\"stream_options\":{\"include_usage\":true} }"},
    {"no stream_options", NULL, true, "{\"stream\":true}",
     "{\"stream_options\":{\"include_usage\":true},\"stream\":true}"},
    {"null", NULL, true, "{\"stream_options\": null ,\"stream\":true}",
     "{\"stream_options\": {\"include_usage\":true} ,\"stream\":true}"},
    {"empty", NULL, true, "{\"stream_options\":{ }}",
     "{\"stream_options\":{\"include_usage\":true }}"},
    {"false", NULL, true, "{\"stream_options\":{\"include_usage\" : false}}",
     "{\"stream_options\":{\"include_usage\" : true}}"},
    {"true already", NULL, true, "{\"stream_options\":{\"include_usage\":true}}",
     "{\"stream_options\":{\"include_usage\":true}}"},
    {"usage null", NULL, true, "{\"stream_options\":{\"include_usage\":null,\"k\":1}}",
     "{\"stream_options\":{\"include_usage\":true,\"k\":1}}"},
    {"usage of another type", NULL, true, "{\"stream_options\":{\"include_usage\":{\"a\":[]}}}",
     "{\"stream_options\":{\"include_usage\":true}}"},
    {"other keys", NULL, true, "{\"stream_options\":{ \"include_obfuscation\":false}}",
     "{\"stream_options\":{\"include_usage\":true, \"include_obfuscation\":false}}"},
    {"other keys and false", NULL, true,
     "{\"stream_options\":{\"a\":1,\"include_usage\":false,\"b\":[2]}}",
     "{\"stream_options\":{\"a\":1,\"include_usage\":true,\"b\":[2]}}"},
    {"both, model first", "bb", true, "{\"model\":\"a\",\"stream_options\":{\"k\":1},\"z\":0}",
     "{\"model\":\"bb\",\"stream_options\":{\"include_usage\":true,\"k\":1},\"z\":0}"},
    {"both, model last", "bb", true, "{\"stream_options\":null,\"z\":0,\"model\":\"a\"}",
     "{\"stream_options\":{\"include_usage\":true},\"z\":0,\"model\":\"bb\"}"},
    {"both inserted", "b", true, "{\"z\":0}",
     "{\"model\":\"b\",\"stream_options\":{\"include_usage\":true},\"z\":0}"},
    {"model there, options not", "b", true, "{\"z\":0,\"model\":\"a\"}",
     "{\"stream_options\":{\"include_usage\":true},\"z\":0,\"model\":\"b\"}"},
    {"options there, model not", "b", true, "{\"stream_options\":{\"include_usage\":false}}",
     "{\"model\":\"b\",\"stream_options\":{\"include_usage\":true}}"},
    {"numbers, escapes and order survive", "b", true,
     "{\"a\":1e+05,\"model\":\"a\",\"\\u00e9\":\"\\/\\ud83d\\ude00\",\"n\":-0,\"m\":1.10,"
     "\"stream_options\":{\"x\":18446744073709551615}}",
     "{\"a\":1e+05,\"model\":\"b\",\"\\u00e9\":\"\\/\\ud83d\\ude00\",\"n\":-0,\"m\":1.10,"
     "\"stream_options\":{\"include_usage\":true,\"x\":18446744073709551615}}"},
};

static void every_other_byte_is_untouched(void **state)
{
    struct tg_arena *arena = tg_arena_new();
    struct tg_buf sent;

    (void)state;
    tg_buf_init(&sent, 0);
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++) {
        const struct tg_splice what = {cases[i].model, cases[i].ask_usage};
        struct tg_pieces pieces;

        assert_int_equal(tg_json_check(cases[i].body, strlen(cases[i].body), NULL), TG_OK);
        assert_int_equal(tg_splice_chat(span(cases[i].body), &what, arena, &pieces, NULL), TG_OK);
        joined(&pieces, &sent);
        if (strcmp(tg_buf_text(&sent), cases[i].sent) != 0)
            fail_msg("%s: %s", cases[i].what, tg_buf_text(&sent));
        assert_int_equal(tg_json_check(sent.data, sent.len, NULL), TG_OK);
        tg_arena_reset(arena);
    }
    tg_buf_done(&sent);
    tg_arena_free(arena);
}

static void splicing_twice_changes_nothing(void **state)
{
    struct tg_arena *arena = tg_arena_new();
    struct tg_buf once, twice;

    (void)state;
    tg_buf_init(&once, 0);
    tg_buf_init(&twice, 0);
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++) {
        const struct tg_splice what = {"m", true};
        struct tg_pieces pieces;

        assert_int_equal(tg_splice_chat(span(cases[i].body), &what, arena, &pieces, NULL), TG_OK);
        joined(&pieces, &once);
        assert_int_equal(tg_splice_chat((struct tg_span){once.data, once.len}, &what, arena,
                                        &pieces, NULL), TG_OK);
        joined(&pieces, &twice);
        assert_string_equal(tg_buf_text(&twice), tg_buf_text(&once));
    }
    tg_buf_done(&once);
    tg_buf_done(&twice);
    tg_arena_free(arena);
}

static void bodies_of_the_wrong_shape_are_refused(void **state)
{
    static const struct {
        const char *body, *param;
    } bad[] = {
        {"[]", ""}, {"7", ""}, {"", ""}, {"\"x\"", ""},
        {"{\"stream_options\":true}", "stream_options"},
        {"{\"stream_options\":\"include_usage\"}", "stream_options"},
        {"{\"stream_options\":[]}", "stream_options"},
    };
    const struct tg_splice what = {"m", true};
    struct tg_arena *arena = tg_arena_new();

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(bad); i++) {
        struct tg_pieces pieces;
        struct tg_error err;

        assert_int_equal(tg_splice_chat(span(bad[i].body), &what, arena, &pieces, &err),
                         TG_CLASS_INVALID);
        assert_string_equal(err.code, "invalid_request");
        assert_string_equal(err.param, bad[i].param);
    }
    tg_arena_free(arena);
}

static void events_get_the_clients_model_back(void **state)
{
    static const struct {
        const char *event, *sent;
    } events[] = {
        {"{\"id\":\"c\",\"model\":\"up-1\",\"choices\":[]}",
         "{\"id\":\"c\",\"model\":\"alias\",\"choices\":[]}"},
        {"{\"choices\":[{\"delta\":{\"model\":\"x\"}}]}",
         "{\"choices\":[{\"delta\":{\"model\":\"x\"}}]}"},
        {"{ \"model\" : null }", "{ \"model\" : null }"},
        {"[DONE]", "[DONE]"},
        {"not json", "not json"},
        {"", ""},
    };
    struct tg_buf out;

    (void)state;
    tg_buf_init(&out, 0);
    for (size_t i = 0; i < TG_COUNT_OF(events); i++) {
        tg_buf_reset(&out);
        tg_buf_str(&out, "data: ");
        tg_chat_event_rename(span(events[i].event), "alias", &out);
        assert_string_equal(tg_buf_text(&out) + 6, events[i].sent);
    }
    tg_buf_done(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_other_byte_is_untouched),
        cmocka_unit_test(splicing_twice_changes_nothing),
        cmocka_unit_test(bodies_of_the_wrong_shape_are_refused),
        cmocka_unit_test(events_get_the_clients_model_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
