/* Templates: what they do, what they refuse, and that nothing gets out of its place. */
#include "tests/unit/unit.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "admin-cgi/web/escape.h"
#include "admin-cgi/web/template.h"

static struct tg_arena *arena;
static struct tg_json *nothing;

static int set_up(void **state)
{
    struct tg_error err;

    (void)state;
    arena = tg_arena_new();
    return tg_json_parse("{}", 2, &nothing, &err) == TG_OK ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    tg_json_free(nothing);
    tg_arena_free(arena);
    return 0;
}

/* "!why" for a template that cannot be rendered. Owns: the arena. */
static const char *render(const char *text, const char *json)
{
    struct web_templates *set = web_templates_new(arena, "/nowhere");
    struct tg_error err = {.class = TG_OK};
    struct tg_json *data = NULL;
    struct tg_buf out;
    const char *copy;
    enum tg_class class = tg_json_parse(json, strlen(json), &data, &err);

    tg_buf_init(&out, 0);
    if (class == TG_OK)
        class = web_templates_add(set, "inner", "<i>{{name}}</i>", &err);
    if (class == TG_OK)
        class = web_templates_add(set, "page", text, &err);
    if (class == TG_OK)
        class = web_template_render(set,
                                    &(struct web_rendering){.page = "page",
                                                            .frame = nothing,
                                                            .data = data,
                                                            .zone = "Asia/Kolkata"},
                                    &out, &err);
    copy = class == TG_OK ? tg_arena_strdup(arena, tg_buf_text(&out))
                          : tg_arena_printf(arena, "!%s", err.message);
    tg_buf_done(&out);
    tg_json_free(data);
    return copy;
}

struct rendering {
    const char *text, *json, *wanted;
};

static void check(const struct rendering *cases, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(render(cases[i].text, cases[i].json), cases[i].wanted) != 0)
            fail_msg("%s with %s: %s", cases[i].text, cases[i].json,
                     render(cases[i].text, cases[i].json));
}

static void values_sections_and_partials(void **state)
{
    static const struct rendering cases[] = {
        {"{{x}}", "{\"x\":\"1\"}", "1"},
        {"{{ x }}{{y}}.", "{\"x\":12}", "12."},
        {"{{a.b.c}}", "{\"a\":{\"b\":{\"c\":true}}}", "true"},
        {"{{x}}", "{\"x\":null}", ""},
        {"{{x}}", "{\"x\":[1]}", ""},
        {"{{x}}", "{\"x\":2.50}", "2.50"},
        {"{{#l}}{{.}},{{/l}}", "{\"l\":[1,\"b\",3]}", "1,b,3,"},
        {"{{#l}}{{n}}{{o}};{{/l}}", "{\"o\":0,\"l\":[{\"n\":1},{\"n\":2,\"o\":9}]}", "10;29;"},
        {"{{^l}}none{{/l}}", "{\"l\":[]}", "none"},
        {"{{^l}}none{{/l}}", "{\"l\":[0]}", ""},
        {"{{#x}}a{{/x}}{{^x}}b{{/x}}", "{\"x\":0}", "b"},
        {"{{#x}}a{{/x}}{{^x}}b{{/x}}", "{\"x\":\"\"}", "b"},
        {"{{#x}}a{{/x}}{{^x}}b{{/x}}", "{\"x\":\"0\"}", "a"},
        {"{{#x=on}}a{{/x=on}}{{^x=on}}b{{/x=on}}", "{\"x\":\"on\"}", "a"},
        {"{{#x=on}}a{{/x=on}}{{^x=on}}b{{/x=on}}", "{\"x\":\"one\"}", "b"},
        {"{{#x=5}}a{{/x=5}}", "{\"x\":5}", "a"},
        /* null hides what is further out */
        {"{{#l}}{{e}}{{/l}}", "{\"e\":\"out\",\"l\":[{\"e\":null}]}", ""},
        {"<p>{{> inner}}</p>", "{\"name\":\"x\"}", "<p><i>x</i></p>"},
        {"{{! remark }}ok", "{}", "ok"},
        {"{{usd q}} {{usd r}}", "{\"q\":500000,\"r\":1}", "1.00 0.000002"},
        {"{{num n}} {{num m}}", "{\"n\":1234567,\"m\":-1000}", "1,234,567 -1,000"},
        {"{{time t}}", "{\"t\":\"2026-02-23T20:00:00.000000Z\"}", "2026-02-24 01:30:00"},
        {"{{time t}}", "{\"t\":\"soon\"}", "soon"},
    };

    (void)state;
    check(cases, TG_COUNT_OF(cases));
}

static void every_place_has_its_escape(void **state)
{
    static const struct rendering cases[] = {
        {"<b>{{x}}</b>", "{\"x\":\"<script>&\\\"'\"}", "<b>&lt;script&gt;&amp;&quot;&#39;</b>"},
        {"<b title=\"{{x}}\">", "{\"x\":\"\\\" onclick=\\\"x\"}",
         "<b title=\"&quot; onclick=&quot;x\">"},
        {"<a href=\"{{x}}\">", "{\"x\":\"/a?b=1&c\"}", "<a href=\"/a?b=1&amp;c\">"},
        {"<a href=\"{{x}}\">", "{\"x\":\"javascript:alert(1)\"}", "<a href=\"#\">"},
        {"<a href=\"{{x}}\">", "{\"x\":\" javascript:alert(1)\"}", "<a href=\"#\">"},
        {"<a href=\"{{x}}\">", "{\"x\":\"//evil\"}", "<a href=\"#\">"},
        {"<a href=\"{{x}}\">", "{\"x\":\"/\\\\evil\"}", "<a href=\"#\">"},
        {"<a href=\"{{x}}\">", "{\"x\":\"data:text/html,x\"}", "<a href=\"#\">"},
        {"<a href=\"{{x}}\">", "{}", "<a href=\"#\">"},
        {"<a href=\"/u/{{x}}\">", "{\"x\":\"a/../b?c#d\"}", "<a href=\"/u/a%2F..%2Fb%3Fc%23d\">"},
        {"<a href=\"{{b}}u/{{x}}\">", "{\"b\":\"/t/\",\"x\":\"javascript:x\"}",
         "<a href=\"/t/u/javascript%3Ax\">"},
        /* a section in front does not make it a beginning again */
        {"<a href=\"{{#q}}/q{{/q}}{{x}}\">", "{\"x\":\"javascript:x\"}",
         "<a href=\"javascript%3Ax\">"},
        {"<i>{{url x}}</i>", "{\"x\":\"a b&c\"}", "<i>a%20b%26c</i>"},
        {"<p data-x=\"{{json x}}\">", "{\"x\":{\"a\":[1,\"</p>'\"]}}",
         "<p data-x=\"{&quot;a&quot;:[1,&quot;&lt;/p&gt;&#39;&quot;]}\">"},
        {"{{x}}", "{\"x\":\"\\u0000b\\u0007\"}", "\xef\xbf\xbd" "b\xef\xbf\xbd"},
        {"<option {{#s}}selected{{/s}}>{{x}}</option>", "{\"s\":true,\"x\":\"<\"}",
         "<option selected>&lt;</option>"},
    };

    (void)state;
    check(cases, TG_COUNT_OF(cases));
}

static void a_value_stands_where_it_is_safe_or_the_template_is_refused(void **state)
{
    static const char *const bad[] = {
        "<a onclick=\"{{x}}\">",
        "<a ONCLICK=\"f({{x}})\">",
        "<a style=\"color: {{x}}\">",
        "<a {{x}}>",
        "<a {{x}}=\"1\">",
        "<{{x}}>",
        "<a title={{x}}>",
        "<a title='{{x}}'>",
        "<iframe srcdoc=\"{{x}}\">",
        "<meta http-equiv=\"refresh\" content=\"0; {{x}}\">",
        "<script>{{x}}</script>",
        "<script>alert(1)</script>",
        "<style>p { color: red }</style>",
        "<!-- {{x}} -->",
        "<!doctype {{x}}>",
        "<a href=\"{{#x}}\">{{/x}}",
        "{{#x}}<b{{/x}}>",
        "<b title=\"{{> inner}}\">",
        "{{#x}}",
        "{{/x}}",
        "{{#x}}{{/y}}",
        "{{#x=a}}{{/x}}",
        "{{x",
        "{{}}",
        "{{x y}}",
        "{{{x}}}",
        "{{&x}}",
        "<b",
        "a < b",
    };

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(bad); i++)
        if (render(bad[i], "{\"x\":\"1\"}")[0] != '!')
            fail_msg("accepted: %s", bad[i]);
    assert_string_equal(render("<p>\n\n{{x", "{}"), "!page.html:3: \"{{\" without \"}}\"");
}

static size_t count_of(const char *text, char c)
{
    size_t count = 0;

    for (; *text != '\0'; text++)
        count += *text == c;
    return count;
}

/* Whatever is stored: no "<" of it is a tag, no quote of it ends an attribute. */
static void no_payload_leaves_its_place(void **state)
{
    static const char *const payloads[] = {
        "<script>alert(1)</script>",
        "\\\"><img src=x onerror=alert(1)>",
        "' onmouseover='alert(1)",
        "</textarea><script>alert(1)</script>",
        "</title><svg onload=alert(1)>",
        "{{x}}{{#x}}{{> layout}}",
        "javascript:alert(1)",
        "jAvAsCrIpT:alert(1)",
        "java\\tscript:alert(1)",
        "\\u0001javascript:alert(1)",
        "data:text/html;base64,PHNjcmlwdD4=",
        "vbscript:x",
        "&#x6a;avascript:alert(1)",
        "\\u2028\\u2029</p>",
        "<!--<img src=\\\"--><img src=x onerror=alert(1)//\\\">",
    };
    static const char text[] = "<p title=\"{{x}}\" class=\"a {{x}}\"><a href=\"{{x}}\">{{x}}</a>"
                               "<textarea>{{x}}</textarea><input value=\"{{x}}\"></p>";

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(payloads); i++) {
        char json[512];
        const char *out;

        snprintf(json, sizeof json, "{\"x\":\"%s\"}", payloads[i]);
        out = render(text, json);
        if (count_of(out, '<') != count_of(text, '<') ||
            count_of(out, '"') != count_of(text, '"') || count_of(out, '\'') != 0)
            fail_msg("got out: %s", out);
        if (strstr(out, "href=\"#\"") == NULL)
            fail_msg("a link to it: %s", out);
    }
}

static void a_layout_holds_the_page(void **state)
{
    struct web_templates *set = web_templates_new(arena, "/nowhere");
    struct tg_error err;
    struct tg_buf out;
    const struct web_rendering wish = {
        .layout = "frame", .page = "page", .frame = nothing, .data = nothing, .zone = "UTC"};

    (void)state;
    tg_buf_init(&out, 0);
    assert_int_equal(web_templates_add(set, "frame", "<b>{{> content}}</b>", &err), TG_OK);
    assert_int_equal(web_templates_add(set, "page", "x", &err), TG_OK);
    assert_int_equal(web_template_render(set, &wish, &out, &err), TG_OK);
    assert_string_equal(tg_buf_text(&out), "<b>x</b>");
    /* one that holds itself ends */
    assert_int_equal(web_templates_add(set, "page", "x{{> page}}", &err), TG_OK);
    assert_int_equal(web_template_render(set, &wish, &out, &err), TG_CLASS_CONFIG);
    tg_buf_done(&out);
}

static void all_templates_of_the_tree_are_good(void **state)
{
    const char *source = getenv("TOLLGATE_SOURCE");
    const char *folder =
        tg_arena_printf(arena, "%s/admin-cgi/templates", source != NULL ? source : ".");
    struct web_templates *set = web_templates_new(arena, folder);
    DIR *files = opendir(folder);
    struct tg_error err;
    struct dirent *entry;
    int count = 0;

    (void)state;
    assert_non_null(files);
    while ((entry = readdir(files)) != NULL) {
        char *dot = strstr(entry->d_name, ".html");

        if (dot == NULL || dot[5] != '\0')
            continue;
        *dot = '\0';
        count++;
        if (web_templates_check(set, entry->d_name, &err) != TG_OK)
            fail_msg("%s", err.message);
    }
    closedir(files);
    assert_true(count >= 10);
    assert_int_equal(web_templates_check(set, "../../conf/x", &err), TG_CLASS_CONFIG);
    assert_int_equal(web_templates_check(set, "missing", &err), TG_CLASS_CONFIG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_sections_and_partials),
        cmocka_unit_test(every_place_has_its_escape),
        cmocka_unit_test(a_value_stands_where_it_is_safe_or_the_template_is_refused),
        cmocka_unit_test(no_payload_leaves_its_place),
        cmocka_unit_test(a_layout_holds_the_page),
        cmocka_unit_test(all_templates_of_the_tree_are_good),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
