/* response_format of Chat as what Messages has for it (PROTOCOLS B0.13, B0.10). */
#include "fcgi-app/convert/chat_to_messages_request.h"
#include "fcgi-app/convert/hub.h"
#include "fcgi-app/convert/model_facts.h"

#include <string.h>

static const char *const dropped_keywords[] = {
    "minimum",   "maximum",  "exclusiveMinimum", "exclusiveMaximum", "multipleOf",
    "minLength", "maxLength", "maxItems",        "minProperties",    "maxProperties",
};

/* --- the schema as Anthropic takes it ------------------------------------------------------- */

static void clean(const struct tg_convert *context, struct tg_json *schema, int depth);

/* What a constraint said is said to the model in words. */
static void say_keyword(struct tg_json *schema, const char *keyword)
{
    const struct tg_json *value;
    struct tg_span before = tg_hub_span(schema, "description");
    struct tg_buf text;

    if (tg_json_get(schema, keyword, &value) != TG_JSON_GOT)
        return;
    tg_buf_init(&text, 0);
    tg_buf_add(&text, before.ptr, before.len);
    tg_buf_printf(&text, "%s(%s: ", before.len > 0 ? " " : "", keyword);
    tg_json_print(value, &text);
    tg_buf_char(&text, ')');
    tg_json_set_span(schema, "description", (struct tg_span){text.data, text.len});
    tg_json_remove(schema, keyword);
    tg_buf_done(&text);
}

struct nested {
    const struct tg_convert *context;
    struct tg_json *of;
    int depth;
};

static bool clean_member(void *opaque, const char *key, const struct tg_json *value)
{
    const struct nested *nested = opaque;
    struct tg_json *member = tg_json_member(nested->of, key);

    (void)value;
    if (member != NULL)
        clean(nested->context, member, nested->depth);
    return true;
}

static void clean_inside(const struct tg_convert *context, struct tg_json *schema, int depth)
{
    static const char *const maps[] = {"properties", "$defs", "definitions"};
    static const char *const lists[] = {"anyOf", "allOf"};
    struct tg_json *inner;

    for (size_t i = 0; i < TG_COUNT_OF(maps); i++) {
        struct nested nested = {context, tg_json_member(schema, maps[i]), depth + 1};

        if (nested.of != NULL)
            tg_json_each(nested.of, clean_member, &nested);
    }
    for (size_t i = 0; i < TG_COUNT_OF(lists); i++) {
        inner = tg_json_member(schema, lists[i]);
        for (size_t k = 0; inner != NULL && k < tg_json_array_len(inner); k++)
            clean(context, tg_json_element(inner, k), depth + 1);
    }
    inner = tg_json_member(schema, "items");
    if (inner != NULL)
        clean(context, inner, depth + 1);
}

static void clean(const struct tg_convert *context, struct tg_json *schema, int depth)
{
    struct tg_json *choices;

    if (depth > 64 || tg_json_type(schema) != TG_JSON_OBJECT)
        return;
    for (size_t i = 0; i < TG_COUNT_OF(dropped_keywords); i++)
        say_keyword(schema, dropped_keywords[i]);
    choices = tg_json_take(schema, "oneOf");
    if (choices != NULL)
        tg_json_set(schema, "anyOf", choices);
    if (tg_hub_is(schema, "type", "object"))
        tg_json_set_bool(schema, "additionalProperties", false);
    clean_inside(context, schema, depth);
}

/* --- words instead -------------------------------------------------------------------------- */

static void add_to_system(struct tg_json *made, const char *text)
{
    struct tg_json *system = tg_json_member(made, "system"), *block;
    struct tg_span before;
    struct tg_buf said;

    if (system != NULL && tg_json_type(system) == TG_JSON_ARRAY) {
        block = tg_json_new_object();
        tg_json_set_str(block, "type", "text");
        tg_json_set_str(block, "text", text);
        tg_json_push(system, block);
        return;
    }
    before = tg_hub_span(made, "system");
    tg_buf_init(&said, 0);
    tg_buf_add(&said, before.ptr, before.len);
    tg_buf_str(&said, before.len > 0 ? "\n\n" : "");
    tg_buf_str(&said, text);
    tg_json_set_span(made, "system", (struct tg_span){said.data, said.len});
    tg_buf_done(&said);
}

static void downgrade(const struct tg_convert *context, struct tg_json *made, const char *text)
{
    add_to_system(made, text);
    tg_diagnose(context->diagnostics, TG_SEVERITY_WARN, "FORMAT_DOWNGRADED", "response_format",
                "asked for in the system prompt");
}

static void ask_for_schema(const struct tg_convert *context, const struct tg_json *schema,
                           struct tg_json *made)
{
    struct tg_buf text;

    tg_buf_init(&text, 0);
    tg_buf_str(&text, "Respond with one JSON value that matches this JSON Schema and with nothing "
                      "else:\n");
    tg_json_print(schema, &text);
    downgrade(context, made, tg_buf_text(&text));
    tg_buf_done(&text);
}

static void set_schema(const struct tg_convert *context, const struct tg_json *schema,
                       struct tg_json *made)
{
    struct tg_json *config = tg_json_member(made, "output_config");
    struct tg_json *format = tg_json_new_object(), *copy = tg_json_copy(schema);
    struct tg_buf before, after;

    if (config == NULL)
        tg_json_set(made, "output_config", config = tg_json_new_object());
    tg_buf_init(&before, 0);
    tg_buf_init(&after, 0);
    tg_json_print(copy, &before);
    clean(context, copy, 0);
    tg_json_print(copy, &after);
    if (strcmp(tg_buf_text(&before), tg_buf_text(&after)) != 0)
        tg_diagnose(context->diagnostics, TG_SEVERITY_INFO, "SCHEMA_REWRITTEN", "response_format",
                    "");
    tg_buf_done(&before);
    tg_buf_done(&after);
    tg_json_set_str(format, "type", "json_schema");
    tg_json_set(format, "schema", copy);
    tg_json_set(config, "format", format);
}

void tg_chat_to_messages_format(const struct tg_convert *context, const struct tg_json *request,
                                struct tg_json *made)
{
    const struct tg_json *format, *inner, *schema;

    if (tg_json_get_object(request, "response_format", &format) != TG_JSON_GOT)
        return;
    if (tg_hub_is(format, "type", "json_object")) {
        downgrade(context, made, "Respond with one valid JSON object and nothing else.");
        return;
    }
    if (tg_json_get_object(format, "json_schema", &inner) != TG_JSON_GOT ||
        tg_json_get_object(inner, "schema", &schema) != TG_JSON_GOT)
        return;
    if (tg_model_can(context->model, TG_MODEL_FORMAT))
        set_schema(context, schema, made);
    else
        ask_for_schema(context, schema, made);
}
