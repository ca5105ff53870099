/* pattern - model names with stars ("gpt-4o-*") for channels and prices. Pure.
 *
 * Threads  any.  Blocks  no.
 */
#ifndef TOLLGATE_BASE_PATTERN_H
#define TOLLGATE_BASE_PATTERN_H

#include "common/base/base.h"

/* Does <name> match <pattern>, whose stars stand for any run of characters? */
bool tg_pattern_matches(const char *pattern, const char *name) must_check non_null(1, 2);
/* Which of two patterns is the more exact: the longer fixed beginning, then more fixed characters
 * in all; > 0 when it is <a>. */
int tg_pattern_compare(const char *a, const char *b) non_null(1, 2);

#endif
