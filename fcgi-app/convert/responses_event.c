#include "fcgi-app/convert/responses_event.h"

#include "fcgi-app/convert/error_body.h"
#include "fcgi-app/convert/splice.h"
#include "fcgi-app/convert/usage_figures.h"
#include "fcgi-app/convert/value.h"

#include <string.h>

enum { TYPE_TEXT = 64 };

struct reading {
    struct tg_chat_event *event;
    struct tg_buf *content; /* NULL: not wanted */
};

/* Events whose delta was generated. */
static const struct {
    const char *type;
    unsigned kind;
} deltas[] = {
    {"response.output_text.delta", TG_CHAT_TEXT},
    {"response.function_call_arguments.delta", TG_CHAT_TOOL_CALL},
    {"response.reasoning_summary_text.delta", TG_CHAT_REASONING},
    {"response.reasoning_text.delta", TG_CHAT_REASONING},
    {"response.refusal.delta", TG_CHAT_REFUSAL},
    {"response.custom_tool_call_input.delta", TG_CHAT_TOOL_CALL},
    {"response.mcp_call_arguments.delta", TG_CHAT_TOOL_CALL},
    {"response.code_interpreter_call_code.delta", TG_CHAT_TOOL_CALL},
    {"response.audio.delta", TG_CHAT_AUDIO},
    {"response.audio.transcript.delta", TG_CHAT_AUDIO},
};

static bool is(const char *type, const char *word)
{
    return strcmp(type, word) == 0;
}

static void type_of(struct tg_span text, char type[TYPE_TEXT])
{
    struct tg_value value;

    type[0] = '\0';
    if (tg_value_at(text, "type", &value))
        (void)tg_value_string(&value, type, TYPE_TEXT);
}

static void add(const struct reading *reading, struct tg_span object, const char *key,
                unsigned kind)
{
    struct tg_value value;

    if (!tg_value_at(object, key, &value) || value.type != TG_JSON_STRING ||
        !tg_value_is_filled(&value))
        return;
    reading->event->content |= kind;
    if (reading->content != NULL)
        tg_value_append(&value, reading->content);
}

static bool begin(struct tg_span text, struct tg_chat_event *ret)
{
    struct tg_value root;

    *ret = (struct tg_chat_event){.malformed = text.len == 0 || !tg_value_at(text, "", &root) ||
                                               root.type != TG_JSON_OBJECT ||
                                               tg_json_check(text.ptr, text.len, NULL) != TG_OK};
    return !ret->malformed;
}

/* {"error":{…}} of a failed response, or an error event, flat or nested. */
static void read_error(struct tg_span data, struct tg_chat_event *ret)
{
    struct tg_value response;

    ret->has_error = true;
    if (tg_value_at(data, "response", &response) && response.type == TG_JSON_OBJECT)
        data = response.text;
    tg_error_body_read(0, data, &ret->error);
}

static void read_usage(struct tg_span data, struct tg_chat_event *ret)
{
    struct tg_figures figures;

    tg_figures_init(&figures, TG_FIGURES_RESPONSES);
    tg_figures_read(&figures, data);
    ret->has_usage = tg_figures_usage(&figures, &ret->usage);
}

static void read_model(struct tg_span data, struct tg_chat_event *ret)
{
    struct tg_value model;

    if ((tg_value_at(data, "response.model", &model) || tg_value_at(data, "model", &model)) &&
        model.type == TG_JSON_STRING)
        ret->model = model.text;
}

static void read_end(struct tg_span data, const char *word, struct tg_chat_event *ret)
{
    ret->done = true;
    memcpy(ret->finish_reason, word, strlen(word) + 1);
    read_usage(data, ret);
}

/* A call, or what stands for one, begins whole or with its name; text and reasoning are told by
 * their deltas. */
static void read_added(const struct reading *reading, struct tg_span data)
{
    static const char *const texts[] = {"name", "arguments", "input"};
    struct tg_value item;
    char type[TYPE_TEXT];

    if (!tg_value_at(data, "item", &item) || item.type != TG_JSON_OBJECT)
        return;
    type_of(item.text, type);
    if (is(type, "message") || is(type, "reasoning"))
        return;
    reading->event->content |=
        is(type, "image_generation_call") ? TG_CHAT_IMAGE : TG_CHAT_TOOL_CALL;
    for (size_t i = 0; i < TG_COUNT_OF(texts); i++)
        add(reading, item.text, texts[i], TG_CHAT_TOOL_CALL);
}

void tg_responses_event_read(struct tg_span data, struct tg_chat_event *ret,
                             struct tg_buf *content)
{
    const struct reading reading = {ret, content};
    char type[TYPE_TEXT];

    if (!begin(data, ret))
        return;
    type_of(data, type);
    for (size_t i = 0; i < TG_COUNT_OF(deltas); i++)
        if (is(type, deltas[i].type)) {
            add(&reading, data, "delta", deltas[i].kind);
            return;
        }
    read_model(data, ret);
    if (is(type, "response.completed"))
        read_end(data, "completed", ret);
    else if (is(type, "response.incomplete"))
        read_end(data, "incomplete", ret);
    else if (is(type, "response.failed") || is(type, "error"))
        read_error(data, ret);
    else if (is(type, "response.output_item.added"))
        read_added(&reading, data);
    else
        ret->idle = strncmp(type, "response.", 9) != 0;
}

/* --- whole responses ------------------------------------------------------------------------ */

static void read_parts(const struct reading *reading, struct tg_span item, const char *key,
                       unsigned kind)
{
    struct tg_value list, part;
    struct tg_walk walk;

    if (!tg_value_at(item, key, &list) || list.type != TG_JSON_ARRAY)
        return;
    for (tg_walk_begin(&walk, &list); tg_walk_next(&walk, &part);)
        if (part.type == TG_JSON_OBJECT) {
            add(reading, part.text, "text", kind);
            add(reading, part.text, "refusal", TG_CHAT_REFUSAL);
        }
}

static void read_item(const struct reading *reading, struct tg_span item)
{
    static const char *const texts[] = {"name", "arguments", "input", "code"};
    char type[TYPE_TEXT];

    type_of(item, type);
    if (is(type, "message")) {
        read_parts(reading, item, "content", TG_CHAT_TEXT);
        return;
    }
    if (is(type, "reasoning")) {
        read_parts(reading, item, "summary", TG_CHAT_REASONING);
        read_parts(reading, item, "content", TG_CHAT_REASONING);
        return;
    }
    reading->event->content |=
        is(type, "image_generation_call") ? TG_CHAT_IMAGE : TG_CHAT_TOOL_CALL;
    for (size_t i = 0; i < TG_COUNT_OF(texts); i++)
        add(reading, item, texts[i], TG_CHAT_TOOL_CALL);
}

void tg_responses_answer_read(struct tg_span body, struct tg_chat_event *ret,
                              struct tg_buf *content)
{
    const struct reading reading = {ret, content};
    struct tg_value output, item, error;
    struct tg_walk walk;

    if (!begin(body, ret))
        return;
    if (tg_value_at(body, "error", &error) && tg_value_is_filled(&error)) {
        read_error(body, ret);
        return;
    }
    read_usage(body, ret);
    read_model(body, ret);
    if (tg_value_at(body, "status", &item) && item.type == TG_JSON_STRING)
        tg_value_string(&item, ret->finish_reason, sizeof ret->finish_reason);
    if (!tg_value_at(body, "output", &output) || output.type != TG_JSON_ARRAY)
        return;
    for (tg_walk_begin(&walk, &output); tg_walk_next(&walk, &item);)
        if (item.type == TG_JSON_OBJECT)
            read_item(&reading, item.text);
}

void tg_responses_event_rename(struct tg_span text, const char *model, struct tg_buf *out)
{
    struct tg_value response;

    if (!tg_value_at(text, "response", &response) || response.type != TG_JSON_OBJECT) {
        tg_buf_add(out, text.ptr, text.len);
        return;
    }
    tg_buf_add(out, text.ptr, (size_t)(response.text.ptr - text.ptr));
    tg_chat_event_rename(response.text, model, out);
    tg_buf_add(out, response.text.ptr + response.text.len,
               (size_t)(text.ptr + text.len - (response.text.ptr + response.text.len)));
}
