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
enum { NO_DESCRIPTORS_REST_US = 100000 };

struct thread {
    struct tg_pool *pool;
    pthread_t id;
    sem_t turn;           /* posted once with the lead, and once when draining */
    atomic_bool leads;    /* was given the lead */
    struct thread *below; /* in the stack of followers, or in the list of ended threads */
};

struct tg_pool {
    struct tg_pool_conf conf;
    int stop_fd; /* readable once draining */
    int wait_fd; /* epoll of the listening socket and stop_fd, for the leader */
    pthread_mutex_t lock;
    pthread_cond_t empty;
    bool draining, has_leader;
    int threads, waiting, most_ever;
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

/* Lets the warmest follower lead, or a new thread when there is none. */
static void hand_lead_on(struct tg_pool *pool, const struct tg_pool_limits *limits)
{
    struct thread *next;

    pthread_mutex_lock(&pool->lock);
    next = pool->draining ? NULL : pool->followers;
    pool->has_leader = next != NULL;
    if (next != NULL) {
        pool->followers = next->below;
        pool->waiting--;
        next->leads = true;
    } else if (!pool->draining && pool->threads < limits->threads_most) {
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

/* Under the lock: leads when nobody does, else joins the followers. */
static enum place find_place(struct tg_pool *pool, struct thread *self)
{
    enum place place = pool->draining ? ENDS : pool->has_leader ? FOLLOWS : LEADS;

    self->leads = place == LEADS;
    if (place == LEADS)
        pool->has_leader = true;
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
    leaves = !self->leads && (pool->draining || pool->waiting > threads_spare);
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
    place = find_place(pool, self);
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
 * nobody's wake-up: this thread stays the leader. False: draining. */
static bool lead(struct tg_pool *pool, struct tg_fcgi *fcgi, const struct tg_pool_limits *limits)
{
    enum tg_fcgi_accepted taken = TG_FCGI_NOTHING;
    struct epoll_event ready;

    while (taken != TG_FCGI_REQUEST) {
        int count = epoll_wait(pool->wait_fd, &ready, 1, -1);

        tg_assert(count >= 0 || errno == EINTR);
        if (count > 0 && ready.data.fd == pool->stop_fd)
            break;
        taken = tg_fcgi_take(fcgi);
        if (taken == TG_FCGI_NO_DESCRIPTORS) { /* the socket stays readable: do not spin */
            tg_log(TG_LOG_WARNING, "pool", "no descriptor is left for a connection");
            tg_clock_sleep_us(NO_DESCRIPTORS_REST_US);
        }
    }
    hand_lead_on(pool, limits);
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
            (!take_lead(pool, self, &limits) || !lead(pool, fcgi, &limits)))
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
    missing = TG_MIN(limits.threads_spare - pool->waiting, limits.threads_most - pool->threads);
    while (missing-- > 0 && !pool->draining)
        if (!spawn(pool))
            break;
    pthread_mutex_unlock(&pool->lock);
}

/* Workers wait on one listening socket: exclusively, so that each connection wakes one of them. */
static bool open_waiting(struct tg_pool *pool)
{
    struct epoll_event listening = {.events = EPOLLIN | EPOLLEXCLUSIVE,
                                    .data.fd = pool->conf.listen_fd};
    struct epoll_event stopping = {.events = EPOLLIN};

    pool->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    pool->wait_fd = epoll_create1(EPOLL_CLOEXEC);
    stopping.data.fd = pool->stop_fd;
    return pool->stop_fd >= 0 && pool->wait_fd >= 0 &&
           epoll_ctl(pool->wait_fd, EPOLL_CTL_ADD, pool->conf.listen_fd, &listening) == 0 &&
           epoll_ctl(pool->wait_fd, EPOLL_CTL_ADD, pool->stop_fd, &stopping) == 0;
}

static void close_waiting(struct tg_pool *pool)
{
    if (pool->stop_fd >= 0)
        close(pool->stop_fd);
    if (pool->wait_fd >= 0)
        close(pool->wait_fd);
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
