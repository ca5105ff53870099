#include "common/fcgi/fcgi.h"

#include "common/base/clock.h"
#include "common/base/memory.h"

#include <ctype.h>
#include <errno.h>
#include <fcgiapp.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    PARAMS_BYTES_MOST = 256 * 1024, /* of one request; web servers stop at 8 to 64 KiB themselves */
    PARAMS_WAIT_US = 10000000,      /* silence while parameters are due */
    CLOSE_WAIT_US = 2000000,        /* for the peer to close, in all */
    REST_WAIT_US = 100000,          /* for the end of a body nobody read, on a kept connection */
    HEADER_NAME_MOST = 128,
    RECORD_ABORT = 2 /* FCGI_ABORT_REQUEST */
};

struct tg_fcgi {
    FCGX_Request request;
    int listen_fd;
    bool open;        /* between accept and finish */
    bool on_tcp;      /* a FIN cannot be told from a close there */
    bool half_closed; /* seen once and taken out of the poll set */
    bool read_whole;  /* the peer has nothing more to say */
    bool failed;      /* writer: sticky, libfcgi reports a broken pipe once only */
    int64_t read_deadline_at_us;
};

enum tg_class tg_fcgi_library_init(struct tg_error *err)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN};

    if (FCGX_Init() != 0)
        return tg_fail(err, TG_CLASS_INTERNAL, "fcgi_init", "libfcgi could not be initialised");
    /* It has just installed a SIGPIPE handler without SA_RESTART. */
    sigaction(SIGPIPE, &ignore, NULL);
    return TG_OK;
}

struct tg_fcgi *tg_fcgi_new(int listen_fd)
{
    struct tg_fcgi *fcgi = tg_calloc(1, sizeof *fcgi);
    int flags = fcntl(listen_fd, F_GETFL);

    tg_assert(flags >= 0);
    tg_assert(fcntl(listen_fd, F_SETFL, flags | O_NONBLOCK) == 0);
    /* The library gets no listening descriptor: connections are accepted here, so that time
     * limits stand before the first byte is read and a garbled connection does not make it
     * accept, and perhaps wait for, the next one. */
    FCGX_InitRequest(&fcgi->request, -1, 0);
    fcgi->listen_fd = listen_fd;
    return fcgi;
}

void tg_fcgi_free(struct tg_fcgi *fcgi)
{
    if (fcgi == NULL)
        return;
    FCGX_Free(&fcgi->request, fcgi->request.ipcFd >= 0);
    free(fcgi);
}

static void set_timeout(int fd, int option, int64_t us)
{
    struct timeval limit = {.tv_sec = us / 1000000, .tv_usec = us % 1000000};

    if (us <= 0)
        limit.tv_usec = 1; /* zero would mean for ever */
    (void)setsockopt(fd, SOL_SOCKET, option, &limit, sizeof limit);
}

/* A new connection, or -1. */
static int accept_connection(struct tg_fcgi *fcgi)
{
    struct sockaddr_storage peer = {0};
    socklen_t len = sizeof peer;
    int one = 1, fd = accept4(fcgi->listen_fd, (struct sockaddr *)&peer, &len, SOCK_CLOEXEC);

    if (fd < 0)
        return -1;
    fcgi->on_tcp = peer.ss_family == AF_INET || peer.ss_family == AF_INET6;
    if (fcgi->on_tcp) /* every event is a write of its own */
        (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    return fd;
}

static bool params_are_bounded(const struct tg_fcgi *fcgi)
{
    size_t sum = 0;

    for (char **at = fcgi->request.envp; *at != NULL && sum <= PARAMS_BYTES_MOST; at++)
        sum += strlen(*at) + 1;
    return sum <= PARAMS_BYTES_MOST;
}

static void drop(struct tg_fcgi *fcgi)
{
    FCGX_Detach(&fcgi->request); /* close without waiting for the peer */
    FCGX_Free(&fcgi->request, 1);
}

enum tg_fcgi_accepted tg_fcgi_take(struct tg_fcgi *fcgi)
{
    FCGX_Request *request = &fcgi->request;

    tg_assert(!fcgi->open && request->ipcFd < 0);
    request->ipcFd = accept_connection(fcgi);
    if (request->ipcFd < 0)
        return errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM
                   ? TG_FCGI_NO_DESCRIPTORS
                   : TG_FCGI_NOTHING;
    request->keepConnection = 1; /* or the library would close it before reading */
    return TG_FCGI_REQUEST;
}

enum tg_fcgi_accepted tg_fcgi_accept(struct tg_fcgi *fcgi, int64_t send_timeout_us)
{
    FCGX_Request *request = &fcgi->request;
    enum tg_fcgi_accepted taken = request->ipcFd < 0 ? tg_fcgi_take(fcgi) : TG_FCGI_REQUEST;

    tg_assert(!fcgi->open);
    if (taken != TG_FCGI_REQUEST)
        return taken;
    set_timeout(request->ipcFd, SO_RCVTIMEO, PARAMS_WAIT_US);
    set_timeout(request->ipcFd, SO_SNDTIMEO, send_timeout_us);
    fcgi->half_closed = fcgi->failed = fcgi->read_whole = false;
    fcgi->read_deadline_at_us = 0;
    if (FCGX_Accept_r(request) != 0)
        return TG_FCGI_NOTHING;
    /* Parameters that broke off are an end to the library. */
    if (FCGX_GetError(request->in) != 0 || !params_are_bounded(fcgi)) {
        drop(fcgi);
        return TG_FCGI_NOTHING;
    }
    fcgi->open = true;
    return TG_FCGI_REQUEST;
}

const char *tg_fcgi_param(const struct tg_fcgi *fcgi, const char *name)
{
    return FCGX_GetParam(name, fcgi->request.envp);
}

const char *tg_fcgi_header(const struct tg_fcgi *fcgi, const char *name)
{
    char variable[HEADER_NAME_MOST] = "HTTP_";
    size_t at = 5;

    for (; *name != '\0'; name++) {
        if (at + 1 >= sizeof variable)
            return NULL;
        variable[at++] = *name == '-' ? '_' : (char)toupper((unsigned char)*name);
    }
    variable[at] = '\0';
    if (strcmp(variable, "HTTP_CONTENT_TYPE") == 0 || strcmp(variable, "HTTP_CONTENT_LENGTH") == 0)
        return tg_fcgi_param(fcgi, variable + 5);
    if (strcmp(variable, "HTTP_PROXY") == 0) /* a client's Proxy header, meant to be mistaken */
        return NULL;
    return tg_fcgi_param(fcgi, variable);
}

void tg_fcgi_each_param(const struct tg_fcgi *fcgi, tg_fcgi_visit_fn *visit, void *context)
{
    char name[HEADER_NAME_MOST];

    for (char **at = fcgi->request.envp; *at != NULL; at++) {
        const char *equals = strchr(*at, '=');
        size_t len = equals != NULL ? (size_t)(equals - *at) : 0;

        if (equals == NULL || len >= sizeof name)
            continue;
        memcpy(name, *at, len);
        name[len] = '\0';
        if (strcmp(name, "HTTP_PROXY") != 0)
            visit(context, name, equals + 1);
    }
}

void tg_fcgi_set_read_deadline(struct tg_fcgi *fcgi, int64_t deadline_at_us)
{
    fcgi->read_deadline_at_us = deadline_at_us;
}

static enum tg_class read_failed(const struct tg_fcgi *fcgi, struct tg_error *err)
{
    if (fcgi->read_deadline_at_us != 0 && tg_now_us() >= fcgi->read_deadline_at_us)
        return tg_fail(err, TG_CLASS_TIMEOUT, "body_timeout", "the body did not arrive in time");
    return tg_fail(err, TG_CLASS_GONE, "client_gone", "the connection broke inside the body");
}

enum tg_class tg_fcgi_read(struct tg_fcgi *fcgi, void *bytes, size_t room, size_t *ret_len,
                           struct tg_error *err)
{
    FCGX_Stream *in = fcgi->request.in;
    size_t have;
    int first;

    tg_assert(room > 0);
    if (fcgi->read_deadline_at_us != 0)
        set_timeout(fcgi->request.ipcFd, SO_RCVTIMEO, fcgi->read_deadline_at_us - tg_now_us());
    /* FCGX_GetStr waits until the room is full; one character fetches what has come, and the rest
     * of that is taken without waiting. */
    first = FCGX_GetChar(in);
    if (first == EOF && FCGX_GetError(in) != 0)
        return read_failed(fcgi, err);
    if (first == EOF) {
        fcgi->read_whole = true;
        *ret_len = 0;
        return TG_OK;
    }
    *(unsigned char *)bytes = (unsigned char)first;
    have = TG_MIN((size_t)(in->stop - in->rdNext), TG_MIN(room - 1, (size_t)INT_MAX));
    if (have > 0)
        (void)FCGX_GetStr((char *)bytes + 1, (int)have, in);
    *ret_len = have + 1;
    return TG_OK;
}

static enum tg_class writer_state(struct tg_fcgi *fcgi, int answer)
{
    if (answer < 0 || FCGX_GetError(fcgi->request.out) != 0)
        fcgi->failed = true;
    return fcgi->failed ? TG_CLASS_GONE : TG_OK;
}

enum tg_class tg_fcgi_write(struct tg_fcgi *fcgi, const void *bytes, size_t len)
{
    const char *at = bytes;

    while (len > 0 && !fcgi->failed) {
        int part = (int)TG_MIN(len, (size_t)INT_MAX);

        (void)writer_state(fcgi, FCGX_PutStr(at, part, fcgi->request.out));
        at += part;
        len -= (size_t)part;
    }
    return fcgi->failed ? TG_CLASS_GONE : TG_OK;
}

enum tg_class tg_fcgi_flush(struct tg_fcgi *fcgi)
{
    if (fcgi->failed)
        return TG_CLASS_GONE;
    return writer_state(fcgi, FCGX_FFlush(fcgi->request.out));
}

int tg_fcgi_descriptor(const struct tg_fcgi *fcgi)
{
    return fcgi->request.ipcFd;
}

/* What a readable connection means once the body was read: its end, or an abort record. */
static bool aborted(struct tg_fcgi *fcgi)
{
    unsigned char header[2];
    ssize_t got = recv(fcgi->request.ipcFd, header, sizeof header, MSG_PEEK | MSG_DONTWAIT);

    if (got < 0)
        return errno != EAGAIN && errno != EINTR;
    if (got == (ssize_t)sizeof header && header[1] == RECORD_ABORT)
        return true;
    if (got == 0 && fcgi->on_tcp)
        return true;
    fcgi->half_closed = true; /* stays readable: waiting for it would spin */
    return false;
}

bool tg_fcgi_is_gone(struct tg_fcgi *fcgi)
{
    struct pollfd look = {.fd = fcgi->request.ipcFd, .events = POLLIN | POLLRDHUP};

    if (fcgi->failed)
        return true;
    if (poll(&look, 1, 0) <= 0)
        return false;
    if ((look.revents & (POLLHUP | POLLERR | POLLNVAL)) != 0)
        return true;
    return aborted(fcgi);
}

short tg_fcgi_poll_events(const struct tg_fcgi *fcgi)
{
    return fcgi->half_closed ? 0 : POLLIN | POLLRDHUP;
}

void tg_fcgi_end(struct tg_fcgi *fcgi)
{
    (void)FCGX_FClose(fcgi->request.err);
    if (FCGX_FClose(fcgi->request.out) != 0)
        fcgi->failed = true;
}

/* Waits, bounded in all, until the peer has closed: bytes it still sends would make the kernel
 * reset the connection, and the reset could overtake the answer. A peer whose request was read to
 * its end sends nothing more: no wait, and one wake-up of this thread less. */
static void wait_for_peer(int fd)
{
    int64_t until_us = tg_now_us() + CLOSE_WAIT_US;
    char trash[4096];

    if (shutdown(fd, SHUT_WR) != 0)
        return;
    for (;;) {
        struct pollfd look = {.fd = fd, .events = POLLIN};
        int64_t left_us = until_us - tg_now_us();

        if (left_us <= 0 || poll(&look, 1, (int)(left_us / 1000) + 1) <= 0 ||
            recv(fd, trash, sizeof trash, MSG_DONTWAIT) <= 0)
            return;
    }
}

/* May the connection serve another request? Only with nothing of this one left in it. */
static bool can_be_kept(struct tg_fcgi *fcgi)
{
    FCGX_Request *request = &fcgi->request;

    if (!request->keepConnection || fcgi->failed || FCGX_GetError(request->in) != 0)
        return false;
    set_timeout(request->ipcFd, SO_RCVTIMEO, REST_WAIT_US);
    return FCGX_GetChar(request->in) == EOF && FCGX_GetError(request->in) == 0;
}

void tg_fcgi_finish(struct tg_fcgi *fcgi)
{
    FCGX_Request *request = &fcgi->request;

    tg_assert(fcgi->open);
    fcgi->open = false;
    tg_fcgi_end(fcgi);
    if (can_be_kept(fcgi)) {
        FCGX_Finish_r(request);
        return;
    }
    if (!fcgi->read_whole)
        wait_for_peer(request->ipcFd);
    drop(fcgi);
}
