/* memory_file - a file that is in memory only, for the microseconds in which libfcgi reads from it.
 *
 * One is kept for the next request: making one costs ten times as much as writing into it.
 *
 * Threads  any (an atomic exchange).  Blocks  no.
 */
#ifndef TOLLGATE_FCGI_MEMORY_FILE_H
#define TOLLGATE_FCGI_MEMORY_FILE_H

#include "common/base/buf.h"

/* Holds <bytes>, to be read from its start; -1: no descriptor is left. Behind them may stand what a
 * longer request left: the reader stops where the bytes say so. */
int tg_memory_file_take(const struct tg_buf *bytes) must_check non_null(1);
void tg_memory_file_give(int fd);

#endif
