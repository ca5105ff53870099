/* effort - how much a model shall think: words of one family, budgets of tokens of another.
 *
 * Pure.  Threads  any.  Source  PROTOCOLS B0.5.
 */
#ifndef TOLLGATE_CONVERT_EFFORT_H
#define TOLLGATE_CONVERT_EFFORT_H

#include "common/base/arena.h"

/* The reasoning_effort that a budget comes nearest to; "none" for 0. */
const char *tg_effort_of_budget(int64_t budget) must_check;
/* Gemini's thinkingBudget for an effort; -1: no such word. */
int64_t tg_effort_budget(struct tg_span effort) must_check;

#endif
