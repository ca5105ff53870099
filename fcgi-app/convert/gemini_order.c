/* The turns of a Gemini request in the order that Google accepts (PROTOCOLS B0.3): a user first,
 * equal roles together, and behind N calls one content of exactly their N responses. Calls and
 * responses are paired by their ids, which older models do not get to see. */
#include "fcgi-app/convert/chat_to_gemini.h"
#include "fcgi-app/convert/gemini_hub.h"
#include "fcgi-app/convert/gemini_model.h"

#include <string.h>

static void note(const struct tg_convert *context, enum tg_severity severity, const char *code)
{
    tg_diagnose(context->diagnostics, severity, code, "messages", "");
}

static struct tg_json *parts_of(struct tg_json *content)
{
    return tg_json_member(content, "parts");
}

/* Takes <parts>. */
static void push_content(struct tg_json *list, const char *role, struct tg_json *parts)
{
    struct tg_json *content = tg_json_new_object();

    tg_json_set_str(content, "role", role);
    tg_json_set(content, "parts", parts);
    tg_json_push(list, content);
}

static void push_text(struct tg_json *parts, const char *text)
{
    struct tg_json *part = tg_json_new_object();

    tg_json_set_str(part, "text", text);
    tg_json_push(parts, part);
}

static const struct tg_json *call_in(const struct tg_json *part)
{
    return tg_gemini_object(part, "functionCall");
}

static const struct tg_json *response_in(const struct tg_json *part)
{
    return tg_gemini_object(part, "functionResponse");
}

/* --- equal roles ---------------------------------------------------------------------------- */

static struct tg_json *merged(const struct tg_convert *context, const struct tg_json *contents)
{
    struct tg_json *list = tg_json_new_array(), *last = NULL;

    for (size_t i = 0; i < tg_json_array_len(contents); i++) {
        const struct tg_json *content = tg_json_array_at(contents, i), *parts;

        if (last == NULL || tg_hub_is(last, "role", "user") != tg_hub_is(content, "role", "user")) {
            last = tg_json_copy(content);
            tg_json_push(list, last);
            continue;
        }
        if (tg_json_get_array(content, "parts", &parts) != TG_JSON_GOT)
            continue;
        if (response_in(tg_json_array_at(parts, 0)) == NULL)
            note(context, TG_SEVERITY_INFO, "ROLE_MERGED");
        for (size_t k = 0; k < tg_json_array_len(parts); k++)
            tg_json_push(parts_of(last), tg_json_copy(tg_json_array_at(parts, k)));
    }
    return list;
}

/* --- responses behind their calls ----------------------------------------------------------- */

static bool has_id(const struct tg_json *one, const struct tg_json *other)
{
    struct tg_span a = tg_hub_span(one, "id"), b = tg_hub_span(other, "id");

    return a.len == b.len && memcmp(a.ptr, b.ptr, a.len) == 0;
}

static struct tg_json *missing(const struct tg_json *call)
{
    struct tg_json *part = tg_json_new_object(), *made = tg_json_new_object();
    struct tg_json *response = tg_json_new_object();

    tg_json_set_copy(made, "id", call, "id");
    tg_json_set_copy(made, "name", call, "name");
    tg_json_set_str(response, "error", "no result provided");
    tg_json_set(made, "response", response);
    tg_json_set(part, "functionResponse", made);
    return part;
}

/* The first response to <call> in <from>, which is taken out; made up when there is none. */
static struct tg_json *take_response(const struct tg_convert *context, struct tg_json *from,
                                     const struct tg_json *call)
{
    for (size_t i = 0; i < tg_json_array_len(from); i++) {
        const struct tg_json *response = response_in(tg_json_array_at(from, i));
        struct tg_json *taken;

        if (response == NULL || !has_id(call, response))
            continue;
        if (i > 0)
            note(context, TG_SEVERITY_INFO, "TOOL_RESULT_REORDERED");
        taken = tg_json_copy(tg_json_array_at(from, i));
        tg_json_drop(from, i);
        return taken;
    }
    note(context, TG_SEVERITY_WARN, "TOOL_RESULT_MISSING");
    return missing(call);
}

/* A response that nothing asked for, as text. */
static struct tg_json *orphan(const struct tg_convert *context, const struct tg_json *response)
{
    struct tg_span id = tg_hub_span(response, "id");
    struct tg_json *part = tg_json_new_object();
    const struct tg_json *said;
    struct tg_buf text;

    tg_buf_init(&text, 0);
    tg_buf_str(&text, "[result of unknown tool call ");
    tg_buf_add(&text, id.ptr, id.len);
    tg_buf_str(&text, "] ");
    if (tg_json_get(response, "response", &said) == TG_JSON_GOT)
        tg_json_print(said, &text);
    tg_json_set_span(part, "text", (struct tg_span){text.data, text.len});
    tg_buf_done(&text);
    note(context, TG_SEVERITY_WARN, "TOOL_RESULT_ORPHAN");
    return part;
}

/* Takes <rest>: what a user's turn says beside its responses. */
static void push_rest(const struct tg_convert *context, struct tg_json *list,
                      struct tg_json *rest)
{
    struct tg_json *parts = tg_json_new_array();

    for (size_t i = 0; i < tg_json_array_len(rest); i++) {
        const struct tg_json *part = tg_json_array_at(rest, i), *response = response_in(part);

        tg_json_push(parts, response != NULL ? orphan(context, response) : tg_json_copy(part));
    }
    if (tg_json_array_len(parts) > 0)
        push_content(list, "user", parts);
    else
        tg_json_free(parts);
    tg_json_free(rest);
}

/* One content of the responses to the calls among <calls> (NULL: none), then the rest. */
static void push_user(const struct tg_convert *context, struct tg_json *list,
                      const struct tg_json *calls, const struct tg_json *parts)
{
    struct tg_json *rest = parts != NULL ? tg_json_copy(parts) : tg_json_new_array();
    struct tg_json *responses = tg_json_new_array();

    for (size_t i = 0; calls != NULL && i < tg_json_array_len(calls); i++) {
        const struct tg_json *call = call_in(tg_json_array_at(calls, i));

        if (call != NULL)
            tg_json_push(responses, take_response(context, rest, call));
    }
    if (tg_json_array_len(responses) > 0)
        push_content(list, "user", responses);
    else
        tg_json_free(responses);
    push_rest(context, list, rest);
}

static bool has_calls(const struct tg_json *parts)
{
    for (size_t i = 0; i < tg_json_array_len(parts); i++)
        if (call_in(tg_json_array_at(parts, i)) != NULL)
            return true;
    return false;
}

static struct tg_json *paired(const struct tg_convert *context, const struct tg_json *contents)
{
    struct tg_json *list = tg_json_new_array();
    const struct tg_json *calls = NULL, *parts;

    for (size_t i = 0; i < tg_json_array_len(contents); i++) {
        const struct tg_json *content = tg_json_array_at(contents, i);

        if (tg_json_get_array(content, "parts", &parts) != TG_JSON_GOT)
            continue;
        if (tg_hub_is(content, "role", "user")) {
            push_user(context, list, calls, parts);
            calls = NULL;
            continue;
        }
        tg_json_push(list, tg_json_copy(content));
        calls = has_calls(parts) ? parts : NULL;
    }
    if (calls != NULL)
        push_user(context, list, calls, NULL);
    return list;
}

static void begin_with_user(const struct tg_convert *context, struct tg_json *list)
{
    struct tg_json *first, *parts;

    if (tg_json_array_len(list) > 0 && tg_hub_is(tg_json_array_at(list, 0), "role", "user"))
        return;
    first = tg_json_new_object();
    parts = tg_json_new_array();
    push_text(parts, "Continue.");
    tg_json_set_str(first, "role", "user");
    tg_json_set(first, "parts", parts);
    tg_json_insert(list, 0, first);
    note(context, TG_SEVERITY_WARN, "TURN_SYNTHESIZED");
}

/* --- signatures and ids --------------------------------------------------------------------- */

static bool answers_calls(const struct tg_json *content)
{
    const struct tg_json *parts;

    return tg_json_get_array(content, "parts", &parts) == TG_JSON_GOT &&
           response_in(tg_json_array_at(parts, 0)) != NULL;
}

/* A word of the user's that stood in no turn of results. */
static bool begins_a_turn(const struct tg_json *list, size_t at)
{
    const struct tg_json *content = tg_json_array_at(list, at);

    return tg_hub_is(content, "role", "user") && !answers_calls(content) &&
           (at == 0 || !answers_calls(tg_json_array_at(list, at - 1)));
}

static void sign_first_call(const struct tg_convert *context, struct tg_json *parts)
{
    for (size_t i = 0; i < tg_json_array_len(parts); i++) {
        struct tg_json *part = tg_json_element(parts, i);

        if (call_in(part) == NULL)
            continue;
        if (tg_hub_span(part, "thoughtSignature").len == 0) {
            tg_json_set_str(part, "thoughtSignature", TG_GEMINI_NO_SIGNATURE);
            note(context, TG_SEVERITY_WARN, "REASONING_SIG_MISSING");
        }
        return;
    }
}

/* Since the user's turn began every first call must be signed; Google has a value
 * for a signature that was lost, and none is made up. */
static void sign_calls(const struct tg_convert *context, struct tg_json *list)
{
    for (size_t i = tg_json_array_len(list); i-- > 0;) {
        struct tg_json *content = tg_json_element(list, i);

        if (begins_a_turn(list, i))
            return;
        if (tg_hub_is(content, "role", "model"))
            sign_first_call(context, parts_of(content));
    }
}

static void drop_ids(struct tg_json *list)
{
    static const char *const keys[] = {"functionCall", "functionResponse"};

    for (size_t i = 0; i < tg_json_array_len(list); i++) {
        struct tg_json *parts = parts_of(tg_json_element(list, i));

        for (size_t k = 0; k < tg_json_array_len(parts); k++)
            for (size_t m = 0; m < TG_COUNT_OF(keys); m++) {
                struct tg_json *inner = tg_json_member(tg_json_element(parts, k), keys[m]);

                if (inner != NULL)
                    tg_json_remove(inner, "id");
            }
    }
}

void tg_gemini_order(const struct tg_convert *context, struct tg_json *contents)
{
    struct tg_json *together = merged(context, contents), *list = paired(context, together);

    tg_json_free(together);
    begin_with_user(context, list);
    if (tg_gemini_model_of(context->upstream_model).generation >= TG_GEMINI_3)
        sign_calls(context, list);
    else
        drop_ids(list);
    while (tg_json_array_len(contents) > 0)
        tg_json_drop(contents, tg_json_array_len(contents) - 1);
    for (size_t i = 0; i < tg_json_array_len(list); i++)
        tg_json_push(contents, tg_json_copy(tg_json_array_at(list, i)));
    tg_json_free(list);
}
