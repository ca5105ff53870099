#include "fcgi-app/pool/pool.h"

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/memory.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
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
    pthread_cond_t turn;
    bool leads;           /* was given the lead */
    struct thread *below; /* in the stack of followers, or in the list of ended threads */
};

struct tg_pool {
    struct tg_pool_conf conf;
    int stop_fd; /* readable once draining */
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
    make_cond(&thread->turn);
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, STACK_BYTES);
    answer = pthread_create(&thread->id, &attr, thread_main, thread);
    pthread_attr_destroy(&attr);
    if (answer != 0) {
        tg_log(TG_LOG_WARNING, "pool", "no further thread beside %d: %s", pool->threads,
               strerror(answer));
        pthread_cond_destroy(&thread->turn);
        free(thread);
        return false;
    }
    pool->threads++;
    pool->most_ever = TG_MAX(pool->most_ever, pool->threads);
    return true;
}

/* Under the lock: lets the warmest follower lead, or a new thread when there is none. */
static void hand_lead_on(struct tg_pool *pool, const struct tg_pool_limits *limits)
{
    struct thread *next = pool->followers;

    pool->has_leader = false;
    if (pool->draining)
        return;
    if (next == NULL) {
        if (pool->threads < limits->threads_most)
            (void)spawn(pool);
        return;
    }
    pool->followers = next->below;
    pool->waiting--;
    pool->has_leader = next->leads = true;
    pthread_cond_signal(&next->turn);
}

static void leave_stack(struct tg_pool *pool, struct thread *thread)
{
    struct thread **at = &pool->followers;

    while (*at != thread)
        at = &(*at)->below;
    *at = thread->below;
    pool->waiting--;
}

/* Waits for the lead; false: this thread is to end. */
static bool take_lead(struct tg_pool *pool, struct thread *self,
                      const struct tg_pool_limits *limits)
{
    int64_t until_us = tg_now_us() + limits->idle_us;

    pthread_mutex_lock(&pool->lock);
    self->leads = !pool->has_leader;
    if (self->leads) {
        pool->has_leader = true;
    } else {
        self->below = pool->followers;
        pool->followers = self;
        pool->waiting++;
    }
    while (!self->leads && !pool->draining)
        if (!cond_wait_until(&self->turn, &pool->lock, until_us)) {
            if (pool->waiting > limits->threads_spare)
                break;
            until_us = tg_now_us() + limits->idle_us;
        }
    if (!self->leads)
        leave_stack(pool, self);
    if (pool->draining && self->leads)
        pool->has_leader = self->leads = false;
    pthread_mutex_unlock(&pool->lock);
    return self->leads;
}

/* As leader: waits for a connection and hands the lead on. False: draining. */
static bool lead(struct tg_pool *pool)
{
    struct pollfd wait[2] = {{.fd = pool->conf.listen_fd, .events = POLLIN},
                             {.fd = pool->stop_fd, .events = POLLIN}};
    struct tg_pool_limits limits;
    bool draining;

    while (poll(wait, 2, -1) < 0)
        tg_assert(errno == EINTR);
    limits = limits_of(pool);
    pthread_mutex_lock(&pool->lock);
    draining = pool->draining;
    hand_lead_on(pool, &limits);
    pthread_mutex_unlock(&pool->lock);
    return !draining;
}

/* A connection that the web server keeps open pins this thread to it. False: it is over. */
static bool wait_on_kept(struct tg_pool *pool, int fd)
{
    struct pollfd wait[2] = {{.fd = fd, .events = POLLIN}, {.fd = pool->stop_fd, .events = POLLIN}};

    while (poll(wait, 2, -1) < 0)
        tg_assert(errno == EINTR);
    return wait[1].revents == 0;
}

static void serve_until_told(struct thread *self, struct tg_fcgi **fcgi, void *thread_context)
{
    struct tg_pool *pool = self->pool;

    for (;;) {
        struct tg_pool_limits limits = limits_of(pool);
        int kept_fd = tg_fcgi_descriptor(*fcgi);

        if (kept_fd >= 0 ? !wait_on_kept(pool, kept_fd)
                         : !take_lead(pool, self, &limits) || !lead(pool))
            return;
        switch (tg_fcgi_accept(*fcgi, limits.send_timeout_us)) {
        case TG_FCGI_REQUEST:
            pool->conf.serve(pool->conf.context, thread_context, *fcgi);
            break;
        case TG_FCGI_NO_DESCRIPTORS: /* the listening socket stays readable: do not spin */
            tg_log(TG_LOG_WARNING, "pool", "no descriptor is left for a connection");
            tg_clock_sleep_us(NO_DESCRIPTORS_REST_US);
            break;
        case TG_FCGI_NOTHING:
            break;
        }
    }
}

static void *thread_main(void *argument)
{
    struct thread *self = argument;
    struct tg_pool *pool = self->pool;
    void *thread_context = pool->conf.thread_start(pool->conf.context);
    struct tg_fcgi *fcgi = tg_fcgi_new(pool->conf.listen_fd);

    serve_until_told(self, &fcgi, thread_context);
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
        pthread_cond_destroy(&ended->turn);
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

enum tg_class tg_pool_start(const struct tg_pool_conf *conf, struct tg_pool **ret,
                            struct tg_error *err)
{
    struct tg_pool *pool = tg_calloc(1, sizeof *pool);

    pool->conf = *conf;
    pool->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (pool->stop_fd < 0) {
        free(pool);
        return tg_fail(err, TG_CLASS_INTERNAL, "pool_eventfd", "eventfd: %s", strerror(errno));
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
        pthread_cond_signal(&at->turn);
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
    close(pool->stop_fd);
    pthread_cond_destroy(&pool->empty);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}
