/* test - one real call through a channel: for the console and `tollgatectl channel test`, and for
 * the rounds of watch.h. Each leaves its time and its outcome in the channel's row.
 *
 * Threads  the caller's.  Blocks  as long as the upstream may take.
 */
#ifndef TOLLGATE_RELAY_TEST_H
#define TOLLGATE_RELAY_TEST_H

#include "fcgi-app/request.h"

#include <stdatomic.h>

struct tg_channel_test {
    int64_t channel_id;
    int64_t version;   /* of the routing tables: an older snapshot is waited out, for 3 s */
    const char *model; /* NULL: the channel's own, or its first */
    int64_t limit_us;  /* 0: a minute */
    size_t key;        /* 0: the first that is in order; 1: the first of all, 2: the second, ... */
    const atomic_bool *stop; /* as in ask.h */
};
/* Answers JSON into req->tail: {"ok","status","ms","model","code","error"}, and of a call that
 * worked "answer" and, as far as they are known, "input", "output", "cost_quota". */
void tg_channel_test(struct tg_request *req, const struct tg_channel_test *test) non_null(1, 2);

struct tg_channel_tested {
    struct tg_error error; /* class TG_OK: it works */
    int64_t took_us, key_id;
    size_t key_count;
    bool off; /* it was disabled by itself */
};
/* The same for the gateway itself: of <req> only worker and arena are used. */
void tg_channel_try(struct tg_request *req, const struct tg_channel_test *test,
                    struct tg_channel_tested *ret) non_null(1, 2, 3);

#endif
