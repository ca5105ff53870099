#include "common/store/log_rows.h"

#include "common/base/arena.h"
#include "common/base/buf.h"
#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/store/log_hours.h"
#include "common/store/log_record.h"
#include "common/store/read.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Rows go in by prepared statements of these many, the largest that fits first. */
static const size_t row_counts[] = {64, 8, 1};
enum { ROW_COUNTS = 3 };

static struct {
    char *log[ROW_COUNTS], *detail[ROW_COUNTS]; /* made once, constant then */
} statements;

static char *make_insert(const char *table, const char *(*column)(int), int columns, size_t rows)
{
    struct tg_buf sql;

    tg_buf_init(&sql, 0);
    tg_buf_printf(&sql, "INSERT INTO %s (", table);
    for (int i = 0; i < columns; i++)
        tg_buf_printf(&sql, "%s`%s`", i == 0 ? "" : ", ", column(i));
    tg_buf_str(&sql, ") VALUES ");
    for (size_t row = 0; row < rows; row++)
        for (int i = 0; i < columns; i++)
            tg_buf_str(&sql, i > 0 ? ",?" : row == 0 ? "(?" : "),(?");
    tg_buf_char(&sql, ')');
    return sql.data;
}

static void make_statements(void)
{
    for (int i = 0; i < ROW_COUNTS; i++) {
        statements.log[i] =
            make_insert("request_log", tg_log_column, TG_LOG_COLUMNS, row_counts[i]);
        statements.detail[i] =
            make_insert("request_detail", tg_detail_column, TG_DETAIL_COLUMNS, row_counts[i]);
    }
}

struct entering {
    struct tg_db *db;
    struct tg_arena *arena;
    struct tg_error *err;
    struct tg_log_record *records;
    size_t count;
};

typedef const struct tg_db_value *values_fn(const struct tg_log_record *record);

static const struct tg_db_value *log_values(const struct tg_log_record *record)
{
    return record->log;
}

static const struct tg_db_value *detail_values(const struct tg_log_record *record)
{
    return record->detail;
}

struct table {
    char *const *statements;
    values_fn *values;
    size_t columns;
};

static enum tg_class insert_all(const struct entering *entering, const struct table *table,
                                const struct tg_log_record *const *records, size_t count)
{
    struct tg_db_value *values =
        tg_calloc(row_counts[0] * table->columns + 1, sizeof *values);
    enum tg_class class = TG_OK;

    for (size_t at = 0; class == TG_OK && at < count;) {
        int size = 0;

        while (row_counts[size] > count - at)
            size++;
        for (size_t i = 0; i < row_counts[size]; i++)
            memcpy(values + i * table->columns, table->values(records[at + i]),
                   table->columns * sizeof *values);
        class = tg_db_run(entering->db, table->statements[size], values,
                          row_counts[size] * table->columns, entering->err);
        at += row_counts[size];
    }
    free(values);
    return class;
}

/* [[id, created_at], ...]. Owns: the arena. */
static const char *key_list(const struct entering *entering)
{
    struct tg_buf json;
    const char *copy;
    char id[TG_ID_TEXT];

    tg_buf_init(&json, 0);
    tg_buf_char(&json, '[');
    for (size_t i = 0; i < entering->count; i++) {
        tg_id_format(&entering->records[i].id, id);
        tg_buf_printf(&json, "%s[\"%s\",\"%s\"]", i == 0 ? "" : ",", id,
                      entering->records[i].created_at);
    }
    tg_buf_char(&json, ']');
    copy = tg_arena_strdup(entering->arena, tg_buf_text(&json));
    tg_buf_done(&json);
    return copy;
}

#define KEYS                                                                                   \
    "JSON_TABLE(?, '$[*]' COLUMNS (n FOR ORDINALITY, entry CHAR(36) PATH '$[0]',"               \
    " made DATETIME(6) PATH '$[1]')) AS e STRAIGHT_JOIN request_log r"                          \
    " ON r.request_id = UNHEX(REPLACE(e.entry, '-', '')) AND r.created_at = e.made"

static enum tg_class insert_records(const struct entering *entering)
{
    const struct table log = {statements.log, log_values, TG_LOG_COLUMNS};
    const struct table detail = {statements.detail, detail_values, TG_DETAIL_COLUMNS};
    const struct tg_log_record **list = tg_calloc(entering->count + 1, sizeof(void *));
    size_t details = 0;
    enum tg_class class;

    for (size_t i = 0; i < entering->count; i++)
        list[i] = &entering->records[i];
    class = insert_all(entering, &log, list, entering->count);
    for (size_t i = 0; i < entering->count; i++)
        if (entering->records[i].has_detail)
            list[details++] = &entering->records[i];
    if (class == TG_OK)
        class = insert_all(entering, &detail, list, details);
    free(list);
    if (class == TG_OK)
        class = tg_log_hours_add(entering->db, entering->records, entering->count, entering->err);
    return class;
}

/* Takes back what the records' statements have done so far. */
static enum tg_class take_back(const struct entering *entering)
{
    return tg_db_run(entering->db, "ROLLBACK TO SAVEPOINT records", NULL, 0, entering->err);
}

/* Leaves out the records whose rows are there already. */
static enum tg_class keep_fresh(struct entering *entering)
{
    static const char sql[] = "SELECT e.n FROM " KEYS " ORDER BY e.n";
    struct tg_db_value keys = TG_DB_S(key_list(entering));
    size_t kept = 0;
    struct tg_db_rows *rows;
    bool more;
    enum tg_class class = tg_db_select(entering->db, sql, &keys, 1, &rows);

    if (class != TG_OK)
        return tg_store_failed(entering->db, class, entering->err);
    more = tg_db_next(rows);
    for (size_t i = 0; i < entering->count; i++) {
        if (more && tg_db_int(rows, 0) == (int64_t)i + 1)
            more = tg_db_next(rows);
        else
            entering->records[kept++] = entering->records[i];
    }
    entering->count = kept;
    tg_db_rows_free(rows);
    return TG_OK;
}

/* The rare way: one after the other, each as whole as the server takes it. */
static enum tg_class insert_singly(const struct entering *entering)
{
    enum tg_class class = TG_OK;

    for (size_t i = 0; class == TG_OK && i < entering->count; i++) {
        struct entering one = *entering;

        one.records = &entering->records[i];
        one.count = 1;
        class = tg_db_run(one.db, "SAVEPOINT records", NULL, 0, one.err);
        if (class == TG_OK)
            class = insert_records(&one);
        if (class != TG_CLASS_INTERNAL)
            continue;
        tg_log_error(TG_LOG_ERROR, "log_rows", one.err);
        tg_log_record_reduce(one.records);
        class = take_back(&one);
        if (class == TG_OK)
            class = insert_records(&one);
    }
    return class;
}

static enum tg_class insert_in_any_way(struct entering *entering)
{
    enum tg_class class =
        tg_db_run(entering->db, "SAVEPOINT records", NULL, 0, entering->err);

    if (class == TG_OK)
        class = insert_records(entering);
    if (tg_store_is_duplicate(class, entering->err)) {
        class = take_back(entering);
        if (class == TG_OK)
            class = keep_fresh(entering);
        if (class == TG_OK && entering->count > 0)
            class = insert_records(entering);
    }
    if (class == TG_CLASS_INTERNAL) {
        class = take_back(entering);
        if (class == TG_OK)
            class = insert_singly(entering);
    }
    return class;
}

/* Every line that is a record. Owns: the arena. */
static void read_lines(const char *lines, struct entering *entering)
{
    for (const char *at = lines; *at != '\0';) {
        const char *end = strchrnul(at, '\n');

        entering->records = tg_store_grow(entering->arena, entering->records, entering->count,
                                          sizeof *entering->records);
        if (tg_log_record_read(at, (size_t)(end - at), entering->arena,
                               &entering->records[entering->count]))
            entering->count++;
        at = *end == '\0' ? end : end + 1;
    }
}

enum tg_class tg_log_rows_enter(struct tg_db *log_db, const char *lines, struct tg_error *err)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct tg_error unused = {0};
    struct entering entering = {
        .db = log_db, .arena = tg_arena_new(), .err = err == NULL ? &unused : err};
    enum tg_class class = TG_OK;

    pthread_once(&once, make_statements);
    read_lines(lines, &entering);
    if (entering.count > 0)
        class = insert_in_any_way(&entering);
    tg_arena_free(entering.arena);
    return class;
}
