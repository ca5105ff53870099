#include "fcgi-app/convert/toolset.h"

#include "fcgi-app/convert/hub.h"
#include "fcgi-app/convert/names.h"
#include "fcgi-app/convert/toolset_forms.h"

#include <ctype.h>
#include <string.h>

/* --- the set -------------------------------------------------------------------------------- */

/* Lists grow by doubling at powers of two; what was there before stays in the arena. */
static void *grown(struct tg_arena *arena, const void *list, size_t count, size_t size)
{
    size_t cap = count == 0 ? 4 : 2 * count;
    void *bigger;

    if (count != 0 && (count < 4 || (count & (count - 1)) != 0))
        return NULL;
    bigger = tg_arena_calloc(arena, cap, size);
    if (count > 0)
        memcpy(bigger, list, count * size);
    return bigger;
}

static bool is_taken(const struct tg_toolset *set, const char *wire_name)
{
    for (size_t i = 0; i < set->tool_count; i++)
        if (strcmp(set->tools[i].wire_name, wire_name) == 0)
            return true;
    return false;
}

/* Gemini's names begin with a letter or an underscore. */
static const char *wire_form(const struct tg_convert *context, struct tg_span name)
{
    const char *made = tg_name_make(context->arena, name);

    if (context->upstream != TG_PROTOCOL_GEMINI || isalpha((unsigned char)*made) || *made == '_')
        return made;
    return tg_arena_printf(context->arena, "_%.*s", TG_NAME_MOST - 1, made);
}

/* Two names that come out the same get a number behind. */
static const char *free_name(const struct tg_convert *context, const struct tg_toolset *set,
                             struct tg_span name)
{
    const char *made = wire_form(context, name), *tried = made;

    for (int i = 2; is_taken(set, tried) && i < 1000; i++)
        tried = tg_arena_printf(context->arena, "%.*s_%d", TG_NAME_MOST - 4, made, i);
    return tried;
}

struct tg_tool_form *tg_toolset_add(const struct tg_convert *context, struct tg_toolset *set,
                                    struct tg_span name)
{
    struct tg_tool_form *list =
        grown(context->arena, set->tools, set->tool_count, sizeof *set->tools);
    struct tg_tool_form *tool;

    if (list != NULL)
        set->tools = list;
    tool = &set->tools[set->tool_count];
    *tool = (struct tg_tool_form){.name = tg_arena_strndup(context->arena, name.ptr, name.len),
                                  .wire_name = free_name(context, set, name),
                                  .strict = -1};
    if (strcmp(tool->name, tool->wire_name) != 0)
        tg_diagnose(context->diagnostics, TG_SEVERITY_INFO, "TOOL_NAME_REWRITTEN",
                    tg_arena_printf(context->arena, "tools[%zu]", set->tool_count), "");
    set->tool_count++;
    return tool;
}

void tg_toolset_add_builtin(const struct tg_convert *context, struct tg_toolset *set,
                            const struct tg_json *tool)
{
    struct tg_tool_builtin *list =
        grown(context->arena, set->builtins, set->builtin_count, sizeof *set->builtins);
    struct tg_span type = tg_hub_span(tool, "type");

    if (list != NULL)
        set->builtins = list;
    set->builtins[set->builtin_count++] = (struct tg_tool_builtin){
        .type = tg_arena_strndup(context->arena, type.ptr, type.len), .options = tool};
}

void tg_toolset_add_name(const struct tg_convert *context, struct tg_toolset *set,
                         struct tg_span name)
{
    const char **list = grown(context->arena, set->names, set->name_count, sizeof *set->names);

    if (list != NULL)
        set->names = list;
    set->names[set->name_count++] = tg_arena_strndup(context->arena, name.ptr, name.len);
}

const struct tg_tool_form *tg_toolset_find(const struct tg_toolset *set, const char *name)
{
    for (size_t i = 0; i < set->tool_count; i++)
        if (strcmp(set->tools[i].name, name) == 0)
            return &set->tools[i];
    return NULL;
}

bool tg_toolset_allows(const struct tg_toolset *set, const struct tg_tool_form *tool)
{
    if (set->mode != TG_TOOLS_SUBSET_AUTO && set->mode != TG_TOOLS_SUBSET_REQUIRED)
        return true;
    for (size_t i = 0; i < set->name_count; i++)
        if (strcmp(set->names[i], tool->name) == 0)
            return true;
    return false;
}

const char *tg_toolset_wire_name(const struct tg_convert *context, struct tg_span name)
{
    const char *text = tg_arena_strndup(context->arena, name.ptr, name.len);
    const struct tg_tool_form *tool =
        context->tools != NULL ? tg_toolset_find(context->tools, text) : NULL;

    return tool != NULL ? tool->wire_name : wire_form(context, name);
}

const char *tg_toolset_hub_name(const struct tg_convert *context, struct tg_span name)
{
    return context->client == TG_PROTOCOL_CHAT
               ? tg_toolset_wire_name(context, name)
               : tg_arena_strndup(context->arena, name.ptr, name.len);
}

struct tg_span tg_toolset_name(const struct tg_convert *context, enum tg_protocol to,
                               struct tg_span wire_name)
{
    const struct tg_toolset *set = context->client == to ? context->tools : NULL;

    for (size_t i = 0; set != NULL && i < set->tool_count; i++) {
        const struct tg_tool_form *tool = &set->tools[i];

        if (strlen(tool->wire_name) == wire_name.len &&
            memcmp(tool->wire_name, wire_name.ptr, wire_name.len) == 0)
            return (struct tg_span){tool->name, strlen(tool->name)};
    }
    return wire_name;
}

void tg_toolset_wrap_custom(const struct tg_convert *context, const struct tg_tool_form *form,
                            struct tg_json *tool, const char *key)
{
    static const char schema[] = "{\"type\":\"object\",\"properties\":{\"input\":{\"type\":"
                                 "\"string\"}},\"required\":[\"input\"]}";
    struct tg_json *parsed;

    tg_json_set_str(tool, "description",
                    tg_arena_printf(context->arena, "%s%sPass the raw text in `input`.",
                                    form->description != NULL ? form->description : "",
                                    form->description != NULL ? "\n\n" : ""));
    if (tg_json_parse(schema, sizeof schema - 1, &parsed, NULL) == TG_OK)
        tg_json_set(tool, key, parsed);
    tg_diagnose(context->diagnostics, TG_SEVERITY_INFO, "TOOL_CUSTOM_WRAPPED", "tools", form->name);
    if (form->grammar != NULL)
        tg_diagnose(context->diagnostics, TG_SEVERITY_WARN, "TOOL_GRAMMAR_DROPPED", "tools",
                    form->name);
}

enum tg_tool_family tg_tool_family_of(const char *type)
{
    static const struct {
        const char *prefix;
        enum tg_tool_family family;
    } rows[] = {
        {"web_search", TG_FAMILY_WEB_SEARCH},   {"googleSearch", TG_FAMILY_WEB_SEARCH},
        {"google_search", TG_FAMILY_WEB_SEARCH}, {"web_fetch", TG_FAMILY_WEB_FETCH},
        {"urlContext", TG_FAMILY_WEB_FETCH},    {"url_context", TG_FAMILY_WEB_FETCH},
        {"code_execution", TG_FAMILY_CODE},     {"codeExecution", TG_FAMILY_CODE},
        {"code_interpreter", TG_FAMILY_CODE},
    };

    for (size_t i = 0; i < TG_COUNT_OF(rows); i++)
        if (strncmp(type, rows[i].prefix, strlen(rows[i].prefix)) == 0)
            return rows[i].family;
    return TG_FAMILY_OTHER;
}

/* --- schemas -------------------------------------------------------------------------------- */

struct tg_json *tg_schema_clean(const struct tg_json *schema)
{
    struct tg_json *made = schema != NULL && tg_json_type(schema) == TG_JSON_OBJECT
                               ? tg_json_copy(schema)
                               : tg_json_new_object();
    const struct tg_json *member;

    if (tg_json_get(made, "type", &member) != TG_JSON_GOT)
        tg_json_set_str(made, "type", "object");
    if (tg_hub_is(made, "type", "object") &&
        tg_json_get(made, "properties", &member) != TG_JSON_GOT)
        tg_json_set(made, "properties", tg_json_new_object());
    if (tg_json_get(made, "required", &member) == TG_JSON_GOT_NULL)
        tg_json_remove(made, "required");
    return made;
}

struct strictness {
    const struct tg_json *required;
    bool ok;
};

static bool check_property(void *opaque, const char *key, const struct tg_json *value)
{
    struct strictness *check = opaque;
    bool found = false;
    struct tg_span name;

    for (size_t i = 0; i < tg_json_array_len(check->required) && !found; i++)
        found = tg_json_string(tg_json_array_at(check->required, i), &name) &&
                strcmp(name.ptr, key) == 0;
    check->ok = found && (!tg_hub_is(value, "type", "object") || tg_schema_is_strict(value));
    return check->ok;
}

bool tg_schema_is_strict(const struct tg_json *schema)
{
    struct strictness check = {NULL, true};
    const struct tg_json *properties;
    bool open = true;

    if (schema == NULL || !tg_hub_is(schema, "type", "object") ||
        tg_json_get_bool(schema, "additionalProperties", &open) != TG_JSON_GOT || open ||
        tg_json_get_array(schema, "required", &check.required) != TG_JSON_GOT)
        return false;
    if (tg_json_get_object(schema, "properties", &properties) == TG_JSON_GOT)
        tg_json_each(properties, check_property, &check);
    return check.ok;
}

/* --- from and to ---------------------------------------------------------------------------- */

static enum tg_class check_choice(const struct tg_toolset *set, struct tg_error *err)
{
    if (set->mode != TG_TOOLS_NAMED || set->name_count == 0 ||
        tg_toolset_find(set, set->names[0]) != NULL || set->builtin_count > 0)
        return TG_OK;
    return tg_hub_invalid(err, "tool_choice", "names a tool that is not in tools");
}

enum tg_class tg_toolset_extract(const struct tg_convert *context, enum tg_protocol from,
                                 const struct tg_json *request, struct tg_toolset **ret,
                                 struct tg_error *err)
{
    struct tg_toolset *set = tg_arena_calloc(context->arena, 1, sizeof *set);
    enum tg_class class = TG_OK;

    set->parallel = -1;
    if (from == TG_PROTOCOL_CHAT)
        class = tg_toolset_from_chat(context, request, set, err);
    else if (from == TG_PROTOCOL_MESSAGES)
        class = tg_toolset_from_messages(context, request, set, err);
    else if (from == TG_PROTOCOL_RESPONSES)
        class = tg_toolset_from_responses(context, request, set, err);
    else if (from == TG_PROTOCOL_GEMINI)
        class = tg_toolset_from_gemini(context, request, set, err);
    if (class == TG_OK)
        class = check_choice(set, err);
    if (class == TG_OK)
        *ret = set;
    return class;
}

void tg_toolset_attach(const struct tg_convert *context, enum tg_protocol to,
                       const struct tg_toolset *set, struct tg_json *request)
{
    if (to == TG_PROTOCOL_CHAT)
        tg_toolset_to_chat(context, set, request);
    else if (to == TG_PROTOCOL_MESSAGES)
        tg_toolset_to_messages(context, set, request);
    else if (to == TG_PROTOCOL_RESPONSES)
        tg_toolset_to_responses(context, set, request);
    else if (to == TG_PROTOCOL_GEMINI)
        tg_toolset_to_gemini(context, set, request);
}
