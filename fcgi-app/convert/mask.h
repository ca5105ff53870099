/* mask - take secrets and addresses out of a text that goes to a client.
 *
 * An upstream's message may quote the operator's key, account, host or proxy. API keys, account
 * names (org-…, proj_…), URLs, host names, IP addresses, e-mail addresses and long random words
 * become "***"; every other byte stays, because clients look for phrases such as "maximum context
 * length" in messages.
 *
 * Pure.  Threads  any.  Source  PROTOCOLS A7.
 */
#ifndef TOLLGATE_CONVERT_MASK_H
#define TOLLGATE_CONVERT_MASK_H

#include "common/base/buf.h"

/* Appends the masked <text> to <out>. */
void tg_mask(struct tg_span text, struct tg_buf *out) non_null(2);

#endif
