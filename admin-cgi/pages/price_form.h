/* price_form - the fields of a price, and the price that they make.
 *
 * Threads  one.  Blocks  no.
 */
#ifndef TOLLGATE_PAGES_PRICE_FORM_H
#define TOLLGATE_PAGES_PRICE_FORM_H

#include "admin-cgi/web/page.h"
#include "common/price/list.h"

enum { PAGE_PRICE_FIELDS = 18 };
extern const struct web_choice page_price_forms[];
extern const struct web_field page_price_fields[PAGE_PRICE_FIELDS];

/* Checked as before saving, and hashed. A failure names a field of the form. */
enum tg_class page_price_read(struct web_page *page, struct tg_price *ret) must_check
    non_null(1, 2);
/* What the form shows at first. */
void page_price_fill(struct web_page *page, const struct tg_price_row *row) non_null(1, 2);

#endif
