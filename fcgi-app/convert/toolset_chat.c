/* Tools in the words of Chat. */
#include "fcgi-app/convert/hub.h"
#include "fcgi-app/convert/toolset_forms.h"

#include <string.h>

/* --- from ----------------------------------------------------------------------------------- */

static void read_function(const struct tg_convert *context, struct tg_toolset *set,
                          const struct tg_json *function, const struct tg_json *tool)
{
    struct tg_tool_form *form = tg_toolset_add(context, set, tg_hub_span(function, "name"));
    struct tg_span text;
    bool strict;

    if (tg_hub_text(function, "description", &text))
        form->description = tg_arena_strndup(context->arena, text.ptr, text.len);
    if (tg_json_get_object(function, "parameters", &form->schema) != TG_JSON_GOT)
        form->schema = NULL;
    if (tg_json_get_object(tool, "cache_control", &form->cache_control) != TG_JSON_GOT)
        form->cache_control = NULL;
    if (tg_json_get_bool(function, "strict", &strict) == TG_JSON_GOT)
        form->strict = strict;
}

static void read_custom(const struct tg_convert *context, struct tg_toolset *set,
                        const struct tg_json *custom)
{
    struct tg_tool_form *form = tg_toolset_add(context, set, tg_hub_span(custom, "name"));
    struct tg_span text;

    form->kind = TG_TOOL_CUSTOM;
    if (tg_hub_text(custom, "description", &text))
        form->description = tg_arena_strndup(context->arena, text.ptr, text.len);
    if (tg_json_get_object(custom, "format", &form->grammar) != TG_JSON_GOT)
        form->grammar = NULL;
}

static enum tg_class read_tool(const struct tg_convert *context, struct tg_toolset *set,
                               const struct tg_json *tool, size_t at, struct tg_error *err)
{
    const struct tg_json *inner;
    struct tg_span name;

    if (tg_json_get_object(tool, "function", &inner) == TG_JSON_GOT &&
        tg_hub_text(inner, "name", &name))
        read_function(context, set, inner, tool);
    else if (tg_json_get_object(tool, "custom", &inner) == TG_JSON_GOT &&
             tg_hub_text(inner, "name", &name))
        read_custom(context, set, inner);
    else if (tg_hub_span(tool, "type").len > 0 && !tg_hub_is(tool, "type", "function"))
        tg_toolset_add_builtin(context, set, tool);
    else
        return tg_hub_invalid(err, tg_arena_printf(context->arena, "tools[%zu].function", at),
                              "has no name");
    return TG_OK;
}

static void read_subset(const struct tg_convert *context, struct tg_toolset *set,
                        const struct tg_json *choice)
{
    const struct tg_json *allowed, *tools, *function;

    if (tg_json_get_object(choice, "allowed_tools", &allowed) != TG_JSON_GOT)
        allowed = choice;
    set->mode = tg_hub_is(allowed, "mode", "required") ? TG_TOOLS_SUBSET_REQUIRED
                                                       : TG_TOOLS_SUBSET_AUTO;
    if (tg_json_get_array(allowed, "tools", &tools) != TG_JSON_GOT)
        return;
    for (size_t i = 0; i < tg_json_array_len(tools); i++) {
        const struct tg_json *tool = tg_json_array_at(tools, i);

        if (tg_json_get_object(tool, "function", &function) != TG_JSON_GOT)
            function = tool;
        tg_toolset_add_name(context, set, tg_hub_span(function, "name"));
    }
}

static void read_choice(const struct tg_convert *context, struct tg_toolset *set,
                        const struct tg_json *request, const char *key)
{
    const struct tg_json *choice, *named;

    if (tg_json_get(request, key, &choice) != TG_JSON_GOT)
        return;
    if (tg_hub_is(request, key, "auto"))
        set->mode = TG_TOOLS_AUTO;
    else if (tg_hub_is(request, key, "none"))
        set->mode = TG_TOOLS_NONE;
    else if (tg_hub_is(request, key, "required"))
        set->mode = TG_TOOLS_REQUIRED;
    else if (tg_hub_is(choice, "type", "allowed_tools"))
        read_subset(context, set, choice);
    else if (tg_json_get_object(choice, "function", &named) == TG_JSON_GOT ||
             tg_json_get_object(choice, "custom", &named) == TG_JSON_GOT ||
             (named = choice, tg_json_type(choice) == TG_JSON_OBJECT)) {
        set->mode = TG_TOOLS_NAMED;
        tg_toolset_add_name(context, set, tg_hub_span(named, "name"));
    }
}

static enum tg_class read_legacy(const struct tg_convert *context, const struct tg_json *request,
                                 struct tg_toolset *set, struct tg_error *err)
{
    const struct tg_json *functions;
    struct tg_span name;

    if (tg_json_get_array(request, "functions", &functions) != TG_JSON_GOT)
        return TG_OK;
    for (size_t i = 0; i < tg_json_array_len(functions); i++) {
        const struct tg_json *function = tg_json_array_at(functions, i);

        if (!tg_hub_text(function, "name", &name))
            return tg_hub_invalid(err, "functions", "holds one without a name");
        read_function(context, set, function, function);
    }
    return TG_OK;
}

enum tg_class tg_toolset_from_chat(const struct tg_convert *context, const struct tg_json *request,
                                   struct tg_toolset *set, struct tg_error *err)
{
    const struct tg_json *tools, *search;
    enum tg_class class = TG_OK;
    bool parallel;

    if (tg_json_get_array(request, "tools", &tools) == TG_JSON_GOT)
        for (size_t i = 0; i < tg_json_array_len(tools) && class == TG_OK; i++)
            class = read_tool(context, set, tg_json_array_at(tools, i), i, err);
    if (class == TG_OK)
        class = read_legacy(context, request, set, err);
    if (tg_json_get_object(request, "web_search_options", &search) == TG_JSON_GOT)
        set->web_search = search;
    read_choice(context, set, request, "tool_choice");
    if (set->mode == TG_TOOLS_ABSENT)
        read_choice(context, set, request, "function_call");
    if (tg_json_get_bool(request, "parallel_tool_calls", &parallel) == TG_JSON_GOT)
        set->parallel = parallel;
    return class;
}

/* --- to ------------------------------------------------------------------------------------- */

static struct tg_json *function_of(const struct tg_convert *context,
                                   const struct tg_tool_form *form)
{
    struct tg_json *tool = tg_json_new_object(), *function = tg_json_new_object();

    tg_json_set_str(tool, "type", "function");
    tg_json_set_str(function, "name", form->wire_name);
    if (form->kind == TG_TOOL_CUSTOM) {
        tg_toolset_wrap_custom(context, form, function, "parameters");
        tg_json_set(tool, "function", function);
        return tool;
    }
    if (form->description != NULL)
        tg_json_set_str(function, "description", form->description);
    tg_json_set(function, "parameters", tg_schema_clean(form->schema));
    if (form->strict == 1 && !tg_schema_is_strict(form->schema))
        tg_diagnose(context->diagnostics, TG_SEVERITY_INFO, "TOOL_STRICT_DROPPED", "tools", "");
    if (form->strict >= 0)
        tg_json_set_bool(function, "strict",
                         form->strict == 1 && tg_schema_is_strict(form->schema));
    tg_json_set(tool, "function", function);
    return tool;
}

static struct tg_json *named_choice(const struct tg_toolset *set)
{
    struct tg_json *choice = tg_json_new_object(), *function = tg_json_new_object();
    const struct tg_tool_form *tool = tg_toolset_find(set, set->names[0]);

    tg_json_set_str(choice, "type", "function");
    tg_json_set_str(function, "name", tool != NULL ? tool->wire_name : set->names[0]);
    tg_json_set(choice, "function", function);
    return choice;
}

static struct tg_json *subset_choice(const struct tg_toolset *set)
{
    struct tg_json *choice = tg_json_new_object(), *allowed = tg_json_new_object();
    struct tg_json *tools = tg_json_new_array();

    for (size_t i = 0; i < set->tool_count; i++)
        if (tg_toolset_allows(set, &set->tools[i])) {
            struct tg_json *tool = tg_json_new_object(), *function = tg_json_new_object();

            tg_json_set_str(tool, "type", "function");
            tg_json_set_str(function, "name", set->tools[i].wire_name);
            tg_json_set(tool, "function", function);
            tg_json_push(tools, tool);
        }
    tg_json_set_str(choice, "type", "allowed_tools");
    tg_json_set_str(allowed, "mode",
                    set->mode == TG_TOOLS_SUBSET_REQUIRED ? "required" : "auto");
    tg_json_set(allowed, "tools", tools);
    tg_json_set(choice, "allowed_tools", allowed);
    return choice;
}

static void write_choice(const struct tg_toolset *set, struct tg_json *request)
{
    switch (set->mode) {
    case TG_TOOLS_ABSENT:
        break;
    case TG_TOOLS_AUTO:
        tg_json_set_str(request, "tool_choice", "auto");
        break;
    case TG_TOOLS_NONE:
        tg_json_set_str(request, "tool_choice", "none");
        break;
    case TG_TOOLS_REQUIRED:
        tg_json_set_str(request, "tool_choice", "required");
        break;
    case TG_TOOLS_NAMED:
        tg_json_set(request, "tool_choice", named_choice(set));
        break;
    case TG_TOOLS_SUBSET_AUTO:
    case TG_TOOLS_SUBSET_REQUIRED:
        tg_json_set(request, "tool_choice", subset_choice(set));
        break;
    }
}

/* web_search is the one tool of a provider that Chat knows, and search models alone have it. */
static void write_builtin(const struct tg_convert *context, const struct tg_tool_builtin *builtin,
                          struct tg_json *request)
{
    if (tg_tool_family_of(builtin->type) == TG_FAMILY_WEB_SEARCH &&
        strstr(context->upstream_model, "search") != NULL) {
        tg_json_set(request, "web_search_options", tg_json_new_object());
        tg_diagnose(context->diagnostics, TG_SEVERITY_WARN, "TOOL_BUILTIN_MAPPED", "tools",
                    builtin->type);
        return;
    }
    tg_diagnose(context->diagnostics, TG_SEVERITY_ERROR, "TOOL_BUILTIN_UNSUPPORTED", "tools",
                builtin->type);
}

void tg_toolset_to_chat(const struct tg_convert *context, const struct tg_toolset *set,
                        struct tg_json *request)
{
    struct tg_json *tools;

    for (size_t i = 0; i < set->builtin_count; i++)
        write_builtin(context, &set->builtins[i], request);
    if (set->tool_count == 0)
        return; /* neither a choice nor a flag goes without tools */
    tools = tg_json_new_array();
    for (size_t i = 0; i < set->tool_count; i++)
        tg_json_push(tools, function_of(context, &set->tools[i]));
    tg_json_set(request, "tools", tools);
    write_choice(set, request);
    if (set->parallel >= 0)
        tg_json_set_bool(request, "parallel_tool_calls", set->parallel == 1);
}
