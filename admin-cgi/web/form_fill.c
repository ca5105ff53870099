#include "admin-cgi/web/form.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "admin-cgi/web/show.h"

static void join_lines(const struct tg_json *array, struct tg_buf *out)
{
    struct tg_span text;

    for (size_t i = 0; i < tg_json_array_len(array); i++) {
        if (i > 0)
            tg_buf_char(out, '\n');
        if (tg_json_string(tg_json_array_at(array, i), &text))
            tg_buf_add(out, text.ptr, text.len);
    }
}

/* As the browser's field wants it: "2026-11-30T17:05" or "2026-11-30". */
static void put_time(enum web_kind kind, const char *text, const char *zone, struct tg_buf *out)
{
    web_show_time(out, text, zone);
    if (out->len >= 16 && out->data[10] == ' ') {
        out->data[10] = 'T';
        out->len = kind == WEB_DAY ? 10 : 16;
        out->data[out->len] = '\0';
    }
}

static bool add_pair(void *context, const char *key, const struct tg_json *value)
{
    struct tg_buf *out = context;
    struct tg_span text;

    if (out->len > 0)
        tg_buf_char(out, '\n');
    if (tg_json_string(value, &text))
        tg_buf_printf(out, "%s = %s", key, text.ptr);
    return true;
}

static void text_of(const struct web_field *field, const struct web_form *form,
                    const struct tg_json *value, struct tg_buf *out)
{
    struct tg_span text;
    int64_t number;

    if (tg_json_string(value, &text)) {
        if (field->kind == WEB_TIME || field->kind == WEB_DAY)
            put_time(field->kind, text.ptr, form->zone, out);
        else
            tg_buf_str(out, text.ptr);
    } else if (field->kind == WEB_USD && tg_json_int(value, &number)) {
        web_show_usd(out, number);
    } else if (tg_json_type(value) == TG_JSON_ARRAY &&
               (field->kind == WEB_SET || field->kind == WEB_LIST || field->kind == WEB_CIDRS)) {
        join_lines(value, out);
    } else if (field->kind == WEB_PAIRS) {
        tg_json_each(value, add_pair, out);
    } else if (field->kind == WEB_BOOL && tg_json_int(value, &number)) {
        tg_buf_str(out, number != 0 ? "true" : "false");
    } else {
        tg_json_print(value, out);
    }
}

void web_form_fill(struct web_form *form, const struct tg_json *data)
{
    const struct tg_json *found;
    struct tg_buf text;

    if (form->read || form->def == NULL)
        return;
    for (size_t i = 0; i < form->def->count; i++) {
        const struct web_field *field = &form->def->fields[i];
        struct web_value *value = &form->values[i];

        if (value->given || field->kind == WEB_SECRET || field->kind == WEB_SECRETS ||
            tg_json_get(data, field->name, &found) != TG_JSON_GOT)
            continue;
        tg_buf_init(&text, 0);
        text_of(field, form, found, &text);
        value->given = true;
        value->text = tg_arena_strdup(form->arena, tg_buf_text(&text));
        value->number = field->kind == WEB_BOOL && strcmp(value->text, "true") == 0;
        tg_buf_done(&text);
    }
}
