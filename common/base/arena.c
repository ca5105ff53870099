#include "common/base/arena.h"

#include "common/base/memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_BLOCK = 4096, LARGEST_BLOCK = 256 * 1024 };

struct block {
    struct block *next;
    size_t size;
    size_t used;
    _Alignas(max_align_t) char data[];
};

struct tg_arena {
    struct block *first; /* kept by reset */
    struct block *current;
    size_t next_size;
};

static struct block *block_new(size_t size)
{
    struct block *block = tg_malloc(sizeof *block + size);

    block->next = NULL;
    block->size = size;
    block->used = 0;
    return block;
}

struct tg_arena *tg_arena_new(void)
{
    struct tg_arena *arena = tg_malloc(sizeof *arena);

    arena->first = arena->current = block_new(FIRST_BLOCK);
    arena->next_size = 2 * FIRST_BLOCK;
    return arena;
}

static void free_blocks(struct block *block)
{
    while (block != NULL) {
        struct block *next = block->next;

        free(block);
        block = next;
    }
}

void tg_arena_reset(struct tg_arena *arena)
{
    free_blocks(arena->first->next);
    arena->first->next = NULL;
    arena->first->used = 0;
    arena->current = arena->first;
    arena->next_size = 2 * FIRST_BLOCK;
}

void tg_arena_free(struct tg_arena *arena)
{
    if (arena == NULL)
        return;
    free_blocks(arena->first);
    free(arena);
}

void *tg_arena_alloc(struct tg_arena *arena, size_t size)
{
    const size_t align = _Alignof(max_align_t);
    struct block *block = arena->current;
    void *got;

    tg_assert(size <= SIZE_MAX - align);
    size = (size + align - 1) & ~(align - 1);
    if (size > block->size - block->used) {
        block = block_new(TG_MAX(size, arena->next_size));
        arena->current->next = block;
        arena->current = block;
        arena->next_size = TG_MIN(2 * arena->next_size, (size_t)LARGEST_BLOCK);
    }
    got = block->data + block->used;
    block->used += size;
    return got;
}

void *tg_arena_calloc(struct tg_arena *arena, size_t count, size_t size)
{
    void *got;

    tg_assert(size == 0 || count <= SIZE_MAX / size);
    got = tg_arena_alloc(arena, count * size);
    memset(got, 0, count * size);
    return got;
}

char *tg_arena_strndup(struct tg_arena *arena, const char *text, size_t len)
{
    char *copy = tg_arena_alloc(arena, len + 1);

    if (len > 0)
        memcpy(copy, text, len);
    copy[len] = '\0';
    return copy;
}

char *tg_arena_strdup(struct tg_arena *arena, const char *text)
{
    return tg_arena_strndup(arena, text, strlen(text));
}

char *tg_arena_printf(struct tg_arena *arena, const char *format, ...)
{
    va_list args;
    int len;
    char *text;

    va_start(args, format);
    len = vsnprintf(NULL, 0, format, args);
    va_end(args);
    tg_assert(len >= 0);
    text = tg_arena_alloc(arena, (size_t)len + 1);
    va_start(args, format);
    vsnprintf(text, (size_t)len + 1, format, args);
    va_end(args);
    return text;
}
