/* Tools in the words of Responses: flat, without an inner "function". */
#include "fcgi-app/convert/hub.h"
#include "fcgi-app/convert/toolset_forms.h"

#include <string.h>

/* --- from ----------------------------------------------------------------------------------- */

static const char *text_of(const struct tg_convert *context, const struct tg_json *tool,
                           const char *key)
{
    struct tg_span text;

    return tg_hub_text(tool, key, &text) ? tg_arena_strndup(context->arena, text.ptr, text.len)
                                         : NULL;
}

static void note(const struct tg_convert *context, enum tg_severity severity, const char *code,
                 const char *path)
{
    tg_diagnose(context->diagnostics, severity, code, path, "");
}

/* "<namespace>__<name>": what the tool is called where there are no namespaces. */
static struct tg_tool_form *add(const struct tg_convert *context, struct tg_toolset *set,
                                const struct tg_json *tool, const char *space)
{
    struct tg_span name = tg_hub_span(tool, "name");
    struct tg_tool_form *form;
    const char *joined;

    if (space == NULL)
        return tg_toolset_add(context, set, name);
    joined = tg_arena_printf(context->arena, "%s__%.*s", space, (int)name.len, name.ptr);
    form = tg_toolset_add(context, set, (struct tg_span){joined, strlen(joined)});
    form->space = space;
    return form;
}

/* Strict is the rule here unless the request says otherwise: a schema that does not comply would be
 * refused elsewhere. */
static void read_function(const struct tg_convert *context, struct tg_toolset *set,
                          const struct tg_json *tool, const char *space)
{
    struct tg_tool_form *form = add(context, set, tool, space);
    bool strict;

    form->description = text_of(context, tool, "description");
    if (tg_json_get_object(tool, "parameters", &form->schema) != TG_JSON_GOT)
        form->schema = NULL;
    if (tg_json_get_bool(tool, "strict", &strict) == TG_JSON_GOT)
        form->strict = strict;
    else
        form->strict = tg_schema_is_strict(form->schema);
    if (form->strict == 0 && tg_json_get_bool(tool, "strict", &strict) != TG_JSON_GOT)
        note(context, TG_SEVERITY_INFO, "TOOL_STRICT_DROPPED", "tools");
}

static void read_custom(const struct tg_convert *context, struct tg_toolset *set,
                        const struct tg_json *tool, const char *space)
{
    struct tg_tool_form *form = add(context, set, tool, space);

    form->kind = TG_TOOL_CUSTOM;
    form->description = text_of(context, tool, "description");
    if (tg_json_get_object(tool, "format", &form->grammar) != TG_JSON_GOT ||
        tg_hub_is(form->grammar, "type", "text"))
        form->grammar = NULL;
}

/* What stands in a namespace becomes flat, and gets its place back in the answer. */
static enum tg_class read_namespace(const struct tg_convert *context, struct tg_toolset *set,
                                    const struct tg_json *tool, const char *path,
                                    struct tg_error *err)
{
    const char *space = text_of(context, tool, "name");
    const struct tg_json *tools;

    if (space == NULL)
        return tg_hub_invalid(err, path, "has no name");
    if (tg_json_get_array(tool, "tools", &tools) != TG_JSON_GOT)
        return tg_hub_invalid(err, path, "has no tools");
    note(context, TG_SEVERITY_INFO, "TOOL_NAME_REWRITTEN", path);
    for (size_t i = 0; i < tg_json_array_len(tools); i++) {
        const struct tg_json *inner = tg_json_array_at(tools, i);

        if (tg_hub_span(inner, "name").len == 0)
            return tg_hub_invalid(err, path, "holds a tool without a name");
        if (tg_hub_is(inner, "type", "custom"))
            read_custom(context, set, inner, space);
        else
            read_function(context, set, inner, space);
    }
    return TG_OK;
}

static enum tg_class read_tool(const struct tg_convert *context, struct tg_toolset *set,
                               const struct tg_json *tool, const char *path, struct tg_error *err)
{
    bool function = tg_hub_is(tool, "type", "function");

    if (tg_hub_is(tool, "type", "namespace"))
        return read_namespace(context, set, tool, path, err);
    if (function || tg_hub_is(tool, "type", "custom")) {
        if (tg_hub_span(tool, "name").len == 0)
            return tg_hub_invalid(err, path, "has no name");
        if (function)
            read_function(context, set, tool, NULL);
        else
            read_custom(context, set, tool, NULL);
        return TG_OK;
    }
    if (tg_hub_span(tool, "type").len == 0)
        return tg_hub_invalid(err, path, "has no type");
    tg_toolset_add_builtin(context, set, tool);
    return TG_OK;
}

/* Tools that the provider runs cannot be allowed by name elsewhere: they are left out. */
static void read_subset(const struct tg_convert *context, struct tg_toolset *set,
                        const struct tg_json *choice)
{
    const struct tg_json *tools;

    set->mode = tg_hub_is(choice, "mode", "required") ? TG_TOOLS_SUBSET_REQUIRED
                                                      : TG_TOOLS_SUBSET_AUTO;
    if (tg_json_get_array(choice, "tools", &tools) != TG_JSON_GOT)
        return;
    for (size_t i = 0; i < tg_json_array_len(tools); i++) {
        struct tg_span name = tg_hub_span(tg_json_array_at(tools, i), "name");

        if (name.len > 0)
            tg_toolset_add_name(context, set, name);
        else
            note(context, TG_SEVERITY_WARN, "TOOL_CHOICE_APPROXIMATED", "tool_choice");
    }
}

static void read_choice(const struct tg_convert *context, const struct tg_json *request,
                        struct tg_toolset *set)
{
    const struct tg_json *choice;

    if (tg_json_get(request, "tool_choice", &choice) != TG_JSON_GOT)
        return;
    if (tg_hub_is(request, "tool_choice", "auto"))
        set->mode = TG_TOOLS_AUTO;
    else if (tg_hub_is(request, "tool_choice", "none"))
        set->mode = TG_TOOLS_NONE;
    else if (tg_hub_is(request, "tool_choice", "required"))
        set->mode = TG_TOOLS_REQUIRED;
    else if (tg_hub_is(choice, "type", "allowed_tools"))
        read_subset(context, set, choice);
    else if (tg_hub_is(choice, "type", "function") || tg_hub_is(choice, "type", "custom")) {
        set->mode = TG_TOOLS_NAMED;
        tg_toolset_add_name(context, set, tg_hub_span(choice, "name"));
    } else { /* {"type":"web_search"}, {"type":"mcp",…} */
        set->mode = TG_TOOLS_AUTO;
        note(context, TG_SEVERITY_WARN, "TOOL_CHOICE_APPROXIMATED", "tool_choice");
    }
}

enum tg_class tg_toolset_from_responses(const struct tg_convert *context,
                                        const struct tg_json *request, struct tg_toolset *set,
                                        struct tg_error *err)
{
    const struct tg_json *tools;
    enum tg_class class = TG_OK;
    bool parallel;

    if (tg_json_get_array(request, "tools", &tools) == TG_JSON_GOT)
        for (size_t i = 0; i < tg_json_array_len(tools) && class == TG_OK; i++)
            class = read_tool(context, set, tg_json_array_at(tools, i),
                              tg_arena_printf(context->arena, "tools[%zu]", i), err);
    read_choice(context, request, set);
    if (tg_json_get_bool(request, "parallel_tool_calls", &parallel) == TG_JSON_GOT)
        set->parallel = parallel;
    return class;
}

/* --- to ------------------------------------------------------------------------------------- */

/* Chat wraps a grammar once more: {"type":"grammar","grammar":{"syntax":…,"definition":…}}. */
static struct tg_json *grammar_of(const struct tg_json *grammar)
{
    const struct tg_json *inner;
    struct tg_json *made;

    if (tg_json_get_object(grammar, "grammar", &inner) != TG_JSON_GOT)
        return tg_json_copy(grammar);
    made = tg_json_new_object();
    tg_json_set_str(made, "type", "grammar");
    tg_json_set_copy(made, "syntax", inner, "syntax");
    tg_json_set_copy(made, "definition", inner, "definition");
    return made;
}

static struct tg_json *tool_of(const struct tg_convert *context, const struct tg_tool_form *form)
{
    bool strict = form->strict == 1 && tg_schema_is_strict(form->schema);
    struct tg_json *tool = tg_json_new_object();

    tg_json_set_str(tool, "type", form->kind == TG_TOOL_CUSTOM ? "custom" : "function");
    tg_json_set_str(tool, "name", form->wire_name);
    if (form->description != NULL)
        tg_json_set_str(tool, "description", form->description);
    if (form->cache_control != NULL)
        note(context, TG_SEVERITY_INFO, "CACHE_HINT_DROPPED", "tools");
    if (form->kind == TG_TOOL_CUSTOM) {
        if (form->grammar != NULL)
            tg_json_set(tool, "format", grammar_of(form->grammar));
        return tool;
    }
    tg_json_set(tool, "parameters", tg_schema_clean(form->schema));
    if (form->strict == 1 && !strict)
        note(context, TG_SEVERITY_INFO, "TOOL_STRICT_DROPPED", "tools");
    tg_json_set_bool(tool, "strict", strict); /* absent would mean true */
    return tool;
}

static const char *kind_of(const struct tg_tool_form *tool)
{
    return tool != NULL && tool->kind == TG_TOOL_CUSTOM ? "custom" : "function";
}

static struct tg_json *reference_to(const struct tg_toolset *set, const char *name)
{
    const struct tg_tool_form *tool = tg_toolset_find(set, name);
    struct tg_json *made = tg_json_new_object();

    tg_json_set_str(made, "type", kind_of(tool));
    tg_json_set_str(made, "name", tool != NULL ? tool->wire_name : name);
    return made;
}

static struct tg_json *subset_choice(const struct tg_toolset *set)
{
    struct tg_json *choice = tg_json_new_object(), *tools = tg_json_new_array();

    for (size_t i = 0; i < set->tool_count; i++)
        if (tg_toolset_allows(set, &set->tools[i]))
            tg_json_push(tools, reference_to(set, set->tools[i].name));
    tg_json_set_str(choice, "type", "allowed_tools");
    tg_json_set_str(choice, "mode", set->mode == TG_TOOLS_SUBSET_REQUIRED ? "required" : "auto");
    tg_json_set(choice, "tools", tools);
    return choice;
}

static void write_choice(const struct tg_toolset *set, struct tg_json *request)
{
    static const char *const words[] = {
        [TG_TOOLS_AUTO] = "auto", [TG_TOOLS_NONE] = "none", [TG_TOOLS_REQUIRED] = "required"};

    if (set->mode == TG_TOOLS_ABSENT)
        return;
    if (set->mode == TG_TOOLS_NAMED)
        tg_json_set(request, "tool_choice", reference_to(set, set->names[0]));
    else if (set->mode == TG_TOOLS_SUBSET_AUTO || set->mode == TG_TOOLS_SUBSET_REQUIRED)
        tg_json_set(request, "tool_choice", subset_choice(set));
    else
        tg_json_set_str(request, "tool_choice", words[set->mode]);
}

/* <options>: Chat's web_search_options, or Anthropic's tool. */
static void write_web_search(const struct tg_convert *context, const struct tg_json *options,
                             struct tg_json *tools)
{
    struct tg_json *tool = tg_json_new_object(), *filters;
    const struct tg_json *location, *approximate;

    tg_json_set_str(tool, "type", "web_search");
    tg_json_set_copy(tool, "search_context_size", options, "search_context_size");
    if (tg_json_get_array(options, "allowed_domains", &location) == TG_JSON_GOT) {
        filters = tg_json_new_object();
        tg_json_set_copy(filters, "allowed_domains", options, "allowed_domains");
        tg_json_set(tool, "filters", filters);
    }
    if (tg_json_get_object(options, "user_location", &location) == TG_JSON_GOT) {
        if (tg_json_get_object(location, "approximate", &approximate) == TG_JSON_GOT)
            location = approximate;
        tg_json_set(tool, "user_location", tg_json_copy(location));
        tg_json_set_str(tg_json_member(tool, "user_location"), "type", "approximate");
    }
    tg_json_push(tools, tool);
    tg_diagnose(context->diagnostics, TG_SEVERITY_WARN, "TOOL_BUILTIN_MAPPED", "tools",
                "web_search");
}

static void write_builtins(const struct tg_convert *context, const struct tg_toolset *set,
                           struct tg_json *tools)
{
    if (set->web_search != NULL)
        write_web_search(context, set->web_search, tools);
    for (size_t i = 0; i < set->builtin_count; i++) {
        if (strncmp(set->builtins[i].type, "web_search", 10) == 0)
            write_web_search(context, set->builtins[i].options, tools);
        else
            tg_diagnose(context->diagnostics, TG_SEVERITY_ERROR, "TOOL_BUILTIN_UNSUPPORTED",
                        "tools", set->builtins[i].type);
    }
}

void tg_toolset_to_responses(const struct tg_convert *context, const struct tg_toolset *set,
                             struct tg_json *request)
{
    struct tg_json *tools = tg_json_new_array();

    for (size_t i = 0; i < set->tool_count; i++)
        tg_json_push(tools, tool_of(context, &set->tools[i]));
    write_builtins(context, set, tools);
    if (tg_json_array_len(tools) == 0) {
        tg_json_free(tools);
        return; /* neither a choice nor a flag goes without tools */
    }
    tg_json_set(request, "tools", tools);
    write_choice(set, request);
    if (set->parallel >= 0)
        tg_json_set_bool(request, "parallel_tool_calls", set->parallel == 1);
}
