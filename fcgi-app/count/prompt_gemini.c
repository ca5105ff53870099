/* The prompt of a Gemini body. Google takes its names in camelCase and in snake_case. */
#include "fcgi-app/count/prompt.h"

static const struct tg_span system_role = {"system", 6};

static bool object(const struct tg_json *owner, const char *camel, const char *snake,
                   const struct tg_json **ret)
{
    return tg_json_get_object(owner, camel, ret) == TG_JSON_GOT ||
           tg_json_get_object(owner, snake, ret) == TG_JSON_GOT;
}

static void add_media(struct tg_prompt *prompt, const struct tg_json *media)
{
    struct tg_span mime = {0}, data = {0};

    if (tg_json_get_string(media, "mimeType", &mime) != TG_JSON_GOT)
        (void)tg_json_get_string(media, "mime_type", &mime);
    (void)tg_json_get_string(media, "data", &data);
    tg_prompt_media(prompt, mime, data);
}

/* A call with its args, or the response to one. */
static void add_call(struct tg_prompt *prompt, const struct tg_json *call)
{
    const struct tg_json *value;

    tg_prompt_member(prompt, call, "name");
    if (object(call, "args", "response", &value))
        tg_prompt_value(prompt, value);
}

static void add_part(struct tg_prompt *prompt, const struct tg_json *part)
{
    const struct tg_json *inner;

    tg_prompt_member(prompt, part, "text");
    if (object(part, "inlineData", "inline_data", &inner) ||
        object(part, "fileData", "file_data", &inner))
        add_media(prompt, inner);
    if (object(part, "functionCall", "function_call", &inner) ||
        object(part, "functionResponse", "function_response", &inner))
        add_call(prompt, inner);
    if (object(part, "executableCode", "executable_code", &inner))
        tg_prompt_member(prompt, inner, "code");
    if (object(part, "codeExecutionResult", "code_execution_result", &inner))
        tg_prompt_member(prompt, inner, "output");
}

static void add_spoken(struct tg_prompt *prompt, const struct tg_json *content,
                       struct tg_span role)
{
    (void)tg_json_get_string(content, "role", &role);
    tg_prompt_message(prompt, role);
    tg_prompt_each(prompt, content, "parts", add_part);
}

static void add_content(struct tg_prompt *prompt, const struct tg_json *content)
{
    add_spoken(prompt, content, (struct tg_span){0});
}

static void add_tool(struct tg_prompt *prompt, const struct tg_json *tool)
{
    const struct tg_json *functions, *schema;

    if (tg_json_get_array(tool, "functionDeclarations", &functions) != TG_JSON_GOT &&
        tg_json_get_array(tool, "function_declarations", &functions) != TG_JSON_GOT) {
        tg_prompt_tool(prompt, tool, NULL); /* one of Google's own */
        return;
    }
    for (size_t i = 0; i < tg_json_array_len(functions); i++) {
        const struct tg_json *function = tg_json_array_at(functions, i);

        if (!object(function, "parameters", "parametersJsonSchema", &schema) &&
            !object(function, "parameters_json_schema", "parameters", &schema))
            schema = NULL;
        tg_prompt_tool(prompt, function, schema);
    }
}

static void add_schema(struct tg_prompt *prompt, const struct tg_json *body)
{
    const struct tg_json *config, *schema;

    if (object(body, "generationConfig", "generation_config", &config) &&
        (object(config, "responseSchema", "response_schema", &schema) ||
         object(config, "responseJsonSchema", "response_json_schema", &schema)))
        tg_prompt_schema(prompt, schema);
}

int64_t tg_prompt_gemini(const struct tg_encoders *encoders, const struct tg_json *body,
                         const char *model)
{
    const struct tg_json *system;
    struct tg_prompt prompt;

    /* countTokens takes a whole request in a member of its own. */
    (void)object(body, "generateContentRequest", "generate_content_request", &body);
    tg_prompt_begin(&prompt, encoders, model);
    if (object(body, "systemInstruction", "system_instruction", &system))
        add_spoken(&prompt, system, system_role);
    tg_prompt_each(&prompt, body, "contents", add_content);
    tg_prompt_each(&prompt, body, "tools", add_tool);
    add_schema(&prompt, body);
    return tg_prompt_end(&prompt);
}
