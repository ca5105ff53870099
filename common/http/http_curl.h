/* http_curl - what the files of common/http/ share; the only place that includes libcurl.
 *
 * A handle is one multi + one easy. It is made and ended in http_share.c, kept in http_pool.c,
 * prepared in http_options.c and driven in http.c.
 *
 * Threads  a handle has one owner at a time; the share is locked.  Blocks  no.
 */
#ifndef TOLLGATE_HTTP_HTTP_CURL_H
#define TOLLGATE_HTTP_HTTP_CURL_H

#include <curl/curl.h>

#include "common/http/answer.h"
#include "common/http/http.h"

struct tg_http_exchange;

struct tg_http_handle {
    CURLM *multi;
    CURL *easy;
    bool prepared; /* the options that every exchange of its key shares are set */
    struct tg_http_exchange *exchange; /* that is running */
    CURLU *parsed; /* <url>, which seldom changes */
    char *url;
    int64_t idle_since_us;
    uint64_t key_hash;
    char *key; /* purpose, origin and proxy: what the kept connection leads to */
    struct tg_http_handle *older, *newer; /* in the pool */
    char error_text[CURL_ERROR_SIZE];     /* must outlive the easy handle's use */
};

/* DNS answers and TLS sessions, shared under locks. Connections are not: libcurl does not allow
 * that between threads. */
struct tg_http_share;
struct tg_http_share *tg_http_share_new(void) must_check; /* NULL: libcurl refused */
void tg_http_share_free(struct tg_http_share *share);     /* NULL is fine */

struct tg_http_handle *tg_http_handle_new(struct tg_http_share *share, const char *key) must_check
    non_null(1, 2);
void tg_http_handle_free(struct tg_http_handle *handle); /* NULL is fine; closes the connection */
uint64_t tg_http_key_hash(const char *key) non_null(1);

/* The most recently used handle for <key>, or a new one; NULL: libcurl refused. */
struct tg_http_handle *tg_http_pool_take(struct tg_http_pool *pool, const char *key) must_check
    non_null(1, 2);
/* Keeps it for the next exchange; the oldest goes when the pool is full. */
void tg_http_pool_give(struct tg_http_pool *pool, struct tg_http_handle *handle) non_null(1, 2);
const char *tg_http_pool_ca_path(const struct tg_http_pool *pool) non_null(1);

struct tg_http_exchange {
    const struct tg_http_spec *spec;
    const struct tg_http_sink *sink;
    struct tg_http_result *ret;
    struct tg_http_handle *handle;
    struct curl_slist *headers;
    const char *ca_path;
    struct tg_http_answer answer;
    /* the request's body: next byte to send */
    size_t piece, piece_at;
    int64_t body_at, body_total;
    bool together;      /* libcurl has the whole body, and sends it with the headers */
    struct tg_buf body; /* its pieces, when there are several */
    /* what happened so far */
    bool setup_failed, connected, repeated, headers_done, flooded, stopped;
    bool address_refused, address_used;
    int64_t inflated; /* bytes of the body as the sink sees them */
    int64_t started_at_us, progress_at_us, wake_at_us;
    short client_seen; /* poll events of the client that the tick knows of */
};

/* Makes the easy handle ready for this exchange; false: a header is refused or libcurl
 * said no. */
bool tg_http_options_set(struct tg_http_exchange *x) must_check non_null(1);

/* Callbacks of http_events.c, set by http_options.c; the context is the handle. */
size_t tg_http_on_header(char *line, size_t size, size_t count, void *context);
size_t tg_http_on_body(char *bytes, size_t size, size_t count, void *context);
size_t tg_http_on_read(char *bytes, size_t size, size_t count, void *context);
int tg_http_on_seek(void *context, curl_off_t offset, int origin);
int tg_http_on_request(void *context, char *peer_ip, char *own_ip, int peer_port, int own_port);
curl_socket_t tg_http_on_socket(void *context, curlsocktype purpose, struct curl_sockaddr *address);

#endif
