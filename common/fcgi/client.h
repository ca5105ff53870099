/* client - one FastCGI request to a worker, without a web server between (no libfcgi here).
 *
 * For calls of the console and of tollgatectl: small bodies, one answer, one deadline.
 *
 * Errors   TG_CLASS_DOWN       "gateway_down"   nobody listens, or no whole answer in time
 *          TG_CLASS_TRANSPORT  "fcgi_protocol"  the answer is no FastCGI or too long
 * Threads  any.  Blocks  up to the deadline.
 */
#ifndef TOLLGATE_FCGI_CLIENT_H
#define TOLLGATE_FCGI_CLIENT_H

#include "common/base/buf.h"
#include "common/base/error.h"

struct tg_fcgi_pair {
    const char *name, *value;
};

struct tg_fcgi_call {
    const char *address; /* unix:PATH or tcp:HOST:PORT */
    const struct tg_fcgi_pair *params;
    size_t param_count;
    struct tg_span body; /* at most 65,535 bytes */
    int64_t deadline_at_us;
    size_t answer_limit_bytes;
};

struct tg_fcgi_answer {
    int status;          /* of the Status header, 200 without one */
    struct tg_span body; /* borrowed from the buffer */
};

/* <bytes> takes the whole standard output of the worker. */
enum tg_class tg_fcgi_ask(const struct tg_fcgi_call *call, struct tg_buf *bytes,
                          struct tg_fcgi_answer *ret, struct tg_error *err) must_check
    non_null(1, 2, 3);

#endif
