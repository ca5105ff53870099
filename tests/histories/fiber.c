#include "tests/histories/fiber.h"

#include "common/base/memory.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#define LEAVE(save, stack, size) __sanitizer_start_switch_fiber((save), (stack), (size))
#define ARRIVE(save, stack, size) __sanitizer_finish_switch_fiber((save), (stack), (size))
#define CLEAR(stack, size) __asan_unpoison_memory_region((stack), (size))
#else
#define LEAVE(save, stack, size) (void)(save)
#define ARRIVE(save, stack, size) (void)(save)
#define CLEAR(stack, size) (void)(stack)
#endif

enum { STACK_BYTES = 1 << 20 };

struct fiber {
    ucontext_t context;
    void *stack;
    fiber_fn *body;
    void *argument;
    bool done;
    struct fiber *next; /* in the list of those to be used again */
};

static struct fiber *spare, *running;
static ucontext_t driver;
static const void *driver_stack;
static size_t driver_size;

static void to_driver(void)
{
    struct fiber *self = running;
    void *save = NULL;

    running = NULL;
    LEAVE(self->done ? NULL : &save, driver_stack, driver_size);
    swapcontext(&self->context, &driver);
    ARRIVE(save, &driver_stack, &driver_size);
}

static void start(void)
{
    ARRIVE(NULL, &driver_stack, &driver_size);
    running->body(running->argument);
    running->done = true;
    to_driver();
}

static struct fiber *take(void)
{
    struct fiber *fiber = spare;

    if (fiber != NULL) {
        spare = fiber->next;
        return fiber;
    }
    fiber = tg_calloc(1, sizeof *fiber);
    fiber->stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    tg_assert(fiber->stack != MAP_FAILED);
    return fiber;
}

/* Alone: getcontext may return twice. */
static __attribute__((noinline)) void fill_context(ucontext_t *context)
{
    tg_assert(getcontext(context) == 0);
}

struct fiber *fiber_new(fiber_fn *body, void *argument)
{
    struct fiber *fiber = take();

    CLEAR(fiber->stack, STACK_BYTES); /* what a dropped one left */
    fill_context(&fiber->context);
    fiber->context.uc_stack.ss_sp = fiber->stack;
    fiber->context.uc_stack.ss_size = STACK_BYTES;
    fiber->context.uc_link = NULL;
    makecontext(&fiber->context, start, 0);
    fiber->body = body;
    fiber->argument = argument;
    fiber->done = false;
    return fiber;
}

bool fiber_resume(struct fiber *fiber)
{
    void *save = NULL;

    tg_assert(running == NULL && !fiber->done);
    running = fiber;
    LEAVE(&save, fiber->stack, STACK_BYTES);
    swapcontext(&driver, &fiber->context);
    ARRIVE(save, NULL, NULL);
    return !fiber->done;
}

void fiber_yield(void)
{
    tg_assert(running != NULL);
    to_driver();
}

void *fiber_argument(void)
{
    return running == NULL ? NULL : running->argument;
}

void fiber_free(struct fiber *fiber)
{
    fiber->next = spare;
    spare = fiber;
}
