/* escape - text made harmless for the place it goes to. Pure.
 *
 * There is one function per place, and the template engine chooses it: no page escapes by hand.
 * Control characters (but tab and line ends) and NUL become U+FFFD everywhere in HTML.
 *
 * Threads  any.  Blocks  no.
 */
#ifndef TOLLGATE_WEB_ESCAPE_H
#define TOLLGATE_WEB_ESCAPE_H

#include "common/base/buf.h"

/* HTML text and double-quoted attribute values. */
void web_escape_html(struct tg_buf *out, const char *text, size_t len) non_null(1);
/* One component of a URL: everything but letters, digits and "-._~" is percent-encoded. */
void web_escape_url(struct tg_buf *out, const char *text, size_t len) non_null(1);
/* May a link lead there? A path of this site ("/x", not "//x"), "?x", "#x" or an http(s) URL,
 * without control characters. */
bool web_url_is_safe(const char *text, size_t len) must_check;
/* A whole URL as an attribute value; "#" when it is not safe. */
void web_escape_link(struct tg_buf *out, const char *text, size_t len) non_null(1);

#endif
