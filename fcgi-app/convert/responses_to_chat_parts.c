/* Parts and items of Responses as parts and turns of Chat (PROTOCOLS B5, B0.9, 0.3). */
#include "fcgi-app/convert/envelope.h"
#include "fcgi-app/convert/hub.h"
#include "fcgi-app/convert/names.h"
#include "fcgi-app/convert/responses_to_chat.h"

#include <string.h>

static void note(const struct tg_convert *context, enum tg_severity severity, const char *code,
                 const char *path)
{
    tg_diagnose(context->diagnostics, severity, code, path, "");
}

static struct tg_json *part_of(const char *type)
{
    struct tg_json *part = tg_json_new_object();

    tg_json_set_str(part, "type", type);
    return part;
}

/* --- what users send ------------------------------------------------------------------------ */

/* A breakpoint of the cache where the target has such a thing. */
static void set_breakpoint(const struct tg_convert *context, const struct tg_json *from,
                           struct tg_json *part)
{
    const struct tg_json *hint;
    struct tg_json *control;

    if (tg_json_get_object(from, "prompt_cache_breakpoint", &hint) != TG_JSON_GOT)
        return;
    if (context->upstream != TG_PROTOCOL_MESSAGES) {
        tg_json_set(part, "prompt_cache_breakpoint", tg_json_copy(hint));
        return;
    }
    control = part_of("ephemeral");
    tg_json_set(part, "cache_control", control);
}

static void push_text(const struct tg_convert *context, const struct tg_json *from,
                      const char *path, struct tg_json *parts)
{
    struct tg_span text = tg_hub_span(from, "text");
    struct tg_json *part;

    if (text.len == 0) {
        note(context, TG_SEVERITY_INFO, "TEXT_EMPTY_DROPPED", path);
        return;
    }
    part = part_of("text");
    tg_json_set_span(part, "text", text);
    set_breakpoint(context, from, part);
    tg_json_push(parts, part);
}

static void push_image(const struct tg_convert *context, const struct tg_json *from,
                       const char *path, struct tg_json *parts)
{
    struct tg_json *part, *image;
    struct tg_span url;

    if (!tg_hub_text(from, "image_url", &url)) {
        note(context, TG_SEVERITY_ERROR, "FILE_REF_UNRESOLVED", path);
        return;
    }
    part = part_of("image_url");
    image = tg_json_new_object();
    tg_json_set_span(image, "url", url);
    if (tg_hub_is(from, "detail", "original"))
        note(context, TG_SEVERITY_INFO, "MEDIA_DETAIL_DROPPED", path);
    else
        tg_json_set_copy(image, "detail", from, "detail");
    tg_json_set(part, "image_url", image);
    set_breakpoint(context, from, part);
    tg_json_push(parts, part);
}

static void push_file(const struct tg_convert *context, const struct tg_json *from,
                      const char *path, struct tg_json *parts)
{
    static const char *const keys[] = {"filename", "file_data", "file_id"};
    struct tg_json *part, *file;
    struct tg_span text;

    if (tg_hub_text(from, "file_url", &text)) {
        note(context, TG_SEVERITY_ERROR, "MEDIA_URL_UNSUPPORTED", path);
        return;
    }
    part = part_of("file");
    file = tg_json_new_object();
    for (size_t i = 0; i < TG_COUNT_OF(keys); i++)
        if (tg_hub_text(from, keys[i], &text))
            tg_json_set_span(file, keys[i], text);
    tg_json_set(part, "file", file);
    set_breakpoint(context, from, part);
    tg_json_push(parts, part);
}

void tg_responses_to_chat_part(const struct tg_convert *context, const struct tg_json *part,
                               const char *path, struct tg_json *parts)
{
    if (tg_hub_is(part, "type", "input_text") || tg_hub_is(part, "type", "output_text") ||
        tg_hub_is(part, "type", "text"))
        push_text(context, part, path, parts);
    else if (tg_hub_is(part, "type", "input_image"))
        push_image(context, part, path, parts);
    else if (tg_hub_is(part, "type", "input_file"))
        push_file(context, part, path, parts);
    else if (tg_hub_is(part, "type", "input_audio"))
        tg_json_push(parts, tg_json_copy(part));
    else
        note(context, TG_SEVERITY_WARN, "PART_DROPPED", path);
}

/* --- the assistant's turn ------------------------------------------------------------------- */

void tg_turn_begin(struct tg_turn *turn, const struct tg_convert *context)
{
    *turn = (struct tg_turn){.context = context,
                             .details = tg_json_new_array(),
                             .calls = tg_json_new_array()};
    tg_buf_init(&turn->text, 0);
    tg_buf_init(&turn->refusal, 0);
    tg_buf_init(&turn->reasoning, 0);
}

void tg_turn_done(struct tg_turn *turn)
{
    tg_buf_done(&turn->text);
    tg_buf_done(&turn->refusal);
    tg_buf_done(&turn->reasoning);
    tg_json_free(turn->details);
    tg_json_free(turn->calls);
}

bool tg_turn_has_calls(const struct tg_turn *turn)
{
    return tg_json_array_len(turn->calls) > 0;
}

static void add(struct tg_buf *to, struct tg_span text)
{
    tg_buf_add(to, text.ptr, text.len);
}

void tg_turn_add_message(struct tg_turn *turn, const struct tg_json *item, const char *path)
{
    const struct tg_json *content;
    struct tg_span text;

    if (tg_json_get(item, "content", &content) != TG_JSON_GOT)
        return;
    if (tg_json_string(content, &text))
        add(&turn->text, text);
    for (size_t i = 0; i < tg_json_array_len(content); i++) {
        const struct tg_json *part = tg_json_array_at(content, i);

        if (tg_hub_is(part, "type", "refusal"))
            add(&turn->refusal, tg_hub_span(part, "refusal"));
        else if (tg_hub_span(part, "text").len > 0)
            add(&turn->text, tg_hub_span(part, "text"));
        else if (tg_hub_is(part, "type", "output_text"))
            note(turn->context, TG_SEVERITY_INFO, "TEXT_EMPTY_DROPPED", path);
        else
            note(turn->context, TG_SEVERITY_WARN, "PART_DROPPED", path);
    }
}

/* --- reasoning ------------------------------------------------------------------------------ */

/* The texts of content[], else those of summary[], with blank lines between. */
static void read_texts(const struct tg_json *item, struct tg_buf *out)
{
    static const char *const keys[] = {"content", "summary"};
    const struct tg_json *list;

    for (size_t i = 0; i < TG_COUNT_OF(keys) && out->len == 0; i++) {
        if (tg_json_get_array(item, keys[i], &list) != TG_JSON_GOT)
            continue;
        for (size_t k = 0; k < tg_json_array_len(list); k++) {
            struct tg_span text = tg_hub_span(tg_json_array_at(list, k), "text");

            if (text.len > 0 && out->len > 0)
                tg_buf_str(out, "\n\n");
            add(out, text);
        }
    }
}

/* Takes <entry>. */
static void push_detail(struct tg_turn *turn, const char *type, const char *format,
                        struct tg_json *entry)
{
    tg_json_set_str(entry, "type", type);
    tg_json_set_str(entry, "format", format);
    tg_json_set_int(entry, "index", (int64_t)tg_json_array_len(turn->details));
    tg_json_push(turn->details, entry);
}

/* What another family signed goes back to it alone. */
static void read_envelope(struct tg_turn *turn, enum tg_origin origin, struct tg_span payload,
                          struct tg_span text)
{
    struct tg_json *entry;

    if (origin == TG_ORIGIN_GEMINI) {
        turn->signature = (struct tg_span){
            tg_arena_strndup(turn->context->arena, payload.ptr, payload.len), payload.len};
    } else if (origin == TG_ORIGIN_CLAUDE) {
        entry = tg_json_new_object();
        tg_json_set_span(entry, "text", text);
        tg_json_set_span(entry, "signature", payload);
        push_detail(turn, "reasoning.text", "anthropic-claude-v1", entry);
    } else if (origin == TG_ORIGIN_REDACTED) {
        entry = tg_json_new_object();
        tg_json_set_span(entry, "data", payload);
        push_detail(turn, "reasoning.encrypted", "anthropic-claude-v1", entry);
    }
}

static void read_encrypted(struct tg_turn *turn, const struct tg_json *item, struct tg_span text,
                           const char *path)
{
    struct tg_span data = tg_hub_span(item, "encrypted_content");
    enum tg_origin origin;
    struct tg_json *entry;
    struct tg_buf payload;

    if (data.len == 0)
        return;
    tg_buf_init(&payload, 0);
    if (tg_envelope_unwrap(data, &origin, &payload)) {
        read_envelope(turn, origin, (struct tg_span){tg_buf_text(&payload), payload.len}, text);
    } else {
        entry = tg_json_new_object();
        tg_json_set_copy(entry, "id", item, "id");
        tg_json_set_span(entry, "data", data);
        push_detail(turn, "reasoning.encrypted", "openai-responses-v1", entry);
        note(turn->context, TG_SEVERITY_INFO, "REASONING_SIG_FOREIGN", path);
    }
    tg_buf_done(&payload);
}

void tg_turn_add_reasoning(struct tg_turn *turn, const struct tg_json *item, const char *path)
{
    struct tg_buf text;
    struct tg_span said;

    tg_buf_init(&text, 0);
    read_texts(item, &text);
    said = (struct tg_span){tg_buf_text(&text), text.len};
    if (said.len > 0 && turn->reasoning.len > 0)
        tg_buf_str(&turn->reasoning, "\n\n");
    add(&turn->reasoning, said);
    read_encrypted(turn, item, said, path);
    tg_buf_done(&text);
}

/* --- calls ---------------------------------------------------------------------------------- */

static void set_signature(struct tg_turn *turn, struct tg_json *call)
{
    struct tg_json *extra, *google;

    if (turn->signature.len == 0)
        return;
    extra = tg_json_new_object();
    google = tg_json_new_object();
    tg_json_set_span(google, "thought_signature", turn->signature);
    tg_json_set(extra, "google", google);
    tg_json_set(call, "extra_content", extra);
    turn->signature.len = 0;
}

static const char *wire_name(const struct tg_convert *context, const struct tg_json *item)
{
    struct tg_span name = tg_hub_span(item, "name"), space = tg_hub_span(item, "namespace");
    const char *joined;

    if (space.len == 0)
        return tg_toolset_wire_name(context, name);
    joined = tg_arena_printf(context->arena, "%.*s__%.*s", (int)space.len, space.ptr,
                             (int)name.len, name.ptr);
    return tg_toolset_wire_name(context, (struct tg_span){joined, strlen(joined)});
}

static void set_arguments(const struct tg_json *item, struct tg_json *function)
{
    struct tg_span text = tg_hub_span(item, "arguments");
    struct tg_json *wrapped;
    struct tg_buf json;

    if (!tg_hub_is(item, "type", "custom_tool_call")) {
        tg_json_set_span(function, "arguments", text.len > 0 ? text : (struct tg_span){"{}", 2});
        return;
    }
    wrapped = tg_json_new_object();
    tg_json_set_span(wrapped, "input", tg_hub_span(item, "input"));
    tg_buf_init(&json, 0);
    tg_json_print(wrapped, &json);
    tg_json_set_span(function, "arguments", (struct tg_span){tg_buf_text(&json), json.len});
    tg_buf_done(&json);
    tg_json_free(wrapped);
}

void tg_turn_add_call(struct tg_turn *turn, const struct tg_json *item, const char *path)
{
    struct tg_json *call = tg_json_new_object(), *function = tg_json_new_object();
    struct tg_span id = tg_hub_span(item, "call_id");
    const char *made = tg_call_id_make(turn->context->arena, id, TG_CALL_ID_CHAT);

    if (strlen(made) != id.len)
        note(turn->context, TG_SEVERITY_INFO, "TOOL_ID_REWRITTEN", path);
    if (tg_hub_is(item, "type", "custom_tool_call"))
        note(turn->context, TG_SEVERITY_INFO, "TOOL_CUSTOM_WRAPPED", path);
    tg_json_set_str(call, "id", made);
    tg_json_set_str(call, "type", "function");
    tg_json_set_str(function, "name", wire_name(turn->context, item));
    set_arguments(item, function);
    tg_json_set(call, "function", function);
    set_signature(turn, call);
    tg_json_push(turn->calls, call);
}

/* --- the message ---------------------------------------------------------------------------- */

static void set_text(struct tg_json *message, const char *key, const struct tg_buf *text)
{
    if (text->len > 0)
        tg_json_set_span(message, key, (struct tg_span){tg_buf_text(text), text->len});
}

struct tg_json *tg_turn_take(struct tg_turn *turn)
{
    const struct tg_convert *context = turn->context;
    struct tg_json *message = NULL;

    if (turn->text.len > 0 || turn->refusal.len > 0 || tg_turn_has_calls(turn)) {
        message = tg_json_new_object();
        tg_json_set_str(message, "role", "assistant");
        if (turn->text.len == 0)
            tg_json_set_null(message, "content"); /* never "": some servers refuse it */
        set_text(message, "content", &turn->text);
        set_text(message, "refusal", &turn->refusal);
        set_text(message, "reasoning_content", &turn->reasoning);
        tg_hub_set_list(message, "reasoning_details", turn->details);
        tg_hub_set_list(message, "tool_calls", turn->calls);
        turn->details = turn->calls = NULL;
    }
    if (turn->details != NULL) {
        tg_json_free(turn->details);
        tg_json_free(turn->calls);
    }
    tg_buf_done(&turn->text);
    tg_buf_done(&turn->refusal);
    tg_buf_done(&turn->reasoning);
    tg_turn_begin(turn, context);
    return message;
}
