/* Turns of Messages in the order that the provider demands (PROTOCOLS B0.2). */
#include "fcgi-app/convert/chat_to_messages_request.h"
#include "fcgi-app/convert/hub.h"
#include "fcgi-app/convert/model_facts.h"

#include <string.h>

enum { HINTS_MOST = 4 };

static void note(const struct tg_convert *context, enum tg_severity severity, const char *code)
{
    tg_diagnose(context->diagnostics, severity, code, "messages", "");
}

static struct tg_json *turn_of(const char *role)
{
    struct tg_json *turn = tg_json_new_object();

    tg_json_set_str(turn, "role", role);
    tg_json_set(turn, "content", tg_json_new_array());
    return turn;
}

static void push_text(struct tg_json *content, const char *text)
{
    struct tg_json *block = tg_json_new_object();

    tg_json_set_str(block, "type", "text");
    tg_json_set_str(block, "text", text);
    tg_json_push(content, block);
}

static struct tg_json *content_of(struct tg_json *turn)
{
    return tg_json_member(turn, "content");
}

static bool is_type(const struct tg_json *block, const char *type)
{
    return tg_hub_is(block, "type", type);
}

/* --- equal roles together ------------------------------------------------------------------- */

static bool same_role(const struct tg_json *a, const struct tg_json *b)
{
    struct tg_span one = tg_hub_span(a, "role"), other = tg_hub_span(b, "role");

    return one.len == other.len && memcmp(one.ptr, other.ptr, one.len) == 0 &&
           !tg_hub_is(a, "role", "system");
}

/* Adds what <turn> says to <last>. Takes <turn>. */
static void merge(const struct tg_convert *context, struct tg_json *last, struct tg_json *turn)
{
    struct tg_json *content = content_of(turn);

    if (!is_type(tg_json_array_at(content, 0), "tool_result"))
        note(context, TG_SEVERITY_INFO, "ROLE_MERGED");
    for (size_t i = 0; i < tg_json_array_len(content); i++)
        tg_json_push(content_of(last), tg_json_take_at(content, i));
    tg_json_free(turn);
}

/* A list whose neighbours have different roles; results alone do not count as a merge. Takes
 * <turns>. */
static struct tg_json *merged(const struct tg_convert *context, struct tg_json *turns)
{
    struct tg_json *list = tg_json_new_array(), *last = NULL;

    for (size_t i = 0; i < tg_json_array_len(turns); i++) {
        struct tg_json *turn = tg_json_take_at(turns, i);

        if (last != NULL && same_role(last, turn)) {
            merge(context, last, turn);
        } else {
            tg_json_push(list, turn);
            last = turn;
        }
    }
    tg_json_free(turns);
    return list;
}

/* --- results behind their calls ------------------------------------------------------------- */

static bool is_result_of(const struct tg_json *block, struct tg_span id)
{
    struct tg_span of = tg_hub_span(block, "tool_use_id");

    return is_type(block, "tool_result") && of.len == id.len && memcmp(of.ptr, id.ptr, id.len) == 0;
}

static bool is_call(const struct tg_json *block, struct tg_span id)
{
    struct tg_span of = tg_hub_span(block, "id");

    return is_type(block, "tool_use") && of.len == id.len && memcmp(of.ptr, id.ptr, id.len) == 0;
}

/* A second result for a call is part of the first. */
static void append_result(struct tg_json *to, const struct tg_json *more)
{
    struct tg_json *list = tg_json_new_array(), *block;
    const struct tg_json *const results[] = {to, more};
    const struct tg_json *content;
    struct tg_span text;

    for (size_t i = 0; i < TG_COUNT_OF(results); i++) {
        if (tg_json_get(results[i], "content", &content) != TG_JSON_GOT)
            continue;
        if (tg_json_string(content, &text)) {
            block = tg_json_new_object();
            tg_json_set_str(block, "type", "text");
            tg_json_set_span(block, "text", text);
            tg_json_push(list, block);
        }
        for (size_t k = 0; k < tg_json_array_len(content); k++)
            tg_json_push(list, tg_json_copy(tg_json_array_at(content, k)));
    }
    tg_json_set(to, "content", list);
}

static struct tg_json *no_result(struct tg_span id)
{
    struct tg_json *result = tg_json_new_object();

    tg_json_set_str(result, "type", "tool_result");
    tg_json_set_span(result, "tool_use_id", id);
    tg_json_set_str(result, "content", "[no result provided]");
    tg_json_set_bool(result, "is_error", true);
    return result;
}

static bool is_asked_again(const struct tg_json *calls, size_t call, struct tg_span id)
{
    for (size_t i = call + 1; i < tg_json_array_len(calls); i++)
        if (is_call(tg_json_array_at(calls, i), id))
            return true;
    return false;
}

/* The results of call <call> among <content>, as one; made up when there is none. What is taken
 * leaves a null behind, unless another call has the same id. */
static struct tg_json *take_result(const struct tg_convert *context, const struct tg_json *calls,
                                   size_t call, struct tg_json *content, size_t *expected_at)
{
    struct tg_span id = tg_hub_span(tg_json_array_at(calls, call), "id");
    bool again = is_asked_again(calls, call, id);
    struct tg_json *result = NULL;

    for (size_t i = 0; i < tg_json_array_len(content); i++) {
        const struct tg_json *block = tg_json_array_at(content, i);

        if (!is_result_of(block, id))
            continue;
        if (i != *expected_at || result != NULL)
            note(context, TG_SEVERITY_INFO, "TOOL_RESULT_REORDERED");
        if (result != NULL)
            append_result(result, block);
        else
            result = again ? tg_json_copy(block) : tg_json_take_at(content, i);
    }
    (*expected_at)++;
    if (result != NULL)
        return result;
    note(context, TG_SEVERITY_WARN, "TOOL_RESULT_MISSING");
    return no_result(id);
}

static void push_orphan(const struct tg_convert *context, const struct tg_json *result,
                        struct tg_json *content)
{
    struct tg_span id = tg_hub_span(result, "tool_use_id"), text;
    const struct tg_json *inner;
    struct tg_buf said;

    tg_buf_init(&said, 0);
    tg_buf_printf(&said, "[result of unknown tool call %.*s] ", (int)TG_MIN(id.len, 100), id.ptr);
    if (tg_json_get(result, "content", &inner) == TG_JSON_GOT) {
        if (tg_json_string(inner, &text))
            tg_buf_add(&said, text.ptr, text.len);
        for (size_t i = 0; i < tg_json_array_len(inner); i++) {
            text = tg_hub_span(tg_json_array_at(inner, i), "text");
            tg_buf_add(&said, text.ptr, text.len);
        }
    }
    push_text(content, tg_buf_text(&said));
    tg_buf_done(&said);
    note(context, TG_SEVERITY_WARN, "TOOL_RESULT_ORPHAN");
}

static bool has_call(const struct tg_json *calls, const struct tg_json *result)
{
    for (size_t i = 0; calls != NULL && i < tg_json_array_len(calls); i++)
        if (is_call(tg_json_array_at(calls, i), tg_hub_span(result, "tool_use_id")))
            return true;
    return false;
}

/* <content> of the turn behind the calls (NULL: none): results in their order, then all else.
 * Takes <content>. */
static struct tg_json *answered(const struct tg_convert *context, const struct tg_json *calls,
                                struct tg_json *content)
{
    struct tg_json *list = tg_json_new_array();
    size_t at = 0;

    for (size_t i = 0; calls != NULL && i < tg_json_array_len(calls); i++)
        if (is_type(tg_json_array_at(calls, i), "tool_use"))
            tg_json_push(list, take_result(context, calls, i, content, &at));
    for (size_t i = 0; i < tg_json_array_len(content); i++) {
        const struct tg_json *block = tg_json_array_at(content, i);

        if (tg_json_type(block) == TG_JSON_NULL)
            continue;
        if (!is_type(block, "tool_result"))
            tg_json_push(list, tg_json_take_at(content, i));
        else if (!has_call(calls, block))
            push_orphan(context, block, list);
    }
    tg_json_free(content);
    return list;
}

static bool has_calls(const struct tg_json *content)
{
    for (size_t i = 0; i < tg_json_array_len(content); i++)
        if (is_type(tg_json_array_at(content, i), "tool_use"))
            return true;
    return false;
}

/* Takes <list>. */
static void push_user(struct tg_json *turns, struct tg_json *list)
{
    struct tg_json *turn = turn_of("user");

    tg_json_set(turn, "content", list);
    tg_json_push(turns, turn);
}

/* Every call is answered in the turn behind its own. Takes <turns>. */
static struct tg_json *paired(const struct tg_convert *context, struct tg_json *turns)
{
    struct tg_json *list = tg_json_new_array();
    const struct tg_json *calls = NULL; /* of the assistant's turn before; NULL: none */

    for (size_t i = 0; i < tg_json_array_len(turns); i++) {
        struct tg_json *turn = tg_json_take_at(turns, i);

        if (tg_hub_is(turn, "role", "user")) {
            tg_json_set(turn, "content",
                        answered(context, calls, tg_json_take(turn, "content")));
            tg_json_push(list, turn);
            calls = NULL;
            continue;
        }
        if (calls != NULL)
            push_user(list, answered(context, calls, tg_json_new_array()));
        tg_json_push(list, turn);
        calls = tg_hub_is(turn, "role", "assistant") && has_calls(content_of(turn))
                    ? content_of(turn)
                    : NULL;
    }
    if (calls != NULL)
        push_user(list, answered(context, calls, tg_json_new_array()));
    tg_json_free(turns);
    return list;
}

/* --- the first and the last turn ------------------------------------------------------------ */

static void begin_with_user(const struct tg_convert *context, struct tg_json *turns)
{
    struct tg_json *first;

    if (tg_json_array_len(turns) > 0 && tg_hub_is(tg_json_array_at(turns, 0), "role", "user"))
        return;
    first = turn_of("user");
    push_text(content_of(first), "Continue.");
    tg_json_insert(turns, 0, first);
    note(context, TG_SEVERITY_WARN, "TURN_SYNTHESIZED");
}

/* The text of a last assistant turn must not end with a blank; a model that cannot go on with it
 * gets a user's word. */
static void end_with_user(const struct tg_convert *context, struct tg_json *turns)
{
    size_t count = tg_json_array_len(turns), blocks;
    struct tg_json *last = tg_json_element(turns, count - 1), *turn, *block;
    struct tg_span text;

    if (!tg_hub_is(last, "role", "assistant"))
        return;
    if (!tg_model_can(context->model, TG_MODEL_PREFILL)) {
        turn = turn_of("user");
        push_text(content_of(turn), "Continue.");
        tg_json_push(turns, turn);
        note(context, TG_SEVERITY_WARN, "PREFILL_UNSUPPORTED");
        return;
    }
    blocks = tg_json_array_len(content_of(last));
    block = blocks > 0 ? tg_json_element(content_of(last), blocks - 1) : NULL;
    if (block == NULL || !is_type(block, "text"))
        return;
    text = tg_hub_span(block, "text");
    while (text.len > 0 && strchr(" \t\r\n", text.ptr[text.len - 1]) != NULL)
        text.len--;
    tg_json_set_span(block, "text", text);
}

/* --- cache hints ---------------------------------------------------------------------------- */

/* Anthropic takes four; the latest are the ones that matter. */
static void limit_hints(const struct tg_convert *context, struct tg_json *turns)
{
    const struct tg_json *hint;
    int left = HINTS_MOST - 1; /* one is left for tools or the system prompt */

    for (size_t i = tg_json_array_len(turns); i-- > 0;) {
        struct tg_json *content = content_of(tg_json_element(turns, i));

        for (size_t k = tg_json_array_len(content); k-- > 0;) {
            struct tg_json *block = tg_json_element(content, k);

            if (tg_json_get(block, "cache_control", &hint) != TG_JSON_GOT || left-- > 0)
                continue;
            tg_json_remove(block, "cache_control");
            note(context, TG_SEVERITY_INFO, "CACHE_HINT_DROPPED");
        }
    }
}

struct tg_json *tg_messages_order(const struct tg_convert *context, struct tg_json *turns)
{
    struct tg_json *list = merged(context, turns);

    list = paired(context, list);
    list = merged(context, list); /* a turn that was added may have an equal neighbour */
    begin_with_user(context, list);
    end_with_user(context, list);
    limit_hints(context, list);
    return list;
}
