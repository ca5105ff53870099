/* serve - one request from its first byte to its last: read, admit, handle, answer.
 *
 *   read the request -> find the route's row -> who is it, may it -> read the form -> handler
 *   -> the document as JSON, as a page, or a browser sent on
 *
 * Threads  one.  Blocks  as its stores and the web server do.
 */
#ifndef TOLLGATE_WEB_SERVE_H
#define TOLLGATE_WEB_SERVE_H

#include "admin-cgi/web/page.h"

void web_serve(struct web_site *site, struct web_gate *gate) non_null(1, 2);
/* The console cannot even begin: <err> goes to the log, the client gets a plain 500. */
void web_serve_nothing(struct web_gate *gate, const struct tg_error *err) non_null(1, 2);

#endif
