/* Gemini's form of schemas, a small language of OpenAPI, as JSON Schema (PROTOCOLS B0.10). */
#include "fcgi-app/convert/gemini_hub.h"
#include "fcgi-app/convert/schema_gemini.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MOST = 64, TYPE_MOST = 16, DIGITS_MOST = 20 };

struct reading {
    const struct tg_json *from;
    struct tg_json *to;
    int depth;
};

static struct tg_json *convert(const struct tg_json *schema, int depth);

static bool convert_property(void *opaque, const char *key, const struct tg_json *value)
{
    const struct reading *reading = opaque;

    tg_json_set(reading->to, key, convert(value, reading->depth + 1));
    return true;
}

static struct tg_json *convert_map(const struct tg_json *map, int depth)
{
    struct reading reading = {map, tg_json_new_object(), depth};

    tg_json_each(map, convert_property, &reading);
    return reading.to;
}

static struct tg_json *convert_list(const struct tg_json *list, int depth)
{
    struct tg_json *made = tg_json_new_array();

    for (size_t i = 0; i < tg_json_array_len(list); i++)
        tg_json_push(made, convert(tg_json_array_at(list, i), depth + 1));
    return made;
}

/* "STRING" is "string"; what is no word stays. */
static struct tg_json *lower(const struct tg_json *type)
{
    struct tg_span word;
    char text[TYPE_MOST];

    if (!tg_json_string(type, &word) || word.len >= sizeof text)
        return tg_json_copy(type);
    for (size_t i = 0; i < word.len; i++)
        text[i] = (char)tolower((unsigned char)word.ptr[i]);
    return tg_json_new_string((struct tg_span){text, word.len});
}

/* Numbers of int64 come as strings: "minItems":"1". */
static struct tg_json *number(const struct tg_json *value)
{
    char digits[DIGITS_MOST];
    struct tg_span text;
    char *end;
    long long read;

    if (!tg_json_string(value, &text) || text.len == 0 || text.len >= sizeof digits)
        return tg_json_copy(value);
    memcpy(digits, text.ptr, text.len);
    digits[text.len] = '\0';
    read = strtoll(digits, &end, 10);
    return *end == '\0' ? tg_json_new_int(read) : tg_json_copy(value);
}

static bool is_one_of(const char *key, const char *const *keys, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (tg_gemini_key_is(key, keys[i]))
            return true;
    return false;
}

/* Under its own name in the camel case. */
static void set_count(const char *key, const struct tg_json *value, struct tg_json *to)
{
    static const char *const counts[] = {"minItems",  "maxItems",      "minLength",
                                         "maxLength", "minProperties", "maxProperties"};

    for (size_t i = 0; i < TG_COUNT_OF(counts); i++)
        if (tg_gemini_key_is(key, counts[i]))
            tg_json_set(to, counts[i], number(value));
}

static void set_example(const struct tg_json *value, struct tg_json *to)
{
    struct tg_json *list = tg_json_new_array();

    tg_json_push(list, tg_json_copy(value));
    tg_json_set(to, "examples", list);
}

static bool convert_member(void *opaque, const char *key, const struct tg_json *value)
{
    static const char *const counts[] = {"minItems",  "maxItems",      "minLength",
                                         "maxLength", "minProperties", "maxProperties"};
    static const char *const gone[] = {"propertyOrdering", "nullable"};
    const struct reading *reading = opaque;
    int depth = reading->depth;

    if (tg_json_type(value) == TG_JSON_NULL || is_one_of(key, gone, TG_COUNT_OF(gone)))
        return true;
    if (strcmp(key, "type") == 0)
        tg_json_set(reading->to, key, lower(value));
    else if (strcmp(key, "example") == 0)
        set_example(value, reading->to);
    else if (is_one_of(key, counts, TG_COUNT_OF(counts)))
        set_count(key, value, reading->to);
    else if (strcmp(key, "properties") == 0 || strcmp(key, "defs") == 0)
        tg_json_set(reading->to, key[0] == 'd' ? "$defs" : key, convert_map(value, depth));
    else if (tg_gemini_key_is(key, "anyOf"))
        tg_json_set(reading->to, "anyOf", convert_list(value, depth));
    else if (strcmp(key, "items") == 0)
        tg_json_set(reading->to, key, convert(value, depth + 1));
    else if (strcmp(key, "ref") == 0)
        tg_json_set(reading->to, "$ref", tg_json_copy(value));
    else if (strcmp(key, "format") != 0 || !tg_hub_is(reading->from, key, "enum"))
        tg_json_set(reading->to, key, tg_json_copy(value));
    return true;
}

/* nullable:true is one type more, and one value more. */
static void add_null(struct tg_json *schema)
{
    struct tg_json *type = tg_json_take(schema, "type"), *types, *values;

    if (type != NULL) {
        types = tg_json_new_array();
        tg_json_push(types, type);
        tg_json_push(types, tg_json_new_str("null"));
        tg_json_set(schema, "type", types);
    }
    values = tg_json_member(schema, "enum");
    if (values != NULL && tg_json_type(values) == TG_JSON_ARRAY)
        tg_json_push(values, tg_json_new_null());
    values = tg_json_member(schema, "anyOf");
    if (type == NULL && values != NULL && tg_json_type(values) == TG_JSON_ARRAY) {
        types = tg_json_new_object();
        tg_json_set_str(types, "type", "null");
        tg_json_push(values, types);
    }
}

static struct tg_json *convert(const struct tg_json *schema, int depth)
{
    struct reading reading = {schema, tg_json_new_object(), depth};

    if (depth > DEPTH_MOST)
        return reading.to;
    tg_json_each(schema, convert_member, &reading);
    if (tg_gemini_true(schema, "nullable"))
        add_null(reading.to);
    return reading.to;
}

struct tg_json *tg_schema_of_gemini(const struct tg_json *schema)
{
    return convert(schema, 0);
}
