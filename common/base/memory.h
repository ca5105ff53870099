/* memory - heap allocation that does not fail.
 *
 * Out of memory ends the process: the master restarts a worker and its holds are swept, which is
 * simpler and safer than an error path that nobody can test.
 *
 * Threads  any.  Blocks  no.
 */
#ifndef TOLLGATE_BASE_MEMORY_H
#define TOLLGATE_BASE_MEMORY_H

#include "common/base/base.h"

void *tg_malloc(size_t size) must_check;
void *tg_calloc(size_t count, size_t size) must_check; /* refuses count * size overflow */
void *tg_realloc(void *old, size_t size) must_check;
char *tg_strdup(const char *text) must_check non_null(1);
char *tg_strndup(const char *text, size_t len) must_check non_null(1);

/* For a process of many threads, before it has them: few heaps, which stay dense, in place of one
 * for each few threads, whose gaps go on filling for hundreds of thousands of requests. */
void tg_memory_share_heaps(void);

/* No core file is ever written of this process and its children: what is in memory is secret. */
void tg_memory_keep(void);

#endif
