#include "fcgi-app/stream/chat.h"

#include "common/json/scan.h"
#include "fcgi-app/convert/splice.h"

#include <string.h>

/* A usage object, even one of zeros. */
static bool has_usage_object(struct tg_span data)
{
    struct tg_json_place place;

    return tg_json_find(data.ptr, data.len, "usage", &place) && place.type == TG_JSON_OBJECT;
}

enum tg_chat_part tg_chat_part(const struct tg_sse_event *event, const struct tg_chat_event *read)
{
    if (read->done)
        return TG_CHAT_PART_DONE;
    if (event->data.len == 0)
        return TG_CHAT_PART_EMPTY;
    if (read->malformed)
        return TG_CHAT_PART_INVALID;
    if (read->has_error)
        return TG_CHAT_PART_ERROR;
    if (read->content != 0)
        return TG_CHAT_PART_CONTENT;
    if (read->choices == TG_CHAT_EMPTY_CHOICES && has_usage_object(event->data))
        return TG_CHAT_PART_USAGE;
    return TG_CHAT_PART_PREAMBLE;
}

void tg_chat_put_data(struct tg_span data, struct tg_buf *out)
{
    const char *at = data.ptr, *end = data.ptr + data.len;

    for (;;) {
        const char *line_end = memchr(at, '\n', (size_t)(end - at));

        if (line_end == NULL)
            line_end = end;
        tg_buf_str(out, "data: ");
        tg_buf_add(out, at, (size_t)(line_end - at));
        tg_buf_char(out, '\n');
        if (line_end == end)
            break;
        at = line_end + 1;
    }
    tg_buf_char(out, '\n');
}

void tg_chat_frame(const struct tg_sse_event *event, const char *rename_to, struct tg_buf *out)
{
    struct tg_buf renamed;

    if (event->name.len > 0) {
        tg_buf_str(out, "event: ");
        tg_buf_add(out, event->name.ptr, event->name.len);
        tg_buf_char(out, '\n');
    }
    if (rename_to == NULL) {
        tg_chat_put_data(event->data, out);
        return;
    }
    tg_buf_init(&renamed, 0);
    tg_chat_event_rename(event->data, rename_to, &renamed);
    tg_chat_put_data((struct tg_span){tg_buf_text(&renamed), renamed.len}, out);
    tg_buf_done(&renamed);
}
