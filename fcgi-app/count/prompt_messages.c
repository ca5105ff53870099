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

static void add_content(struct tg_prompt *prompt, const struct tg_json *owner, const char *key);

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
    add_content(prompt, block, "content"); /* of a tool's result */
}

/* A string, or a list of blocks; how deep they nest is bounded by the gate. */
static void add_content(struct tg_prompt *prompt, const struct tg_json *owner, const char *key)
{
    const struct tg_json *blocks;

    tg_prompt_member(prompt, owner, key);
    if (tg_json_get_array(owner, key, &blocks) == TG_JSON_GOT)
        for (size_t i = 0; i < tg_json_array_len(blocks); i++)
            add_block(prompt, tg_json_array_at(blocks, i));
}

static void add_tools(struct tg_prompt *prompt, const struct tg_json *body)
{
    const struct tg_json *tools, *schema;

    if (tg_json_get_array(body, "tools", &tools) != TG_JSON_GOT)
        return;
    for (size_t i = 0; i < tg_json_array_len(tools); i++) {
        const struct tg_json *tool = tg_json_array_at(tools, i);

        if (tg_json_get_object(tool, "input_schema", &schema) != TG_JSON_GOT)
            schema = NULL;
        tg_prompt_tool(prompt, tool, schema);
    }
}

int64_t tg_prompt_messages(const struct tg_encoders *encoders, const struct tg_json *body,
                           const char *model)
{
    const struct tg_json *messages;
    struct tg_prompt prompt;
    struct tg_span role;

    tg_prompt_begin(&prompt, encoders, model);
    if (tg_prompt_has(body, "system")) {
        tg_prompt_message(&prompt, system_role);
        add_content(&prompt, body, "system");
    }
    if (tg_json_get_array(body, "messages", &messages) == TG_JSON_GOT)
        for (size_t i = 0; i < tg_json_array_len(messages); i++) {
            const struct tg_json *message = tg_json_array_at(messages, i);

            role = (struct tg_span){0};
            (void)tg_json_get_string(message, "role", &role);
            tg_prompt_message(&prompt, role);
            add_content(&prompt, message, "content");
        }
    add_tools(&prompt, body);
    return tg_prompt_end(&prompt);
}
