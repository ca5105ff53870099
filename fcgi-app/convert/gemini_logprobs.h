/* gemini_logprobs - probabilities of tokens, in Chat's words and in Gemini's.
 *
 * Pure.  Threads  any.  Source  PROTOCOLS C1.
 */
#ifndef TOLLGATE_CONVERT_GEMINI_LOGPROBS_H
#define TOLLGATE_CONVERT_GEMINI_LOGPROBS_H

#include "fcgi-app/convert/convert.h"

/* "logprobsResult" of <candidate> from a choice's logprobs. */
void tg_logprobs_to_gemini(const struct tg_json *logprobs, struct tg_json *candidate)
    non_null(1, 2);
/* A choice's logprobs from a candidate; null when it has none. Gemini gives no bytes: they are
 * those of the token's text. */
struct tg_json *tg_logprobs_of_gemini(const struct tg_json *candidate) must_check non_null(1);

#endif
