/* Messages of Chat as content blocks of Messages (PROTOCOLS B2, B0.9). */
#include "fcgi-app/convert/chat_to_messages_request.h"
#include "fcgi-app/convert/citations.h"
#include "fcgi-app/convert/hub.h"
#include "fcgi-app/convert/media.h"
#include "fcgi-app/convert/names.h"

#include <string.h>

static void note(const struct tg_convert *context, enum tg_severity severity, const char *code,
                 const char *path)
{
    tg_diagnose(context->diagnostics, severity, code, path, "");
}

static struct tg_json *block_of(const char *type)
{
    struct tg_json *block = tg_json_new_object();

    tg_json_set_str(block, "type", type);
    return block;
}

/* --- what users send ------------------------------------------------------------------------ */

static void push_text(const struct tg_convert *context, struct tg_span text,
                      const struct tg_json *part, struct tg_json *blocks, const char *path)
{
    struct tg_json *block;

    if (text.len == 0) {
        note(context, TG_SEVERITY_INFO, "TEXT_EMPTY_DROPPED", path);
        return;
    }
    block = block_of("text");
    tg_json_set_span(block, "text", text);
    if (part != NULL)
        tg_json_set_copy(block, "cache_control", part, "cache_control");
    tg_json_push(blocks, block);
}

static bool is_image(const char *type)
{
    static const char *const types[] = {"image/jpeg", "image/png", "image/gif", "image/webp"};

    for (size_t i = 0; i < TG_COUNT_OF(types); i++)
        if (strcmp(types[i], type) == 0)
            return true;
    return false;
}

static struct tg_json *base64_source(const struct tg_media *media)
{
    struct tg_json *source = tg_json_new_object();

    tg_json_set_str(source, "type", "base64");
    tg_json_set_str(source, "media_type", media->type);
    tg_json_set_str(source, "data", media->data);
    return source;
}

static void push_image(const struct tg_convert *context, const struct tg_json *part,
                       const char *path, struct tg_json *blocks)
{
    const struct tg_json *image, *detail;
    struct tg_json *block, *source;
    struct tg_media media;
    struct tg_span url;

    if (tg_json_get_object(part, "image_url", &image) != TG_JSON_GOT)
        image = part; /* {"type":"image_url","image_url":"https://…"} of older clients */
    url = tg_hub_span(image, image == part ? "image_url" : "url");
    if (tg_json_get(image, "detail", &detail) == TG_JSON_GOT && !tg_hub_is(image, "detail", "auto"))
        note(context, TG_SEVERITY_INFO, "MEDIA_DETAIL_DROPPED", path);
    if (tg_media_is_url(url)) {
        source = tg_json_new_object();
        tg_json_set_str(source, "type", "url");
        tg_json_set_span(source, "url", url);
    } else if (tg_media_parse(context->arena, url, &media) && is_image(media.type)) {
        source = base64_source(&media);
    } else {
        note(context, TG_SEVERITY_ERROR, "MEDIA_TYPE_UNSUPPORTED", path);
        return;
    }
    block = block_of("image");
    tg_json_set(block, "source", source);
    tg_json_set_copy(block, "cache_control", part, "cache_control");
    tg_json_push(blocks, block);
}

static void push_file(const struct tg_convert *context, const struct tg_json *part,
                      const char *path, struct tg_json *blocks)
{
    const struct tg_json *file;
    struct tg_json *block, *source;
    struct tg_media media;
    struct tg_span data, name;

    if (tg_json_get_object(part, "file", &file) != TG_JSON_GOT ||
        !tg_hub_text(file, "file_data", &data)) {
        note(context, TG_SEVERITY_ERROR, "FILE_REF_UNRESOLVED", path);
        return;
    }
    if (!tg_media_parse(context->arena, data, &media) ||
        (strcmp(media.type, "application/pdf") != 0 && strncmp(media.type, "text/", 5) != 0)) {
        note(context, TG_SEVERITY_ERROR, "MEDIA_TYPE_UNSUPPORTED", path);
        return;
    }
    if (media.type[0] == 'a') {
        source = base64_source(&media);
    } else {
        source = tg_json_new_object();
        tg_json_set_str(source, "type", "text");
        tg_json_set_str(source, "media_type", "text/plain");
        tg_json_set_span(source, "data", tg_media_text(context->arena, &media));
    }
    block = block_of("document");
    tg_json_set(block, "source", source);
    if (tg_hub_text(file, "filename", &name))
        tg_json_set_span(block, "title", name);
    tg_json_push(blocks, block);
}

static void push_part(const struct tg_convert *context, const struct tg_json *part,
                      const char *path, struct tg_json *blocks)
{
    if (tg_hub_is(part, "type", "text"))
        push_text(context, tg_hub_span(part, "text"), part, blocks, path);
    else if (tg_hub_is(part, "type", "refusal")) {
        push_text(context, tg_hub_span(part, "refusal"), NULL, blocks, path);
        note(context, TG_SEVERITY_INFO, "REFUSAL_MAPPED", path);
    } else if (tg_hub_is(part, "type", "image_url"))
        push_image(context, part, path, blocks);
    else if (tg_hub_is(part, "type", "file"))
        push_file(context, part, path, blocks);
    else if (tg_hub_is(part, "type", "input_audio"))
        note(context, TG_SEVERITY_ERROR, "MEDIA_TYPE_UNSUPPORTED", path);
    else
        note(context, TG_SEVERITY_WARN, "PART_DROPPED", path);
}

void tg_chat_to_messages_blocks(const struct tg_convert *context, const struct tg_json *content,
                                const char *path, struct tg_json *blocks)
{
    struct tg_span text;

    if (tg_json_string(content, &text))
        push_text(context, text, NULL, blocks, path);
    for (size_t i = 0; i < tg_json_array_len(content); i++)
        push_part(context, tg_json_array_at(content, i),
                  tg_arena_printf(context->arena, "%s.content[%zu]", path, i), blocks);
}

/* --- what the assistant said ---------------------------------------------------------------- */

static size_t signed_without_text(const struct tg_json *details, const struct tg_json **ret)
{
    size_t count = 0;

    for (size_t i = 0; i < tg_json_array_len(details); i++) {
        const struct tg_json *entry = tg_json_array_at(details, i);

        if (tg_hub_span(entry, "signature").len > 0 && tg_hub_span(entry, "text").len == 0) {
            *ret = entry;
            count++;
        }
    }
    return count;
}

/* Clients that gather a stream keep text and signature in two entries of one index. */
static struct tg_span text_of_index(const struct tg_json *details, int64_t index)
{
    for (size_t i = 0; i < tg_json_array_len(details); i++) {
        const struct tg_json *entry = tg_json_array_at(details, i);

        if (tg_hub_int(entry, "index", -1) == index && tg_hub_span(entry, "text").len > 0)
            return tg_hub_span(entry, "text");
    }
    return (struct tg_span){"", 0};
}

static void push_thinking(struct tg_json *blocks, struct tg_span text, struct tg_span signature)
{
    struct tg_json *block = block_of("thinking");

    tg_json_set_span(block, "thinking", text);
    tg_json_set_span(block, "signature", signature);
    tg_json_push(blocks, block);
}

/* Only what Claude signed itself goes back to Claude. */
static bool push_detail(const struct tg_json *message, const struct tg_json *details,
                        const struct tg_json *entry, struct tg_json *blocks)
{
    struct tg_span signature = tg_hub_span(entry, "signature"), text = tg_hub_span(entry, "text");
    const struct tg_json *only = NULL;
    struct tg_json *block;

    if (!tg_hub_is(entry, "format", "anthropic-claude-v1"))
        return false;
    if (tg_hub_is(entry, "type", "reasoning.encrypted")) {
        block = block_of("redacted_thinking");
        tg_json_set_span(block, "data", tg_hub_span(entry, "data"));
        tg_json_push(blocks, block);
        return true;
    }
    if (signature.len == 0)
        return true; /* its text goes with the entry that has the signature */
    if (text.len == 0)
        text = text_of_index(details, tg_hub_int(entry, "index", -1));
    if (text.len == 0 && signed_without_text(details, &only) == 1)
        text = tg_hub_span(message, "reasoning_content");
    push_thinking(blocks, text, signature);
    return true;
}

static void push_reasoning(const struct tg_convert *context, const struct tg_json *message,
                           const char *path, struct tg_json *blocks)
{
    const struct tg_json *details;
    bool dropped = false;
    size_t before = tg_json_array_len(blocks);

    if (tg_json_get_array(message, "reasoning_details", &details) == TG_JSON_GOT)
        for (size_t i = 0; i < tg_json_array_len(details); i++)
            dropped |= !push_detail(message, details, tg_json_array_at(details, i), blocks);
    if (dropped || (tg_hub_span(message, "reasoning_content").len > 0 &&
                    tg_json_array_len(blocks) == before))
        note(context, TG_SEVERITY_INFO, "REASONING_DROPPED", path);
}

static void push_call(const struct tg_convert *context, const struct tg_json *call,
                      const char *path, struct tg_json *blocks)
{
    const struct tg_json *inner;
    struct tg_json *block = block_of("tool_use"), *input;
    struct tg_span id = tg_hub_span(call, "id");
    const char *made;

    if (tg_json_get_object(call, "function", &inner) != TG_JSON_GOT &&
        tg_json_get_object(call, "custom", &inner) != TG_JSON_GOT)
        inner = call;
    if (id.len == 0)
        id = tg_hub_span(inner, "name"); /* function_call of older clients */
    made = tg_call_id_make(context->arena, id, TG_CALL_ID_MOST);
    if (strlen(made) != id.len || memcmp(made, id.ptr, id.len) != 0)
        note(context, TG_SEVERITY_INFO, "TOOL_ID_REWRITTEN", path);
    tg_json_set_str(block, "id", made);
    tg_json_set_str(block, "name",
                    tg_toolset_hub_name(context, tg_hub_span(inner, "name")));
    if (tg_hub_is(call, "type", "custom")) {
        input = tg_json_new_object();
        tg_json_set_span(input, "input", tg_hub_span(inner, "input"));
    } else {
        input = tg_hub_arguments(context, tg_hub_span(inner, "arguments"), path);
    }
    tg_json_set(block, "input", input);
    tg_json_push(blocks, block);
}

static void push_calls(const struct tg_convert *context, const struct tg_json *message,
                       const char *path, struct tg_json *blocks)
{
    const struct tg_json *calls, *legacy;

    if (tg_json_get_array(message, "tool_calls", &calls) == TG_JSON_GOT)
        for (size_t i = 0; i < tg_json_array_len(calls); i++)
            push_call(context, tg_json_array_at(calls, i),
                      tg_arena_printf(context->arena, "%s.tool_calls[%zu]", path, i), blocks);
    if (tg_json_get_object(message, "function_call", &legacy) == TG_JSON_GOT)
        push_call(context, legacy, path, blocks);
}

struct tg_json *tg_chat_to_messages_assistant(const struct tg_convert *context,
                                              const struct tg_json *message, const char *path)
{
    struct tg_json *blocks = tg_json_new_array();
    const struct tg_json *content, *audio;
    struct tg_span text;

    push_reasoning(context, message, path, blocks);
    if (tg_json_get(message, "content", &content) == TG_JSON_GOT)
        tg_chat_to_messages_blocks(context, content, path, blocks);
    if (tg_hub_text(message, "refusal", &text)) {
        push_text(context, text, NULL, blocks, path);
        note(context, TG_SEVERITY_INFO, "REFUSAL_MAPPED", path);
    }
    if (tg_json_get_object(message, "audio", &audio) == TG_JSON_GOT)
        note(context, TG_SEVERITY_WARN, "PART_DROPPED", path);
    tg_citations_dropped(context, message, "annotations", path);
    push_calls(context, message, path, blocks);
    return blocks;
}
