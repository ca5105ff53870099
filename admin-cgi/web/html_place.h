/* html_place - where in an HTML text are we? Follows the literal text of a template. Pure.
 *
 * Knows as much of HTML as templates may use: double-quoted attributes only, no comments (the
 * templates' own are better), nothing inside script and style elements.
 *
 * Threads  any.  Blocks  no.
 */
#ifndef TOLLGATE_WEB_HTML_PLACE_H
#define TOLLGATE_WEB_HTML_PLACE_H

#include "common/base/base.h"

enum web_html_state {
    WEB_HTML_TEXT,
    WEB_HTML_TAG_NAME,   /* behind "<" */
    WEB_HTML_TAG,        /* between attributes */
    WEB_HTML_ATTRIBUTE,  /* inside an attribute's name */
    WEB_HTML_EQUALS,     /* behind "=" */
    WEB_HTML_VALUE,      /* inside "…" */
    WEB_HTML_URL_START,  /* at the first character of a URL attribute */
    WEB_HTML_URL,        /* behind it */
    WEB_HTML_FORBIDDEN,  /* inside a value that may not vary: on…, style */
    WEB_HTML_DECLARATION /* "<!doctype …>" */
};

struct web_html_place {
    enum web_html_state state;
    bool closing;      /* the tag is "</…" */
    char element[16];  /* in lower case, cut */
    char attribute[24];
    bool raw;          /* inside <script> or <style>: only white space may stand here */
};

/* Steps over one character. False: this is no HTML that a template may hold. */
bool web_html_step(struct web_html_place *place, char c) must_check non_null(1);
/* May a value stand here? */
bool web_html_may_vary(const struct web_html_place *place) must_check non_null(1);
/* A value was put here. */
void web_html_varied(struct web_html_place *place) non_null(1);
/* Two ways lead to one place; false when they do not meet. The result goes to <place>. */
bool web_html_join(struct web_html_place *place, const struct web_html_place *other) must_check
    non_null(1, 2);

#endif
