#include "common/store/paging.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/crypto/crypto.h"
#include "common/store/read.h"

enum { PART_BYTES = 400 };

/* A cursor is KEY.VALUE.ID, the last two in hex. */
struct cursor {
    char value[PART_BYTES + 1], id[PART_BYTES + 1];
    size_t value_len, id_len;
};

static enum tg_class refuse(struct tg_error *err, const char *param, const char *what)
{
    char code[48];

    snprintf(code, sizeof code, "invalid_%s", param);
    tg_fail(err, TG_CLASS_INVALID, code, "%s", what);
    snprintf(err->param, sizeof err->param, "%s", param);
    return TG_CLASS_INVALID;
}

static bool read_part(const char *text, size_t len, char part[PART_BYTES + 1], size_t *ret_len)
{
    char hex[2 * PART_BYTES + 1];

    if (len % 2 != 0 || len / 2 > PART_BYTES)
        return false;
    memcpy(hex, text, len);
    hex[len] = '\0';
    if (!tg_unhex(hex, len / 2, part))
        return false;
    part[len / 2] = '\0';
    *ret_len = len / 2;
    return true;
}

static enum tg_class read_cursor(const char *text, const char *key, struct cursor *ret,
                                 struct tg_error *err)
{
    size_t key_len = strlen(key), value_len;

    if (strncmp(text, key, key_len) == 0 && text[key_len] == '.') {
        text += key_len + 1;
        value_len = strcspn(text, ".");
        if (text[value_len] == '.' && read_part(text, value_len, ret->value, &ret->value_len) &&
            read_part(text + value_len + 1, strlen(text + value_len + 1), ret->id, &ret->id_len))
            return TG_OK;
    }
    return refuse(err, "cursor", "this is no place in the list: begin at the first page");
}

static void write_part(const struct tg_db_rows *rows, int column, enum tg_sort_kind kind,
                       char hex[2 * PART_BYTES + 1])
{
    char number[24];
    struct tg_span part = {.ptr = number};

    if (kind == TG_SORT_NUMBER)
        part.len = (size_t)snprintf(number, sizeof number, "%" PRId64, tg_db_int(rows, column));
    else
        part = tg_db_bytes(rows, column);
    tg_hex(part.ptr, part.len < PART_BYTES ? part.len : PART_BYTES, hex);
}

/* <column>: of the sort value; the id stands behind it. */
static void write_cursor(const struct tg_sort *sort, const char *key, const struct tg_db_rows *rows,
                         int column, char ret[TG_CURSOR_TEXT])
{
    char value[2 * PART_BYTES + 1], id[2 * PART_BYTES + 1];

    write_part(rows, column, sort->value, value);
    write_part(rows, column + 1, sort->id, id);
    if (snprintf(ret, TG_CURSOR_TEXT, "%s.%s.%s", key, value, id) >= TG_CURSOR_TEXT)
        ret[0] = '\0';
}

static const struct tg_sort *find_sort(const struct tg_list *list, const char *key)
{
    for (size_t i = 0; i < list->sort_count; i++)
        if (strcmp(list->sorts[i].key, key) == 0)
            return &list->sorts[i];
    return NULL;
}

static struct tg_db_value cursor_value(enum tg_sort_kind kind, const char *part, size_t len)
{
    if (kind == TG_SORT_NUMBER)
        return TG_DB_I(strtoll(part, NULL, 10));
    return kind == TG_SORT_TEXT ? TG_DB_S(part) : TG_DB_B(part, len);
}

static int limit_of(const struct tg_list_query *query)
{
    int most = query->list->most > 0 ? query->list->most : TG_PAGE_MOST;

    if (query->page->limit <= 0)
        return TG_PAGE_USUAL;
    return query->page->limit < most ? query->page->limit : most;
}

/* The statement and all its values. */
struct reading {
    const struct tg_sort *sort;
    const char *key; /* with its sign */
    const char *sql;
    struct tg_db_value values[TG_LIST_FILTERS_MOST + 4];
    size_t count;
    struct cursor cursor;
};

static enum tg_class plan(const struct tg_list_query *query, struct reading *ret,
                          struct tg_error *err)
{
    const char *wish = query->page->sort, *after = query->page->after;
    enum tg_class class;
    int down;

    ret->key = wish != NULL && *wish != '\0' ? wish : query->list->usual;
    down = ret->key[0] == '-';
    ret->sort = find_sort(query->list, ret->key + down);
    if (ret->sort == NULL)
        return refuse(err, "sort", "the list cannot be sorted by that");
    tg_assert(query->filter_count <= TG_LIST_FILTERS_MOST);
    if (query->filter_count > 0)
        memcpy(ret->values, query->filters, query->filter_count * sizeof ret->values[0]);
    ret->count = query->filter_count;
    ret->sql = ret->sort->first[down];
    if (after != NULL && *after != '\0') {
        class = read_cursor(after, ret->key, &ret->cursor, err);
        if (class != TG_OK)
            return class;
        ret->sql = ret->sort->next[down];
        ret->values[ret->count++] =
            cursor_value(ret->sort->value, ret->cursor.value, ret->cursor.value_len);
        ret->values[ret->count] = ret->values[ret->count - 1];
        ret->count++;
        ret->values[ret->count++] =
            cursor_value(ret->sort->id, ret->cursor.id, ret->cursor.id_len);
    }
    ret->values[ret->count++] = TG_DB_I(limit_of(query) + 1); /* is there one more? */
    return TG_OK;
}

enum tg_class tg_list_each(struct tg_db *db, const struct tg_list_query *query,
                           struct tg_list_visit *visit, struct tg_error *err)
{
    struct reading reading;
    struct tg_db_rows *rows;
    int left = limit_of(query);
    enum tg_class class = plan(query, &reading, err);

    if (class != TG_OK)
        return class;
    class = tg_db_select(db, reading.sql, reading.values, reading.count, &rows);
    if (class != TG_OK)
        return tg_store_failed(db, class, err);
    visit->next[0] = '\0';
    while (tg_db_next(rows)) {
        if (left-- == 0) /* one more than was asked for: there is a next page */
            break;
        visit->row(visit->context, rows);
        if (left == 0)
            write_cursor(reading.sort, reading.key, rows, (int)query->list->column_count,
                         visit->next);
    }
    if (left >= 0)
        visit->next[0] = '\0';
    tg_db_rows_free(rows);
    return TG_OK;
}

struct writing {
    const struct tg_list *list;
    struct tg_json_writer *out;
};

static void write_row(void *context, const struct tg_db_rows *rows)
{
    struct writing *writing = context;

    tg_columns_row(writing->out, writing->list->columns, writing->list->column_count, rows);
}

enum tg_class tg_list_write(struct tg_db *db, const struct tg_list_query *query,
                            struct tg_json_writer *out, struct tg_error *err)
{
    struct writing writing = {.list = query->list, .out = out};
    struct tg_list_visit visit = {.row = write_row, .context = &writing};
    enum tg_class class;

    tg_json_key(out, "rows");
    tg_json_begin_array(out);
    class = tg_list_each(db, query, &visit, err);
    tg_json_end_array(out);
    tg_json_put_str(out, "next", class == TG_OK && visit.next[0] != '\0' ? visit.next : NULL);
    return class;
}

struct tg_db_value tg_list_like(struct tg_buf *buf, const char *text)
{
    tg_buf_init(buf, 0);
    if (text == NULL || *text == '\0')
        return TG_DB_S("%");
    tg_buf_char(buf, '%');
    for (; *text != '\0'; text++) {
        if (strchr("!%_", *text) != NULL)
            tg_buf_char(buf, '!');
        tg_buf_char(buf, *text);
    }
    tg_buf_char(buf, '%');
    return TG_DB_S(tg_buf_text(buf));
}

struct tg_db_value tg_list_text(const char *text)
{
    return text != NULL && *text != '\0' ? TG_DB_S(text) : TG_DB_N;
}

struct tg_db_value tg_list_id(int64_t id)
{
    return id != 0 ? TG_DB_I(id) : TG_DB_N;
}
