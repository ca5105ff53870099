#include "fcgi-app/stream/sse.h"

#include <string.h>

enum { KEEP_BYTES = 64 * 1024 };

static const char bom[] = {'\xef', '\xbb', '\xbf'};

void tg_sse_init(struct tg_sse *sse, size_t limit_bytes, tg_sse_event_fn *on_event,
                 tg_sse_comment_fn *on_comment, void *context)
{
    *sse = (struct tg_sse){
        .on_event = on_event, .on_comment = on_comment, .context = context};
    tg_buf_init(&sse->text, limit_bytes);
}

void tg_sse_done(struct tg_sse *sse)
{
    tg_buf_done(&sse->text);
}

static struct tg_span line_of(const struct tg_sse *sse)
{
    return (struct tg_span){tg_buf_text(&sse->text) + sse->data_len,
                            sse->text.len - sse->data_len};
}

static void drop_line(struct tg_sse *sse)
{
    sse->text.len = sse->data_len;
}

struct tg_span tg_sse_pending(const struct tg_sse *sse)
{
    size_t len = sse->data_len > 0 ? sse->data_len - 1 : 0;

    return (struct tg_span){tg_buf_text(&sse->text), len};
}

static void dispatch(struct tg_sse *sse, bool unterminated)
{
    struct tg_sse_event event = {
        .name = {sse->name, sse->name_len},
        .data = tg_sse_pending(sse),
        .unterminated = unterminated,
    };

    if (sse->data_len > 0)
        sse->on_event(sse->context, &event);
    sse->data_len = sse->name_len = 0;
    if (sse->text.cap > KEEP_BYTES)
        tg_buf_done(&sse->text);
    else
        tg_buf_reset(&sse->text);
}

/* The value moves to the end of the data, over its field name, and ends with LF. The line had at
 * least "data" before it or stands alone, so there is always room in its own bytes for that LF. */
static void take_data(struct tg_sse *sse, struct tg_span value)
{
    memmove(sse->text.data + sse->data_len, value.ptr, value.len);
    sse->data_len += value.len;
    sse->text.data[sse->data_len++] = '\n';
}

static void take_name(struct tg_sse *sse, struct tg_span value)
{
    sse->name_len = TG_MIN(value.len, TG_SSE_NAME_MAX);
    memcpy(sse->name, value.ptr, sse->name_len);
}

static bool is_field(struct tg_span field, const char *name)
{
    return field.len == strlen(name) && memcmp(field.ptr, name, field.len) == 0;
}

static void take_field(struct tg_sse *sse, struct tg_span line)
{
    const char *colon = memchr(line.ptr, ':', line.len);
    struct tg_span field = line, value = {line.ptr + line.len, 0};

    if (colon != NULL) {
        field.len = (size_t)(colon - line.ptr);
        value = (struct tg_span){colon + 1, line.len - field.len - 1};
    }
    if (value.len > 0 && *value.ptr == ' ') {
        value.ptr++;
        value.len--;
    }
    if (field.len == 0 && colon != NULL) {
        if (sse->on_comment != NULL)
            sse->on_comment(sse->context, value);
    } else if (is_field(field, "data")) {
        take_data(sse, value);
    } else if (is_field(field, "event")) {
        take_name(sse, value);
    }
}

/* A line is whole. An empty one ends the event. */
static void end_line(struct tg_sse *sse)
{
    struct tg_span line = line_of(sse);

    if (line.len == 0) {
        dispatch(sse, false);
        return;
    }
    take_field(sse, line);
    drop_line(sse);
}

/* Drops a byte order mark, whose bytes may come one at a time. */
static void drop_bom(struct tg_sse *sse)
{
    size_t len = TG_MIN(sse->text.len, sizeof(bom));

    if (sse->begun || len == 0)
        return;
    if (memcmp(sse->text.data, bom, len) != 0) {
        sse->begun = true;
    } else if (len == sizeof(bom)) {
        tg_buf_drop(&sse->text, sizeof(bom));
        sse->begun = true;
    }
}

/* The first bytes go in by themselves: a mark takes none of the first line's limit. */
static size_t before_bom(const struct tg_sse *sse, size_t len)
{
    return sse->begun ? len : TG_MIN(len, sizeof(bom) - sse->text.len);
}

/* Bytes up to the next line end, or all. */
static size_t line_len(const char *bytes, size_t len)
{
    const char *lf = memchr(bytes, '\n', len);
    const char *cr = memchr(bytes, '\r', lf != NULL ? (size_t)(lf - bytes) : len);

    if (cr != NULL)
        return (size_t)(cr - bytes);
    return lf != NULL ? (size_t)(lf - bytes) : len;
}

enum tg_class tg_sse_feed(struct tg_sse *sse, const char *bytes, size_t len,
                          struct tg_error *err)
{
    while (len > 0 && !sse->failed) {
        size_t used, until;

        if (sse->after_cr && *bytes == '\n') {
            bytes++;
            len--;
        }
        sse->after_cr = false;
        until = line_len(bytes, len);
        used = before_bom(sse, until);
        tg_buf_add(&sse->text, bytes, used);
        sse->failed = sse->text.failed;
        drop_bom(sse);
        if (used == until && used < len && !sse->failed) {
            sse->begun = true;
            sse->after_cr = bytes[used] == '\r';
            end_line(sse);
            used++;
        }
        bytes += used;
        len -= used;
    }
    if (sse->failed)
        return tg_fail(err, TG_CLASS_TRANSPORT, "upstream_invalid",
                       "an event of the stream is larger than %zu bytes", sse->text.limit_bytes);
    return TG_OK;
}

void tg_sse_end(struct tg_sse *sse)
{
    if (sse->failed)
        return;
    if (line_of(sse).len > 0)
        end_line(sse);
    dispatch(sse, true);
}
