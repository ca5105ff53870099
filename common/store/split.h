/* split - the statements of an SQL file.
 *
 * Knows strings, quoted names and comments of MySQL; no DELIMITER, so no stored programs.
 *
 * Pure.  Threads  any.  Blocks  no.
 */
#ifndef TOLLGATE_STORE_SPLIT_H
#define TOLLGATE_STORE_SPLIT_H

#include "common/base/base.h"

/* The next statement without the blanks and comments around it and without ';'. Moves *text
 * behind it; false at the end. */
bool tg_sql_next(const char **text, struct tg_span *ret) must_check non_null(1, 2);

#endif
