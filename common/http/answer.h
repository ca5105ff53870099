/* answer - the header lines of an HTTP answer, kept within limits (what http.h calls
 * tg_http_answer).
 *
 * A hostile upstream fills neither memory nor the next answer on the connection: lines and bytes
 * are capped, NUL is refused, continuation lines (obs-fold, RFC 9112 5.2) are dropped and never
 * taken for headers, and an answer whose length is told twice differently is no answer
 * (RFC 9112 6.3). Values are what lies between the blanks, CR and LF cannot be among them.
 *
 * Threads  one owner.  Blocks  no.
 */
#ifndef TOLLGATE_HTTP_ANSWER_H
#define TOLLGATE_HTTP_ANSWER_H

#include "common/base/buf.h"

enum { TG_HTTP_HEADERS_MOST = 256, TG_HTTP_HEADER_BYTES_MOST = 64 * 1024 };

struct tg_http_answer {
    int status;
    size_t count;
    struct tg_buf text; /* name NUL value NUL, again and again */
};

void tg_http_answer_init(struct tg_http_answer *answer) non_null(1);
void tg_http_answer_done(struct tg_http_answer *answer) non_null(1);
/* Another status line came: what was before it is forgotten. */
void tg_http_answer_begin(struct tg_http_answer *answer, int status) non_null(1);
/* One line, with or without its end. False: the answer is refused. */
bool tg_http_answer_line(struct tg_http_answer *answer, const char *line, size_t len) must_check
    non_null(1, 2);
/* All headers are in: is the length of the body told once? */
bool tg_http_answer_is_framed(const struct tg_http_answer *answer) must_check non_null(1);

#endif
