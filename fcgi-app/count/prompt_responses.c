/* The prompt of a Responses body, and what embeddings are made of. */
#include "fcgi-app/count/media.h"
#include "fcgi-app/count/prompt.h"

#include <string.h>

static const struct tg_span system_role = {"system", 6}, user_role = {"user", 4};

static void add_part(struct tg_prompt *prompt, const struct tg_json *part)
{
    struct tg_span url = {0}, detail = {0};

    tg_prompt_member(prompt, part, "text");
    tg_prompt_member(prompt, part, "refusal");
    if (tg_prompt_has(part, "image_url") ||
        (tg_json_get_string(part, "type", &detail) == TG_JSON_GOT && detail.len == 11 &&
         memcmp(detail.ptr, "input_image", 11) == 0)) {
        detail = (struct tg_span){0};
        (void)tg_json_get_string(part, "image_url", &url);
        (void)tg_json_get_string(part, "detail", &detail);
        tg_prompt_picture(prompt, url, detail.len == 3 && memcmp(detail.ptr, "low", 3) == 0);
    }
    if (tg_prompt_has(part, "input_audio"))
        prompt->tokens += TG_MEDIA_AUDIO;
    if (tg_prompt_has(part, "file_data") || tg_prompt_has(part, "file_id") ||
        tg_prompt_has(part, "file_url"))
        prompt->tokens += TG_MEDIA_FILE;
}

/* Messages, calls and what they gave: items of any kind hold their texts alike. Of reasoning the
 * model reads nothing that is shown. */
static void add_item(struct tg_prompt *prompt, const struct tg_json *item)
{
    struct tg_span role = {0};

    (void)tg_json_get_string(item, "role", &role);
    tg_prompt_message(prompt, role);
    tg_prompt_content(prompt, item, "content", add_part);
    tg_prompt_content(prompt, item, "output", add_part);
    tg_prompt_member(prompt, item, "name");
    tg_prompt_member(prompt, item, "arguments");
    tg_prompt_member(prompt, item, "input");
}

static void add_input(struct tg_prompt *prompt, const struct tg_json *body)
{
    struct tg_span text;

    if (tg_json_get_string(body, "input", &text) == TG_JSON_GOT) {
        tg_prompt_message(prompt, user_role);
        tg_prompt_text(prompt, text);
    }
    tg_prompt_each(prompt, body, "input", add_item);
}

static void add_tool(struct tg_prompt *prompt, const struct tg_json *tool)
{
    tg_prompt_function(prompt, tool, "parameters");
}

int64_t tg_prompt_responses(const struct tg_encoders *encoders, const struct tg_json *body,
                            const char *model)
{
    const struct tg_json *text, *format, *schema;
    struct tg_prompt prompt;
    struct tg_span system;

    tg_prompt_begin(&prompt, encoders, model);
    if (tg_json_get_string(body, "instructions", &system) == TG_JSON_GOT) {
        tg_prompt_message(&prompt, system_role);
        tg_prompt_text(&prompt, system);
    }
    add_input(&prompt, body);
    tg_prompt_each(&prompt, body, "tools", add_tool);
    if (tg_json_get_object(body, "text", &text) == TG_JSON_GOT &&
        tg_json_get_object(text, "format", &format) == TG_JSON_GOT &&
        tg_json_get_object(format, "schema", &schema) == TG_JSON_GOT) {
        tg_prompt_member(&prompt, format, "name");
        tg_prompt_schema(&prompt, schema);
    }
    return tg_prompt_end(&prompt);
}

/* A text or several, or token numbers. Nothing answers, so nothing is added. */
int64_t tg_prompt_embeddings(const struct tg_encoders *encoders, const struct tg_json *body,
                             const char *model)
{
    const struct tg_json *list;
    struct tg_prompt prompt;
    struct tg_span text;

    tg_prompt_begin(&prompt, encoders, model);
    prompt.tokens = 0;
    tg_prompt_member(&prompt, body, "input");
    if (tg_json_get_array(body, "input", &list) != TG_JSON_GOT)
        return tg_prompt_end(&prompt);
    for (size_t i = 0; i < tg_json_array_len(list); i++) {
        const struct tg_json *entry = tg_json_array_at(list, i);

        if (tg_json_string(entry, &text))
            tg_prompt_text(&prompt, text);
        else if (tg_json_type(entry) == TG_JSON_ARRAY)
            prompt.tokens += (int64_t)tg_json_array_len(entry);
        else
            prompt.tokens++;
    }
    return tg_prompt_end(&prompt);
}
