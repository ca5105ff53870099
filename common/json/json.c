#include "common/json/json.h"

#include "common/json/tree.h"

#include <json-c/json.h>
#include <limits.h>
#include <string.h>

/* json-c has no object for null; ours does, so that a null in an array is no missing element. */
static char null_value;

static const struct tg_json *wrap(struct json_object *object)
{
    return object != NULL ? (const struct tg_json *)(void *)object
                          : (const struct tg_json *)(void *)&null_value;
}

static struct json_object *unwrap(const struct tg_json *value)
{
    return (const void *)value != &null_value ? (struct json_object *)(void *)(uintptr_t)value
                                              : NULL;
}

enum tg_class tg_json_parse(const char *text, size_t len, struct tg_json **ret,
                            struct tg_error *err)
{
    int depth;
    enum tg_class class = tg_json_check_depth(text, len, &depth, err);
    struct json_tokener *tokener;
    struct json_object *root;
    enum json_tokener_error state;

    if (class != TG_OK)
        return class;
    if (len >= INT_MAX)
        return tg_fail(err, TG_CLASS_INVALID, "invalid_json", "JSON text of %zu bytes", len);
    tokener = json_tokener_new_ex(depth + 1); /* it clears its stack: a small one is made faster */
    tg_assert(tokener != NULL);
    json_tokener_set_flags(tokener, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
    root = json_tokener_parse_ex(tokener, text, (int)len);
    /* A bare number is over only when something follows it. */
    if (json_tokener_get_error(tokener) == json_tokener_continue)
        root = json_tokener_parse_ex(tokener, "", 1);
    state = json_tokener_get_error(tokener);
    json_tokener_free(tokener);
    if (state != json_tokener_success)
        return tg_fail(err, TG_CLASS_INVALID, "invalid_json", "invalid JSON: %s",
                       json_tokener_error_desc(state));
    *ret = (struct tg_json *)(uintptr_t)wrap(root);
    return TG_OK;
}

void tg_json_free(struct tg_json *root)
{
    if (root != NULL)
        json_object_put(unwrap(root));
}

enum tg_json_type tg_json_type(const struct tg_json *value)
{
    struct json_object *object = unwrap(value);

    switch (json_object_get_type(object)) {
    case json_type_boolean:
        return json_object_get_boolean(object) ? TG_JSON_TRUE : TG_JSON_FALSE;
    case json_type_int:
    case json_type_double:
        return TG_JSON_NUMBER;
    case json_type_string:
        return TG_JSON_STRING;
    case json_type_array:
        return TG_JSON_ARRAY;
    case json_type_object:
        return TG_JSON_OBJECT;
    case json_type_null:
        break;
    }
    return TG_JSON_NULL;
}

enum tg_json_got tg_json_get(const struct tg_json *object, const char *key,
                             const struct tg_json **ret)
{
    struct json_object *member;

    if (!json_object_is_type(unwrap(object), json_type_object) ||
        !json_object_object_get_ex(unwrap(object), key, &member))
        return TG_JSON_GOT_ABSENT;
    *ret = wrap(member);
    return member == NULL ? TG_JSON_GOT_NULL : TG_JSON_GOT;
}

bool tg_json_string(const struct tg_json *value, struct tg_span *ret)
{
    struct json_object *object = unwrap(value);

    if (!json_object_is_type(object, json_type_string))
        return false;
    ret->ptr = json_object_get_string(object);
    ret->len = (size_t)json_object_get_string_len(object);
    return true;
}

bool tg_json_int(const struct tg_json *value, int64_t *ret)
{
    struct json_object *object = unwrap(value);

    /* json-c cuts what does not fit int64 to the nearest that does, and says nothing. */
    if (!json_object_is_type(object, json_type_int) ||
        json_object_get_uint64(object) > (uint64_t)INT64_MAX)
        return false;
    *ret = json_object_get_int64(object);
    return true;
}

enum tg_json_got tg_json_get_string(const struct tg_json *object, const char *key,
                                    struct tg_span *ret)
{
    const struct tg_json *member;
    enum tg_json_got got = tg_json_get(object, key, &member);

    return got != TG_JSON_GOT || tg_json_string(member, ret) ? got : TG_JSON_GOT_WRONG;
}

enum tg_json_got tg_json_get_int(const struct tg_json *object, const char *key, int64_t *ret)
{
    const struct tg_json *member;
    enum tg_json_got got = tg_json_get(object, key, &member);

    return got != TG_JSON_GOT || tg_json_int(member, ret) ? got : TG_JSON_GOT_WRONG;
}

enum tg_json_got tg_json_get_bool(const struct tg_json *object, const char *key, bool *ret)
{
    const struct tg_json *member;
    enum tg_json_got got = tg_json_get(object, key, &member);

    if (got != TG_JSON_GOT)
        return got;
    if (!json_object_is_type(unwrap(member), json_type_boolean))
        return TG_JSON_GOT_WRONG;
    *ret = json_object_get_boolean(unwrap(member));
    return TG_JSON_GOT;
}

static enum tg_json_got get_typed(const struct tg_json *object, const char *key,
                                  enum tg_json_type type, const struct tg_json **ret)
{
    const struct tg_json *member;
    enum tg_json_got got = tg_json_get(object, key, &member);

    if (got != TG_JSON_GOT)
        return got;
    if (tg_json_type(member) != type)
        return TG_JSON_GOT_WRONG;
    *ret = member;
    return TG_JSON_GOT;
}

enum tg_json_got tg_json_get_object(const struct tg_json *object, const char *key,
                                    const struct tg_json **ret)
{
    return get_typed(object, key, TG_JSON_OBJECT, ret);
}

enum tg_json_got tg_json_get_array(const struct tg_json *object, const char *key,
                                   const struct tg_json **ret)
{
    return get_typed(object, key, TG_JSON_ARRAY, ret);
}

size_t tg_json_array_len(const struct tg_json *array)
{
    struct json_object *object = unwrap(array);

    return json_object_is_type(object, json_type_array) ? json_object_array_length(object) : 0;
}

const struct tg_json *tg_json_array_at(const struct tg_json *array, size_t i)
{
    if (i >= tg_json_array_len(array))
        return NULL;
    return wrap(json_object_array_get_idx(unwrap(array), i));
}

void tg_json_each(const struct tg_json *object, tg_json_visit_fn *visit, void *context)
{
    struct json_object *of = unwrap(object);
    struct json_object_iterator at, end;

    if (!json_object_is_type(of, json_type_object))
        return;
    at = json_object_iter_begin(of);
    end = json_object_iter_end(of);
    for (; !json_object_iter_equal(&at, &end); json_object_iter_next(&at))
        if (!visit(context, json_object_iter_peek_name(&at),
                   wrap(json_object_iter_peek_value(&at))))
            return;
}

void tg_json_print(const struct tg_json *value, struct tg_buf *out)
{
    struct json_object *object = unwrap(value);
    size_t len = 4;
    const char *text = object == NULL ? "null"
                                      : json_object_to_json_string_length(
                                            object, JSON_C_TO_STRING_PLAIN |
                                                        JSON_C_TO_STRING_NOSLASHESCAPE, &len);

    tg_buf_add(out, text, len);
}

/* --- building ------------------------------------------------------------------------------- */

/* To be written to: the caller owns the document. */
static struct json_object *open_value(struct tg_json *value)
{
    return unwrap(value);
}

static struct tg_json *made(struct json_object *object)
{
    tg_assert(object != NULL);
    return (struct tg_json *)(void *)object;
}

struct tg_json *tg_json_new_object(void)
{
    return made(json_object_new_object());
}

struct tg_json *tg_json_new_array(void)
{
    return made(json_object_new_array());
}

struct tg_json *tg_json_new_string(struct tg_span text)
{
    tg_assert(text.len < INT_MAX);
    return made(json_object_new_string_len(text.ptr != NULL ? text.ptr : "", (int)text.len));
}

struct tg_json *tg_json_new_str(const char *text)
{
    return tg_json_new_string((struct tg_span){text, strlen(text)});
}

struct tg_json *tg_json_new_int(int64_t value)
{
    return made(json_object_new_int64(value));
}

struct tg_json *tg_json_new_bool(bool value)
{
    return made(json_object_new_boolean(value));
}

struct tg_json *tg_json_new_null(void)
{
    return (struct tg_json *)(void *)&null_value;
}

struct tg_json *tg_json_copy(const struct tg_json *value)
{
    struct json_object *copy = NULL;

    if (unwrap(value) == NULL)
        return tg_json_new_null();
    tg_assert(json_object_deep_copy(unwrap(value), &copy, NULL) == 0);
    return made(copy);
}

void tg_json_set(struct tg_json *object, const char *key, struct tg_json *value)
{
    tg_assert(json_object_object_add(open_value(object), key, unwrap(value)) == 0);
}

void tg_json_set_str(struct tg_json *object, const char *key, const char *text)
{
    tg_json_set(object, key, tg_json_new_str(text));
}

void tg_json_set_span(struct tg_json *object, const char *key, struct tg_span text)
{
    tg_json_set(object, key, tg_json_new_string(text));
}

void tg_json_set_int(struct tg_json *object, const char *key, int64_t value)
{
    tg_json_set(object, key, tg_json_new_int(value));
}

void tg_json_set_bool(struct tg_json *object, const char *key, bool value)
{
    tg_json_set(object, key, tg_json_new_bool(value));
}

void tg_json_set_null(struct tg_json *object, const char *key)
{
    tg_json_set(object, key, tg_json_new_null());
}

void tg_json_set_copy(struct tg_json *object, const char *key, const struct tg_json *from,
                      const char *from_key)
{
    const struct tg_json *member;
    enum tg_json_got got = tg_json_get(from, from_key, &member);

    if (got == TG_JSON_GOT)
        tg_json_set(object, key, tg_json_copy(member));
    else if (got == TG_JSON_GOT_NULL)
        tg_json_set_null(object, key);
}

void tg_json_remove(struct tg_json *object, const char *key)
{
    json_object_object_del(open_value(object), key);
}

void tg_json_push(struct tg_json *array, struct tg_json *value)
{
    tg_assert(json_object_array_add(open_value(array), unwrap(value)) == 0);
}

void tg_json_insert(struct tg_json *array, size_t i, struct tg_json *value)
{
    struct json_object *list = open_value(array);
    size_t at = json_object_array_length(list);

    tg_json_push(array, tg_json_new_null());
    for (; at > i; at--)
        tg_assert(json_object_array_put_idx(
                      list, at, json_object_get(json_object_array_get_idx(list, at - 1))) == 0);
    tg_assert(json_object_array_put_idx(list, i, unwrap(value)) == 0);
}

void tg_json_drop(struct tg_json *array, size_t i)
{
    tg_assert(json_object_array_del_idx(open_value(array), i, 1) == 0);
}

struct tg_json *tg_json_take_at(struct tg_json *array, size_t i)
{
    struct json_object *list = open_value(array);
    struct json_object *element = json_object_array_get_idx(list, i);

    tg_assert(i < tg_json_array_len(array));
    json_object_get(element);
    tg_assert(json_object_array_put_idx(list, i, NULL) == 0);
    return (struct tg_json *)(uintptr_t)wrap(element);
}

bool tg_json_above(const struct tg_json *value, int64_t limit)
{
    struct json_object *object = unwrap(value);

    return (json_object_is_type(object, json_type_double) ||
            json_object_is_type(object, json_type_int)) &&
           json_object_get_double(object) > (double)limit;
}

struct tg_json *tg_json_member(struct tg_json *object, const char *key)
{
    struct json_object *member;

    if (!json_object_is_type(open_value(object), json_type_object) ||
        !json_object_object_get_ex(open_value(object), key, &member) || member == NULL)
        return NULL;
    return made(member);
}

struct tg_json *tg_json_element(struct tg_json *array, size_t i)
{
    return i < tg_json_array_len(array) ? (struct tg_json *)(uintptr_t)tg_json_array_at(array, i)
                                        : NULL;
}

struct tg_json *tg_json_take(struct tg_json *object, const char *key)
{
    struct json_object *member;

    if (!json_object_is_type(open_value(object), json_type_object) ||
        !json_object_object_get_ex(open_value(object), key, &member))
        return NULL;
    json_object_get(member);
    json_object_object_del(open_value(object), key);
    return (struct tg_json *)(uintptr_t)wrap(member);
}

void tg_json_filter(struct tg_json *object, tg_json_keep_fn *keep, void *context)
{
    struct json_object *of = open_value(object);
    struct json_object_iterator at, end;

    if (!json_object_is_type(of, json_type_object))
        return;
    at = json_object_iter_begin(of);
    end = json_object_iter_end(of);
    while (!json_object_iter_equal(&at, &end)) {
        const char *key = json_object_iter_peek_name(&at);
        struct json_object *value = json_object_iter_peek_value(&at);

        json_object_iter_next(&at);
        if (!keep(context, key, (struct tg_json *)(uintptr_t)wrap(value)))
            json_object_object_del(of, key);
    }
}
