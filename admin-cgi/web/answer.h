/* answer - status line, headers and body of an answer, with the headers that keep a page safe.
 *
 * Threads  one.  Blocks  on the web server.
 */
#ifndef TOLLGATE_WEB_ANSWER_H
#define TOLLGATE_WEB_ANSWER_H

#include "admin-cgi/web/request.h"

struct web_answer {
    int status;
    const char *type;        /* Content-Type; NULL: no body */
    const char *location;    /* NULL: none; a path of this site */
    const char *file_name;   /* a download of that name; NULL: none */
    const struct tg_buf *head; /* further lines, each with CRLF; NULL: none */
    struct tg_span body;
    bool streams; /* the body follows by web_gate_write */
    bool cached;  /* the same for everybody, until the version changes */
};

void web_answer_send(struct web_gate *gate, const struct web_request *request,
                     const struct web_answer *answer) non_null(1, 2, 3);
const char *web_status_text(int status);
/* Set-Cookie: HttpOnly, SameSite=Strict, Path=/; Secure and the prefix __Host- under TLS.
 * <seconds> 0: taken away. <value> holds nothing but letters, digits and "-._". */
void web_cookie_set(struct tg_buf *head, const struct web_request *request, const char *name,
                    const char *value, int64_t seconds) non_null(1, 2, 3, 4);
/* NULL when it was not sent. */
const char *web_cookie(const struct web_request *request, const char *name) must_check
    non_null(1, 2);

#endif
