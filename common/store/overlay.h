/* overlay - the settings of a running program: its conf file, the options table laid over it.
 *
 * Rows that do not fit (another version wrote them) are left out with a warning; while the database
 * is away the rows read last stay in force, and one warning says so.
 *
 * Errors   those of conf.h.
 * Threads  one at a time.
 * Blocks   tg_overlay_look: on the database; tg_overlay_conf: on the file.
 */
#ifndef TOLLGATE_STORE_OVERLAY_H
#define TOLLGATE_STORE_OVERLAY_H

#include "common/conf/conf.h"
#include "common/sql/db.h"

struct tg_overlay; /* the rows read last; none at first */

struct tg_overlay *tg_overlay_new(void) must_check;
void tg_overlay_free(struct tg_overlay *overlay); /* NULL is fine */

/* Reads the table. True when it is another one than that read last. */
bool tg_overlay_look(struct tg_overlay *overlay, struct tg_db_pool *main_db) non_null(1, 2);
/* A conf of file and rows, the caller's. */
enum tg_class tg_overlay_conf(const struct tg_overlay *overlay, const char *path,
                              struct tg_conf **ret, struct tg_error *err) must_check
    non_null(1, 2, 3, 4);
/* The log's line for it. */
void tg_overlay_in_force(const struct tg_overlay *overlay) non_null(1);

#endif
