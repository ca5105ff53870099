/* The conversation of a Chat request as turns of Messages (PROTOCOLS B2). */
#include "fcgi-app/convert/chat_to_messages_request.h"
#include "fcgi-app/convert/hub.h"
#include "fcgi-app/convert/model_facts.h"
#include "fcgi-app/convert/names.h"

#include <string.h>

struct walk {
    const struct tg_convert *context;
    struct tg_json *system, *messages; /* blocks; turns */
    bool begun;                        /* another role than system was read */
};

static void note(const struct walk *walk, enum tg_severity severity, const char *code,
                 const char *path)
{
    tg_diagnose(walk->context->diagnostics, severity, code, path, "");
}

/* Takes <blocks>; a turn without any is none. */
static void push_turn(struct walk *walk, const char *role, struct tg_json *blocks)
{
    struct tg_json *turn;

    if (tg_json_array_len(blocks) == 0) {
        tg_json_free(blocks);
        return;
    }
    turn = tg_json_new_object();
    tg_json_set_str(turn, "role", role);
    tg_json_set(turn, "content", blocks);
    tg_json_push(walk->messages, turn);
}

/* --- system --------------------------------------------------------------------------------- */

/* A later system message stays where it is: hoisting it would change the order of what was said
 * and break the provider's cache. */
static void push_late_system(struct walk *walk, const struct tg_json *content, const char *path)
{
    struct tg_json *blocks = tg_json_new_array(), *block;
    struct tg_buf text;

    tg_chat_to_messages_blocks(walk->context, content, path, blocks);
    if (tg_model_can(walk->context->model, TG_MODEL_MID_SYSTEM)) {
        push_turn(walk, "system", blocks);
        return;
    }
    tg_buf_init(&text, 0);
    tg_buf_str(&text, "<system>");
    for (size_t i = 0; i < tg_json_array_len(blocks); i++) {
        struct tg_span piece = tg_hub_span(tg_json_array_at(blocks, i), "text");

        tg_buf_add(&text, piece.ptr, piece.len);
    }
    tg_buf_str(&text, "</system>");
    tg_json_free(blocks);
    block = tg_json_new_object();
    tg_json_set_str(block, "type", "text");
    tg_json_set_span(block, "text", (struct tg_span){text.data, text.len});
    blocks = tg_json_new_array();
    tg_json_push(blocks, block);
    push_turn(walk, "user", blocks);
    tg_buf_done(&text);
    note(walk, TG_SEVERITY_WARN, "SYSTEM_MOVED", path);
}

static void read_system(struct walk *walk, const struct tg_json *content, const char *path)
{
    if (walk->begun)
        push_late_system(walk, content, path);
    else
        tg_chat_to_messages_blocks(walk->context, content, path, walk->system);
}

/* One block without a hint is a plain string. */
static void set_system(struct walk *walk, struct tg_json *made)
{
    const struct tg_json *only = tg_json_array_at(walk->system, 0), *hint;

    if (tg_json_array_len(walk->system) == 1 &&
        tg_json_get(only, "cache_control", &hint) != TG_JSON_GOT)
        tg_json_set_span(made, "system", tg_hub_span(only, "text"));
    else if (tg_json_array_len(walk->system) > 0)
        tg_json_set(made, "system", tg_json_copy(walk->system));
}

/* --- results -------------------------------------------------------------------------------- */

/* Text alone is a string; parts of other kinds stay blocks. */
static struct tg_json *result_content(const struct walk *walk, const struct tg_json *message,
                                      const char *path)
{
    struct tg_json *blocks = tg_json_new_array(), *text;
    const struct tg_json *content;

    if (tg_json_get(message, "content", &content) == TG_JSON_GOT)
        tg_chat_to_messages_blocks(walk->context, content, path, blocks);
    if (tg_json_get_array(message, "x_parts", &content) == TG_JSON_GOT)
        tg_chat_to_messages_blocks(walk->context, content, path, blocks);
    if (tg_json_array_len(blocks) != 1 ||
        !tg_hub_is(tg_json_array_at(blocks, 0), "type", "text"))
        return blocks;
    text = tg_json_new_string(tg_hub_span(tg_json_array_at(blocks, 0), "text"));
    tg_json_free(blocks);
    return text;
}

static void read_result(struct walk *walk, const struct tg_json *message, const char *path)
{
    struct tg_span id = tg_hub_span(message, "tool_call_id");
    struct tg_json *block = tg_json_new_object(), *blocks = tg_json_new_array(), *content;
    bool is_error = false;

    if (id.len == 0)
        id = tg_hub_span(message, "name"); /* role "function" of older clients */
    content = result_content(walk, message, path);
    tg_json_set_str(block, "type", "tool_result");
    tg_json_set_str(block, "tool_use_id",
                    tg_call_id_make(walk->context->arena, id, TG_CALL_ID_MOST));
    if (tg_json_type(content) == TG_JSON_STRING || tg_json_array_len(content) > 0)
        tg_json_set(block, "content", content);
    else
        tg_json_free(content);
    if (tg_json_get_bool(message, "x_is_error", &is_error) == TG_JSON_GOT && is_error)
        tg_json_set_bool(block, "is_error", true);
    tg_json_push(blocks, block);
    push_turn(walk, "user", blocks);
}

/* --- the walk ------------------------------------------------------------------------------- */

static void read_user(struct walk *walk, const struct tg_json *message,
                      const struct tg_json *content, const char *path)
{
    struct tg_json *blocks = tg_json_new_array();
    struct tg_span name;

    if (tg_hub_text(message, "name", &name))
        note(walk, TG_SEVERITY_INFO, "NAME_DROPPED", path);
    tg_chat_to_messages_blocks(walk->context, content, path, blocks);
    push_turn(walk, "user", blocks);
}

static enum tg_class read_message(struct walk *walk, const struct tg_json *message, size_t at,
                                  struct tg_error *err)
{
    const char *path = tg_arena_printf(walk->context->arena, "messages[%zu]", at);
    const struct tg_json *content;
    bool has_content = tg_json_get(message, "content", &content) == TG_JSON_GOT;
    bool system = tg_hub_is(message, "role", "system") || tg_hub_is(message, "role", "developer");

    if (has_content && tg_json_type(content) != TG_JSON_STRING &&
        tg_json_type(content) != TG_JSON_ARRAY)
        return tg_hub_invalid(err, path, "has a content that is neither a string nor a list");
    if (system) {
        if (has_content)
            read_system(walk, content, path);
        return TG_OK;
    }
    walk->begun = true;
    if (tg_hub_is(message, "role", "assistant"))
        push_turn(walk, "assistant", tg_chat_to_messages_assistant(walk->context, message, path));
    else if (tg_hub_is(message, "role", "tool") || tg_hub_is(message, "role", "function"))
        read_result(walk, message, path);
    else if (!tg_hub_is(message, "role", "user"))
        return tg_hub_invalid(err, path, "has a role that is not known");
    else if (!has_content)
        return tg_hub_invalid(err, path, "has no content");
    else
        read_user(walk, message, content, path);
    return TG_OK;
}

enum tg_class tg_chat_to_messages_turns(const struct tg_convert *context,
                                        const struct tg_json *request, struct tg_json *made,
                                        struct tg_error *err)
{
    struct walk walk = {.context = context};
    const struct tg_json *messages;
    enum tg_class class = TG_OK;

    if (tg_json_get_array(request, "messages", &messages) != TG_JSON_GOT)
        return tg_hub_invalid(err, "messages", "is no list");
    walk.system = tg_json_new_array();
    walk.messages = tg_json_new_array();
    for (size_t i = 0; i < tg_json_array_len(messages) && class == TG_OK; i++)
        class = read_message(&walk, tg_json_array_at(messages, i), i, err);
    if (class == TG_OK) {
        tg_json_set(made, "messages", tg_messages_order(context, walk.messages));
        set_system(&walk, made);
    } else {
        tg_json_free(walk.messages);
    }
    tg_json_free(walk.system);
    return class;
}
