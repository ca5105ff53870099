/* stop - places where a test may end the process as kill -9 would, and a wall clock that it steps.
 *
 * Only in builds with sanitizers: there a process ends at TG_STOP(name) when the file that
 * TOLLGATE_STOP names holds this name; it takes the file away first, so that one process ends once.
 * The wall clock is ahead by the microseconds in the file that TOLLGATE_CLOCK names (eight bytes of
 * this machine), which a test changes while processes run. In other builds nothing is left of it.
 *
 * Threads  any.  Blocks  no.
 */
#ifndef TOLLGATE_BASE_STOP_H
#define TOLLGATE_BASE_STOP_H

#include <stdint.h>

#ifdef TG_SANITIZED
void tg_stop_at(const char *name);
int64_t tg_stop_clock_step_us(void);
#define TG_STOP(name) tg_stop_at(name)
#define TG_CLOCK_STEP_US tg_stop_clock_step_us()
#else
#define TG_STOP(name) ((void)0)
#define TG_CLOCK_STEP_US 0
#endif

#endif
