/* classify - what does a failed upstream call say, and about whom? Pure.
 *
 * The error is classified where it arises and may replace the status: an error inside a 200 stream
 * counts as its own code, account and key errors are known by code, reason or phrase whatever the
 * status. What follows from it is retry.h's business; what clients see is reply.h's.
 *
 *   key or account  401; 402; a 400, 403 or 429 whose words say so   ACCOUNT    CHANNEL | KEY
 *   client's fault  400, 413, 422                                    UPSTREAM   NO_RETRY
 *   unknown model   404; x-should-retry: false                       UPSTREAM   NEXT_CHANNEL
 *   our URL is bad  no URL, an address that may not be reached       TRANSPORT  CHANNEL
 *   no answer       DNS, connect, TLS, reset, not HTTP               TRANSPORT
 *   silence         our own limits                                   TIMEOUT
 *   anything else   the upstream's own status and words              UPSTREAM
 *
 * Source  SCHEDULING "The attempt loop", "Keys of a channel"; PROTOCOLS A7.
 * Threads  any.  Blocks  no.
 */
#ifndef TOLLGATE_RELAY_CLASSIFY_H
#define TOLLGATE_RELAY_CLASSIFY_H

#include "common/base/error.h"
#include "common/http/http.h"

/* Retry hints of an answer's headers; NULL: absent. */
struct tg_retry_hints {
    const char *retry_after_ms, *retry_after, *should_retry;
};

/* An exchange that did not end with a whole answer (result->end is not DONE). */
void tg_classify_end(const struct tg_http_result *result, struct tg_error *ret) non_null(1, 2);
/* A whole answer whose status is not 2xx. <now_unix_us>: for Retry-After as a date. */
void tg_classify_status(int status, struct tg_span body, const struct tg_retry_hints *hints,
                        int64_t now_unix_us, struct tg_error *ret) non_null(3, 5);
/* An error found inside a 2xx answer, as convert/error_body.h read it: adds class and flags. */
void tg_classify_inside(struct tg_error *error) non_null(1);

/* The wait that the headers ask for, 0: none; at most 300 s (SDKs obey without a limit). */
int64_t tg_retry_after_ms(const struct tg_retry_hints *hints, int64_t now_unix_us) non_null(1);

#endif
