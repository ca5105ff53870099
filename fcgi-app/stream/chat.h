/* chat - what the stream engine does with an event of a Chat stream.
 *
 * Pure.  Threads  any.  Source  PROTOCOLS A4, D0; POLICIES "Streams".
 */
#ifndef TOLLGATE_STREAM_CHAT_H
#define TOLLGATE_STREAM_CHAT_H

#include "fcgi-app/convert/chat_event.h"
#include "fcgi-app/stream/sse.h"

enum tg_chat_part {
    TG_CHAT_PART_CONTENT,  /* commits the stream and goes out at once */
    TG_CHAT_PART_PREAMBLE, /* role and the like: held back until there is content */
    TG_CHAT_PART_USAGE,    /* usage and nothing else: for clients that asked */
    TG_CHAT_PART_EMPTY,    /* no data at all */
    TG_CHAT_PART_ERROR,
    TG_CHAT_PART_DONE,     /* [DONE] */
    TG_CHAT_PART_INVALID   /* no JSON */
};

/* <read> is what tg_chat_event_read made of <event>'s data. */
enum tg_chat_part tg_chat_part(const struct tg_sse_event *event, const struct tg_chat_event *read)
    must_check non_null(1, 2);
/* The event as it goes to the client, behind what <out> holds; <rename_to> (NULL: as it is) becomes
 * its model. */
void tg_chat_frame(const struct tg_sse_event *event, const char *rename_to, struct tg_buf *out)
    non_null(1, 3);

/* Its data lines alone. */
void tg_chat_put_data(struct tg_span data, struct tg_buf *out) non_null(2);

#endif
