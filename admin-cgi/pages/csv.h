/* csv - a list sent as CSV page by page, so that no answer is held in memory as a whole.
 *
 * A failure in the middle shows as a last line that is no row: the status was sent already.
 *
 * Threads  one.  Blocks  on the database and the web server.
 */
#ifndef TOLLGATE_PAGES_CSV_H
#define TOLLGATE_PAGES_CSV_H

#include "admin-cgi/web/page.h"

/* One page of the list. */
typedef enum tg_class page_csv_fn(struct web_page *page, const void *filter,
                                  const struct tg_page *at, struct tg_csv *csv);
enum tg_class page_csv_send(struct web_page *page, const char *file_name, page_csv_fn *next,
                            const void *filter) must_check non_null(1, 2, 3);
/* What stands at the end of a file that is not whole. */
void page_csv_broken(struct web_page *page) non_null(1);

#endif
