#include "fcgi-app/convert/chat_event.h"

#include "common/base/memory.h"
#include "fcgi-app/convert/chat_usage.h"
#include "fcgi-app/convert/error_body.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct reading {
    struct tg_chat_event *event;
    struct tg_buf *content; /* NULL: not wanted */
};

/* Members of a delta or message that hold generated material. */
enum member {
    CONTENT,
    REASONING_CONTENT,
    REASONING,
    REASONING_DETAILS,
    REFUSAL,
    AUDIO,
    IMAGES,
    SLOTS, /* those before are read alike */
    TOOL_CALLS = SLOTS,
    FUNCTION_CALL,
    MEMBERS
};

static const char *const member_keys[MEMBERS] = {
    [CONTENT] = "content",           [REASONING_CONTENT] = "reasoning_content",
    [REASONING] = "reasoning",       [REASONING_DETAILS] = "reasoning_details",
    [REFUSAL] = "refusal",           [AUDIO] = "audio",
    [IMAGES] = "images",             [TOOL_CALLS] = "tool_calls",
    [FUNCTION_CALL] = "function_call",
};

/* What a slot is, and the member of its objects that holds text to be counted. */
static const struct {
    unsigned kind;
    const char *text;
} slots[SLOTS] = {
    [CONTENT] = {TG_CHAT_TEXT, "text"},
    [REASONING_CONTENT] = {TG_CHAT_REASONING, "text"},
    [REASONING] = {TG_CHAT_REASONING, "text"},
    [REASONING_DETAILS] = {TG_CHAT_REASONING, NULL}, /* says again what reasoning says */
    [REFUSAL] = {TG_CHAT_REFUSAL, "text"},
    [AUDIO] = {TG_CHAT_AUDIO, "transcript"},
    [IMAGES] = {TG_CHAT_IMAGE, NULL},
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

static void read_slot(const struct reading *reading, const struct tg_value *value,
                      enum member slot);

/* One element of a content array: {"type":"text","text":…}, or Mistral's
 * {"type":"thinking","thinking":[{"type":"text",…}]}. Tells whether it fills its own slot. */
static bool read_part(const struct reading *reading, const struct tg_value *part, const char *text)
{
    struct tg_value thinking;

    if (part->type == TG_JSON_OBJECT && tg_value_at(part->text, "thinking", &thinking)) {
        read_slot(reading, &thinking, REASONING_CONTENT);
        return false;
    }
    if (text != NULL)
        count_member(reading, part, text);
    return says_something(part, text);
}

static void read_slot(const struct reading *reading, const struct tg_value *value,
                      enum member slot)
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
    for (size_t i = 0; reading->content != NULL && i < TG_COUNT_OF(texts); i++)
        count_member(reading, call, texts[i]);
}

static void read_message(const struct reading *reading, const struct tg_value *message)
{
    struct tg_value found[MEMBERS], call;
    struct tg_walk walk;

    tg_value_members(message, member_keys, found, MEMBERS);
    if (found[REASONING_CONTENT].type != TG_JSON_NULL) /* both names of it: count it once */
        found[REASONING].type = TG_JSON_NULL;
    for (enum member i = 0; i < SLOTS; i++)
        read_slot(reading, &found[i], i);
    read_call(reading, &found[FUNCTION_CALL]);
    if (found[TOOL_CALLS].type != TG_JSON_ARRAY)
        return;
    for (tg_walk_begin(&walk, &found[TOOL_CALLS]); tg_walk_next(&walk, &call);)
        read_call(reading, &call);
}

/* The first place that reports figures wins. */
static void read_usage(struct tg_chat_event *event, const struct tg_value *usage)
{
    if (!event->has_usage && usage->type == TG_JSON_OBJECT)
        event->has_usage = tg_chat_usage_read(usage->text, &event->usage);
}

/* <key>: "delta" or "message". "text" is that of the older completions. */
static void read_choice(const struct reading *reading, const struct tg_value *choice,
                        const char *key)
{
    enum { MESSAGE, TEXT, FINISH, USAGE, COUNT };
    const char *const keys[COUNT] = {key, "text", "finish_reason", "usage"};
    struct tg_value found[COUNT];

    tg_value_members(choice, keys, found, COUNT);
    read_message(reading, &found[MESSAGE]);
    read_slot(reading, &found[TEXT], CONTENT);
    if (reading->event->finish_reason[0] == '\0')
        tg_value_string(&found[FINISH], reading->event->finish_reason,
                        sizeof(reading->event->finish_reason));
    read_usage(reading->event, &found[USAGE]);
}

static void read_choices(const struct reading *reading, const struct tg_value *choices,
                         const char *key)
{
    struct tg_value choice;
    struct tg_walk walk;

    if (choices->type != TG_JSON_ARRAY)
        return;
    reading->event->choices = TG_CHAT_EMPTY_CHOICES;
    for (tg_walk_begin(&walk, choices); tg_walk_next(&walk, &choice);) {
        reading->event->choices = TG_CHAT_CHOICES;
        read_choice(reading, &choice, key);
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

static bool is_object(struct tg_span text, struct tg_value *ret)
{
    return text.len > 0 && tg_value_at(text, "", ret) && ret->type == TG_JSON_OBJECT &&
           (tg_json_check(text.ptr, text.len, NULL) == TG_OK || is_whole_but_for_surrogates(text));
}

static void read_text(struct tg_span text, const char *key, struct tg_chat_event *ret,
                      struct tg_buf *content)
{
    enum { ERROR, OBJECT, TYPE, CHOICES, USAGE, X_GROQ, MODEL, COUNT };
    static const char *const keys[COUNT] = {"error", "object", "type",  "choices",
                                            "usage", "x_groq", "model"};
    const struct reading reading = {ret, content};
    struct tg_value root, found[COUNT], groq;

    *ret = (struct tg_chat_event){.malformed = !is_object(text, &root)};
    if (ret->malformed)
        return;
    tg_value_members(&root, keys, found, COUNT);
    ret->has_error = tg_error_members_say_so(&found[ERROR], &found[OBJECT], &found[TYPE]);
    if (ret->has_error)
        tg_error_body_read(0, text, &ret->error);
    read_usage(ret, &found[USAGE]);
    if (found[X_GROQ].type == TG_JSON_OBJECT && tg_value_at(found[X_GROQ].text, "usage", &groq))
        read_usage(ret, &groq);
    read_choices(&reading, &found[CHOICES], key); /* a dialect reports inside its choice */
    if (found[MODEL].type == TG_JSON_STRING)
        ret->model = found[MODEL].text;
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
