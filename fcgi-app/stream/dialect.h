/* dialect - what the engine must know of the protocol that an upstream or a client speaks.
 *
 * One const table, a row for each protocol that is built. Nothing in it keeps state.
 *
 * Pure.  Threads  any.  Source  PROTOCOLS A4.
 */
#ifndef TOLLGATE_STREAM_DIALECT_H
#define TOLLGATE_STREAM_DIALECT_H

#include "common/json/json.h"
#include "fcgi-app/convert/chat_event.h"
#include "fcgi-app/convert/protocol.h"
#include "fcgi-app/convert/usage_figures.h"
#include "fcgi-app/stream/chat.h"

struct tg_dialect {
    enum tg_protocol protocol;
    enum tg_figures_dialect figures;
    bool sums_up; /* a stream's usage is spread over its events: usage_figures.h adds it up */
    /* As chat_event.h: of one event's data, of a whole answer. */
    void (*read_event)(struct tg_span data, struct tg_chat_event *ret, struct tg_buf *content);
    void (*read_answer)(struct tg_span body, struct tg_chat_event *ret, struct tg_buf *content);
    enum tg_chat_part (*part)(const struct tg_sse_event *event, const struct tg_chat_event *read);
    /* An upstream's event as it goes to a client of the same protocol. */
    void (*frame)(const struct tg_sse_event *event, const char *rename_to, struct tg_buf *out);
    void (*rename_answer)(struct tg_span body, const char *model, struct tg_buf *out);
    /* A converted event for a client of this protocol. */
    void (*frame_tree)(const struct tg_json *event, struct tg_buf *out);
    struct tg_span last; /* what ends a whole stream when nothing else did */
};

/* NULL: not built yet. */
const struct tg_dialect *tg_dialect_of(enum tg_protocol protocol);
/* The same for a stream that may be a JSON array: Gemini's without "alt=sse". */
const struct tg_dialect *tg_dialect_as(enum tg_protocol protocol, bool array);

#endif
