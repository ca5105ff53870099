/* test - one real call through a channel, for the console and `tollgatectl channel test`.
 *
 * Threads  the request's.  Blocks  as long as the upstream may take.
 */
#ifndef TOLLGATE_RELAY_TEST_H
#define TOLLGATE_RELAY_TEST_H

#include "fcgi-app/request.h"

/* <model> NULL: the channel's first. Answers JSON into req->tail. */
void tg_channel_test(struct tg_request *req, int64_t channel_id, const char *model) non_null(1);

#endif
