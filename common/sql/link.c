/* The tries behind the rules here are in the reference on Connector/C: MYSQL_OPT_RECONNECT leaves
 * every old statement dead (1243), a second query before the first result was read is "out of
 * sync", my_bool is gone from MySQL 8. */
#include "common/sql/link.h"

#include <mysql.h>
#include <errmsg.h>
#include <mysqld_error.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/sql/rows.h"

/* Where MySQL's library differs from MariaDB's. */
#ifdef MARIADB_BASE_VERSION
typedef my_bool flag_type;
#define SOCKET_OF(handle) ((int)mysql_get_socket(handle))
#else
typedef bool flag_type;
#define SOCKET_OF(handle) ((handle)->net.fd)
#endif

/* Server errors that mean "this connection is no more" and that not every header names. */
enum { CONNECTION_KILLED = 1927, CLIENT_IDLE_TOO_LONG = 4031, SERVER_LOST_EXTENDED = 2055 };
/* MariaDB's snapshot isolation: changed since the snapshot. */
enum { CHANGED_SINCE_READ = 1020 };
/* Columns that are no integers are read into this much first; longer ones are fetched again. */
enum { FIRST_BYTES = 128 };

struct statement {
    const char *sql; /* its address is the key */
    MYSQL_STMT *handle;
    size_t parameters;
    MYSQL_BIND *binds;
};

struct column {
    union {
        long long number;
        char text[FIRST_BYTES];
    } first;
    unsigned long len;
    flag_type null, truncated;
    bool is_int, is_unsigned;
};

struct tg_link {
    MYSQL *handle;
    struct statement *statements;
    size_t count, cap;
};

static pthread_once_t library_once = PTHREAD_ONCE_INIT;
static pthread_key_t thread_key;
static _Thread_local bool thread_is_ready;

static void thread_ends(void *unused)
{
    (void)unused;
    mysql_thread_end();
}

static void library_start(void)
{
    if (mysql_library_init(0, NULL, NULL) != 0)
        abort();
    pthread_key_create(&thread_key, thread_ends);
}

void tg_link_thread_ready(void)
{
    pthread_once(&library_once, library_start);
    if (thread_is_ready)
        return;
    mysql_thread_init();
    pthread_setspecific(thread_key, &thread_is_ready);
    thread_is_ready = true;
}

static bool is_lost(unsigned number)
{
    switch (number) {
    case CR_SERVER_GONE_ERROR:
    case CR_SERVER_LOST:
    case SERVER_LOST_EXTENDED:
    case ER_SERVER_SHUTDOWN:
    case CONNECTION_KILLED:
    case CLIENT_IDLE_TOO_LONG:
        return true;
    default:
        return false;
    }
}

/* The one place where the server's numbers become classes. */
static enum tg_class fail(unsigned number, const char *text, struct tg_error *err)
{
    if (is_lost(number))
        return tg_fail(err, TG_CLASS_DOWN, "db_down", "the database is gone: %s", text);
    switch (number) {
    case CR_CONNECTION_ERROR:
    case CR_CONN_HOST_ERROR:
    case CR_UNKNOWN_HOST:
    case CR_SERVER_HANDSHAKE_ERR:
    case ER_CON_COUNT_ERROR:
        return tg_fail(err, TG_CLASS_DOWN, "db_down", "the database gives no answer: %s",
                       text);
    case ER_DUP_ENTRY:
    case ER_DUP_ENTRY_WITH_KEY_NAME:
        return tg_fail(err, TG_CLASS_CONFLICT, "db_duplicate", "%s", text);
    case ER_LOCK_DEADLOCK:
    case ER_LOCK_WAIT_TIMEOUT:
    case CHANGED_SINCE_READ:
        return tg_fail(err, TG_CLASS_CONFLICT, "db_retry", "%s", text);
    default:
        return tg_fail(err, TG_CLASS_INTERNAL, "db_error", "%s (%u)", text, number);
    }
}

static void set_options(MYSQL *link, int64_t timeout_us)
{
    unsigned seconds = (unsigned)TG_MAX(1, (timeout_us + 999999) / 1000000), off = 0;

    mysql_options(link, MYSQL_OPT_CONNECT_TIMEOUT, &seconds);
    mysql_options(link, MYSQL_OPT_READ_TIMEOUT, &seconds);
    mysql_options(link, MYSQL_OPT_WRITE_TIMEOUT, &seconds);
    mysql_options(link, MYSQL_OPT_LOCAL_INFILE, &off);
    mysql_options(link, MYSQL_SET_CHARSET_NAME, "utf8mb4");
    mysql_options(link, MYSQL_INIT_COMMAND,
                  "SET time_zone = '+00:00', sql_mode = 'STRICT_ALL_TABLES,NO_ZERO_DATE,"
                  "NO_ZERO_IN_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION,"
                  "ONLY_FULL_GROUP_BY'");
    /* the offline admission rests on the lock that a sub-select takes at this level */
    mysql_options(link, MYSQL_INIT_COMMAND,
                  "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ");
}

enum tg_class tg_link_open(const struct tg_db_target *target, struct tg_link **ret,
                           struct tg_error *err)
{
    const struct tg_dsn *dsn = &target->dsn;
    MYSQL *handle = mysql_init(NULL);
    enum tg_class class;

    tg_assert(handle != NULL);
    set_options(handle, target->timeout_us);
    if (mysql_real_connect(handle, dsn->host, dsn->user, target->password,
                           target->without_schema ? NULL : dsn->schema, dsn->port,
                           dsn->socket[0] != '\0' ? dsn->socket : NULL, 0) == NULL) {
        class = fail(mysql_errno(handle), mysql_error(handle), err);
        mysql_close(handle);
        return class;
    }
    *ret = tg_calloc(1, sizeof **ret);
    (*ret)->handle = handle;
    return TG_OK;
}

void tg_link_close(struct tg_link *link)
{
    if (link == NULL)
        return;
    for (size_t i = 0; i < link->count; i++) {
        mysql_stmt_close(link->statements[i].handle);
        free(link->statements[i].binds);
    }
    mysql_close(link->handle);
    free(link->statements);
    free(link);
}

bool tg_link_is_closed(const struct tg_link *link)
{
    struct pollfd look = {.fd = SOCKET_OF(link->handle), .events = POLLIN | POLLRDHUP};

    return poll(&look, 1, 0) > 0;
}

enum tg_class tg_link_text(struct tg_link *link, const char *sql, struct tg_error *err)
{
    MYSQL_RES *result;

    if (mysql_real_query(link->handle, sql, strlen(sql)) != 0)
        return fail(mysql_errno(link->handle), mysql_error(link->handle), err);
    result = mysql_store_result(link->handle);
    if (result != NULL)
        mysql_free_result(result);
    else if (mysql_field_count(link->handle) != 0)
        return fail(mysql_errno(link->handle), mysql_error(link->handle), err);
    return TG_OK;
}

static enum tg_class statement_get(struct tg_link *link, const char *sql,
                                   struct statement **ret, struct tg_error *err)
{
    struct statement made = {.sql = sql};

    for (size_t i = 0; i < link->count; i++)
        if (link->statements[i].sql == sql) {
            *ret = &link->statements[i];
            return TG_OK;
        }
    made.handle = mysql_stmt_init(link->handle);
    tg_assert(made.handle != NULL);
    if (mysql_stmt_prepare(made.handle, sql, strlen(sql)) != 0) {
        enum tg_class class =
            fail(mysql_stmt_errno(made.handle), mysql_stmt_error(made.handle), err);

        mysql_stmt_close(made.handle);
        return class;
    }
    made.parameters = mysql_stmt_param_count(made.handle);
    made.binds = tg_calloc(made.parameters + 1, sizeof *made.binds);
    if (link->count == link->cap) {
        link->cap = link->cap == 0 ? 16 : link->cap * 2;
        link->statements = tg_realloc(link->statements, link->cap * sizeof *link->statements);
    }
    link->statements[link->count] = made;
    *ret = &link->statements[link->count++];
    return TG_OK;
}

static void statement_bind(struct statement *statement, const struct tg_db_value *values,
                           size_t count)
{
    tg_assert(statement->parameters == count);
    if (count == 0)
        return;
    memset(statement->binds, 0, count * sizeof *statement->binds);
    for (size_t i = 0; i < count; i++) {
        MYSQL_BIND *bind = &statement->binds[i];

        if (values[i].kind == TG_DB_NULL) {
            bind->buffer_type = MYSQL_TYPE_NULL;
        } else if (values[i].kind == TG_DB_INT) {
            bind->buffer_type = MYSQL_TYPE_LONGLONG;
            bind->buffer = (void *)(uintptr_t)&values[i].number;
        } else {
            bind->buffer_type =
                values[i].kind == TG_DB_TEXT ? MYSQL_TYPE_STRING : MYSQL_TYPE_BLOB;
            bind->buffer = (void *)(uintptr_t)values[i].ptr;
            bind->buffer_length = (unsigned long)values[i].len;
        }
    }
    /* fails for unknown types only */
    tg_assert(!mysql_stmt_bind_param(statement->handle, statement->binds));
}

static enum tg_class statement_failed(const struct statement *statement, struct tg_error *err)
{
    return fail(mysql_stmt_errno(statement->handle), mysql_stmt_error(statement->handle), err);
}

static bool is_int_type(enum enum_field_types type)
{
    return type == MYSQL_TYPE_TINY || type == MYSQL_TYPE_SHORT || type == MYSQL_TYPE_INT24 ||
           type == MYSQL_TYPE_LONG || type == MYSQL_TYPE_LONGLONG || type == MYSQL_TYPE_YEAR;
}

/* Binds one result column and tells the rows what it is. */
static void bind_column(const MYSQL_FIELD *field, struct column *column, MYSQL_BIND *bind)
{
    column->is_int = is_int_type(field->type);
    column->is_unsigned = (field->flags & UNSIGNED_FLAG) != 0;
    bind->buffer_type = column->is_int ? MYSQL_TYPE_LONGLONG : MYSQL_TYPE_STRING;
    if (!column->is_int && (field->flags & BINARY_FLAG) != 0 && field->charsetnr == 63 &&
        (field->type == MYSQL_TYPE_BLOB || field->type == MYSQL_TYPE_STRING ||
         field->type == MYSQL_TYPE_VAR_STRING))
        bind->buffer_type = MYSQL_TYPE_BLOB;
    bind->is_unsigned = column->is_unsigned;
    bind->buffer = &column->first;
    bind->buffer_length = sizeof column->first;
    bind->length = &column->len;
    bind->is_null = &column->null;
    bind->error = &column->truncated;
}

/* Adds the current row's cell; a long one is fetched a second time, straight into its place. */
static enum tg_class take_cell(const struct statement *statement, const struct column *column,
                               unsigned at, struct tg_db_rows *rows, struct tg_error *err)
{
    MYSQL_BIND again = {.buffer_type = MYSQL_TYPE_BLOB};
    unsigned long len = 0;
    char *room;

    if (column->null) {
        tg_db_rows_add_null(rows);
        return TG_OK;
    }
    if (column->is_int) {
        if (column->is_unsigned && column->first.number < 0)
            return tg_fail(err, TG_CLASS_INTERNAL, "db_error",
                           "an unsigned number is beyond 64 bits with sign");
        tg_db_rows_add_int(rows, column->first.number);
        return TG_OK;
    }
    room = tg_db_rows_add_bytes(rows, column->len);
    if (column->len <= sizeof column->first) {
        memcpy(room, column->first.text, column->len);
        return TG_OK;
    }
    again.buffer = room;
    again.buffer_length = column->len;
    again.length = &len;
    if (mysql_stmt_fetch_column(statement->handle, &again, at, 0) != 0)
        return statement_failed(statement, err);
    return TG_OK;
}

static enum tg_class fetch_all(const struct statement *statement, const struct column *columns,
                               size_t count, struct tg_db_rows *rows, struct tg_error *err)
{
    for (;;) {
        int got = mysql_stmt_fetch(statement->handle);

        if (got == MYSQL_NO_DATA)
            return TG_OK;
        if (got != 0 && got != MYSQL_DATA_TRUNCATED)
            return statement_failed(statement, err);
        for (size_t i = 0; i < count; i++) {
            enum tg_class class = take_cell(statement, &columns[i], (unsigned)i, rows, err);

            if (class != TG_OK)
                return class;
        }
    }
}

static enum tg_class read_result(const struct statement *statement, struct tg_db_rows **ret,
                                 struct tg_error *err)
{
    MYSQL_RES *shape = mysql_stmt_result_metadata(statement->handle);
    size_t count = shape == NULL ? 0 : mysql_num_fields(shape);
    struct column *columns;
    MYSQL_BIND *binds;
    struct tg_db_rows *rows;
    enum tg_class class;

    tg_assert(count > 0); /* tg_db_select was given something that selects nothing */
    columns = tg_calloc(count, sizeof *columns);
    binds = tg_calloc(count, sizeof *binds);
    rows = tg_db_rows_new(count);
    for (size_t i = 0; i < count; i++) {
        const MYSQL_FIELD *field = mysql_fetch_field_direct(shape, (unsigned)i);
        bool decimal =
            field->type == MYSQL_TYPE_NEWDECIMAL || field->type == MYSQL_TYPE_DECIMAL;

        bind_column(field, &columns[i], &binds[i]);
        tg_db_rows_set_column(rows, i,
                              columns[i].is_int ? TG_DB_COLUMN_INT
                              : decimal         ? TG_DB_COLUMN_DECIMAL
                                                : TG_DB_COLUMN_OTHER);
    }
    mysql_free_result(shape);
    if (mysql_stmt_bind_result(statement->handle, binds))
        class = statement_failed(statement, err);
    else
        class = fetch_all(statement, columns, count, rows, err);
    free(binds);
    free(columns);
    if (class == TG_OK)
        *ret = rows;
    else
        tg_db_rows_free(rows);
    return class;
}

enum tg_class tg_link_call(struct tg_link *link, struct tg_link_call *call, struct tg_error *err)
{
    struct statement *statement = NULL;
    enum tg_class class;

    call->sent = false;
    class = statement_get(link, call->sql, &statement, err);
    if (class != TG_OK)
        return class;
    statement_bind(statement, call->values, call->count);
    if (mysql_stmt_execute(statement->handle) != 0) {
        unsigned number = mysql_stmt_errno(statement->handle);

        /* "gone": the command could not be written; "unknown handler": it was not executed */
        call->sent = number != CR_SERVER_GONE_ERROR && number != ER_UNKNOWN_STMT_HANDLER;
        if (number == ER_UNKNOWN_STMT_HANDLER)
            number = CR_SERVER_GONE_ERROR;
        return fail(number, mysql_stmt_error(statement->handle), err);
    }
    call->done.affected = (int64_t)mysql_stmt_affected_rows(statement->handle);
    call->done.last_id = (int64_t)mysql_stmt_insert_id(statement->handle);
    if (call->ret != NULL)
        class = read_result(statement, call->ret, err);
    mysql_stmt_free_result(statement->handle);
    return class;
}

