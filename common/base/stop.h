/* stop - places where a test may end the process as kill -9 would.
 *
 * Only in builds with sanitizers: there a process ends at TG_STOP(name) when the file that
 * TOLLGATE_STOP names holds this name; it takes the file away first, so that one process ends once.
 * In other builds nothing is left of it.
 *
 * Threads  any.  Blocks  no.
 */
#ifndef TOLLGATE_BASE_STOP_H
#define TOLLGATE_BASE_STOP_H

#ifdef TG_SANITIZED
void tg_stop_at(const char *name);
#define TG_STOP(name) tg_stop_at(name)
#else
#define TG_STOP(name) ((void)0)
#endif

#endif
