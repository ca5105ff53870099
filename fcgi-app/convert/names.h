/* names - tool names and call ids in the form that a target accepts, the same every time.
 *
 * What fits stays as it is. A longer or odder one is rewritten from itself alone, so that history
 * and answers need no table of their own.
 *
 * Owns  results live in the arena, or are the text given.  Pure.  Threads  any.
 * Source  PROTOCOLS 0.4, 0.5.
 */
#ifndef TOLLGATE_CONVERT_NAMES_H
#define TOLLGATE_CONVERT_NAMES_H

#include "common/base/arena.h"

enum { TG_NAME_MOST = 64, TG_CALL_ID_CHAT = 40, TG_CALL_ID_MOST = 64 };

/* A name of [A-Za-z0-9_-]{1,64}. */
const char *tg_name_make(struct tg_arena *arena, struct tg_span name) must_check non_null(1);
/* A call id of at most <most> of the same characters. */
const char *tg_call_id_make(struct tg_arena *arena, struct tg_span id, size_t most) must_check
    non_null(1);

#endif
