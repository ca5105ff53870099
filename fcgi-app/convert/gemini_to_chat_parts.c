/* Parts of Gemini as parts and messages of Chat (PROTOCOLS B3, B0.9). */
#include "fcgi-app/convert/envelope.h"
#include "fcgi-app/convert/gemini_hub.h"
#include "fcgi-app/convert/gemini_to_chat.h"
#include "fcgi-app/convert/media.h"
#include "fcgi-app/convert/names.h"
#include "fcgi-app/convert/sha256.h"

#include <string.h>
#include <strings.h>

static void note(const struct tg_convert *context, enum tg_severity severity, const char *code,
                 const char *path)
{
    tg_diagnose(context->diagnostics, severity, code, path, "");
}

static bool begins(struct tg_span text, const char *prefix)
{
    size_t len = strlen(prefix);

    return text.len >= len && strncasecmp(text.ptr, prefix, len) == 0;
}

static void push_text(struct tg_span text, struct tg_json *parts)
{
    struct tg_json *part = tg_json_new_object();

    tg_json_set_str(part, "type", "text");
    tg_json_set_span(part, "text", text);
    tg_json_push(parts, part);
}

/* --- media ---------------------------------------------------------------------------------- */

static const char *data_url(const struct tg_convert *context, struct tg_span type,
                            struct tg_span data)
{
    struct tg_buf url;
    const char *made;

    tg_buf_init(&url, 0);
    tg_buf_str(&url, "data:");
    tg_buf_add(&url, type.ptr, type.len);
    tg_buf_str(&url, ";base64,");
    tg_buf_add(&url, data.ptr, data.len);
    made = tg_arena_strndup(context->arena, tg_buf_text(&url), url.len);
    tg_buf_done(&url);
    return made;
}

/* Takes <inner>. */
static void push_part(const char *type, struct tg_json *inner, struct tg_json *parts)
{
    struct tg_json *part = tg_json_new_object();

    tg_json_set_str(part, "type", type);
    tg_json_set(part, type, inner);
    tg_json_push(parts, part);
}

static void push_image(const char *url, const char *detail, struct tg_json *parts)
{
    struct tg_json *image = tg_json_new_object();

    tg_json_set_str(image, "url", url);
    if (detail != NULL)
        tg_json_set_str(image, "detail", detail);
    push_part("image_url", image, parts);
}

static bool push_audio(struct tg_span type, struct tg_span data, struct tg_json *parts)
{
    static const char *const formats[][2] = {{"audio/wav", "wav"},  {"audio/x-wav", "wav"},
                                             {"audio/mp3", "mp3"},  {"audio/mpeg", "mp3"},
                                             {"audio/wave", "wav"}};
    struct tg_json *audio;

    for (size_t i = 0; i < TG_COUNT_OF(formats); i++)
        if (begins(type, formats[i][0]) && type.len == strlen(formats[i][0])) {
            audio = tg_json_new_object();
            tg_json_set_span(audio, "data", data);
            tg_json_set_str(audio, "format", formats[i][1]);
            push_part("input_audio", audio, parts);
            return true;
        }
    return false;
}

static void push_pdf(const struct tg_convert *context, const struct tg_json *blob,
                     struct tg_span data, struct tg_json *parts)
{
    struct tg_json *file = tg_json_new_object();
    struct tg_span name = tg_gemini_text(blob, "displayName");

    if (name.len == 0)
        name = (struct tg_span){"document.pdf", 12};
    tg_json_set_span(file, "filename", name);
    tg_json_set_str(file, "file_data",
                    data_url(context, (struct tg_span){"application/pdf", 15}, data));
    push_part("file", file, parts);
}

static void push_blob(const struct tg_convert *context, const struct tg_json *blob,
                      const char *path, const char *detail, struct tg_json *parts)
{
    struct tg_span type = tg_gemini_text(blob, "mimeType"), data = tg_gemini_text(blob, "data");
    struct tg_span bytes;

    if (begins(type, "image/")) {
        push_image(data_url(context, type, data), detail, parts);
    } else if (tg_span_is(type, "application/pdf")) {
        push_pdf(context, blob, data, parts);
    } else if (begins(type, "text/") && tg_media_bytes(context->arena, data, &bytes) &&
               tg_media_is_text(bytes)) {
        push_text(bytes, parts);
        note(context, TG_SEVERITY_INFO, "PART_DEGRADED", path);
    } else if (!push_audio(type, data, parts)) {
        note(context, TG_SEVERITY_ERROR, "MEDIA_TYPE_UNSUPPORTED", path);
    }
}

/* A file of Google's own is nobody else's. */
static void push_file(const struct tg_convert *context, const struct tg_json *file,
                      const char *path, const char *detail, struct tg_json *parts)
{
    struct tg_span uri = tg_gemini_text(file, "fileUri"), type = tg_gemini_text(file, "mimeType");

    if (tg_media_is_url(uri) && begins(type, "image/"))
        push_image(tg_arena_strndup(context->arena, uri.ptr, uri.len), detail, parts);
    else
        note(context, TG_SEVERITY_ERROR, "FILE_REF_UNRESOLVED", path);
}

/* --- code ----------------------------------------------------------------------------------- */

static void add_code(const struct tg_json *code, struct tg_buf *out)
{
    struct tg_span text = tg_gemini_text(code, "code");

    tg_buf_str(out, tg_span_is(tg_gemini_text(code, "language"), "PYTHON") ? "```python\n"
                                                                           : "```\n");
    tg_buf_add(out, text.ptr, text.len);
    tg_buf_str(out, "\n```\n");
}

static void add_result(const struct tg_json *result, struct tg_buf *out)
{
    struct tg_span text = tg_gemini_text(result, "output");

    tg_buf_str(out, "```\n");
    tg_buf_add(out, text.ptr, text.len);
    tg_buf_str(out, "\n```\n");
}

/* Code that Google ran, and what it gave, as text. False: the part is neither. */
static bool read_code(const struct tg_convert *context, const struct tg_json *part,
                      const char *path, struct tg_buf *out)
{
    const struct tg_json *code = tg_gemini_object(part, "executableCode");
    const struct tg_json *result = tg_gemini_object(part, "codeExecutionResult");

    if (code == NULL && result == NULL)
        return false;
    if (code != NULL)
        add_code(code, out);
    else
        add_result(result, out);
    note(context, TG_SEVERITY_WARN, "PART_DEGRADED", path);
    return true;
}

/* --- what users send ------------------------------------------------------------------------ */

void tg_gemini_to_chat_part(const struct tg_convert *context, const struct tg_json *part,
                            const char *path, const char *detail, struct tg_json *parts)
{
    const struct tg_json *blob = tg_gemini_object(part, "inlineData");
    const struct tg_json *file = tg_gemini_object(part, "fileData");
    struct tg_span text = tg_gemini_text(part, "text");
    struct tg_buf code;

    tg_buf_init(&code, 0);
    if (tg_gemini_object(part, "videoMetadata") != NULL)
        note(context, TG_SEVERITY_INFO, "BLOCK_DROPPED", path);
    if (blob != NULL)
        push_blob(context, blob, path, detail, parts);
    else if (file != NULL)
        push_file(context, file, path, detail, parts);
    else if (text.len > 0)
        push_text(text, parts);
    else if (read_code(context, part, path, &code))
        push_text((struct tg_span){code.data, code.len}, parts);
    else if (tg_gemini_get(part, "text") == NULL)
        note(context, TG_SEVERITY_WARN, "BLOCK_DROPPED", path);
    else
        note(context, TG_SEVERITY_INFO, "TEXT_EMPTY_DROPPED", path);
    tg_buf_done(&code);
}

/* --- what the model said -------------------------------------------------------------------- */

struct tg_gemini_turn {
    const struct tg_convert *context;
    struct tg_buf text, thoughts;
    size_t signed_thoughts; /* of thoughts: what a signature before was for */
    struct tg_json *details, *calls;
};

struct tg_gemini_turn *tg_gemini_turn_open(const struct tg_convert *context)
{
    struct tg_gemini_turn *turn = tg_arena_calloc(context->arena, 1, sizeof *turn);

    turn->context = context;
    tg_buf_init(&turn->text, 0);
    tg_buf_init(&turn->thoughts, 0);
    turn->details = tg_json_new_array();
    turn->calls = tg_json_new_array();
    return turn;
}

static struct tg_json *detail_of(const char *type, const char *format, size_t index)
{
    struct tg_json *entry = tg_json_new_object();

    tg_json_set_str(entry, "type", type);
    tg_json_set_str(entry, "format", format);
    tg_json_set_int(entry, "index", (int64_t)index);
    return entry;
}

/* A signature of Claude's is for the thoughts since the signature before. */
static struct tg_json *claude_detail(struct tg_gemini_turn *turn, struct tg_span signature)
{
    struct tg_json *entry =
        detail_of("reasoning.text", "anthropic-claude-v1", tg_json_array_len(turn->details));

    tg_json_set_span(entry, "text",
                     (struct tg_span){tg_buf_text(&turn->thoughts) + turn->signed_thoughts,
                                      turn->thoughts.len - turn->signed_thoughts});
    tg_json_set_span(entry, "signature", signature);
    turn->signed_thoughts = turn->thoughts.len;
    return entry;
}

static struct tg_json *openai_detail(const struct tg_gemini_turn *turn, struct tg_span payload)
{
    struct tg_json *parsed, *entry;

    if (tg_json_parse(payload.ptr, payload.len, &parsed, NULL) != TG_OK)
        return NULL;
    entry = detail_of("reasoning.encrypted", "openai-responses-v1",
                      tg_json_array_len(turn->details));
    tg_json_set_copy(entry, "id", parsed, "id");
    tg_json_set_copy(entry, "data", parsed, "e");
    tg_json_free(parsed);
    return entry;
}

static struct tg_json *foreign_detail(struct tg_gemini_turn *turn, enum tg_origin origin,
                                      struct tg_span payload)
{
    struct tg_json *entry;

    switch (origin) {
    case TG_ORIGIN_CLAUDE:
        return claude_detail(turn, payload);
    case TG_ORIGIN_REDACTED:
        entry = detail_of("reasoning.encrypted", "anthropic-claude-v1",
                          tg_json_array_len(turn->details));
        tg_json_set_span(entry, "data", payload);
        return entry;
    case TG_ORIGIN_OPENAI:
        return openai_detail(turn, payload);
    default:
        return NULL;
    }
}

/* In Gemini's slot, which holds bytes, an envelope is in base64 once more. */
static bool unwrap(const struct tg_convert *context, struct tg_span signature,
                   enum tg_origin *ret_origin, struct tg_buf *payload)
{
    struct tg_span bytes;

    return begins(signature, "Z3cxL") && tg_media_bytes(context->arena, signature, &bytes) &&
           tg_envelope_unwrap(bytes, ret_origin, payload);
}

static void read_signature(struct tg_gemini_turn *turn, struct tg_span signature)
{
    struct tg_json *entry = NULL;
    struct tg_buf payload;
    enum tg_origin origin;

    if (signature.len == 0 || tg_span_is(signature, TG_GEMINI_NO_SIGNATURE))
        return;
    tg_buf_init(&payload, 0);
    if (!unwrap(turn->context, signature, &origin, &payload))
        entry = tg_gemini_detail(signature);
    else if (tg_media_is_text((struct tg_span){tg_buf_text(&payload), payload.len}))
        entry = foreign_detail(turn, origin,
                               (struct tg_span){tg_buf_text(&payload), payload.len});
    if (entry != NULL)
        tg_json_push(turn->details, entry);
    tg_buf_done(&payload);
}

/* The same for the same place, another one for every other: no id is used twice. */
static const char *made_id(const struct tg_convert *context, struct tg_span name, size_t at,
                           size_t part_at)
{
    const char *key = tg_arena_printf(context->arena, "%zu.%zu.%.*s", at, part_at,
                                      (int)TG_MIN(name.len, 200), name.ptr);
    char hash[TG_SHA256_HEX];

    tg_convert_sha256_hex((struct tg_span){key, strlen(key)}, hash);
    return tg_arena_printf(context->arena, "call_h%.16s", hash);
}

static void read_call(struct tg_gemini_turn *turn, const struct tg_json *part,
                      const struct tg_json *said, const char *id)
{
    struct tg_json *call = tg_json_new_object(), *function = tg_json_new_object();
    struct tg_span signature = tg_gemini_text(part, "thoughtSignature");
    const struct tg_json *args = tg_gemini_object(said, "args");
    struct tg_buf text;

    tg_json_set_str(call, "id", id);
    tg_json_set_str(call, "type", "function");
    tg_json_set_str(function, "name",
                    tg_toolset_wire_name(turn->context, tg_gemini_text(said, "name")));
    tg_buf_init(&text, 0);
    if (args != NULL)
        tg_json_print(args, &text);
    else
        tg_buf_str(&text, "{}");
    tg_json_set_span(function, "arguments", (struct tg_span){text.data, text.len});
    tg_buf_done(&text);
    tg_json_set(call, "function", function);
    if (signature.len > 0 && !tg_span_is(signature, TG_GEMINI_NO_SIGNATURE))
        tg_json_set(call, "extra_content", tg_gemini_extra(signature));
    tg_json_push(turn->calls, call);
}

static const char *call_id(struct tg_gemini_turn *turn, const struct tg_json *said, size_t at,
                           size_t part_at)
{
    const struct tg_convert *context = turn->context;
    struct tg_span id = tg_gemini_text(said, "id");
    const char *made;

    if (id.len == 0)
        return made_id(context, tg_gemini_text(said, "name"), at, part_at);
    made = tg_call_id_make(context->arena, id, TG_CALL_ID_CHAT);
    if (!tg_span_is(id, made))
        note(context, TG_SEVERITY_INFO, "TOOL_ID_REWRITTEN",
             tg_arena_printf(context->arena, "contents[%zu].parts[%zu]", at, part_at));
    return made;
}

void tg_gemini_turn_part(struct tg_gemini_turn *turn, const struct tg_json *part, size_t at,
                         size_t part_at)
{
    const struct tg_json *call = tg_gemini_object(part, "functionCall");
    struct tg_span text = tg_gemini_text(part, "text");
    const char *path =
        tg_arena_printf(turn->context->arena, "contents[%zu].parts[%zu]", at, part_at);

    if (call != NULL) {
        read_call(turn, part, call, call_id(turn, call, at, part_at));
        return;
    }
    tg_buf_add(tg_gemini_true(part, "thought") ? &turn->thoughts : &turn->text, text.ptr,
               text.len);
    if (text.len == 0 && tg_gemini_get(part, "text") == NULL &&
        !read_code(turn->context, part, path, &turn->text) &&
        tg_gemini_text(part, "thoughtSignature").len == 0)
        note(turn->context, TG_SEVERITY_WARN, "BLOCK_DROPPED", path);
    read_signature(turn, tg_gemini_text(part, "thoughtSignature"));
}

struct tg_json *tg_gemini_turn_close(struct tg_gemini_turn *turn)
{
    struct tg_json *message = NULL;

    if (turn->text.len > 0 || turn->thoughts.len > 0 || tg_json_array_len(turn->calls) > 0 ||
        tg_json_array_len(turn->details) > 0) {
        message = tg_json_new_object();
        tg_json_set_str(message, "role", "assistant");
        if (turn->text.len > 0)
            tg_json_set_span(message, "content", (struct tg_span){turn->text.data, turn->text.len});
        else
            tg_json_set_null(message, "content");
        if (turn->thoughts.len > 0)
            tg_json_set_span(message, "reasoning_content",
                             (struct tg_span){turn->thoughts.data, turn->thoughts.len});
        tg_hub_set_list(message, "reasoning_details", turn->details);
        tg_hub_set_list(message, "tool_calls", turn->calls);
    } else {
        tg_json_free(turn->details);
        tg_json_free(turn->calls);
    }
    tg_buf_done(&turn->text);
    tg_buf_done(&turn->thoughts);
    return message;
}
