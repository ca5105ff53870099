/* client - the client's side of a relay, through all its attempts.
 *
 * Notices that the client has left, keeps a silent stream alive, and renews the deposit. A stream
 * gets its first keep-alive after stream.keepalive_first of silence, which commits the status; from
 * then on every stream.keepalive_every, or stream.gone_check where that is shorter: a web server
 * that only notices a gone client on a failed write shall have something to write (POLICIES R4).
 *
 * Threads  the request's.  Blocks  on writes to the client (stream.send_timeout), on the renewal.
 */
#ifndef TOLLGATE_STREAM_CLIENT_H
#define TOLLGATE_STREAM_CLIENT_H

#include "fcgi-app/request.h"

struct tg_client {
    struct tg_request *req;
    int64_t keepalive_first_us, keepalive_every_us;
    int64_t last_sent_at_us;  /* silence is counted from here */
    int64_t delivered_tokens; /* of the running attempt, for the deposit */
    bool gone;                /* has left, or neither reads nor leaves */
    bool cut;                 /* the worker ends: the request has to */
    short poll_events;        /* to wait for on the client's descriptor */
};

void tg_client_init(struct tg_client *client, struct tg_request *req) non_null(1, 2);

/* Looks after the client. False: it has gone (req->end_reason says how), or is cut. Otherwise
 * *ret_wake_at_us is when to call again at the latest. */
bool tg_client_tick(struct tg_client *client, int64_t now_us, int64_t *ret_wake_at_us)
    must_check non_null(1, 3);
/* One event of a stream, with the stream's headers before the first. False: the client has gone;
 * nothing is sent any more. */
bool tg_client_send(struct tg_client *client, const void *bytes, size_t len) non_null(1);
/* Waits until <until_us>, looking after the client. False: it has gone, or is cut. */
bool tg_client_wait(struct tg_client *client, int64_t until_us) must_check non_null(1);
/* What a request that is cut is told. */
void tg_client_cut_error(struct tg_error *ret) non_null(1);

#endif
