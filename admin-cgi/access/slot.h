/* slot - at most four password hashes at once on this machine, in however many processes.
 *
 * A slot is an flock(2) on a file that every process of the console can open for reading (a
 * template), so there is nothing to create and nothing to clean up.
 *
 * Errors   TG_CLASS_OVERLOAD "login_busy".
 * Threads  one.  Blocks  up to 5 s.
 */
#ifndef TOLLGATE_ACCESS_SLOT_H
#define TOLLGATE_ACCESS_SLOT_H

#include "common/base/arena.h"
#include "common/base/error.h"

/* *ret_fd: to be closed by access_slot_leave. */
enum tg_class access_slot_enter(struct tg_arena *arena, const char *folder, int *ret_fd,
                                struct tg_error *err) must_check non_null(1, 2, 3);
void access_slot_leave(int fd);

#endif
