/* test - one real call through a channel, for the console and `tollgatectl channel test`.
 *
 * Threads  the request's.  Blocks  as long as the upstream may take.
 */
#ifndef TOLLGATE_RELAY_TEST_H
#define TOLLGATE_RELAY_TEST_H

#include "fcgi-app/request.h"

struct tg_channel_test {
    int64_t channel_id;
    int64_t version;   /* of the routing tables: an older snapshot is waited out, for 3 s */
    const char *model; /* NULL: the channel's first */
};
/* Answers JSON into req->tail: {"ok","status","ms","model","code","error"}, and of a call that
 * worked "answer" and, as far as they are known, "input", "output", "cost_quota". */
void tg_channel_test(struct tg_request *req, const struct tg_channel_test *test) non_null(1, 2);

#endif
