/* Queries, forms and cookies: what is read, and what is refused before anybody sees it. */
#include "tests/unit/unit.h"

#include <stdio.h>

#include "admin-cgi/web/params.h"

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

/* "a=1|b=2|", or "!code". Owns: the arena. */
static const char *shown(enum tg_class class, const struct web_params *params,
                         const struct tg_error *err)
{
    struct tg_buf text;
    const char *copy;

    if (class != TG_OK)
        return tg_arena_printf(arena, "!%s", err->code);
    tg_buf_init(&text, 0);
    for (size_t i = 0; i < params->count; i++)
        tg_buf_printf(&text, "%s=%s|", params->list[i].name, params->list[i].value);
    copy = tg_arena_strdup(arena, tg_buf_text(&text));
    tg_buf_done(&text);
    return copy;
}

static const char *parse(const char *text)
{
    struct web_params params;
    struct tg_error err;
    enum tg_class class = web_params_parse(arena, text, strlen(text), &params, &err);

    return shown(class, &params, &err);
}

static const char *json(const char *text)
{
    struct web_params params;
    struct tg_error err;
    enum tg_class class = web_params_json(arena, text, strlen(text), &params, &err);

    return shown(class, &params, &err);
}

static void forms_are_decoded_once(void **state)
{
    static const struct {
        const char *text, *wanted;
    } cases[] = {
        {"", ""},
        {"a=1&b=2", "a=1|b=2|"},
        {"a", "a=|"},
        {"a=&&b", "a=|b=|"},
        {"a=b=c", "a=b=c|"},
        {"a+b=%2B+%26%3D", "a b=+ &=|"},
        {"a=%2541", "a=%41|"},
        {"a=x%0D%0Ay", "a=x\ny|"},
        {"a=%E2%82%AC", "a=\xe2\x82\xac|"},
        {"a=%41", "a=A|"},
        {"a=%", "!bad_encoding"},
        {"a=%4", "!bad_encoding"},
        {"a=%4g", "!bad_encoding"},
        {"a=%00", "!bad_encoding"},
        {"a=%FF%FE", "!bad_encoding"},
        {"a=%C0%AF", "!bad_encoding"},
        {"a=%ED%A0%80", "!bad_encoding"},
        {"a=%F4%90%80%80", "!bad_encoding"},
        {"a=%E2%82", "!bad_encoding"},
        {"%00=a", "!bad_encoding"},
    };

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++)
        if (strcmp(parse(cases[i].text), cases[i].wanted) != 0)
            fail_msg("%s: %s", cases[i].text, parse(cases[i].text));
}

static void documents_are_read_as_forms_would_be(void **state)
{
    static const struct {
        const char *text, *wanted;
    } cases[] = {
        {"{}", ""},
        {"{\"a\":\"x\",\"b\":1,\"c\":true,\"d\":null}", "a=x|b=1|c=true|"},
        {"{\"a\":[\"x\",\"y\"]}", "a=x\ny|"},
        {"{\"a\":[]}", "a=|"},
        {"{\"a\":[1,2]}", "a=[1,2]|"},
        {"{\"a\":{\"b\":2.50}}", "a={\"b\":2.50}|"},
        {"{\"a\":[\"x\\ny\"]}", "a=[\"x\\ny\"]|"},
        {"[1]", "!invalid_json"},
        {"{\"a\":1,\"a\":2}", "!invalid_json"},
        {"{\"a\":\"\\u0000\"}", "!bad_encoding"},
        {"{\"a\":1}x", "!invalid_json"},
        {"", "!invalid_json"},
    };

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++)
        if (strcmp(json(cases[i].text), cases[i].wanted) != 0)
            fail_msg("%s: %s", cases[i].text, json(cases[i].text));
}

static void fields_are_counted(void **state)
{
    struct tg_buf text;

    (void)state;
    tg_buf_init(&text, 0);
    for (int i = 0; i < WEB_PARAMS_MOST; i++)
        tg_buf_printf(&text, "a%d=1&", i);
    assert_true(parse(text.data)[0] == 'a');
    tg_buf_str(&text, "b=1");
    assert_string_equal(parse(text.data), "!too_many_fields");
    tg_buf_done(&text);
}

static void cookies_come_one_by_one(void **state)
{
    struct web_params cookies;

    (void)state;
    web_params_cookies(arena, "a=1; b=x=y;c; ;d=", &cookies);
    assert_string_equal(shown(TG_OK, &cookies, NULL), "a=1|b=x=y|d=|");
    assert_string_equal(web_param(&cookies, "b"), "x=y");
    assert_null(web_param(&cookies, "c"));
    web_params_cookies(arena, NULL, &cookies);
    assert_int_equal(cookies.count, 0);
}

static void a_query_is_written_back_without_some(void **state)
{
    static const char *const but[] = {"after", NULL};
    struct web_params params;
    struct tg_error err;
    struct tg_buf out;

    (void)state;
    tg_buf_init(&out, 0);
    assert_int_equal(web_params_parse(arena, "a=1%262&after=x&b=&c=%22", 24, &params, &err), TG_OK);
    web_params_query(&params, but, &out);
    assert_string_equal(tg_buf_text(&out), "a=1%262&c=%22");
    tg_buf_done(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forms_are_decoded_once),
        cmocka_unit_test(documents_are_read_as_forms_would_be),
        cmocka_unit_test(fields_are_counted),
        cmocka_unit_test(cookies_come_one_by_one),
        cmocka_unit_test(a_query_is_written_back_without_some),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
