/* response_format of Chat in Gemini's generationConfig (PROTOCOLS B0.13). */
#include "fcgi-app/convert/chat_to_gemini.h"
#include "fcgi-app/convert/gemini_hub.h"
#include "fcgi-app/convert/gemini_model.h"
#include "fcgi-app/convert/schema_gemini.h"
#include "fcgi-app/convert/toolset.h"

static void add_to_system(struct tg_json *made, struct tg_span text)
{
    struct tg_json *system = tg_json_member(made, "systemInstruction"), *part, *parts;

    part = tg_json_new_object();
    tg_json_set_span(part, "text", text);
    if (system == NULL) {
        system = tg_json_new_object();
        tg_json_set(system, "parts", tg_json_new_array());
        tg_json_set(made, "systemInstruction", system);
    }
    parts = tg_json_member(system, "parts");
    tg_json_push(parts, part);
}

/* Models before generation 3 answer in JSON or call tools, not both. */
static void ask_in_words(const struct tg_convert *context, const struct tg_json *schema,
                         struct tg_json *made)
{
    struct tg_buf text;

    tg_buf_init(&text, 0);
    if (schema != NULL) {
        tg_buf_str(&text, "When you do not call a tool, respond with one JSON value that matches "
                          "this JSON Schema and with nothing else:\n");
        tg_json_print(schema, &text);
    } else {
        tg_buf_str(&text, "When you do not call a tool, respond with one valid JSON object and "
                          "nothing else.");
    }
    add_to_system(made, (struct tg_span){text.data, text.len});
    tg_buf_done(&text);
    tg_diagnose(context->diagnostics, TG_SEVERITY_WARN, "TOOLS_FORMAT_CONFLICT",
                "response_format", "asked for in the system prompt");
}

static void set_schema(const struct tg_convert *context, const struct tg_json *schema,
                       struct tg_json *config)
{
    struct tg_json *made;

    if (tg_gemini_takes_json_schema(context)) {
        tg_json_set(config, "responseJsonSchema",
                    tg_schema_for_gemini(context, schema, "response_format"));
        return;
    }
    made = tg_schema_to_gemini(context, schema, "response_format");
    if (made != NULL)
        tg_json_set(config, "responseSchema", made);
}

void tg_chat_to_gemini_format(const struct tg_convert *context, const struct tg_json *request,
                              struct tg_json *made, struct tg_json *config)
{
    const struct tg_json *format, *inner, *schema = NULL;
    bool has_tools = context->tools != NULL && context->tools->tool_count > 0;

    if (tg_json_get_object(request, "response_format", &format) != TG_JSON_GOT)
        return;
    if (tg_json_get_object(format, "json_schema", &inner) != TG_JSON_GOT ||
        tg_json_get_object(inner, "schema", &schema) != TG_JSON_GOT)
        schema = NULL;
    if (schema == NULL && !tg_hub_is(format, "type", "json_object"))
        return;
    if (has_tools && tg_gemini_model_of(context->upstream_model).generation < TG_GEMINI_3) {
        ask_in_words(context, schema, made);
        return;
    }
    tg_json_set_str(config, "responseMimeType", "application/json");
    if (schema != NULL)
        set_schema(context, schema, config);
}
