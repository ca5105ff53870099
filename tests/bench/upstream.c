/* upstream - the fastest provider there is: one fixed chat completion, for measurements
 *
 * Answers every POST with the same completion and usage; with the same stream of events when the
 * body says "stream":true. One thread, epoll, kept connections, no allocation per request.
 *
 *     upstream PORT [EVENTS [GAP_MS]]     prints "upstream: ready" when it accepts
 *
 * GAP_MS spaces the events of a stream. Not here: any check of the request (tests/simulator).
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { IN_CAP = 65536, CONN_MAX = 65536, BATCH = 256, EVENTS_MAX = 1000000 };

static const char completion[] =
    "{\"id\":\"chatcmpl-bench\",\"object\":\"chat.completion\",\"created\":1700000000,"
    "\"model\":\"bench\",\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\","
    "\"content\":\"Hello from the bench.\"},\"logprobs\":null,\"finish_reason\":\"stop\"}],"
    "\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":5,\"total_tokens\":14}}";

static const char stream_head[] = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
                                  "Transfer-Encoding: chunked\r\n\r\n";
/* Each event says when it was sent, for streams.c: microseconds of the monotonic clock. */
static const char delta_format[] =
    "data: {\"id\":\"chatcmpl-bench\",\"object\":\"chat.completion.chunk\",\"created\":1700000000,"
    "\"model\":\"bench\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\" %016llu\"},"
    "\"finish_reason\":null}]}\n\n";
static const char usage_event[] =
    "data: {\"id\":\"chatcmpl-bench\",\"object\":\"chat.completion.chunk\",\"created\":1700000000,"
    "\"model\":\"bench\",\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":5,"
    "\"total_tokens\":14}}\n\ndata: [DONE]\n\n";

struct conn {
    int fd;
    size_t len;           /* bytes in `in` */
    long events_left;     /* of the running stream; 0: none runs */
    uint64_t due_ms;      /* when its next event goes out */
    char in[IN_CAP];
};

static struct conn *conns[CONN_MAX];
static long stream_events = 20;
static long gap_ms;
static char answer[sizeof completion + 256];
static size_t answer_len;
static volatile sig_atomic_t stopping;

static void on_stop(int signal_number)
{
    (void)signal_number;
    stopping = 1;
}

static uint64_t now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000u;
}

static uint64_t now_ms(void)
{
    return now_us() / 1000u;
}

static void conn_close(struct conn *conn)
{
    conns[conn->fd] = NULL;
    close(conn->fd);
    free(conn);
}

/* A peer that does not read is not waited for: answers are far smaller than a socket's buffer. */
static bool send_all(struct conn *conn, const char *data, size_t len)
{
    ssize_t sent = send(conn->fd, data, len, MSG_NOSIGNAL);
    return sent == (ssize_t)len;
}

static bool send_chunk(struct conn *conn, const char *data, size_t len)
{
    char frame[1024];
    int head = snprintf(frame, sizeof frame, "%zx\r\n", len);
    if (head < 0 || (size_t)head + len + 2 > sizeof frame)
        return false;
    memcpy(frame + head, data, len);
    frame[(size_t)head + len] = '\r';
    frame[(size_t)head + len + 1] = '\n';
    return send_all(conn, frame, (size_t)head + len + 2);
}

static bool send_delta(struct conn *conn)
{
    char event[sizeof delta_format + 32];
    int len = snprintf(event, sizeof event, delta_format, (unsigned long long)now_us());
    return send_chunk(conn, event, (size_t)len);
}

static bool stream_step(struct conn *conn)
{
    while (conn->events_left > 0 && conn->due_ms <= now_ms()) {
        conn->events_left--;
        conn->due_ms += (uint64_t)gap_ms;
        if (!send_delta(conn))
            return false;
        if (conn->events_left == 0)
            return send_chunk(conn, usage_event, sizeof usage_event - 1) &&
                   send_all(conn, "0\r\n\r\n", 5);
    }
    return true;
}

static bool stream_start(struct conn *conn)
{
    conn->events_left = stream_events;
    conn->due_ms = now_ms();
    return send_all(conn, stream_head, sizeof stream_head - 1) && stream_step(conn);
}

/* The length of the first whole request in `in`, 0 when there is none yet. */
static size_t request_len(const struct conn *conn, const char **ret_body)
{
    const char *end = memmem(conn->in, conn->len, "\r\n\r\n", 4);
    if (!end)
        return 0;
    size_t head = (size_t)(end - conn->in) + 4;
    size_t body = 0;
    const char *field = strcasestr(conn->in, "content-length:");
    if (field && field < end)
        body = strtoul(field + 15, NULL, 10);
    *ret_body = conn->in + head;
    return head + body <= conn->len ? head + body : 0;
}

static bool conn_serve(struct conn *conn)
{
    const char *body = NULL;
    size_t len;
    while ((len = request_len(conn, &body)) > 0) {
        size_t body_len = len - (size_t)(body - conn->in);
        bool wants_stream = memmem(body, body_len, "\"stream\":true", 13) ||
                            memmem(body, body_len, "\"stream\": true", 14);
        bool ok = wants_stream ? stream_start(conn) : send_all(conn, answer, answer_len);
        if (!ok)
            return false;
        memmove(conn->in, conn->in + len, conn->len - len);
        conn->len -= len;
        conn->in[conn->len] = '\0';
    }
    return true;
}

static bool conn_read(struct conn *conn)
{
    ssize_t got = recv(conn->fd, conn->in + conn->len, IN_CAP - 1 - conn->len, 0);
    if (got < 0)
        return errno == EAGAIN || errno == EINTR;
    if (got == 0)
        return false;
    conn->len += (size_t)got;
    conn->in[conn->len] = '\0';
    return conn->len < IN_CAP - 1 && conn_serve(conn);
}

static void accept_all(int epoll, int listener)
{
    for (;;) {
        int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0)
            return;
        struct conn *conn = fd < CONN_MAX ? calloc(1, sizeof *conn) : NULL;
        if (!conn) {
            close(fd);
            continue;
        }
        int one = 1;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        conn->fd = fd;
        conns[fd] = conn;
        struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
        epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
    }
}

static void streams_step(void)
{
    for (int fd = 0; fd < CONN_MAX; fd++) {
        if (conns[fd] && conns[fd]->events_left > 0 && !stream_step(conns[fd]))
            conn_close(conns[fd]);
    }
}

static int listen_on(uint16_t port)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int one = 1;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) ||
        bind(fd, (struct sockaddr *)&address, sizeof address) || listen(fd, 4096)) {
        perror("upstream: listen");
        exit(1);
    }
    return fd;
}

static void serve(int epoll, int listener)
{
    struct epoll_event events[BATCH];
    uint64_t next_step = 0;
    while (!stopping) {
        int count = epoll_wait(epoll, events, BATCH, gap_ms > 0 ? 5 : 1000);
        for (int i = 0; i < count; i++) {
            int fd = events[i].data.fd;
            if (fd == listener)
                accept_all(epoll, listener);
            else if (conns[fd] && !conn_read(conns[fd]))
                conn_close(conns[fd]);
        }
        if (gap_ms > 0 && now_ms() >= next_step) {
            streams_step();
            next_step = now_ms() + 5;
        }
    }
}

int main(int argc, char **argv)
{
    long port = argc > 1 ? strtol(argv[1], NULL, 10) : 0;
    if (argc > 2)
        stream_events = strtol(argv[2], NULL, 10);
    if (argc > 3)
        gap_ms = strtol(argv[3], NULL, 10);
    if (port < 1 || port > 65535 || stream_events < 1 || stream_events > EVENTS_MAX || gap_ms < 0) {
        fputs("usage: upstream PORT [EVENTS [GAP_MS]]\n", stderr);
        return 2;
    }
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    answer_len = (size_t)snprintf(answer, sizeof answer,
                                  "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                                  "Content-Length: %zu\r\n\r\n%s",
                                  sizeof completion - 1, completion);
    signal(SIGTERM, on_stop);
    signal(SIGINT, on_stop);
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    int listener = listen_on((uint16_t)port);
    struct epoll_event event = {.events = EPOLLIN, .data.fd = listener};
    epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &event);
    puts("upstream: ready");
    fflush(stdout);
    serve(epoll, listener);
    return 0;
}
