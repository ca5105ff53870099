/* csv - rows as CSV (RFC 4180), from a table of their columns. For common/store only.
 *
 * A text that a spreadsheet would run as a formula (= + - @) gets a ' in front.
 *
 * Threads  as the rows.  Blocks  no.
 */
#ifndef TOLLGATE_STORE_CSV_H
#define TOLLGATE_STORE_CSV_H

#include "common/base/buf.h"
#include "common/store/columns.h"

void tg_csv_text(struct tg_buf *out, const char *text) non_null(1, 2);
/* Names, or the cells of the current row; without the line's end, so that more can follow. */
void tg_csv_head(struct tg_buf *out, const struct tg_column *columns, size_t count) non_null(1, 2);
void tg_csv_row(struct tg_buf *out, const struct tg_column *columns, size_t count,
                const struct tg_db_rows *rows) non_null(1, 2, 4);
void tg_csv_end(struct tg_buf *out) non_null(1);

#endif
