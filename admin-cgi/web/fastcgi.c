#include "admin-cgi/web/fastcgi.h"

#include <errno.h>
#include <fcntl.h>
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

/* In a child. The parent takes its signals one by one: it never waits with one unseen. */
static volatile sig_atomic_t ending;

static void end_soon(int number)
{
    (void)number;
    ending = 1;
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

/* A signal that comes before poll is seen a second later; accept does not wait. */
static int run_child(int listen_fd)
{
    struct pollfd wait = {.fd = listen_fd, .events = POLLIN};
    struct tg_error err = {.class = TG_OK};
    struct web_site site;
    struct tg_fcgi *fcgi;

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

struct children {
    int count, listen_fd;
    sigset_t signals; /* that the parent waits for */
    struct {
        pid_t pid; /* 0: none */
        bool told; /* to end */
    } of[WEB_CHILDREN_MOST];
    int64_t next_at_us; /* none starts before */
};

static int begin_child(const struct children *children, pid_t parent)
{
    struct sigaction on_end = {.sa_handler = end_soon}, ignore = {.sa_handler = SIG_IGN};

    sigaction(SIGTERM, &on_end, NULL);
    sigaction(SIGINT, &on_end, NULL);
    sigaction(SIGHUP, &ignore, NULL);
    sigprocmask(SIG_UNBLOCK, &children->signals, NULL);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    return getppid() == parent ? run_child(children->listen_fd) : 1;
}

static bool start_missing(struct children *children)
{
    bool all = true;

    for (int i = 0; i < children->count; i++) {
        const pid_t parent = getpid();
        pid_t pid;

        if (children->of[i].pid != 0)
            continue;
        pid = tg_now_us() < children->next_at_us ? -1 : fork();
        if (pid == 0)
            _exit(begin_child(children, parent));
        if (pid > 0) {
            children->of[i].pid = pid;
            children->of[i].told = false;
        }
        all = all && pid > 0;
    }
    return all;
}

/* One that ends without being told is replaced a second later. */
static void reap(struct children *children)
{
    pid_t gone;

    while ((gone = waitpid(-1, NULL, WNOHANG)) > 0)
        for (int i = 0; i < children->count; i++)
            if (children->of[i].pid == gone) {
                children->of[i].pid = 0;
                if (!children->of[i].told)
                    children->next_at_us = tg_now_us() + second_us;
            }
}

static void tell(struct children *children)
{
    for (int i = 0; i < children->count; i++)
        if (children->of[i].pid > 0) {
            children->of[i].told = true;
            kill(children->of[i].pid, SIGTERM);
        }
}

static void run_parent(struct children *children)
{
    const struct timespec second = {.tv_sec = 1};
    int got = 0;

    while (got != SIGTERM && got != SIGINT) {
        bool all = start_missing(children);

        got = sigtimedwait(&children->signals, NULL, all ? NULL : &second);
        if (got == SIGHUP)
            tell(children);
        reap(children);
    }
    tell(children);
    for (int i = 0; i < children->count; i++)
        while (children->of[i].pid > 0 && waitpid(children->of[i].pid, NULL, 0) < 0 &&
               errno == EINTR)
            ;
}

int web_fastcgi_run(const struct web_fastcgi *options)
{
    static const int waited_for[] = {SIGTERM, SIGINT, SIGHUP, SIGCHLD};
    struct children children = {.count = options->children};

    if (children.count < 1 || children.count > WEB_CHILDREN_MOST) {
        tg_log(TG_LOG_ERROR, "console", "1 to %d children", WEB_CHILDREN_MOST);
        return 2;
    }
    children.listen_fd = open_socket(options->address);
    if (children.listen_fd < 0 || fcntl(children.listen_fd, F_SETFL, O_NONBLOCK) != 0) {
        tg_log(TG_LOG_ERROR, "console", "%s: %s",
               options->address != NULL ? options->address : "descriptor 0", strerror(errno));
        return 1;
    }
    sigemptyset(&children.signals);
    for (size_t i = 0; i < TG_COUNT_OF(waited_for); i++)
        sigaddset(&children.signals, waited_for[i]);
    sigprocmask(SIG_BLOCK, &children.signals, NULL);
    signal(SIGPIPE, SIG_IGN);
    tg_log(TG_LOG_INFO, "console", "ready, listening on %s",
           options->address != NULL ? options->address : "descriptor 0");
    run_parent(&children);
    return 0;
}
