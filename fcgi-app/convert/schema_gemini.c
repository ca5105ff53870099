/* JSON Schema in the small language of schemas that all of Gemini's models take (PROTOCOLS
 * B0.10). */
#include "fcgi-app/convert/gemini_hub.h"
#include "fcgi-app/convert/gemini_model.h"
#include "fcgi-app/convert/schema_gemini.h"
#include "fcgi-app/convert/schema_values.h"

#include <string.h>

enum { DEPTH_MOST = 64, REFS_MOST = 16 };

struct cleaning {
    const struct tg_convert *context;
    const struct tg_json *root;
    const char *refs[REFS_MOST]; /* being written out */
    size_t ref_count;
    struct tg_schema_losses losses;
};

static struct tg_json *clean(struct cleaning *cleaning, const struct tg_json *schema, int depth);

static bool is_null_type(const struct tg_json *schema)
{
    return tg_hub_is(schema, "type", "null");
}

/* --- references ----------------------------------------------------------------------------- */

static const struct tg_json *resolve(const struct cleaning *cleaning, struct tg_span ref,
                                     const char **ret_name)
{
    static const char *const places[][2] = {{"#/$defs/", "$defs"},
                                            {"#/definitions/", "definitions"}};
    const struct tg_json *defs, *found;

    *ret_name = tg_arena_strndup(cleaning->context->arena, ref.ptr, ref.len);
    if (tg_span_is(ref, "#"))
        return cleaning->root;
    for (size_t i = 0; i < TG_COUNT_OF(places); i++) {
        size_t len = strlen(places[i][0]);

        if (strncmp(*ret_name, places[i][0], len) != 0 ||
            tg_json_get_object(cleaning->root, places[i][1], &defs) != TG_JSON_GOT)
            continue;
        *ret_name += len;
        return tg_json_get_object(defs, *ret_name, &found) == TG_JSON_GOT ? found : NULL;
    }
    return NULL;
}

static size_t times_open(const struct cleaning *cleaning, const char *name)
{
    size_t count = 0;

    for (size_t i = 0; i < cleaning->ref_count; i++)
        count += strcmp(cleaning->refs[i], name) == 0;
    return count;
}

/* A type that holds itself is written out once more, then cut. */
static struct tg_json *write_out(struct cleaning *cleaning, const struct tg_json *schema,
                                 struct tg_span ref, int depth)
{
    const char *name;
    const struct tg_json *target = resolve(cleaning, ref, &name);
    struct tg_json *made;
    struct tg_span text;

    cleaning->losses.rewritten = true;
    if (target == NULL || times_open(cleaning, name) > 1 || cleaning->ref_count == REFS_MOST) {
        cleaning->losses.lossy = true;
        made = tg_json_new_object();
        tg_json_set_str(made, "type", "OBJECT");
        tg_json_set_str(made, "description",
                        tg_arena_printf(cleaning->context->arena, "(recursive) %.100s", name));
        return made;
    }
    cleaning->refs[cleaning->ref_count++] = name;
    made = clean(cleaning, target, depth + 1);
    cleaning->ref_count--;
    if (tg_hub_text(schema, "description", &text))
        tg_json_set_span(made, "description", text);
    return made;
}

/* --- alternatives --------------------------------------------------------------------------- */

static bool merge_property(void *opaque, const char *key, const struct tg_json *value)
{
    struct tg_json *into = opaque;
    const struct tg_json *there;

    if (tg_json_get(into, key, &there) != TG_JSON_GOT)
        tg_json_set(into, key, tg_json_copy(value));
    return true;
}

static bool merge_member(void *opaque, const char *key, const struct tg_json *value)
{
    struct tg_json *into = opaque, *there = tg_json_member(into, key);

    if (there == NULL)
        tg_json_set(into, key, tg_json_copy(value));
    else if (strcmp(key, "properties") == 0)
        tg_json_each(value, merge_property, there);
    else if (strcmp(key, "required") == 0)
        for (size_t i = 0; i < tg_json_array_len(value); i++)
            tg_json_push(there, tg_json_copy(tg_json_array_at(value, i)));
    return true; /* of two that differ the first stays */
}

/* allOf: what every branch says, in one schema. The caller's. */
static struct tg_json *merge_all(struct cleaning *cleaning, const struct tg_json *schema,
                                 const struct tg_json *branches)
{
    struct tg_json *made = tg_json_copy(schema);
    const char *name;
    struct tg_span ref;

    tg_json_remove(made, "allOf");
    for (size_t i = 0; i < tg_json_array_len(branches); i++) {
        const struct tg_json *branch = tg_json_array_at(branches, i);

        if (tg_hub_text(branch, "$ref", &ref))
            branch = resolve(cleaning, ref, &name);
        if (branch != NULL)
            tg_json_each(branch, merge_member, made);
    }
    cleaning->losses.lossy = true;
    return made;
}

/* Takes <list>: one branch that is left stands for itself. */
static struct tg_json *with_branches(struct tg_json *made, struct tg_json *list)
{
    static const char *const beside[] = {"description", "title", "nullable"};
    struct tg_json *only;

    if (tg_json_array_len(list) != 1) {
        tg_json_set(made, "anyOf", list);
        return made;
    }
    only = tg_json_copy(tg_json_array_at(list, 0));
    for (size_t i = 0; i < TG_COUNT_OF(beside); i++)
        tg_json_set_copy(only, beside[i], made, beside[i]);
    tg_json_free(list);
    tg_json_free(made);
    return only;
}

static struct tg_json *clean_choice(struct cleaning *cleaning, const struct tg_json *schema,
                                    const struct tg_json *branches, int depth)
{
    struct tg_json *made = tg_json_new_object(), *list = tg_json_new_array();

    tg_json_set_copy(made, "description", schema, "description");
    tg_json_set_copy(made, "title", schema, "title");
    for (size_t i = 0; i < tg_json_array_len(branches); i++) {
        const struct tg_json *branch = tg_json_array_at(branches, i);

        if (is_null_type(branch))
            tg_schema_set_nullable(&cleaning->losses, made);
        else
            tg_json_push(list, clean(cleaning, branch, depth + 1));
    }
    if (tg_json_array_len(list) > 0)
        return with_branches(made, list);
    tg_json_free(list);
    tg_json_set_str(made, "type", "STRING");
    return made;
}

/* "type":["string","null"]. True: several are left, and anyOf says them. */
static bool clean_types(struct cleaning *cleaning, const struct tg_json *types,
                        struct tg_json *made)
{
    struct tg_json *list = tg_json_new_array();
    struct tg_span word;

    cleaning->losses.rewritten = true;
    for (size_t i = 0; i < tg_json_array_len(types); i++) {
        struct tg_json *branch;

        if (!tg_json_string(tg_json_array_at(types, i), &word))
            continue;
        if (tg_span_is(word, "null")) {
            tg_schema_set_nullable(&cleaning->losses, made);
            continue;
        }
        branch = tg_json_new_object();
        tg_schema_set_type(branch, word);
        tg_json_push(list, branch);
    }
    if (tg_json_array_len(list) > 1) {
        tg_json_set(made, "anyOf", list);
        return true;
    }
    if (tg_json_array_len(list) == 1)
        word = tg_hub_span(tg_json_array_at(list, 0), "type");
    else
        word = (struct tg_span){"string", 6};
    tg_schema_set_type(made, word);
    tg_json_free(list);
    return false;
}

/* --- arrays and objects --------------------------------------------------------------------- */

static void clean_items(struct cleaning *cleaning, const struct tg_json *schema,
                        struct tg_json *made, int depth)
{
    const struct tg_json *items, *tuple;
    struct tg_json *item;

    if (tg_json_get_object(schema, "items", &items) == TG_JSON_GOT) {
        tg_json_set(made, "items", clean(cleaning, items, depth + 1));
        return;
    }
    if (!tg_hub_is(made, "type", "ARRAY"))
        return;
    cleaning->losses.lossy = true;
    if (tg_json_get_array(schema, "prefixItems", &tuple) == TG_JSON_GOT ||
        tg_json_get_array(schema, "items", &tuple) == TG_JSON_GOT) {
        item = clean_choice(cleaning, made, tuple, depth);
        tg_json_remove(item, "description");
        tg_json_remove(item, "title");
    } else {
        item = tg_json_new_object();
        tg_json_set_str(item, "type", "STRING");
    }
    tg_json_set(made, "items", item);
}

struct properties {
    struct cleaning *cleaning;
    struct tg_json *to;
    int depth;
};

static bool clean_property(void *opaque, const char *key, const struct tg_json *value)
{
    const struct properties *properties = opaque;

    tg_json_set(properties->to, key, clean(properties->cleaning, value, properties->depth));
    return true;
}

static void clean_object(struct cleaning *cleaning, const struct tg_json *schema,
                         struct tg_json *made, int depth)
{
    struct properties properties = {cleaning, tg_json_new_object(), depth + 1};
    struct tg_json *required = tg_json_new_array();
    const struct tg_json *list, *there;
    struct tg_span name;

    if (tg_json_get_object(schema, "properties", &list) == TG_JSON_GOT)
        tg_json_each(list, clean_property, &properties);
    if (tg_json_get_array(schema, "required", &list) == TG_JSON_GOT)
        for (size_t i = 0; i < tg_json_array_len(list); i++) {
            if (tg_json_string(tg_json_array_at(list, i), &name) &&
                tg_json_get(properties.to, name.ptr, &there) == TG_JSON_GOT)
                tg_json_push(required, tg_json_new_string(name));
            else
                cleaning->losses.rewritten = true;
        }
    if (tg_gemini_is_empty(properties.to))
        tg_json_free(properties.to);
    else
        tg_json_set(made, "properties", properties.to);
    tg_hub_set_list(made, "required", required);
}

/* --- keywords ------------------------------------------------------------------------------- */

static const char *const kept[] = {
    "minimum",       "maximum",  "minItems", "maxItems",    "minLength", "maxLength",
    "minProperties", "maxProperties", "pattern", "title", "description", "default", "example",
    "nullable",      "propertyOrdering",
};

/* Read by functions of their own. */
static const char *const handled[] = {
    "type",     "enum",       "const",  "format",   "exclusiveMinimum", "exclusiveMaximum",
    "examples", "properties", "items",  "required", "prefixItems",
};

/* Constraints that are gone for good; what else is not named anywhere means nothing to a model. */
static const char *const meant[] = {
    "not",           "if",          "then",        "else",         "patternProperties",
    "propertyNames", "contains",    "minContains", "maxContains",  "uniqueItems",
    "multipleOf",    "dependentRequired", "dependentSchemas", "unevaluatedProperties",
    "unevaluatedItems",
};

static bool is_among(const char *key, const char *const *keys, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(key, keys[i]) == 0)
            return true;
    return false;
}

struct keywords {
    struct cleaning *cleaning;
    struct tg_json *made;
};

static bool keep_keyword(void *opaque, const char *key, const struct tg_json *value)
{
    const struct keywords *keywords = opaque;

    if (is_among(key, kept, TG_COUNT_OF(kept))) {
        if (tg_json_type(value) != TG_JSON_NULL)
            tg_json_set(keywords->made, key, tg_json_copy(value));
    } else if (!is_among(key, handled, TG_COUNT_OF(handled))) {
        keywords->cleaning->losses.rewritten = true;
        keywords->cleaning->losses.lossy |= is_among(key, meant, TG_COUNT_OF(meant));
    }
    return true;
}

/* What no type says, the other keywords do. */
static void guess_type(const struct tg_json *schema, struct tg_json *made)
{
    static const char *const guesses[][2] = {{"properties", "OBJECT"}, {"items", "ARRAY"},
                                             {"prefixItems", "ARRAY"}, {"pattern", "STRING"}};
    const struct tg_json *value;

    for (size_t i = 0; i < TG_COUNT_OF(guesses); i++)
        if (tg_json_get(made, "type", &value) != TG_JSON_GOT &&
            tg_json_get(made, "anyOf", &value) != TG_JSON_GOT &&
            tg_json_get(schema, guesses[i][0], &value) == TG_JSON_GOT)
            tg_json_set_str(made, "type", guesses[i][1]);
}

static struct tg_json *clean_plain(struct cleaning *cleaning, const struct tg_json *schema,
                                   int depth)
{
    struct tg_json *made = tg_json_new_object();
    struct keywords keywords = {cleaning, made};
    const struct tg_json *value;
    struct tg_span type;

    if (is_null_type(schema)) {
        tg_json_set_str(made, "type", "STRING");
        tg_schema_set_nullable(&cleaning->losses, made);
    } else if (tg_hub_text(schema, "type", &type)) {
        tg_schema_set_type(made, type);
    } else if (tg_json_get_array(schema, "type", &value) == TG_JSON_GOT &&
               clean_types(cleaning, value, made)) {
        tg_json_set_copy(made, "description", schema, "description");
        return made;
    }
    guess_type(schema, made);
    tg_json_each(schema, keep_keyword, &keywords);
    tg_schema_values(&cleaning->losses, schema, made);
    clean_items(cleaning, schema, made, depth);
    clean_object(cleaning, schema, made, depth);
    return made;
}

static struct tg_json *clean(struct cleaning *cleaning, const struct tg_json *schema, int depth)
{
    const struct tg_json *branches;
    struct tg_json *merged, *made;
    struct tg_span ref;

    if (depth > DEPTH_MOST || tg_json_type(schema) != TG_JSON_OBJECT) {
        cleaning->losses.lossy = true;
        return tg_json_new_object();
    }
    if (tg_hub_text(schema, "$ref", &ref))
        return write_out(cleaning, schema, ref, depth);
    if (tg_json_get_array(schema, "allOf", &branches) == TG_JSON_GOT) {
        merged = merge_all(cleaning, schema, branches);
        made = clean(cleaning, merged, depth + 1);
        tg_json_free(merged);
        return made;
    }
    if (tg_json_get_array(schema, "anyOf", &branches) == TG_JSON_GOT)
        return clean_choice(cleaning, schema, branches, depth);
    if (tg_json_get_array(schema, "oneOf", &branches) == TG_JSON_GOT) {
        cleaning->losses.lossy = true;
        return clean_choice(cleaning, schema, branches, depth);
    }
    return clean_plain(cleaning, schema, depth);
}

bool tg_gemini_takes_json_schema(const struct tg_convert *context)
{
    return tg_gemini_model_of(context->upstream_model).generation >= TG_GEMINI_2_5;
}

struct tg_json *tg_schema_to_gemini(const struct tg_convert *context, const struct tg_json *schema,
                                    const char *path)
{
    struct cleaning cleaning = {.context = context, .root = schema};
    struct tg_json *made = clean(&cleaning, schema, 0);
    const struct tg_json *there;

    if (cleaning.losses.rewritten || cleaning.losses.lossy)
        tg_diagnose(context->diagnostics, TG_SEVERITY_INFO, "SCHEMA_REWRITTEN", path, "");
    if (cleaning.losses.lossy)
        tg_diagnose(context->diagnostics, TG_SEVERITY_WARN, "SCHEMA_LOSSY", path, "");
    if (tg_hub_is(made, "type", "OBJECT") &&
        tg_json_get(made, "properties", &there) != TG_JSON_GOT) {
        tg_json_free(made);
        return NULL;
    }
    return made;
}
