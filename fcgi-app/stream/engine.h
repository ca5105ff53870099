/* engine - one upstream stream, event by event, to the client.
 *
 * Two commit points. Headers go out with the first keep-alive or the first content; content is what
 * makes an attempt final. Until then nothing of an attempt reaches the client: its role delta and
 * the like are held back, so that another channel may still be tried. From then on every event is
 * framed anew and flushed at once. What ends a whole answer ("[DONE]", message_stop) is not sent
 * here: the last bytes go out after the settlement.
 *
 * A client of another protocol than the upstream's gets each event through the hops of a chain;
 * what an event says of content, usage and the end is read from the upstream's own words.
 *
 * Ends      [DONE], message_stop                   done   whole
 *           end of stream behind a finish reason   eof    whole
 *           end of stream otherwise, reset         eof    error
 *           error event; the worker has to end     handler_stop
 *           silence, or a line that does not end   timeout
 *           event over the limit, no JSON          scanner_error
 *           the client has left                    client_gone, ping_fail
 * An upstream that says its end and does not end its stream is let go after a tenth of a second.
 *
 * Threads  the request's.  Blocks  on writes to the client.
 * Source   POLICIES "Streams", R1-R5; PROTOCOLS D0.
 */
#ifndef TOLLGATE_STREAM_ENGINE_H
#define TOLLGATE_STREAM_ENGINE_H

#include "common/http/http.h"
#include "fcgi-app/convert/registry.h"
#include "fcgi-app/count/count.h"
#include "fcgi-app/stream/client.h"
#include "fcgi-app/stream/dialect.h"
#include "fcgi-app/stream/failure.h"
#include "fcgi-app/stream/sse.h"

struct tg_stream_conf {
    const struct tg_dialect *upstream, *spoken; /* the upstream's, the client's */
    const struct tg_route *route;     /* NULL or without steps: nothing is converted */
    const struct tg_convert *convert; /* when something is */
    const struct tg_encoders *encoders; /* NULL: content is estimated */
    const char *count_as; /* model that content is counted for */
    const char *rename_to; /* what events shall call their model, NULL: leave it */
    size_t event_limit;
    bool refuse_empty; /* an answer without content is a failed attempt */
    int64_t idle_us;   /* in which a line must end or come at 1 KiB/s; 0: no limit */
};

struct tg_stream {
    /* result, complete after tg_stream_end */
    struct tg_error error;       /* class TG_OK: a whole answer */
    enum tg_end_reason end_reason;
    bool arrived;                /* content came, whether or not it could be delivered */
    bool has_usage;
    struct tg_usage usage;       /* as reported last */
    struct tg_count count;   /* of the content that came */
    struct tg_buf terminal;  /* what ends it, for behind the settlement: of a whole answer, and of
                              * a failed one whose client is told more than the error itself */
    /* private: engine.c */
    struct tg_client *client;
    struct tg_stream_conf conf;
    struct tg_sse sse;
    struct tg_figures figures;
    struct tg_chain *chain; /* NULL: nothing is converted */
    struct tg_opening opening; /* of a stream of Responses that is not converted */
    struct tg_buf *target;  /* where converted events go */
    struct tg_buf preamble, frame, content;
    bool finish_seen, done_seen, dribbles;
    int64_t done_at_us;
    int64_t line_at_us; /* the last line's end, or the first byte */
    size_t line_bytes;  /* that came since */
};

void tg_stream_init(struct tg_stream *stream, struct tg_client *client,
                    const struct tg_stream_conf *conf) non_null(1, 2, 3);
void tg_stream_done(struct tg_stream *stream) non_null(1);

/* Bytes of the upstream's 2xx body. False: stop the exchange. */
bool tg_stream_feed(struct tg_stream *stream, const char *bytes, size_t len) must_check
    non_null(1);
/* False: stop the exchange. Lowers *wake_at_us when it wants to be asked earlier. */
bool tg_stream_tick(struct tg_stream *stream, int64_t now_us, int64_t *wake_at_us) must_check
    non_null(1, 3);
/* The exchange has ended as <result> says; <late>: it was stopped for the request's deadline. */
void tg_stream_end(struct tg_stream *stream, const struct tg_http_result *result, bool late)
    non_null(1, 2);

#endif
