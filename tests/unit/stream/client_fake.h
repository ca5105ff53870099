/* client_fake - a client inside the test, in place of reply.c, fcgi.c and the hold.
 *
 * What was sent is one text; keep-alives show as "<ka>", the begin of a stream as "<begin>".
 */
#ifndef TOLLGATE_TESTS_STREAM_CLIENT_FAKE_H
#define TOLLGATE_TESTS_STREAM_CLIENT_FAKE_H

#include "fcgi-app/stream/client.h"

struct client_fake {
    struct tg_buf sent;
    int sends, hold_ticks;
    int fail_after; /* sends that succeed; -1: all */
    _Atomic bool gone; /* what the descriptor says; a test's upstream may set it */
    int64_t hold_wake_at_us, hold_tokens;
    int descriptor;
};
extern struct client_fake client_fake;

void client_fake_reset(void);
struct tg_fcgi *client_fake_fcgi(void); /* never looked into */

#endif
