/* error_body - what an upstream says when it refuses, whatever shape it says it in.
 *
 * {"error":{…}} of OpenAI and Gemini, [{"error":{…}}], {"error":"text"}, {"detail":…},
 * {"message":…}, {"object":"error",…}, HTML, plain text, nothing at all: all become one tg_error
 * with the words that clients know. The message is masked (mask.h) and otherwise verbatim.
 *
 * Flags and class decisions (whose fault, retry or not) are the caller's: class is always
 * TG_CLASS_UPSTREAM.
 *
 * Pure.  Threads  any.  Source  PROTOCOLS A6, A7.
 */
#ifndef TOLLGATE_CONVERT_ERROR_BODY_H
#define TOLLGATE_CONVERT_ERROR_BODY_H

#include "common/base/error.h"
#include "fcgi-app/convert/value.h"

/* <status>: of the HTTP answer; below 400 (an error inside a 200 or a stream) the body's own
 * code, else its type, else 500 is taken. Keeps ret's flags and retry_after_ms at 0. */
void tg_error_body_read(int status, struct tg_span body, struct tg_error *ret) non_null(3);
/* Whether a JSON text says that it is an error although it came with 200: a filled "error"
 * member, or "object":"error", or "type":"error". */
bool tg_error_body_is(struct tg_span text);
/* The same of members already found; absent ones are null. */
bool tg_error_members_say_so(const struct tg_value *error, const struct tg_value *object,
                             const struct tg_value *type) non_null(1, 2, 3);

#endif
