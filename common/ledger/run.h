/* run - one step of the ledger until it comes to an answer.
 *
 * Hides what every script may answer besides its own results: "rebuilding" (the epochs are read
 * from MySQL again, the step repeated until its deadline), "missing" (the accounts are loaded,
 * the step repeated). A step whose connection failed is not repeated: it may have run.
 *
 * Redis counts as away when no script has succeeded for some time although some were tried; a count
 * of failures never decides, since many threads fail together in one stall of its disk. While it
 * counts as away nobody waits.
 *
 * Source  LEDGER "Steps", AMENDMENTS L1, L16, T3.
 * Threads  any.  Blocks  up to the deadline.
 */
#ifndef TOLLGATE_LEDGER_RUN_H
#define TOLLGATE_LEDGER_RUN_H

#include "common/ledger/ledger.h"
#include "common/ledger/step.h"

#include <pthread.h>
#include <stdatomic.h>

struct tg_ledger {
    struct tg_ledger_conf conf;
    char node[64];
    int64_t lease_ms;
    pthread_mutex_t refreshing; /* held by the one thread that reads the epochs */
    int64_t refreshed_at_us;    /* under <refreshing> */
    _Atomic int64_t epochs[TG_SHARDS]; /* 0: not known, or the shard has never been on */
    struct tg_money_mode *mode, own_mode;
};

/* A step and the accounts it touches. */
struct tg_run {
    struct tg_ledger *ledger;
    struct tg_step *step;
    int64_t user_id, token_id;        /* token 0: none */
    const struct tg_funding *funding; /* whose plans it touches */
    size_t funding_count;
    int64_t only_epoch; /* 0, or: answer "rebuilding" instead of going on in another epoch */
    int64_t deadline_at_us;
    struct tg_error *err;
};

enum tg_ledger_answer tg_run_to_answer(struct tg_run *run, struct tg_outcome *ret) must_check
    non_null(1, 2);

#endif
