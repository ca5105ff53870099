/* Parts and turns of Chat as parts and items of Responses (PROTOCOLS B6, B0.9). */
#include "fcgi-app/convert/chat_to_responses_request.h"
#include "fcgi-app/convert/hub.h"
#include "fcgi-app/convert/names.h"
#include "fcgi-app/convert/responses.h"

#include <string.h>

static void note(const struct tg_convert *context, enum tg_severity severity, const char *code,
                 const char *path)
{
    tg_diagnose(context->diagnostics, severity, code, path, "");
}

static struct tg_json *object_of(const char *type)
{
    struct tg_json *made = tg_json_new_object();

    tg_json_set_str(made, "type", type);
    return made;
}

/* --- what users send ------------------------------------------------------------------------ */

static void set_hint(const struct tg_convert *context, const struct tg_json *from,
                     struct tg_json *part, const char *path)
{
    const struct tg_json *hint;

    tg_json_set_copy(part, "prompt_cache_breakpoint", from, "prompt_cache_breakpoint");
    if (tg_json_get(from, "cache_control", &hint) == TG_JSON_GOT)
        note(context, TG_SEVERITY_INFO, "CACHE_HINT_DROPPED", path);
}

static void push_text(const struct tg_convert *context, struct tg_span text,
                      const struct tg_json *from, const char *path, struct tg_json *parts)
{
    struct tg_json *part;

    if (text.len == 0) {
        note(context, TG_SEVERITY_INFO, "TEXT_EMPTY_DROPPED", path);
        return;
    }
    part = object_of("input_text");
    tg_json_set_span(part, "text", text);
    if (from != NULL)
        set_hint(context, from, part, path);
    tg_json_push(parts, part);
}

static void push_image(const struct tg_convert *context, const struct tg_json *from,
                       const char *path, struct tg_json *parts)
{
    const struct tg_json *image;
    struct tg_json *part;
    struct tg_span detail;

    if (tg_json_get_object(from, "image_url", &image) != TG_JSON_GOT)
        image = from; /* {"type":"image_url","image_url":"https://…"} of older clients */
    part = object_of("input_image");
    tg_json_set_span(part, "image_url", tg_hub_span(image, image == from ? "image_url" : "url"));
    if (tg_hub_text(image, "detail", &detail))
        tg_json_set_span(part, "detail", detail);
    else
        tg_json_set_str(part, "detail", "auto"); /* the types want one */
    set_hint(context, from, part, path);
    tg_json_push(parts, part);
}

static void push_file(const struct tg_convert *context, const struct tg_json *from,
                      const char *path, struct tg_json *parts)
{
    static const char *const keys[] = {"filename", "file_data", "file_id"};
    const struct tg_json *file;
    struct tg_json *part;

    if (tg_json_get_object(from, "file", &file) != TG_JSON_GOT) {
        note(context, TG_SEVERITY_ERROR, "FILE_REF_UNRESOLVED", path);
        return;
    }
    part = object_of("input_file");
    for (size_t i = 0; i < TG_COUNT_OF(keys); i++)
        tg_json_set_copy(part, keys[i], file, keys[i]);
    set_hint(context, from, part, path);
    tg_json_push(parts, part);
}

static void push_part(const struct tg_convert *context, const struct tg_json *part,
                      const char *path, struct tg_json *parts)
{
    if (tg_hub_is(part, "type", "text"))
        push_text(context, tg_hub_span(part, "text"), part, path, parts);
    else if (tg_hub_is(part, "type", "image_url"))
        push_image(context, part, path, parts);
    else if (tg_hub_is(part, "type", "file"))
        push_file(context, part, path, parts);
    else if (tg_hub_is(part, "type", "input_audio"))
        note(context, TG_SEVERITY_ERROR, "MEDIA_TYPE_UNSUPPORTED", path);
    else
        note(context, TG_SEVERITY_WARN, "PART_DROPPED", path);
}

void tg_chat_to_responses_parts(const struct tg_convert *context, const struct tg_json *content,
                                const char *path, struct tg_json *parts)
{
    struct tg_span text;

    if (tg_json_string(content, &text))
        push_text(context, text, NULL, path, parts);
    for (size_t i = 0; i < tg_json_array_len(content); i++)
        push_part(context, tg_json_array_at(content, i),
                  tg_arena_printf(context->arena, "%s.content[%zu]", path, i), parts);
}

/* --- what the assistant said ---------------------------------------------------------------- */

/* Only what OpenAI encrypted itself goes back, without ids: nothing was stored under them. The
 * text goes with the first. */
static void push_reasoning(const struct tg_convert *context, const struct tg_json *message,
                           const char *path, struct tg_json *items)
{
    struct tg_span text = tg_hub_span(message, "reasoning_content"), data;
    const struct tg_json *details;
    bool replayed = false, dropped = false;

    if (tg_json_get_array(message, "reasoning_details", &details) == TG_JSON_GOT)
        for (size_t i = 0; i < tg_json_array_len(details); i++) {
            const struct tg_json *entry = tg_json_array_at(details, i);
            struct tg_json *item, *summary;

            if (!tg_hub_is(entry, "format", "openai-responses-v1") ||
                !tg_hub_text(entry, "data", &data)) {
                dropped = true;
                continue;
            }
            item = object_of("reasoning");
            summary = tg_json_new_array();
            if (!replayed && text.len > 0)
                tg_json_push(summary, tg_response_summary(text));
            tg_json_set(item, "summary", summary);
            tg_json_set_span(item, "encrypted_content", data);
            tg_json_push(items, item);
            replayed = true;
        }
    if (dropped || (text.len > 0 && !replayed))
        note(context, TG_SEVERITY_INFO, "REASONING_DROPPED", path);
}

static void push_output_text(struct tg_json *parts, struct tg_span text)
{
    struct tg_json *part;

    if (text.len == 0)
        return;
    part = object_of("output_text");
    tg_json_set_span(part, "text", text);
    tg_json_set(part, "annotations", tg_json_new_array());
    tg_json_push(parts, part);
}

static void push_refusal(struct tg_json *parts, struct tg_span text)
{
    if (text.len > 0)
        tg_json_push(parts, tg_response_refusal_part(text));
}

static void push_message(const struct tg_convert *context, const struct tg_json *message,
                         const char *path, struct tg_json *items)
{
    struct tg_json *parts = tg_json_new_array(), *item;
    const struct tg_json *content = NULL;
    struct tg_span text;

    if (tg_json_get(message, "content", &content) == TG_JSON_GOT &&
        tg_json_string(content, &text))
        push_output_text(parts, text);
    for (size_t i = 0; content != NULL && i < tg_json_array_len(content); i++) {
        const struct tg_json *part = tg_json_array_at(content, i);

        if (tg_hub_is(part, "type", "text"))
            push_output_text(parts, tg_hub_span(part, "text"));
        else if (tg_hub_is(part, "type", "refusal"))
            push_refusal(parts, tg_hub_span(part, "refusal"));
        else
            note(context, TG_SEVERITY_WARN, "PART_DROPPED", path);
    }
    push_refusal(parts, tg_hub_span(message, "refusal"));
    if (tg_json_array_len(parts) == 0) {
        tg_json_free(parts);
        return;
    }
    item = object_of("message");
    tg_json_set_str(item, "role", "assistant");
    tg_json_set(item, "content", parts);
    tg_json_push(items, item);
}

/* --- calls ---------------------------------------------------------------------------------- */

static const struct tg_json *inner_of(const struct tg_json *call)
{
    const struct tg_json *inner;

    if (tg_json_get_object(call, "function", &inner) == TG_JSON_GOT ||
        tg_json_get_object(call, "custom", &inner) == TG_JSON_GOT)
        return inner;
    return call;
}

bool tg_chat_to_responses_is_custom(const struct tg_convert *context, const struct tg_json *call)
{
    struct tg_span name = tg_hub_span(inner_of(call), "name");
    const struct tg_tool_form *tool;

    if (tg_hub_is(call, "type", "custom"))
        return true;
    if (context->tools == NULL)
        return false;
    tool = tg_toolset_find(context->tools,
                           tg_arena_strndup(context->arena, name.ptr, name.len));
    return tool != NULL && tool->kind == TG_TOOL_CUSTOM;
}

static void set_input(struct tg_json *item, const struct tg_json *inner)
{
    struct tg_buf text;

    if (tg_hub_span(inner, "arguments").len == 0) {
        tg_json_set_span(item, "input", tg_hub_span(inner, "input"));
        return;
    }
    tg_buf_init(&text, 0);
    tg_response_unwrap_input(tg_hub_span(inner, "arguments"), &text);
    tg_json_set_span(item, "input", (struct tg_span){tg_buf_text(&text), text.len});
    tg_buf_done(&text);
}

static void push_call(const struct tg_convert *context, const struct tg_json *call,
                      const char *path, struct tg_json *items)
{
    bool custom = tg_chat_to_responses_is_custom(context, call);
    struct tg_json *item = object_of(custom ? "custom_tool_call" : "function_call");
    const struct tg_json *inner = inner_of(call);
    struct tg_span id = tg_hub_span(call, "id"), arguments = tg_hub_span(inner, "arguments");
    const char *made;

    if (id.len == 0)
        id = tg_hub_span(inner, "name"); /* function_call of older clients */
    made = tg_call_id_make(context->arena, id, TG_CALL_ID_MOST);
    if (strlen(made) != id.len)
        note(context, TG_SEVERITY_INFO, "TOOL_ID_REWRITTEN", path);
    tg_json_set_str(item, "call_id", made);
    tg_json_set_str(item, "name", tg_toolset_wire_name(context, tg_hub_span(inner, "name")));
    if (custom)
        set_input(item, inner);
    else
        tg_json_set_span(item, "arguments",
                         arguments.len > 0 ? arguments : (struct tg_span){"{}", 2});
    tg_json_push(items, item);
}

void tg_chat_to_responses_assistant(const struct tg_convert *context,
                                    const struct tg_json *message, const char *path,
                                    struct tg_json *items)
{
    struct tg_json *said = tg_json_new_array();
    const struct tg_json *calls, *legacy;

    push_message(context, message, path, said);
    if (tg_json_get_array(message, "tool_calls", &calls) == TG_JSON_GOT)
        for (size_t i = 0; i < tg_json_array_len(calls); i++)
            push_call(context, tg_json_array_at(calls, i),
                      tg_arena_printf(context->arena, "%s.tool_calls[%zu]", path, i), said);
    if (tg_json_get_object(message, "function_call", &legacy) == TG_JSON_GOT)
        push_call(context, legacy, path, said);
    /* A reasoning item without the item that it led to is refused. */
    if (tg_json_array_len(said) > 0)
        push_reasoning(context, message, path, items);
    else if (tg_hub_span(message, "reasoning_content").len > 0)
        note(context, TG_SEVERITY_INFO, "REASONING_DROPPED", path);
    for (size_t i = 0; i < tg_json_array_len(said); i++)
        tg_json_push(items, tg_json_copy(tg_json_array_at(said, i)));
    tg_json_free(said);
}
