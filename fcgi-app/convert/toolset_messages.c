/* Tools in the words of Messages. */
#include "fcgi-app/convert/hub.h"
#include "fcgi-app/convert/model_facts.h"
#include "fcgi-app/convert/toolset_forms.h"

#include <string.h>

/* Tools that Anthropic defines and the client runs: plain functions for everybody else. */
static const struct {
    const char *prefix, *schema;
} client_tools[] = {
    {"bash_", "{\"type\":\"object\",\"properties\":{\"command\":{\"type\":\"string\"},"
              "\"restart\":{\"type\":\"boolean\"}}}"},
    {"text_editor_",
     "{\"type\":\"object\",\"properties\":{\"command\":{\"type\":\"string\",\"enum\":[\"view\","
     "\"create\",\"str_replace\",\"insert\"]},\"path\":{\"type\":\"string\"},\"file_text\":"
     "{\"type\":\"string\"},\"old_str\":{\"type\":\"string\"},\"new_str\":{\"type\":\"string\"},"
     "\"insert_line\":{\"type\":\"integer\"},\"insert_text\":{\"type\":\"string\"},\"view_range\":"
     "{\"type\":\"array\",\"items\":{\"type\":\"integer\"}}},\"required\":[\"command\","
     "\"path\"]}"},
    {"memory_",
     "{\"type\":\"object\",\"properties\":{\"command\":{\"type\":\"string\",\"enum\":[\"view\","
     "\"create\",\"str_replace\",\"insert\",\"delete\",\"rename\"]},\"path\":{\"type\":\"string\"},"
     "\"file_text\":{\"type\":\"string\"},\"old_str\":{\"type\":\"string\"},\"new_str\":"
     "{\"type\":\"string\"},\"insert_line\":{\"type\":\"integer\"},\"insert_text\":"
     "{\"type\":\"string\"},\"old_path\":{\"type\":\"string\"},\"new_path\":"
     "{\"type\":\"string\"}},\"required\":[\"command\"]}"},
};

/* --- from ----------------------------------------------------------------------------------- */

static const char *client_tool_schema(const char *type)
{
    for (size_t i = 0; i < TG_COUNT_OF(client_tools); i++)
        if (strncmp(type, client_tools[i].prefix, strlen(client_tools[i].prefix)) == 0)
            return client_tools[i].schema;
    return NULL;
}

/* "Examples: …" behind the description: Chat has no place for them. */
static const char *description_of(const struct tg_convert *context, const struct tg_json *tool,
                                  const char *path)
{
    struct tg_span text = tg_hub_span(tool, "description");
    const struct tg_json *examples;
    const char *made = NULL;
    struct tg_buf json;

    if (tg_json_get_array(tool, "input_examples", &examples) != TG_JSON_GOT ||
        tg_json_array_len(examples) == 0)
        return text.len > 0 ? tg_arena_strndup(context->arena, text.ptr, text.len) : NULL;
    tg_buf_init(&json, 0);
    tg_buf_add(&json, text.ptr, text.len);
    tg_buf_str(&json, text.len > 0 ? "\n\nExamples: " : "Examples: ");
    tg_json_print(examples, &json);
    made = tg_arena_strndup(context->arena, tg_buf_text(&json), json.len);
    tg_buf_done(&json);
    tg_diagnose(context->diagnostics, TG_SEVERITY_INFO, "PARAM_APPROXIMATED", path,
                "input_examples");
    return made;
}

static void note_dropped(const struct tg_convert *context, const struct tg_json *tool,
                         const char *path)
{
    static const struct {
        const char *key;
        enum tg_severity severity;
    } dropped[] = {{"defer_loading", TG_SEVERITY_WARN},
                   {"allowed_callers", TG_SEVERITY_INFO},
                   {"eager_input_streaming", TG_SEVERITY_INFO}};
    const struct tg_json *value;

    for (size_t i = 0; i < TG_COUNT_OF(dropped); i++)
        if (tg_json_get(tool, dropped[i].key, &value) == TG_JSON_GOT)
            tg_diagnose(context->diagnostics, dropped[i].severity, "PARAM_DROPPED",
                        tg_arena_printf(context->arena, "%s.%s", path, dropped[i].key), "");
}

static void read_function(const struct tg_convert *context, struct tg_toolset *set,
                          const struct tg_json *tool, const char *path)
{
    struct tg_tool_form *form = tg_toolset_add(context, set, tg_hub_span(tool, "name"));
    bool strict;

    form->description = description_of(context, tool, path);
    if (tg_json_get_object(tool, "input_schema", &form->schema) != TG_JSON_GOT)
        form->schema = NULL;
    if (tg_json_get_object(tool, "cache_control", &form->cache_control) != TG_JSON_GOT)
        form->cache_control = NULL;
    if (tg_json_get_bool(tool, "strict", &strict) == TG_JSON_GOT)
        form->strict = strict;
    note_dropped(context, tool, path);
}

static void read_client_tool(const struct tg_convert *context, struct tg_toolset *set,
                             const struct tg_json *tool, const char *schema)
{
    struct tg_tool_form *form = tg_toolset_add(context, set, tg_hub_span(tool, "name"));
    struct tg_json *parsed;

    if (tg_json_parse(schema, strlen(schema), &parsed, NULL) == TG_OK)
        form->schema = tg_hub_keep(context, parsed);
    tg_diagnose(context->diagnostics, TG_SEVERITY_WARN, "TOOL_BUILTIN_MAPPED", "tools", form->name);
}

static enum tg_class read_tool(const struct tg_convert *context, struct tg_toolset *set,
                               const struct tg_json *tool, size_t at, struct tg_error *err)
{
    const char *path = tg_arena_printf(context->arena, "tools[%zu]", at);
    struct tg_span type = tg_hub_span(tool, "type"), name;
    const char *word = tg_arena_strndup(context->arena, type.ptr, type.len), *schema;

    if (tg_json_type(tool) != TG_JSON_OBJECT)
        return tg_hub_invalid(err, path, "is no object");
    if (type.len == 0 || strcmp(word, "custom") == 0) {
        if (!tg_hub_text(tool, "name", &name))
            return tg_hub_invalid(err, path, "has no name");
        read_function(context, set, tool, path);
        return TG_OK;
    }
    schema = client_tool_schema(word);
    if (schema != NULL && tg_hub_text(tool, "name", &name))
        read_client_tool(context, set, tool, schema);
    else
        tg_toolset_add_builtin(context, set, tool);
    return TG_OK;
}

static void read_choice(const struct tg_convert *context, struct tg_toolset *set,
                        const struct tg_json *choice)
{
    bool off;

    if (tg_hub_is(choice, "type", "auto"))
        set->mode = TG_TOOLS_AUTO;
    else if (tg_hub_is(choice, "type", "any"))
        set->mode = TG_TOOLS_REQUIRED;
    else if (tg_hub_is(choice, "type", "none"))
        set->mode = TG_TOOLS_NONE;
    else if (tg_hub_is(choice, "type", "tool")) {
        set->mode = TG_TOOLS_NAMED;
        tg_toolset_add_name(context, set, tg_hub_span(choice, "name"));
    }
    if (tg_json_get_bool(choice, "disable_parallel_tool_use", &off) == TG_JSON_GOT && off)
        set->parallel = 0;
}

enum tg_class tg_toolset_from_messages(const struct tg_convert *context,
                                       const struct tg_json *request, struct tg_toolset *set,
                                       struct tg_error *err)
{
    const struct tg_json *tools, *choice;
    enum tg_class class = TG_OK;

    if (tg_json_get_array(request, "tools", &tools) == TG_JSON_GOT)
        for (size_t i = 0; i < tg_json_array_len(tools) && class == TG_OK; i++)
            class = read_tool(context, set, tg_json_array_at(tools, i), i, err);
    if (tg_json_get_object(request, "tool_choice", &choice) == TG_JSON_GOT)
        read_choice(context, set, choice);
    return class;
}

/* --- to ------------------------------------------------------------------------------------- */

static struct tg_json *tool_of(const struct tg_convert *context, const struct tg_tool_form *form)
{
    struct tg_json *tool = tg_json_new_object();

    tg_json_set_str(tool, "name", form->wire_name);
    if (form->kind == TG_TOOL_CUSTOM) {
        tg_toolset_wrap_custom(context, form, tool, "input_schema");
    } else {
        if (form->description != NULL)
            tg_json_set_str(tool, "description", form->description);
        tg_json_set(tool, "input_schema", tg_schema_clean(form->schema));
    }
    if (form->strict == 1)
        tg_json_set_bool(tool, "strict", true);
    if (form->cache_control != NULL)
        tg_json_set(tool, "cache_control", tg_json_copy(form->cache_control));
    return tool;
}

static bool thinks(const struct tg_json *request)
{
    const struct tg_json *thinking;

    return tg_json_get_object(request, "thinking", &thinking) == TG_JSON_GOT &&
           !tg_hub_is(thinking, "type", "disabled");
}

static const char *choice_type(const struct tg_convert *context, const struct tg_toolset *set,
                               const struct tg_json *request)
{
    bool forced = set->mode == TG_TOOLS_REQUIRED || set->mode == TG_TOOLS_NAMED ||
                  set->mode == TG_TOOLS_SUBSET_REQUIRED;

    if (forced && (thinks(request) || !tg_model_can(context->model, TG_MODEL_FORCED_TOOL))) {
        tg_diagnose(context->diagnostics, TG_SEVERITY_WARN, "TOOL_CHOICE_APPROXIMATED",
                    "tool_choice", "the model cannot be forced to call");
        return "auto";
    }
    if (set->mode == TG_TOOLS_NONE)
        return "none";
    if (set->mode == TG_TOOLS_NAMED)
        return "tool";
    return forced ? "any" : "auto";
}

static void write_choice(const struct tg_convert *context, const struct tg_toolset *set,
                         struct tg_json *request)
{
    const char *type = choice_type(context, set, request);
    struct tg_json *choice;

    if (set->mode == TG_TOOLS_ABSENT && set->parallel != 0)
        return;
    choice = tg_json_new_object();
    tg_json_set_str(choice, "type", type);
    if (strcmp(type, "tool") == 0) {
        const struct tg_tool_form *tool = tg_toolset_find(set, set->names[0]);

        tg_json_set_str(choice, "name", tool != NULL ? tool->wire_name : set->names[0]);
    }
    if (set->parallel == 0 && strcmp(type, "none") != 0)
        tg_json_set_bool(choice, "disable_parallel_tool_use", true);
    tg_json_set(request, "tool_choice", choice);
}

/* A tool that Anthropic runs, for one of another provider that does the same; <options>: the
 * client's, <path>: where it stood. */
static void write_builtin(const struct tg_convert *context, const char *type,
                          const struct tg_json *options, const char *path, struct tg_json *tools)
{
    static const struct {
        enum tg_tool_family family;
        const char *type, *name;
    } own[] = {
        {TG_FAMILY_WEB_SEARCH, "web_search_20250305", "web_search"},
        {TG_FAMILY_WEB_FETCH, "web_fetch_20250910", "web_fetch"},
        {TG_FAMILY_CODE, "code_execution_20250825", "code_execution"},
    };
    const struct tg_json *filters;
    struct tg_json *tool;

    for (size_t i = 0; i < TG_COUNT_OF(own); i++) {
        if (own[i].family != tg_tool_family_of(type))
            continue;
        tool = tg_json_new_object();
        tg_json_set_str(tool, "type", own[i].type);
        tg_json_set_str(tool, "name", own[i].name);
        if (tg_json_get_object(options, "filters", &filters) == TG_JSON_GOT)
            tg_json_set_copy(tool, "allowed_domains", filters, "allowed_domains");
        if (context->client == TG_PROTOCOL_RESPONSES)
            tg_json_set_copy(tool, "user_location", options, "user_location");
        tg_json_push(tools, tool);
        tg_diagnose(context->diagnostics, TG_SEVERITY_WARN, "TOOL_BUILTIN_MAPPED", path, type);
        return;
    }
    tg_diagnose(context->diagnostics, TG_SEVERITY_ERROR, "TOOL_BUILTIN_UNSUPPORTED", path, type);
}

void tg_toolset_to_messages(const struct tg_convert *context, const struct tg_toolset *set,
                            struct tg_json *request)
{
    struct tg_json *tools = tg_json_new_array();

    for (size_t i = 0; i < set->tool_count; i++) {
        if (tg_toolset_allows(set, &set->tools[i]))
            tg_json_push(tools, tool_of(context, &set->tools[i]));
        else
            tg_diagnose(context->diagnostics, TG_SEVERITY_WARN, "TOOL_CHOICE_APPROXIMATED",
                        "tool_choice", "tools outside the subset are left out");
    }
    for (size_t i = 0; i < set->builtin_count; i++)
        write_builtin(context, set->builtins[i].type, set->builtins[i].options, "tools", tools);
    if (set->web_search != NULL)
        write_builtin(context, "web_search", set->web_search, "web_search_options", tools);
    if (tg_json_array_len(tools) == 0) {
        tg_json_free(tools);
        return;
    }
    tg_json_set(request, "tools", tools);
    write_choice(context, set, request);
}
