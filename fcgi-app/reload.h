/* reload - the settings made anew: conf file and environment, and the options table laid over them.
 *
 * The table is looked at when the workers are told that something has changed and at every
 * snapshot.interval. Rows that do not fit (another version wrote them) are left out with a warning;
 * while the database is away the rows read last stay in force.
 *
 * Threads  tg_reload_wish: any; the rest: the worker's main thread.
 * Blocks   tg_reload: on the conf file and the database.
 */
#ifndef TOLLGATE_RELOAD_H
#define TOLLGATE_RELOAD_H

#include "fcgi-app/worker.h"

struct tg_reload; /* what was read last */

struct tg_reload *tg_reload_new(void) must_check;
void tg_reload_free(struct tg_reload *reload); /* NULL is fine */

/* The table may have changed: have it looked at. <context> is the struct tg_reload. */
void tg_reload_wish(void *context);
/* The next settings, if the table was wished to be looked at and did change, or if <whole>: the
 * file is then read again even so, and the log opened again. */
void tg_reload(struct tg_reload *reload, struct tg_worker *worker, const char *conf_path,
               bool whole) non_null(1, 2, 3);

#endif
