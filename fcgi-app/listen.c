#include "fcgi-app/listen.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { BACKLOG = 4096 };

static bool is_listening(int fd)
{
    int on = 0;
    socklen_t len = sizeof on;

    return getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &on, &len) == 0 && on != 0;
}

static enum tg_class fail_errno(struct tg_error *err, const char *what, const char *address)
{
    return tg_fail(err, TG_CLASS_CONFIG, "listen_failed", "%s %s: %s", what, address,
                   strerror(errno));
}

/* True when a connection to <name> is taken by somebody. */
static bool somebody_listens(const struct sockaddr_un *name)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool taken;

    if (fd < 0)
        return true;
    /* EAGAIN: its backlog is full, so it lives. */
    taken = connect(fd, (const struct sockaddr *)name, sizeof *name) == 0 || errno == EAGAIN;
    close(fd);
    return taken;
}

static enum tg_class listen_unix(const char *path, mode_t mode, struct tg_listener *ret,
                                 struct tg_error *err)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    struct stat there;
    mode_t old_mask;
    int bound;

    if (strlen(path) >= sizeof name.sun_path || path[0] != '/')
        return tg_fail(err, TG_CLASS_CONFIG, "listen_address",
                       "listen.address: a socket path is absolute and at most %zu bytes long",
                       sizeof name.sun_path - 1);
    memcpy(name.sun_path, path, strlen(path) + 1);
    if (lstat(path, &there) == 0) {
        if (!S_ISSOCK(there.st_mode))
            return tg_fail(err, TG_CLASS_CONFIG, "listen_taken", "%s exists and is no socket",
                           path);
        if (somebody_listens(&name))
            return tg_fail(err, TG_CLASS_CONFIG, "listen_taken", "another program listens on %s",
                           path);
        if (unlink(path) != 0)
            return fail_errno(err, "cannot replace", path);
    }
    ret->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (ret->fd < 0)
        return fail_errno(err, "socket for", path);
    old_mask = umask(0777 & ~mode); /* nobody else may connect before chmod either */
    bound = bind(ret->fd, (const struct sockaddr *)&name, sizeof name);
    umask(old_mask);
    if (bound != 0 || chmod(path, mode) != 0 || listen(ret->fd, BACKLOG) != 0) {
        enum tg_class class = fail_errno(err, "cannot listen on", path);

        close(ret->fd);
        return class;
    }
    snprintf(ret->socket_path, sizeof ret->socket_path, "%s", path);
    return TG_OK;
}

/* "HOST:PORT" or "[V6]:PORT". */
static bool split_host(const char *text, char *host, size_t room, const char **ret_port)
{
    const char *colon = strrchr(text, ':');
    size_t len;

    if (colon == NULL || colon[1] == '\0')
        return false;
    len = (size_t)(colon - text);
    if (len >= 2 && text[0] == '[' && text[len - 1] == ']') {
        text++;
        len -= 2;
    }
    if (len >= room)
        return false;
    memcpy(host, text, len);
    host[len] = '\0';
    *ret_port = colon + 1;
    return true;
}

static enum tg_class listen_tcp(const char *text, struct tg_listener *ret, struct tg_error *err)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE}, *found;
    char host[256];
    const char *port;
    int one = 1, answer;
    enum tg_class class = TG_OK;

    if (!split_host(text, host, sizeof host, &port))
        return tg_fail(err, TG_CLASS_CONFIG, "listen_address",
                       "listen.address: expected tcp:HOST:PORT, not tcp:%s", text);
    answer = getaddrinfo(host[0] != '\0' ? host : NULL, port, &hints, &found);
    if (answer != 0)
        return tg_fail(err, TG_CLASS_CONFIG, "listen_address", "listen.address %s: %s", text,
                       gai_strerror(answer));
    ret->fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (ret->fd < 0) {
        class = fail_errno(err, "socket for", text);
    } else {
        (void)setsockopt(ret->fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
        if (bind(ret->fd, found->ai_addr, found->ai_addrlen) != 0 ||
            listen(ret->fd, BACKLOG) != 0) {
            class = fail_errno(err, "cannot listen on", text);
            close(ret->fd);
        }
    }
    freeaddrinfo(found);
    return class;
}

enum tg_class tg_listen(const char *address, const char *mode, struct tg_listener *ret,
                        struct tg_error *err)
{
    char *end;
    unsigned long bits = strtoul(mode, &end, 8);

    *ret = (struct tg_listener){.fd = -1};
    if (is_listening(STDIN_FILENO)) {
        ret->fd = STDIN_FILENO;
        snprintf(ret->shown, sizeof ret->shown, "descriptor 0");
        return TG_OK;
    }
    snprintf(ret->shown, sizeof ret->shown, "%s", address);
    if (*mode == '\0' || *end != '\0' || bits > 0777)
        return tg_fail(err, TG_CLASS_CONFIG, "listen_mode",
                       "listen.mode: expected octal permissions such as 0660, not %s", mode);
    if (strncmp(address, "unix:", 5) == 0)
        return listen_unix(address + 5, (mode_t)bits, ret, err);
    if (strncmp(address, "tcp:", 4) == 0)
        return listen_tcp(address + 4, ret, err);
    return tg_fail(err, TG_CLASS_CONFIG, "listen_address",
                   "listen.address: expected unix:PATH or tcp:HOST:PORT, not %s", address);
}

void tg_listen_done(struct tg_listener *listener)
{
    if (listener->socket_path[0] != '\0')
        (void)unlink(listener->socket_path);
    if (listener->fd >= 0)
        close(listener->fd);
    listener->fd = -1;
}
