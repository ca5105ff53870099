/* db - connections to MySQL or MariaDB (the only user of Connector/C).
 *
 * Only common/store/ holds SQL. Prepared statements only, prepared on first use and cached per
 * connection by the address of their text (so the text must be a constant). Sessions are strict,
 * UTC, utf8mb4, without LOCAL INFILE and without multiple statements.
 *
 * Errors   TG_CLASS_DOWN      "db_down"      no answer (outside a transaction one reconnect was
 *                                            tried); the statement may or may not have run
 *          TG_CLASS_CONFLICT  "db_duplicate" a unique key exists; "db_retry" deadlock or lock
 *                                            wait: the transaction is gone and may be repeated
 *          TG_CLASS_INTERNAL  "db_error"     anything else; message holds the server's error
 * Threads  a struct tg_db belongs to one thread at a time; the pool is for any thread.
 * Blocks   each call up to the configured timeout.
 */
#ifndef TOLLGATE_SQL_DB_H
#define TOLLGATE_SQL_DB_H

#include "common/base/error.h"

struct tg_db;
struct tg_db_pool;
struct tg_db_rows;

struct tg_db_conf {
    const char *dsn;      /* mysql://USER@HOST[:PORT]/NAME[?socket=PATH] */
    const char *password; /* "" for none */
    int connections;      /* most open at once */
    int64_t timeout_us;
    bool without_schema;  /* connect without choosing NAME (to create it) */
};

/* A parameter. */
enum tg_db_kind { TG_DB_NULL, TG_DB_INT, TG_DB_TEXT, TG_DB_BYTES };
struct tg_db_value {
    enum tg_db_kind kind;
    int64_t number;
    const void *ptr;
    size_t len;
};
#define TG_DB_I(x) ((struct tg_db_value){.kind = TG_DB_INT, .number = (x)})
#define TG_DB_S(x) tg_db_string(x) /* NULL gives NULL */
#define TG_DB_B(p, n) ((struct tg_db_value){.kind = TG_DB_BYTES, .ptr = (p), .len = (n)})
#define TG_DB_N ((struct tg_db_value){.kind = TG_DB_NULL})
struct tg_db_value tg_db_string(const char *text);

struct tg_db_done {
    int64_t affected; /* rows changed (found rows are not counted unless changed) */
    int64_t last_id;
};

/* Checks the DSN's form; connects on first use. */
enum tg_class tg_db_pool_new(const struct tg_db_conf *conf, struct tg_db_pool **ret,
                             struct tg_error *err) must_check non_null(1, 2);
void tg_db_pool_free(struct tg_db_pool *pool); /* NULL is fine; all must be released */
const char *tg_db_pool_schema(const struct tg_db_pool *pool) non_null(1);
/* Waits for a free connection until <deadline_at_us> (monotonic), then TG_CLASS_DOWN. */
enum tg_class tg_db_acquire(struct tg_db_pool *pool, int64_t deadline_at_us, struct tg_db **ret,
                            struct tg_error *err) must_check non_null(1, 3);
/* Rolls back what is open. NULL is fine. */
void tg_db_release(struct tg_db *db);

enum tg_class tg_db_run(struct tg_db *db, const char *sql, const struct tg_db_value *values,
                        size_t count, struct tg_error *err) must_check non_null(1, 2);
/* What the last tg_db_run did. */
struct tg_db_done tg_db_done(const struct tg_db *db) non_null(1);

/* Reads the whole result into memory. Owns: caller, tg_db_rows_free. */
enum tg_class tg_db_select(struct tg_db *db, const char *sql, const struct tg_db_value *values,
                           size_t count, struct tg_db_rows **ret) must_check non_null(1, 2, 5);
/* The error of the last failed call on this connection. */
const struct tg_error *tg_db_error(const struct tg_db *db) non_null(1);
bool tg_db_next(struct tg_db_rows *rows) non_null(1); /* to the first, the next … row */
void tg_db_rows_free(struct tg_db_rows *rows);       /* NULL is fine */
/* Columns of the current row, from 0; integers of NULL are 0, texts of NULL are NULL. Text is
 * NUL-terminated, borrowed until the next row. DECIMAL and DATETIME columns are texts. */
bool tg_db_is_null(const struct tg_db_rows *rows, int column) non_null(1);
int64_t tg_db_int(const struct tg_db_rows *rows, int column) non_null(1);
const char *tg_db_text(const struct tg_db_rows *rows, int column) non_null(1);
struct tg_span tg_db_bytes(const struct tg_db_rows *rows, int column) non_null(1);

enum tg_class tg_db_begin(struct tg_db *db, struct tg_error *err) must_check non_null(1);
/* REPEATABLE READ with a snapshot at once: all reads agree. */
enum tg_class tg_db_begin_snapshot(struct tg_db *db, struct tg_error *err) must_check non_null(1);
enum tg_class tg_db_commit(struct tg_db *db, struct tg_error *err) must_check non_null(1);
void tg_db_rollback(struct tg_db *db) non_null(1);

/* Unprepared text, for migrations only (DDL, SET, GET_LOCK). */
enum tg_class tg_db_script(struct tg_db *db, const char *sql, struct tg_error *err) must_check
    non_null(1, 2);

#endif
