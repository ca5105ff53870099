/* body_gemini - what must be known of a request of Gemini's, whose model stands in its path.
 *
 * Errors   TG_CLASS_INVALID in req->error, with its param.
 * Threads  the request's.  Blocks  no.
 */
#ifndef TOLLGATE_BODY_GEMINI_H
#define TOLLGATE_BODY_GEMINI_H

#include "fcgi-app/request.h"

enum { TG_MODEL_NAME_MOST = 191 }; /* what the records hold */

/* Sets model, stream, answers and the ceiling of the output. */
enum tg_class tg_body_gemini(struct tg_request *req) must_check non_null(1);

#endif
