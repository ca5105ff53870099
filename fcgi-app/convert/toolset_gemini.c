/* Tools in the words of Gemini. */
#include "fcgi-app/convert/gemini_hub.h"
#include "fcgi-app/convert/gemini_model.h"
#include "fcgi-app/convert/schema_gemini.h"
#include "fcgi-app/convert/toolset_forms.h"

#include <string.h>

/* --- from ----------------------------------------------------------------------------------- */

static enum tg_class read_function(const struct tg_convert *context, struct tg_toolset *set,
                                   const struct tg_json *said, struct tg_error *err)
{
    struct tg_span name = tg_gemini_text(said, "name");
    struct tg_span text = tg_gemini_text(said, "description");
    const struct tg_json *schema = tg_gemini_object(said, "parametersJsonSchema");
    const struct tg_json *parameters = tg_gemini_object(said, "parameters");
    struct tg_tool_form *form;

    if (name.len == 0)
        return tg_hub_invalid(err, "tools.functionDeclarations", "holds one without a name");
    form = tg_toolset_add(context, set, name);
    if (text.len > 0)
        form->description = tg_arena_strndup(context->arena, text.ptr, text.len);
    form->schema = schema;
    if (schema == NULL && parameters != NULL)
        form->schema = tg_hub_keep(context, tg_schema_of_gemini(parameters));
    if (tg_gemini_get(said, "response") != NULL ||
        tg_gemini_get(said, "responseJsonSchema") != NULL ||
        tg_gemini_get(said, "behavior") != NULL)
        tg_diagnose(context->diagnostics, TG_SEVERITY_INFO, "PARAM_DROPPED",
                    "tools.functionDeclarations", "response, behavior");
    return TG_OK;
}

/* A member of a tool that is no list of functions is a tool that Google runs: "googleSearch". */
struct builtins {
    const struct tg_convert *context;
    struct tg_toolset *set;
};

static bool read_builtin(void *opaque, const char *key, const struct tg_json *value)
{
    const struct builtins *builtins = opaque;
    struct tg_json *tool;

    if (tg_gemini_key_is(key, "functionDeclarations") || tg_json_type(value) == TG_JSON_NULL)
        return true;
    tool = tg_json_new_object();
    tg_json_set_str(tool, "type", key);
    tg_json_set(tool, "options", tg_json_copy(value));
    tg_toolset_add_builtin(builtins->context, builtins->set,
                           tg_hub_keep(builtins->context, tool));
    return true;
}

static void read_choice(const struct tg_convert *context, const struct tg_json *config,
                        struct tg_toolset *set)
{
    struct tg_span mode = tg_gemini_text(config, "mode"), name;
    const struct tg_json *names = tg_gemini_array(config, "allowedFunctionNames");
    bool any = tg_span_is(mode, "ANY"), validated = tg_span_is(mode, "VALIDATED");

    if (tg_span_is(mode, "NONE"))
        set->mode = TG_TOOLS_NONE;
    else if (tg_span_is(mode, "AUTO") || validated)
        set->mode = TG_TOOLS_AUTO;
    else if (any)
        set->mode = TG_TOOLS_REQUIRED;
    if (validated)
        tg_diagnose(context->diagnostics, TG_SEVERITY_INFO, "TOOL_CHOICE_APPROXIMATED",
                    "toolConfig.functionCallingConfig.mode", "");
    if (names == NULL || tg_json_array_len(names) == 0 || (!any && !validated))
        return;
    set->mode = validated                          ? TG_TOOLS_SUBSET_AUTO
                : tg_json_array_len(names) == 1 ? TG_TOOLS_NAMED
                                                   : TG_TOOLS_SUBSET_REQUIRED;
    for (size_t i = 0; i < tg_json_array_len(names); i++)
        if (tg_json_string(tg_json_array_at(names, i), &name))
            tg_toolset_add_name(context, set, name);
}

static void read_config(const struct tg_convert *context, const struct tg_json *config,
                        struct tg_toolset *set)
{
    static const char *const dropped[] = {"retrievalConfig", "includeServerSideToolInvocations"};
    const struct tg_json *calling = tg_gemini_object(config, "functionCallingConfig");

    for (size_t i = 0; i < TG_COUNT_OF(dropped); i++)
        if (tg_gemini_get(config, dropped[i]) != NULL)
            tg_diagnose(context->diagnostics, TG_SEVERITY_INFO, "PARAM_DROPPED",
                        tg_arena_printf(context->arena, "toolConfig.%s", dropped[i]), "");
    if (calling == NULL)
        return;
    if (tg_gemini_true(calling, "streamFunctionCallArguments"))
        tg_diagnose(context->diagnostics, TG_SEVERITY_INFO, "PARAM_DROPPED",
                    "toolConfig.functionCallingConfig.streamFunctionCallArguments", "");
    read_choice(context, calling, set);
}

static enum tg_class read_tool(const struct tg_convert *context, const struct tg_json *tool,
                               struct tg_toolset *set, struct tg_error *err)
{
    const struct tg_json *functions = tg_gemini_array(tool, "functionDeclarations");
    struct builtins builtins = {context, set};
    enum tg_class class = TG_OK;

    if (tg_json_type(tool) != TG_JSON_OBJECT)
        return tg_hub_invalid(err, "tools", "holds something that is no tool");
    for (size_t i = 0; functions != NULL && i < tg_json_array_len(functions) && class == TG_OK;
         i++)
        class = read_function(context, set, tg_json_array_at(functions, i), err);
    tg_json_each(tool, read_builtin, &builtins);
    return class;
}

enum tg_class tg_toolset_from_gemini(const struct tg_convert *context,
                                     const struct tg_json *request, struct tg_toolset *set,
                                     struct tg_error *err)
{
    const struct tg_json *tools = tg_gemini_array(request, "tools");
    const struct tg_json *config = tg_gemini_object(request, "toolConfig");
    enum tg_class class = TG_OK;

    for (size_t i = 0; tools != NULL && i < tg_json_array_len(tools) && class == TG_OK; i++)
        class = read_tool(context, tg_json_array_at(tools, i), set, err);
    if (config != NULL)
        read_config(context, config, set);
    return class;
}

/* --- to ------------------------------------------------------------------------------------- */

static void set_parameters(const struct tg_convert *context, const struct tg_tool_form *form,
                           struct tg_json *made)
{
    struct tg_json *schema, *clean;

    if (form->schema == NULL)
        return;
    clean = tg_schema_clean(form->schema);
    if (tg_gemini_takes_json_schema(context)) {
        tg_json_set(made, "parametersJsonSchema", tg_schema_for_gemini(context, clean, "tools"));
    } else {
        schema = tg_schema_to_gemini(context, clean, "tools");
        if (schema != NULL)
            tg_json_set(made, "parameters", schema);
    }
    tg_json_free(clean);
}

/* The one string of a custom tool, in the language that every model takes. */
static void set_custom(const struct tg_convert *context, const struct tg_tool_form *form,
                       struct tg_json *made)
{
    struct tg_json *schema, *written;

    tg_toolset_wrap_custom(context, form, made, "parameters");
    schema = tg_json_take(made, "parameters");
    written = schema != NULL ? tg_schema_to_gemini(context, schema, "tools") : NULL;
    if (written != NULL)
        tg_json_set(made, "parameters", written);
    tg_json_free(schema);
}

static struct tg_json *function_of(const struct tg_convert *context,
                                   const struct tg_tool_form *form)
{
    struct tg_json *made = tg_json_new_object();

    tg_json_set_str(made, "name", form->wire_name);
    if (form->kind == TG_TOOL_CUSTOM) {
        set_custom(context, form, made);
        return made;
    }
    if (form->description != NULL)
        tg_json_set_str(made, "description", form->description);
    set_parameters(context, form, made);
    if (form->strict == 1)
        tg_diagnose(context->diagnostics, TG_SEVERITY_INFO, "TOOL_STRICT_DROPPED", "tools", "");
    if (form->cache_control != NULL)
        tg_diagnose(context->diagnostics, TG_SEVERITY_INFO, "CACHE_HINT_DROPPED", "tools", "");
    return made;
}

static const char *wire_name_of(const struct tg_toolset *set, const char *name)
{
    const struct tg_tool_form *form = tg_toolset_find(set, name);

    return form != NULL ? form->wire_name : name;
}

/* Takes part of a subset that must be called from by its names, one that may by what is listed. */
static struct tg_json *calling_of(const struct tg_toolset *set)
{
    struct tg_json *config = tg_json_new_object(), *names = tg_json_new_array();

    switch (set->mode) {
    case TG_TOOLS_ABSENT:
        break;
    case TG_TOOLS_NONE:
        tg_json_set_str(config, "mode", "NONE");
        break;
    case TG_TOOLS_AUTO:
    case TG_TOOLS_SUBSET_AUTO:
        tg_json_set_str(config, "mode", "AUTO");
        break;
    case TG_TOOLS_REQUIRED:
        tg_json_set_str(config, "mode", "ANY");
        break;
    case TG_TOOLS_NAMED:
    case TG_TOOLS_SUBSET_REQUIRED:
        tg_json_set_str(config, "mode", "ANY");
        for (size_t i = 0; i < set->name_count; i++)
            tg_json_push(names, tg_json_new_str(wire_name_of(set, set->names[i])));
        break;
    }
    tg_hub_set_list(config, "allowedFunctionNames", names);
    return config;
}

static struct tg_json *functions_of(const struct tg_convert *context, const struct tg_toolset *set)
{
    struct tg_json *list = tg_json_new_array();

    for (size_t i = 0; i < set->tool_count; i++) {
        if (set->mode == TG_TOOLS_SUBSET_AUTO && !tg_toolset_allows(set, &set->tools[i]))
            tg_diagnose(context->diagnostics, TG_SEVERITY_WARN, "TOOL_CHOICE_APPROXIMATED",
                        "tool_choice", "tools outside the subset are left out");
        else
            tg_json_push(list, function_of(context, &set->tools[i]));
    }
    return list;
}

static const char *builtin_key(enum tg_tool_family family)
{
    switch (family) {
    case TG_FAMILY_WEB_SEARCH:
        return "googleSearch";
    case TG_FAMILY_WEB_FETCH:
        return "urlContext";
    case TG_FAMILY_CODE:
        return "codeExecution";
    case TG_FAMILY_OTHER:
        break;
    }
    return NULL;
}

static void push_builtin(const struct tg_convert *context, const char *key, const char *detail,
                         struct tg_json *tools)
{
    struct tg_json *tool = tg_json_new_object();

    tg_json_set(tool, key, tg_json_new_object());
    tg_json_push(tools, tool);
    tg_diagnose(context->diagnostics, TG_SEVERITY_WARN, "TOOL_BUILTIN_MAPPED", "tools", detail);
}

static void push_builtins(const struct tg_convert *context, const struct tg_toolset *set,
                          struct tg_json *tools)
{
    for (size_t i = 0; i < set->builtin_count; i++) {
        const char *type = set->builtins[i].type, *key = builtin_key(tg_tool_family_of(type));

        if (key != NULL)
            push_builtin(context, key, type, tools);
        else
            tg_diagnose(context->diagnostics, TG_SEVERITY_ERROR, "TOOL_BUILTIN_UNSUPPORTED",
                        "tools", type);
    }
    if (set->web_search != NULL)
        push_builtin(context, "googleSearch", "web_search_options", tools);
}

/* Models before generation 3 have functions or tools of Google's, not both. */
static bool may_combine(const struct tg_convert *context)
{
    return tg_gemini_model_of(context->upstream_model).generation >= TG_GEMINI_3;
}

static void set_config(const struct tg_toolset *set, bool has_functions, bool combined,
                       struct tg_json *request)
{
    struct tg_json *config = tg_json_new_object();

    if (has_functions && set->mode != TG_TOOLS_ABSENT)
        tg_json_set(config, "functionCallingConfig", calling_of(set));
    if (combined)
        tg_json_set_bool(config, "includeServerSideToolInvocations", true);
    if (tg_gemini_is_empty(config))
        tg_json_free(config);
    else
        tg_json_set(request, "toolConfig", config);
}

void tg_toolset_to_gemini(const struct tg_convert *context, const struct tg_toolset *set,
                          struct tg_json *request)
{
    struct tg_json *tools = tg_json_new_array(), *functions = functions_of(context, set), *tool;
    bool has_functions = tg_json_array_len(functions) > 0;
    bool wants_builtins = set->builtin_count > 0 || set->web_search != NULL;

    if (has_functions) {
        tool = tg_json_new_object();
        tg_json_set(tool, "functionDeclarations", functions);
        tg_json_push(tools, tool);
    } else {
        tg_json_free(functions);
    }
    if (wants_builtins && has_functions && !may_combine(context))
        tg_diagnose(context->diagnostics, TG_SEVERITY_WARN, "TOOLS_FORMAT_CONFLICT", "tools",
                    "the model has functions or tools of its own, not both");
    else
        push_builtins(context, set, tools);
    if (has_functions && set->parallel == 0)
        tg_diagnose(context->diagnostics, TG_SEVERITY_WARN, "PARALLEL_FLAG_DROPPED",
                    "parallel_tool_calls", "");
    set_config(set, has_functions, has_functions && tg_json_array_len(tools) > 1, request);
    tg_hub_set_list(request, "tools", tools);
}
