/* record - everything that is kept of one request: {"log":{columns},"detail":{documents}}.
 *
 * The names are those of request_log and request_detail. Never in it: credentials, channel keys
 * (their hint only), bodies, texts of upstream errors.
 *
 * Threads  the request's.  Blocks  no.
 */
#ifndef TOLLGATE_RECORD_RECORD_H
#define TOLLGATE_RECORD_RECORD_H

#include "fcgi-app/request.h"

void tg_record_write(const struct tg_request *req, struct tg_buf *out) non_null(1, 2);

#endif
