/* http - one HTTP exchange with an upstream (the only user of libcurl).
 *
 * A handle is one multi + one easy, driven by the calling thread with curl_multi_poll and the
 * client's descriptor beside it: a client that leaves wakes the thread at once. Handles are pooled
 * LIFO by <pool key> (origin, proxy, purpose), so that a kept connection is found again; an idle
 * handle older than the age is closed by a housekeeper (a dead idle connection holds its
 * descriptors otherwise). Connections are never shared between threads; DNS and TLS sessions are,
 * under locks.
 *
 * Fixed: no signals, http and https only, no redirects, no environment proxies (CURLOPT_PROXY is
 * always set), no Expect header, explicit Content-Length, CAINFO unset and CAPATH set (the bundle
 * costs 880 KiB and 23 ms per connection), verification on, Accept-Encoding identity and decoding
 * by libcurl when an upstream compresses all the same. A body that has begun to go out is never
 * sent again behind the caller's back: a kept connection that dies then is a RESET, and neither an
 * empty nor a doubled body ever leaves.
 *
 * Threads  a handle belongs to one thread at a time; the pool is for any.  Not fork-safe: made
 *          after the fork.  Blocks  until the exchange ends.
 */
#ifndef TOLLGATE_HTTP_HTTP_H
#define TOLLGATE_HTTP_HTTP_H

#include "common/base/arena.h"
#include "common/base/error.h"
#include "common/conf/units.h"

struct tg_http_pool;

struct tg_http_pool_conf {
    size_t idle_most;
    int64_t idle_age_us;
    const char *ca_path;
};
enum tg_class tg_http_pool_new(const struct tg_http_pool_conf *conf, struct tg_http_pool **ret,
                               struct tg_error *err) must_check non_null(1, 2);
void tg_http_pool_free(struct tg_http_pool *pool);         /* NULL is fine */
void tg_http_pool_sweep(struct tg_http_pool *pool) non_null(1); /* closes what is too old */

enum tg_http_purpose {
    TG_HTTP_CHANNEL, /* an operator's base URL */
    TG_HTTP_FETCH    /* an URL a client made us fetch: ports 80/443, no reuse, no proxy */
};

struct tg_http_header {
    const char *name, *value; /* CR and LF are refused */
};

struct tg_http_spec {
    enum tg_http_purpose purpose;
    const char *method; /* GET, POST */
    const char *url;
    const char *proxy; /* "" for none */
    const struct tg_http_header *headers;
    size_t header_count;
    const struct tg_span *body; /* pieces, sent in order with the sum as Content-Length */
    size_t body_count;
    int64_t connect_us, first_byte_us, idle_us;
    int64_t deadline_at_us; /* until the first body byte; 0: none */
    const struct tg_cidr *allow; /* private ranges that may be reached */
    size_t allow_count;
    int client_fd;       /* -1: none */
    short client_events; /* read again before each wait: the owner may change it in on_tick */
    bool trickles;       /* the answer comes in small pieces, over a long time */
    int wake_fd;         /* once it is readable on_tick is called again and again; 0: none */
};

/* How an exchange ended, for classification. */
enum tg_http_end {
    TG_HTTP_DONE,
    TG_HTTP_BAD_URL,
    TG_HTTP_REFUSED_ADDRESS, /* the address filter said no */
    TG_HTTP_DNS,
    TG_HTTP_CONNECT,
    TG_HTTP_TLS,
    TG_HTTP_TIMEOUT_CONNECT,
    TG_HTTP_TIMEOUT_FIRST_BYTE,
    TG_HTTP_TIMEOUT_IDLE,
    TG_HTTP_TIMEOUT_DEADLINE,
    TG_HTTP_RESET,    /* connection lost, body cut short */
    TG_HTTP_PROTOCOL, /* not HTTP, bad encoding, header flood */
    TG_HTTP_STOPPED   /* the sink or the tick said stop */
};

struct tg_http_result {
    enum tg_http_end end;
    int status;           /* 0: no header was read */
    bool body_sent;       /* the request was sent whole: the upstream may have accepted it */
    bool any_body;        /* at least one body byte came */
    bool reused;          /* on a kept connection */
    int64_t connect_us, first_byte_us, total_us;
    int64_t sent_bytes, received_bytes;
    char detail[160];     /* libcurl's words for logs; never for clients */
};

struct tg_http_answer; /* headers of the answer, readable inside on_headers only */

/* What the exchange tells its owner. Each returns false to stop (end = STOPPED). */
struct tg_http_sink {
    void *context;
    /* Once, when the final status line and headers are in (1xx are skipped). */
    bool (*on_headers)(void *context, int status, const struct tg_http_answer *answer);
    bool (*on_body)(void *context, const char *bytes, size_t len);
    /* Called when <client_fd> is ready and at least when the time it returned last has come.
     * Writes into *ret_wake_at_us (monotonic) when it wants to be called next. */
    bool (*on_tick)(void *context, int64_t now_us, bool client_ready, int64_t *ret_wake_at_us);
};
/* The value of a header (case-insensitive), NULL when absent. Borrowed inside on_headers. */
const char *tg_http_answer_header(const struct tg_http_answer *answer, const char *name)
    non_null(1, 2);

/* One exchange. Every outcome is in <ret>; there is no error besides. */
void tg_http_exchange(struct tg_http_pool *pool, const struct tg_http_spec *spec,
                      const struct tg_http_sink *sink, struct tg_http_result *ret)
    non_null(1, 2, 3, 4);

const char *tg_http_end_name(enum tg_http_end end);

#endif
