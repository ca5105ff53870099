#include "common/json/lex.h"
#include "common/json/scan.h"

#include <string.h>

static size_t skip_blank(const char *text, size_t len, size_t at)
{
    while (at < len && tg_json_is_blank(text[at]))
        at++;
    return at;
}

/* Behind the closing quote of the string that opens at <at>; len when it has none. */
static size_t skip_string(const char *text, size_t len, size_t at)
{
    for (at++; at < len; at++) {
        at += tg_json_plain_run(text + at, len - at);
        if (at >= len || text[at] == '"')
            break;
        at += text[at] == '\\'; /* what a backslash escapes is no end */
    }
    return at < len ? at + 1 : len;
}

static bool ends_word(char c)
{
    return c == ',' || c == '}' || c == ']' || tg_json_is_blank(c) || c == '"' || c == '{' ||
           c == '[';
}

/* Behind the value at <at>: brackets are counted, nothing is checked again. */
static size_t skip_value(const char *text, size_t len, size_t at)
{
    size_t depth = 0;

    while (at < len) {
        switch (text[at]) {
        case '"':
            at = skip_string(text, len, at);
            break;
        case '{':
        case '[':
            depth++;
            at++;
            break;
        case '}':
        case ']':
            if (depth == 0)
                return at;
            depth--;
            at++;
            break;
        case ',':
            if (depth == 0)
                return at;
            at++;
            continue;
        default:
            for (at++; at < len && !ends_word(text[at]);)
                at++;
        }
        if (depth == 0)
            return at;
        at = skip_blank(text, len, at);
    }
    return len;
}

static bool type_of(char first, enum tg_json_type *ret)
{
    switch (first) {
    case '{':
        *ret = TG_JSON_OBJECT;
        return true;
    case '[':
        *ret = TG_JSON_ARRAY;
        return true;
    case '"':
        *ret = TG_JSON_STRING;
        return true;
    case 't':
        *ret = TG_JSON_TRUE;
        return true;
    case 'f':
        *ret = TG_JSON_FALSE;
        return true;
    case 'n':
        *ret = TG_JSON_NULL;
        return true;
    default:
        *ret = TG_JSON_NUMBER;
        return first == '-' || tg_json_is_digit(first);
    }
}

/* Whether the string at <at> (its opening quote) is <key> after unescaping. */
static bool key_is(const char *text, size_t len, size_t at, struct tg_span key)
{
    struct tg_json_char c;

    at++;
    /* nearly every key is written without escapes */
    if (key.len < len - at && memcmp(text + at, key.ptr, key.len) == 0 &&
        text[at + key.len] == '"' && memchr(key.ptr, '\\', key.len) == NULL)
        return true;
    if (at < len && tg_json_is_plain(text[at]) && key.len > 0 && text[at] != *key.ptr)
        return false;
    for (; at < len && text[at] != '"'; at += c.used) {
        if (tg_json_char_at(text + at, len - at, &c) != NULL || c.len > key.len ||
            memcmp(c.bytes, key.ptr, c.len) != 0)
            return false;
        key.ptr += c.len;
        key.len -= c.len;
    }
    return at < len && key.len == 0;
}

/* <at>: at the opening brace; gives where the member's value begins. */
static bool step_into_object(const char *text, size_t len, size_t *at, struct tg_span key)
{
    size_t here = skip_blank(text, len, *at + 1);

    while (here < len && text[here] == '"') {
        bool found = key_is(text, len, here, key);

        here = skip_blank(text, len, skip_string(text, len, here));
        if (here >= len || text[here] != ':')
            return false;
        here = skip_blank(text, len, here + 1);
        if (found) {
            *at = here;
            return here < len;
        }
        here = skip_blank(text, len, skip_value(text, len, here));
        if (here >= len || text[here] != ',')
            return false;
        here = skip_blank(text, len, here + 1);
    }
    return false;
}

static bool read_index(struct tg_span key, size_t *ret)
{
    size_t index = 0;

    if (key.len == 0 || key.len > 9)
        return false;
    for (size_t i = 0; i < key.len; i++) {
        if (!tg_json_is_digit(key.ptr[i]))
            return false;
        index = index * 10 + (size_t)(key.ptr[i] - '0');
    }
    *ret = index;
    return true;
}

static bool step_into_array(const char *text, size_t len, size_t *at, struct tg_span key)
{
    size_t here = skip_blank(text, len, *at + 1), index;

    if (!read_index(key, &index))
        return false;
    for (; here < len && text[here] != ']'; index--) {
        if (index == 0) {
            *at = here;
            return true;
        }
        here = skip_blank(text, len, skip_value(text, len, here));
        if (here >= len || text[here] != ',')
            return false;
        here = skip_blank(text, len, here + 1);
    }
    return false;
}

bool tg_json_find(const char *text, size_t len, const char *path, struct tg_json_place *ret)
{
    size_t at = skip_blank(text, len, 0);
    enum tg_json_type type;

    while (*path != '\0') {
        struct tg_span key = {path, strcspn(path, ".")};
        bool found = false;

        if (at < len && text[at] == '{')
            found = step_into_object(text, len, &at, key);
        else if (at < len && text[at] == '[')
            found = step_into_array(text, len, &at, key);
        if (!found)
            return false;
        path += key.len;
        path += *path == '.';
    }
    if (at >= len || !type_of(text[at], &type))
        return false;
    *ret = (struct tg_json_place){
        .at = at, .len = skip_value(text, len, at) - at, .type = type};
    return true;
}

bool tg_json_next(const char *text, size_t len, size_t *at, struct tg_json_member *ret)
{
    size_t here = skip_blank(text, len, *at), end;
    enum tg_json_type type;

    if (here >= len || (text[here] != '{' && text[here] != ','))
        return false;
    here = skip_blank(text, len, here + 1);
    if (here >= len || text[here] != '"')
        return false;
    end = skip_string(text, len, here);
    if (end < here + 2)
        return false;
    ret->key = (struct tg_span){text + here + 1, end - here - 2};
    here = skip_blank(text, len, end);
    if (here >= len || text[here] != ':')
        return false;
    here = skip_blank(text, len, here + 1);
    if (here >= len || !type_of(text[here], &type))
        return false;
    *at = skip_value(text, len, here);
    ret->value = (struct tg_json_place){.at = here, .len = *at - here, .type = type};
    return true;
}

bool tg_json_place_string(const char *text, const struct tg_json_place *place, char *out,
                          size_t room)
{
    const char *at = text + place->at + 1;
    size_t left, used = 0;
    struct tg_json_char c;

    if (place->type != TG_JSON_STRING || place->len < 2)
        return false;
    for (left = place->len - 2; left > 0; left -= c.used, at += c.used) {
        if (tg_json_char_at(at, left, &c) != NULL || c.bytes[0] == '\0' || used + c.len >= room)
            return false;
        memcpy(out + used, c.bytes, c.len);
        used += c.len;
    }
    if (used >= room)
        return false;
    out[used] = '\0';
    return true;
}

bool tg_json_place_int(const char *text, const struct tg_json_place *place, int64_t *ret)
{
    const char *at = text + place->at, *end = at + place->len;
    bool is_integer, negative;
    uint64_t value = 0;

    if (place->type != TG_JSON_NUMBER ||
        tg_json_number_len(at, place->len, &is_integer) != place->len || !is_integer ||
        !tg_json_integer_fits(at, place->len))
        return false;
    negative = *at == '-';
    for (at += negative; at < end; at++)
        value = value * 10 + (uint64_t)(*at - '0');
    if (value > (uint64_t)INT64_MAX + negative)
        return false;
    *ret = negative ? (int64_t)(0 - value) : (int64_t)value;
    return true;
}
