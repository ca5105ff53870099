/* What clients compressed: every form, in pieces of every size, cut, garbled, too long. */
#include "tests/unit/unit.h"

#include "common/base/buf.h"
#include "common/compress/inflate.h"
#include "tests/unit/body/packed.h"

static const struct {
    enum tg_encoding encoding;
    const unsigned char *bytes;
    size_t len;
} forms[] = {
    {TG_ENCODING_GZIP, packed_gzip, sizeof packed_gzip},
    {TG_ENCODING_DEFLATE, packed_zlib, sizeof packed_zlib},
    {TG_ENCODING_DEFLATE, packed_bare, sizeof packed_bare},
    {TG_ENCODING_ZSTD, packed_zstd, sizeof packed_zstd},
};

static bool take(void *context, const void *bytes, size_t len)
{
    struct tg_buf *out = context;

    tg_buf_add(out, bytes, len);
    return !out->failed;
}

static enum tg_class feed(struct tg_inflate *inflate, const void *bytes, size_t len,
                          struct tg_buf *out)
{
    const struct tg_inflate_target target = {take, out};
    struct tg_error err;

    return tg_inflate_feed(inflate, (struct tg_span){bytes, len}, &target, &err);
}

static void every_form_comes_back_in_pieces_of_any_size(void **state)
{
    (void)state;
    for (size_t form = 0; form < TG_COUNT_OF(forms); form++) {
        for (size_t piece = 1; piece <= forms[form].len; piece = piece * 2 + 1) {
            struct tg_inflate *inflate = tg_inflate_new(forms[form].encoding);
            struct tg_buf out;

            tg_buf_init(&out, 0);
            for (size_t at = 0; at < forms[form].len; at += piece) {
                assert_false(tg_inflate_is_whole(inflate));
                assert_int_equal(feed(inflate, forms[form].bytes + at,
                                      TG_MIN(piece, forms[form].len - at), &out),
                                 TG_OK);
            }
            assert_true(tg_inflate_is_whole(inflate));
            assert_int_equal(out.len, PACKED_LEN);
            assert_memory_equal(out.data, PACKED_START, strlen(PACKED_START));
            tg_inflate_free(inflate);
            tg_buf_done(&out);
        }
    }
}

static void a_cut_form_is_not_whole(void **state)
{
    (void)state;
    for (size_t form = 0; form < TG_COUNT_OF(forms); form++) {
        struct tg_inflate *inflate = tg_inflate_new(forms[form].encoding);
        struct tg_buf out;

        tg_buf_init(&out, 0);
        assert_int_equal(feed(inflate, forms[form].bytes, forms[form].len - 1, &out), TG_OK);
        assert_false(tg_inflate_is_whole(inflate));
        tg_inflate_free(inflate);
        tg_buf_done(&out);
    }
}

static void garbage_is_refused(void **state)
{
    static const enum tg_encoding encodings[] = {TG_ENCODING_GZIP, TG_ENCODING_DEFLATE,
                                                 TG_ENCODING_ZSTD};

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(encodings); i++) {
        struct tg_inflate *inflate = tg_inflate_new(encodings[i]);
        struct tg_buf out;

        tg_buf_init(&out, 0);
        assert_int_equal(feed(inflate, "\xff\xfe{\"model\":\"m\"} plain", 22, &out),
                         TG_CLASS_INVALID);
        tg_inflate_free(inflate);
        tg_buf_done(&out);
    }
}

static void a_second_gzip_member_follows_and_other_bytes_do_not(void **state)
{
    struct tg_inflate *inflate = tg_inflate_new(TG_ENCODING_GZIP);
    struct tg_buf out;

    (void)state;
    tg_buf_init(&out, 0);
    assert_int_equal(feed(inflate, packed_gzip, sizeof packed_gzip, &out), TG_OK);
    assert_int_equal(feed(inflate, packed_gzip, sizeof packed_gzip, &out), TG_OK);
    assert_int_equal(out.len, 2 * PACKED_LEN);
    assert_int_equal(feed(inflate, "x", 1, &out), TG_OK); /* may begin a member */
    assert_false(tg_inflate_is_whole(inflate));
    assert_int_equal(feed(inflate, "xxxxxxxxxx", 10, &out), TG_CLASS_INVALID);
    tg_inflate_free(inflate);
    inflate = tg_inflate_new(TG_ENCODING_DEFLATE);
    assert_int_equal(feed(inflate, packed_zlib, sizeof packed_zlib, &out), TG_OK);
    assert_int_equal(feed(inflate, "x", 1, &out), TG_CLASS_INVALID);
    tg_inflate_free(inflate);
    tg_buf_done(&out);
}

static void a_sink_that_has_enough_stops_it(void **state)
{
    (void)state;
    for (size_t form = 0; form < TG_COUNT_OF(forms); form++) {
        struct tg_inflate *inflate = tg_inflate_new(forms[form].encoding);
        struct tg_buf out;

        tg_buf_init(&out, 10);
        assert_int_equal(feed(inflate, forms[form].bytes, forms[form].len, &out), TG_OK);
        assert_true(out.failed);
        tg_inflate_free(inflate);
        tg_buf_done(&out);
    }
}

static void encodings_are_named_as_rfc_9110_names_them(void **state)
{
    static const struct {
        const char *text;
        bool known;
        enum tg_encoding encoding;
    } cases[] = {
        {"gzip", true, TG_ENCODING_GZIP},         {"GZip", true, TG_ENCODING_GZIP},
        {"x-gzip", true, TG_ENCODING_GZIP},       {"deflate", true, TG_ENCODING_DEFLATE},
        {"zstd", true, TG_ENCODING_ZSTD},         {"identity", true, TG_ENCODING_IDENTITY},
        {"", true, TG_ENCODING_IDENTITY},         {"br", false, TG_ENCODING_IDENTITY},
        {"gzip, gzip", false, TG_ENCODING_IDENTITY},
    };

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++) {
        enum tg_encoding encoding = TG_ENCODING_IDENTITY;

        assert_int_equal(tg_encoding_parse(cases[i].text, &encoding), cases[i].known);
        assert_int_equal(encoding, cases[i].encoding);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_form_comes_back_in_pieces_of_any_size),
        cmocka_unit_test(a_cut_form_is_not_whole),
        cmocka_unit_test(garbage_is_refused),
        cmocka_unit_test(a_second_gzip_member_follows_and_other_bytes_do_not),
        cmocka_unit_test(a_sink_that_has_enough_stops_it),
        cmocka_unit_test(encodings_are_named_as_rfc_9110_names_them),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
