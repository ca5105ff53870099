/* Content blocks of Messages as parts and messages of Chat (PROTOCOLS B1, B0.9). */
#include "fcgi-app/convert/citations.h"
#include "fcgi-app/convert/envelope.h"
#include "fcgi-app/convert/hub.h"
#include "fcgi-app/convert/media.h"
#include "fcgi-app/convert/messages_to_chat.h"
#include "fcgi-app/convert/names.h"

#include <string.h>

static struct tg_json *text_part(struct tg_span text)
{
    struct tg_json *part = tg_json_new_object();

    tg_json_set_str(part, "type", "text");
    tg_json_set_span(part, "text", text);
    return part;
}

static void note(const struct tg_convert *context, enum tg_severity severity, const char *code,
                 const char *path)
{
    tg_diagnose(context->diagnostics, severity, code, path, "");
}

/* data:<media_type>;base64,<data> */
static const char *data_url(const struct tg_convert *context, const struct tg_json *source)
{
    struct tg_span type = tg_hub_span(source, "media_type"), data = tg_hub_span(source, "data");
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

/* --- what users send ------------------------------------------------------------------------ */

static void push_image(const struct tg_convert *context, const struct tg_json *source,
                       const char *path, struct tg_json *parts)
{
    struct tg_json *part, *image;

    if (tg_hub_is(source, "type", "file")) {
        note(context, TG_SEVERITY_ERROR, "FILE_REF_UNRESOLVED", path);
        return;
    }
    part = tg_json_new_object();
    image = tg_json_new_object();
    tg_json_set_str(part, "type", "image_url");
    if (tg_hub_is(source, "type", "url"))
        tg_json_set_span(image, "url", tg_hub_span(source, "url"));
    else
        tg_json_set_str(image, "url", data_url(context, source));
    tg_json_set(part, "image_url", image);
    tg_json_push(parts, part);
}

static void push_pdf(const struct tg_convert *context, const struct tg_json *block,
                     const struct tg_json *source, struct tg_json *parts)
{
    struct tg_json *part = tg_json_new_object(), *file = tg_json_new_object();
    struct tg_span text;

    if (tg_hub_text(block, "context", &text))
        tg_json_push(parts, text_part(text));
    tg_json_set_str(part, "type", "file");
    if (tg_hub_text(block, "title", &text))
        tg_json_set_span(file, "filename", text);
    else
        tg_json_set_str(file, "filename", "document.pdf");
    tg_json_set_str(file, "file_data", data_url(context, source));
    tg_json_set(part, "file", file);
    tg_json_push(parts, part);
}

/* Title, context and text, with blank lines between. */
static void push_plain(const struct tg_convert *context, const struct tg_json *block,
                       const struct tg_json *source, const char *path, struct tg_json *parts)
{
    const struct tg_span pieces[] = {tg_hub_span(block, "title"), tg_hub_span(block, "context"),
                                     tg_hub_span(source, "data")};
    struct tg_buf text;

    tg_buf_init(&text, 0);
    for (size_t i = 0; i < TG_COUNT_OF(pieces); i++) {
        if (pieces[i].len > 0 && text.len > 0)
            tg_buf_str(&text, "\n\n");
        tg_buf_add(&text, pieces[i].ptr, pieces[i].len);
    }
    if (text.len > 0)
        tg_json_push(parts, text_part((struct tg_span){text.data, text.len}));
    tg_buf_done(&text);
    note(context, TG_SEVERITY_INFO, "PART_DEGRADED", path);
}

static void push_document(const struct tg_convert *context, const struct tg_json *block,
                          const char *path, struct tg_json *parts)
{
    const struct tg_json *source, *content, *citations;
    bool enabled;

    if (tg_json_get_object(block, "citations", &citations) == TG_JSON_GOT &&
        tg_json_get_bool(citations, "enabled", &enabled) == TG_JSON_GOT && enabled)
        note(context, TG_SEVERITY_WARN, "CITATION_DROPPED", path);
    if (tg_json_get_object(block, "source", &source) != TG_JSON_GOT)
        return;
    if (tg_hub_is(source, "type", "base64"))
        push_pdf(context, block, source, parts);
    else if (tg_hub_is(source, "type", "text"))
        push_plain(context, block, source, path, parts);
    else if (tg_json_get_array(source, "content", &content) == TG_JSON_GOT) {
        for (size_t i = 0; i < tg_json_array_len(content); i++)
            tg_messages_to_chat_part(context, tg_json_array_at(content, i), path, parts);
        note(context, TG_SEVERITY_INFO, "PART_DEGRADED", path);
    } else {
        note(context, TG_SEVERITY_ERROR,
             tg_hub_is(source, "type", "url") ? "MEDIA_URL_UNSUPPORTED" : "FILE_REF_UNRESOLVED",
             path);
    }
}

static void push_search_result(const struct tg_convert *context, const struct tg_json *block,
                               const char *path, struct tg_json *parts)
{
    struct tg_span title = tg_hub_span(block, "title"), source = tg_hub_span(block, "source");
    const struct tg_json *content = NULL;
    struct tg_buf text;

    tg_buf_init(&text, 0);
    tg_buf_printf(&text, "[%.*s](%.*s)", (int)title.len, title.ptr, (int)source.len, source.ptr);
    if (tg_json_get_array(block, "content", &content) == TG_JSON_GOT)
        for (size_t i = 0; i < tg_json_array_len(content); i++) {
            struct tg_span piece = tg_hub_span(tg_json_array_at(content, i), "text");

            tg_buf_char(&text, '\n');
            tg_buf_add(&text, piece.ptr, piece.len);
        }
    tg_json_push(parts, text_part((struct tg_span){text.data, text.len}));
    tg_buf_done(&text);
    note(context, TG_SEVERITY_WARN, "PART_DEGRADED", path);
}

static void push_text(const struct tg_json *block, struct tg_json *parts)
{
    struct tg_span text = tg_hub_span(block, "text");
    struct tg_json *part;

    if (text.len == 0)
        return;
    part = text_part(text);
    tg_json_set_copy(part, "cache_control", block, "cache_control");
    tg_json_push(parts, part);
}

void tg_messages_to_chat_part(const struct tg_convert *context, const struct tg_json *block,
                              const char *path, struct tg_json *parts)
{
    const struct tg_json *source;

    tg_citations_dropped(context, block, "citations", path);
    if (tg_hub_is(block, "type", "text"))
        push_text(block, parts);
    else if (tg_hub_is(block, "type", "image")) {
        if (tg_json_get_object(block, "source", &source) == TG_JSON_GOT)
            push_image(context, source, path, parts);
    } else if (tg_hub_is(block, "type", "document"))
        push_document(context, block, path, parts);
    else if (tg_hub_is(block, "type", "search_result"))
        push_search_result(context, block, path, parts);
    else if (tg_hub_is(block, "type", "container_upload"))
        note(context, TG_SEVERITY_ERROR, "FILE_REF_UNRESOLVED", path);
    else
        note(context, TG_SEVERITY_WARN, "BLOCK_DROPPED", path);
}

/* --- what the assistant said ---------------------------------------------------------------- */

struct turn {
    const struct tg_convert *context;
    const char *path;
    struct tg_buf text, reasoning;
    struct tg_json *details, *calls;
    bool apart;      /* another block stood behind the text so far */
    struct tg_span signature; /* Gemini's, for the next call */
};

/* Takes the entry. */
static void push_detail(struct turn *turn, const char *type, const char *format,
                        struct tg_json *entry)
{
    tg_json_set_str(entry, "type", type);
    tg_json_set_str(entry, "format", format);
    tg_json_set_int(entry, "index", (int64_t)tg_json_array_len(turn->details));
    tg_json_push(turn->details, entry);
}

/* {"id":…,"e":…} of a reasoning item. */
static void push_openai(struct turn *turn, struct tg_span payload)
{
    struct tg_json *parsed, *entry;

    if (tg_json_parse(payload.ptr, payload.len, &parsed, NULL) != TG_OK)
        return;
    entry = tg_json_new_object();
    tg_json_set_copy(entry, "id", parsed, "id");
    tg_json_set_copy(entry, "data", parsed, "e");
    push_detail(turn, "reasoning.encrypted", "openai-responses-v1", entry);
    tg_json_free(parsed);
}

/* A signature that no call followed is that of the text. */
static void push_signature(struct turn *turn)
{
    struct tg_json *entry;

    if (turn->signature.len == 0)
        return;
    entry = tg_json_new_object();
    tg_json_set_span(entry, "data", turn->signature);
    push_detail(turn, "reasoning.encrypted", "google-gemini-v1", entry);
    turn->signature.len = 0;
}

/* A payload in an envelope goes back to its own family; the caller's block is not Claude's. */
static void read_envelope(struct turn *turn, enum tg_origin origin, const struct tg_buf *payload)
{
    struct tg_span bytes = {tg_buf_text(payload), payload->len};

    if (origin == TG_ORIGIN_OPENAI)
        push_openai(turn, bytes);
    else if (origin == TG_ORIGIN_GEMINI && tg_media_is_text(bytes)) {
        push_signature(turn);
        turn->signature = (struct tg_span){
            tg_arena_strndup(turn->context->arena, bytes.ptr, bytes.len), bytes.len};
    }
}

/* True: the text is an envelope, or nothing. */
static bool is_foreign(struct turn *turn, struct tg_span text)
{
    enum tg_origin origin;
    struct tg_buf payload;
    bool foreign;

    tg_buf_init(&payload, 0);
    foreign = tg_envelope_unwrap(text, &origin, &payload);
    if (foreign)
        read_envelope(turn, origin, &payload);
    tg_buf_done(&payload);
    return foreign || text.len == 0;
}

static void read_thinking(struct turn *turn, const struct tg_json *block)
{
    struct tg_span text = tg_hub_span(block, "thinking");
    struct tg_span signature = tg_hub_span(block, "signature");
    struct tg_json *entry;

    tg_buf_add(&turn->reasoning, text.ptr, text.len);
    if (is_foreign(turn, signature))
        return;
    entry = tg_json_new_object();
    tg_json_set_span(entry, "text", text);
    tg_json_set_span(entry, "signature", signature);
    push_detail(turn, "reasoning.text", "anthropic-claude-v1", entry);
}

static void read_redacted(struct turn *turn, const struct tg_json *block)
{
    struct tg_span data = tg_hub_span(block, "data");
    struct tg_json *entry;

    if (is_foreign(turn, data))
        return;
    entry = tg_json_new_object();
    tg_json_set_span(entry, "data", data);
    push_detail(turn, "reasoning.encrypted", "anthropic-claude-v1", entry);
}

static void set_signature(struct turn *turn, struct tg_json *call)
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

static void read_call(struct turn *turn, const struct tg_json *block)
{
    struct tg_json *call = tg_json_new_object(), *function = tg_json_new_object();
    const struct tg_json *input;
    struct tg_buf text;

    tg_buf_init(&text, 0);
    if (tg_json_get_object(block, "input", &input) == TG_JSON_GOT)
        tg_json_print(input, &text);
    else
        tg_buf_str(&text, "{}");
    tg_json_set_str(call, "id",
                    tg_call_id_make(turn->context->arena, tg_hub_span(block, "id"),
                                    TG_CALL_ID_CHAT));
    tg_json_set_str(call, "type", "function");
    tg_json_set_str(function, "name",
                    tg_toolset_wire_name(turn->context, tg_hub_span(block, "name")));
    tg_json_set_span(function, "arguments", (struct tg_span){text.data, text.len});
    tg_json_set(call, "function", function);
    set_signature(turn, call);
    tg_json_push(turn->calls, call);
    tg_buf_done(&text);
}

static void read_block(struct turn *turn, const struct tg_json *block)
{
    struct tg_span text;

    tg_citations_dropped(turn->context, block, "citations", turn->path);
    if (tg_hub_is(block, "type", "text")) {
        push_signature(turn);
        text = tg_hub_span(block, "text");
        if (turn->apart && turn->text.len > 0 && text.len > 0)
            tg_buf_char(&turn->text, '\n');
        tg_buf_add(&turn->text, text.ptr, text.len);
        turn->apart = false;
        return;
    }
    turn->apart = true;
    if (tg_hub_is(block, "type", "thinking"))
        read_thinking(turn, block);
    else if (tg_hub_is(block, "type", "redacted_thinking"))
        read_redacted(turn, block);
    else if (tg_hub_is(block, "type", "tool_use"))
        read_call(turn, block);
    else
        note(turn->context, TG_SEVERITY_WARN, "BLOCK_DROPPED", turn->path);
}

struct tg_json *tg_messages_to_chat_assistant(const struct tg_convert *context,
                                              const struct tg_json *content, const char *path)
{
    struct turn turn = {.context = context, .path = path};
    struct tg_json *message = tg_json_new_object();
    struct tg_span text;

    tg_buf_init(&turn.text, 0);
    tg_buf_init(&turn.reasoning, 0);
    turn.details = tg_json_new_array();
    turn.calls = tg_json_new_array();
    if (tg_json_string(content, &text))
        tg_buf_add(&turn.text, text.ptr, text.len);
    for (size_t i = 0; i < tg_json_array_len(content); i++)
        read_block(&turn, tg_json_array_at(content, i));
    push_signature(&turn);
    tg_json_set_str(message, "role", "assistant");
    if (turn.text.len > 0)
        tg_json_set_span(message, "content", (struct tg_span){turn.text.data, turn.text.len});
    else
        tg_json_set_null(message, "content"); /* never "": some servers refuse it */
    if (turn.reasoning.len > 0)
        tg_json_set_span(message, "reasoning_content",
                         (struct tg_span){turn.reasoning.data, turn.reasoning.len});
    tg_hub_set_list(message, "reasoning_details", turn.details);
    tg_hub_set_list(message, "tool_calls", turn.calls);
    tg_buf_done(&turn.text);
    tg_buf_done(&turn.reasoning);
    return message;
}
