#include "fcgi-app/convert/chat_event.h"

#include "common/base/memory.h"
#include "fcgi-app/convert/chat_usage.h"
#include "fcgi-app/convert/error_body.h"
#include "fcgi-app/convert/value.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct reading {
    struct tg_chat_event *event;
    struct tg_buf *content; /* NULL: not wanted */
};

enum { TEXT_SLOT, REASONING_SLOT };

/* Where generated material stands in a delta or message, and whether its text is counted. */
static const struct {
    const char *key;
    unsigned kind;
    const char *text; /* member of an object, or of the objects of an array, that holds text */
} slots[] = {
    [TEXT_SLOT] = {"content", TG_CHAT_TEXT, "text"},
    [REASONING_SLOT] = {"reasoning_content", TG_CHAT_REASONING, "text"},
    {"reasoning", TG_CHAT_REASONING, "text"},
    {"reasoning_details", TG_CHAT_REASONING, NULL}, /* says again what reasoning says */
    {"refusal", TG_CHAT_REFUSAL, "text"},
    {"audio", TG_CHAT_AUDIO, "transcript"},
    {"images", TG_CHAT_IMAGE, NULL},
};

static void count_text(const struct reading *reading, const struct tg_value *value)
{
    if (reading->content != NULL)
        tg_value_append(value, reading->content);
}

static void count_member(const struct reading *reading, const struct tg_value *object,
                         const char *path)
{
    struct tg_value value;

    if (object->type == TG_JSON_OBJECT && tg_value_at(object->text, path, &value))
        count_text(reading, &value);
}

/* Whether an object or an array's element holds anything but labels and empty strings. */
static bool says_something(const struct tg_value *part, const char *text)
{
    struct tg_value value;

    if (part->type != TG_JSON_OBJECT || text == NULL || !tg_value_at(part->text, text, &value))
        return tg_value_is_filled(part);
    return tg_value_is_filled(&value);
}

static void read_slot(const struct reading *reading, const struct tg_value *value, size_t slot);

/* One element of a content array: {"type":"text","text":…}, or Mistral's
 * {"type":"thinking","thinking":[{"type":"text",…}]}. Tells whether it fills its own slot. */
static bool read_part(const struct reading *reading, const struct tg_value *part, const char *text)
{
    struct tg_value thinking;

    if (part->type == TG_JSON_OBJECT && tg_value_at(part->text, "thinking", &thinking)) {
        read_slot(reading, &thinking, REASONING_SLOT);
        return false;
    }
    if (text != NULL)
        count_member(reading, part, text);
    return says_something(part, text);
}

static void read_slot(const struct reading *reading, const struct tg_value *value, size_t slot)
{
    const char *text = slots[slot].text;
    struct tg_value part;
    struct tg_walk walk;
    bool filled = false;

    if (value->type == TG_JSON_STRING) {
        filled = tg_value_is_filled(value);
        count_text(reading, value);
    } else if (value->type == TG_JSON_OBJECT) {
        filled = says_something(value, text);
        if (text != NULL)
            count_member(reading, value, text);
    } else if (value->type == TG_JSON_ARRAY) {
        for (tg_walk_begin(&walk, value); tg_walk_next(&walk, &part);)
            filled |= read_part(reading, &part, text);
    }
    if (filled)
        reading->event->content |= slots[slot].kind;
}

static void read_call(const struct reading *reading, const struct tg_value *call)
{
    static const char *const texts[] = {"function.name", "function.arguments", "custom.name",
                                        "custom.input",  "name",               "arguments"};

    if (!tg_value_is_filled(call))
        return;
    reading->event->content |= TG_CHAT_TOOL_CALL;
    for (size_t i = 0; i < TG_COUNT_OF(texts); i++)
        count_member(reading, call, texts[i]);
}

static void read_calls(const struct reading *reading, struct tg_span message)
{
    struct tg_value value, call;
    struct tg_walk walk;

    if (tg_value_at(message, "function_call", &value))
        read_call(reading, &value);
    if (!tg_value_at(message, "tool_calls", &value) || value.type != TG_JSON_ARRAY)
        return;
    for (tg_walk_begin(&walk, &value); tg_walk_next(&walk, &call);)
        read_call(reading, &call);
}

/* The two names of the same reasoning: a dialect that sends both must not be counted twice. */
static bool is_told_already(struct tg_span message, size_t slot)
{
    return strcmp(slots[slot].key, "reasoning") == 0 &&
           tg_value_has(message, "reasoning_content");
}

static void read_message(const struct reading *reading, struct tg_span message)
{
    struct tg_value value;

    for (size_t i = 0; i < TG_COUNT_OF(slots); i++)
        if (tg_value_at(message, slots[i].key, &value) && !is_told_already(message, i))
            read_slot(reading, &value, i);
    read_calls(reading, message);
}

static void read_choice(const struct reading *reading, struct tg_span choice, const char *key)
{
    struct tg_value value;

    if (tg_value_at(choice, key, &value) && value.type == TG_JSON_OBJECT)
        read_message(reading, value.text);
    if (tg_value_at(choice, "text", &value)) /* the older completions */
        read_slot(reading, &value, TEXT_SLOT);
    if (reading->event->finish_reason[0] == '\0' && tg_value_at(choice, "finish_reason", &value))
        tg_value_string(&value, reading->event->finish_reason,
                        sizeof(reading->event->finish_reason));
}

static void read_choices(const struct reading *reading, struct tg_span text, const char *key)
{
    struct tg_value choices, choice;
    struct tg_walk walk;

    if (!tg_value_at(text, "choices", &choices) || choices.type != TG_JSON_ARRAY)
        return;
    reading->event->choices = TG_CHAT_EMPTY_CHOICES;
    for (tg_walk_begin(&walk, &choices); tg_walk_next(&walk, &choice);) {
        reading->event->choices = TG_CHAT_CHOICES;
        read_choice(reading, choice.text, key);
    }
}

static bool is_half_pair(const char *hex)
{
    return (hex[0] | 0x20) == 'd' && hex[1] > '7' && isxdigit((unsigned char)hex[1]) &&
           isxdigit((unsigned char)hex[2]) && isxdigit((unsigned char)hex[3]);
}

/* Streams cut text anywhere, also between the two escapes of a surrogate pair. Each half
 * (\ud800 to \udfff) becomes \ufffd before the text is judged once more. */
static bool is_whole_but_for_surrogates(struct tg_span text)
{
    char *copy = tg_malloc(text.len + 1);
    bool ok;

    memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';
    for (size_t i = 0; i + 5 < text.len; i++)
        if (copy[i] == '\\' && copy[i + 1] == 'u' && is_half_pair(copy + i + 2))
            memcpy(copy + i + 2, "fffd", 4);
    ok = tg_json_check(copy, text.len, NULL) == TG_OK;
    free(copy);
    return ok;
}

static bool is_object(struct tg_span text)
{
    struct tg_value root;

    return text.len > 0 && tg_value_at(text, "", &root) && root.type == TG_JSON_OBJECT &&
           (tg_json_check(text.ptr, text.len, NULL) == TG_OK || is_whole_but_for_surrogates(text));
}

static void read_text(struct tg_span text, const char *key, struct tg_chat_event *ret,
                      struct tg_buf *content)
{
    const struct reading reading = {ret, content};
    struct tg_value model;

    *ret = (struct tg_chat_event){.malformed = !is_object(text)};
    if (ret->malformed)
        return;
    if (tg_error_body_is(text)) {
        ret->has_error = true;
        tg_error_body_read(0, text, &ret->error);
    }
    read_choices(&reading, text, key);
    ret->has_usage = tg_chat_usage_find(text, &ret->usage);
    if (tg_value_at(text, "model", &model) && model.type == TG_JSON_STRING)
        ret->model = model.text;
}

static struct tg_span trimmed(struct tg_span text)
{
    while (text.len > 0 && strchr(" \t\r\n", text.ptr[text.len - 1]) != NULL &&
           text.ptr[text.len - 1] != '\0')
        text.len--;
    for (; text.len > 0 && (*text.ptr == ' ' || *text.ptr == '\t'); text.ptr++)
        text.len--;
    return text;
}

void tg_chat_event_read(struct tg_span data, struct tg_chat_event *ret, struct tg_buf *content)
{
    struct tg_span text = trimmed(data);

    if (text.len == 6 && memcmp(text.ptr, "[DONE]", 6) == 0)
        *ret = (struct tg_chat_event){.done = true};
    else
        read_text(text, "delta", ret, content);
}

void tg_chat_answer_read(struct tg_span body, struct tg_chat_event *ret, struct tg_buf *content)
{
    read_text(body, "message", ret, content);
}
