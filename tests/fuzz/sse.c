/* The SSE parser: the whole input at once and byte by byte give the same events. */
#include "tests/fuzz/fuzz.h"

#include "fcgi-app/stream/sse.h"

#include <string.h>

enum { LIMIT = 256 };

static void note_event(void *context, const struct tg_sse_event *event)
{
    struct tg_buf *notes = context;

    tg_buf_printf(notes, "e%zu,%zu,%d:", event->name.len, event->data.len, event->unterminated);
    tg_buf_add(notes, event->name.ptr, event->name.len);
    tg_buf_add(notes, event->data.ptr, event->data.len);
}

static void note_comment(void *context, struct tg_span text)
{
    struct tg_buf *notes = context;

    tg_buf_printf(notes, "c%zu:", text.len);
    tg_buf_add(notes, text.ptr, text.len);
}

static void parse(const char *bytes, size_t len, size_t step, struct tg_buf *notes)
{
    enum tg_class class = TG_OK;
    struct tg_sse sse;

    tg_buf_init(notes, 0);
    tg_sse_init(&sse, LIMIT, note_event, note_comment, notes);
    for (size_t at = 0; at < len; at += step)
        class = tg_sse_feed(&sse, bytes + at, TG_MIN(step, len - at), NULL);
    tg_assert(tg_sse_pending(&sse).len <= LIMIT);
    tg_sse_end(&sse);
    tg_buf_printf(notes, "%s", tg_class_name(class));
    tg_sse_done(&sse);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct tg_buf whole, single;

    parse((const char *)bytes, len, len > 0 ? len : 1, &whole);
    parse((const char *)bytes, len, 1, &single);
    tg_assert(whole.len == single.len && memcmp(whole.data, single.data, whole.len) == 0);
    tg_buf_done(&whole);
    tg_buf_done(&single);
    return 0;
}
