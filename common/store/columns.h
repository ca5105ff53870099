/* columns - a row as a JSON object, from a table of its columns' names and kinds.
 *
 * For common/store only (view.h and list.h say what the JSON looks like).
 *
 * Threads  as the rows.  Blocks  no.
 */
#ifndef TOLLGATE_STORE_COLUMNS_H
#define TOLLGATE_STORE_COLUMNS_H

#include "common/json/writer.h"
#include "common/sql/db.h"

enum tg_column_kind {
    TG_INT,
    TG_TEXT,
    TG_FLAG,
    TG_TIME,
    TG_QUOTA, /* twice: in units, and NAME_usd as a decimal text */
    TG_JSON,
    TG_UUID,
    TG_DECIMAL, /* a text without trailing zeros */
    TG_PROXY    /* an address whose account is masked */
};
struct tg_column {
    const char *name;
    enum tg_column_kind kind;
};

/* The members of the current row, into an object that is open. Columns stand in the order of the
 * statement; what it selects behind them is left out. */
void tg_columns_members(struct tg_json_writer *out, const struct tg_column *columns, size_t count,
                        const struct tg_db_rows *rows) non_null(1, 2, 4);
void tg_columns_row(struct tg_json_writer *out, const struct tg_column *columns, size_t count,
                    const struct tg_db_rows *rows) non_null(1, 2, 4);
/* All rows, an array. */
void tg_columns_rows(struct tg_json_writer *out, const struct tg_column *columns, size_t count,
                     struct tg_db_rows *rows) non_null(1, 2, 4);

#endif
