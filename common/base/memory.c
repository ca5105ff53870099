#include "common/base/memory.h"

#include <stdio.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

void tg_assert_failed(const char *condition, const char *file, int line)
{
    fprintf(stderr, "tollgate: assertion failed at %s:%d: %s\n", file, line, condition);
    abort();
}

static no_return void out_of_memory(size_t size)
{
    fprintf(stderr, "tollgate: out of memory (%lu bytes)\n", (unsigned long)size);
    abort();
}

void *tg_malloc(size_t size)
{
    void *got = malloc(size > 0 ? size : 1);

    if (got == NULL)
        out_of_memory(size);
    return got;
}

void *tg_calloc(size_t count, size_t size)
{
    void *got = calloc(count > 0 ? count : 1, size > 0 ? size : 1);

    if (got == NULL)
        out_of_memory(size);
    return got;
}

void *tg_realloc(void *old, size_t size)
{
    void *got = realloc(old, size > 0 ? size : 1);

    if (got == NULL)
        out_of_memory(size);
    return got;
}

char *tg_strndup(const char *text, size_t len)
{
    char *copy = tg_malloc(len + 1);

    memcpy(copy, text, len);
    copy[len] = '\0';
    return copy;
}

char *tg_strdup(const char *text)
{
    return tg_strndup(text, strlen(text));
}

void tg_memory_share_heaps(void)
{
    enum { PROCESSORS_PER_HEAP = 4, LEAST = 2, LARGE_BYTES = 256 * 1024 };
    long processors = sysconf(_SC_NPROCESSORS_ONLN);

    (void)mallopt(M_ARENA_MAX, (int)TG_MAX(processors / PROCESSORS_PER_HEAP, LEAST));
    /* Fixed, or glibc raises it with the first large body and keeps such blocks in the heap. */
    (void)mallopt(M_MMAP_THRESHOLD, LARGE_BYTES);
}

void tg_memory_keep(void)
{
    const struct rlimit none = {0, 0};

    (void)setrlimit(RLIMIT_CORE, &none);
}
