#include "common/base/buf.h"

#include "common/base/memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void tg_buf_init(struct tg_buf *buf, size_t limit_bytes)
{
    *buf = (struct tg_buf){.limit_bytes = limit_bytes};
}

void tg_buf_done(struct tg_buf *buf)
{
    if (buf == NULL)
        return;
    free(buf->data);
    *buf = (struct tg_buf){.limit_bytes = buf->limit_bytes};
}

void tg_buf_reset(struct tg_buf *buf)
{
    buf->len = 0;
    buf->failed = false;
    if (buf->data != NULL)
        buf->data[0] = '\0';
}

/* Makes room for <more> bytes and the NUL behind them. */
static bool make_room(struct tg_buf *buf, size_t more)
{
    size_t cap = buf->cap > 0 ? buf->cap : 256;

    if (buf->failed)
        return false;
    if (more >= SIZE_MAX / 4 - buf->len ||
        (buf->limit_bytes > 0 && more > buf->limit_bytes - buf->len)) {
        buf->failed = true;
        return false;
    }
    while (cap < buf->len + more + 1)
        cap *= 2;
    if (cap != buf->cap) {
        buf->data = tg_realloc(buf->data, cap);
        buf->cap = cap;
    }
    return true;
}

/* What is nearly always so: there is room for <more> bytes and the NUL already. */
static inline bool has_room(const struct tg_buf *buf, size_t more)
{
    return more < buf->cap - buf->len && !buf->failed &&
           (buf->limit_bytes == 0 || more <= buf->limit_bytes - buf->len);
}

void tg_buf_add(struct tg_buf *buf, const void *bytes, size_t len)
{
    if (!has_room(buf, len) && !make_room(buf, len))
        return;
    if (len > 0)
        memcpy(buf->data + buf->len, bytes, len);
    buf->len += len;
    buf->data[buf->len] = '\0';
}

void tg_buf_str(struct tg_buf *buf, const char *text)
{
    tg_buf_add(buf, text, strlen(text));
}

void tg_buf_char(struct tg_buf *buf, char c)
{
    if (!has_room(buf, 1) && !make_room(buf, 1))
        return;
    buf->data[buf->len++] = c;
    buf->data[buf->len] = '\0';
}

void tg_buf_int(struct tg_buf *buf, int64_t value)
{
    char digits[20];
    size_t at = sizeof digits;
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;

    do
        digits[--at] = (char)('0' + rest % 10);
    while ((rest /= 10) != 0);
    if (value < 0)
        digits[--at] = '-';
    tg_buf_add(buf, digits + at, sizeof digits - at);
}

void tg_buf_printf(struct tg_buf *buf, const char *format, ...)
{
    va_list args;
    size_t room;
    int len;

    if (!make_room(buf, 0))
        return;
    room = buf->cap - buf->len;
    va_start(args, format);
    len = vsnprintf(buf->data + buf->len, room, format, args);
    va_end(args);
    tg_assert(len >= 0);
    if ((size_t)len >= room || buf->limit_bytes > 0) {
        buf->data[buf->len] = '\0'; /* what did not fit, or may not stay, is written once more */
        if (!make_room(buf, (size_t)len))
            return;
        va_start(args, format);
        vsnprintf(buf->data + buf->len, (size_t)len + 1, format, args);
        va_end(args);
    }
    buf->len += (size_t)len;
}

void tg_buf_drop(struct tg_buf *buf, size_t len)
{
    tg_assert(len <= buf->len);
    if (len == 0)
        return;
    memmove(buf->data, buf->data + len, buf->len - len + 1);
    buf->len -= len;
}

const char *tg_buf_text(const struct tg_buf *buf)
{
    return buf->data != NULL ? buf->data : "";
}
