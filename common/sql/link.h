/* link - one connection to the server, as it is: no retry, no transaction rules (db.c has those).
 *
 * link.c is the only file that includes Connector/C.
 *
 * Errors   as db.h.
 * Threads  one owner.  Blocks  up to the target's timeout.
 */
#ifndef TOLLGATE_SQL_LINK_H
#define TOLLGATE_SQL_LINK_H

#include "common/sql/connection.h"

struct tg_link;

/* To be called on every thread before it uses a link. */
void tg_link_thread_ready(void);

enum tg_class tg_link_open(const struct tg_db_target *target, struct tg_link **ret,
                           struct tg_error *err) must_check non_null(1, 2, 3);
void tg_link_close(struct tg_link *link); /* NULL is fine */
/* Has the server closed it, or said good-bye, while nothing was asked? Does not block. */
bool tg_link_is_closed(const struct tg_link *link) non_null(1);

/* One unprepared text; a result is thrown away. */
enum tg_class tg_link_text(struct tg_link *link, const char *sql, struct tg_error *err) must_check
    non_null(1, 2, 3);

struct tg_link_call {
    const char *sql;
    const struct tg_db_value *values;
    size_t count;
    struct tg_db_rows **ret; /* NULL: nothing is read */
    struct tg_db_done done;  /* out */
    bool sent;               /* out, after a failure: the statement may have run */
};
enum tg_class tg_link_call(struct tg_link *link, struct tg_link_call *call,
                           struct tg_error *err) must_check non_null(1, 2, 3);

#endif
