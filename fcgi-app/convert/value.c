#include "fcgi-app/convert/value.h"

#include "common/base/memory.h"
#include "common/price/usage.h"

#include <stdlib.h>
#include <string.h>

bool tg_value_at(struct tg_span text, const char *path, struct tg_value *ret)
{
    struct tg_json_place place;

    if (text.len == 0 || !tg_json_find(text.ptr, text.len, path, &place))
        return false;
    *ret = (struct tg_value){{text.ptr + place.at, place.len}, place.type};
    return true;
}

static bool key_is(const struct tg_value *key, const char *name)
{
    size_t len = strlen(name);
    char plain[64];

    if (memchr(key->text.ptr, '\\', key->text.len) != NULL)
        return tg_value_string(key, plain, sizeof(plain)) && strcmp(plain, name) == 0;
    return key->text.len == len + 2 && memcmp(key->text.ptr + 1, name, len) == 0;
}

void tg_value_members(const struct tg_value *object, const char *const *keys,
                      struct tg_value *ret, size_t count)
{
    struct tg_value value;
    struct tg_walk walk;

    for (size_t i = 0; i < count; i++)
        ret[i] = (struct tg_value){{"", 0}, TG_JSON_NULL};
    tg_walk_begin(&walk, object);
    if (!walk.keyed)
        return;
    while (tg_walk_next(&walk, &value))
        for (size_t i = 0; i < count; i++)
            if (key_is(&walk.key, keys[i]))
                ret[i] = value;
}

bool tg_value_is_filled(const struct tg_value *value)
{
    struct tg_value first;
    struct tg_walk walk;

    switch (value->type) {
    case TG_JSON_STRING:
        return value->text.len > 2;
    case TG_JSON_ARRAY:
    case TG_JSON_OBJECT:
        tg_walk_begin(&walk, value);
        return tg_walk_next(&walk, &first);
    case TG_JSON_NUMBER:
    case TG_JSON_TRUE:
        return true;
    default:
        return false;
    }
}

/* Cuts <text> to at most <room> bytes without splitting a character. */
static size_t fitting(const char *text, size_t room)
{
    size_t len = strlen(text);

    if (len <= room)
        return len;
    for (len = room; len > 0 && ((unsigned char)text[len] & 0xc0) == 0x80;)
        len--;
    return len;
}

bool tg_value_string(const struct tg_value *value, char *out, size_t room)
{
    struct tg_buf whole;
    size_t len;

    if (value->type != TG_JSON_STRING)
        return false;
    tg_buf_init(&whole, 0);
    tg_value_append(value, &whole);
    len = fitting(tg_buf_text(&whole), room - 1);
    memcpy(out, tg_buf_text(&whole), len);
    out[len] = '\0';
    tg_buf_done(&whole);
    return true;
}

void tg_value_append(const struct tg_value *value, struct tg_buf *out)
{
    const struct tg_json_place place = {0, value->text.len, value->type};
    struct tg_span inside = {value->text.ptr + 1, value->text.len - 2};
    char *plain;

    if (value->type != TG_JSON_STRING || value->text.len < 2)
        return;
    if (memchr(inside.ptr, '\\', inside.len) == NULL) {
        tg_buf_add(out, inside.ptr, inside.len);
        return;
    }
    plain = tg_malloc(value->text.len);
    if (tg_json_place_string(value->text.ptr, &place, plain, value->text.len))
        tg_buf_str(out, plain);
    else
        tg_buf_add(out, inside.ptr, inside.len);
    free(plain);
}

void tg_walk_begin(struct tg_walk *walk, const struct tg_value *container)
{
    bool is_container = container->type == TG_JSON_ARRAY || container->type == TG_JSON_OBJECT;

    *walk = (struct tg_walk){.keyed = container->type == TG_JSON_OBJECT};
    if (is_container && container->text.len > 0)
        walk->rest = (struct tg_span){container->text.ptr + 1, container->text.len - 1};
}

static void skip(struct tg_walk *walk, const char *these)
{
    while (walk->rest.len > 0 && *walk->rest.ptr != '\0' &&
           strchr(these, *walk->rest.ptr) != NULL) {
        walk->rest.ptr++;
        walk->rest.len--;
    }
}

/* The value that comes next in the rest, which then begins behind it. */
static bool take(struct tg_walk *walk, struct tg_value *ret)
{
    const char *end;

    if (!tg_value_at(walk->rest, "", ret) || ret->text.len == 0)
        return false;
    end = ret->text.ptr + ret->text.len;
    walk->rest.len -= (size_t)(end - walk->rest.ptr);
    walk->rest.ptr = end;
    return true;
}

bool tg_walk_next(struct tg_walk *walk, struct tg_value *ret)
{
    if (walk->keyed) {
        if (!take(walk, &walk->key))
            return false;
        skip(walk, " \t\r\n:");
    }
    if (!take(walk, ret))
        return false;
    skip(walk, " \t\r\n,");
    return true;
}

bool tg_value_count(const struct tg_value *value, int64_t *ret)
{
    const int64_t absurd = (int64_t)TG_USAGE_TOKENS_MAX + 1;
    int64_t count = 0;
    size_t at;
    bool negative;

    if (value->type != TG_JSON_NUMBER)
        return false;
    negative = value->text.ptr[0] == '-';
    for (at = negative; at < value->text.len; at++) {
        char c = value->text.ptr[at];

        if (c == 'e' || c == 'E')
            count = absurd;
        if (c < '0' || c > '9' || count == absurd)
            break;
        count = TG_MIN(count * 10 + (c - '0'), absurd);
    }
    for (; at < value->text.len; at++) /* an exponent behind a fraction */
        if (value->text.ptr[at] == 'e' || value->text.ptr[at] == 'E')
            count = absurd;
    *ret = negative ? -count : count;
    return true;
}
