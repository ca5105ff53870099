/* The conversation of a Chat request as items of Responses (PROTOCOLS B6, B0.4): every call has an
 * output, every output a call before it. */
#include "fcgi-app/convert/chat_to_responses_request.h"
#include "fcgi-app/convert/hub.h"
#include "fcgi-app/convert/names.h"

#include <string.h>
#include <strings.h>

struct walk {
    const struct tg_convert *context;
    const struct tg_json *messages;
    struct tg_json *items;
    struct tg_buf instructions;
    bool begun; /* another role than system, or a system message that is an item, was read */
};

static void note(const struct walk *walk, enum tg_severity severity, const char *code,
                 const char *path)
{
    tg_diagnose(walk->context->diagnostics, severity, code, path, "");
}

static bool same(struct tg_span a, struct tg_span b)
{
    return a.len == b.len && memcmp(a.ptr, b.ptr, a.len) == 0;
}

/* Takes <parts>; a message without any is none. */
static void push_message(struct walk *walk, const char *role, struct tg_json *parts)
{
    struct tg_json *item;

    if (tg_json_array_len(parts) == 0) {
        tg_json_free(parts);
        return;
    }
    item = tg_json_new_object();
    tg_json_set_str(item, "type", "message");
    tg_json_set_str(item, "role", role);
    tg_json_set(item, "content", parts);
    tg_json_push(walk->items, item);
}

/* --- system --------------------------------------------------------------------------------- */

static bool has_breakpoint(const struct tg_json *parts)
{
    const struct tg_json *hint;

    for (size_t i = 0; i < tg_json_array_len(parts); i++)
        if (tg_json_get(tg_json_array_at(parts, i), "prompt_cache_breakpoint", &hint) ==
            TG_JSON_GOT)
            return true;
    return false;
}

/* What leads is the instructions; what comes later, or carries a breakpoint of the cache, stays
 * where it is. */
static void read_system(struct walk *walk, const char *role, const struct tg_json *content,
                        const char *path)
{
    struct tg_json *parts = tg_json_new_array();

    tg_chat_to_responses_parts(walk->context, content, path, parts);
    if (walk->begun || has_breakpoint(parts)) {
        walk->begun = true;
        push_message(walk, role, parts);
        return;
    }
    if (walk->instructions.len > 0 && tg_json_array_len(parts) > 0)
        tg_buf_str(&walk->instructions, "\n\n");
    for (size_t i = 0; i < tg_json_array_len(parts); i++) {
        struct tg_span text = tg_hub_span(tg_json_array_at(parts, i), "text");

        tg_buf_add(&walk->instructions, text.ptr, text.len);
    }
    tg_json_free(parts);
}

/* --- results -------------------------------------------------------------------------------- */

static struct tg_span result_id(const struct tg_json *message)
{
    struct tg_span id = tg_hub_span(message, "tool_call_id");

    return id.len > 0 ? id : tg_hub_span(message, "name"); /* role "function" of older clients */
}

static bool is_result(const struct tg_json *message)
{
    return tg_hub_is(message, "role", "tool") || tg_hub_is(message, "role", "function");
}

/* The call that a result at <at> answers; NULL: nobody made it. */
static const struct tg_json *find_call(const struct walk *walk, size_t at, struct tg_span id)
{
    for (size_t i = at; i-- > 0;) {
        const struct tg_json *message = tg_json_array_at(walk->messages, i), *calls;

        if (tg_json_get_object(message, "function_call", &calls) == TG_JSON_GOT &&
            same(tg_hub_span(calls, "name"), id))
            return calls;
        if (tg_json_get_array(message, "tool_calls", &calls) != TG_JSON_GOT)
            continue;
        for (size_t k = 0; k < tg_json_array_len(calls); k++)
            if (same(tg_hub_span(tg_json_array_at(calls, k), "id"), id))
                return tg_json_array_at(calls, k);
    }
    return NULL;
}

static bool has_result(const struct walk *walk, size_t at, struct tg_span id)
{
    for (size_t i = at + 1; i < tg_json_array_len(walk->messages); i++)
        if (is_result(tg_json_array_at(walk->messages, i)) &&
            same(result_id(tg_json_array_at(walk->messages, i)), id))
            return true;
    return false;
}

static void add_text(struct tg_buf *to, const struct tg_json *content)
{
    struct tg_span text;

    if (tg_json_string(content, &text))
        tg_buf_add(to, text.ptr, text.len);
    for (size_t i = 0; i < tg_json_array_len(content); i++) {
        text = tg_hub_span(tg_json_array_at(content, i), "text");
        tg_buf_add(to, text.ptr, text.len);
    }
}

/* The text of a result, which says in words that the tool failed. */
static void read_text(const struct walk *walk, const struct tg_json *message, const char *path,
                      struct tg_buf *out)
{
    const struct tg_json *content;
    bool is_error = false;
    struct tg_buf text;

    tg_buf_init(&text, 0);
    if (tg_json_get(message, "content", &content) == TG_JSON_GOT)
        add_text(&text, content);
    if (tg_json_get_bool(message, "x_is_error", &is_error) == TG_JSON_GOT && is_error) {
        note(walk, TG_SEVERITY_INFO, "TOOL_ERROR_FLAG_INLINED", path);
        if (strncasecmp(tg_buf_text(&text), "error", 5) != 0)
            tg_buf_str(out, "Error: ");
    }
    tg_buf_add(out, tg_buf_text(&text), text.len);
    tg_buf_done(&text);
}

/* Text alone is a string; with parts of other kinds it is a list. */
static void set_output(const struct walk *walk, const struct tg_json *message, const char *path,
                       struct tg_json *item)
{
    struct tg_json *parts = tg_json_new_array(), *part;
    const struct tg_json *extra;
    struct tg_buf text;

    tg_buf_init(&text, 0);
    read_text(walk, message, path, &text);
    if (tg_json_get_array(message, "x_parts", &extra) == TG_JSON_GOT)
        tg_chat_to_responses_parts(walk->context, extra, path, parts);
    if (tg_json_array_len(parts) == 0) {
        tg_json_set_span(item, "output", (struct tg_span){tg_buf_text(&text), text.len});
        tg_json_free(parts);
    } else {
        if (text.len > 0) {
            part = tg_json_new_object();
            tg_json_set_str(part, "type", "input_text");
            tg_json_set_span(part, "text", (struct tg_span){tg_buf_text(&text), text.len});
            tg_json_insert(parts, 0, part);
        }
        tg_json_set(item, "output", parts);
    }
    tg_buf_done(&text);
}

static struct tg_json *output_item(struct walk *walk, const struct tg_json *call,
                                   struct tg_span id)
{
    bool custom = tg_chat_to_responses_is_custom(walk->context, call);
    struct tg_json *item = tg_json_new_object();

    tg_json_set_str(item, "type", custom ? "custom_tool_call_output" : "function_call_output");
    tg_json_set_str(item, "call_id",
                    tg_call_id_make(walk->context->arena, id, TG_CALL_ID_MOST));
    tg_json_push(walk->items, item);
    return item;
}

static void push_orphan(struct walk *walk, const struct tg_json *message, struct tg_span id,
                        const char *path)
{
    struct tg_json *parts = tg_json_new_array(), *part = tg_json_new_object();
    struct tg_buf text;

    tg_buf_init(&text, 0);
    tg_buf_printf(&text, "[result of unknown tool call %.*s] ", (int)TG_MIN(id.len, 100), id.ptr);
    read_text(walk, message, path, &text);
    tg_json_set_str(part, "type", "input_text");
    tg_json_set_span(part, "text", (struct tg_span){tg_buf_text(&text), text.len});
    tg_json_push(parts, part);
    push_message(walk, "user", parts);
    note(walk, TG_SEVERITY_WARN, "TOOL_RESULT_ORPHAN", path);
    tg_buf_done(&text);
}

static void read_result(struct walk *walk, const struct tg_json *message, size_t at,
                        const char *path)
{
    struct tg_span id = result_id(message);
    const struct tg_json *call = find_call(walk, at, id);

    if (call == NULL)
        push_orphan(walk, message, id, path);
    else
        set_output(walk, message, path, output_item(walk, call, id));
}

/* --- the walk ------------------------------------------------------------------------------- */

static void read_assistant(struct walk *walk, const struct tg_json *message, size_t at,
                           const char *path)
{
    const struct tg_json *calls;

    tg_chat_to_responses_assistant(walk->context, message, path, walk->items);
    if (tg_json_get_array(message, "tool_calls", &calls) != TG_JSON_GOT)
        return;
    for (size_t i = 0; i < tg_json_array_len(calls); i++) {
        const struct tg_json *call = tg_json_array_at(calls, i);
        struct tg_span id = tg_hub_span(call, "id");

        if (has_result(walk, at, id))
            continue;
        tg_json_set_str(output_item(walk, call, id), "output", "[no result provided]");
        note(walk, TG_SEVERITY_WARN, "TOOL_RESULT_MISSING", path);
    }
}

static void read_user(struct walk *walk, const struct tg_json *message,
                      const struct tg_json *content, const char *path)
{
    struct tg_json *parts = tg_json_new_array();

    if (tg_hub_span(message, "name").len > 0)
        note(walk, TG_SEVERITY_INFO, "NAME_DROPPED", path);
    tg_chat_to_responses_parts(walk->context, content, path, parts);
    push_message(walk, "user", parts);
}

static enum tg_class read_message(struct walk *walk, const struct tg_json *message, size_t at,
                                  struct tg_error *err)
{
    const char *path = tg_arena_printf(walk->context->arena, "messages[%zu]", at);
    const struct tg_json *content;
    bool has_content = tg_json_get(message, "content", &content) == TG_JSON_GOT;
    bool developer = tg_hub_is(message, "role", "developer");

    if (has_content && tg_json_type(content) != TG_JSON_STRING &&
        tg_json_type(content) != TG_JSON_ARRAY)
        return tg_hub_invalid(err, path, "has a content that is neither a string nor a list");
    if (developer || tg_hub_is(message, "role", "system")) {
        if (has_content)
            read_system(walk, developer ? "developer" : "system", content, path);
        return TG_OK;
    }
    walk->begun = true;
    if (tg_hub_is(message, "role", "assistant"))
        read_assistant(walk, message, at, path);
    else if (is_result(message))
        read_result(walk, message, at, path);
    else if (!tg_hub_is(message, "role", "user"))
        return tg_hub_invalid(err, path, "has a role that is not known");
    else if (!has_content)
        return tg_hub_invalid(err, path, "has no content");
    else
        read_user(walk, message, content, path);
    return TG_OK;
}

enum tg_class tg_chat_to_responses_input(const struct tg_convert *context,
                                         const struct tg_json *request, struct tg_json *made,
                                         struct tg_error *err)
{
    struct walk walk = {.context = context};
    enum tg_class class = TG_OK;

    if (tg_json_get_array(request, "messages", &walk.messages) != TG_JSON_GOT)
        return tg_hub_invalid(err, "messages", "is no list");
    walk.items = tg_json_new_array();
    tg_buf_init(&walk.instructions, 0);
    for (size_t i = 0; i < tg_json_array_len(walk.messages) && class == TG_OK; i++)
        class = read_message(&walk, tg_json_array_at(walk.messages, i), i, err);
    if (walk.instructions.len > 0)
        tg_json_set_span(made, "instructions",
                         (struct tg_span){walk.instructions.data, walk.instructions.len});
    tg_json_set(made, "input", walk.items);
    tg_buf_done(&walk.instructions);
    return class;
}
