#include "common/base/stack.h"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

/* Below this call: the red zone, and what the system call itself needs. */
enum { KEPT_BYTES = 4096 };

static _Thread_local uintptr_t lowest;

void tg_stack_know(void)
{
    pthread_attr_t attr;
    void *low;
    size_t size;

    if (pthread_getattr_np(pthread_self(), &attr) != 0)
        return;
    if (pthread_attr_getstack(&attr, &low, &size) == 0)
        lowest = (uintptr_t)low;
    pthread_attr_destroy(&attr);
}

void tg_stack_trim(void)
{
#ifndef TG_SANITIZED /* sanitizers keep notes on every byte of it */
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), here = (uintptr_t)&page;
    uintptr_t end = (here - KEPT_BYTES) & ~(page - 1);

    if (lowest != 0 && end > lowest)
        (void)madvise((void *)lowest, end - lowest, MADV_DONTNEED);
#endif
}
