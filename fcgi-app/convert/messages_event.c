#include "fcgi-app/convert/messages_event.h"

#include "fcgi-app/convert/error_body.h"
#include "fcgi-app/convert/splice.h"
#include "fcgi-app/convert/usage_figures.h"
#include "fcgi-app/convert/value.h"

#include <string.h>

enum { TYPE_TEXT = 48 };

struct reading {
    struct tg_chat_event *event;
    struct tg_buf *content; /* NULL: not wanted */
};

/* Members of blocks and deltas that hold generated text, and what kind of content it is. A
 * signature says nothing new, and the data of redacted thinking cannot be read. */
static const struct {
    const char *key;
    unsigned kind;
} texts[] = {
    {"text", TG_CHAT_TEXT},
    {"thinking", TG_CHAT_REASONING},
    {"partial_json", TG_CHAT_TOOL_CALL},
};

static bool type_of(struct tg_span text, char type[TYPE_TEXT])
{
    struct tg_value value;

    type[0] = '\0';
    return tg_value_at(text, "type", &value) && tg_value_string(&value, type, TYPE_TEXT);
}

static void add_text(const struct reading *reading, const struct tg_value *value)
{
    if (reading->content != NULL)
        tg_value_append(value, reading->content);
}

/* An object of tool input counts as it is written. */
static void add_input(const struct reading *reading, struct tg_span block)
{
    struct tg_value input, name;

    reading->event->content |= TG_CHAT_TOOL_CALL;
    if (reading->content == NULL)
        return;
    if (tg_value_at(block, "name", &name))
        tg_value_append(&name, reading->content);
    if (tg_value_at(block, "input", &input) && tg_value_is_filled(&input))
        tg_buf_add(reading->content, input.text.ptr, input.text.len);
}

/* A content block, or a delta of one. */
static void read_piece(const struct reading *reading, struct tg_span piece)
{
    char type[TYPE_TEXT];
    struct tg_value value;

    (void)type_of(piece, type);
    for (size_t i = 0; i < TG_COUNT_OF(texts); i++)
        if (tg_value_at(piece, texts[i].key, &value) && value.type == TG_JSON_STRING &&
            tg_value_is_filled(&value)) {
            reading->event->content |= texts[i].kind;
            add_text(reading, &value);
        }
    if (strcmp(type, "tool_use") == 0 || strcmp(type, "server_tool_use") == 0)
        add_input(reading, piece);
    else if (strcmp(type, "redacted_thinking") == 0)
        reading->event->content |= TG_CHAT_REASONING;
}

static void read_model(struct tg_chat_event *event, struct tg_span text, const char *path)
{
    struct tg_value model;

    if (tg_value_at(text, path, &model) && model.type == TG_JSON_STRING)
        event->model = model.text;
}

static void read_stop(struct tg_chat_event *event, struct tg_span text, const char *path)
{
    struct tg_value reason;

    if (tg_value_at(text, path, &reason) && reason.type == TG_JSON_STRING)
        tg_value_string(&reason, event->finish_reason, sizeof event->finish_reason);
}

static bool begin(struct tg_span text, struct tg_chat_event *ret, char type[TYPE_TEXT])
{
    struct tg_value root;

    *ret = (struct tg_chat_event){.malformed = text.len == 0 || !tg_value_at(text, "", &root) ||
                                               root.type != TG_JSON_OBJECT ||
                                               tg_json_check(text.ptr, text.len, NULL) != TG_OK};
    if (ret->malformed)
        return false;
    (void)type_of(text, type);
    ret->has_error = strcmp(type, "error") == 0;
    if (ret->has_error)
        tg_error_body_read(0, text, &ret->error);
    return !ret->has_error;
}

void tg_messages_event_read(struct tg_span data, struct tg_chat_event *ret, struct tg_buf *content)
{
    const struct reading reading = {ret, content};
    char type[TYPE_TEXT];
    struct tg_value piece;

    if (!begin(data, ret, type))
        return;
    ret->done = strcmp(type, "message_stop") == 0;
    ret->idle = strcmp(type, "ping") == 0;
    if (strcmp(type, "message_start") == 0)
        read_model(ret, data, "message.model");
    else if (strcmp(type, "message_delta") == 0)
        read_stop(ret, data, "delta.stop_reason");
    else if (tg_value_at(data, "delta", &piece) || tg_value_at(data, "content_block", &piece))
        read_piece(&reading, piece.text);
}

void tg_messages_answer_read(struct tg_span body, struct tg_chat_event *ret,
                             struct tg_buf *content)
{
    const struct reading reading = {ret, content};
    struct tg_value blocks, block;
    struct tg_figures figures;
    char type[TYPE_TEXT];
    struct tg_walk walk;

    if (!begin(body, ret, type))
        return;
    tg_figures_init(&figures, TG_FIGURES_MESSAGES);
    tg_figures_read(&figures, body);
    ret->has_usage = tg_figures_usage(&figures, &ret->usage);
    read_model(ret, body, "model");
    read_stop(ret, body, "stop_reason");
    if (!tg_value_at(body, "content", &blocks) || blocks.type != TG_JSON_ARRAY)
        return;
    for (tg_walk_begin(&walk, &blocks); tg_walk_next(&walk, &block);)
        if (block.type == TG_JSON_OBJECT)
            read_piece(&reading, block.text);
}

void tg_messages_event_rename(struct tg_span text, const char *model, struct tg_buf *out)
{
    struct tg_value message;

    if (!tg_value_at(text, "message", &message) || message.type != TG_JSON_OBJECT) {
        tg_chat_event_rename(text, model, out);
        return;
    }
    tg_buf_add(out, text.ptr, (size_t)(message.text.ptr - text.ptr));
    tg_chat_event_rename(message.text, model, out);
    tg_buf_add(out, message.text.ptr + message.text.len,
               (size_t)(text.ptr + text.len - (message.text.ptr + message.text.len)));
}
