#include "common/fcgi/client.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/base/clock.h"

/* Record types and the shape of a header: FastCGI specification, section 8. */
enum { BEGIN = 1, END = 3, PARAMS = 4, STDIN = 5, STDOUT = 6, STDERR = 7 };
enum { HEADER_LEN = 8, CONTENT_MOST = 65535, REQUEST_ID = 1, RESPONDER = 1 };

struct link {
    int fd;
    const char *address;
    int64_t deadline_at_us;
    struct tg_error *err;
};

static enum tg_class down(const struct link *link, const char *what)
{
    return tg_fail(link->err, TG_CLASS_DOWN, "gateway_down", "the gateway at %s: %s",
                   link->address, what);
}

static enum tg_class wait_for(const struct link *link, short events)
{
    struct pollfd look = {.fd = link->fd, .events = events};
    int64_t left_ms;
    int ready;

    do {
        left_ms = (link->deadline_at_us - tg_now_us() + 999) / 1000;
        ready = left_ms <= 0 ? 0 : poll(&look, 1, (int)TG_MIN(left_ms, 3600000));
    } while (ready < 0 && errno == EINTR);
    return ready > 0 ? TG_OK : down(link, "no answer in time");
}

static enum tg_class connect_to(struct link *link, const struct sockaddr *address, socklen_t len)
{
    int failure = 0;
    socklen_t size = sizeof failure;
    enum tg_class class;

    link->fd = socket(address->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (link->fd < 0)
        return down(link, strerror(errno));
    if (connect(link->fd, address, len) == 0)
        return TG_OK;
    if (errno != EINPROGRESS)
        return down(link, strerror(errno));
    class = wait_for(link, POLLOUT);
    if (class != TG_OK)
        return class;
    getsockopt(link->fd, SOL_SOCKET, SO_ERROR, &failure, &size);
    return failure == 0 ? TG_OK : down(link, strerror(failure));
}

static enum tg_class open_unix(struct link *link, const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    if (strlen(path) >= sizeof address.sun_path)
        return down(link, "the path is too long");
    memcpy(address.sun_path, path, strlen(path) + 1);
    return connect_to(link, (const struct sockaddr *)&address, sizeof address);
}

static enum tg_class open_tcp(struct link *link, const char *text)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
    char host[256];
    const char *colon = strrchr(text, ':');
    struct addrinfo *found;
    enum tg_class class;
    size_t len = colon == NULL ? 0 : (size_t)(colon - text);

    if (len == 0 || len >= sizeof host)
        return down(link, "this is not tcp:HOST:PORT");
    if (text[0] == '[' && text[len - 1] == ']')
        snprintf(host, sizeof host, "%.*s", (int)len - 2, text + 1);
    else
        snprintf(host, sizeof host, "%.*s", (int)len, text);
    if (getaddrinfo(host, colon + 1, &hints, &found) != 0)
        return down(link, "the host name is not known");
    class = connect_to(link, found->ai_addr, found->ai_addrlen);
    freeaddrinfo(found);
    return class;
}

static enum tg_class open_link(struct link *link, const char *address)
{
    if (strncmp(address, "unix:", 5) == 0)
        return open_unix(link, address + 5);
    if (strncmp(address, "tcp:", 4) == 0)
        return open_tcp(link, address + 4);
    return down(link, "this is neither unix:PATH nor tcp:HOST:PORT");
}

static void add_record(struct tg_buf *out, int type, const void *content, size_t len)
{
    const unsigned char header[HEADER_LEN] = {
        1, (unsigned char)type, 0, REQUEST_ID, (unsigned char)(len >> 8), (unsigned char)len, 0, 0};

    tg_assert(len <= CONTENT_MOST);
    tg_buf_add(out, header, sizeof header);
    tg_buf_add(out, content, len);
}

static void add_len(struct tg_buf *out, size_t len)
{
    if (len < 128) {
        tg_buf_char(out, (char)len);
        return;
    }
    tg_buf_char(out, (char)(len >> 24 | 0x80));
    tg_buf_char(out, (char)(len >> 16));
    tg_buf_char(out, (char)(len >> 8));
    tg_buf_char(out, (char)len);
}

static void build(const struct tg_fcgi_call *call, struct tg_buf *out)
{
    static const unsigned char begin[8] = {0, RESPONDER};
    struct tg_buf params;

    tg_buf_init(&params, 0);
    for (size_t i = 0; i < call->param_count; i++) {
        add_len(&params, strlen(call->params[i].name));
        add_len(&params, strlen(call->params[i].value));
        tg_buf_str(&params, call->params[i].name);
        tg_buf_str(&params, call->params[i].value);
    }
    add_record(out, BEGIN, begin, sizeof begin);
    add_record(out, PARAMS, params.data, params.len);
    add_record(out, PARAMS, NULL, 0);
    if (call->body.len > 0)
        add_record(out, STDIN, call->body.ptr, call->body.len);
    add_record(out, STDIN, NULL, 0);
    tg_buf_done(&params);
}

static enum tg_class send_all(const struct link *link, const struct tg_buf *bytes)
{
    size_t sent = 0;

    while (sent < bytes->len) {
        ssize_t got = send(link->fd, bytes->data + sent, bytes->len - sent, MSG_NOSIGNAL);
        enum tg_class class;

        if (got > 0) {
            sent += (size_t)got;
            continue;
        }
        if (got < 0 && errno != EAGAIN && errno != EINTR)
            return down(link, strerror(errno));
        class = wait_for(link, POLLOUT);
        if (class != TG_OK)
            return class;
    }
    return TG_OK;
}

static enum tg_class receive(const struct link *link, void *bytes, size_t len)
{
    size_t have = 0;

    while (have < len) {
        ssize_t got = recv(link->fd, (char *)bytes + have, len - have, 0);
        enum tg_class class;

        if (got > 0) {
            have += (size_t)got;
            continue;
        }
        if (got == 0)
            return down(link, "it closed the connection without a whole answer");
        if (errno != EAGAIN && errno != EINTR)
            return down(link, strerror(errno));
        class = wait_for(link, POLLIN);
        if (class != TG_OK)
            return class;
    }
    return TG_OK;
}

/* Records up to END_REQUEST; what is written to stderr is not for us. */
static enum tg_class receive_answer(const struct link *link, struct tg_buf *out)
{
    unsigned char header[HEADER_LEN], content[CONTENT_MOST + 255];

    for (;;) {
        size_t len;
        enum tg_class class = receive(link, header, sizeof header);

        if (class != TG_OK)
            return class;
        len = (size_t)header[4] << 8 | header[5];
        if (header[0] != 1 || (header[1] != END && header[1] != STDOUT && header[1] != STDERR))
            return tg_fail(link->err, TG_CLASS_TRANSPORT, "fcgi_protocol",
                           "the answer of the gateway is no FastCGI");
        class = receive(link, content, len + header[6]);
        if (class != TG_OK || header[1] == END)
            return class;
        if (header[1] == STDOUT)
            tg_buf_add(out, content, len);
        if (out->failed)
            return tg_fail(link->err, TG_CLASS_TRANSPORT, "fcgi_protocol",
                           "the answer of the gateway is too long");
    }
}

/* "Status: 404 Not Found", headers, an empty line, the body. */
static enum tg_class read_head(const struct tg_buf *bytes, struct tg_fcgi_answer *ret,
                               struct tg_error *err)
{
    const char *text = tg_buf_text(bytes), *end = text + bytes->len;
    int status = 200;

    while (text < end) {
        const char *line_end = memchr(text, '\n', (size_t)(end - text));

        if (line_end == NULL)
            break;
        if (line_end == text || (line_end == text + 1 && *text == '\r')) {
            ret->status = status;
            ret->body = (struct tg_span){.ptr = line_end + 1, .len = (size_t)(end - line_end - 1)};
            return TG_OK;
        }
        if (strncasecmp(text, "Status:", 7) == 0)
            status = (int)strtol(text + 7, NULL, 10);
        text = line_end + 1;
    }
    return tg_fail(err, TG_CLASS_TRANSPORT, "fcgi_protocol",
                   "the answer of the gateway has no whole head");
}

enum tg_class tg_fcgi_ask(const struct tg_fcgi_call *call, struct tg_buf *bytes,
                          struct tg_fcgi_answer *ret, struct tg_error *err)
{
    struct link link = {.fd = -1,
                        .address = call->address,
                        .deadline_at_us = call->deadline_at_us,
                        .err = err};
    struct tg_buf request;
    enum tg_class class = open_link(&link, call->address);

    tg_buf_init(&request, 0);
    tg_buf_init(bytes, call->answer_limit_bytes);
    if (class == TG_OK) {
        build(call, &request);
        class = send_all(&link, &request);
    }
    if (class == TG_OK)
        class = receive_answer(&link, bytes);
    if (class == TG_OK)
        class = read_head(bytes, ret, err);
    tg_buf_done(&request);
    if (link.fd >= 0)
        close(link.fd);
    return class;
}
