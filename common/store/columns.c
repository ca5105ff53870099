#include "common/store/columns.h"

#include <stdio.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/id.h"
#include "common/base/money.h"
#include "common/json/scan.h"
#include "common/store/read.h"

enum { DECIMAL_TEXT = 34 };

static void write_quota(struct tg_json_writer *out, const char *name, int64_t quota)
{
    char usd_name[64], usd[TG_USD_TEXT];

    tg_json_put_int(out, name, quota);
    snprintf(usd_name, sizeof usd_name, "%s_usd", name);
    tg_usd_format(quota, usd);
    tg_json_put_str(out, usd_name, usd);
}

static void write_time(struct tg_json_writer *out, const char *name, int64_t unix_us)
{
    char text[TG_TIME_TEXT];

    tg_time_format(unix_us, text);
    tg_json_put_str(out, name, text);
}

static void write_uuid(struct tg_json_writer *out, const char *name, struct tg_span bytes)
{
    struct tg_id id;
    char text[TG_ID_TEXT];

    tg_assert(bytes.len == TG_ID_BYTES);
    memcpy(id.bytes, bytes.ptr, TG_ID_BYTES);
    tg_id_format(&id, text);
    tg_json_put_str(out, name, text);
}

static void write_json(struct tg_json_writer *out, const char *name, struct tg_span json)
{
    tg_json_key(out, name);
    if (json.len == 0)
        tg_json_write_null(out);
    else if (tg_json_check(json.ptr, json.len, NULL) == TG_OK)
        tg_json_write_raw(out, json.ptr, json.len);
    else /* somebody wrote into the table: it is shown as it stands */
        tg_json_write_strn(out, json.ptr, json.len);
}

/* An account and password in the address are told as three asterisks. */
static void write_proxy(struct tg_json_writer *out, const char *name, const char *url)
{
    const char *scheme = strstr(url, "://");
    const char *host = scheme != NULL ? scheme + 3 : url;
    const char *at = strrchr(host, '@');
    struct tg_buf text;

    tg_buf_init(&text, 0);
    if (at != NULL)
        tg_buf_printf(&text, "%.*s***%s", (int)(host - url), url, at);
    else
        tg_buf_str(&text, url);
    tg_json_put_str(out, name, tg_buf_text(&text));
    tg_buf_done(&text);
}

static void write_cell(struct tg_json_writer *out, const struct tg_column *column,
                       const struct tg_db_rows *rows, int at)
{
    char decimal[DECIMAL_TEXT];

    if (tg_db_is_null(rows, at)) {
        tg_json_put_str(out, column->name, NULL);
        return;
    }
    switch (column->kind) {
    case TG_INT:
        tg_json_put_int(out, column->name, tg_db_int(rows, at));
        break;
    case TG_TEXT:
        tg_json_put_str(out, column->name, tg_db_text(rows, at));
        break;
    case TG_FLAG:
        tg_json_put_bool(out, column->name, tg_db_int(rows, at) != 0);
        break;
    case TG_TIME:
        write_time(out, column->name, tg_store_time(rows, at));
        break;
    case TG_QUOTA:
        write_quota(out, column->name, tg_db_int(rows, at));
        break;
    case TG_JSON:
        write_json(out, column->name, tg_db_bytes(rows, at));
        break;
    case TG_UUID:
        write_uuid(out, column->name, tg_db_bytes(rows, at));
        break;
    case TG_DECIMAL:
        tg_store_decimal(rows, at, decimal, sizeof decimal);
        tg_json_put_str(out, column->name, decimal);
        break;
    case TG_PROXY:
        write_proxy(out, column->name, tg_db_text(rows, at));
        break;
    }
}

void tg_columns_members(struct tg_json_writer *out, const struct tg_column *columns, size_t count,
                        const struct tg_db_rows *rows)
{
    for (size_t i = 0; i < count; i++)
        write_cell(out, &columns[i], rows, (int)i);
}

void tg_columns_row(struct tg_json_writer *out, const struct tg_column *columns, size_t count,
                    const struct tg_db_rows *rows)
{
    tg_json_begin_object(out);
    tg_columns_members(out, columns, count, rows);
    tg_json_end_object(out);
}

void tg_columns_rows(struct tg_json_writer *out, const struct tg_column *columns, size_t count,
                     struct tg_db_rows *rows)
{
    tg_json_begin_array(out);
    while (tg_db_next(rows))
        tg_columns_row(out, columns, count, rows);
    tg_json_end_array(out);
}
