/* Encodings by model, texts that come in bits, and vocabularies that are none. The ids themselves
 * are compared with tiktoken's by tests/tokens. */
#include "tests/unit/unit.h"

#include "fcgi-app/count/count.h"
#include "tests/unit/count/ranks.h"

static const struct tg_encoders *encoders;

static void models_have_their_encoding(void **state)
{
    static const struct {
        const char *model;
        enum tg_encoding encoding;
    } models[] = {
        {"gpt-4o", TG_ENCODING_O200K},           {"gpt-4o-mini-2024-07-18", TG_ENCODING_O200K},
        {"chatgpt-4o-latest", TG_ENCODING_O200K}, {"gpt-4.1-nano", TG_ENCODING_O200K},
        {"gpt-4.5-preview", TG_ENCODING_O200K},  {"gpt-5", TG_ENCODING_O200K},
        {"gpt-5.2-pro", TG_ENCODING_O200K},      {"gpt-oss-120b", TG_ENCODING_O200K},
        {"o1", TG_ENCODING_O200K},               {"o1-pro", TG_ENCODING_O200K},
        {"o3-mini", TG_ENCODING_O200K},          {"o4-mini-2025-04-16", TG_ENCODING_O200K},
        {"gpt-4", TG_ENCODING_CL100K},           {"gpt-4-0613", TG_ENCODING_CL100K},
        {"gpt-4-turbo", TG_ENCODING_CL100K},     {"gpt-3.5-turbo-16k", TG_ENCODING_CL100K},
        {"gpt-35-turbo", TG_ENCODING_CL100K},    {"text-embedding-3-large", TG_ENCODING_CL100K},
        {"text-embedding-ada-002", TG_ENCODING_CL100K},
        {"GPT-4O", TG_ENCODING_O200K},           {"openai/gpt-4o", TG_ENCODING_O200K},
        {"azure/eu/gpt-4", TG_ENCODING_CL100K},  {"ft:gpt-4o:acme::x", TG_ENCODING_O200K},
        {"ft:gpt-3.5-turbo:a", TG_ENCODING_CL100K}, {"openai.gpt-5", TG_ENCODING_O200K},
        {"openai/o3:free", TG_ENCODING_O200K},
        {"o1x", TG_ENCODING_NONE},               {"o30-large", TG_ENCODING_NONE},
        {"claude-sonnet-4-5", TG_ENCODING_NONE}, {"gemini-2.5-pro", TG_ENCODING_NONE},
        {"deepseek-chat", TG_ENCODING_NONE},     {"llama-3.3-70b", TG_ENCODING_NONE},
        {"my-gpt-4o", TG_ENCODING_NONE},         {"", TG_ENCODING_NONE},
        {"openai/", TG_ENCODING_NONE},
    };

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(models); i++)
        if (tg_encoding_of(models[i].model) != models[i].encoding)
            fail_msg("%s", models[i].model);
    assert_ptr_equal(tg_encoders_for(encoders, "gpt-4"), encoders->cl100k);
    assert_ptr_equal(tg_encoders_for(encoders, "gpt-5"), encoders->o200k);
    assert_null(tg_encoders_for(encoders, "claude-3"));
    assert_null(tg_encoders_for(NULL, "gpt-4"));
}

static int64_t tokens_of(const char *model, const struct tg_buf *text)
{
    return tg_count_text(encoders, model, tg_buf_text(text), text->len);
}

static int64_t bit_by_bit(const char *model, const struct tg_buf *text, size_t bit)
{
    struct tg_count count;
    int64_t total;

    tg_count_init(&count, encoders, model);
    for (size_t at = 0; at < text->len; at += bit)
        tg_count_add(&count, text->data + at, TG_MIN(bit, text->len - at));
    total = tg_count_total(&count);
    /* Its last few kilobytes are estimated. */
    assert_in_range(tg_count_so_far(&count), total * 7 / 10, total * 2);
    assert_int_equal(tg_count_total(&count), total);
    tg_count_done(&count);
    return total;
}

/* Unlike the units of a text of blanks, these have places where nothing can be joined. */
static const char *const texts[] = {
    "The quick brown fox doesn't jump over 1234567 lazy dogs; it's 5 o'clock.\n\n  \n\tAnd so on ",
    "int main(void)\n{\n    return HTTPServer_run(argv[1], 0xFFu) != 0 ? 1 : 0; // why not?\n}\n",
    "\xe4\xba\xba\xe4\xba\xba\xe7\x94\x9f\xe8\x80\x8c\xe8\x87\xaa\xe7\x94\xb1\xef\xbc\x8c",
    "\xe5\xb0\x8a\xe4\xb8\xa5\xe5\x92\x8c\xe6\x9d\x83\xe5\x88\xa9\xe4\xb8\x8a\xe3\x80\x82",
    "D\xc3\xa9j\xc3\xa0 vu \xf0\x9f\x98\x80 l'\xc3\xa9t\xc3\xa9\xe2\x80\xa6 ",
    "{\"type\":\"object\",\"properties\":{\"a1\":{\"type\":\"string\"}}}",
};

static void bits_count_like_the_whole(void **state)
{
    static const char *const models[] = {"gpt-4", "gpt-4o", "claude-3"};
    static const size_t bits[] = {1, 7, 100, 5000, 1000000};

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(texts); i++)
        for (size_t model = 0; model < TG_COUNT_OF(models); model++) {
            struct tg_buf text;

            tg_buf_init(&text, 0);
            while (text.len < 20000)
                tg_buf_str(&text, texts[i]);
            for (size_t bit = 0; bit < TG_COUNT_OF(bits); bit++)
                assert_int_equal(bit_by_bit(models[model], &text, bits[bit]),
                                 tokens_of(models[model], &text));
            tg_buf_done(&text);
        }
}

/* Memory stays bounded; the count is a token off at each forced cut, at most. */
static void a_text_without_an_end_is_cut(void **state)
{
    struct tg_buf text;
    int64_t whole, bits;

    (void)state;
    tg_buf_init(&text, 0);
    while (text.len < 300000)
        tg_buf_str(&text, "\xc3\xa9\xc3\xa8");
    whole = tokens_of("gpt-4o", &text);
    bits = bit_by_bit("gpt-4o", &text, 1001);
    assert_in_range(bits, whole, whole + 10);
    tg_buf_done(&text);
}

static void what_is_no_text_is_estimated(void **state)
{
    const char bad[] = "abc \xff def";

    (void)state;
    assert_int_equal(tg_count_text(encoders, "gpt-4o", bad, strlen(bad)),
                     tg_estimate_text(TG_ESTIMATE_OPENAI, bad, strlen(bad)));
}

static void counts_are_exact(void **state)
{
    static const struct {
        const char *text;
        int64_t cl100k, o200k;
    } cases[] = {
        {"", 0, 0},
        {"hello world", 2, 2},
        {"antidisestablishmentarianism", 6, 6},
        {"2 + 2 = 4", 7, 7},
        {"\xe3\x81\x8a\xe8\xaa\x95\xe7\x94\x9f\xe6\x97\xa5\xe3\x81\x8a\xe3\x82\x81\xe3\x81\xa7"
         "\xe3\x81\xa8\xe3\x81\x86", 9, 8},
        {"<|endoftext|>", 7, 7}, /* a client's text is never a special token */
    };

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++) {
        const char *text = cases[i].text;

        assert_int_equal(tg_count_text(encoders, "gpt-4", text, strlen(text)), cases[i].cl100k);
        assert_int_equal(tg_count_text(encoders, "gpt-4o", text, strlen(text)), cases[i].o200k);
    }
}

static void a_bad_vocabulary_is_refused(void **state)
{
    static const struct {
        const char *what, *bytes;
        size_t len;
    } files[] = {
        {"empty", "", 0},
        {"another file", "hello, world", 12},
        {"no tokens", "tgranks1\0\0\0\0", 12},
        {"cut off", "tgranks1\2\0\0\0\1a", 14},
        {"cut in a token", "tgranks1\1\0\0\0\3ab", 15},
        {"more than it says", "tgranks1\1\0\0\0\1a\1b", 16},
        {"twice", "tgranks1\2\0\0\0\1a\1a", 16},
        {"an empty token", "tgranks1\1\0\0\0\0", 13},
        {"absurd", "tgranks1\xff\xff\xff\xff\1a", 14},
        {"bytes are missing", "tgranks1\2\0\0\0\1a\1b", 16},
    };

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(files); i++) {
        const struct tg_span file = {files[i].bytes, files[i].len};
        struct tg_error err = {0};
        struct tg_bpe *bpe = NULL;

        if (tg_bpe_new(TG_SPLIT_O200K, file, &bpe, &err) != TG_CLASS_CONFIG)
            fail_msg("%s", files[i].what);
        assert_string_equal(err.code, "vocabulary_invalid");
    }
}

static int make_encoders(void **state)
{
    (void)state;
    encoders = ranks_open();
    return 0;
}

static int close_encoders(void **state)
{
    (void)state;
    ranks_close();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(models_have_their_encoding),
        cmocka_unit_test(counts_are_exact),
        cmocka_unit_test(bits_count_like_the_whole),
        cmocka_unit_test(a_text_without_an_end_is_cut),
        cmocka_unit_test(what_is_no_text_is_estimated),
        cmocka_unit_test(a_bad_vocabulary_is_refused),
    };

    return cmocka_run_group_tests(tests, make_encoders, close_encoders);
}
