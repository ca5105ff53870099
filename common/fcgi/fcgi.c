#include "common/fcgi/fcgi.h"

#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/fcgi/input.h"
#include "common/fcgi/memory_file.h"

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
    PARAMS_WAIT_US = 10000000,     /* until the parameters are whole */
    BODY_WAIT_US = 10000000,       /* for a body without a deadline of its own */
    CLOSE_WAIT_US = 2000000,       /* for the peer to close, in all */
    REST_WAIT_US = 100000,         /* for the end of a body nobody read, on a kept connection */
    REST_BYTES_MOST = 64 * 1024,
    HEADER_NAME_MOST = 128,
    RECORD_MOST = 65528
};

struct tg_fcgi {
    FCGX_Request request;
    int listen_fd;
    struct tg_fcgi_input input; /* its connection is the request's ipcFd when one is open */
    bool open;        /* between accept and finish */
    bool on_tcp;      /* a FIN cannot be told from a close there */
    bool half_closed; /* seen once and taken out of the poll set */
    bool read_whole;  /* nothing more of this request comes */
    bool aborted;     /* by the web server */
    bool failed;      /* writer: sticky, libfcgi reports a broken pipe once only */
    int64_t read_deadline_at_us;
    struct tg_span piece; /* of the body, not given to the reader yet */
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

struct tg_fcgi *tg_fcgi_new(int listen_fd, int stop_fd)
{
    struct tg_fcgi *fcgi = tg_calloc(1, sizeof *fcgi);
    int flags = fcntl(listen_fd, F_GETFL);

    tg_assert(flags >= 0);
    tg_assert(fcntl(listen_fd, F_SETFL, flags | O_NONBLOCK) == 0);
    /* The library gets no listening descriptor and no connection to read from: it parses what was
     * checked here (hand_over), and writes. */
    FCGX_InitRequest(&fcgi->request, -1, 0);
    tg_fcgi_input_init(&fcgi->input, stop_fd);
    fcgi->listen_fd = listen_fd;
    return fcgi;
}

/* Closes without waiting for the peer. */
static void drop(struct tg_fcgi *fcgi)
{
    FCGX_Free(&fcgi->request, 0);
    fcgi->request.ipcFd = -1;
    fcgi->piece.len = 0;
    tg_fcgi_input_close(&fcgi->input);
}

void tg_fcgi_free(struct tg_fcgi *fcgi)
{
    if (fcgi == NULL)
        return;
    drop(fcgi);
    free(fcgi);
}

/* --- a connection, a request --------------------------------------------------------------- */

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

enum tg_fcgi_accepted tg_fcgi_take(struct tg_fcgi *fcgi)
{
    tg_assert(!fcgi->open && fcgi->input.fd < 0);
    fcgi->input.fd = accept_connection(fcgi);
    if (fcgi->input.fd < 0)
        return errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM
                   ? TG_FCGI_NO_DESCRIPTORS
                   : TG_FCGI_NOTHING;
    return TG_FCGI_REQUEST;
}

/* The request's records as the library shall see them: one BEGIN, the parameters within the
 * limits, their end. */
static void write_records(const struct tg_fcgi_records *records, struct tg_buf *out)
{
    const char begin[8] = {0, 1, records->keep ? 1 : 0};

    tg_fcgi_record_head(out, TG_FCGI_TYPE_BEGIN, records->id, sizeof begin);
    tg_buf_add(out, begin, sizeof begin);
    for (size_t at = 0; at < records->params.len; at += RECORD_MOST) {
        size_t len = TG_MIN(records->params.len - at, (size_t)RECORD_MOST);

        tg_fcgi_record_head(out, TG_FCGI_TYPE_PARAMS, records->id, len);
        tg_buf_add(out, records->params.data + at, len);
    }
    tg_fcgi_record_head(out, TG_FCGI_TYPE_PARAMS, records->id, 0);
}

/* The library reads the parameters out of memory, and writes to the connection afterwards. */
static bool hand_over(struct tg_fcgi *fcgi)
{
    FCGX_Request *request = &fcgi->request;
    struct tg_buf bytes;
    int memory_fd;

    tg_buf_init(&bytes, 0);
    write_records(&fcgi->input.records, &bytes);
    memory_fd = tg_memory_file_take(&bytes);
    tg_buf_done(&bytes);
    tg_buf_done(&fcgi->input.records.params);
    if (memory_fd < 0)
        return false;
    request->ipcFd = memory_fd;
    request->keepConnection = 1; /* or the library would close it before reading */
    if (FCGX_Accept_r(request) != 0)
        return false; /* and has closed the memory */
    tg_memory_file_give(memory_fd);
    FCGX_FreeStream(&request->in); /* 8 KiB that nobody reads from */
    request->ipcFd = fcgi->input.fd;
    return true;
}

/* The parameters, without an aborted request before them. */
static bool read_params(struct tg_fcgi *fcgi)
{
    int64_t deadline_at_us = tg_now_us() + PARAMS_WAIT_US;
    enum tg_fcgi_event event;

    while (tg_fcgi_input_await(&fcgi->input, deadline_at_us, &event, &fcgi->piece) ==
           TG_FCGI_CAME) {
        bool keep = fcgi->input.records.keep;

        if (event != TG_FCGI_ABORTED)
            return event == TG_FCGI_PARAMS;
        tg_fcgi_record_end(&fcgi->input.records.reply, fcgi->input.records.id, 0);
        tg_fcgi_input_reply(&fcgi->input);
        tg_fcgi_records_next(&fcgi->input.records);
        if (!keep)
            return false;
    }
    return false;
}

enum tg_fcgi_accepted tg_fcgi_accept(struct tg_fcgi *fcgi, int64_t send_timeout_us)
{
    const struct timeval limit = {.tv_sec = send_timeout_us / 1000000,
                                  .tv_usec = send_timeout_us % 1000000};
    enum tg_fcgi_accepted taken = fcgi->input.fd < 0 ? tg_fcgi_take(fcgi) : TG_FCGI_REQUEST;

    tg_assert(!fcgi->open);
    if (taken != TG_FCGI_REQUEST)
        return taken;
    (void)setsockopt(fcgi->input.fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    fcgi->half_closed = fcgi->failed = fcgi->read_whole = fcgi->aborted = false;
    fcgi->read_deadline_at_us = 0;
    if (!read_params(fcgi) || !hand_over(fcgi)) {
        drop(fcgi);
        return TG_FCGI_NOTHING;
    }
    fcgi->open = true;
    return TG_FCGI_REQUEST;
}

enum tg_fcgi_flaw tg_fcgi_params_flaw(const struct tg_fcgi *fcgi)
{
    return fcgi->input.records.flaw;
}

const char *tg_fcgi_param(const struct tg_fcgi *fcgi, const char *name)
{
    return FCGX_GetParam(name, fcgi->request.envp);
}

/* The entry of <name> after <at>, NULL for none; <at> NULL: the first one. */
static char **find_entry(const struct tg_fcgi *fcgi, char **at, const char *name)
{
    size_t len = strlen(name);

    for (at = at == NULL ? fcgi->request.envp : at + 1; *at != NULL; at++)
        if (strncmp(*at, name, len) == 0 && (*at)[len] == '=')
            return at;
    return NULL;
}

/* A header that was sent twice is one list (RFC 3875 4.1.18). Most web servers join it; nginx hands
 * on two variables, and which of them counted would be chance. */
static const char *joined(const struct tg_fcgi *fcgi, const char *variable)
{
    char **first = find_entry(fcgi, NULL, variable), **next = first;

    while (next != NULL && (next = find_entry(fcgi, next, variable)) != NULL) {
        const char *more = strchr(*next, '=') + 1;
        size_t len = strlen(*first), room = len + strlen(more) + 3;
        char *both = tg_malloc(room); /* the library's array: its free() takes it */

        snprintf(both, room, "%s, %s", *first, more);
        free(*first);
        *first = both;
        **next = '\0'; /* joined; nobody finds it again */
    }
    return first != NULL ? strchr(*first, '=') + 1 : NULL;
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
    return joined(fcgi, variable);
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

static void end_body(struct tg_fcgi *fcgi)
{
    fcgi->read_whole = true;
    tg_fcgi_input_rest(&fcgi->input); /* a stream of an hour does without */
}

static enum tg_class read_failed(enum tg_fcgi_awaited awaited, struct tg_error *err)
{
    if (awaited == TG_FCGI_LATE)
        return tg_fail(err, TG_CLASS_TIMEOUT, "body_timeout", "the body did not arrive in time");
    if (awaited == TG_FCGI_STOPPED)
        return tg_fail(err, TG_CLASS_OVERLOAD, "shutting_down", "The gateway is shutting down.");
    return tg_fail(err, TG_CLASS_GONE, "client_gone", "the connection broke inside the body");
}

/* The next piece of the body; none: its end. */
static enum tg_class next_piece(struct tg_fcgi *fcgi, struct tg_error *err)
{
    int64_t deadline_at_us = fcgi->read_deadline_at_us != 0 ? fcgi->read_deadline_at_us
                                                            : tg_now_us() + BODY_WAIT_US;
    enum tg_fcgi_event event;
    enum tg_fcgi_awaited awaited =
        tg_fcgi_input_await(&fcgi->input, deadline_at_us, &event, &fcgi->piece);

    if (awaited != TG_FCGI_CAME)
        return read_failed(awaited, err);
    if (event == TG_FCGI_BODY)
        return TG_OK;
    if (event == TG_FCGI_ABORTED)
        fcgi->aborted = true;
    end_body(fcgi);
    return event == TG_FCGI_END ? TG_OK : read_failed(TG_FCGI_LOST, err);
}

enum tg_class tg_fcgi_read(struct tg_fcgi *fcgi, void *bytes, size_t room, size_t *ret_len,
                           struct tg_error *err)
{
    enum tg_class class = TG_OK;
    size_t len;

    tg_assert(room > 0);
    if (fcgi->piece.len == 0 && !fcgi->read_whole)
        class = next_piece(fcgi, err);
    if (class != TG_OK)
        return class;
    len = TG_MIN(room, fcgi->piece.len);
    if (len > 0)
        memcpy(bytes, fcgi->piece.ptr, len);
    fcgi->piece.ptr += len;
    fcgi->piece.len -= len;
    *ret_len = len;
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

void tg_fcgi_let_go(struct tg_fcgi *fcgi)
{
    tg_assert(!fcgi->open);
    drop(fcgi);
}

int tg_fcgi_descriptor(const struct tg_fcgi *fcgi)
{
    return fcgi->input.fd;
}

bool tg_fcgi_has_input(const struct tg_fcgi *fcgi)
{
    return tg_fcgi_input_has(&fcgi->input);
}

/* Something came although the body is whole: an end, an abort, or records of nobody. */
static bool look_at_input(struct tg_fcgi *fcgi)
{
    enum tg_fcgi_event event;
    enum tg_fcgi_awaited awaited = tg_fcgi_input_await(&fcgi->input, 0, &event, &fcgi->piece);

    if (awaited == TG_FCGI_CLOSED && !fcgi->on_tcp)
        fcgi->half_closed = true; /* stays readable: waiting for it would spin */
    if (awaited == TG_FCGI_CAME && event == TG_FCGI_ABORTED)
        fcgi->aborted = true;
    tg_fcgi_input_rest(&fcgi->input);
    return fcgi->aborted || awaited == TG_FCGI_LOST ||
           (awaited == TG_FCGI_CLOSED && fcgi->on_tcp);
}

bool tg_fcgi_is_gone(struct tg_fcgi *fcgi)
{
    struct pollfd look = {.fd = fcgi->input.fd, .events = POLLIN | POLLRDHUP};
    bool ready;

    if (fcgi->failed || fcgi->aborted || fcgi->input.broken)
        return true;
    ready = poll(&look, 1, 0) > 0;
    if (ready && (look.revents & (POLLHUP | POLLERR | POLLNVAL)) != 0)
        return true;
    if (!fcgi->read_whole || fcgi->half_closed)
        return false;
    return (ready || tg_fcgi_has_input(fcgi)) && look_at_input(fcgi);
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

/* What is left of a body that nobody read, if that is little and has come. A kept connection is
 * worth a short wait. */
static void skip_rest(struct tg_fcgi *fcgi)
{
    int64_t wait_us = fcgi->input.records.keep ? REST_WAIT_US : 0;
    char trash[4096];
    size_t len, sum = 0;

    fcgi->read_deadline_at_us = tg_now_us() + wait_us;
    while (!fcgi->read_whole && sum <= REST_BYTES_MOST) {
        if (tg_fcgi_read(fcgi, trash, sizeof trash, &len, NULL) != TG_OK)
            break;
        sum += len;
    }
}

/* May the connection serve another request? Only with nothing of this one left in it. */
static bool can_be_kept(struct tg_fcgi *fcgi)
{
    return fcgi->input.records.keep && fcgi->read_whole && !fcgi->failed && !fcgi->half_closed &&
           !fcgi->input.broken;
}

void tg_fcgi_finish(struct tg_fcgi *fcgi)
{
    tg_assert(fcgi->open);
    fcgi->open = false;
    tg_fcgi_end(fcgi);
    skip_rest(fcgi);
    if (can_be_kept(fcgi)) {
        FCGX_Free(&fcgi->request, 0);
        fcgi->request.ipcFd = -1;
        tg_fcgi_records_next(&fcgi->input.records);
        return;
    }
    if (!fcgi->read_whole)
        wait_for_peer(fcgi->input.fd);
    drop(fcgi);
}
