/* arena - memory that lives as long as one request.
 *
 * Allocate freely, reset once: nothing in an arena is freed alone. Blocks grow by doubling from
 * 4 KiB to 256 KiB; larger wishes get a block of their own. Reset keeps the first block.
 *
 * Threads  one owner.  Blocks  no.
 */
#ifndef TOLLGATE_BASE_ARENA_H
#define TOLLGATE_BASE_ARENA_H

#include "common/base/base.h"

struct tg_arena;

struct tg_arena *tg_arena_new(void) must_check;
void tg_arena_reset(struct tg_arena *arena) non_null(1);
void tg_arena_free(struct tg_arena *arena); /* NULL is fine */

/* Aligned for any type; not cleared. */
void *tg_arena_alloc(struct tg_arena *arena, size_t size) must_check non_null(1);
void *tg_arena_calloc(struct tg_arena *arena, size_t count, size_t size) must_check non_null(1);

char *tg_arena_strdup(struct tg_arena *arena, const char *text) must_check non_null(1, 2);
/* The copy of <text> is NUL-terminated. */
char *tg_arena_strndup(struct tg_arena *arena, const char *text, size_t len) must_check non_null(1);
char *tg_arena_printf(struct tg_arena *arena, const char *format, ...) must_check
    printf_like(2, 3) non_null(1, 2);

#endif
