#include "fcgi-app/pool/pool.h"

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/base/stack.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#ifdef TG_SANITIZED
enum { STACK_BYTES = 1024 * 1024 };
#else
enum { STACK_BYTES = 256 * 1024 };
#endif
enum { NO_DESCRIPTORS_REST_US = 100000, LEADERS_MOST = 8 };

struct thread {
    struct tg_pool *pool;
    pthread_t id;
    sem_t turn;           /* posted once with the lead, and once when draining */
    atomic_bool leads;    /* was given a post */
    int post;             /* where it leads */
    struct thread *below; /* in the stack of followers, or in the list of ended threads */
};

struct tg_pool {
    struct tg_pool_conf conf;
    int stop_fd; /* readable once draining */
    /* An epoll of the listening socket and stop_fd for each leader. The kernel wakes one of those
     * that somebody waits on for each connection, the first one first. */
    int posts[LEADERS_MOST];
    bool taken[LEADERS_MOST];
    pthread_mutex_t lock;
    pthread_cond_t empty;
    bool draining;
    int leaders, threads, waiting, most_ever;
    struct thread *followers; /* top first */
    struct thread *ended;     /* to be joined */
};

static void *thread_main(void *argument);

static void make_cond(pthread_cond_t *cond)
{
    pthread_condattr_t attr;

    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(cond, &attr);
    pthread_condattr_destroy(&attr);
}

/* True: signalled (or woken for nothing), false: the time has come. */
static bool cond_wait_until(pthread_cond_t *cond, pthread_mutex_t *lock, int64_t at_us)
{
    struct timespec at = {.tv_sec = at_us / 1000000, .tv_nsec = at_us % 1000000 * 1000};

    return pthread_cond_timedwait(cond, lock, &at) != ETIMEDOUT;
}

static struct tg_pool_limits limits_of(struct tg_pool *pool)
{
    struct tg_pool_limits limits;

    pool->conf.limits(pool->conf.context, &limits);
    return limits;
}

/* Under the lock. */
static bool spawn(struct tg_pool *pool)
{
    struct thread *thread = tg_calloc(1, sizeof *thread);
    pthread_attr_t attr;
    int answer;

    thread->pool = pool;
    sem_init(&thread->turn, 0, 0);
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, STACK_BYTES);
    answer = pthread_create(&thread->id, &attr, thread_main, thread);
    pthread_attr_destroy(&attr);
    if (answer != 0) {
        tg_log(TG_LOG_WARNING, "pool", "no further thread beside %d: %s", pool->threads,
               strerror(answer));
        sem_destroy(&thread->turn);
        free(thread);
        return false;
    }
    pool->threads++;
    pool->most_ever = TG_MAX(pool->most_ever, pool->threads);
    return true;
}

/* Under the lock: the first free post. */
static void take_post(struct tg_pool *pool, struct thread *thread)
{
    int post = 0;

    while (pool->taken[post])
        post++;
    pool->taken[post] = true;
    pool->leaders++;
    thread->post = post;
    thread->leads = true;
}

/* Leaves the post. When nobody else leads, the warmest follower does, or a new thread when there
 * is none. */
static void hand_lead_on(struct tg_pool *pool, struct thread *self,
                         const struct tg_pool_limits *limits)
{
    struct thread *next = NULL;

    pthread_mutex_lock(&pool->lock);
    pool->taken[self->post] = false;
    pool->leaders--;
    if (pool->leaders == 0 && !pool->draining)
        next = pool->followers;
    if (next != NULL) {
        pool->followers = next->below;
        pool->waiting--;
        take_post(pool, next);
    } else if (pool->leaders == 0 && !pool->draining && pool->threads < limits->threads_most) {
        (void)spawn(pool);
    }
    pthread_mutex_unlock(&pool->lock);
    if (next != NULL)
        sem_post(&next->turn);
}

static void leave_stack(struct tg_pool *pool, struct thread *thread)
{
    struct thread **at = &pool->followers;

    while (*at != thread)
        at = &(*at)->below;
    *at = thread->below;
    pool->waiting--;
}

enum place { LEADS, FOLLOWS, ENDS };

/* Leaders do not end, and with the spare followers there are as many idle threads as wanted. */
static int leaders_most(const struct tg_pool_limits *limits)
{
    return TG_MIN(limits->threads_spare + 1, LEADERS_MOST);
}

/* Under the lock: leads when not enough do, else joins the followers. */
static enum place find_place(struct tg_pool *pool, struct thread *self,
                             const struct tg_pool_limits *limits)
{
    bool enough = pool->leaders >= leaders_most(limits);
    enum place place = pool->draining ? ENDS : enough ? FOLLOWS : LEADS;

    self->leads = false;
    if (place == LEADS)
        take_post(pool, self);
    if (place == FOLLOWS) {
        self->below = pool->followers;
        pool->followers = self;
        pool->waiting++;
    }
    return place;
}

/* After a wait in vain: leaves the followers when there are enough, or when draining. */
static bool may_leave(struct tg_pool *pool, struct thread *self, int threads_spare)
{
    bool leaves;

    pthread_mutex_lock(&pool->lock);
    leaves = !self->leads &&
             (pool->draining || pool->leaders + pool->waiting > threads_spare + 1);
    if (leaves)
        leave_stack(pool, self);
    pthread_mutex_unlock(&pool->lock);
    return leaves;
}

/* Waits for the lead; false: this thread is to end. Whoever gives the lead posts once, and the post
 * is taken before anything else: a semaphore, because a condition variable would make the woken
 * thread fight for the lock once more. */
static bool take_lead(struct tg_pool *pool, struct thread *self,
                      const struct tg_pool_limits *limits)
{
    enum place place;

    pthread_mutex_lock(&pool->lock);
    place = find_place(pool, self, limits);
    pthread_mutex_unlock(&pool->lock);
    if (place != FOLLOWS)
        return place == LEADS;
    for (;;) {
        int64_t at_us = tg_now_us() + limits->idle_us;
        const struct timespec at = {.tv_sec = at_us / 1000000, .tv_nsec = at_us % 1000000 * 1000};
        bool woken = sem_clockwait(&self->turn, CLOCK_MONOTONIC, &at) == 0;

        if (woken && self->leads)
            return true;
        if (may_leave(pool, self, limits->threads_spare))
            return false;
    }
}

/* As leader: takes a connection and hands the lead on. What another process took first costs
 * nobody's wake-up: this thread stays a leader. False: draining. */
static bool lead(struct thread *self, struct tg_fcgi *fcgi, const struct tg_pool_limits *limits)
{
    struct tg_pool *pool = self->pool;
    enum tg_fcgi_accepted taken = TG_FCGI_NOTHING;
    struct epoll_event ready;

    while (taken != TG_FCGI_REQUEST) {
        int count = epoll_wait(pool->posts[self->post], &ready, 1, -1);

        tg_assert(count >= 0 || errno == EINTR);
        if (count > 0 && ready.data.fd == pool->stop_fd)
            break;
        taken = tg_fcgi_take(fcgi);
        if (taken == TG_FCGI_NO_DESCRIPTORS) { /* the socket stays readable: do not spin */
            tg_log(TG_LOG_WARNING, "pool", "no descriptor is left for a connection");
            tg_clock_sleep_us(NO_DESCRIPTORS_REST_US);
        }
    }
    hand_lead_on(pool, self, limits);
    return taken == TG_FCGI_REQUEST;
}

/* A connection that the web server keeps open pins this thread to it, so it is not kept long. */
static void wait_on_kept(struct tg_pool *pool, struct tg_fcgi *fcgi, int64_t kept_us)
{
    struct pollfd wait[2] = {{.fd = tg_fcgi_descriptor(fcgi), .events = POLLIN},
                             {.fd = pool->stop_fd, .events = POLLIN}};

    if (!tg_fcgi_has_input(fcgi) &&
        (poll(wait, 2, (int)(kept_us / 1000)) <= 0 || wait[1].revents != 0))
        tg_fcgi_let_go(fcgi);
}

static void serve_until_told(struct thread *self, struct tg_fcgi *fcgi, void *thread_context)
{
    struct tg_pool *pool = self->pool;

    for (;;) {
        struct tg_pool_limits limits = limits_of(pool);

        if (tg_fcgi_descriptor(fcgi) >= 0)
            wait_on_kept(pool, fcgi, limits.kept_us);
        if (tg_fcgi_descriptor(fcgi) < 0 &&
            (!take_lead(pool, self, &limits) || !lead(self, fcgi, &limits)))
            return;
        if (tg_fcgi_accept(fcgi, limits.send_timeout_us) == TG_FCGI_REQUEST)
            pool->conf.serve(pool->conf.context, thread_context, fcgi);
    }
}

static void *thread_main(void *argument)
{
    struct thread *self = argument;
    struct tg_pool *pool = self->pool;
    void *thread_context = pool->conf.thread_start(pool->conf.context);
    struct tg_fcgi *fcgi = tg_fcgi_new(pool->conf.listen_fd, pool->conf.cut_fd);

    tg_stack_know();
    serve_until_told(self, fcgi, thread_context);
    tg_fcgi_free(fcgi);
    pool->conf.thread_stop(pool->conf.context, thread_context);
    pthread_mutex_lock(&pool->lock);
    pool->threads--;
    self->below = pool->ended;
    pool->ended = self;
    pthread_cond_signal(&pool->empty);
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

static void join_ended(struct tg_pool *pool)
{
    struct thread *ended;

    pthread_mutex_lock(&pool->lock);
    ended = pool->ended;
    pool->ended = NULL;
    pthread_mutex_unlock(&pool->lock);
    while (ended != NULL) {
        struct thread *next = ended->below;

        pthread_join(ended->id, NULL);
        sem_destroy(&ended->turn);
        free(ended);
        ended = next;
    }
}

void tg_pool_tend(struct tg_pool *pool)
{
    struct tg_pool_limits limits = limits_of(pool);
    int missing;

    join_ended(pool);
    pthread_mutex_lock(&pool->lock);
    missing = TG_MIN(limits.threads_spare + 1 - pool->leaders - pool->waiting,
                     limits.threads_most - pool->threads);
    while (missing-- > 0 && !pool->draining)
        if (!spawn(pool))
            break;
    pthread_mutex_unlock(&pool->lock);
}

/* Workers wait on one listening socket: exclusively, so that each connection wakes one thread. */
static bool open_post(struct tg_pool *pool, int *ret)
{
    struct epoll_event listening = {.events = EPOLLIN | EPOLLEXCLUSIVE,
                                    .data.fd = pool->conf.listen_fd};
    struct epoll_event stopping = {.events = EPOLLIN, .data.fd = pool->stop_fd};

    *ret = epoll_create1(EPOLL_CLOEXEC);
    return *ret >= 0 && epoll_ctl(*ret, EPOLL_CTL_ADD, pool->conf.listen_fd, &listening) == 0 &&
           epoll_ctl(*ret, EPOLL_CTL_ADD, pool->stop_fd, &stopping) == 0;
}

static bool open_waiting(struct tg_pool *pool)
{
    bool good;

    pool->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    good = pool->stop_fd >= 0;
    for (int i = 0; i < LEADERS_MOST; i++)
        pool->posts[i] = -1;
    for (int i = 0; i < LEADERS_MOST && good; i++)
        good = open_post(pool, &pool->posts[i]);
    return good;
}

static void close_waiting(struct tg_pool *pool)
{
    if (pool->stop_fd >= 0)
        close(pool->stop_fd);
    for (int i = 0; i < LEADERS_MOST; i++)
        if (pool->posts[i] >= 0)
            close(pool->posts[i]);
}

enum tg_class tg_pool_start(const struct tg_pool_conf *conf, struct tg_pool **ret,
                            struct tg_error *err)
{
    struct tg_pool *pool = tg_calloc(1, sizeof *pool);

    pool->conf = *conf;
    if (!open_waiting(pool)) {
        enum tg_class class = tg_fail(err, TG_CLASS_INTERNAL, "pool_waiting",
                                      "cannot wait for connections: %s", strerror(errno));

        close_waiting(pool);
        free(pool);
        return class;
    }
    pthread_mutex_init(&pool->lock, NULL);
    make_cond(&pool->empty);
    tg_pool_tend(pool);
    if (tg_pool_figures(pool).threads == 0) {
        tg_pool_free(pool);
        return tg_fail(err, TG_CLASS_INTERNAL, "pool_threads", "no thread could be started");
    }
    *ret = pool;
    return TG_OK;
}

struct tg_pool_figures tg_pool_figures(struct tg_pool *pool)
{
    struct tg_pool_figures figures;

    pthread_mutex_lock(&pool->lock);
    figures = (struct tg_pool_figures){
        .threads = pool->threads, .waiting = pool->waiting, .most_ever = pool->most_ever};
    pthread_mutex_unlock(&pool->lock);
    return figures;
}

bool tg_pool_drain(struct tg_pool *pool, int64_t deadline_at_us)
{
    const uint64_t one = 1;
    bool all_ended;

    pthread_mutex_lock(&pool->lock);
    pool->draining = true;
    tg_assert(write(pool->stop_fd, &one, sizeof one) == (ssize_t)sizeof one);
    for (struct thread *at = pool->followers; at != NULL; at = at->below)
        sem_post(&at->turn);
    while (pool->threads > 0 && cond_wait_until(&pool->empty, &pool->lock, deadline_at_us))
        continue;
    all_ended = pool->threads == 0;
    pthread_mutex_unlock(&pool->lock);
    join_ended(pool);
    return all_ended;
}

void tg_pool_free(struct tg_pool *pool)
{
    if (pool == NULL)
        return;
    tg_assert(pool->threads == 0);
    join_ended(pool);
    close_waiting(pool);
    pthread_cond_destroy(&pool->empty);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}
