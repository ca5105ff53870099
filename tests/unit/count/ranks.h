/* ranks - both encoders, from the files in the source tree (TOLLGATE_SOURCE).
 *
 * Threads  one.  Blocks  on reading them.
 */
#ifndef TOLLGATE_TESTS_COUNT_RANKS_H
#define TOLLGATE_TESTS_COUNT_RANKS_H

#include "fcgi-app/count/encoders.h"

/* Borrowed until ranks_close. */
const struct tg_encoders *ranks_open(void);
void ranks_close(void);

#endif
