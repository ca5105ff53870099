/* Lists of parts, tools, and what is no plain text: media, values that a tool takes or gives. */
#include "common/base/buf.h"
#include "fcgi-app/count/media.h"
#include "fcgi-app/count/prompt.h"

#include <string.h>
#include <strings.h>

void tg_prompt_each(struct tg_prompt *prompt, const struct tg_json *object, const char *key,
                    tg_prompt_visit_fn *visit)
{
    const struct tg_json *list;

    if (tg_json_get_array(object, key, &list) == TG_JSON_GOT)
        for (size_t i = 0; i < tg_json_array_len(list); i++)
            visit(prompt, tg_json_array_at(list, i));
}

void tg_prompt_content(struct tg_prompt *prompt, const struct tg_json *object, const char *key,
                       tg_prompt_visit_fn *visit)
{
    tg_prompt_member(prompt, object, key);
    tg_prompt_each(prompt, object, key, visit);
}

void tg_prompt_function(struct tg_prompt *prompt, const struct tg_json *definition,
                        const char *schema_key)
{
    const struct tg_json *schema;

    if (tg_json_get_object(definition, schema_key, &schema) != TG_JSON_GOT)
        schema = NULL;
    tg_prompt_tool(prompt, definition, schema);
}

static bool begins(struct tg_span text, const char *begin)
{
    return text.len >= strlen(begin) && strncasecmp(text.ptr, begin, strlen(begin)) == 0;
}

static void add_picture(struct tg_prompt *prompt, bool low_detail, const struct tg_image_size *size)
{
    prompt->tokens += tg_media_image(prompt->model, low_detail, size);
}

void tg_prompt_picture(struct tg_prompt *prompt, struct tg_span url, bool low_detail)
{
    struct tg_image_size size;
    bool is_known = url.len > 0 && tg_image_size_of_url(url, &size);

    add_picture(prompt, low_detail, is_known ? &size : NULL);
}

void tg_prompt_media(struct tg_prompt *prompt, struct tg_span mime_type, struct tg_span base64)
{
    struct tg_image_size size;

    if (begins(mime_type, "image/"))
        add_picture(prompt, false,
                    base64.len > 0 && tg_image_size(base64, &size) ? &size : NULL);
    else if (begins(mime_type, "audio/"))
        prompt->tokens += TG_MEDIA_AUDIO;
    else if (begins(mime_type, "video/"))
        prompt->tokens += TG_MEDIA_VIDEO;
    else
        prompt->tokens += TG_MEDIA_FILE;
}

/* --- values -------------------------------------------------------------------------------- */

static void write_value(struct tg_buf *out, const struct tg_json *value);

static bool write_member(void *context, const char *key, const struct tg_json *value)
{
    struct tg_buf *out = context;

    if (out->data[out->len - 1] != '{')
        tg_buf_char(out, ',');
    tg_buf_char(out, '"');
    tg_buf_str(out, key);
    tg_buf_str(out, "\":");
    write_value(out, value);
    return true;
}

static void write_array(struct tg_buf *out, const struct tg_json *array)
{
    tg_buf_char(out, '[');
    for (size_t i = 0; i < tg_json_array_len(array); i++) {
        if (i > 0)
            tg_buf_char(out, ',');
        write_value(out, tg_json_array_at(array, i));
    }
    tg_buf_char(out, ']');
}

/* Strings stand as they are: an escape hardly changes the count, and nobody reads this. */
static void write_value(struct tg_buf *out, const struct tg_json *value)
{
    struct tg_span text;
    int64_t number;

    switch (tg_json_type(value)) {
    case TG_JSON_OBJECT:
        tg_buf_char(out, '{');
        tg_json_each(value, write_member, out);
        tg_buf_char(out, '}');
        break;
    case TG_JSON_ARRAY:
        write_array(out, value);
        break;
    case TG_JSON_STRING:
        tg_buf_char(out, '"');
        if (tg_json_string(value, &text))
            tg_buf_add(out, text.ptr, text.len);
        tg_buf_char(out, '"');
        break;
    case TG_JSON_NUMBER:
        if (tg_json_int(value, &number))
            tg_buf_int(out, number);
        else
            tg_buf_str(out, "0.5"); /* the digits of a fraction do not matter */
        break;
    default:
        tg_buf_str(out, "true");
        break;
    }
}

void tg_prompt_value(struct tg_prompt *prompt, const struct tg_json *value)
{
    struct tg_buf text;

    tg_buf_init(&text, 0);
    write_value(&text, value);
    tg_prompt_text(prompt, (struct tg_span){tg_buf_text(&text), text.len});
    tg_buf_done(&text);
}
