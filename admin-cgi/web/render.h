/* render - a page's document as HTML, and errors as pages or documents.
 *
 * Errors   TG_CLASS_CONFIG of template.h.
 * Threads  one.  Blocks  on reading templates.
 */
#ifndef TOLLGATE_WEB_RENDER_H
#define TOLLGATE_WEB_RENDER_H

#include "admin-cgi/web/page.h"

/* The closed document in page->doc through the template of that name, inside the layout. */
enum tg_class web_render(struct web_page *page, const char *template_name, struct tg_buf *out,
                         struct tg_error *err) must_check non_null(1, 2, 3, 4);
/* What a person or a program is told about page->err: a document of status, code, message. */
void web_render_error(struct web_page *page, int status, struct tg_buf *ret) non_null(1, 3);
int web_status_of(enum tg_class class);

#endif
