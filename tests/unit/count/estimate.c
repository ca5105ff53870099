/* The feature estimator: hand sums, and any cut of the text. */
#include "tests/unit/unit.h"

#include "fcgi-app/count/estimate.h"
#include "fcgi-app/count/letters.h"

/* Hundredths: OpenAI, Claude, Gemini. */
static const struct {
    const char *what, *text;
    int64_t sum[3];
} cases[] = {
    {"nothing", "", {0, 0, 0}},
    {"one word", "Hello", {102, 113, 115}},
    {"two words, a blank", "Hello world", {246, 265, 250}},
    {"a run of digits", "12345", {155, 163, 280}},
    {"letters and digits are two runs", "abc123", {257, 276, 395}},
    {"digits end a word", "a1b", {359, 389, 510}},
    {"accents are letters", "na\xc3\xafve", {102, 113, 115}},
    {"Cyrillic word", "\xd0\xbf\xd1\x80\xd0\xb8", {102, 113, 115}},
    {"a superscript digit is a number", "x\xc2\xb2", {257, 276, 395}},
    {"two ideographs", "\xe4\xbd\xa0\xe5\xa5\xbd", {170, 242, 136}},
    {"kana and Hangul", "\xe3\x81\x82\xea\xb0\x80", {170, 242, 136}},
    {"ideographs end a word", "a\xe4\xbd\xa0" "a", {289, 347, 298}},
    {"symbols", "!.", {80, 80, 76}},
    {"ideographic stop is a symbol", "\xe3\x80\x82", {40, 40, 38}},
    {"math", "\xe2\x88\x91\xc3\x97", {536, 904, 210}},
    {"at", "@", {200, 282, 250}},
    {"URL delimiters", "/:?&=;#%", {800, 1008, 960}},
    {"emoji", "\xf0\x9f\x98\x80\xe2\x9c\x85", {424, 520, 216}},
    {"newline and tab", "\n\t", {100, 178, 230}},
    {"blanks", " \r\xc2\xa0", {126, 117, 60}},
    {"ideographic blank", "\xe3\x80\x80", {42, 39, 20}},
    {"combining marks end a word", "e\xcc\x81" "e", {244, 266, 268}},
    {"bad bytes are symbols", "\xff\xc3(\xe2\x82", {160, 160, 152}},
    {"an overlong letter is a symbol", "\xe0\x81\xa1", {40, 40, 38}},
    {"half a sequence at the end", "\xe2\x82", {40, 40, 38}},
    {"overlong and surrogate are symbols", "\xe0\x80\x80\xed\xa0\x80", {80, 80, 76}},
};

static void sums_follow_the_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++)
        for (int table = 0; table < 3; table++) {
            int64_t got = tg_estimate_text((enum tg_estimate_table)table, cases[i].text,
                                           strlen(cases[i].text));

            if (got != (cases[i].sum[table] + 99) / 100)
                fail_msg("%s, table %d: %lld", cases[i].what, table, (long long)got);
        }
}

/* Repeated a hundred times the ceiling hides nothing. */
static void weights_are_exact_hundredths(void **state)
{
    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++)
        for (int table = 0; table < 3; table++) {
            struct tg_estimate estimate;

            tg_estimate_init(&estimate, (enum tg_estimate_table)table);
            for (int times = 0; times < 100; times++) {
                tg_estimate_add(&estimate, cases[i].text, strlen(cases[i].text));
                tg_estimate_add(&estimate, "\n", 1);
            }
            estimate.hundredths -= 100 * (int64_t[]){50, 89, 115}[table];
            if (tg_estimate_total(&estimate) != cases[i].sum[table])
                fail_msg("%s, table %d: %lld", cases[i].what, table,
                         (long long)tg_estimate_total(&estimate));
        }
}

static void every_cut_gives_the_same_sum(void **state)
{
    static const char text[] = "na\xc3\xafve 12 \xe4\xbd\xa0\xf0\x9f\x98\x80 \xff@ "
                               "https://x.y/?a=1\n\xe2\x88\x91 end\xe2\x82";
    const size_t len = sizeof(text) - 1;

    (void)state;
    for (int table = 0; table < 3; table++) {
        int64_t whole = tg_estimate_text((enum tg_estimate_table)table, text, len);

        for (size_t first = 0; first <= len; first++)
            for (size_t second = first; second <= len; second++) {
                struct tg_estimate estimate;

                tg_estimate_init(&estimate, (enum tg_estimate_table)table);
                tg_estimate_add(&estimate, text, first);
                tg_estimate_add(&estimate, text + first, second - first);
                tg_estimate_add(&estimate, text + second, len - second);
                assert_int_equal(tg_estimate_total(&estimate), whole);
            }
    }
}

static void models_choose_their_table(void **state)
{
    static const struct {
        const char *model;
        enum tg_estimate_table table;
    } models[] = {
        {"gpt-4o", TG_ESTIMATE_OPENAI},      {"claude-sonnet-4-5", TG_ESTIMATE_CLAUDE},
        {"Gemini-2.5-Pro", TG_ESTIMATE_GEMINI}, {"google/gemini-3", TG_ESTIMATE_GEMINI},
        {"deepseek-chat", TG_ESTIMATE_OPENAI}, {"anthropic/CLAUDE-3", TG_ESTIMATE_CLAUDE},
        {"", TG_ESTIMATE_OPENAI},
    };

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(models); i++)
        assert_int_equal(tg_estimate_table_of(models[i].model), models[i].table);
}

static void letters_are_unicode_not_locale(void **state)
{
    static const struct {
        uint32_t code;
        enum tg_letter letter;
    } codes[] = {
        {0xaa, TG_LETTER_WORD},    {0xd7, TG_LETTER_NONE},      {0xb2, TG_LETTER_NUMBER},
        {0x416, TG_LETTER_WORD},   {0x300, TG_LETTER_NONE},     {0x661, TG_LETTER_NUMBER},
        {0x2028, TG_LETTER_NONE},  {0x10ffff, TG_LETTER_NONE},  {0x915, TG_LETTER_WORD},
        {0x94d, TG_LETTER_NONE},   {0x1d400, TG_LETTER_WORD},   {0xfffd, TG_LETTER_NONE},
        {0x20ac, TG_LETTER_NONE},  {0x2160, TG_LETTER_NUMBER},
    };

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(codes); i++)
        assert_int_equal(tg_letter_of(codes[i].code), codes[i].letter);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_follow_the_table),
        cmocka_unit_test(weights_are_exact_hundredths),
        cmocka_unit_test(every_cut_gives_the_same_sum),
        cmocka_unit_test(models_choose_their_table),
        cmocka_unit_test(letters_are_unicode_not_locale),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
