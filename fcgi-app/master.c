#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/memory.h"
#include "fcgi-app/listen.h"
#include "fcgi-app/process.h"
#include "fcgi-app/shared.h"
#include "fcgi-app/vocabulary.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    DEATHS_MOST = 5, /* in DEATHS_WINDOW_US; then new workers wait that long */
    DEATHS_WINDOW_US = 10000000,
    KILL_GRACE_US = 10000000 /* beyond drain_timeout */
};

struct worker_slot {
    pid_t pid; /* 0: none runs */
};

struct master {
    const char *conf_path;
    struct tg_conf *conf;
    struct tg_listener listener;
    struct tg_shared *shared;
    struct tg_vocabularies *vocabularies;
    struct worker_slot *slots;
    int workers, alive, ready;
    int ready_fds[2];
    int signal_fd;
    bool told_ready, stopping;
    int64_t kill_at_us;      /* while stopping */
    int64_t rest_until_us;   /* no new workers before */
    int64_t deaths[DEATHS_MOST];
    int death_at;
};

enum tg_class tg_process_open_log(const struct tg_conf *conf, struct tg_error *err)
{
    enum tg_log_level least;

    if (!tg_log_level_parse(tg_conf_text(conf, TG_OPTION_LOG_LEVEL), &least))
        return tg_fail(err, TG_CLASS_CONFIG, "conf_log_level",
                       "log.level: expected debug, info, warning or error");
    return tg_log_open("tollgate-fcgi", tg_conf_text(conf, TG_OPTION_LOG_FILE), least, err);
}

/* Each running stream has 4 descriptors, each idle upstream connection 3 (AMENDMENTS T2). A worker
 * runs at most its threads; idle connections can be done without. */
static void raise_descriptor_limit(const struct tg_conf *conf)
{
    struct rlimit limit;
    int64_t running = TG_MIN(tg_conf_int(conf, TG_OPTION_POOL_MAX_INFLIGHT),
                             tg_conf_int(conf, TG_OPTION_POOL_THREADS_MAX)) * 4;
    int64_t idle = tg_conf_int(conf, TG_OPTION_UPSTREAM_POOL_SIZE) * 3;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return;
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_max == RLIM_INFINITY || (int64_t)limit.rlim_max >= running + idle)
        return;
    tg_log((int64_t)limit.rlim_max < running ? TG_LOG_WARNING : TG_LOG_INFO, "master",
           "a worker may have %lld descriptors and may need %lld for requests (pool.max_inflight, "
           "pool.threads_max) and %lld for idle connections (upstream.pool_size): see LimitNOFILE",
           (long long)limit.rlim_max, (long long)running, (long long)idle);
}

static void block_signals(struct master *master)
{
    sigset_t all;

    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    sigemptyset(&all);
    sigaddset(&all, SIGTERM);
    sigaddset(&all, SIGINT);
    sigaddset(&all, SIGHUP);
    sigaddset(&all, SIGCHLD);
    master->signal_fd = signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK);
    tg_assert(master->signal_fd >= 0);
}

static int be_worker(struct master *master, int index, pid_t parent)
{
    const struct tg_birth birth = {.conf_path = master->conf_path,
                                   .conf = master->conf,
                                   .shared = master->shared,
                                   .encoders = tg_vocabularies_encoders(master->vocabularies),
                                   .index = index,
                                   .listen_fd = master->listener.fd,
                                   .ready_fd = master->ready_fds[1]};

    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) /* it died before the line above */
        return 0;
    close(master->signal_fd);
    close(master->ready_fds[0]);
    free(master->slots);
    return tg_worker_run(&birth);
}

static void start_worker(struct master *master, int index)
{
    pid_t parent = getpid(), pid = fork();

    if (pid == 0)
        exit(be_worker(master, index, parent));
    if (pid < 0) {
        tg_log(TG_LOG_ERROR, "master", "fork: %s", strerror(errno));
        master->rest_until_us = tg_now_us() + DEATHS_WINDOW_US;
        return;
    }
    master->slots[index].pid = pid;
    master->alive++;
}

static void start_missing(struct master *master)
{
    if (master->stopping || tg_now_us() < master->rest_until_us)
        return;
    for (int i = 0; i < master->workers; i++)
        if (master->slots[i].pid == 0)
            start_worker(master, i);
}

/* A worker that dies again and again must not keep the machine busy with forking. */
static void remember_death(struct master *master)
{
    int64_t now_us = tg_now_us(), oldest_us = master->deaths[master->death_at];

    master->deaths[master->death_at] = now_us;
    master->death_at = (master->death_at + 1) % DEATHS_MOST;
    if (oldest_us != 0 && now_us - oldest_us < DEATHS_WINDOW_US) {
        master->rest_until_us = now_us + DEATHS_WINDOW_US;
        tg_log(TG_LOG_ERROR, "master", "workers die too often: none is started for %d s",
               DEATHS_WINDOW_US / 1000000);
    }
}

static void bury(struct master *master, int index, int status)
{
    pid_t pid = master->slots[index].pid;

    master->slots[index].pid = 0;
    master->alive--;
    tg_shared_worker_died(master->shared, index);
    if (master->stopping)
        return;
    tg_shared_count(master->shared, TG_COUNTER_WORKER_RESTARTS, 1);
    tg_log(TG_LOG_ERROR, "master", "worker %d (pid %d) ended: %s %d", index, (int)pid,
           WIFSIGNALED(status) ? "signal" : "status",
           WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    remember_death(master);
}

static void reap(struct master *master)
{
    int status;
    pid_t pid;

    while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
        for (int i = 0; i < master->workers; i++)
            if (master->slots[i].pid == pid)
                bury(master, i, status);
}

static void tell_workers(struct master *master, int signal_number)
{
    for (int i = 0; i < master->workers; i++)
        if (master->slots[i].pid != 0)
            (void)kill(master->slots[i].pid, signal_number);
}

static void reload(struct master *master)
{
    struct tg_conf *conf;
    struct tg_error err;

    if (tg_conf_load(master->conf_path, NULL, 0, &conf, &err) != TG_OK) {
        tg_log(TG_LOG_ERROR, "conf", "not reloaded, the old settings stay: %s", err.message);
        return;
    }
    if (tg_process_open_log(conf, &err) != TG_OK)
        tg_log_error(TG_LOG_ERROR, "log", &err);
    tg_conf_free(master->conf);
    master->conf = conf;
    tell_workers(master, SIGHUP);
    tg_log(TG_LOG_INFO, "master", "settings read again");
}

static void stop(struct master *master)
{
    if (master->stopping)
        return;
    master->stopping = true;
    master->kill_at_us = tg_now_us() + tg_conf_int(master->conf, TG_OPTION_POOL_DRAIN_TIMEOUT) +
                         KILL_GRACE_US;
    tg_log(TG_LOG_INFO, "master", "stopping: running requests may finish");
    tell_workers(master, SIGTERM);
}

static void read_signals(struct master *master)
{
    struct signalfd_siginfo info;

    while (read(master->signal_fd, &info, sizeof info) == (ssize_t)sizeof info) {
        if (info.ssi_signo == SIGCHLD)
            reap(master);
        else if (info.ssi_signo == SIGHUP)
            reload(master);
        else
            stop(master);
    }
}

static void read_ready(struct master *master)
{
    char bytes[64];
    ssize_t got = read(master->ready_fds[0], bytes, sizeof bytes);

    if (got > 0)
        master->ready += (int)got;
    if (master->ready < master->workers || master->told_ready)
        return;
    master->told_ready = true;
    tg_log(TG_LOG_INFO, "tollgate-fcgi", "ready, listening on %s with %d workers",
           master->listener.shown, master->workers);
}

static int next_wake_ms(const struct master *master)
{
    int64_t at_us = master->stopping ? master->kill_at_us : master->rest_until_us;
    int64_t left_us = at_us - tg_now_us();

    if (!master->stopping && master->alive == master->workers)
        return -1;
    return left_us > 0 ? (int)(left_us / 1000) + 1 : 1000;
}

static void loop(struct master *master)
{
    start_missing(master);
    while (!master->stopping || master->alive > 0) {
        struct pollfd wait[2] = {{.fd = master->signal_fd, .events = POLLIN},
                                 {.fd = master->ready_fds[0], .events = POLLIN}};

        if (poll(wait, 2, next_wake_ms(master)) < 0)
            tg_assert(errno == EINTR);
        if (wait[0].revents != 0)
            read_signals(master);
        if (wait[1].revents != 0)
            read_ready(master);
        if (master->stopping && tg_now_us() >= master->kill_at_us)
            tell_workers(master, SIGKILL);
        start_missing(master);
    }
}

int tg_master_run(const char *conf_path, struct tg_conf *conf)
{
    struct master master = {.conf_path = conf_path, .conf = conf};
    struct tg_error err;

    if (tg_vocabularies_open(&master.vocabularies, &err) != TG_OK ||
        tg_listen(tg_conf_text(conf, TG_OPTION_LISTEN_ADDRESS),
                  tg_conf_text(conf, TG_OPTION_LISTEN_MODE), &master.listener, &err) != TG_OK) {
        tg_log_error(TG_LOG_ERROR, "start", &err);
        tg_vocabularies_close(master.vocabularies);
        tg_conf_free(conf);
        return 1;
    }
    raise_descriptor_limit(conf);
    master.workers = (int)tg_conf_int(conf, TG_OPTION_POOL_WORKERS);
    master.slots = tg_calloc((size_t)master.workers, sizeof *master.slots);
    master.shared = tg_shared_new(master.workers);
    tg_assert(pipe2(master.ready_fds, O_CLOEXEC) == 0);
    block_signals(&master);
    loop(&master);
    tg_listen_done(&master.listener);
    tg_log(TG_LOG_INFO, "master", "stopped");
    free(master.slots);
    tg_vocabularies_close(master.vocabularies);
    tg_conf_free(master.conf);
    return 0;
}
