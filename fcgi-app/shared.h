/* shared - memory that all workers of a node see (an anonymous shared mapping of the master).
 *
 * Nothing in it needs a lock. Gauges live in one slot per worker: readers add up, the master
 * zeroes the slot of a worker that died, so that kill -9 leaks nothing. Counters only rise.
 * Source  AMENDMENTS T4.
 *
 * Threads  any, lock-free.
 */
#ifndef TOLLGATE_SHARED_H
#define TOLLGATE_SHARED_H

#include "common/ledger/mode.h"
#include "fcgi-app/request.h"
#include "fcgi-app/route/breaker.h"

enum tg_gauge {
    TG_GAUGE_INFLIGHT,
    TG_GAUGE_THREADS,
    TG_GAUGE_STREAMS,
    TG_GAUGE_FINISHING,
    TG_GAUGE__COUNT
};

enum tg_counter {
    TG_COUNTER_REQUESTS,
    TG_COUNTER_ERRORS,
    TG_COUNTER_SHED,
    TG_COUNTER_ATTEMPTS,
    TG_COUNTER_INPUT_TOKENS,
    TG_COUNTER_OUTPUT_TOKENS,
    TG_COUNTER_QUOTA,
    TG_COUNTER_SETTLE_LATER, /* left to the replay */
    TG_COUNTER_CLIENT_GONE,
    TG_COUNTER_WORKER_RESTARTS,
    TG_COUNTER__COUNT
};

struct tg_shared;
struct tg_key_board;

struct tg_shared *tg_shared_new(int workers) must_check; /* before the fork */
void tg_shared_gauge(struct tg_shared *shared, int worker, enum tg_gauge gauge, int64_t change)
    non_null(1);
int64_t tg_shared_gauge_of(const struct tg_shared *shared, int worker, enum tg_gauge gauge)
    non_null(1);
int64_t tg_shared_gauge_sum(const struct tg_shared *shared, enum tg_gauge gauge) non_null(1);
void tg_shared_worker_died(struct tg_shared *shared, int worker) non_null(1);
void tg_shared_count(struct tg_shared *shared, enum tg_counter counter, int64_t more) non_null(1);
int64_t tg_shared_counter(const struct tg_shared *shared, enum tg_counter counter) non_null(1);
void tg_shared_stage_time(struct tg_shared *shared, enum tg_stage stage, int64_t us) non_null(1);
/* Is this node's money online? */
struct tg_money_mode *tg_shared_money(struct tg_shared *shared) non_null(1);
/* States of keys. */
struct tg_key_board *tg_shared_keys(struct tg_shared *shared) non_null(1);
struct tg_breakers *tg_shared_breakers(struct tg_shared *shared) non_null(1);
/* What somebody wants done at once by the worker that watches the channels: how often so far. */
enum tg_wish { TG_WISH_TESTS, TG_WISH_BALANCES, TG_WISH__COUNT };
void tg_shared_wish(struct tg_shared *shared, enum tg_wish wish) non_null(1);
int64_t tg_shared_wishes(const struct tg_shared *shared, enum tg_wish wish) non_null(1);
/* Sum of microseconds and number of observations of a stage. */
void tg_shared_stage_sum(const struct tg_shared *shared, enum tg_stage stage, int64_t *ret_us,
                         int64_t *ret_count) non_null(1, 3, 4);

#endif
