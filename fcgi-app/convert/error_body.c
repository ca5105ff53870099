#include "fcgi-app/convert/error_body.h"

#include "fcgi-app/convert/mask.h"

#include <stdio.h>
#include <string.h>

/* As much of a body that is no JSON as is worth showing, and of any message before masking. */
enum { TEXT_SHOWN = 200, MESSAGE_READ = 4096 };

/* What a status means when the body leaves type or code out, and the status when the body leaves
 * that out: the first row with its code, else with its type. */
static const struct meaning {
    int status;
    const char *type, *code, *reason;
} meanings[] = {
    {400, "invalid_request_error", "invalid_request", "Bad Request"},
    {401, "authentication_error", "invalid_api_key", "Unauthorized"},
    {402, "insufficient_quota", "insufficient_quota", "Payment Required"},
    {403, "permission_error", "permission_denied", "Forbidden"},
    {404, "invalid_request_error", "not_found", "Not Found"},
    {408, "server_error", "timeout", "Request Timeout"},
    {409, "invalid_request_error", "conflict", "Conflict"},
    {413, "invalid_request_error", "request_too_large", "Content Too Large"},
    {422, "invalid_request_error", "invalid_request", "Unprocessable Content"},
    {429, "rate_limit_error", "rate_limit_exceeded", "Too Many Requests"},
    {499, "server_error", "cancelled", "Client Closed Request"},
    {500, "server_error", "server_error", "Internal Server Error"},
    {501, "server_error", "unimplemented", "Not Implemented"},
    {502, "server_error", "upstream_unreachable", "Bad Gateway"},
    {503, "server_error", "overloaded", "Service Unavailable"},
    {504, "server_error", "timeout", "Gateway Timeout"},
    {529, "overloaded_error", "overloaded", "Overloaded"},
};

static const struct meaning *meaning_of(int status)
{
    const struct meaning *other = NULL;

    for (size_t i = 0; i < TG_COUNT_OF(meanings); i++) {
        if (meanings[i].status == status)
            return &meanings[i];
        if (meanings[i].status == (status < 500 ? 400 : 500))
            other = &meanings[i];
    }
    return other;
}

/* Without a status a server's error is the server's fault, not one of the rarer rows before 500. */
static bool type_means(const struct meaning *meaning, const char *type)
{
    return strcmp(meaning->type, type) == 0 &&
           (meaning->status >= 500 || strcmp(type, "server_error") != 0);
}

static int status_of_words(const char *type, const char *code)
{
    for (size_t i = 0; i < TG_COUNT_OF(meanings); i++)
        if (*code != '\0' && strcmp(meanings[i].code, code) == 0)
            return meanings[i].status;
    for (size_t i = 0; i < TG_COUNT_OF(meanings); i++)
        if (*type != '\0' && type_means(&meanings[i], type))
            return meanings[i].status;
    return 500;
}

/* The text of the first of <paths> that is a filled string, or an object or array as it stands. */
static bool first_text(struct tg_span json, const char *const *paths, struct tg_buf *out)
{
    struct tg_value value;

    for (; *paths != NULL; paths++) {
        if (!tg_value_at(json, *paths, &value) || !tg_value_is_filled(&value))
            continue;
        if (value.type == TG_JSON_STRING)
            tg_value_append(&value, out);
        else if (value.type == TG_JSON_OBJECT || value.type == TG_JSON_ARRAY)
            tg_buf_add(out, value.text.ptr, TG_MIN(value.text.len, TEXT_SHOWN));
        else
            continue;
        return true;
    }
    return false;
}

static void first_word(struct tg_span json, const char *const *paths, char *out, size_t room)
{
    struct tg_value value;

    *out = '\0';
    for (; *out == '\0' && *paths != NULL; paths++)
        if (tg_value_at(json, *paths, &value))
            tg_value_string(&value, out, room);
}

/* A numeric code ("code":429) is a status. */
static int own_status(struct tg_span json)
{
    static const char *const paths[] = {"error.code", "error.status", "code", "status"};
    struct tg_json_place place;
    struct tg_value value;
    int64_t status;

    for (size_t i = 0; i < TG_COUNT_OF(paths); i++) {
        if (!tg_value_at(json, paths[i], &value))
            continue;
        place = (struct tg_json_place){0, value.text.len, value.type};
        if (tg_json_place_int(value.text.ptr, &place, &status) && status >= 400 && status < 600)
            return (int)status;
    }
    return 0;
}

/* Text without tags, its blanks run together. */
static void plain_text(struct tg_span text, struct tg_buf *out)
{
    bool in_tag = false, blank = false;

    for (size_t i = 0; i < text.len && out->len < MESSAGE_READ; i++) {
        unsigned char c = (unsigned char)text.ptr[i];

        if (c == '<' || (c == '>' && in_tag)) {
            in_tag = c == '<';
            blank = true;
        } else if (c <= ' ' || c == 0x7f) {
            blank = true;
        } else if (!in_tag) {
            if (blank && out->len > 0)
                tg_buf_char(out, ' ');
            tg_buf_char(out, (char)c);
            blank = false;
        }
    }
}

/* Bytes of <text> that fit in <room>, characters kept whole. */
static size_t whole_characters(const char *text, size_t len, size_t room)
{
    if (len <= room)
        return len;
    while (room > 0 && ((unsigned char)text[room] & 0xc0) == 0x80)
        room--;
    return room;
}

static void set_message(struct tg_error *ret, const struct tg_buf *message, size_t room)
{
    struct tg_buf masked;
    size_t len;

    tg_buf_init(&masked, 0);
    tg_mask((struct tg_span){tg_buf_text(message), TG_MIN(message->len, MESSAGE_READ)}, &masked);
    len = whole_characters(tg_buf_text(&masked), masked.len,
                           TG_MIN(room, sizeof(ret->message) - 1));
    memcpy(ret->message, tg_buf_text(&masked), len);
    ret->message[len] = '\0';
    tg_buf_done(&masked);
}

/* The object that the members are looked for in: array-mode servers wrap it. */
static bool object_of(struct tg_span body, struct tg_span *ret)
{
    struct tg_value root;

    if (tg_json_check(body.ptr, body.len, NULL) != TG_OK || !tg_value_at(body, "", &root))
        return false;
    if (root.type == TG_JSON_ARRAY && !tg_value_at(root.text, "0", &root))
        return false;
    *ret = root.text;
    return root.type == TG_JSON_OBJECT;
}

static void read_words(struct tg_span json, struct tg_error *ret)
{
    static const char *const types[] = {"error.type", "error.status", "type", "status", NULL};
    static const char *const codes[] = {"error.code", "code", NULL};
    static const char *const params[] = {"error.param", "param", NULL};

    first_word(json, types, ret->type, sizeof(ret->type));
    first_word(json, codes, ret->code, sizeof(ret->code));
    first_word(json, params, ret->param, sizeof(ret->param));
    if (strcmp(ret->type, "error") == 0) /* {"type":"error"} says nothing */
        ret->type[0] = '\0';
}

void tg_error_body_read(int status, struct tg_span body, struct tg_error *ret)
{
    static const char *const messages[] = {"error.message", "error", "message", "detail", NULL};
    const struct meaning *meaning;
    size_t room = sizeof(ret->message);
    struct tg_buf message;
    struct tg_span json;

    *ret = (struct tg_error){.class = TG_CLASS_UPSTREAM, .status = status};
    tg_buf_init(&message, 0);
    if (body.len > 0 && object_of(body, &json)) {
        read_words(json, ret);
        if (status < 400)
            ret->status = own_status(json);
        if (!first_text(json, messages, &message))
            plain_text(json, &message);
    } else {
        plain_text(body, &message);
        room = TEXT_SHOWN;
    }
    if (ret->status < 400)
        ret->status = status_of_words(ret->type, ret->code);
    meaning = meaning_of(ret->status);
    if (message.len == 0)
        tg_buf_str(&message, meaning->reason);
    set_message(ret, &message, room);
    tg_buf_done(&message);
    if (ret->type[0] == '\0')
        snprintf(ret->type, sizeof(ret->type), "%s", meaning->type);
    if (ret->code[0] == '\0')
        snprintf(ret->code, sizeof(ret->code), "%s", meaning->code);
}

static bool is_word_error(const struct tg_value *value)
{
    return value->type == TG_JSON_STRING && value->text.len == 7 &&
           memcmp(value->text.ptr, "\"error\"", 7) == 0;
}

bool tg_error_members_say_so(const struct tg_value *error, const struct tg_value *object,
                             const struct tg_value *type)
{
    return tg_value_is_filled(error) || is_word_error(object) || is_word_error(type);
}

bool tg_error_body_is(struct tg_span text)
{
    static const char *const keys[] = {"error", "object", "type"};
    struct tg_value root, found[TG_COUNT_OF(keys)];

    if (!tg_value_at(text, "", &root))
        return false;
    tg_value_members(&root, keys, found, TG_COUNT_OF(keys));
    return tg_error_members_say_so(&found[0], &found[1], &found[2]);
}
