#include "admin-cgi/web/params.h"

#include <string.h>

#include "admin-cgi/web/escape.h"

static enum tg_class add(struct tg_arena *arena, struct web_params *params, const char *name,
                         const char *value, struct tg_error *err)
{
    if (params->list == NULL)
        params->list = tg_arena_calloc(arena, WEB_PARAMS_MOST, sizeof *params->list);
    if (params->count == WEB_PARAMS_MOST)
        return tg_fail(err, TG_CLASS_INVALID, "too_many_fields", "more than %d fields",
                       WEB_PARAMS_MOST);
    params->list[params->count++] = (struct web_param){name, value};
    return TG_OK;
}

static int digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* RFC 3629: no overlong forms, no surrogates, nothing beyond U+10FFFF. */
static bool is_utf8(const char *text, size_t len)
{
    for (size_t i = 0; i < len;) {
        unsigned char c = (unsigned char)text[i];
        size_t more = c < 0x80 ? 0 : c >= 0xc2 && c < 0xe0 ? 1 : c >= 0xe0 && c < 0xf0 ? 2
                      : c >= 0xf0 && c < 0xf5                                          ? 3
                                                                                       : 9;
        unsigned char next = i + 1 < len ? (unsigned char)text[i + 1] : 0;

        if (more == 9 || more > len - i - 1)
            return false;
        for (size_t k = 1; k <= more; k++)
            if (((unsigned char)text[i + k] & 0xc0) != 0x80)
                return false;
        if ((c == 0xe0 && next < 0xa0) || (c == 0xed && next > 0x9f) ||
            (c == 0xf0 && next < 0x90) || (c == 0xf4 && next > 0x8f))
            return false;
        i += 1 + more;
    }
    return true;
}

static enum tg_class decode(struct tg_arena *arena, struct tg_span text, const char **ret,
                            struct tg_error *err)
{
    char *out = tg_arena_alloc(arena, text.len + 1);
    size_t len = 0;

    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];

        if (c == '%') {
            int high = i + 2 < text.len ? digit(text.ptr[i + 1]) : -1;
            int low = i + 2 < text.len ? digit(text.ptr[i + 2]) : -1;

            if (high < 0 || low < 0)
                return tg_fail(err, TG_CLASS_INVALID, "bad_encoding", "half an escape");
            c = (char)(high << 4 | low);
            i += 2;
        } else if (c == '+') {
            c = ' ';
        }
        if (c == '\0')
            return tg_fail(err, TG_CLASS_INVALID, "bad_encoding", "a NUL character");
        if (c == '\r')
            continue;
        out[len++] = c;
    }
    out[len] = '\0';
    *ret = out;
    if (!is_utf8(out, len))
        return tg_fail(err, TG_CLASS_INVALID, "bad_encoding", "text that is not UTF-8");
    return TG_OK;
}

static enum tg_class add_pair(struct tg_arena *arena, struct tg_span pair,
                              struct web_params *params, struct tg_error *err)
{
    const char *equals = memchr(pair.ptr, '=', pair.len), *name = NULL, *value = "";
    struct tg_span left = pair, right = {0};
    enum tg_class class;

    if (equals != NULL) {
        left.len = (size_t)(equals - pair.ptr);
        right = (struct tg_span){equals + 1, pair.len - left.len - 1};
    }
    class = decode(arena, left, &name, err);
    if (class == TG_OK && right.ptr != NULL)
        class = decode(arena, right, &value, err);
    return class == TG_OK ? add(arena, params, name, value, err) : class;
}

enum tg_class web_params_parse(struct tg_arena *arena, const char *text, size_t len,
                               struct web_params *ret, struct tg_error *err)
{
    enum tg_class class = TG_OK;

    *ret = (struct web_params){0};
    while (len > 0 && class == TG_OK) {
        const char *end = memchr(text, '&', len);
        size_t pair = end == NULL ? len : (size_t)(end - text);

        if (pair > 0)
            class = add_pair(arena, (struct tg_span){text, pair}, ret, err);
        pair += end != NULL;
        text += pair;
        len -= pair;
    }
    return class;
}

/* --- JSON --- */

struct reader {
    struct tg_arena *arena;
    struct web_params *params;
    struct tg_error *err;
    enum tg_class class;
};

static bool is_line_list(const struct tg_json *array)
{
    struct tg_span text;

    for (size_t i = 0; i < tg_json_array_len(array); i++)
        if (!tg_json_string(tg_json_array_at(array, i), &text) ||
            memchr(text.ptr, '\n', text.len) != NULL)
            return false;
    return true;
}

static void join_lines(const struct tg_json *array, struct tg_buf *out)
{
    struct tg_span text;

    for (size_t i = 0; i < tg_json_array_len(array); i++) {
        if (i > 0)
            tg_buf_char(out, '\n');
        if (tg_json_string(tg_json_array_at(array, i), &text))
            tg_buf_add(out, text.ptr, text.len);
    }
}

static bool take_member(void *context, const char *key, const struct tg_json *value)
{
    struct reader *reader = context;
    struct tg_span text;
    struct tg_buf buf;

    if (tg_json_type(value) == TG_JSON_NULL)
        return true;
    tg_buf_init(&buf, 0);
    if (tg_json_string(value, &text))
        tg_buf_add(&buf, text.ptr, text.len);
    else if (tg_json_type(value) == TG_JSON_ARRAY && is_line_list(value))
        join_lines(value, &buf);
    else
        tg_json_print(value, &buf);
    if (buf.len > 0 && memchr(buf.data, '\0', buf.len) != NULL)
        reader->class = tg_fail(reader->err, TG_CLASS_INVALID, "bad_encoding", "a NUL character");
    else
        reader->class = add(reader->arena, reader->params, tg_arena_strdup(reader->arena, key),
                            tg_arena_strdup(reader->arena, tg_buf_text(&buf)), reader->err);
    tg_buf_done(&buf);
    return reader->class == TG_OK;
}

enum tg_class web_params_json(struct tg_arena *arena, const char *text, size_t len,
                              struct web_params *ret, struct tg_error *err)
{
    struct reader reader = {.arena = arena, .params = ret, .err = err};
    struct tg_json *root = NULL;
    enum tg_class class;

    *ret = (struct web_params){0};
    class = tg_json_parse(text, len, &root, err);
    if (class != TG_OK)
        return class;
    if (tg_json_type(root) != TG_JSON_OBJECT)
        reader.class = tg_fail(err, TG_CLASS_INVALID, "invalid_json", "the body is no object");
    else
        tg_json_each(root, take_member, &reader);
    tg_json_free(root);
    return reader.class;
}

/* --- Cookies --- */

void web_params_cookies(struct tg_arena *arena, const char *header, struct web_params *ret)
{
    *ret = (struct web_params){0};
    while (header != NULL && *header != '\0') {
        size_t len = strcspn(header, ";");
        const char *equals = memchr(header, '=', len);

        if (equals != NULL &&
            add(arena, ret, tg_arena_strndup(arena, header, (size_t)(equals - header)),
                tg_arena_strndup(arena, equals + 1, len - (size_t)(equals - header) - 1),
                NULL) != TG_OK)
            return;
        header += len;
        header += strspn(header, "; ");
    }
}

const char *web_param(const struct web_params *params, const char *name)
{
    for (size_t i = 0; i < params->count; i++)
        if (strcmp(params->list[i].name, name) == 0)
            return params->list[i].value;
    return NULL;
}

static bool is_among(const char *const *names, const char *name)
{
    for (; *names != NULL; names++)
        if (strcmp(*names, name) == 0)
            return true;
    return false;
}

void web_params_query(const struct web_params *params, const char *const *but, struct tg_buf *out)
{
    bool first = true;

    for (size_t i = 0; i < params->count; i++) {
        const struct web_param *param = &params->list[i];

        if (is_among(but, param->name) || *param->value == '\0')
            continue;
        if (!first)
            tg_buf_char(out, '&');
        first = false;
        web_escape_url(out, param->name, strlen(param->name));
        tg_buf_char(out, '=');
        web_escape_url(out, param->value, strlen(param->value));
    }
}
