/* Queries, JSON bodies and cookies: what is read is bounded text; a query survives its writing. */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "admin-cgi/web/form.h"
#include "admin-cgi/web/params.h"

static const struct web_field fields[] = {
    {.name = "t", .label = "", .kind = WEB_TEXT},
    {.name = "i", .label = "", .kind = WEB_INTEGER},
    {.name = "u", .label = "", .kind = WEB_USD},
    {.name = "d", .label = "", .kind = WEB_DECIMAL},
    {.name = "b", .label = "", .kind = WEB_BOOL},
    {.name = "c", .label = "", .kind = WEB_CHOICE},
    {.name = "s", .label = "", .kind = WEB_SET},
    {.name = "l", .label = "", .kind = WEB_LIST},
    {.name = "n", .label = "", .kind = WEB_CIDRS},
    {.name = "m", .label = "", .kind = WEB_TIME},
    {.name = "j", .label = "", .kind = WEB_JSON},
    {.name = "k", .label = "", .kind = WEB_SECRET},
};
static const struct web_form_def def = {.fields = fields, .count = TG_COUNT_OF(fields)};

static void check_form(struct tg_arena *arena, const struct web_params *params)
{
    static const char *const extra[] = {NULL};
    struct web_form form;
    struct tg_error err;
    struct tg_json_writer out;
    struct tg_json *json = NULL;
    struct tg_buf text;

    web_form_init(&form, &def, arena, "UTC");
    if (web_form_read(&form, params, extra, false, &err) != TG_OK)
        tg_assert(strcmp(err.code, "unknown_field") == 0);
    tg_buf_init(&text, 0);
    tg_json_writer_init(&out, &text);
    tg_json_begin_object(&out);
    web_form_write(&form, &out);
    tg_json_end_object(&out);
    tg_assert(tg_json_parse(text.data, text.len, &json, &err) == TG_OK);
    tg_json_free(json);
    tg_buf_done(&text);
}

static void check_query(struct tg_arena *arena, const struct web_params *params)
{
    static const char *const but[] = {NULL};
    struct web_params again;
    struct tg_error err;
    struct tg_buf text;

    tg_assert(params->count <= WEB_PARAMS_MOST);
    tg_buf_init(&text, 0);
    web_params_query(params, but, &text);
    tg_assert(web_params_parse(arena, tg_buf_text(&text), text.len, &again, &err) == TG_OK);
    for (size_t i = 0, k = 0; i < params->count; i++) {
        if (*params->list[i].value == '\0')
            continue;
        tg_assert(strcmp(params->list[i].name, again.list[k].name) == 0);
        tg_assert(strcmp(params->list[i].value, again.list[k++].value) == 0);
    }
    tg_buf_done(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct tg_arena *arena = tg_arena_new();
    const char *text = len > 0 ? (const char *)bytes : "";
    struct web_params params;
    struct tg_error err;

    if (web_params_parse(arena, text, len, &params, &err) == TG_OK) {
        check_query(arena, &params);
        check_form(arena, &params);
    }
    if (web_params_json(arena, text, len, &params, &err) == TG_OK)
        check_form(arena, &params);
    web_params_cookies(arena, tg_arena_strndup(arena, text, len), &params);
    tg_assert(params.count <= WEB_PARAMS_MOST);
    tg_arena_free(arena);
    return 0;
}
