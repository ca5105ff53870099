/* chat_usage - the usage that a Chat answer or event reports.
 *
 * prompt_tokens includes cache reads and writes, completion_tokens includes reasoning. Dialects
 * that put the figures elsewhere are read too: prompt_cache_hit_tokens and cached_tokens at the
 * top of usage (only when prompt_tokens_details has none), x_groq.usage, choices[0].usage.
 *
 * Pure.  Threads  any.  Source  PROTOCOLS C3.
 */
#ifndef TOLLGATE_CONVERT_CHAT_USAGE_H
#define TOLLGATE_CONVERT_CHAT_USAGE_H

#include "common/price/usage.h"

/* The text of a usage object. False, and *ret untouched, when it is none or counts nothing at
 * all: null and zeros say nothing and never overwrite figures that came before. */
bool tg_chat_usage_read(struct tg_span object, struct tg_usage *ret) must_check non_null(2);
/* The usage of a whole answer or event, wherever it stands. */
bool tg_chat_usage_find(struct tg_span text, struct tg_usage *ret) must_check non_null(2);

#endif
