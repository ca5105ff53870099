/* The prompt of a Chat body: what of it is text, and what counts flat. */
#include "fcgi-app/count/estimate.h"
#include "fcgi-app/count/media.h"

#include <stdio.h>
#include <string.h>

enum { PER_BODY = 3, PER_MESSAGE = 3, PER_NAME = 3, PER_TOOL = 8 };

struct prompt {
    struct tg_estimate text;
    const char *model;
    int64_t flat; /* tokens that are no text */
};

/* Texts are joined by newlines. */
static void add_text(struct prompt *prompt, struct tg_span text)
{
    if (text.len == 0)
        return;
    if (prompt->text.hundredths > 0 || prompt->text.need > 0)
        tg_estimate_add(&prompt->text, "\n", 1);
    tg_estimate_add(&prompt->text, text.ptr, text.len);
}

static void add_member(struct prompt *prompt, const struct tg_json *object, const char *key)
{
    struct tg_span text;

    if (tg_json_get_string(object, key, &text) == TG_JSON_GOT)
        add_text(prompt, text);
}

static void add_piece(struct prompt *prompt, const char *text)
{
    tg_estimate_add(&prompt->text, text, strlen(text));
}

static void add_value(struct prompt *prompt, const struct tg_json *value);

static bool add_value_member(void *context, const char *key, const struct tg_json *value)
{
    struct prompt *prompt = context;

    add_piece(prompt, "\"");
    add_piece(prompt, key);
    add_piece(prompt, "\":");
    add_value(prompt, value);
    add_piece(prompt, ",");
    return true;
}

static void add_array(struct prompt *prompt, const struct tg_json *array)
{
    add_piece(prompt, "[");
    for (size_t i = 0; i < tg_json_array_len(array); i++) {
        add_piece(prompt, i > 0 ? "," : "");
        add_value(prompt, tg_json_array_at(array, i));
    }
    add_piece(prompt, "]");
}

static void add_number(struct prompt *prompt, const struct tg_json *value)
{
    char text[24];
    int64_t number;

    if (tg_json_int(value, &number))
        snprintf(text, sizeof(text), "%lld", (long long)number);
    else
        snprintf(text, sizeof(text), "0.5"); /* the digits of a fraction do not matter */
    add_piece(prompt, text);
}

/* A schema, about as it looks when written compactly. The gate bounds its depth. */
static void add_value(struct prompt *prompt, const struct tg_json *value)
{
    struct tg_span text;

    switch (tg_json_type(value)) {
    case TG_JSON_OBJECT:
        add_piece(prompt, "{");
        tg_json_each(value, add_value_member, prompt);
        add_piece(prompt, "}");
        break;
    case TG_JSON_ARRAY:
        add_array(prompt, value);
        break;
    case TG_JSON_STRING:
        add_piece(prompt, "\"");
        if (tg_json_string(value, &text))
            tg_estimate_add(&prompt->text, text.ptr, text.len);
        add_piece(prompt, "\"");
        break;
    case TG_JSON_NUMBER:
        add_number(prompt, value);
        break;
    default:
        add_piece(prompt, "true");
        break;
    }
}

static bool has(const struct tg_json *object, const char *key)
{
    const struct tg_json *value;

    return tg_json_get(object, key, &value) == TG_JSON_GOT;
}

static bool wants_low_detail(const struct tg_json *part)
{
    const struct tg_json *image;
    struct tg_span detail;

    return tg_json_get_object(part, "image_url", &image) == TG_JSON_GOT &&
           tg_json_get_string(image, "detail", &detail) == TG_JSON_GOT && detail.len == 3 &&
           memcmp(detail.ptr, "low", 3) == 0;
}

static void add_part(struct prompt *prompt, const struct tg_json *part)
{
    add_member(prompt, part, "text");
    add_member(prompt, part, "refusal");
    if (has(part, "image_url"))
        prompt->flat += tg_media_image(prompt->model, wants_low_detail(part));
    if (has(part, "input_audio"))
        prompt->flat += TG_MEDIA_AUDIO;
    if (has(part, "video_url"))
        prompt->flat += TG_MEDIA_VIDEO;
    if (has(part, "file"))
        prompt->flat += TG_MEDIA_FILE;
}

/* Name, description, parameters of a definition; name and arguments of a call. */
static void add_function(struct prompt *prompt, const struct tg_json *function)
{
    const struct tg_json *parameters;

    add_member(prompt, function, "name");
    add_member(prompt, function, "description");
    add_member(prompt, function, "arguments");
    if (tg_json_get_object(function, "parameters", &parameters) == TG_JSON_GOT) {
        add_piece(prompt, "\n");
        add_value(prompt, parameters);
    }
}

/* The objects of an array of {"function":{…}} or {"custom":{…}}; returns how many it has. */
static size_t add_functions(struct prompt *prompt, const struct tg_json *owner, const char *key)
{
    const struct tg_json *list, *function;

    if (tg_json_get_array(owner, key, &list) != TG_JSON_GOT)
        return 0;
    for (size_t i = 0; i < tg_json_array_len(list); i++) {
        const struct tg_json *entry = tg_json_array_at(list, i);

        if (tg_json_get_object(entry, "function", &function) == TG_JSON_GOT)
            add_function(prompt, function);
        else if (tg_json_get_object(entry, "custom", &function) == TG_JSON_GOT) {
            add_function(prompt, function);
            add_member(prompt, function, "input");
        } else
            add_function(prompt, entry); /* the older "functions" has no envelope */
    }
    return tg_json_array_len(list);
}

static void add_message(struct prompt *prompt, const struct tg_json *message)
{
    const struct tg_json *content, *call;
    struct tg_span name;

    prompt->flat += PER_MESSAGE;
    if (tg_json_get_string(message, "name", &name) == TG_JSON_GOT) {
        prompt->flat += PER_NAME;
        add_text(prompt, name);
    }
    add_member(prompt, message, "content");
    add_member(prompt, message, "reasoning_content");
    add_member(prompt, message, "refusal");
    if (tg_json_get_array(message, "content", &content) == TG_JSON_GOT)
        for (size_t i = 0; i < tg_json_array_len(content); i++)
            add_part(prompt, tg_json_array_at(content, i));
    add_functions(prompt, message, "tool_calls");
    if (tg_json_get_object(message, "function_call", &call) == TG_JSON_GOT)
        add_function(prompt, call);
}

int64_t tg_estimate_chat(const struct tg_json *body, const char *model)
{
    struct prompt prompt = {.model = model, .flat = PER_BODY};
    const struct tg_json *messages;
    size_t tools;

    tg_estimate_init(&prompt.text, tg_estimate_table_of(model));
    if (tg_json_get_array(body, "messages", &messages) == TG_JSON_GOT)
        for (size_t i = 0; i < tg_json_array_len(messages); i++)
            add_message(&prompt, tg_json_array_at(messages, i));
    tools = add_functions(&prompt, body, "tools") + add_functions(&prompt, body, "functions");
    return prompt.flat + (int64_t)tools * PER_TOOL + tg_estimate_total(&prompt.text);
}
