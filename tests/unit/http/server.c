#include "tests/unit/http/server.h"

#include "common/base/memory.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static void count(struct test_server *server, int *what)
{
    pthread_mutex_lock(&server->lock);
    ++*what;
    pthread_cond_broadcast(&server->changed);
    pthread_mutex_unlock(&server->lock);
}

static bool set_fd(struct test_server *server, int fd)
{
    bool stopping;

    pthread_mutex_lock(&server->lock);
    server->fd = fd;
    stopping = server->stopping;
    pthread_mutex_unlock(&server->lock);
    return !stopping;
}

static void *serve(void *context)
{
    struct test_server *server = context;
    int fd;

    while ((fd = accept(server->listen_fd, NULL, NULL)) >= 0) {
        count(server, &server->connections);
        if (set_fd(server, fd))
            server->script(server, fd, server->connections - 1);
        set_fd(server, -1);
        close(fd);
        count(server, &server->ended);
    }
    return NULL;
}

void test_server_start(struct test_server *server, test_script *script)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof at;
    void *context = server->context;

    memset(server, 0, sizeof *server);
    server->context = context;
    server->script = script;
    server->fd = -1;
    pthread_mutex_init(&server->lock, NULL);
    pthread_cond_init(&server->changed, NULL);
    tg_buf_init(&server->head, 0);
    tg_buf_init(&server->body, 0);
    server->listen_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    tg_assert(bind(server->listen_fd, (struct sockaddr *)&at, sizeof at) == 0);
    tg_assert(listen(server->listen_fd, 16) == 0);
    tg_assert(getsockname(server->listen_fd, (struct sockaddr *)&at, &len) == 0);
    server->port = ntohs(at.sin_port);
    tg_assert(pthread_create(&server->thread, NULL, serve, server) == 0);
}

void test_server_stop(struct test_server *server)
{
    pthread_mutex_lock(&server->lock);
    server->stopping = true;
    if (server->fd >= 0)
        shutdown(server->fd, SHUT_RDWR);
    pthread_mutex_unlock(&server->lock);
    shutdown(server->listen_fd, SHUT_RDWR);
    pthread_join(server->thread, NULL);
    close(server->listen_fd);
    tg_buf_done(&server->head);
    tg_buf_done(&server->body);
    pthread_cond_destroy(&server->changed);
    pthread_mutex_destroy(&server->lock);
}

const char *test_server_url(const struct test_server *server, const char *path)
{
    static _Thread_local char url[256];

    snprintf(url, sizeof url, "http://127.0.0.1:%d%s", server->port, path);
    return url;
}

static bool read_more(int fd, struct tg_buf *buf, size_t most)
{
    char bytes[65536];
    ssize_t got = read(fd, bytes, TG_MIN(sizeof bytes, most));

    if (got <= 0)
        return false;
    tg_buf_add(buf, bytes, (size_t)got);
    return true;
}

static size_t content_length(const char *head)
{
    const char *at = strcasestr(head, "\r\ncontent-length:");

    return at == NULL ? 0 : strtoul(at + 17, NULL, 10);
}

static bool read_whole(int fd, struct tg_buf *head, struct tg_buf *body)
{
    size_t length;

    /* byte by byte, so that nothing of the body is taken */
    while (strstr(tg_buf_text(head), "\r\n\r\n") == NULL)
        if (!read_more(fd, head, 1))
            return false;
    length = content_length(tg_buf_text(head));
    while (body->len < length)
        if (!read_more(fd, body, length - body->len))
            return false;
    return true;
}

bool test_read_request(struct test_server *server, int fd)
{
    struct tg_buf head, body;
    bool whole;

    tg_buf_init(&head, 0);
    tg_buf_init(&body, 0);
    whole = read_whole(fd, &head, &body);
    if (whole) {
        struct tg_buf old_head = server->head, old_body = server->body;

        pthread_mutex_lock(&server->lock);
        server->head = head;
        server->body = body;
        pthread_mutex_unlock(&server->lock);
        head = old_head;
        body = old_body;
    }
    tg_buf_done(&head);
    tg_buf_done(&body);
    count(server, whole ? &server->requests : &server->closed);
    return whole;
}

void test_send(int fd, const void *bytes, size_t len)
{
    const char *at = bytes;

    while (len > 0) {
        ssize_t done = send(fd, at, len, MSG_NOSIGNAL);

        if (done <= 0)
            return;
        at += done;
        len -= (size_t)done;
    }
}

void test_send_text(int fd, const char *text)
{
    test_send(fd, text, strlen(text));
}

void test_send_answer(int fd, int status, const char *headers, const char *body)
{
    struct tg_buf answer;

    tg_buf_init(&answer, 0);
    tg_buf_printf(&answer, "HTTP/1.1 %d X\r\nContent-Length: %zu\r\n%s\r\n%s", status,
                  strlen(body), headers, body);
    test_send(fd, answer.data, answer.len);
    tg_buf_done(&answer);
}

void test_wait_closed(struct test_server *server, int fd)
{
    char byte;

    while (read(fd, &byte, 1) > 0)
        ;
    count(server, &server->closed);
}

void test_reset(int fd)
{
    struct linger now = {.l_onoff = 1, .l_linger = 0};

    setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
}

void test_wait_count(struct test_server *server, const int *what, int least)
{
    pthread_mutex_lock(&server->lock);
    while (*what < least)
        pthread_cond_wait(&server->changed, &server->lock);
    pthread_mutex_unlock(&server->lock);
}

int test_count(struct test_server *server, const int *what)
{
    int value;

    pthread_mutex_lock(&server->lock);
    value = *what;
    pthread_mutex_unlock(&server->lock);
    return value;
}
