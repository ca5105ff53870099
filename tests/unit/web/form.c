/* Forms: every kind of field, its bounds, and what is kept when it does not fit. */
#include "tests/unit/unit.h"

#include <stdio.h>

#include "admin-cgi/web/form.h"

static const struct web_choice colours[] = {{"red", "Red"}, {"blue", "Blue"}, {NULL, NULL}};
static const struct web_field fields[] = {
    {.name = "text", .label = "T", .kind = WEB_TEXT, .least = 2, .most = 5},
    {.name = "long", .label = "L", .kind = WEB_LONG, .most = 20},
    {.name = "int", .label = "I", .kind = WEB_INTEGER, .least = -5, .most = 10},
    {.name = "usd", .label = "U", .kind = WEB_USD},
    {.name = "decimal", .label = "D", .kind = WEB_DECIMAL, .most = 3},
    {.name = "bool", .label = "B", .kind = WEB_BOOL},
    {.name = "choice", .label = "C", .kind = WEB_CHOICE, .choices = colours},
    {.name = "set", .label = "S", .kind = WEB_SET, .choices = colours},
    {.name = "list", .label = "L", .kind = WEB_LIST, .most = 3},
    {.name = "cidrs", .label = "N", .kind = WEB_CIDRS},
    {.name = "time", .label = "M", .kind = WEB_TIME},
    {.name = "day", .label = "Y", .kind = WEB_DAY},
    {.name = "json", .label = "J", .kind = WEB_JSON},
    {.name = "pairs", .label = "P", .kind = WEB_PAIRS, .most = 2},
    {.name = "secret", .label = "K", .kind = WEB_SECRET, .least = 4},
    {.name = "needed", .label = "N", .kind = WEB_TEXT, .flags = WEB_REQUIRED},
};
static const struct web_form_def def = {.fields = fields, .count = TG_COUNT_OF(fields)};
static struct tg_arena *arena;

static int set_up(void **state)
{
    (void)state;
    arena = tg_arena_new();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    tg_arena_free(arena);
    return 0;
}

static enum tg_class read_form(const char *query, struct web_form *form, struct tg_error *err)
{
    static const char *const extra[] = {"csrf", NULL};
    struct web_params params;

    assert_int_equal(web_params_parse(arena, query, strlen(query), &params, err), TG_OK);
    web_form_init(form, &def, arena, "Asia/Kolkata");
    return web_form_read(form, &params, extra, false, err);
}

static struct web_value *one(const char *name, const char *query)
{
    static struct web_form form;
    struct tg_error err;

    assert_int_equal(read_form(query, &form, &err), TG_OK);
    return web_form_value(&form, name);
}

static void good_values_are_taken(void **state)
{
    static const struct {
        const char *name, *query, *text;
        int64_t number;
    } cases[] = {
        {"text", "text=+ab+", "ab", 0},
        {"text", "text=%C3%A4%C3%A4%C3%A4%C3%A4", "\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4", 0},
        {"text", "text=", "", 0},
        {"long", "long=a%0Ab", "a\nb", 0},
        {"int", "int=-5", "-5", -5},
        {"int", "int=10", "10", 10},
        {"usd", "usd=2.5", "2.5", 1250000},
        {"usd", "usd=-0.000002", "-0.000002", -1},
        {"decimal", "decimal=0.125", "0.125", 0},
        {"decimal", "decimal=999999999", "999999999", 0},
        {"bool", "bool=true", "true", 1},
        {"bool", "bool=on", "on", 1},
        {"bool", "text=ab", "", 0},
        {"choice", "choice=blue", "blue", 0},
        {"time", "time=2026-11-30T16:05:00Z", "2026-11-30T16:05:00Z", INT64_C(1796054700000000)},
        {"time", "time=2026-11-30T21:35", "2026-11-30T21:35", INT64_C(1796054700000000)},
        /* midnight in Kolkata */
        {"day", "day=2026-02-24", "2026-02-24", INT64_C(1771871400000000)},
        {"json", "json=%7B%22a%22%3A1%7D", "{\"a\":1}", 0},
        {"secret", "secret=++1234", "  1234", 0},
    };

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++) {
        const struct web_value *value = one(cases[i].name, cases[i].query);

        if (value->error != NULL || strcmp(value->text, cases[i].text) != 0 ||
            value->number != cases[i].number)
            fail_msg("%s: %s, \"%s\", %lld", cases[i].query, value->error, value->text,
                     (long long)value->number);
    }
}

static void bad_values_are_named_and_kept(void **state)
{
    static const struct {
        const char *name, *query;
    } cases[] = {
        {"text", "text=a"},
        {"text", "text=abcdef"},
        {"text", "text=a%0Ab"},
        {"text", "text=a%07b"},
        {"text", "text=a%7Fb"},
        {"long", "long=123456789012345678901"},
        {"int", "int=-6"},
        {"int", "int=11"},
        {"int", "int=1x"},
        {"int", "int=1.0"},
        {"int", "int=99999999999999999999"},
        {"usd", "usd=1.0000001"},
        {"usd", "usd=1e3"},
        {"usd", "usd=99999999999999"},
        {"decimal", "decimal=0.1234"},
        {"decimal", "decimal=-1"},
        {"decimal", "decimal=1."},
        {"decimal", "decimal=.5"},
        {"decimal", "decimal=1,5"},
        {"decimal", "decimal=1234567890"},
        {"bool", "bool=maybe"},
        {"choice", "choice=green"},
        {"set", "set=red&set=green"},
        {"list", "list=a,b,c,d"},
        {"cidrs", "cidrs=10.0.0.0/8,300.1.1.1"},
        {"time", "time=yesterday"},
        {"time", "time=2026-13-01T00:00"},
        {"day", "day=2026-02-24x"},
        {"json", "json=%5B1%5D"},
        {"json", "json=%7B"},
        {"secret", "secret=abc"},
        {"needed", "text=ab"},
        {"needed", "needed=++"},
    };

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++)
        if (one(cases[i].name, cases[i].query)->error == NULL)
            fail_msg("accepted: %s", cases[i].query);
    assert_string_equal(one("int", "int=1x")->text, "1x");
}

static void lists_are_split(void **state)
{
    const struct web_value *value = one("list", "list=a,+b%0A%0Ac");

    (void)state;
    assert_int_equal(value->count, 3);
    assert_string_equal(value->items[1], "b");
    value = one("set", "set=red&set=blue");
    assert_int_equal(value->count, 2);
    assert_string_equal(value->items[1], "blue");
    value = one("cidrs", "cidrs=10.0.0.0%2F8+%3A%3A1");
    assert_int_equal(value->count, 2);
    assert_string_equal(value->items[1], "::1");
    value = one("list", "list=");
    assert_int_equal(value->count, 0);
}

static void pairs_are_read_from_lines_and_objects(void **state)
{
    static const struct {
        const char *query, *json; /* NULL: refused */
    } cases[] = {
        {"pairs=", ""},
        {"pairs=+%0A%0A", ""},
        {"pairs=a%3Db", "{\"a\":\"b\"}"},
        {"pairs=+a++%3D+b+%0A%0Ac%3Dd%3De%0A", "{\"a\":\"b\",\"c\":\"d=e\"}"},
        {"pairs=%7B%22a%22%3A%22b%22%7D", "{\"a\":\"b\"}"},
        {"pairs=%7B%7D", ""},
        {"pairs=%7B%22a%22%3A%22%5C%22%22%7D", "{\"a\":\"\\\"\"}"},
        {"pairs=a", NULL},
        {"pairs=a%3D", NULL},
        {"pairs=%3Db", NULL},
        {"pairs=a%3Db%0Aa%3Dc", NULL},
        {"pairs=a%3D1%0Ab%3D2%0Ac%3D3", NULL},
        {"pairs=a%3D%01", NULL},
        {"pairs=%7B%22a%22%3A1%7D", NULL},
        {"pairs=%7B%22a%22", NULL},
    };

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++) {
        struct web_form form;
        struct tg_error err;
        const struct web_value *value;

        assert_int_equal(read_form(cases[i].query, &form, &err), TG_OK);
        value = web_form_value(&form, "pairs");
        if ((value->error == NULL) != (cases[i].json != NULL))
            fail_msg("%s: %s", cases[i].query, value->error);
        if (cases[i].json != NULL)
            assert_string_equal(web_pairs_json(&form, value), cases[i].json);
    }
}

static void fields_that_are_not_in_the_table_are_refused(void **state)
{
    static const char *const bad[] = {"role=root", "text=ab&text=cd", "Text=ab", "=x"};
    struct web_form form;
    struct tg_error err;

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(bad); i++) {
        assert_int_equal(read_form(bad[i], &form, &err), TG_CLASS_INVALID);
        assert_string_equal(err.code, "unknown_field");
    }
    assert_int_equal(read_form("csrf=x", &form, &err), TG_OK);
}

static void a_secret_is_never_shown_again(void **state)
{
    struct web_form form;
    struct tg_json_writer out;
    struct tg_error err;
    struct tg_buf text;

    (void)state;
    assert_int_equal(read_form("secret=hunter2hunter2&text=x&needed=kept", &form, &err), TG_OK);
    assert_true(form.failed);
    tg_buf_init(&text, 0);
    tg_json_writer_init(&out, &text);
    tg_json_begin_object(&out);
    web_form_write(&form, &out);
    tg_json_end_object(&out);
    assert_null(strstr(text.data, "hunter2"));
    assert_non_null(strstr(text.data, "\"kept\""));
    assert_non_null(strstr(text.data, "at least 2 characters"));
    tg_buf_done(&text);
}

static void a_document_fills_what_nobody_has_set(void **state)
{
    static const char text[] =
        "{\"text\":\"abc\",\"usd\":1250000,\"bool\":1,\"list\":[\"a\",\"b\"],\"secret\":\"x\","
        "\"time\":\"2026-11-30T16:05:00.000000Z\",\"json\":{\"a\":2.50},\"decimal\":\"1.5\"}";
    struct tg_json *data;
    struct web_form form;
    struct tg_error err;

    (void)state;
    assert_int_equal(tg_json_parse(text, sizeof text - 1, &data, &err), TG_OK);
    web_form_init(&form, &def, arena, "Asia/Kolkata");
    web_form_fill(&form, data);
    assert_string_equal(web_form_value(&form, "text")->text, "abc");
    assert_string_equal(web_form_value(&form, "usd")->text, "2.50");
    assert_int_equal(web_form_value(&form, "bool")->number, 1);
    assert_string_equal(web_form_value(&form, "list")->text, "a\nb");
    assert_string_equal(web_form_value(&form, "secret")->text, "");
    assert_string_equal(web_form_value(&form, "time")->text, "2026-11-30T21:35");
    assert_string_equal(web_form_value(&form, "json")->text, "{\"a\":2.50}");
    /* not over what a person has sent */
    assert_int_equal(read_form("text=mine", &form, &err), TG_OK);
    web_form_fill(&form, data);
    assert_string_equal(web_form_value(&form, "text")->text, "mine");
    assert_string_equal(web_form_value(&form, "decimal")->text, "");
    tg_json_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_values_are_taken),
        cmocka_unit_test(bad_values_are_named_and_kept),
        cmocka_unit_test(lists_are_split),
        cmocka_unit_test(pairs_are_read_from_lines_and_objects),
        cmocka_unit_test(fields_that_are_not_in_the_table_are_refused),
        cmocka_unit_test(a_secret_is_never_shown_again),
        cmocka_unit_test(a_document_fills_what_nobody_has_set),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
