/* reply - the only place that writes to the client, and the only table of error answers.
 *
 * Errors become the body of the client's own protocol by POLICIES "Errors to clients"; after the
 * headers of a stream are out they become that protocol's error event. Every answer carries
 * x-request-id.
 *
 * Threads  the request's.  Blocks  on the client, bounded by stream.send_timeout.
 */
#ifndef TOLLGATE_REPLY_H
#define TOLLGATE_REPLY_H

#include "fcgi-app/request.h"

struct tg_reply_header {
    const char *name, *value; /* values with CR or LF are dropped and logged */
};

/* Status line and headers of an answer; x-request-id, and for streams Cache-Control: no-cache and
 * X-Accel-Buffering: no are added. Not flushed. */
enum tg_class tg_reply_begin(struct tg_request *req, int status, const char *content_type,
                             const struct tg_reply_header *extra, size_t extra_count)
    non_null(1, 3);
/* Begins a stream (text/event-stream, 200) once; later calls do nothing. */
enum tg_class tg_reply_begin_stream(struct tg_request *req) non_null(1);
/* Writes and flushes; TG_CLASS_GONE when the client has left. Counts sent_bytes. */
enum tg_class tg_reply_send(struct tg_request *req, const void *bytes, size_t len) non_null(1);
/* The protocol's harmless frame (PROTOCOLS A5), flushed. */
enum tg_class tg_reply_keepalive(struct tg_request *req) non_null(1);

/* Puts the body (or, after the headers, the error event) for req->error into req->tail and sets
 * answer_status; retry-after and x-should-retry go out with the headers. */
void tg_reply_set_error(struct tg_request *req) non_null(1);
/* A complete JSON answer into req->tail. */
void tg_reply_set_json(struct tg_request *req, int status, const char *json, size_t len)
    non_null(1, 3);
/* Sends what is in req->tail (with headers when none are out) and ends the FastCGI answer. */
void tg_reply_finish(struct tg_request *req) non_null(1);

#endif
