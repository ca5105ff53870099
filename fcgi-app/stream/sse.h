/* sse - events out of a byte stream that is cut anywhere.
 *
 * Lines end with LF, CR or CRLF, mixed; a BOM at the begin is dropped; a blank line ends an
 * event; several data lines are joined with LF; exactly one blank behind the colon is dropped;
 * id, retry and unknown fields are ignored; an event without a data line is none. Bytes are not
 * decoded: a UTF-8 sequence may be cut.
 *
 *     tg_sse_init(&sse, limit_bytes, on_event, on_comment, context);
 *     while (…) class = tg_sse_feed(&sse, bytes, len, &err);
 *     tg_sse_end(&sse);
 *     tg_sse_done(&sse);
 *
 * Size    one event (its data so far and the line being read) may hold <limit_bytes>; beyond it
 *         the parser fails for good. Memory beyond 64 KiB is given back after the event.
 * Owns    spans in events are borrowed for the call.
 * Threads one owner.  Blocks  no.
 * Source  WHATWG HTML 9.2.6; PROTOCOLS A4.
 */
#ifndef TOLLGATE_STREAM_SSE_H
#define TOLLGATE_STREAM_SSE_H

#include "common/base/buf.h"
#include "common/base/error.h"

enum { TG_SSE_NAME_MAX = 63 };

struct tg_sse_event {
    struct tg_span name; /* of "event:", cut at TG_SSE_NAME_MAX; len 0: none */
    struct tg_span data;
    bool unterminated;   /* the stream ended before the blank line: good for billing when it
                          * parses, no event for a client */
};

typedef void tg_sse_event_fn(void *context, const struct tg_sse_event *event);
/* Every comment line, without its colon: a sign of life, no content. */
typedef void tg_sse_comment_fn(void *context, struct tg_span text);

/* Members are sse.c's own. */
struct tg_sse {
    tg_sse_event_fn *on_event;
    tg_sse_comment_fn *on_comment; /* may be NULL */
    void *context;
    struct tg_buf text; /* data of the event so far, then the line being read */
    size_t data_len;    /* the first part; each data line ends with LF */
    char name[TG_SSE_NAME_MAX + 1];
    size_t name_len;
    bool begun;         /* a byte was read: no BOM can follow */
    bool after_cr;      /* an LF now belongs to the line end before */
    bool failed;
};

void tg_sse_init(struct tg_sse *sse, size_t limit_bytes, tg_sse_event_fn *on_event,
                 tg_sse_comment_fn *on_comment, void *context) non_null(1, 3);
void tg_sse_done(struct tg_sse *sse) non_null(1);

/* Errors: TG_CLASS_TRANSPORT "upstream_invalid" when an event is too large; sticky. */
enum tg_class tg_sse_feed(struct tg_sse *sse, const char *bytes, size_t len,
                          struct tg_error *err) must_check non_null(1);
/* The stream has ended: what is still open comes as an event flagged unterminated. */
void tg_sse_end(struct tg_sse *sse) non_null(1);
/* Data of complete lines of the event that is still open, so that a "[DONE]" whose blank line
 * never comes can be seen in time. Borrowed until the next call. */
struct tg_span tg_sse_pending(const struct tg_sse *sse) non_null(1);

#endif
