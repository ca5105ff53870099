/* envelope - signatures and encrypted reasoning of one family in a slot of another.
 *
 * gw1.<origin>.<base64url of the payload>: a foreign payload never reaches an upstream, and its
 * own family gets it back byte for byte. "gw1.none." stands for reasoning that nobody signed.
 *
 * Pure.  Threads  any.  Source  PROTOCOLS 0.3.
 */
#ifndef TOLLGATE_CONVERT_ENVELOPE_H
#define TOLLGATE_CONVERT_ENVELOPE_H

#include "common/base/buf.h"

enum tg_origin {
    TG_ORIGIN_NONE,     /* unsigned text, no payload */
    TG_ORIGIN_CLAUDE,   /* a thinking block's signature */
    TG_ORIGIN_REDACTED, /* a redacted_thinking block's data */
    TG_ORIGIN_GEMINI,   /* a thoughtSignature */
    TG_ORIGIN_OPENAI,   /* {"id":…,"e":…} of a reasoning item */
    TG_ORIGIN__COUNT
};

/* Behind what <out> holds. */
void tg_envelope_wrap(enum tg_origin origin, struct tg_span payload, struct tg_buf *out)
    non_null(3);
/* False: no envelope, a native payload. The payload goes behind what <out> holds;
 * one that is no text is left out, and is of no origin. */
bool tg_envelope_unwrap(struct tg_span text, enum tg_origin *ret_origin, struct tg_buf *out)
    must_check non_null(2, 3);

/* Is it an envelope, whatever is in it? */
bool tg_envelope_is(struct tg_span text) must_check;

#endif
