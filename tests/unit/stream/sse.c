/* Events out of bytes: field rules, line ends, and the same events wherever the bytes are cut. */
#include "tests/unit/unit.h"

#include "common/base/memory.h"
#include "fcgi-app/stream/sse.h"

#include <stdlib.h>

/* Events written down as "name|data;" or "name|data~" when unterminated; comments as "#text;". */
static void note_event(void *context, const struct tg_sse_event *event)
{
    struct tg_buf *notes = context;

    tg_buf_add(notes, event->name.ptr, event->name.len);
    tg_buf_char(notes, '|');
    tg_buf_add(notes, event->data.ptr, event->data.len);
    tg_buf_char(notes, event->unterminated ? '~' : ';');
}

static void note_comment(void *context, struct tg_span text)
{
    struct tg_buf *notes = context;

    tg_buf_char(notes, '#');
    tg_buf_add(notes, text.ptr, text.len);
    tg_buf_char(notes, ';');
}

static const struct {
    const char *what, *stream, *events;
} cases[] = {
    {"nothing", "", ""},
    {"LF", "data: a\n\ndata: b\n\n", "|a;|b;"},
    {"CRLF", "data: a\r\n\r\ndata: b\r\n\r\n", "|a;|b;"},
    {"CR", "data: a\r\rdata: b\r\r", "|a;|b;"},
    {"mixed", "data: a\r\n\ndata: b\n\r\ndata: c\r\n\rdata: d\r\n\r\n", "|a;|b;|c;|d;"},
    {"CR and LF of two lines", "data: a\n\rdata: b\n\n", "|a;|b;"},
    {"BOM", "\xef\xbb\xbf" "data: a\n\n", "|a;"},
    {"BOM and a blank line", "\xef\xbb\xbf\n\ndata: a\n\n", "|a;"},
    {"BOM only at the begin", "data: a\n\n\xef\xbb\xbf" "data: b\n\n", "|a;"},
    {"half a BOM is an unknown field", "\xef\xbb" "data: a\n\ndata: b\n\n", "|b;"},
    {"BOM alone", "\xef\xbb\xbf", ""},
    {"blank lines alone", "\n\r\n\r\r\n\n", ""},
    {"no blank behind the colon", "data:{\"a\":1}\n\n", "|{\"a\":1};"},
    {"one blank is dropped", "data: {\"a\":1}\n\n", "|{\"a\":1};"},
    {"only one blank is dropped", "data:  {\"a\":1}\n\n", "| {\"a\":1};"},
    {"a tab is no blank", "data:\tx\n\n", "|\tx;"},
    {"data alone is an empty string", "data\n\n", "|;"},
    {"data and a colon", "data:\n\n", "|;"},
    {"data and a blank", "data: \n\n", "|;"},
    {"event alone is no event", "event:x\n\ndata: a\n\n", "|a;"},
    {"a name does not outlive its event", "event: x\ndata: a\n\ndata: b\n\n", "x|a;|b;"},
    {"the last name counts", "event: x\nevent: y\ndata: a\n\n", "y|a;"},
    {"id, retry and unknown fields", "id: 3\nretry: 10\nfoo: bar\n\nfoo: 1\ndata: a\nid\n\n",
     "|a;"},
    {"fields are exact", "Data: a\ndata : b\n data: c\ndatax: d\ndat: e\n\n", ""},
    {"several data lines", "data: {\ndata: \"a\":1\ndata:}\n\n", "|{\n\"a\":1\n};"},
    {"empty data lines", "data\ndata\n\n", "|\n;"},
    {"other fields between data lines", "data: a\nevent: x\n: c\ndata: b\n\n", "#c;x|a\nb;"},
    {"colons in data", "data: a: b:c\n\n", "|a: b:c;"},
    {"comments", ": UPSTREAM PROCESSING\n\n:\n\n:x\n\ndata: a\n\n",
     "#UPSTREAM PROCESSING;#;#x;|a;"},
    {"bare [DONE] is an unknown field", "[DONE]\n\n", ""},
    {"end after one LF", "data: a\n\ndata: [DONE]\n", "|a;|[DONE]~"},
    {"end after none", "data: a\n\ndata: [DONE]", "|a;|[DONE]~"},
    {"end after CR", "data: a\r\n\r\ndata: b\r", "|a;|b~"},
    {"end inside a field name", "data: a\n\ndat", "|a;"},
    {"end with an open data line", "event: e\ndata: a\ndata: {\"b\"", "e|a\n{\"b\"~"},
    {"end with an event name only", "event: e\n", ""},
    {"UTF-8", "data: \xe4\xbd\xa0\xf0\x9f\x98\x80\n\n", "|\xe4\xbd\xa0\xf0\x9f\x98\x80;"},
    {"bytes that are no UTF-8", "data: \xff\xc3\n\n", "|\xff\xc3;"},
    {"a real stream",
     ": ok\r\n\r\nevent: message\r\ndata: {\"choices\":[{\"delta\":{\"content\":\"h\xc3\xa9\"}}]}"
     "\r\n\r\ndata: {\"choices\":[],\"usage\":{\"prompt_tokens\":1}}\r\n\r\ndata: [DONE]\r\n\r\n",
     "#ok;message|{\"choices\":[{\"delta\":{\"content\":\"h\xc3\xa9\"}}]};"
     "|{\"choices\":[],\"usage\":{\"prompt_tokens\":1}};|[DONE];"},
};

/* Feeds copies of exact size, so that a sanitizer sees every read beyond a piece. */
static void feed(struct tg_sse *sse, const char *bytes, size_t len)
{
    char *copy = tg_malloc(len > 0 ? len : 1);

    memcpy(copy, bytes, len);
    assert_int_equal(tg_sse_feed(sse, copy, len, NULL), TG_OK);
    free(copy);
}

static void expect(size_t i, const size_t *cuts, size_t count)
{
    size_t len = strlen(cases[i].stream), at = 0;
    struct tg_buf notes;
    struct tg_sse sse;

    tg_buf_init(&notes, 0);
    tg_sse_init(&sse, 4096, note_event, note_comment, &notes);
    for (size_t cut = 0; cut < count; at = cuts[cut++])
        feed(&sse, cases[i].stream + at, cuts[cut] - at);
    feed(&sse, cases[i].stream + at, len - at);
    tg_sse_end(&sse);
    tg_sse_end(&sse); /* once is enough, twice is harmless */
    if (strcmp(tg_buf_text(&notes), cases[i].events) != 0)
        fail_msg("%s: %s", cases[i].what, tg_buf_text(&notes));
    tg_sse_done(&sse);
    tg_buf_done(&notes);
}

static void streams_give_their_events(void **state)
{
    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++)
        expect(i, NULL, 0);
}

static void every_two_cuts_give_the_same_events(void **state)
{
    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++) {
        size_t len = strlen(cases[i].stream);

        for (size_t first = 0; first <= len; first++)
            for (size_t second = first; second <= len; second++)
                expect(i, (const size_t[]){first, second}, 2);
    }
}

static void byte_by_byte_gives_the_same_events(void **state)
{
    size_t cuts[512];

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++) {
        size_t len = strlen(cases[i].stream);

        assert_true(len < TG_COUNT_OF(cuts));
        for (size_t cut = 0; cut < len; cut++)
            cuts[cut] = cut;
        expect(i, cuts, len);
    }
}

static void long_lines_pass_up_to_the_cap(void **state)
{
    const size_t size = 3 * 1024 * 1024;
    char *line = tg_malloc(size);
    struct tg_buf notes;
    struct tg_sse sse;

    (void)state;
    memset(line, 'A', size);
    tg_buf_init(&notes, 0);
    tg_sse_init(&sse, size + 16, note_event, NULL, &notes);
    feed(&sse, "data: ", 6);
    for (size_t at = 0; at < size; at += 16384)
        feed(&sse, line + at, 16384);
    feed(&sse, "\n\ndata: x\n\n", 11);
    assert_int_equal(notes.len, 1 + size + 1 + 3);
    assert_string_equal(tg_buf_text(&notes) + 1 + size, ";|x;");
    assert_true(sse.text.cap <= 64 * 1024); /* given back */
    tg_sse_done(&sse);
    tg_buf_done(&notes);
    free(line);
}

static void a_byte_order_mark_takes_none_of_the_cap(void **state)
{
    static const char text[] = "\xef\xbb\xbf" "data: 0123456789\n\n";

    (void)state;
    for (size_t step = 1; step < sizeof text; step++) {
        struct tg_buf notes;
        struct tg_sse sse;

        tg_buf_init(&notes, 0);
        tg_sse_init(&sse, 16, note_event, NULL, &notes);
        for (size_t at = 0; at < sizeof text - 1; at += step)
            feed(&sse, text + at, TG_MIN(step, sizeof text - 1 - at));
        assert_string_equal(tg_buf_text(&notes), "|0123456789;");
        tg_sse_done(&sse);
        tg_buf_done(&notes);
    }
}

static void beyond_the_cap_it_fails_for_good(void **state)
{
    static const char *const streams[] = {
        "data: 0123456789\n\n",                   /* one line */
        "data: 01\ndata: 23\ndata: 45\ndata: 67\n", /* many lines */
        ": 01234567890123\n",                     /* a comment */
        "unknown-field-name",                     /* no colon at all */
    };

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(streams); i++) {
        struct tg_error err;
        struct tg_buf notes;
        struct tg_sse sse;

        tg_buf_init(&notes, 0);
        tg_sse_init(&sse, 15, note_event, note_comment, &notes);
        feed(&sse, "data: ok\n\n", 10);
        assert_int_equal(tg_sse_feed(&sse, streams[i], strlen(streams[i]), &err),
                         TG_CLASS_TRANSPORT);
        assert_string_equal(err.code, "upstream_invalid");
        assert_int_equal(tg_sse_feed(&sse, "\n\ndata: a\n\n", 11, NULL), TG_CLASS_TRANSPORT);
        tg_sse_end(&sse);
        assert_string_equal(tg_buf_text(&notes), "|ok;");
        tg_sse_done(&sse);
        tg_buf_done(&notes);
    }
}

static void a_stream_of_any_length_fits_a_small_cap(void **state)
{
    struct tg_buf notes;
    struct tg_sse sse;

    (void)state;
    tg_buf_init(&notes, 0);
    tg_sse_init(&sse, 32, note_event, note_comment, &notes);
    for (int i = 0; i < 1000; i++)
        feed(&sse, ": ka\nid: 1\n", 11); /* lines that leave nothing behind */
    for (int i = 0; i < 1000; i++)
        feed(&sse, "event: x\ndata: y\n\n", 18);
    assert_int_equal(notes.len, 1000 * 4 + 1000 * 4);
    tg_sse_done(&sse);
    tg_buf_done(&notes);
}

static void open_data_can_be_seen_before_its_blank_line(void **state)
{
    struct tg_buf notes;
    struct tg_span open;
    struct tg_sse sse;

    (void)state;
    tg_buf_init(&notes, 0);
    tg_sse_init(&sse, 0, note_event, NULL, &notes);
    assert_int_equal(tg_sse_pending(&sse).len, 0);
    feed(&sse, "data: [DONE]", 12);
    assert_int_equal(tg_sse_pending(&sse).len, 0); /* the line may go on */
    feed(&sse, "\nda", 3);
    open = tg_sse_pending(&sse);
    assert_int_equal(open.len, 6);
    assert_memory_equal(open.ptr, "[DONE]", 6);
    tg_sse_done(&sse);
    tg_buf_done(&notes);
}

static void long_names_are_cut(void **state)
{
    struct tg_buf notes;
    struct tg_sse sse;

    (void)state;
    tg_buf_init(&notes, 0);
    tg_sse_init(&sse, 0, note_event, NULL, &notes);
    feed(&sse, "event: ", 7);
    for (int i = 0; i < 100; i++)
        feed(&sse, "n", 1);
    feed(&sse, "\ndata: x\n\n", 10);
    assert_int_equal(notes.len, TG_SSE_NAME_MAX + 3);
    tg_sse_done(&sse);
    tg_buf_done(&notes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(streams_give_their_events),
        cmocka_unit_test(every_two_cuts_give_the_same_events),
        cmocka_unit_test(byte_by_byte_gives_the_same_events),
        cmocka_unit_test(long_lines_pass_up_to_the_cap),
        cmocka_unit_test(a_byte_order_mark_takes_none_of_the_cap),
        cmocka_unit_test(beyond_the_cap_it_fails_for_good),
        cmocka_unit_test(a_stream_of_any_length_fits_a_small_cap),
        cmocka_unit_test(open_data_can_be_seen_before_its_blank_line),
        cmocka_unit_test(long_names_are_cut),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
