#include "admin-cgi/web/fastcgi.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "admin-cgi/web/serve.h"
#include "common/base/clock.h"
#include "common/base/log.h"

static const int64_t send_timeout_us = 30000000, read_timeout_us = 30000000, second_us = 1000000;

enum { REQUESTS_PER_CHILD = 1000, SOCKET_MODE = 0660, BACKLOG = 128 };

static volatile sig_atomic_t ending, reloading;

static void end_soon(int number)
{
    (void)number;
    ending = 1;
}

static void reload_soon(int number)
{
    (void)number;
    reloading = 1;
}

/* --- The socket --- */

static int listen_unix(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0 || strlen(path) >= sizeof address.sun_path)
        return -1;
    memcpy(address.sun_path, path, strlen(path) + 1);
    unlink(path);
    if (bind(fd, (const struct sockaddr *)&address, sizeof address) != 0 ||
        chmod(path, SOCKET_MODE) != 0 || listen(fd, BACKLOG) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

static int listen_tcp(const char *text)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE};
    const char *colon = strrchr(text, ':');
    struct addrinfo *found;
    char host[256];
    int fd, one = 1;

    if (colon == NULL || (size_t)(colon - text) >= sizeof host)
        return -1;
    snprintf(host, sizeof host, "%.*s", (int)(colon - text), text);
    if (getaddrinfo(host, colon + 1, &hints, &found) != 0)
        return -1;
    fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) != 0 ||
                    bind(fd, found->ai_addr, found->ai_addrlen) != 0 || listen(fd, BACKLOG) != 0)) {
        close(fd);
        fd = -1;
    }
    freeaddrinfo(found);
    return fd;
}

static int open_socket(const char *address)
{
    if (address == NULL)
        return STDIN_FILENO;
    if (strncmp(address, "unix:", 5) == 0)
        return listen_unix(address + 5);
    if (strncmp(address, "tcp:", 4) == 0)
        return listen_tcp(address + 4);
    errno = EINVAL;
    return -1;
}

/* --- A child --- */

static void serve_request(struct web_site *site, const struct tg_error *broken,
                          struct tg_fcgi *fcgi)
{
    struct web_gate gate = {.fcgi = fcgi};

    tg_fcgi_set_read_deadline(fcgi, tg_now_us() + read_timeout_us);
    if (broken->class == TG_OK)
        web_serve(site, &gate);
    else
        web_serve_nothing(&gate, broken);
    tg_fcgi_end(fcgi);
    tg_fcgi_finish(fcgi);
}

static int run_child(int listen_fd)
{
    struct pollfd wait = {.fd = listen_fd, .events = POLLIN};
    struct tg_error err = {.class = TG_OK};
    struct web_site site;
    struct tg_fcgi *fcgi;

    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (tg_fcgi_library_init(&err) != TG_OK)
        return 1;
    if (web_site_open(&site, &err) == TG_OK)
        err.class = TG_OK;
    fcgi = tg_fcgi_new(listen_fd, -1);
    for (int served = 0; served < REQUESTS_PER_CHILD && !ending;) {
        if (poll(&wait, 1, 1000) <= 0 || tg_fcgi_take(fcgi) != TG_FCGI_REQUEST)
            continue;
        if (tg_fcgi_accept(fcgi, send_timeout_us) != TG_FCGI_REQUEST)
            continue;
        serve_request(&site, &err, fcgi);
        served++;
        if (tg_fcgi_descriptor(fcgi) >= 0) { /* kept: but others wait for this process */
            tg_fcgi_free(fcgi);
            fcgi = tg_fcgi_new(listen_fd, -1);
        }
    }
    tg_fcgi_free(fcgi);
    web_site_close(&site);
    return 0;
}

/* --- The parent --- */

static void start_children(pid_t *children, int count, int listen_fd)
{
    for (int i = 0; i < count && !ending; i++) {
        if (children[i] != 0)
            continue;
        children[i] = fork();
        if (children[i] == 0)
            _exit(run_child(listen_fd));
        if (children[i] < 0) {
            children[i] = 0;
            tg_log(TG_LOG_ERROR, "console", "no further child: %s", strerror(errno));
        }
    }
}

static void forget(pid_t *children, int count, pid_t gone)
{
    for (int i = 0; i < count; i++)
        if (children[i] == gone)
            children[i] = 0;
}

static void tell_children(const pid_t *children, int count)
{
    for (int i = 0; i < count; i++)
        if (children[i] > 0)
            kill(children[i], SIGTERM);
}

static void end_children(pid_t *children, int count)
{
    tell_children(children, count);
    for (int i = 0; i < count; i++)
        while (children[i] > 0 && waitpid(children[i], NULL, 0) < 0 && errno == EINTR)
            ;
}

int web_fastcgi_run(const struct web_fastcgi *options)
{
    struct sigaction on_end = {.sa_handler = end_soon}, ignore = {.sa_handler = SIG_IGN};
    struct sigaction on_reload = {.sa_handler = reload_soon};
    pid_t children[WEB_CHILDREN_MOST] = {0}, gone;
    bool wanted = false; /* children end because they were told to */
    int count = options->children, fd;

    if (count < 1 || count > WEB_CHILDREN_MOST) {
        tg_log(TG_LOG_ERROR, "console", "1 to %d children", WEB_CHILDREN_MOST);
        return 2;
    }
    fd = open_socket(options->address);
    if (fd < 0) {
        tg_log(TG_LOG_ERROR, "console", "%s: %s", options->address, strerror(errno));
        return 1;
    }
    sigaction(SIGTERM, &on_end, NULL);
    sigaction(SIGINT, &on_end, NULL);
    sigaction(SIGHUP, &on_reload, NULL);
    sigaction(SIGPIPE, &ignore, NULL);
    tg_log(TG_LOG_INFO, "console", "ready, listening on %s",
           options->address != NULL ? options->address : "descriptor 0");
    while (!ending) {
        start_children(children, count, fd);
        gone = waitpid(-1, NULL, 0);
        if (gone > 0)
            forget(children, count, gone);
        if (gone > 0 && !wanted)
            tg_clock_sleep_us(second_us);
        wanted = reloading != 0 || (wanted && gone > 0);
        if (reloading != 0)
            tell_children(children, count);
        reloading = 0;
    }
    end_children(children, count);
    return 0;
}
