/* passed - the headers of an upstream's answer that its client gets to see: an allow-list.
 *
 * What an upstream sends is never copied as it stands: Set-Cookie, Location, X-Accel-Redirect and
 * the like would be taken for ours by web server and client, its rate limits are those of the
 * operator's account. Values are printable ASCII of limited length, or left out; the block stays
 * far below the 4 KiB that web servers hold.
 *
 * Source   PROTOCOLS A3; reference S3.
 * Threads  the request's.  Blocks  no.
 */
#ifndef TOLLGATE_UPSTREAM_PASSED_H
#define TOLLGATE_UPSTREAM_PASSED_H

#include "common/http/http.h"
#include "fcgi-app/request.h"

/* Takes the allowed headers of an answer into the request's arena, in place of older ones. */
void tg_passed_take(struct tg_request *req, const struct tg_http_answer *answer) non_null(1, 2);

#endif
