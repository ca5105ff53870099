/* gate - where a request comes from and its answer goes to: plain CGI, or FastCGI.
 *
 * The same program is both: descriptor 0 tells which it is (a listening socket means FastCGI).
 *
 * Threads  one.  Blocks  on the web server.
 */
#ifndef TOLLGATE_WEB_GATE_H
#define TOLLGATE_WEB_GATE_H

#include "common/base/error.h"
#include "common/fcgi/fcgi.h"

struct web_gate {
    struct tg_fcgi *fcgi; /* NULL: plain CGI, environment and standard streams */
    bool failed;          /* the peer has gone: further writes do nothing */
};

/* Is descriptor 0 a listening socket? */
bool web_gate_is_fastcgi(void) must_check;

/* A CGI variable, NULL when absent. Borrowed until the request's end. */
const char *web_gate_param(const struct web_gate *gate, const char *name) must_check
    non_null(1, 2);
/* "x-api-key" -> HTTP_X_API_KEY */
const char *web_gate_header(const struct web_gate *gate, const char *name) must_check
    non_null(1, 2);
/* At least one byte; *ret_len 0 at the end. */
enum tg_class web_gate_read(struct web_gate *gate, void *bytes, size_t room, size_t *ret_len,
                            struct tg_error *err) must_check non_null(1, 2, 4);
void web_gate_write(struct web_gate *gate, const void *bytes, size_t len) non_null(1);

#endif
