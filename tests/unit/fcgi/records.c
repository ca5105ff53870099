/* Records of a web server, whole and in pieces, and of peers that are none. */
#include "tests/unit/unit.h"

#include "common/fcgi/records.h"

#include <stdlib.h>

/* What a run of bytes came to, as text: one letter per event, bodies as they are. */
struct outcome {
    char events[64];
    size_t count;
    struct tg_buf body;
};

static char letter(enum tg_fcgi_event event)
{
    static const char letters[] = {
        [TG_FCGI_PARAMS] = 'P', [TG_FCGI_BODY] = 'b', [TG_FCGI_END] = 'E',
        [TG_FCGI_ABORTED] = 'A', [TG_FCGI_REFUSED] = 'R',
    };

    return letters[event];
}

/* <step>: bytes that come at a time; 0: all. */
static void play(struct tg_fcgi_records *records, struct tg_span bytes, size_t step,
                 struct outcome *ret)
{
    memset(ret, 0, sizeof *ret);
    tg_buf_init(&ret->body, 0);
    for (size_t at = 0; at < bytes.len;) {
        size_t used, len = TG_MIN(step == 0 ? bytes.len : step, bytes.len - at);
        struct tg_span piece;
        enum tg_fcgi_event event =
            tg_fcgi_records_feed(records, bytes.ptr + at, len, &used, &piece);

        at += used;
        if (event == TG_FCGI_BODY)
            tg_buf_add(&ret->body, piece.ptr, piece.len);
        else if (event != TG_FCGI_MORE && ret->count + 1 < sizeof ret->events)
            ret->events[ret->count++] = letter(event);
        if (event == TG_FCGI_REFUSED)
            break;
        assert_true(used > 0 || event != TG_FCGI_MORE);
    }
}

static void record(struct tg_buf *out, int type, int id, const char *content, size_t len)
{
    tg_fcgi_record_head(out, type, id, len);
    tg_buf_add(out, content, len);
}

static void begin(struct tg_buf *out, int id, int role, int flags)
{
    const char body[8] = {0, (char)role, (char)flags};

    record(out, TG_FCGI_TYPE_BEGIN, id, body, sizeof body);
}

#define PARAMS(out, text) record(out, TG_FCGI_TYPE_PARAMS, 1, text, sizeof text - 1)
#define END_OF(out, type) record(out, type, 1, "", 0)

static void whole_request(struct tg_buf *out)
{
    begin(out, 1, 1, 1);
    PARAMS(out, "\x01\x01" "AB" "\x80\x00\x00\x02\x03" "CC" "xyz");
    END_OF(out, TG_FCGI_TYPE_PARAMS);
    record(out, TG_FCGI_TYPE_STDIN, 1, "hello ", 6);
    record(out, TG_FCGI_TYPE_STDIN, 1, "world", 5);
    END_OF(out, TG_FCGI_TYPE_STDIN);
}

static void a_request_is_the_same_however_it_is_cut(void **state)
{
    struct tg_buf bytes;

    (void)state;
    tg_buf_init(&bytes, 0);
    whole_request(&bytes);
    for (size_t step = 0; step <= bytes.len; step++) {
        struct tg_fcgi_records records;
        struct outcome outcome;

        tg_fcgi_records_init(&records);
        play(&records, (struct tg_span){bytes.data, bytes.len}, step, &outcome);
        assert_string_equal(outcome.events, "PE");
        assert_string_equal(tg_buf_text(&outcome.body), "hello world");
        assert_true(records.keep);
        assert_int_equal(records.flaw, TG_FCGI_SOUND);
        assert_int_equal(records.params.len, 14);
        assert_memory_equal(records.params.data,
                            "\x01\x01" "AB" "\x80\x00\x00\x02\x03" "CCxyz", 14);
        assert_int_equal(records.reply.len, 0);
        tg_buf_done(&outcome.body);
        tg_fcgi_records_done(&records);
    }
    tg_buf_done(&bytes);
}

/* Each case begins a request with id 1, then sends its bytes. */
static const struct {
    const char *what, *bytes;
    size_t len;
    const char *events;
    enum tg_fcgi_flaw flaw;
} cases[] = {
#define RAW(text) text, sizeof text - 1
    {"two gigabytes claimed, and the end",
     RAW("\x01\x04\x00\x01\x00\x0a\x00\x00" "\x01\xff\xff\xff\xff" "Avvvv"
         "\x01\x04\x00\x01\x00\x00\x00\x00"), "P", TG_FCGI_TOO_LARGE},
    {"two lengths near 2^31",
     RAW("\x01\x04\x00\x01\x00\x08\x00\x00" "\xff\xff\xff\xff\xff\xff\xff\xff"
         "\x01\x04\x00\x01\x00\x00\x00\x00"), "P", TG_FCGI_TOO_LARGE},
    {"a name that is cut off",
     RAW("\x01\x04\x00\x01\x00\x03\x00\x00" "\x05\x01" "A" "\x01\x04\x00\x01\x00\x00\x00\x00"), "R",
     TG_FCGI_SOUND},
    {"a length that is cut off",
     RAW("\x01\x04\x00\x01\x00\x02\x00\x00" "\x80\x00" "\x01\x04\x00\x01\x00\x00\x00\x00"), "R",
     TG_FCGI_SOUND},
    {"a NUL in a value",
     RAW("\x01\x04\x00\x01\x00\x05\x00\x00" "\x01\x02" "A\0B" "\x01\x04\x00\x01\x00\x00\x00\x00"),
     "P", TG_FCGI_MALFORMED},
    {"an equals sign in a name",
     RAW("\x01\x04\x00\x01\x00\x05\x00\x00" "\x02\x01" "A=B" "\x01\x04\x00\x01\x00\x00\x00\x00"),
     "P", TG_FCGI_MALFORMED},
    {"a name of nothing",
     RAW("\x01\x04\x00\x01\x00\x02\x00\x00" "\x00\x00" "\x01\x04\x00\x01\x00\x00\x00\x00"), "P",
     TG_FCGI_MALFORMED},
    {"an empty value",
     RAW("\x01\x04\x00\x01\x00\x03\x00\x00" "\x01\x00" "A" "\x01\x04\x00\x01\x00\x00\x00\x00"), "P",
     TG_FCGI_SOUND},
    {"padding everywhere",
     RAW("\x01\x04\x00\x01\x00\x04\x03\x00" "\x01\x01" "AB" "pad" "\x01\x04\x00\x01\x00\x00\x02\x00"
         "pa" "\x01\x05\x00\x01\x00\x00\x01\x00" "p"), "PE", TG_FCGI_SOUND},
    {"a body before the parameters' end", RAW("\x01\x05\x00\x01\x00\x01\x00\x00" "x"), "R",
     TG_FCGI_SOUND},
    {"parameters of another", RAW("\x01\x04\x00\x02\x00\x04\x00\x00" "\x01\x01" "AB"
                                  "\x01\x04\x00\x01\x00\x00\x00\x00"), "P", TG_FCGI_SOUND},
    {"an abort", RAW("\x01\x02\x00\x01\x00\x00\x00\x00"), "A", TG_FCGI_SOUND},
    {"two aborts", RAW("\x01\x02\x00\x01\x00\x00\x00\x00" "\x01\x02\x00\x01\x00\x00\x00\x00"), "AA",
     TG_FCGI_SOUND},
    {"an abort of another", RAW("\x01\x02\x00\x07\x00\x00\x00\x00"), "", TG_FCGI_SOUND},
    {"the same again", RAW("\x01\x01\x00\x01\x00\x08\x00\x00" "\0\1\0\0\0\0\0\0"), "R",
     TG_FCGI_SOUND},
    {"another version", RAW("\x02\x04\x00\x01\x00\x00\x00\x00"), "R", TG_FCGI_SOUND},
    {"an unknown type of ours", RAW("\x01\x63\x00\x01\x00\x02\x00\x00" "xx"), "", TG_FCGI_SOUND},
};

static void hostile_records_come_to_what_they_should(void **state)
{
    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++) {
        for (size_t step = 0; step < 3; step++) {
            struct tg_fcgi_records records;
            struct outcome outcome;
            struct tg_buf bytes;

            tg_buf_init(&bytes, 0);
            begin(&bytes, 1, 1, 0);
            tg_buf_add(&bytes, cases[i].bytes, cases[i].len);
            tg_fcgi_records_init(&records);
            play(&records, (struct tg_span){bytes.data, bytes.len}, step, &outcome);
            if (strcmp(outcome.events, cases[i].events) != 0 || records.flaw != cases[i].flaw)
                fail_msg("%s, %zu at a time: %s, flaw %d", cases[i].what, step, outcome.events,
                         (int)records.flaw);
            tg_buf_done(&outcome.body);
            tg_fcgi_records_done(&records);
            tg_buf_done(&bytes);
        }
    }
}

/* Bytes sent, bytes owed for them. */
static void management_is_answered(void **state)
{
    static const struct {
        const char *bytes;
        size_t len;
        const char *reply;
        size_t reply_len;
    } asked[] = {
        {RAW("\x01\x09\x00\x00\x00\x11\x00\x00" "\x0f\x00" "FCGI_MPXS_CONNS"),
         RAW("\x01\x0a\x00\x00\x00\x12\x00\x00" "\x0f\x01" "FCGI_MPXS_CONNS0")},
        {RAW("\x01\x09\x00\x00\x00\x10\x00\x00" "\x0e\x00" "FCGI_MAX_CONNS"),
         RAW("\x01\x0a\x00\x00\x00\x00\x00\x00")},
        {RAW("\x01\x20\x00\x00\x00\x00\x00\x00"),
         RAW("\x01\x0b\x00\x00\x00\x08\x00\x00" "\x20\0\0\0\0\0\0\0")},
        {RAW("\x01\x01\x00\x05\x00\x08\x00\x00" "\0\2\0\0\0\0\0\0"), /* an authorizer */
         RAW("\x01\x03\x00\x05\x00\x08\x00\x00" "\0\0\0\0\3\0\0\0")},
    };

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(asked); i++) {
        struct tg_fcgi_records records;
        struct outcome outcome;

        tg_fcgi_records_init(&records);
        play(&records, (struct tg_span){asked[i].bytes, asked[i].len}, 0, &outcome);
        assert_int_equal(records.reply.len, asked[i].reply_len);
        assert_memory_equal(records.reply.data, asked[i].reply, asked[i].reply_len);
        tg_buf_done(&outcome.body);
        tg_fcgi_records_done(&records);
    }
}

static void a_second_request_is_told_that_there_is_no_multiplexing(void **state)
{
    struct tg_fcgi_records records;
    struct outcome outcome;
    struct tg_buf bytes;

    (void)state;
    tg_buf_init(&bytes, 0);
    begin(&bytes, 1, 1, 1);
    begin(&bytes, 2, 1, 1);
    END_OF(&bytes, TG_FCGI_TYPE_PARAMS);
    tg_fcgi_records_init(&records);
    play(&records, (struct tg_span){bytes.data, bytes.len}, 0, &outcome);
    assert_string_equal(outcome.events, "P");
    assert_int_equal(records.id, 1);
    assert_memory_equal(records.reply.data, "\x01\x03\x00\x02\x00\x08\x00\x00\0\0\0\0\1\0\0\0", 16);
    tg_buf_done(&outcome.body);
    tg_fcgi_records_done(&records);
    tg_buf_done(&bytes);
}

static void floods_are_refused_and_cost_no_memory(void **state)
{
    static const int types[] = {TG_FCGI_TYPE_PARAMS, TG_FCGI_TYPE_GET_VALUES, 77};
    static const unsigned char flood[] = {0x01, 0x80, 0x00, 0xff, 0xff, 'A'};
    char *content = calloc(1, 60000);

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(types); i++) {
        struct tg_fcgi_records records;
        struct tg_buf bytes;
        bool refused = false;

        tg_fcgi_records_init(&records);
        tg_buf_init(&bytes, 0);
        begin(&bytes, 1, 1, 0);
        memcpy(content, flood, sizeof flood);
        for (int n = 0; n < 100 && !refused; n++) {
            struct outcome outcome;

            record(&bytes, types[i], types[i] == TG_FCGI_TYPE_PARAMS, content, 60000);
            play(&records, (struct tg_span){bytes.data, bytes.len}, 0, &outcome);
            refused = outcome.events[0] == 'R';
            assert_true(records.params.cap <= 2 * TG_FCGI_PARAMS_BYTES);
            tg_buf_reset(&bytes);
            tg_buf_done(&outcome.body);
        }
        assert_true(refused);
        tg_buf_done(&bytes);
        tg_fcgi_records_done(&records);
    }
    free(content);
}

static void limits_hold_to_the_byte(void **state)
{
    static const struct {
        size_t name, value;
        enum tg_fcgi_flaw flaw;
    } sizes[] = {
        {TG_FCGI_NAME_BYTES, 1, TG_FCGI_SOUND},
        {TG_FCGI_NAME_BYTES + 1, 1, TG_FCGI_TOO_LARGE},
        {1, TG_FCGI_VALUE_BYTES, TG_FCGI_SOUND},
        {1, TG_FCGI_VALUE_BYTES + 1, TG_FCGI_TOO_LARGE},
    };
    char *text = malloc(TG_FCGI_VALUE_BYTES + 1000);

    (void)state;
    memset(text, 'v', TG_FCGI_VALUE_BYTES + 1000);
    for (size_t i = 0; i < TG_COUNT_OF(sizes); i++) {
        struct tg_fcgi_records records;
        struct outcome outcome;
        struct tg_buf bytes;
        const unsigned char lengths[8] = {
            0x80, 0, (unsigned char)(sizes[i].name >> 8), (unsigned char)sizes[i].name,
            0x80, (unsigned char)(sizes[i].value >> 16), (unsigned char)(sizes[i].value >> 8),
            (unsigned char)sizes[i].value};
        size_t left = sizes[i].name + sizes[i].value;

        tg_buf_init(&bytes, 0);
        begin(&bytes, 1, 1, 0);
        record(&bytes, TG_FCGI_TYPE_PARAMS, 1, (const char *)lengths, sizeof lengths);
        for (size_t part; left > 0; left -= part) {
            part = TG_MIN(left, (size_t)65535);
            record(&bytes, TG_FCGI_TYPE_PARAMS, 1, text, part);
        }
        END_OF(&bytes, TG_FCGI_TYPE_PARAMS);
        tg_fcgi_records_init(&records);
        play(&records, (struct tg_span){bytes.data, bytes.len}, 0, &outcome);
        assert_string_equal(outcome.events, "P");
        assert_int_equal(records.flaw, sizes[i].flaw);
        tg_buf_done(&outcome.body);
        tg_fcgi_records_done(&records);
        tg_buf_done(&bytes);
    }
    free(text);
}

static void another_request_may_follow(void **state)
{
    struct tg_fcgi_records records;
    struct outcome outcome;
    struct tg_buf bytes;

    (void)state;
    tg_buf_init(&bytes, 0);
    whole_request(&bytes);
    tg_fcgi_records_init(&records);
    for (int n = 0; n < 3; n++) {
        play(&records, (struct tg_span){bytes.data, bytes.len}, 5, &outcome);
        assert_string_equal(outcome.events, "PE");
        tg_buf_done(&outcome.body);
        tg_fcgi_records_next(&records);
    }
    tg_fcgi_records_done(&records);
    tg_buf_done(&bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_request_is_the_same_however_it_is_cut),
        cmocka_unit_test(hostile_records_come_to_what_they_should),
        cmocka_unit_test(management_is_answered),
        cmocka_unit_test(a_second_request_is_told_that_there_is_no_multiplexing),
        cmocka_unit_test(floods_are_refused_and_cost_no_memory),
        cmocka_unit_test(limits_hold_to_the_byte),
        cmocka_unit_test(another_request_may_follow),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
