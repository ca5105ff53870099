#include "fcgi-app/convert/chat_wire.h"

#include "fcgi-app/convert/chat_edges.h"
#include "fcgi-app/convert/hub.h"

#include <string.h>
#include <strings.h>

/* Clients of Chat show a failed tool as text, models read it there. */
static void say_error(const struct tg_convert *context, struct tg_json *message)
{
    struct tg_span text = tg_hub_span(message, "content");
    bool is_error = false;
    struct tg_buf said;

    if (tg_json_get_bool(message, "x_is_error", &is_error) != TG_JSON_GOT || !is_error)
        return;
    tg_diagnose(context->diagnostics, TG_SEVERITY_INFO, "TOOL_ERROR_FLAG_INLINED", "messages",
                "");
    if (text.len >= 5 && strncasecmp(text.ptr, "error", 5) == 0)
        return;
    tg_buf_init(&said, 0);
    tg_buf_str(&said, "Error: ");
    tg_buf_add(&said, text.ptr, text.len);
    tg_json_set_span(message, "content", (struct tg_span){said.data, said.len});
    tg_buf_done(&said);
}

static void finish_parts(const struct tg_convert *context, struct tg_json *content)
{
    const struct tg_json *hint;

    for (size_t i = 0; i < tg_json_array_len(content); i++) {
        struct tg_json *part = tg_json_element(content, i);

        if (tg_json_get(part, "cache_control", &hint) != TG_JSON_GOT)
            continue;
        tg_json_remove(part, "cache_control");
        tg_diagnose(context->diagnostics, TG_SEVERITY_INFO, "CACHE_HINT_DROPPED", "messages", "");
    }
}

/* Google's models want the signature of a call back where they gave it, and speak Chat too; others
 * may refuse a key that they do not know. */
static bool takes_signatures(const struct tg_convert *context)
{
    return strstr(context->upstream_model, "gemini") != NULL;
}

static void finish_message(const struct tg_convert *context, struct tg_json *message)
{
    static const char *const foreign[] = {"reasoning_content", "reasoning_details"};
    struct tg_json *content = tg_json_member(message, "content");
    struct tg_json *calls = tg_json_member(message, "tool_calls");
    const struct tg_json *value;

    say_error(context, message);
    for (size_t i = 0; i < TG_COUNT_OF(foreign); i++) {
        if (tg_json_get(message, foreign[i], &value) == TG_JSON_GOT_ABSENT)
            continue;
        tg_json_remove(message, foreign[i]);
        tg_diagnose(context->diagnostics, TG_SEVERITY_INFO, "REASONING_DROPPED", "messages", "");
    }
    for (size_t i = 0; calls != NULL && i < tg_json_array_len(calls); i++)
        if (!takes_signatures(context))
            tg_json_remove(tg_json_element(calls, i), "extra_content");
    if (content != NULL)
        finish_parts(context, content);
}

static void drop_params(const struct tg_convert *context, struct tg_json *request)
{
    const struct tg_json *value;

    if (tg_json_get(request, "x_top_k", &value) == TG_JSON_GOT)
        tg_diagnose(context->diagnostics, TG_SEVERITY_INFO, "PARAM_DROPPED", "top_k", "");
}

void tg_chat_request_finish(const struct tg_convert *context, struct tg_json *request)
{
    struct tg_json *messages = tg_json_member(request, "messages");

    drop_params(context, request);
    for (size_t i = 0; messages != NULL && i < tg_json_array_len(messages); i++)
        finish_message(context, tg_json_element(messages, i));
    tg_chat_strip(request);
}
