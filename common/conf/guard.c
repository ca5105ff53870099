#include "common/conf/guard.h"

#include "common/base/buf.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_LIMIT_BYTES = 1 << 20, INCLUDE_DEPTH = 8 };

struct text {
    const char *path;
    const char *at;
    int line;
    int depth; /* of @include */
    bool line_begins;
};

static enum tg_class guard_file(const char *path, int depth, struct tg_error *err);

static enum tg_class read_file(const char *path, struct tg_buf *buf, struct tg_error *err)
{
    FILE *file = fopen(path, "re");
    char block[4096];
    size_t len;
    bool broken;

    if (file == NULL)
        return tg_fail(err, TG_CLASS_CONFIG, "conf_file", "%s: %s", path, strerror(errno));
    while ((len = fread(block, 1, sizeof block, file)) > 0 && !buf->failed)
        tg_buf_add(buf, block, len);
    broken = ferror(file) != 0;
    fclose(file);
    if (broken)
        return tg_fail(err, TG_CLASS_CONFIG, "conf_file", "%s: cannot be read", path);
    if (buf->failed)
        return tg_fail(err, TG_CLASS_CONFIG, "conf_file", "%s: larger than 1 MiB", path);
    if (strlen(tg_buf_text(buf)) != buf->len)
        return tg_fail(err, TG_CLASS_CONFIG, "conf_file", "%s: holds a NUL byte", path);
    return TG_OK;
}

/* Steps over one byte. */
static void step(struct text *text)
{
    if (*text->at == '\n') {
        text->line++;
        text->line_begins = true;
    } else if (*text->at != ' ' && *text->at != '\t') {
        text->line_begins = false;
    }
    text->at++;
}

static void skip_until(struct text *text, const char *end)
{
    while (*text->at != '\0' && strncmp(text->at, end, strlen(end)) != 0)
        step(text);
    for (size_t i = 0; i < strlen(end) && *text->at != '\0'; i++)
        step(text);
}

static void skip_string(struct text *text)
{
    for (step(text); *text->at != '\0' && *text->at != '"'; step(text))
        if (*text->at == '\\' && text->at[1] != '\0')
            step(text);
    if (*text->at == '"')
        step(text);
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c == '_' || c == '-' || c == '*';
}

static enum tg_class check_word(struct text *text, struct tg_error *err)
{
    unsigned long long number;
    const char *digits = text->at + (*text->at == '-');
    bool is_number = *digits >= '0' && *digits <= '9';
    bool is_hex = strncmp(digits, "0x", 2) == 0 || strncmp(digits, "0X", 2) == 0;

    errno = 0;
    number = is_number ? strtoull(digits, NULL, is_hex ? 16 : 10) : 0;
    if (number > INT32_MAX || errno == ERANGE)
        return tg_fail(err, TG_CLASS_CONFIG, "conf_value", "%s:%d: number beyond 2147483647",
                       text->path, text->line);
    while (is_word(*text->at))
        step(text);
    return TG_OK;
}

/* At "@include": libconfig knows it at the beginning of a line only. */
static enum tg_class check_include(struct text *text, struct tg_error *err)
{
    const char *slash = strrchr(text->path, '/');
    size_t folder_len = slash != NULL ? (size_t)(slash - text->path) + 1 : 0;
    const char *name = text->at + strlen("@include");
    enum tg_class class;
    struct tg_buf path;
    size_t len;

    name += strspn(name, " \t");
    len = *name == '"' ? strcspn(++name, "\"\n") : 0;
    if (len == 0 || memchr(name, '/', len) != NULL || memchr(name, '\\', len) != NULL)
        return tg_fail(err, TG_CLASS_CONFIG, "conf_include",
                       "%s:%d: @include takes a file of this folder, without a path", text->path,
                       text->line);
    if (text->depth == INCLUDE_DEPTH)
        return tg_fail(err, TG_CLASS_CONFIG, "conf_include", "%s:%d: too many files in files",
                       text->path, text->line);
    tg_buf_init(&path, 0);
    tg_buf_add(&path, text->path, folder_len);
    tg_buf_add(&path, name, len);
    class = guard_file(tg_buf_text(&path), text->depth + 1, err);
    tg_buf_done(&path);
    skip_until(text, "\n");
    return class;
}

static enum tg_class guard_text(struct text *text, struct tg_error *err)
{
    enum tg_class class = TG_OK;

    while (*text->at != '\0' && class == TG_OK) {
        if (*text->at == '#' || strncmp(text->at, "//", 2) == 0)
            skip_until(text, "\n");
        else if (strncmp(text->at, "/*", 2) == 0)
            skip_until(text, "*/");
        else if (*text->at == '"')
            skip_string(text);
        else if (text->line_begins && strncmp(text->at, "@include", 8) == 0)
            class = check_include(text, err);
        else if (is_word(*text->at))
            class = check_word(text, err);
        else
            step(text);
    }
    return class;
}

static enum tg_class guard_file(const char *path, int depth, struct tg_error *err)
{
    struct text text = {.path = path, .line = 1, .depth = depth, .line_begins = true};
    enum tg_class class;
    struct tg_buf buf;

    tg_buf_init(&buf, FILE_LIMIT_BYTES);
    class = read_file(path, &buf, err);
    text.at = tg_buf_text(&buf);
    if (class == TG_OK)
        class = guard_text(&text, err);
    tg_buf_done(&buf);
    return class;
}

enum tg_class tg_conf_guard(const char *path, struct tg_error *err)
{
    return guard_file(path, 0, err);
}
