#include "tests/unit/lib/peer.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { BEGIN = 1, ABORT = 2, END = 3, PARAMS = 4, STDIN = 5, STDOUT = 6, HEADER = 8, MOST = 65535 };

static void check(bool good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "peer: %s: %s\n", what, strerror(errno));
    abort();
}

static void open_unix(struct test_door *door)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    char folder[] = "/tmp/tollgate-peer-XXXXXX";

    check(mkdtemp(folder) != NULL, "mkdtemp");
    snprintf(door->path, sizeof door->path, "%s/s", folder);
    memcpy(name.sun_path, door->path, sizeof name.sun_path);
    door->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    check(bind(door->fd, (struct sockaddr *)&name, sizeof name) == 0, "bind");
}

static void open_tcp(struct test_door *door)
{
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof name;

    door->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    check(bind(door->fd, (struct sockaddr *)&name, sizeof name) == 0, "bind");
    check(getsockname(door->fd, (struct sockaddr *)&name, &len) == 0, "getsockname");
    door->port = ntohs(name.sin_port);
}

void test_door_open(struct test_door *door, bool on_tcp)
{
    *door = (struct test_door){.on_tcp = on_tcp};
    if (on_tcp)
        open_tcp(door);
    else
        open_unix(door);
    check(listen(door->fd, 128) == 0, "listen");
}

void test_door_close(struct test_door *door)
{
    close(door->fd);
    if (door->path[0] == '\0')
        return;
    (void)unlink(door->path);
    *strrchr(door->path, '/') = '\0';
    (void)rmdir(door->path);
}

int test_peer_connect(const struct test_door *door)
{
    struct sockaddr_un local = {.sun_family = AF_UNIX};
    struct sockaddr_in inet = {.sin_family = AF_INET,
                               .sin_port = htons((uint16_t)door->port),
                               .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(door->on_tcp ? AF_INET : AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    check(fd >= 0, "socket");
    memcpy(local.sun_path, door->path, sizeof local.sun_path);
    if (door->on_tcp)
        check(connect(fd, (struct sockaddr *)&inet, sizeof inet) == 0, "connect");
    else
        check(connect(fd, (struct sockaddr *)&local, sizeof local) == 0, "connect");
    return fd;
}

void test_peer_raw(int fd, const void *bytes, size_t len)
{
    const char *at = bytes;

    while (len > 0) {
        ssize_t put = send(fd, at, len, MSG_NOSIGNAL);

        if (put < 0 && (errno == EPIPE || errno == ECONNRESET))
            return; /* refused by the headers alone */
        check(put > 0, "send");
        at += put;
        len -= (size_t)put;
    }
}

static void put_record(int fd, int type, const void *bytes, size_t len)
{
    unsigned char record[HEADER + MOST] = {1, (unsigned char)type, 0, 1};

    record[4] = (unsigned char)(len >> 8);
    record[5] = (unsigned char)len;
    if (len > 0)
        memcpy(record + HEADER, bytes, len);
    test_peer_raw(fd, record, HEADER + len);
}

void test_peer_begin(int fd, int flags)
{
    const unsigned char body[8] = {0, 1, (unsigned char)flags};

    put_record(fd, BEGIN, body, sizeof body);
}

static void put_length(struct tg_buf *out, size_t len)
{
    if (len >= 128) {
        tg_buf_char(out, (char)(0x80 | (len >> 24)));
        tg_buf_char(out, (char)(len >> 16));
        tg_buf_char(out, (char)(len >> 8));
    }
    tg_buf_char(out, (char)len);
}

void test_peer_params(int fd, const char *name, ...)
{
    struct tg_buf pairs;
    va_list args;

    tg_buf_init(&pairs, 0);
    va_start(args, name);
    while (name != NULL) {
        const char *value = va_arg(args, const char *);

        put_length(&pairs, strlen(name));
        put_length(&pairs, strlen(value));
        tg_buf_str(&pairs, name);
        tg_buf_str(&pairs, value);
        name = va_arg(args, const char *);
    }
    va_end(args);
    for (size_t at = 0; at < pairs.len; at += MOST)
        put_record(fd, PARAMS, pairs.data + at, TG_MIN(pairs.len - at, (size_t)MOST));
    tg_buf_done(&pairs);
}

void test_peer_params_end(int fd)
{
    put_record(fd, PARAMS, NULL, 0);
}

void test_peer_body(int fd, const void *bytes, size_t len)
{
    const char *all = bytes;

    for (size_t at = 0; at < len; at += MOST)
        put_record(fd, STDIN, all + at, TG_MIN(len - at, (size_t)MOST));
}

void test_peer_body_end(int fd)
{
    put_record(fd, STDIN, NULL, 0);
}

void test_peer_abort(int fd)
{
    put_record(fd, ABORT, NULL, 0);
}

void test_peer_get(int fd, const char *uri)
{
    test_peer_begin(fd, 0);
    test_peer_params(fd, "REQUEST_METHOD", "GET", "REQUEST_URI", uri, "REMOTE_ADDR", "127.0.0.1",
                     NULL);
    test_peer_params_end(fd);
    test_peer_body_end(fd);
}

static bool read_whole(int fd, unsigned char *bytes, size_t len)
{
    while (len > 0) {
        ssize_t got = recv(fd, bytes, len, 0);

        if (got <= 0)
            return false;
        bytes += got;
        len -= (size_t)got;
    }
    return true;
}

bool test_peer_answer(int fd, struct tg_buf *out)
{
    unsigned char header[HEADER], content[MOST + 255];

    for (;;) {
        size_t len;

        if (!read_whole(fd, header, HEADER))
            return false;
        len = (size_t)header[4] * 256 + header[5];
        if (!read_whole(fd, content, len + header[6]))
            return false;
        if (header[1] == STDOUT)
            tg_buf_add(out, content, len);
        if (header[1] == END)
            return true;
    }
}

bool test_peer_is_closed(int fd)
{
    char byte;

    return recv(fd, &byte, 1, 0) <= 0;
}
