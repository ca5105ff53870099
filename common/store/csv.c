#include "common/store/csv.h"

#include <string.h>

#include "common/base/clock.h"
#include "common/base/id.h"
#include "common/store/read.h"

/* What a spreadsheet would take for a formula is made a text, and what needs quotes has them. */
void tg_csv_text(struct tg_buf *out, const char *text)
{
    bool formula = text[0] != '\0' && strchr("=+-@\t\r", text[0]) != NULL;

    if (!formula && strpbrk(text, ",\"\r\n") == NULL) {
        tg_buf_str(out, text);
        return;
    }
    tg_buf_str(out, formula ? "\"'" : "\"");
    for (; *text != '\0'; text++) {
        if (*text == '"')
            tg_buf_char(out, '"');
        tg_buf_char(out, *text);
    }
    tg_buf_char(out, '"');
}

static void csv_cell(struct tg_buf *out, const struct tg_column *column,
                     const struct tg_db_rows *rows, int at)
{
    char text[TG_ID_TEXT];
    struct tg_id id;

    if (tg_db_is_null(rows, at))
        return;
    switch (column->kind) {
    case TG_UUID:
        memcpy(id.bytes, tg_db_bytes(rows, at).ptr, TG_ID_BYTES);
        tg_id_format(&id, text);
        tg_buf_str(out, text);
        break;
    case TG_TIME:
        tg_time_format(tg_store_time(rows, at), text);
        tg_buf_str(out, text);
        break;
    case TG_INT:
    case TG_FLAG:
    case TG_QUOTA:
        tg_buf_int(out, tg_db_int(rows, at));
        break;
    default:
        tg_csv_text(out, tg_db_text(rows, at));
    }
}

void tg_csv_head(struct tg_buf *out, const struct tg_column *columns, size_t count)
{
    for (size_t i = 0; i < count; i++)
        tg_buf_printf(out, "%s%s", i > 0 ? "," : "", columns[i].name);
}

void tg_csv_row(struct tg_buf *out, const struct tg_column *columns, size_t count,
                const struct tg_db_rows *rows)
{
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            tg_buf_char(out, ',');
        csv_cell(out, &columns[i], rows, (int)i);
    }
}

void tg_csv_end(struct tg_buf *out)
{
    tg_buf_str(out, "\r\n");
}
