/* split - cuts a text into the pieces that an encoding merges one by one.
 *
 * The pieces are those of the patterns that tiktoken has for the encoding. What is plain ASCII,
 * and next to nothing else, is cut by hand; everything else through PCRE2. Both give the same.
 *
 * Threads  a splitter: any.  Blocks  no.
 * Source   tiktoken_ext/openai_public.py
 */
#ifndef TOLLGATE_COUNT_SPLIT_H
#define TOLLGATE_COUNT_SPLIT_H

#include "common/base/base.h"

enum tg_split_rules { TG_SPLIT_CL100K, TG_SPLIT_O200K };

/* The pattern, for tg_regex_new. */
const char *tg_split_pattern(enum tg_split_rules rules);

/* Bytes of the piece that begins <text>, which is not empty; 0: it takes the pattern to tell. */
size_t tg_split_ascii(enum tg_split_rules rules, const unsigned char *text, size_t len)
    must_check non_null(2);

#endif
