#include "common/sql/rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/base/buf.h"
#include "common/base/memory.h"

struct cell {
    size_t at, len; /* in the bytes */
    int64_t number;
    bool null;
};

struct tg_db_rows {
    size_t columns;
    enum tg_db_column *kinds;
    struct cell *cells;
    size_t count, cap;
    size_t row; /* 1 = the first */
    struct tg_buf bytes;
};

struct tg_db_rows *tg_db_rows_new(size_t columns)
{
    struct tg_db_rows *rows = tg_calloc(1, sizeof *rows);

    rows->columns = columns;
    rows->kinds = tg_calloc(columns, sizeof *rows->kinds);
    tg_buf_init(&rows->bytes, 0);
    return rows;
}

void tg_db_rows_free(struct tg_db_rows *rows)
{
    if (rows == NULL)
        return;
    tg_buf_done(&rows->bytes);
    free(rows->cells);
    free(rows->kinds);
    free(rows);
}

void tg_db_rows_set_column(struct tg_db_rows *rows, size_t column, enum tg_db_column kind)
{
    tg_assert(column < rows->columns);
    rows->kinds[column] = kind;
}

void tg_db_rows_clear(struct tg_db_rows *rows)
{
    rows->count = 0;
    rows->row = 0;
    tg_buf_reset(&rows->bytes);
}

static struct cell *add(struct tg_db_rows *rows)
{
    if (rows->count == rows->cap) {
        rows->cap = rows->cap == 0 ? 16 : rows->cap * 2;
        rows->cells = tg_realloc(rows->cells, rows->cap * sizeof *rows->cells);
    }
    rows->cells[rows->count] = (struct cell){.at = rows->bytes.len};
    return &rows->cells[rows->count++];
}

void tg_db_rows_add_null(struct tg_db_rows *rows)
{
    add(rows)->null = true;
}

void tg_db_rows_add_int(struct tg_db_rows *rows, int64_t number)
{
    struct cell *cell = add(rows);

    cell->number = number;
    tg_buf_printf(&rows->bytes, "%" PRId64, number);
    cell->len = rows->bytes.len - cell->at;
    tg_buf_char(&rows->bytes, '\0');
}

char *tg_db_rows_add_bytes(struct tg_db_rows *rows, size_t len)
{
    static const char blank[4096];
    struct cell *cell = add(rows);

    for (size_t left = len + 1; left > 0; left -= TG_MIN(left, sizeof blank))
        tg_buf_add(&rows->bytes, blank, TG_MIN(left, sizeof blank));
    cell->len = len;
    return rows->bytes.data + cell->at;
}

bool tg_db_next(struct tg_db_rows *rows)
{
    if (rows->columns == 0 || rows->row * rows->columns >= rows->count)
        return false;
    rows->row++;
    return true;
}

static const struct cell *cell_at(const struct tg_db_rows *rows, int column)
{
    tg_assert(rows->row > 0 && column >= 0 && (size_t)column < rows->columns);
    return &rows->cells[(rows->row - 1) * rows->columns + (size_t)column];
}

bool tg_db_is_null(const struct tg_db_rows *rows, int column)
{
    return cell_at(rows, column)->null;
}

int64_t tg_db_int(const struct tg_db_rows *rows, int column)
{
    const struct cell *cell = cell_at(rows, column);

    if (cell->null)
        return 0;
    tg_assert(rows->kinds[column] != TG_DB_COLUMN_OTHER);
    /* SUM() of a BIGINT is a DECIMAL */
    if (rows->kinds[column] == TG_DB_COLUMN_DECIMAL)
        return strtoll(rows->bytes.data + cell->at, NULL, 10);
    return cell->number;
}

const char *tg_db_text(const struct tg_db_rows *rows, int column)
{
    const struct cell *cell = cell_at(rows, column);

    return cell->null ? NULL : rows->bytes.data + cell->at;
}

struct tg_span tg_db_bytes(const struct tg_db_rows *rows, int column)
{
    const struct cell *cell = cell_at(rows, column);

    if (cell->null)
        return (struct tg_span){.ptr = NULL};
    return (struct tg_span){.ptr = rows->bytes.data + cell->at, .len = cell->len};
}
