#include "common/json/writer.h"

#include "common/json/lex.h"

#include <string.h>

enum { SHORT_MOST = 64 };

void tg_json_writer_init(struct tg_json_writer *out, struct tg_buf *buf)
{
    *out = (struct tg_json_writer){.buf = buf};
}

/* The comma in front of a value or key, if one is due. */
static void separate(struct tg_json_writer *out)
{
    if (out->comma && !out->after_key)
        tg_buf_char(out->buf, ',');
    out->comma = true;
    out->after_key = false;
}

static void begin(struct tg_json_writer *out, char bracket)
{
    separate(out);
    tg_buf_char(out->buf, bracket);
    out->comma = false;
    out->depth++;
}

static void end(struct tg_json_writer *out, char bracket)
{
    tg_assert(out->depth > 0 && !out->after_key);
    tg_buf_char(out->buf, bracket);
    out->comma = true;
    out->depth--;
}

void tg_json_begin_object(struct tg_json_writer *out)
{
    begin(out, '{');
}

void tg_json_end_object(struct tg_json_writer *out)
{
    end(out, '}');
}

void tg_json_begin_array(struct tg_json_writer *out)
{
    begin(out, '[');
}

void tg_json_end_array(struct tg_json_writer *out)
{
    end(out, ']');
}

static void write_special(struct tg_buf *buf, unsigned char c)
{
    static const char names[] = "\"\\bfnrt", values[] = "\"\\\b\f\n\r\t";
    const char *found = c != '\0' ? strchr(values, c) : NULL;

    if (found != NULL)
        tg_buf_printf(buf, "\\%c", names[found - values]);
    else if (c < 0x20)
        tg_buf_printf(buf, "\\u%04x", c);
    else
        tg_buf_str(buf, "\xEF\xBF\xBD"); /* U+FFFD for a byte that is no UTF-8 */
}

/* Bytes from <text> on that may stand in a string as they are. */
static size_t plain_len(const char *text, size_t len)
{
    size_t at = 0, step;

    for (;;) {
        at += tg_json_plain_run(text + at, len - at);
        if (at == len || (unsigned char)text[at] < 0x80)
            return at;
        step = tg_utf8_len(text + at, len - at);
        if (step == 0)
            return at;
        at += step;
    }
}

static void write_quoted(struct tg_buf *buf, const char *text, size_t len)
{
    tg_buf_char(buf, '"');
    while (len > 0) {
        size_t plain = plain_len(text, len);

        if (plain > 0) {
            tg_buf_add(buf, text, plain);
        } else {
            write_special(buf, (unsigned char)*text);
            plain = 1;
        }
        text += plain;
        len -= plain;
    }
    tg_buf_char(buf, '"');
}

/* Nearly every key and most values are short and plain: those go out in one piece, with the comma
 * in front and the colon behind. False: another way. */
static bool write_short(struct tg_json_writer *out, const char *text, size_t len, bool is_key)
{
    char piece[SHORT_MOST + 4];
    size_t at = 0;

    if (len > SHORT_MOST || plain_len(text, len) != len)
        return false;
    if (out->comma && !out->after_key)
        piece[at++] = ',';
    piece[at++] = '"';
    memcpy(piece + at, text, len);
    at += len;
    piece[at++] = '"';
    if (is_key)
        piece[at++] = ':';
    tg_buf_add(out->buf, piece, at);
    out->comma = true;
    out->after_key = is_key;
    return true;
}

void tg_json_key(struct tg_json_writer *out, const char *key)
{
    size_t len = strlen(key);

    tg_assert(out->depth > 0 && !out->after_key);
    if (write_short(out, key, len, true))
        return;
    separate(out);
    write_quoted(out->buf, key, len);
    tg_buf_char(out->buf, ':');
    out->after_key = true;
}

void tg_json_write_raw(struct tg_json_writer *out, const char *json, size_t len)
{
    separate(out);
    tg_buf_add(out->buf, json, len);
}

void tg_json_write_strn(struct tg_json_writer *out, const char *text, size_t len)
{
    if (len > 0 && write_short(out, text, len, false))
        return;
    separate(out);
    write_quoted(out->buf, text, len);
}

void tg_json_write_str(struct tg_json_writer *out, const char *text)
{
    if (text == NULL)
        tg_json_write_null(out);
    else
        tg_json_write_strn(out, text, strlen(text));
}

void tg_json_write_int(struct tg_json_writer *out, int64_t value)
{
    separate(out);
    tg_buf_int(out->buf, value);
}

void tg_json_write_bool(struct tg_json_writer *out, bool value)
{
    separate(out);
    tg_buf_str(out->buf, value ? "true" : "false");
}

void tg_json_write_null(struct tg_json_writer *out)
{
    separate(out);
    tg_buf_str(out->buf, "null");
}

void tg_json_put_str(struct tg_json_writer *out, const char *key, const char *text)
{
    tg_json_key(out, key);
    tg_json_write_str(out, text);
}

void tg_json_put_int(struct tg_json_writer *out, const char *key, int64_t value)
{
    tg_json_key(out, key);
    tg_json_write_int(out, value);
}

void tg_json_put_bool(struct tg_json_writer *out, const char *key, bool value)
{
    tg_json_key(out, key);
    tg_json_write_bool(out, value);
}
