/* JSON Schema for the models of Gemini that take it, without the keywords that Google does not
 * know (PROTOCOLS B0.10-J). */
#include "fcgi-app/convert/gemini_hub.h"
#include "fcgi-app/convert/schema_gemini.h"

#include <string.h>

enum { DEPTH_MOST = 64 };

struct cleaning {
    const struct tg_convert *context;
    bool rewritten, lossy;
};

static struct tg_json *clean(struct cleaning *cleaning, const struct tg_json *schema, int depth);

static const char *const kept[] = {
    "$id",      "$ref",     "$anchor", "type",    "format",  "title",
    "description", "enum",  "minItems", "maxItems", "minimum", "maximum",
    "required", "propertyOrdering",
};
static const char *const maps[] = {"$defs", "properties"};
static const char *const lists[] = {"prefixItems", "anyOf", "oneOf"};
static const char *const nested[] = {"items", "additionalProperties"};

/* Constraints: without them the schema lets more pass. */
static const char *const meant[] = {
    "not",         "if",        "then",          "else",          "patternProperties",
    "uniqueItems", "contains",  "multipleOf",    "propertyNames", "exclusiveMinimum",
    "minLength",   "maxLength", "minProperties", "maxProperties", "exclusiveMaximum",
    "pattern",     "allOf",     "dependentRequired", "unevaluatedProperties",
};

static bool is_among(const char *key, const char *const *keys, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(key, keys[i]) == 0)
            return true;
    return false;
}

/* A keyword that is gone, for the model to read. */
static void say(struct tg_json *made, const char *key, const struct tg_json *value)
{
    struct tg_span text = tg_hub_span(made, "description");
    struct tg_buf said;

    tg_buf_init(&said, 0);
    tg_buf_add(&said, text.ptr, text.len);
    tg_buf_printf(&said, "%s(%s: ", text.len > 0 ? " " : "", key);
    tg_json_print(value, &said);
    tg_buf_char(&said, ')');
    tg_json_set_span(made, "description", (struct tg_span){said.data, said.len});
    tg_buf_done(&said);
}

struct members {
    struct cleaning *cleaning;
    const struct tg_json *from;
    struct tg_json *to;
    int depth;
};

static bool clean_entry(void *opaque, const char *key, const struct tg_json *value)
{
    const struct members *members = opaque;

    tg_json_set(members->to, key, clean(members->cleaning, value, members->depth + 1));
    return true;
}

static struct tg_json *clean_map(const struct members *outer, const struct tg_json *map)
{
    struct members members = {outer->cleaning, map, tg_json_new_object(), outer->depth};

    tg_json_each(map, clean_entry, &members);
    return members.to;
}

static struct tg_json *clean_list(const struct members *outer, const struct tg_json *list)
{
    struct tg_json *made = tg_json_new_array();

    for (size_t i = 0; i < tg_json_array_len(list); i++)
        tg_json_push(made, clean(outer->cleaning, tg_json_array_at(list, i), outer->depth + 1));
    return made;
}

/* const is an enum of one, exclusive bounds of whole numbers are bounds. */
static bool say_otherwise(struct tg_json *to, const struct tg_json *from, const char *key,
                          const struct tg_json *value)
{
    struct tg_json *list;
    int64_t bound;

    if (strcmp(key, "const") == 0) {
        list = tg_json_new_array();
        tg_json_push(list, tg_json_copy(value));
        tg_json_set(to, "enum", list);
        return true;
    }
    if (!tg_hub_is(from, "type", "integer") || !tg_json_int(value, &bound))
        return false;
    if (strcmp(key, "exclusiveMinimum") == 0 && bound < INT64_MAX)
        tg_json_set_int(to, "minimum", bound + 1);
    else if (strcmp(key, "exclusiveMaximum") == 0 && bound > INT64_MIN)
        tg_json_set_int(to, "maximum", bound - 1);
    else
        return false;
    return true;
}

static bool clean_member(void *opaque, const char *key, const struct tg_json *value)
{
    struct members *members = opaque;
    enum tg_json_type type = tg_json_type(value);

    if (type == TG_JSON_NULL)
        return true;
    if (is_among(key, maps, TG_COUNT_OF(maps)) && type == TG_JSON_OBJECT) {
        tg_json_set(members->to, key, clean_map(members, value));
    } else if (strcmp(key, "definitions") == 0 && type == TG_JSON_OBJECT) {
        tg_json_set(members->to, "$defs", clean_map(members, value));
        members->cleaning->rewritten = true;
    } else if (is_among(key, lists, TG_COUNT_OF(lists)) && type == TG_JSON_ARRAY) {
        tg_json_set(members->to, key, clean_list(members, value));
    } else if (is_among(key, nested, TG_COUNT_OF(nested))) {
        tg_json_set(members->to, key,
                    type == TG_JSON_OBJECT
                        ? clean(members->cleaning, value, members->depth + 1)
                        : tg_json_copy(value));
    } else if (is_among(key, kept, TG_COUNT_OF(kept))) {
        tg_json_set(members->to, key, tg_json_copy(value));
    } else {
        members->cleaning->rewritten = true;
        if (!say_otherwise(members->to, members->from, key, value) &&
            is_among(key, meant, TG_COUNT_OF(meant))) {
            say(members->to, key, value);
            members->cleaning->lossy = true;
        }
    }
    return true;
}

/* "#/definitions/X" has moved; beside a reference nothing else may stand. */
static struct tg_json *clean_ref(struct cleaning *cleaning, struct tg_span ref)
{
    static const char old[] = "#/definitions/";
    struct tg_json *made = tg_json_new_object();

    if (ref.len > sizeof old - 1 && memcmp(ref.ptr, old, sizeof old - 1) == 0) {
        cleaning->rewritten = true;
        tg_json_set_str(made, "$ref",
                        tg_arena_printf(cleaning->context->arena, "#/$defs/%.*s",
                                        (int)(ref.len - (sizeof old - 1)),
                                        ref.ptr + sizeof old - 1));
    } else {
        tg_json_set_span(made, "$ref", ref);
    }
    return made;
}

static struct tg_json *clean(struct cleaning *cleaning, const struct tg_json *schema, int depth)
{
    struct members members = {cleaning, schema, NULL, depth};
    struct tg_span ref;

    if (tg_json_type(schema) != TG_JSON_OBJECT || depth > DEPTH_MOST) {
        cleaning->lossy |= depth > DEPTH_MOST;
        return depth > DEPTH_MOST ? tg_json_new_object() : tg_json_copy(schema);
    }
    if (tg_hub_text(schema, "$ref", &ref) && depth > 0)
        return clean_ref(cleaning, ref);
    members.to = tg_json_new_object();
    tg_json_each(schema, clean_member, &members);
    return members.to;
}

struct tg_json *tg_schema_for_gemini(const struct tg_convert *context,
                                     const struct tg_json *schema, const char *path)
{
    struct cleaning cleaning = {.context = context};
    struct tg_json *made = clean(&cleaning, schema, 0);

    if (cleaning.rewritten || cleaning.lossy)
        tg_diagnose(context->diagnostics, TG_SEVERITY_INFO, "SCHEMA_REWRITTEN", path, "");
    if (cleaning.lossy)
        tg_diagnose(context->diagnostics, TG_SEVERITY_WARN, "SCHEMA_LOSSY", path, "");
    return made;
}
