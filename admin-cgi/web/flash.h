/* flash - one sentence for the next page, in a signed cookie of a minute.
 *
 * The signature covers the session, so nobody can put words into another's page.
 *
 * Threads  one.  Blocks  no.
 */
#ifndef TOLLGATE_WEB_FLASH_H
#define TOLLGATE_WEB_FLASH_H

#include "admin-cgi/web/page.h"

void web_flash_set(struct web_page *page, const char *text) non_null(1, 2);
/* The sentence, "" without one; it is taken away. */
const char *web_flash_take(struct web_page *page) must_check non_null(1);

#endif
