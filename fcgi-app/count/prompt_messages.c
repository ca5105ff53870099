/* The prompt of an Anthropic Messages body. */
#include "fcgi-app/count/prompt.h"

#include <string.h>

static const struct tg_span system_role = {"system", 6};

/* {"type":"base64","media_type":…,"data":…}, {"type":"url"…}, {"type":"text","data":…} */
static void add_source(struct tg_prompt *prompt, const struct tg_json *source, bool is_image)
{
    struct tg_span type = {0}, mime = {"image/", 6}, data = {0};

    (void)tg_json_get_string(source, "type", &type);
    (void)tg_json_get_string(source, "data", &data);
    if (type.len == 4 && memcmp(type.ptr, "text", 4) == 0) {
        tg_prompt_text(prompt, data);
        return;
    }
    if (!is_image) {
        mime = (struct tg_span){0};
        (void)tg_json_get_string(source, "media_type", &mime);
    }
    tg_prompt_media(prompt, mime, data);
}

/* How deep blocks nest is bounded by the gate. */
static void add_block(struct tg_prompt *prompt, const struct tg_json *block)
{
    const struct tg_json *inner;
    struct tg_span type = {0};

    (void)tg_json_get_string(block, "type", &type);
    tg_prompt_member(prompt, block, "text");
    tg_prompt_member(prompt, block, "thinking");
    if (tg_json_get_object(block, "source", &inner) == TG_JSON_GOT)
        add_source(prompt, inner, type.len == 5 && memcmp(type.ptr, "image", 5) == 0);
    if (tg_json_get_object(block, "input", &inner) == TG_JSON_GOT) {
        tg_prompt_member(prompt, block, "name");
        tg_prompt_value(prompt, inner);
    }
    tg_prompt_content(prompt, block, "content", add_block); /* of a tool's result */
}

static void add_message(struct tg_prompt *prompt, const struct tg_json *message)
{
    struct tg_span role = {0};

    (void)tg_json_get_string(message, "role", &role);
    tg_prompt_message(prompt, role);
    tg_prompt_content(prompt, message, "content", add_block);
}

static void add_tool(struct tg_prompt *prompt, const struct tg_json *tool)
{
    tg_prompt_function(prompt, tool, "input_schema");
}

int64_t tg_prompt_messages(const struct tg_encoders *encoders, const struct tg_json *body,
                           const char *model)
{
    struct tg_prompt prompt;

    tg_prompt_begin(&prompt, encoders, model);
    if (tg_prompt_has(body, "system")) {
        tg_prompt_message(&prompt, system_role);
        tg_prompt_content(&prompt, body, "system", add_block);
    }
    tg_prompt_each(&prompt, body, "messages", add_message);
    tg_prompt_each(&prompt, body, "tools", add_tool);
    return tg_prompt_end(&prompt);
}
