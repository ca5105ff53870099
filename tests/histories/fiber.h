/* fiber - a function with a stack of its own that runs until it yields.
 *
 * All actors of a history are fibers of one thread: which of them goes on is decided by the
 * driver alone, so a history is the same each time. A killed process is fibers that are never
 * resumed.
 *
 * Threads  one.  Blocks  no.
 */
#ifndef TOLLGATE_HISTORIES_FIBER_H
#define TOLLGATE_HISTORIES_FIBER_H

#include "common/base/base.h"

struct fiber;
typedef void fiber_fn(void *argument);

/* <argument> must live as long as the fiber. */
struct fiber *fiber_new(fiber_fn *body, void *argument);
/* Until its next yield; false when it has come to its end. */
bool fiber_resume(struct fiber *fiber);
void fiber_yield(void);
void *fiber_argument(void); /* of the running one; NULL on the thread's own stack */
/* At its end, or never to be resumed again. */
void fiber_free(struct fiber *fiber);

#endif
