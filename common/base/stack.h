/* stack - gives back the pages of a thread's stack that only deeper calls had used.
 *
 * A request's first steps go deep (JSON, Redis, the database); a stream then lives for minutes in
 * shallow ones, and thousands of threads would keep those pages.
 *
 * Threads  each for its own stack.  Blocks  no.
 */
#ifndef TOLLGATE_BASE_STACK_H
#define TOLLGATE_BASE_STACK_H

#include "common/base/base.h"

/* Once per thread, at its start: without it trimming does nothing. */
void tg_stack_know(void);
/* One system call. What is deeper than this call is undefined afterwards, as it always is. */
void tg_stack_trim(void);

#endif
