/* read - small helpers that every store uses to read rows. For common/store only.
 *
 * Threads  as the connection.  Blocks  on the database.
 */
#ifndef TOLLGATE_STORE_READ_H
#define TOLLGATE_STORE_READ_H

#include "common/base/arena.h"
#include "common/base/buf.h"
#include "common/sql/db.h"

/* Returns <class>; a failure of the last call on <db> goes to <err> (NULL is fine). */
enum tg_class tg_store_failed(const struct tg_db *db, enum tg_class class, struct tg_error *err)
    non_null(1);
/* A unique key exists already. */
bool tg_store_is_duplicate(enum tg_class class, const struct tg_error *err) non_null(2);

/* Room for one more element behind <count> of them; the array may move. */
void *tg_store_grow(struct tg_arena *arena, void *array, size_t count, size_t size) must_check
    non_null(1);
/* The column's text in the arena, "" for NULL. */
const char *tg_store_text(struct tg_arena *arena, const struct tg_db_rows *rows, int column)
    must_check non_null(1, 2);
/* A DECIMAL without its trailing zeros ("2.5"), "" for NULL. */
void tg_store_decimal(const struct tg_db_rows *rows, int column, char *text, size_t room)
    non_null(1, 3);
/* <text> as far as it fits, for a column: controls and what is not UTF-8 become '?'. */
void tg_store_cut(const char *text, char *ret, size_t room) non_null(1, 2);
/* ["a","b"] in <buf>, which is empty; NULL for no list at all. Borrowed from <buf>. */
const char *tg_store_list_json(struct tg_buf *buf, const char *const *list, size_t count)
    non_null(1);
/* A DATETIME, 0 for NULL. */
int64_t tg_store_time(const struct tg_db_rows *rows, int column) non_null(1);

#endif
