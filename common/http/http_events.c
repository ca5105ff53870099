#include "common/http/http_curl.h"

#include "common/base/clock.h"
#include "common/http/address.h"

#include <netinet/in.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

enum { RATIO_FROM = 4 * 1024 * 1024, RATIO_MOST = 200 };

static struct tg_http_exchange *exchange_of(void *handle)
{
    return ((struct tg_http_handle *)handle)->exchange;
}

/* --- the request's body -------------------------------------------------------------------- */

size_t tg_http_on_read(char *bytes, size_t size, size_t count, void *context)
{
    struct tg_http_exchange *x = exchange_of(context);
    size_t room = size * count, done = 0;

    while (done < room && x->piece < x->spec->body_count) {
        const struct tg_span *piece = &x->spec->body[x->piece];
        size_t part = TG_MIN(room - done, piece->len - x->piece_at);

        if (part > 0)
            memcpy(bytes + done, piece->ptr + x->piece_at, part);
        done += part;
        x->piece_at += part;
        if (x->piece_at == piece->len) {
            x->piece++;
            x->piece_at = 0;
        }
    }
    x->body_at += (int64_t)done;
    x->progress_at_us = tg_now_us();
    return done;
}

/* libcurl would repeat a request whose kept connection died without a byte of an answer. It may as
 * long as nothing of the body has gone out; after that the upstream may have done the work, and
 * whether to ask again is for the attempt loop, which records it. */
static bool may_repeat(const struct tg_http_exchange *x)
{
    return x->body_at == 0;
}

int tg_http_on_seek(void *context, curl_off_t offset, int origin)
{
    const struct tg_http_exchange *x = exchange_of(context);

    if (origin != SEEK_SET || offset != 0 || !may_repeat(x))
        return CURL_SEEKFUNC_FAIL;
    return CURL_SEEKFUNC_OK;
}

/* --- the connection ------------------------------------------------------------------------ */

/* The parameters are libcurl's. NOLINTNEXTLINE(readability-non-const-parameter) */
int tg_http_on_request(void *context, char *peer_ip, char *own_ip, int peer_port, int own_port)
{
    struct tg_http_exchange *x = exchange_of(context);
    long connections = 1;

    (void)peer_ip;
    (void)own_ip;
    (void)peer_port;
    (void)own_port;
    curl_easy_getinfo(x->handle->easy, CURLINFO_NUM_CONNECTS, &connections);
    x->ret->reused = connections == 0;
    x->repeated = x->connected;
    x->connected = true;
    x->progress_at_us = tg_now_us();
    x->ret->connect_us = x->progress_at_us - x->started_at_us;
    if (x->together)
        x->body_at = x->body_total; /* from here on it may have gone out */
    return CURL_PREREQFUNC_OK;
}

static bool address_of(const struct curl_sockaddr *from, struct tg_address *ret, int *ret_port)
{
    if (from->family == AF_INET) {
        struct sockaddr_in in;

        memcpy(&in, &from->addr, sizeof in);
        memset(ret->bytes, 0, 10);
        memset(ret->bytes + 10, 0xff, 2);
        memcpy(ret->bytes + 12, &in.sin_addr, 4);
        *ret_port = ntohs(in.sin_port);
        return true;
    }
    if (from->family == AF_INET6) {
        struct sockaddr_in6 in6;

        memcpy(&in6, &from->addr, TG_MIN(sizeof in6, (size_t)from->addrlen));
        memcpy(ret->bytes, &in6.sin6_addr, 16);
        *ret_port = ntohs(in6.sin6_port);
        return true;
    }
    return false;
}

/* Every address that libcurl is about to connect to passes here. Behind a proxy it is the proxy's:
 * a channel that has one trusts it (AMENDMENTS F1). */
static bool may_connect(const struct tg_http_exchange *x, const struct curl_sockaddr *to)
{
    const struct tg_http_spec *spec = x->spec;
    struct tg_address address;
    int port;

    if (!address_of(to, &address, &port))
        return false;
    if (spec->purpose == TG_HTTP_FETCH && port != 80 && port != 443)
        return false;
    if (spec->purpose == TG_HTTP_CHANNEL && spec->proxy[0] != '\0')
        return true;
    return tg_address_may_reach(&address, spec->allow, spec->allow_count);
}

curl_socket_t tg_http_on_socket(void *context, curlsocktype purpose, struct curl_sockaddr *address)
{
    struct tg_http_exchange *x = exchange_of(context);

    if (x->connected && !may_repeat(x))
        return CURL_SOCKET_BAD; /* sooner than the seek could say it */
    if (purpose != CURLSOCKTYPE_IPCXN || !may_connect(x, address)) {
        x->address_refused = true;
        return CURL_SOCKET_BAD;
    }
    x->address_used = true;
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

/* --- the answer ---------------------------------------------------------------------------- */

static bool headers_end(struct tg_http_exchange *x)
{
    if (x->answer.status < 200)
        return true; /* 1xx: the real one follows */
    if (!tg_http_answer_is_framed(&x->answer)) {
        x->flooded = true;
        return false;
    }
    x->headers_done = true;
    x->ret->status = x->answer.status;
    if (x->sink->on_headers == NULL ||
        x->sink->on_headers(x->sink->context, x->answer.status, &x->answer))
        return true;
    x->stopped = true;
    return false;
}

static bool status_line(struct tg_http_exchange *x)
{
    long status = 0;

    curl_easy_getinfo(x->handle->easy, CURLINFO_RESPONSE_CODE, &status);
    tg_http_answer_begin(&x->answer, (int)status);
    return true;
}

size_t tg_http_on_header(char *line, size_t size, size_t count, void *context)
{
    struct tg_http_exchange *x = exchange_of(context);
    size_t len = size * count;
    bool fine;

    x->ret->received_bytes += (int64_t)len;
    if (x->headers_done)
        return len; /* trailers */
    if (len >= 5 && memcmp(line, "HTTP/", 5) == 0)
        fine = status_line(x);
    else if (len <= 2 && (len == 0 || line[0] == '\r' || line[0] == '\n'))
        fine = headers_end(x);
    else
        fine = tg_http_answer_line(&x->answer, line, len) || (x->flooded = true, false);
    return fine ? len : 0;
}

/* libcurl inflates whatever comes compressed. True: what came is a bomb. */
static bool is_bomb(struct tg_http_exchange *x, size_t len)
{
    curl_off_t raw = 0;

    x->inflated += (int64_t)len;
    if (x->inflated < RATIO_FROM)
        return false;
    curl_easy_getinfo(x->handle->easy, CURLINFO_SIZE_DOWNLOAD_T, &raw);
    return x->inflated / RATIO_MOST > raw;
}

size_t tg_http_on_body(char *bytes, size_t size, size_t count, void *context)
{
    struct tg_http_exchange *x = exchange_of(context);
    size_t len = size * count;
    bool fine;

    if (len == 0)
        return 0;
    if (!x->ret->any_body) {
        x->ret->any_body = true;
        x->ret->first_byte_us = tg_now_us() - x->started_at_us;
    }
    x->ret->received_bytes += (int64_t)len;
    if (is_bomb(x, len)) {
        x->flooded = true;
        return 0;
    }
    fine = x->sink->on_body == NULL || x->sink->on_body(x->sink->context, bytes, len);
    /* After the sink: its wait on a slow client is not the upstream's silence. */
    x->progress_at_us = tg_now_us();
    if (!fine)
        x->stopped = true;
    return fine ? len : 0;
}
