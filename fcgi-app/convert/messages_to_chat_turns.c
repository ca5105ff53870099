/* The conversation of a Messages request in the order that Chat wants (PROTOCOLS B1, B0.2): a call
 * is followed by its results, in the order of the calls, before anything else. */
#include "fcgi-app/convert/hub.h"
#include "fcgi-app/convert/messages_to_chat.h"
#include "fcgi-app/convert/names.h"

#include <string.h>

struct walk {
    const struct tg_convert *context;
    struct tg_json *messages;
    const struct tg_json *calls; /* of the assistant's turn before; NULL: none */
};

static const char *path_of(const struct walk *walk, size_t message, size_t block)
{
    return tg_arena_printf(walk->context->arena, "messages[%zu].content[%zu]", message, block);
}

static void note(const struct walk *walk, enum tg_severity severity, const char *code,
                 const char *path)
{
    tg_diagnose(walk->context->diagnostics, severity, code, path, "");
}

/* --- the system prompt ---------------------------------------------------------------------- */

static void push_system(struct walk *walk, const struct tg_json *system)
{
    struct tg_json *message = tg_json_new_object(), *parts;
    struct tg_span text;

    tg_json_set_str(message, "role", "system");
    if (tg_json_string(system, &text)) {
        tg_json_set_span(message, "content", text);
    } else {
        parts = tg_json_new_array();
        for (size_t i = 0; i < tg_json_array_len(system); i++)
            tg_messages_to_chat_part(walk->context, tg_json_array_at(system, i), "system", parts);
        tg_json_set(message, "content", parts);
    }
    tg_json_push(walk->messages, message);
}

/* --- results of calls ----------------------------------------------------------------------- */

static struct tg_span call_id(const struct walk *walk, const struct tg_json *result)
{
    const char *id = tg_call_id_make(walk->context->arena, tg_hub_span(result, "tool_use_id"),
                                     TG_CALL_ID_CHAT);

    return (struct tg_span){id, strlen(id)};
}

static bool same(struct tg_span a, struct tg_span b)
{
    return a.len == b.len && memcmp(a.ptr, b.ptr, a.len) == 0;
}

static void add_piece(struct tg_buf *text, struct tg_span piece)
{
    tg_buf_add(text, piece.ptr, piece.len);
}

/* A picture or a document goes to <media>, with a word where it stood. */
static void move_media(const struct walk *walk, const struct tg_json *block, const char *path,
                       struct tg_buf *text, struct tg_json *media)
{
    tg_buf_str(text, tg_hub_is(block, "type", "image") ? "[image attached below]"
                                                       : "[document attached below]");
    tg_messages_to_chat_part(walk->context, block, path, media);
    note(walk, TG_SEVERITY_WARN, "TOOL_RESULT_MEDIA_MOVED", path);
}

/* What Chat has no part for, as a text: what a search found, or the block as it is written. */
static void write_block(const struct walk *walk, const struct tg_json *block, const char *path,
                        struct tg_buf *text)
{
    struct tg_json *parts = tg_json_new_array();

    if (tg_hub_is(block, "type", "search_result")) {
        tg_messages_to_chat_part(walk->context, block, path, parts);
        for (size_t i = 0; i < tg_json_array_len(parts); i++)
            add_piece(text, tg_hub_span(tg_json_array_at(parts, i), "text"));
    } else {
        tg_json_print(block, text);
        note(walk, TG_SEVERITY_WARN, "PART_DEGRADED", path);
    }
    tg_json_free(parts);
}

/* The text of a result; pictures and documents go to <media>. */
static void read_result(const struct walk *walk, const struct tg_json *result, const char *path,
                        struct tg_buf *text, struct tg_json *media)
{
    const struct tg_json *content;
    struct tg_span piece;

    if (tg_json_get(result, "content", &content) != TG_JSON_GOT)
        return;
    if (tg_json_string(content, &piece))
        add_piece(text, piece);
    for (size_t i = 0; i < tg_json_array_len(content); i++) {
        const struct tg_json *block = tg_json_array_at(content, i);

        if (text->len > 0)
            tg_buf_char(text, '\n');
        if (tg_hub_is(block, "type", "text"))
            add_piece(text, tg_hub_span(block, "text"));
        else if (tg_hub_is(block, "type", "image") || tg_hub_is(block, "type", "document"))
            move_media(walk, block, path, text, media);
        else
            write_block(walk, block, path, text);
    }
}

/* Where a result stands, and which call it answers. */
struct answer {
    const struct tg_json *result, *call;
    const char *path;
};

static void set_name(struct tg_json *message, const struct tg_json *call)
{
    const struct tg_json *function;

    if (tg_json_get_object(call, "function", &function) == TG_JSON_GOT)
        tg_json_set_span(message, "x_name", tg_hub_span(function, "name"));
}

static void push_result(struct walk *walk, const struct answer *answer, struct tg_json *media)
{
    struct tg_json *message = tg_json_new_object();
    struct tg_span id = call_id(walk, answer->result);
    bool is_error = false;
    struct tg_buf text;

    tg_buf_init(&text, 0);
    read_result(walk, answer->result, answer->path, &text, media);
    (void)tg_json_get_bool(answer->result, "is_error", &is_error);
    tg_json_set_str(message, "role", "tool");
    tg_json_set_span(message, "tool_call_id", id);
    tg_json_set_span(message, "content", (struct tg_span){tg_buf_text(&text), text.len});
    set_name(message, answer->call);
    if (is_error)
        tg_json_set_bool(message, "x_is_error", true);
    tg_json_push(walk->messages, message);
    tg_buf_done(&text);
}

static void push_missing(struct walk *walk, struct tg_span id)
{
    struct tg_json *message = tg_json_new_object();

    tg_json_set_str(message, "role", "tool");
    tg_json_set_span(message, "tool_call_id", id);
    tg_json_set_str(message, "content", "[no result provided]");
    tg_json_push(walk->messages, message);
    note(walk, TG_SEVERITY_WARN, "TOOL_RESULT_MISSING", "messages");
}

/* The index of the block that answers call <id>; the number of blocks: none. */
static size_t find_result(const struct walk *walk, const struct tg_json *content,
                          struct tg_span id)
{
    size_t count = content != NULL ? tg_json_array_len(content) : 0, at = 0;

    while (at < count && (!tg_hub_is(tg_json_array_at(content, at), "type", "tool_result") ||
                          !same(call_id(walk, tg_json_array_at(content, at)), id)))
        at++;
    return at;
}

/* Answers every call of the turn before, in their order. */
static void answer_calls(struct walk *walk, const struct tg_json *content, size_t message,
                         struct tg_json *media)
{
    size_t before = 0, count = content != NULL ? tg_json_array_len(content) : 0;

    for (size_t i = 0; walk->calls != NULL && i < tg_json_array_len(walk->calls); i++) {
        const struct tg_json *call = tg_json_array_at(walk->calls, i);
        struct tg_span id = tg_hub_span(call, "id");
        size_t at = find_result(walk, content, id);
        struct answer answer;

        if (at == count) {
            push_missing(walk, id);
            continue;
        }
        if (at != before++)
            note(walk, TG_SEVERITY_INFO, "TOOL_RESULT_REORDERED", path_of(walk, message, at));
        answer = (struct answer){tg_json_array_at(content, at), call, path_of(walk, message, at)};
        push_result(walk, &answer, media);
    }
}

static bool is_answered(const struct walk *walk, const struct tg_json *result)
{
    struct tg_span id = call_id(walk, result);

    for (size_t i = 0; walk->calls != NULL && i < tg_json_array_len(walk->calls); i++)
        if (same(tg_hub_span(tg_json_array_at(walk->calls, i), "id"), id))
            return true;
    return false;
}

/* --- turns ---------------------------------------------------------------------------------- */

static void push_orphan(struct walk *walk, const struct tg_json *result, const char *path,
                        struct tg_json *parts)
{
    struct tg_span id = tg_hub_span(result, "tool_use_id");
    struct tg_json *part = tg_json_new_object();
    struct tg_buf text;

    tg_buf_init(&text, 0);
    tg_buf_printf(&text, "[result of unknown tool call %.*s] ", (int)TG_MIN(id.len, 100), id.ptr);
    read_result(walk, result, path, &text, parts);
    tg_json_set_str(part, "type", "text");
    tg_json_set_span(part, "text", (struct tg_span){text.data, text.len});
    tg_json_push(parts, part);
    tg_buf_done(&text);
    note(walk, TG_SEVERITY_WARN, "TOOL_RESULT_ORPHAN", path);
}

/* One text without a hint is a plain string. */
static struct tg_json *content_of(struct tg_json *parts)
{
    const struct tg_json *only = tg_json_array_at(parts, 0), *hint;
    struct tg_json *text;

    if (tg_json_array_len(parts) != 1 || !tg_hub_is(only, "type", "text") ||
        tg_json_get(only, "cache_control", &hint) == TG_JSON_GOT)
        return parts;
    text = tg_json_new_string(tg_hub_span(only, "text"));
    tg_json_free(parts);
    return text;
}

/* Takes <parts>. */
static void push_user(struct walk *walk, struct tg_json *parts)
{
    struct tg_json *message;

    if (tg_json_array_len(parts) == 0) {
        tg_json_free(parts);
        return;
    }
    message = tg_json_new_object();
    tg_json_set_str(message, "role", "user");
    tg_json_set(message, "content", content_of(parts));
    tg_json_push(walk->messages, message);
}

/* Images of results come first, introduced by a text. */
static struct tg_json *parts_with(struct tg_json *media)
{
    static const char intro[] = "Attachments of the tool results above:";
    struct tg_json *parts = tg_json_new_array(), *part;

    if (tg_json_array_len(media) == 0)
        return parts;
    part = tg_json_new_object();
    tg_json_set_str(part, "type", "text");
    tg_json_set_str(part, "text", intro);
    tg_json_push(parts, part);
    for (size_t i = 0; i < tg_json_array_len(media); i++)
        tg_json_push(parts, tg_json_copy(tg_json_array_at(media, i)));
    return parts;
}

static void user_turn(struct walk *walk, const struct tg_json *content, size_t at)
{
    struct tg_json *media = tg_json_new_array(), *parts;
    struct tg_span text;

    answer_calls(walk, tg_json_type(content) == TG_JSON_ARRAY ? content : NULL, at, media);
    parts = parts_with(media);
    if (tg_json_string(content, &text) && text.len > 0) {
        struct tg_json *part = tg_json_new_object();

        tg_json_set_str(part, "type", "text");
        tg_json_set_span(part, "text", text);
        tg_json_push(parts, part);
    }
    for (size_t i = 0; i < tg_json_array_len(content); i++) {
        const struct tg_json *block = tg_json_array_at(content, i);

        if (!tg_hub_is(block, "type", "tool_result"))
            tg_messages_to_chat_part(walk->context, block, path_of(walk, at, i), parts);
        else if (!is_answered(walk, block))
            push_orphan(walk, block, path_of(walk, at, i), parts);
    }
    walk->calls = NULL;
    push_user(walk, parts);
    tg_json_free(media);
}

static void assistant_turn(struct walk *walk, const struct tg_json *content, size_t at)
{
    struct tg_json *media = tg_json_new_array(), *message;

    answer_calls(walk, NULL, at, media);
    tg_json_free(media);
    walk->calls = NULL;
    message = tg_messages_to_chat_assistant(walk->context, content,
                                            tg_arena_printf(walk->context->arena,
                                                            "messages[%zu]", at));
    tg_json_push(walk->messages, message);
    if (tg_json_get_array(message, "tool_calls", &walk->calls) != TG_JSON_GOT)
        walk->calls = NULL;
}

static enum tg_class one_turn(struct walk *walk, const struct tg_json *turn, size_t at,
                              struct tg_error *err)
{
    const char *path = tg_arena_printf(walk->context->arena, "messages[%zu].content", at);
    const struct tg_json *content;

    if (tg_json_get(turn, "content", &content) != TG_JSON_GOT ||
        (tg_json_type(content) != TG_JSON_STRING && tg_json_type(content) != TG_JSON_ARRAY))
        return tg_hub_invalid(err, path, "is neither a string nor a list");
    if (tg_hub_is(turn, "role", "assistant"))
        assistant_turn(walk, content, at);
    else if (tg_hub_is(turn, "role", "user"))
        user_turn(walk, content, at);
    else if (tg_hub_is(turn, "role", "system"))
        push_system(walk, content);
    else
        return tg_hub_invalid(err, tg_arena_printf(walk->context->arena, "messages[%zu].role", at),
                              "is not user, assistant or system");
    return TG_OK;
}

enum tg_class tg_messages_to_chat_messages(const struct tg_convert *context,
                                           const struct tg_json *request, struct tg_json *made,
                                           struct tg_error *err)
{
    struct walk walk = {.context = context, .messages = tg_json_new_array()};
    const struct tg_json *turns, *system;
    enum tg_class class = TG_OK;
    struct tg_json *media;

    tg_json_set(made, "messages", walk.messages);
    if (tg_json_get_array(request, "messages", &turns) != TG_JSON_GOT)
        return tg_hub_invalid(err, "messages", "is no list");
    if (tg_json_get(request, "system", &system) == TG_JSON_GOT)
        push_system(&walk, system);
    for (size_t i = 0; i < tg_json_array_len(turns) && class == TG_OK; i++)
        class = one_turn(&walk, tg_json_array_at(turns, i), i, err);
    if (walk.calls != NULL) {
        media = tg_json_new_array();
        answer_calls(&walk, NULL, tg_json_array_len(turns), media);
        tg_json_free(media);
    } else if (tg_json_array_len(turns) > 0 &&
               tg_hub_is(tg_json_array_at(turns, tg_json_array_len(turns) - 1), "role",
                         "assistant")) {
        note(&walk, TG_SEVERITY_WARN, "PREFILL_UNSUPPORTED", "messages");
    }
    return class;
}
