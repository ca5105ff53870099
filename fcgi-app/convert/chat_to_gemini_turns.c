/* The conversation of a Chat request as contents of Gemini (PROTOCOLS B4). */
#include "fcgi-app/convert/chat_to_gemini.h"
#include "fcgi-app/convert/gemini_hub.h"
#include "fcgi-app/convert/gemini_model.h"
#include "fcgi-app/convert/toolset.h"

#include <string.h>

struct walk {
    const struct tg_convert *context;
    const struct tg_json *messages; /* the client's */
    struct tg_json *system, *contents;
    bool begun; /* another role than system was read */
};

static void note(const struct walk *walk, enum tg_severity severity, const char *code,
                 const char *path)
{
    tg_diagnose(walk->context->diagnostics, severity, code, path, "");
}

/* Takes <parts>; a content without any is none. */
static void push_content(struct walk *walk, const char *role, struct tg_json *parts)
{
    struct tg_json *content;

    if (tg_json_array_len(parts) == 0) {
        tg_json_free(parts);
        return;
    }
    content = tg_json_new_object();
    tg_json_set_str(content, "role", role);
    tg_json_set(content, "parts", parts);
    tg_json_push(walk->contents, content);
}

static void push_text(struct tg_span text, struct tg_json *parts)
{
    struct tg_json *part;

    if (text.len == 0)
        return;
    part = tg_json_new_object();
    tg_json_set_span(part, "text", text);
    tg_json_push(parts, part);
}

/* --- system --------------------------------------------------------------------------------- */

/* A later system message stays where it is. */
static void push_late_system(struct walk *walk, const struct tg_json *content, const char *path)
{
    struct tg_json *read = tg_json_new_array(), *parts = tg_json_new_array();
    struct tg_buf text;

    tg_chat_to_gemini_parts(walk->context, content, path, read);
    tg_buf_init(&text, 0);
    tg_buf_str(&text, "<system>");
    for (size_t i = 0; i < tg_json_array_len(read); i++) {
        struct tg_span piece = tg_hub_span(tg_json_array_at(read, i), "text");

        tg_buf_add(&text, piece.ptr, piece.len);
    }
    tg_buf_str(&text, "</system>");
    push_text((struct tg_span){text.data, text.len}, parts);
    push_content(walk, "user", parts);
    tg_buf_done(&text);
    tg_json_free(read);
    note(walk, TG_SEVERITY_WARN, "SYSTEM_MOVED", path);
}

static void set_system(struct walk *walk, struct tg_json *made)
{
    struct tg_json *system;

    if (tg_json_array_len(walk->system) == 0)
        return;
    system = tg_json_new_object();
    tg_json_set(system, "parts", tg_json_copy(walk->system));
    tg_json_set(made, "systemInstruction", system);
}

/* --- what the model said -------------------------------------------------------------------- */

static struct tg_json *call_part(const struct walk *walk, const struct tg_json *call,
                                 const char *path)
{
    struct tg_json *part = tg_json_new_object(), *made = tg_json_new_object(), *args;
    struct tg_span id = tg_hub_span(call, "id"), signature = tg_gemini_signature_of(call);
    const struct tg_json *inner;

    if (tg_json_get_object(call, "function", &inner) != TG_JSON_GOT &&
        tg_json_get_object(call, "custom", &inner) != TG_JSON_GOT)
        inner = call;
    if (id.len == 0)
        id = tg_hub_span(inner, "name"); /* function_call of older clients */
    tg_json_set_span(made, "id", id);
    tg_json_set_str(made, "name",
                    tg_toolset_hub_name(walk->context, tg_hub_span(inner, "name")));
    if (tg_hub_is(call, "type", "custom")) {
        args = tg_json_new_object();
        tg_json_set_span(args, "input", tg_hub_span(inner, "input"));
    } else {
        args = tg_hub_arguments(walk->context, tg_hub_span(inner, "arguments"), path);
    }
    tg_json_set(made, "args", args);
    tg_json_set(part, "functionCall", made);
    if (signature.len > 0)
        tg_json_set_span(part, "thoughtSignature", signature);
    return part;
}

static void push_calls(const struct walk *walk, const struct tg_json *message, const char *path,
                       struct tg_json *parts)
{
    const struct tg_json *calls, *legacy;

    if (tg_json_get_array(message, "tool_calls", &calls) == TG_JSON_GOT)
        for (size_t i = 0; i < tg_json_array_len(calls); i++)
            tg_json_push(parts,
                         call_part(walk, tg_json_array_at(calls, i),
                                   tg_arena_printf(walk->context->arena, "%s.tool_calls[%zu]",
                                                   path, i)));
    if (tg_json_get_object(message, "function_call", &legacy) == TG_JSON_GOT)
        tg_json_push(parts, call_part(walk, legacy, path));
}

/* Gemini's own signature; what others signed is theirs alone. */
static struct tg_span own_signature(const struct tg_json *message, bool *ret_foreign)
{
    struct tg_span found = {"", 0};
    const struct tg_json *details;

    *ret_foreign = false;
    if (tg_json_get_array(message, "reasoning_details", &details) != TG_JSON_GOT)
        return found;
    for (size_t i = 0; i < tg_json_array_len(details); i++) {
        const struct tg_json *detail = tg_json_array_at(details, i);

        if (!tg_hub_is(detail, "format", "google-gemini-v1"))
            *ret_foreign = true;
        else if (tg_hub_span(detail, "data").len > 0)
            found = tg_hub_span(detail, "data");
    }
    return found;
}

/* The signature goes on the last part of text, one without letters if there is no other. */
static void sign_text(struct tg_json *parts, struct tg_span signature)
{
    size_t count = tg_json_array_len(parts);
    struct tg_json *last = count > 0 ? tg_json_element(parts, count - 1) : NULL;

    if (last == NULL || tg_gemini_true(last, "thought")) {
        last = tg_json_new_object();
        tg_json_set_str(last, "text", "");
        tg_json_push(parts, last);
    }
    tg_json_set_span(last, "thoughtSignature", signature);
}

static void push_thoughts(const struct walk *walk, const struct tg_json *message, bool is_signed,
                          const char *path, struct tg_json *parts)
{
    struct tg_span thoughts = tg_hub_span(message, "reasoning_content");
    struct tg_json *part;

    if (thoughts.len > 0 && is_signed) {
        part = tg_json_new_object();
        tg_json_set_span(part, "text", thoughts);
        tg_json_set_bool(part, "thought", true);
        tg_json_push(parts, part);
    } else if (thoughts.len > 0) {
        note(walk, TG_SEVERITY_INFO, "REASONING_DROPPED", path);
    }
}

static void read_assistant(struct walk *walk, const struct tg_json *message, const char *path)
{
    struct tg_json *parts = tg_json_new_array();
    const struct tg_json *content, *audio;
    bool foreign;
    struct tg_span signature = own_signature(message, &foreign), refusal;

    if (foreign)
        note(walk, TG_SEVERITY_INFO, "REASONING_SIG_FOREIGN", path);
    push_thoughts(walk, message, signature.len > 0, path, parts);
    if (tg_json_get(message, "content", &content) == TG_JSON_GOT)
        tg_chat_to_gemini_parts(walk->context, content, path, parts);
    if (tg_hub_text(message, "refusal", &refusal)) {
        push_text(refusal, parts);
        note(walk, TG_SEVERITY_INFO, "REFUSAL_MAPPED", path);
    }
    if (tg_json_get_object(message, "audio", &audio) == TG_JSON_GOT)
        note(walk, TG_SEVERITY_WARN, "PART_DROPPED", path);
    if (signature.len > 0)
        sign_text(parts, signature);
    push_calls(walk, message, path, parts);
    push_content(walk, "model", parts);
}

/* --- results -------------------------------------------------------------------------------- */

static bool call_has_id(const struct tg_json *call, struct tg_span id, struct tg_span *ret_name)
{
    struct tg_span of = tg_hub_span(call, "id");
    const struct tg_json *inner;

    if (of.len != id.len || memcmp(of.ptr, id.ptr, id.len) != 0 ||
        (tg_json_get_object(call, "function", &inner) != TG_JSON_GOT &&
         tg_json_get_object(call, "custom", &inner) != TG_JSON_GOT))
        return false;
    *ret_name = tg_hub_span(inner, "name");
    return true;
}

/* The function that the call of <id> before message <at> called; never the id itself. */
static struct tg_span name_of(const struct walk *walk, const struct tg_json *message,
                              struct tg_span id, size_t at)
{
    struct tg_span name = tg_hub_span(message, "name");
    const struct tg_json *calls;

    while (at-- > 0) {
        if (tg_json_get_array(tg_json_array_at(walk->messages, at), "tool_calls", &calls) !=
            TG_JSON_GOT)
            continue;
        for (size_t i = 0; i < tg_json_array_len(calls); i++)
            if (call_has_id(tg_json_array_at(calls, i), id, &name))
                return name;
    }
    return name.len > 0 ? name : tg_hub_span(message, "x_name");
}

/* Text of a result, and its media apart. */
static void read_content(const struct walk *walk, const struct tg_json *content, const char *path,
                         struct tg_buf *text, struct tg_json *media)
{
    struct tg_json *parts = tg_json_new_array();

    tg_chat_to_gemini_parts(walk->context, content, path, parts);
    for (size_t i = 0; i < tg_json_array_len(parts); i++) {
        const struct tg_json *part = tg_json_array_at(parts, i);
        struct tg_span piece = tg_hub_span(part, "text");

        if (piece.len == 0) {
            tg_json_push(media, tg_json_copy(part));
            continue;
        }
        if (text->len > 0)
            tg_buf_char(text, '\n');
        tg_buf_add(text, piece.ptr, piece.len);
    }
    tg_json_free(parts);
}

/* A JSON object is the response itself, all else its "output", a failure its "error". */
static struct tg_json *response_of(const struct tg_json *message, const struct tg_buf *text)
{
    struct tg_json *made;
    bool is_error = false;

    (void)tg_json_get_bool(message, "x_is_error", &is_error);
    if (!is_error && tg_json_parse(tg_buf_text(text), text->len, &made, NULL) == TG_OK) {
        if (tg_json_type(made) == TG_JSON_OBJECT)
            return made;
        tg_json_free(made);
    }
    made = tg_json_new_object();
    tg_json_set_span(made, is_error ? "error" : "output",
                     (struct tg_span){tg_buf_text(text), text->len});
    return made;
}

/* From generation 3 on a response has parts; before, its media go with what the user says next. */
static void push_media(const struct walk *walk, struct tg_json *media, const char *path,
                       struct tg_json *response, struct tg_json *parts)
{
    if (tg_json_array_len(media) == 0) {
        tg_json_free(media);
        return;
    }
    if (tg_gemini_model_of(walk->context->upstream_model).generation >= TG_GEMINI_3) {
        tg_json_set(response, "parts", media);
        return;
    }
    for (size_t i = 0; i < tg_json_array_len(media); i++)
        tg_json_push(parts, tg_json_copy(tg_json_array_at(media, i)));
    tg_json_free(media);
    note(walk, TG_SEVERITY_WARN, "TOOL_RESULT_MEDIA_MOVED", path);
}

static void read_result(struct walk *walk, const struct tg_json *message, size_t at,
                        const char *path)
{
    struct tg_json *part = tg_json_new_object(), *response = tg_json_new_object();
    struct tg_json *parts = tg_json_new_array(), *media = tg_json_new_array();
    struct tg_span id = tg_hub_span(message, "tool_call_id");
    const struct tg_json *content;
    struct tg_buf text;

    if (id.len == 0)
        id = tg_hub_span(message, "name"); /* role "function" of older clients */
    tg_buf_init(&text, 0);
    if (tg_json_get(message, "content", &content) == TG_JSON_GOT)
        read_content(walk, content, path, &text, media);
    if (tg_json_get_array(message, "x_parts", &content) == TG_JSON_GOT)
        read_content(walk, content, path, &text, media);
    tg_json_set_span(response, "id", id);
    tg_json_set_str(response, "name",
                    tg_toolset_hub_name(walk->context, name_of(walk, message, id, at)));
    tg_json_set(response, "response", response_of(message, &text));
    tg_json_set(part, "functionResponse", response);
    tg_json_push(parts, part);
    push_media(walk, media, path, response, parts);
    push_content(walk, "user", parts);
    tg_buf_done(&text);
}

/* --- the walk ------------------------------------------------------------------------------- */

static void read_user(struct walk *walk, const struct tg_json *message,
                      const struct tg_json *content, const char *path)
{
    struct tg_json *parts = tg_json_new_array();
    struct tg_span name;

    if (tg_hub_text(message, "name", &name))
        note(walk, TG_SEVERITY_INFO, "NAME_DROPPED", path);
    tg_chat_to_gemini_parts(walk->context, content, path, parts);
    push_content(walk, "user", parts);
}

static enum tg_class read_message(struct walk *walk, const struct tg_json *message, size_t at,
                                  struct tg_error *err)
{
    const char *path = tg_arena_printf(walk->context->arena, "messages[%zu]", at);
    const struct tg_json *content;
    bool has_content = tg_json_get(message, "content", &content) == TG_JSON_GOT;

    if (has_content && tg_json_type(content) != TG_JSON_STRING &&
        tg_json_type(content) != TG_JSON_ARRAY)
        return tg_hub_invalid(err, path, "has a content that is neither a string nor a list");
    if (tg_hub_is(message, "role", "system") || tg_hub_is(message, "role", "developer")) {
        if (has_content && walk->begun)
            push_late_system(walk, content, path);
        else if (has_content)
            tg_chat_to_gemini_parts(walk->context, content, path, walk->system);
        return TG_OK;
    }
    walk->begun = true;
    if (tg_hub_is(message, "role", "assistant"))
        read_assistant(walk, message, path);
    else if (tg_hub_is(message, "role", "tool") || tg_hub_is(message, "role", "function"))
        read_result(walk, message, at, path);
    else if (!tg_hub_is(message, "role", "user"))
        return tg_hub_invalid(err, path, "has a role that is not known");
    else if (!has_content)
        return tg_hub_invalid(err, path, "has no content");
    else
        read_user(walk, message, content, path);
    return TG_OK;
}

enum tg_class tg_chat_to_gemini_turns(const struct tg_convert *context,
                                      const struct tg_json *request, struct tg_json *made,
                                      struct tg_error *err)
{
    struct walk walk = {.context = context};
    enum tg_class class = TG_OK;

    if (tg_json_get_array(request, "messages", &walk.messages) != TG_JSON_GOT)
        return tg_hub_invalid(err, "messages", "is no list");
    walk.system = tg_json_new_array();
    walk.contents = tg_json_new_array();
    tg_json_set(made, "contents", walk.contents);
    for (size_t i = 0; i < tg_json_array_len(walk.messages) && class == TG_OK; i++)
        class = read_message(&walk, tg_json_array_at(walk.messages, i), i, err);
    if (class == TG_OK) {
        set_system(&walk, made);
        tg_gemini_order(context, walk.contents);
    }
    tg_json_free(walk.system);
    return class;
}
