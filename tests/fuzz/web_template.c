/* Templates: any text is a template or an error; any value stays in its place.
 *
 * The input is a template, and at the same time the value of x in one that is good. */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "admin-cgi/web/template.h"
#include "common/json/writer.h"

static const char good[] = "<p title=\"{{x}}\"><a href=\"{{x}}\">{{x}}</a>"
                           "<a href=\"/a?b={{x}}\"></a><input value=\"{{json x}}\">{{url x}}</p>";

static size_t count_of(const char *text, size_t len, char c)
{
    size_t count = 0;

    for (size_t i = 0; i < len; i++)
        count += text[i] == c;
    return count;
}

static struct tg_json *document(const char *text, size_t len)
{
    struct tg_json *root = NULL;
    struct tg_json_writer out;
    struct tg_error err;
    struct tg_buf json;

    tg_buf_init(&json, 0);
    tg_json_writer_init(&out, &json);
    tg_json_begin_object(&out);
    tg_json_key(&out, "x");
    tg_json_write_strn(&out, text, len);
    tg_json_end_object(&out);
    tg_assert(tg_json_parse(json.data, json.len, &root, &err) == TG_OK);
    tg_buf_done(&json);
    return root;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct tg_arena *arena = tg_arena_new();
    struct web_templates *set = web_templates_new(arena, "/nowhere");
    const char *text = tg_arena_strndup(arena, len > 0 ? (const char *)bytes : "", len);
    struct tg_json *data = document(text, strlen(text));
    struct web_rendering wish = {.page = "good", .frame = data, .data = data, .zone = "UTC"};
    struct tg_error err;
    struct tg_buf out;

    tg_buf_init(&out, 1 << 20);
    tg_assert(web_templates_add(set, "good", good, &err) == TG_OK);
    tg_assert(web_template_render(set, &wish, &out, &err) == TG_OK);
    tg_assert(count_of(out.data, out.len, '<') == count_of(good, strlen(good), '<'));
    tg_assert(count_of(out.data, out.len, '"') == count_of(good, strlen(good), '"'));
    tg_buf_reset(&out);
    wish.page = "own";
    if (web_templates_add(set, "own", text, &err) == TG_OK)
        tg_assert(web_template_render(set, &wish, &out, &err) == TG_OK || err.code[0] != '\0');
    tg_buf_done(&out);
    tg_json_free(data);
    tg_arena_free(arena);
    return 0;
}
