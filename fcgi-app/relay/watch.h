/* watch - channels tested in rounds: those that were disabled by themselves come back when they
 * work, the others are disabled when their account is refused or they are too slow.
 *
 * A round is made every channel_test.every by the node that holds the lease, of the channels that
 * channel_test.mode names (a test costs money), and of all of them at once by whichever node the
 * console or tollgatectl asks (TG_WISH_TESTS). A channel that somebody has disabled by hand is
 * never called. A channel that comes back does so with the key that worked.
 *
 * Threads  its own, in the first worker of a node: up to channel_test.parallel of them block on
 *          upstreams, for channel_test.limit each at most, and on the database.
 */
#ifndef TOLLGATE_RELAY_WATCH_H
#define TOLLGATE_RELAY_WATCH_H

#include "common/base/base.h"

struct tg_watch;
struct tg_worker;

/* NULL when there is no thread for it. The worker must outlive it. */
struct tg_watch *tg_watch_new(struct tg_worker *worker) must_check non_null(1);
void tg_watch_free(struct tg_watch *watch); /* ends what runs, and joins; NULL is fine */

#endif
