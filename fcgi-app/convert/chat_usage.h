/* chat_usage - the figures of a Chat usage object.
 *
 * prompt_tokens includes cache reads and writes, completion_tokens includes reasoning. Where
 * vendors report cache hits under other names, those are read (usage_figures.c).
 *
 * Pure.  Threads  any.  Source  PROTOCOLS C3.
 */
#ifndef TOLLGATE_CONVERT_CHAT_USAGE_H
#define TOLLGATE_CONVERT_CHAT_USAGE_H

#include "common/price/usage.h"

/* The text of a usage object. False, and *ret untouched, when it is none or counts nothing at
 * all: null and zeros say nothing and never overwrite figures that came before. */
bool tg_chat_usage_read(struct tg_span object, struct tg_usage *ret) must_check non_null(2);

#endif
