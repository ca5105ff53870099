/* Parts of a Chat message as parts of Gemini (PROTOCOLS B0.9, B4). */
#include "fcgi-app/convert/chat_to_gemini.h"
#include "fcgi-app/convert/gemini_hub.h"
#include "fcgi-app/convert/gemini_model.h"
#include "fcgi-app/convert/media.h"

#include <string.h>
#include <strings.h>

enum { FORMAT_MOST = 32 };

static void note(const struct tg_convert *context, enum tg_severity severity, const char *code,
                 const char *path)
{
    tg_diagnose(context->diagnostics, severity, code, path, "");
}

static void push_text(const struct tg_convert *context, struct tg_span text, const char *path,
                      struct tg_json *parts)
{
    struct tg_json *part;

    if (text.len == 0) {
        note(context, TG_SEVERITY_INFO, "TEXT_EMPTY_DROPPED", path);
        return;
    }
    part = tg_json_new_object();
    tg_json_set_span(part, "text", text);
    tg_json_push(parts, part);
}

static struct tg_json *blob_part(const char *type, const char *data)
{
    struct tg_json *part = tg_json_new_object(), *blob = tg_json_new_object();

    tg_json_set_str(blob, "mimeType", type);
    tg_json_set_str(blob, "data", data);
    tg_json_set(part, "inlineData", blob);
    return part;
}

/* --- images --------------------------------------------------------------------------------- */

/* From the last letters of the path; NULL: they say nothing. */
static const char *type_of_url(struct tg_span url)
{
    static const char *const types[][2] = {{".png", "image/png"},   {".jpg", "image/jpeg"},
                                           {".jpeg", "image/jpeg"}, {".gif", "image/gif"},
                                           {".webp", "image/webp"}, {".heic", "image/heic"}};
    size_t len = 0;

    while (len < url.len && url.ptr[len] != '?' && url.ptr[len] != '#')
        len++;
    for (size_t i = 0; i < TG_COUNT_OF(types); i++) {
        size_t tail = strlen(types[i][0]);

        if (len > tail && strncasecmp(url.ptr + len - tail, types[i][0], tail) == 0)
            return types[i][1];
    }
    return NULL;
}

static struct tg_json *url_part(struct tg_span url)
{
    struct tg_json *part = tg_json_new_object(), *file = tg_json_new_object();
    const char *type = type_of_url(url);

    tg_json_set_span(file, "fileUri", url);
    if (type != NULL)
        tg_json_set_str(file, "mimeType", type);
    tg_json_set(part, "fileData", file);
    return part;
}

static void set_detail(const struct tg_convert *context, const struct tg_json *image,
                       const char *path, struct tg_json *part)
{
    struct tg_span detail = tg_hub_span(image, "detail");
    bool low = tg_span_is(detail, "low");
    struct tg_json *resolution;

    if (detail.len == 0 || tg_span_is(detail, "auto"))
        return;
    if (tg_gemini_model_of(context->upstream_model).generation < TG_GEMINI_3 ||
        (!low && !tg_span_is(detail, "high"))) {
        note(context, TG_SEVERITY_INFO, "MEDIA_DETAIL_DROPPED", path);
        return;
    }
    resolution = tg_json_new_object();
    tg_json_set_str(resolution, "level", low ? "MEDIA_RESOLUTION_LOW" : "MEDIA_RESOLUTION_HIGH");
    tg_json_set(part, "mediaResolution", resolution);
}

static void push_image(const struct tg_convert *context, const struct tg_json *said,
                       const char *path, struct tg_json *parts)
{
    const struct tg_json *image;
    struct tg_json *part;
    struct tg_media media;
    struct tg_span url;

    if (tg_json_get_object(said, "image_url", &image) != TG_JSON_GOT)
        image = said; /* {"type":"image_url","image_url":"https://…"} of older clients */
    url = tg_hub_span(image, image == said ? "image_url" : "url");
    if (tg_media_is_url(url)) {
        if (tg_gemini_model_of(context->upstream_model).generation < TG_GEMINI_2_5) {
            note(context, TG_SEVERITY_ERROR, "MEDIA_URL_UNSUPPORTED", path);
            return;
        }
        part = url_part(url);
    } else if (tg_media_parse(context->arena, url, &media)) {
        part = blob_part(media.type, media.data);
    } else {
        note(context, TG_SEVERITY_ERROR, "MEDIA_TYPE_UNSUPPORTED", path);
        return;
    }
    set_detail(context, image, path, part);
    tg_json_push(parts, part);
}

/* --- audio and files ------------------------------------------------------------------------ */

static void push_audio(const struct tg_convert *context, const struct tg_json *said,
                       const char *path, struct tg_json *parts)
{
    const struct tg_json *audio;
    struct tg_span data = {"", 0}, format = {"", 0};

    if (tg_json_get_object(said, "input_audio", &audio) == TG_JSON_GOT) {
        data = tg_hub_span(audio, "data");
        format = tg_hub_span(audio, "format");
    }
    if (data.len == 0 || format.len == 0 || format.len > FORMAT_MOST) {
        note(context, TG_SEVERITY_ERROR, "MEDIA_TYPE_UNSUPPORTED", path);
        return;
    }
    tg_json_push(parts,
                 blob_part(tg_arena_printf(context->arena, "audio/%.*s",
                                           (int)format.len, format.ptr),
                           tg_arena_strndup(context->arena, data.ptr, data.len)));
}

static void push_file(const struct tg_convert *context, const struct tg_json *said,
                      const char *path, struct tg_json *parts)
{
    const struct tg_json *file;
    struct tg_media media;
    struct tg_span data;

    if (tg_json_get_object(said, "file", &file) != TG_JSON_GOT ||
        !tg_hub_text(file, "file_data", &data))
        note(context, TG_SEVERITY_ERROR, "FILE_REF_UNRESOLVED", path);
    else if (!tg_media_parse(context->arena, data, &media))
        note(context, TG_SEVERITY_ERROR, "MEDIA_TYPE_UNSUPPORTED", path);
    else
        tg_json_push(parts, blob_part(media.type, media.data));
}

/* --- all of them ---------------------------------------------------------------------------- */

static void push_part(const struct tg_convert *context, const struct tg_json *part,
                      const char *path, struct tg_json *parts)
{
    const struct tg_json *hint;

    if (tg_json_get(part, "cache_control", &hint) == TG_JSON_GOT)
        note(context, TG_SEVERITY_INFO, "CACHE_HINT_DROPPED", path);
    if (tg_hub_is(part, "type", "text"))
        push_text(context, tg_hub_span(part, "text"), path, parts);
    else if (tg_hub_is(part, "type", "refusal")) {
        push_text(context, tg_hub_span(part, "refusal"), path, parts);
        note(context, TG_SEVERITY_INFO, "REFUSAL_MAPPED", path);
    } else if (tg_hub_is(part, "type", "image_url"))
        push_image(context, part, path, parts);
    else if (tg_hub_is(part, "type", "input_audio"))
        push_audio(context, part, path, parts);
    else if (tg_hub_is(part, "type", "file"))
        push_file(context, part, path, parts);
    else
        note(context, TG_SEVERITY_WARN, "PART_DROPPED", path);
}

void tg_chat_to_gemini_parts(const struct tg_convert *context, const struct tg_json *content,
                             const char *path, struct tg_json *parts)
{
    struct tg_span text;

    if (tg_json_string(content, &text))
        push_text(context, text, path, parts);
    for (size_t i = 0; i < tg_json_array_len(content); i++)
        push_part(context, tg_json_array_at(content, i),
                  tg_arena_printf(context->arena, "%s.content[%zu]", path, i), parts);
}
