/* Documents for people: "name  value" lines for an object, a table for a list of objects. */
#include "admin-cgi/ctl/ctl.h"

#include <stdio.h>
#include <string.h>

#include "common/json/json.h"

enum { COLUMNS_MOST = 8, NAME_MOST = 32, CELL_MOST = 60 };

/* Control characters would move the cursor of whoever looks. */
static void add_shown(struct tg_buf *out, const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];

        if (c < 0x20 || c == 0x7f)
            tg_buf_printf(out, "\\x%02x", c);
        else
            tg_buf_char(out, (char)c);
    }
}

void ctl_print_line(struct tg_span line)
{
    struct tg_buf shown;

    tg_buf_init(&shown, 0);
    add_shown(&shown, line.ptr, line.len);
    printf("%s\n", tg_buf_text(&shown));
    tg_buf_done(&shown);
}

/* <text> is the whole document, <path> leads to the value: nested ones are shown as they stand. */
static void add_value(struct tg_buf *out, const struct tg_buf *text, const char *path)
{
    struct tg_json_place place;
    char string[1024];

    if (!tg_json_find(text->data, text->len, path, &place))
        return;
    if (place.type == TG_JSON_NULL)
        tg_buf_char(out, '-');
    else if (place.type == TG_JSON_STRING &&
             tg_json_place_string(text->data, &place, string, sizeof string))
        add_shown(out, string[0] != '\0' ? string : "-", strlen(string[0] != '\0' ? string : "-"));
    else
        add_shown(out, text->data + place.at, place.len);
}

struct lines {
    const struct tg_buf *text;
    size_t width;
};

static bool measure(void *context, const char *key, const struct tg_json *value)
{
    struct lines *lines = context;

    (void)value;
    lines->width = TG_MAX(lines->width, strlen(key));
    return true;
}

static bool print_line(void *context, const char *key, const struct tg_json *value)
{
    const struct lines *lines = context;
    struct tg_buf shown;

    (void)value;
    tg_buf_init(&shown, 0);
    add_value(&shown, lines->text, key);
    printf("%-*s  %s\n", (int)lines->width, key, tg_buf_text(&shown));
    tg_buf_done(&shown);
    return true;
}

struct table {
    char names[COLUMNS_MOST][NAME_MOST];
    size_t widths[COLUMNS_MOST], count;
};

static void read_columns(const char *columns, struct table *table)
{
    while (*columns != '\0') {
        size_t len = strcspn(columns, " ");

        tg_assert(table->count < COLUMNS_MOST && len < NAME_MOST);
        memcpy(table->names[table->count], columns, len);
        table->widths[table->count++] = len;
        columns += len + strspn(columns + len, " ");
    }
}

/* The list is the whole document, or its member "rows". */
static void cell(const struct tg_buf *text, size_t row, const char *column, struct tg_buf *ret)
{
    char path[NAME_MOST + 32];

    snprintf(path, sizeof path, "%s%zu.%s", text->data[0] == '{' ? "rows." : "", row, column);
    tg_buf_init(ret, 0);
    add_value(ret, text, path);
}

static void print_cell(const struct table *table, size_t column, const char *shown)
{
    if (column + 1 == table->count)
        printf("%s\n", shown);
    else
        printf("%-*s  ", (int)table->widths[column], shown);
}

static void print_table(const struct tg_buf *text, size_t rows, const char *columns)
{
    struct table table = {.count = 0};
    struct tg_buf shown;

    read_columns(columns, &table);
    for (size_t at = 0; at < rows * table.count; at++) {
        size_t i = at % table.count;

        cell(text, at / table.count, table.names[i], &shown);
        table.widths[i] = TG_MAX(table.widths[i], TG_MIN(shown.len, (size_t)CELL_MOST));
        tg_buf_done(&shown);
    }
    for (size_t i = 0; i < table.count; i++)
        print_cell(&table, i, table.names[i]);
    for (size_t at = 0; at < rows * table.count; at++) {
        cell(text, at / table.count, table.names[at % table.count], &shown);
        print_cell(&table, at % table.count, tg_buf_text(&shown));
        tg_buf_done(&shown);
    }
}

void ctl_print_text(struct ctl *ctl)
{
    struct lines lines = {.text = &ctl->buf};
    const struct tg_json *rows;
    struct tg_json *root = NULL;

    if (tg_json_parse(ctl->buf.data, ctl->buf.len, &root, &ctl->err) != TG_OK) {
        ctl_remark("the document cannot be shown as text: %s", ctl->err.message);
        return;
    }
    if (tg_json_type(root) == TG_JSON_ARRAY) {
        tg_assert(ctl->columns != NULL);
        print_table(&ctl->buf, tg_json_array_len(root), ctl->columns);
    } else if (ctl->columns != NULL && tg_json_get_array(root, "rows", &rows) == TG_JSON_GOT) {
        print_table(&ctl->buf, tg_json_array_len(rows), ctl->columns);
    } else {
        tg_json_each(root, measure, &lines);
        tg_json_each(root, print_line, &lines);
    }
    tg_json_free(root);
}
