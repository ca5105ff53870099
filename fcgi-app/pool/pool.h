/* pool - the threads of a worker, one request each.
 *
 * Leaders and followers: a few threads wait for the listening socket, and the kernel wakes one of
 * them for each connection. It takes that, which never blocks, leaves the lead and reads the
 * parameters without any lock, because a slow peer may stall that. A thread that is done leads
 * again when there is room, so that under load none has to wake another; only the last leader
 * hands its lead on. Followers wait in a stack, so that a few warm threads do the work and the
 * others become idle and end. The pool grows by one whenever the last leader finds no follower,
 * and the housekeeper tops it up to <threads_spare> idle ones beside a leader.
 *
 * Source   ARCHITECTURE 1, CONVENTIONS "Threads"; libfcgi facts in common/fcgi/fcgi.h.
 * Threads  any, except start and stop: one owner.
 */
#ifndef TOLLGATE_POOL_POOL_H
#define TOLLGATE_POOL_POOL_H

#include "common/fcgi/fcgi.h"

struct tg_pool;

struct tg_pool_limits {
    int threads_spare, threads_most;
    int64_t idle_us; /* a thread above the spare ones ends after waiting this long */
    int64_t kept_us; /* a connection that the web server keeps open and does not use is closed */
    int64_t send_timeout_us;
};

struct tg_pool_conf {
    int listen_fd;
    int cut_fd; /* whoever waits for a client's bytes gives up once it is readable; -1: none */
    /* Serves one accepted request up to and including tg_fcgi_finish. <thread_context> is what
     * thread_start gave. */
    void (*serve)(void *context, void *thread_context, struct tg_fcgi *fcgi);
    void *(*thread_start)(void *context);
    void (*thread_stop)(void *context, void *thread_context);
    /* Limits as they stand now; asked again whenever they matter (a reload changes them). */
    void (*limits)(void *context, struct tg_pool_limits *ret);
    void *context;
};

struct tg_pool_figures {
    int threads, waiting, most_ever;
};

/* Starts <threads_spare> threads. */
enum tg_class tg_pool_start(const struct tg_pool_conf *conf, struct tg_pool **ret,
                            struct tg_error *err) must_check non_null(1, 2);
/* Tops up the waiting threads and joins ended ones; called about once a second. */
void tg_pool_tend(struct tg_pool *pool) non_null(1);
struct tg_pool_figures tg_pool_figures(struct tg_pool *pool) non_null(1);
/* Accepts no more. Running requests go on; true once all threads have ended before the deadline.
 * Blocks: until then. */
bool tg_pool_drain(struct tg_pool *pool, int64_t deadline_at_us) non_null(1);
void tg_pool_free(struct tg_pool *pool); /* after a drain that was true; NULL is fine */

#endif
