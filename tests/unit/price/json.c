/* The JSON form of prices and usage, lists, patterns, the calculator. */
#include "tests/unit/unit.h"

#include "common/price/formula.h"
#include "common/price/list.h"
#include "common/price/price_json.h"

#include <string.h>

static struct tg_span span(const char *text)
{
    return (struct tg_span){text, strlen(text)};
}

static enum tg_class read_one(const char *text, struct tg_arena *arena, struct tg_price *ret,
                              struct tg_error *err)
{
    struct tg_json *root;
    const char *model;
    enum tg_class class;

    assert_int_equal(tg_json_parse(text, strlen(text), &root, NULL), TG_OK);
    class = tg_price_read(root, arena, ret, &model, err);
    tg_json_free(root);
    return class;
}

static void a_form_is_implied_by_its_members(void **state)
{
    static const struct {
        const char *text;
        enum tg_price_form form;
    } cases[] = {
        {"{}", TG_PRICE_TOKEN},
        {"{\"input\":\"1\"}", TG_PRICE_TOKEN},
        {"{\"call\":\"1\"}", TG_PRICE_CALL},
        {"{\"tiers\":[{\"above\":5}]}", TG_PRICE_TIER},
        {"{\"tiers\":[]}", TG_PRICE_TOKEN},
        {"{\"expression\":\"p\",\"tiers\":[{\"above\":5}]}", TG_PRICE_EXPRESSION},
        {"{\"form\":\"token\",\"tiers\":[{\"above\":5}]}", TG_PRICE_TOKEN},
        {"{\"call\":null,\"tiers\":null,\"tools\":null,\"expression\":null}", TG_PRICE_TOKEN},
    };
    struct tg_arena *arena = tg_arena_new();
    struct tg_price price;

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++) {
        assert_int_equal(read_one(cases[i].text, arena, &price, NULL), TG_OK);
        assert_int_equal(price.form, cases[i].form);
    }
    tg_arena_free(arena);
}

static void what_is_wrong_is_named(void **state)
{
    static const struct {
        const char *text, *param;
    } cases[] = {
        {"{\"input\":0.5}", "input"},
        {"{\"input\":true}", "input"},
        {"{\"input\":\"\"}", "input"},
        {"{\"input\":\"1234567890123456789012345678901234567890\"}", "input"},
        {"{\"colour\":\"red\"}", "colour"},
        {"{\"form\":\"barter\"}", "form"},
        {"{\"form\":7}", "form"},
        {"{\"context_tokens\":-1}", "context_tokens"},
        {"{\"max_output_tokens\":\"5\"}", "max_output_tokens"},
        {"{\"vendor\":\"a name that is much longer than a column\"}", "vendor"},
        {"{\"dated\":\"30th of November\"}", "dated"},
        {"{\"tools\":{\"magic\":\"1\"}}", "tools.magic"},
        {"{\"tools\":{\"web_search\":[]}}", "tools.web_search"},
        {"{\"tools\":[]}", "tools"},
        {"{\"tiers\":{}}", "tiers"},
        {"{\"tiers\":[7]}", "tiers"},
        {"{\"tiers\":[{},{},{},{},{}]}", "tiers"},
        {"{\"tiers\":[{\"above\":5},{\"above\":\"6\"}]}", "tiers.1.above"},
        {"{\"tiers\":[{\"call\":\"1\"}]}", "tiers.0.call"},
        {"{\"expression\":7}", "expression"},
    };
    struct tg_arena *arena = tg_arena_new();
    struct tg_price price;
    struct tg_error err;

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++) {
        assert_int_equal(read_one(cases[i].text, arena, &price, &err), TG_CLASS_INVALID);
        assert_string_equal(err.param, cases[i].param);
    }
    tg_arena_free(arena);
}

static void a_list_is_written_and_read_the_same(void **state)
{
    static const char text[] =
        "{\"note\":\"x\",\"prices\":["
        "{\"model\":\"b\",\"input\":1,\"output\":\"2.5\",\"cache_read\":\"0.1\","
        "\"tiers\":[{\"above\":9,\"input\":\"2\",\"output\":\"3\",\"cache_read\":\"0.2\"}],"
        "\"tools\":{\"default\":\"0.001\",\"web_search\":\"0.01\"},\"context_tokens\":128000,"
        "\"vendor\":\"v\",\"dated\":\"2026-11-30\"},"
        "{\"model\":\"a*\",\"expression\":\"p * 2\"}]}";
    struct tg_arena *arena = tg_arena_new();
    struct tg_price_rows rows, again;
    struct tg_buf one, two;

    (void)state;
    tg_buf_init(&one, 0);
    tg_buf_init(&two, 0);
    assert_int_equal(tg_price_list_read(span(text), arena, &rows, NULL), TG_OK);
    assert_int_equal(rows.count, 2);
    assert_string_equal(rows.rows[0].model, "a*");
    tg_price_list_write(&rows, &one);
    assert_int_equal(tg_price_list_read(span(tg_buf_text(&one)), arena, &again, NULL), TG_OK);
    tg_price_list_write(&again, &two);
    assert_string_equal(tg_buf_text(&one), tg_buf_text(&two));
    assert_string_equal(again.rows[1].price.tiers[0].rates.cache_read, "0.2");
    tg_buf_done(&one);
    tg_buf_done(&two);
    tg_arena_free(arena);
}

static void a_model_has_its_own_price_or_that_of_the_longest_pattern(void **state)
{
    static struct tg_price_row list[] = {{.model = "*"},        {.model = "gpt-*"},
                                         {.model = "gpt-4o-*"}, {.model = "gpt-4o-mini"},
                                         {.model = "gpt-4*"}};
    static const struct {
        const char *model, *found;
    } cases[] = {{"gpt-4o-mini", "gpt-4o-mini"}, {"gpt-4o-mini-2", "gpt-4o-*"},
                 {"gpt-4o", "gpt-4*"},           {"gpt-5", "gpt-*"},
                 {"o3", "*"}};
    struct tg_price_rows rows = {list, TG_COUNT_OF(list)};

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++)
        assert_string_equal(tg_price_rows_find(&rows, cases[i].model)->model, cases[i].found);
    rows.rows = list + 1;
    rows.count = 4;
    assert_null(tg_price_rows_find(&rows, "o3"));
}

static void usage_is_read_with_its_semantics(void **state)
{
    static const struct {
        const char *text, *param; /* NULL: it is right */
    } cases[] = {
        {"{\"input\":1,\"output\":2,\"tools\":{\"web_search\":3,\"other\":1}}", NULL},
        {"{\"semantics\":\"excludes_cache\",\"cache_read\":5}", NULL},
        {"{\"semantics\":\"maybe\"}", "semantics"},
        {"{\"input\":\"1\"}", "input"},
        {"{\"tools\":{\"magic\":1}}", "magic"},
        {"{\"inptu\":1}", "inptu"},
        {"{\"reasoning\":1.5}", "reasoning"},
    };
    struct tg_usage usage;
    struct tg_error err;

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++) {
        struct tg_json *root;
        enum tg_class class;

        assert_int_equal(tg_json_parse(cases[i].text, strlen(cases[i].text), &root, NULL), TG_OK);
        class = tg_usage_read(root, &usage, &err);
        tg_json_free(root);
        assert_int_equal(class, cases[i].param == NULL ? TG_OK : TG_CLASS_INVALID);
        if (cases[i].param != NULL)
            assert_string_equal(err.param, cases[i].param);
        if (i == 0)
            assert_int_equal(usage.tool_calls, 4);
        if (i == 1)
            assert_int_equal(usage.semantics, TG_USAGE_INPUT_EXCLUDES_CACHE);
    }
}

static void the_formula_has_the_numbers(void **state)
{
    static const struct {
        struct tg_price price;
        const char *formula;
    } cases[] = {
        {{.rates = {.input = "2", .output = "8"}},
         "\"formula\":\"(20 x 2 + 5 x 8) / 1000000 USD x 500000 x 2 = 80, rounded to 80 quota\""},
        {{.rates = {.input = "2", .output = "8"}, .tools = {"0.01"}},
         "\"formula\":\"((20 x 2 + 5 x 8) / 1000000 + 3 x 0.01) USD x 500000 x 2 = 30080, "
         "rounded to 30080 quota\""},
        {{.form = TG_PRICE_CALL, .call = "0.04"},
         "\"formula\":\"(1 x 0.04 + 3 x 0) USD x 500000 x 2 = 40000, rounded to 40000 quota\""},
        {{.form = TG_PRICE_EXPRESSION, .expression = "p / 3"},
         "\"formula\":\"((p / 3 = 20/3 with p = 20) / 1000000 + 3 x 0) USD x 500000 x 2 = "
         "20/3, rounded to 7 quota\""},
    };

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++) {
        const struct tg_usage usage = {.source = TG_USAGE_UPSTREAM,
                                       .input = 20,
                                       .output = 5,
                                       .tool_calls = i != 0 ? 3 : 0,
                                       .tools = {i != 0 ? 3 : 0}};
        const struct tg_calculation wish = {&cases[i].price, &usage, "2"};
        struct tg_json_writer out;
        struct tg_buf text;

        tg_buf_init(&text, 0);
        tg_json_writer_init(&out, &text);
        tg_json_begin_object(&out);
        assert_int_equal(tg_calculate(&wish, &out, NULL), TG_OK);
        tg_json_end_object(&out);
        if (strstr(tg_buf_text(&text), cases[i].formula) == NULL)
            fail_msg("%s", tg_buf_text(&text));
        tg_buf_done(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_form_is_implied_by_its_members),
        cmocka_unit_test(what_is_wrong_is_named),
        cmocka_unit_test(a_list_is_written_and_read_the_same),
        cmocka_unit_test(a_model_has_its_own_price_or_that_of_the_longest_pattern),
        cmocka_unit_test(usage_is_read_with_its_semantics),
        cmocka_unit_test(the_formula_has_the_numbers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
