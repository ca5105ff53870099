/* The items of a Responses request as messages of Chat (PROTOCOLS B5): items of the assistant are
 * gathered into one message, and its calls are followed by their results in the calls' order. */
#include "fcgi-app/convert/hub.h"
#include "fcgi-app/convert/names.h"
#include "fcgi-app/convert/responses_to_chat.h"

#include <string.h>

struct walk {
    const struct tg_convert *context;
    struct tg_json *messages;
    const struct tg_json *items;
    size_t at; /* of the item that is read */
    struct tg_turn turn;
    size_t turn_at; /* of the turn's first call */
};

enum kind {
    KIND_MESSAGE,
    KIND_REASONING,
    KIND_CALL,
    KIND_OUTPUT,
    KIND_DROPPED, /* of a tool that only the provider has */
    KIND_STATE,   /* stands for something that only the provider has kept */
    KIND_UNKNOWN
};

static const struct {
    const char *type;
    enum kind kind;
} kinds[] = {
    {"message", KIND_MESSAGE},
    {"reasoning", KIND_REASONING},
    {"function_call", KIND_CALL},
    {"custom_tool_call", KIND_CALL},
    {"function_call_output", KIND_OUTPUT},
    {"custom_tool_call_output", KIND_OUTPUT},
    {"compaction", KIND_STATE},
    {"compaction_trigger", KIND_STATE},
    {"item_reference", KIND_STATE},
    {"additional_tools", KIND_DROPPED},
    {"apply_patch_call", KIND_DROPPED},
    {"apply_patch_call_output", KIND_DROPPED},
    {"code_interpreter_call", KIND_DROPPED},
    {"computer_call", KIND_DROPPED},
    {"computer_call_output", KIND_DROPPED},
    {"configuration_update", KIND_DROPPED},
    {"file_search_call", KIND_DROPPED},
    {"image_generation_call", KIND_DROPPED},
    {"local_shell_call", KIND_DROPPED},
    {"local_shell_call_output", KIND_DROPPED},
    {"mcp_approval_request", KIND_DROPPED},
    {"mcp_approval_response", KIND_DROPPED},
    {"mcp_call", KIND_DROPPED},
    {"mcp_list_tools", KIND_DROPPED},
    {"program", KIND_DROPPED},
    {"program_output", KIND_DROPPED},
    {"shell_call", KIND_DROPPED},
    {"shell_call_output", KIND_DROPPED},
    {"tool_search_call", KIND_DROPPED},
    {"tool_search_output", KIND_DROPPED},
    {"web_search_call", KIND_DROPPED},
};

/* A message may leave out its type. */
static enum kind kind_of(const struct tg_json *item)
{
    const struct tg_json *type;

    if (tg_json_get(item, "type", &type) != TG_JSON_GOT)
        return tg_hub_span(item, "role").len > 0 ? KIND_MESSAGE : KIND_UNKNOWN;
    for (size_t i = 0; i < TG_COUNT_OF(kinds); i++)
        if (tg_hub_is(item, "type", kinds[i].type))
            return kinds[i].kind;
    return KIND_UNKNOWN;
}

static const char *path_of(const struct walk *walk, size_t at)
{
    return tg_arena_printf(walk->context->arena, "input[%zu]", at);
}

static void note(const struct walk *walk, enum tg_severity severity, const char *code,
                 const char *path)
{
    tg_diagnose(walk->context->diagnostics, severity, code, path, "");
}

static bool same(struct tg_span a, struct tg_span b)
{
    return a.len == b.len && memcmp(a.ptr, b.ptr, a.len) == 0;
}

static void push_text(struct walk *walk, const char *role, struct tg_span text)
{
    struct tg_json *message = tg_json_new_object();

    tg_json_set_str(message, "role", role);
    tg_json_set_span(message, "content", text);
    tg_json_push(walk->messages, message);
}

/* --- results of calls ----------------------------------------------------------------------- */

/* The text of an output; what is no text goes to <media>. Chat has no place for it in a result: a
 * word stands there instead. */
static void read_output(const struct walk *walk, const struct tg_json *item, const char *path,
                        struct tg_buf *text, struct tg_json *media)
{
    bool moves = walk->context->upstream == TG_PROTOCOL_CHAT;
    const struct tg_json *output;
    struct tg_span piece;

    if (tg_json_get(item, "output", &output) != TG_JSON_GOT)
        return;
    if (tg_json_string(output, &piece))
        tg_buf_add(text, piece.ptr, piece.len);
    for (size_t i = 0; i < tg_json_array_len(output); i++) {
        const struct tg_json *part = tg_json_array_at(output, i);
        bool is_text = tg_hub_is(part, "type", "input_text");

        if (text->len > 0 && (is_text || moves))
            tg_buf_char(text, '\n');
        if (is_text) {
            piece = tg_hub_span(part, "text");
            tg_buf_add(text, piece.ptr, piece.len);
            continue;
        }
        tg_responses_to_chat_part(walk->context, part, path, media);
        if (!moves)
            continue;
        tg_buf_str(text, tg_hub_is(part, "type", "input_image") ? "[image attached below]"
                                                                : "[document attached below]");
        note(walk, TG_SEVERITY_WARN, "TOOL_RESULT_MEDIA_MOVED", path);
    }
}

static struct tg_json *result_of(const struct tg_json *call)
{
    struct tg_json *message = tg_json_new_object();
    const struct tg_json *function;

    tg_json_set_str(message, "role", "tool");
    tg_json_set_copy(message, "tool_call_id", call, "id");
    if (tg_json_get_object(call, "function", &function) == TG_JSON_GOT)
        tg_json_set_copy(message, "x_name", function, "name");
    return message;
}

static void push_result(struct walk *walk, const struct tg_json *call, size_t at,
                        struct tg_json *moved)
{
    bool moves = walk->context->upstream == TG_PROTOCOL_CHAT;
    struct tg_json *message = result_of(call), *media = moves ? moved : tg_json_new_array();
    struct tg_buf text;

    tg_buf_init(&text, 0);
    read_output(walk, tg_json_array_at(walk->items, at), path_of(walk, at), &text, media);
    tg_json_set_span(message, "content", (struct tg_span){tg_buf_text(&text), text.len});
    if (!moves)
        tg_hub_set_list(message, "x_parts", media);
    tg_json_push(walk->messages, message);
    tg_buf_done(&text);
}

static void push_missing(struct walk *walk, const struct tg_json *call)
{
    struct tg_json *message = result_of(call);

    tg_json_set_str(message, "content", "[no result provided]");
    tg_json_push(walk->messages, message);
    note(walk, TG_SEVERITY_WARN, "TOOL_RESULT_MISSING", "input");
}

/* The output of the call <id> behind item <from>; the number of items: none. */
static size_t find_output(const struct walk *walk, struct tg_span id, size_t from)
{
    size_t count = tg_json_array_len(walk->items), at = from;

    while (at < count && (kind_of(tg_json_array_at(walk->items, at)) != KIND_OUTPUT ||
                          !same(tg_hub_span(tg_json_array_at(walk->items, at), "call_id"), id)))
        at++;
    return at;
}

static bool is_answer(const struct walk *walk, const struct tg_json *output)
{
    struct tg_span id = tg_hub_span(output, "call_id");

    for (size_t i = walk->at; i-- > 0;) {
        const struct tg_json *item = tg_json_array_at(walk->items, i);

        if (kind_of(item) == KIND_CALL && same(tg_hub_span(item, "call_id"), id))
            return true;
    }
    return false;
}

/* Media of results in a message of the user behind them. */
static void push_moved(struct walk *walk, struct tg_json *media)
{
    static const char intro[] = "Attachments of the tool results above:";
    struct tg_json *message, *parts, *part;

    if (tg_json_array_len(media) == 0)
        return;
    message = tg_json_new_object();
    parts = tg_json_new_array();
    part = tg_json_new_object();
    tg_json_set_str(part, "type", "text");
    tg_json_set_str(part, "text", intro);
    tg_json_push(parts, part);
    for (size_t i = 0; i < tg_json_array_len(media); i++)
        tg_json_push(parts, tg_json_copy(tg_json_array_at(media, i)));
    tg_json_set_str(message, "role", "user");
    tg_json_set(message, "content", parts);
    tg_json_push(walk->messages, message);
}

/* The turn's calls as the client named them, in the order in which they were made. */
static void answer_calls(struct walk *walk, const struct tg_json *calls)
{
    struct tg_json *media = tg_json_new_array();
    size_t count = tg_json_array_len(walk->items), next = walk->at, call = 0;

    for (size_t i = walk->turn_at; i < walk->at && call < tg_json_array_len(calls); i++) {
        const struct tg_json *item = tg_json_array_at(walk->items, i);
        size_t at;

        if (kind_of(item) != KIND_CALL)
            continue;
        at = find_output(walk, tg_hub_span(item, "call_id"), i + 1);
        if (at == count)
            push_missing(walk, tg_json_array_at(calls, call));
        else
            push_result(walk, tg_json_array_at(calls, call), at, media);
        if (at < count && at != next)
            note(walk, TG_SEVERITY_INFO, "TOOL_RESULT_REORDERED", path_of(walk, at));
        next = at + 1;
        call++;
    }
    push_moved(walk, media);
    tg_json_free(media);
}

/* --- turns ---------------------------------------------------------------------------------- */

static void flush(struct walk *walk)
{
    struct tg_json *message = tg_turn_take(&walk->turn);
    const struct tg_json *calls;

    if (message == NULL)
        return;
    tg_json_push(walk->messages, message);
    if (tg_json_get_array(message, "tool_calls", &calls) == TG_JSON_GOT)
        answer_calls(walk, calls);
}

/* One text without a hint is a plain string. */
static struct tg_json *content_of(struct tg_json *parts)
{
    static const char *const hints[] = {"cache_control", "prompt_cache_breakpoint"};
    const struct tg_json *only = tg_json_array_at(parts, 0), *hint;
    struct tg_json *text;

    if (tg_json_array_len(parts) != 1 || !tg_hub_is(only, "type", "text"))
        return parts;
    for (size_t i = 0; i < TG_COUNT_OF(hints); i++)
        if (tg_json_get(only, hints[i], &hint) == TG_JSON_GOT)
            return parts;
    text = tg_json_new_string(tg_hub_span(only, "text"));
    tg_json_free(parts);
    return text;
}

static void push_message(struct walk *walk, const char *role, const struct tg_json *content)
{
    struct tg_json *parts, *message;
    struct tg_span text;

    if (tg_json_string(content, &text)) {
        if (text.len > 0)
            push_text(walk, role, text);
        else
            note(walk, TG_SEVERITY_INFO, "TEXT_EMPTY_DROPPED", path_of(walk, walk->at));
        return;
    }
    parts = tg_json_new_array();
    for (size_t i = 0; i < tg_json_array_len(content); i++)
        tg_responses_to_chat_part(
            walk->context, tg_json_array_at(content, i),
            tg_arena_printf(walk->context->arena, "input[%zu].content[%zu]", walk->at, i), parts);
    if (tg_json_array_len(parts) == 0) {
        tg_json_free(parts);
        return;
    }
    message = tg_json_new_object();
    tg_json_set_str(message, "role", role);
    tg_json_set(message, "content", content_of(parts));
    tg_json_push(walk->messages, message);
}

/* OpenAI's own models know the role; the templates of many others do not. */
static const char *developer_role(const struct tg_convert *context)
{
    const char *model = context->upstream_model;
    bool own = strncmp(model, "gpt-", 4) == 0 ||
               (model[0] == 'o' && model[1] >= '1' && model[1] <= '9');

    return own ? "developer" : "system";
}

static enum tg_class read_message(struct walk *walk, const struct tg_json *item,
                                  struct tg_error *err)
{
    const struct tg_json *content;

    if (tg_json_get(item, "content", &content) != TG_JSON_GOT ||
        (tg_json_type(content) != TG_JSON_STRING && tg_json_type(content) != TG_JSON_ARRAY))
        return tg_hub_invalid(err, path_of(walk, walk->at),
                              "has a content that is neither a string nor a list");
    if (tg_hub_is(item, "role", "assistant")) {
        if (tg_turn_has_calls(&walk->turn))
            flush(walk);
        tg_turn_add_message(&walk->turn, item, path_of(walk, walk->at));
        return TG_OK;
    }
    flush(walk);
    if (tg_hub_is(item, "role", "user"))
        push_message(walk, "user", content);
    else if (tg_hub_is(item, "role", "system"))
        push_message(walk, "system", content);
    else if (tg_hub_is(item, "role", "developer"))
        push_message(walk, developer_role(walk->context), content);
    else
        return tg_hub_invalid(err, path_of(walk, walk->at), "has a role that is not known");
    return TG_OK;
}

static void read_call(struct walk *walk, const struct tg_json *item)
{
    if (!tg_turn_has_calls(&walk->turn))
        walk->turn_at = walk->at;
    tg_turn_add_call(&walk->turn, item, path_of(walk, walk->at));
}

/* Outputs stand behind their calls already; one of a call that nobody made is told as text. */
static void read_orphan(struct walk *walk, const struct tg_json *item)
{
    struct tg_span id = tg_hub_span(item, "call_id");
    struct tg_json *media;
    struct tg_buf text;

    flush(walk);
    if (is_answer(walk, item))
        return;
    media = tg_json_new_array();
    tg_buf_init(&text, 0);
    tg_buf_printf(&text, "[result of unknown tool call %.*s] ", (int)TG_MIN(id.len, 100), id.ptr);
    read_output(walk, item, path_of(walk, walk->at), &text, media);
    push_text(walk, "user", (struct tg_span){tg_buf_text(&text), text.len});
    push_moved(walk, media);
    note(walk, TG_SEVERITY_WARN, "TOOL_RESULT_ORPHAN", path_of(walk, walk->at));
    tg_buf_done(&text);
    tg_json_free(media);
}

static enum tg_class read_item(struct walk *walk, const struct tg_json *item, struct tg_error *err)
{
    const char *path = path_of(walk, walk->at);

    if (tg_json_type(item) != TG_JSON_OBJECT)
        return tg_hub_invalid(err, path, "is no object");
    switch (kind_of(item)) {
    case KIND_MESSAGE:
        return read_message(walk, item, err);
    case KIND_REASONING:
        tg_turn_add_reasoning(&walk->turn, item, path);
        break;
    case KIND_CALL:
        read_call(walk, item);
        break;
    case KIND_OUTPUT:
        read_orphan(walk, item);
        break;
    case KIND_DROPPED:
        note(walk, TG_SEVERITY_WARN, "BLOCK_DROPPED", path);
        break;
    case KIND_STATE:
        note(walk, TG_SEVERITY_ERROR, "STATE_UNSUPPORTED", path);
        break;
    case KIND_UNKNOWN:
        note(walk, TG_SEVERITY_WARN, "PARAM_UNKNOWN", path);
        break;
    }
    return TG_OK;
}

static enum tg_class read_input(struct walk *walk, const struct tg_json *input,
                                struct tg_error *err)
{
    enum tg_class class = TG_OK;
    struct tg_span text;

    if (tg_json_string(input, &text)) {
        push_text(walk, "user", text);
        return TG_OK;
    }
    if (tg_json_type(input) != TG_JSON_ARRAY)
        return tg_hub_invalid(err, "input", "is neither a string nor a list");
    walk->items = input;
    for (walk->at = 0; walk->at < tg_json_array_len(input) && class == TG_OK; walk->at++)
        class = read_item(walk, tg_json_array_at(input, walk->at), err);
    if (class == TG_OK)
        flush(walk);
    return class;
}

enum tg_class tg_responses_to_chat_messages(const struct tg_convert *context,
                                            const struct tg_json *request, struct tg_json *made,
                                            struct tg_error *err)
{
    struct walk walk = {.context = context, .messages = tg_json_new_array()};
    const struct tg_json *input;
    struct tg_span instructions;
    enum tg_class class;

    tg_json_set(made, "messages", walk.messages);
    if (tg_json_get(request, "input", &input) != TG_JSON_GOT)
        return tg_hub_invalid(err, "input", "is missing");
    if (tg_hub_text(request, "instructions", &instructions))
        push_text(&walk, "system", instructions);
    tg_turn_begin(&walk.turn, context);
    class = read_input(&walk, input, err);
    tg_turn_done(&walk.turn);
    return class;
}
