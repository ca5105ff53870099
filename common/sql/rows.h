/* rows - a result set in memory: one block of bytes and one table of cells.
 *
 * Filled by db.c, read through db.h.
 *
 * Threads  one owner.  Blocks  no.
 */
#ifndef TOLLGATE_SQL_ROWS_H
#define TOLLGATE_SQL_ROWS_H

#include "common/sql/db.h"

enum tg_db_column { TG_DB_COLUMN_INT, TG_DB_COLUMN_DECIMAL, TG_DB_COLUMN_OTHER };

struct tg_db_rows *tg_db_rows_new(size_t columns) must_check;
void tg_db_rows_set_column(struct tg_db_rows *rows, size_t column, enum tg_db_column kind)
    non_null(1);
/* Cells are added from left to right, row by row. */
void tg_db_rows_add_null(struct tg_db_rows *rows) non_null(1);
void tg_db_rows_add_int(struct tg_db_rows *rows, int64_t number) non_null(1);
/* Room for <len> bytes (a NUL follows them), to be filled before the next add. */
char *tg_db_rows_add_bytes(struct tg_db_rows *rows, size_t len) must_check non_null(1);
void tg_db_rows_clear(struct tg_db_rows *rows) non_null(1); /* before a second reading */

#endif
