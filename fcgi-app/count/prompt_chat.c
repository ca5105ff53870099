/* The prompt of a Chat body: what of it is text, and what counts otherwise. */
#include "fcgi-app/count/media.h"
#include "fcgi-app/count/prompt.h"

#include <string.h>

/* {"image_url":{"url":…,"detail":…}}, or the address alone as some clients write it. */
static void add_image(struct tg_prompt *prompt, const struct tg_json *part)
{
    const struct tg_json *image;
    struct tg_span url = {0}, detail = {0};

    if (tg_json_get_object(part, "image_url", &image) == TG_JSON_GOT) {
        (void)tg_json_get_string(image, "url", &url);
        (void)tg_json_get_string(image, "detail", &detail);
    } else {
        (void)tg_json_get_string(part, "image_url", &url);
    }
    tg_prompt_picture(prompt, url, detail.len == 3 && memcmp(detail.ptr, "low", 3) == 0);
}

static void add_part(struct tg_prompt *prompt, const struct tg_json *part)
{
    tg_prompt_member(prompt, part, "text");
    tg_prompt_member(prompt, part, "refusal");
    if (tg_prompt_has(part, "image_url"))
        add_image(prompt, part);
    if (tg_prompt_has(part, "input_audio"))
        prompt->tokens += TG_MEDIA_AUDIO;
    if (tg_prompt_has(part, "video_url"))
        prompt->tokens += TG_MEDIA_VIDEO;
    if (tg_prompt_has(part, "file"))
        prompt->tokens += TG_MEDIA_FILE;
}

/* {"function":{…}} or {"custom":{…}}; the older ways to say it have no envelope. */
static const struct tg_json *unwrap(const struct tg_json *entry)
{
    const struct tg_json *inner;

    if (tg_json_get_object(entry, "function", &inner) == TG_JSON_GOT ||
        tg_json_get_object(entry, "custom", &inner) == TG_JSON_GOT)
        return inner;
    return entry;
}

static void add_call(struct tg_prompt *prompt, const struct tg_json *entry)
{
    const struct tg_json *call = unwrap(entry);

    tg_prompt_member(prompt, call, "name");
    tg_prompt_member(prompt, call, "arguments");
    tg_prompt_member(prompt, call, "input");
}

static void add_message(struct tg_prompt *prompt, const struct tg_json *message)
{
    const struct tg_json *call;
    struct tg_span name, role = {0};

    (void)tg_json_get_string(message, "role", &role);
    tg_prompt_message(prompt, role);
    if (tg_json_get_string(message, "name", &name) == TG_JSON_GOT)
        tg_prompt_name(prompt, name);
    tg_prompt_content(prompt, message, "content", add_part);
    tg_prompt_member(prompt, message, "reasoning_content");
    tg_prompt_member(prompt, message, "refusal");
    tg_prompt_each(prompt, message, "tool_calls", add_call);
    if (tg_json_get_object(message, "function_call", &call) == TG_JSON_GOT)
        add_call(prompt, call);
}

static void add_tool(struct tg_prompt *prompt, const struct tg_json *tool)
{
    tg_prompt_function(prompt, unwrap(tool), "parameters");
}

/* The answer's schema is shown to the model as well. */
static void add_format(struct tg_prompt *prompt, const struct tg_json *body)
{
    const struct tg_json *format, *named, *schema;

    if (tg_json_get_object(body, "response_format", &format) != TG_JSON_GOT ||
        tg_json_get_object(format, "json_schema", &named) != TG_JSON_GOT)
        return;
    tg_prompt_member(prompt, named, "name");
    tg_prompt_member(prompt, named, "description");
    if (tg_json_get_object(named, "schema", &schema) == TG_JSON_GOT)
        tg_prompt_schema(prompt, schema);
}

int64_t tg_prompt_chat(const struct tg_encoders *encoders, const struct tg_json *body,
                       const char *model)
{
    struct tg_prompt prompt;

    tg_prompt_begin(&prompt, encoders, model);
    tg_prompt_each(&prompt, body, "messages", add_message);
    tg_prompt_each(&prompt, body, "tools", add_tool);
    tg_prompt_each(&prompt, body, "functions", add_tool);
    add_format(&prompt, body);
    return tg_prompt_end(&prompt);
}
