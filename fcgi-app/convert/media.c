#include "fcgi-app/convert/media.h"

#include "common/json/lex.h"

#include <string.h>
#include <strings.h>

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* The first bytes of what nobody named, in base64. */
static const struct {
    const char *begin, *type;
} magic[] = {
    {"iVBORw0KGgo", "image/png"}, {"/9j/", "image/jpeg"},       {"R0lGOD", "image/gif"},
    {"UklGR", "image/webp"},      {"JVBERi0", "application/pdf"},
};

static bool begins(struct tg_span text, const char *prefix)
{
    size_t len = strlen(prefix);

    return text.len >= len && strncasecmp(text.ptr, prefix, len) == 0;
}

bool tg_media_is_url(struct tg_span text)
{
    return begins(text, "http://") || begins(text, "https://");
}

static const char *sniff(const char *data)
{
    for (size_t i = 0; i < TG_COUNT_OF(magic); i++)
        if (strncmp(data, magic[i].begin, strlen(magic[i].begin)) == 0)
            return magic[i].type;
    return NULL;
}

/* Base64 without its blanks; NULL when it is none. */
static const char *tidy_base64(struct tg_arena *arena, struct tg_span text)
{
    char *made = tg_arena_alloc(arena, text.len + 1);
    size_t len = 0;

    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];

        if (strchr(" \t\r\n", c) != NULL)
            continue;
        if (c != '=' && memchr(letters, c, sizeof letters - 1) == NULL)
            return NULL;
        made[len++] = c;
    }
    made[len] = '\0';
    return len > 0 ? made : NULL;
}

static int hex_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 32);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static struct tg_span undo_percent(struct tg_arena *arena, struct tg_span text)
{
    char *made = tg_arena_alloc(arena, text.len + 1);
    size_t len = 0;

    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == '%' && i + 2 < text.len && hex_of(text.ptr[i + 1]) >= 0 &&
            hex_of(text.ptr[i + 2]) >= 0) {
            made[len++] = (char)(hex_of(text.ptr[i + 1]) * 16 + hex_of(text.ptr[i + 2]));
            i += 2;
        } else {
            made[len++] = text.ptr[i];
        }
    }
    return (struct tg_span){made, len};
}

const char *tg_media_base64(struct tg_arena *arena, struct tg_span bytes)
{
    char *made = tg_arena_alloc(arena, (bytes.len + 2) / 3 * 4 + 1);
    size_t len = 0;

    for (size_t i = 0; i < bytes.len; i += 3) {
        size_t have = TG_MIN(bytes.len - i, 3);
        uint32_t word = 0;

        for (size_t k = 0; k < 3; k++)
            word = word << 8 | (k < have ? (unsigned char)bytes.ptr[i + k] : 0);
        for (size_t k = 0; k < 4; k++)
            made[len++] = k <= have ? letters[word >> (18 - 6 * k) & 63] : '=';
    }
    made[len] = '\0';
    return made;
}

/* "image/jpg" is no type; parameters behind ';' are left out. */
static const char *tidy_type(struct tg_arena *arena, struct tg_span head, const char *data)
{
    const char *end = memchr(head.ptr, ';', head.len);
    size_t len = end != NULL ? (size_t)(end - head.ptr) : head.len;
    char *type = tg_arena_strndup(arena, head.ptr, len);

    for (size_t i = 0; i < len; i++)
        if (type[i] >= 'A' && type[i] <= 'Z')
            type[i] = (char)(type[i] | 32);
    if (len == 0)
        return sniff(data);
    return strcmp(type, "image/jpg") == 0 ? "image/jpeg" : type;
}

static bool parse_data_url(struct tg_arena *arena, struct tg_span text, struct tg_media *ret)
{
    struct tg_span head = {text.ptr + 5, text.len - 5}, rest;
    const char *comma = memchr(head.ptr, ',', head.len);
    bool base64;

    if (comma == NULL)
        return false;
    rest = (struct tg_span){comma + 1, head.len - (size_t)(comma + 1 - head.ptr)};
    head.len = (size_t)(comma - head.ptr);
    base64 = head.len >= 7 && strncasecmp(head.ptr + head.len - 7, ";base64", 7) == 0;
    ret->data = base64 ? tidy_base64(arena, rest)
                       : tg_media_base64(arena, undo_percent(arena, rest));
    if (ret->data == NULL)
        return false;
    if (base64)
        head.len -= 7;
    ret->type = tidy_type(arena, head, ret->data);
    return ret->type != NULL;
}

bool tg_media_parse(struct tg_arena *arena, struct tg_span text, struct tg_media *ret)
{
    if (begins(text, "data:"))
        return parse_data_url(arena, text, ret);
    ret->data = tidy_base64(arena, text);
    ret->type = ret->data != NULL ? sniff(ret->data) : NULL;
    return ret->type != NULL;
}

struct tg_span tg_media_text(struct tg_arena *arena, const struct tg_media *media)
{
    size_t data_len = strlen(media->data), len = 0;
    char *made = tg_arena_alloc(arena, data_len + 1);
    uint32_t word = 0;
    int bits = 0;

    for (size_t i = 0; i < data_len && media->data[i] != '='; i++) {
        const char *at = memchr(letters, media->data[i], sizeof letters - 1);

        word = word << 6 | (uint32_t)(at - letters);
        bits += 6;
        if (bits >= 8) {
            bits -= 8;
            made[len++] = (char)(word >> bits & 255);
        }
    }
    return (struct tg_span){made, len};
}

bool tg_media_bytes(struct tg_arena *arena, struct tg_span text, struct tg_span *ret)
{
    const struct tg_media media = {.type = "", .data = tidy_base64(arena, text)};

    if (media.data == NULL)
        return false;
    *ret = tg_media_text(arena, &media);
    return true;
}

bool tg_media_is_text(struct tg_span bytes)
{
    for (size_t at = 0, len; at < bytes.len; at += len) {
        len = tg_utf8_len(bytes.ptr + at, bytes.len - at);
        if (len == 0)
            return false;
    }
    return true;
}
