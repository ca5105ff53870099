/* transfer - one upstream call of one attempt: exchange, answer, and what is owed for it.
 *
 * A stream goes to the client as it comes (stream/engine.h); any other answer is collected up to
 * upstream.answer_limit, checked and left in `body`. Nothing but keep-alives reaches the client
 * from an attempt that fails before its first content.
 *
 * Threads  the request's.  Blocks  until the exchange ends.
 */
#ifndef TOLLGATE_UPSTREAM_TRANSFER_H
#define TOLLGATE_UPSTREAM_TRANSFER_H

#include "fcgi-app/provider/provider.h"
#include "fcgi-app/relay/key_verdict.h"
#include "fcgi-app/stream/engine.h"

struct tg_transfer {
    /* set by the caller */
    struct tg_request *req;
    struct tg_client *client;
    const struct tg_channel *channel;
    const struct tg_provider_call *call;
    const char *model;      /* Tollgate's name, for counting */
    int64_t deadline_at_us; /* of the whole request, until there is content */

    /* result; tg_transfer_done frees it */
    struct tg_error error; /* class TG_OK: a whole answer */
    enum tg_end_reason end_reason;
    struct tg_http_result http;
    bool arrived;            /* content of this attempt came */
    bool has_usage;          /* the upstream reported it */
    struct tg_usage usage;
    int64_t counted_output;  /* local count of the content */
    struct tg_buf body;      /* of a whole answer that is no stream, as it goes to the client */

    /* private: transfer.c */
    struct tg_http_spec spec;
    struct tg_stream stream;
    enum { TG_TAKE_NOTHING, TG_TAKE_STREAM, TG_TAKE_ANSWER, TG_TAKE_ERROR, TG_TAKE_WRONG } take;
    bool late, too_large;
    size_t most; /* bytes of body that are kept */
    const char *should_retry;
    const char *signs[TG_SIGN__COUNT]; /* of a refusal: see key_verdict.h */
};

void tg_transfer_run(struct tg_transfer *transfer) non_null(1);
void tg_transfer_done(struct tg_transfer *transfer) non_null(1);

#endif
