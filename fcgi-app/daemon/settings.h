/* settings - the daemon's conf made anew: the file, and the options table laid over it.
 *
 * The table is looked at every snapshot.interval, the file read again at SIGHUP. What was in force
 * stays readable until the end: a thread may still hold it.
 *
 * Threads  the main thread.  Blocks  on the file and the database.
 */
#ifndef TOLLGATE_DAEMON_SETTINGS_H
#define TOLLGATE_DAEMON_SETTINGS_H

#include "fcgi-app/daemon/daemon.h"

struct daemon_settings; /* what was read last, and every conf so far */

/* daemon->conf is the file's from here on. */
struct daemon_settings *daemon_settings_new(struct daemon *daemon, const char *path,
                                            struct tg_error *err) must_check non_null(1, 2, 3);
void daemon_settings_free(struct daemon_settings *settings); /* NULL is fine */

/* Another conf, if the table has changed, or if <whole>: the file is then read even so. */
void daemon_settings_look(struct daemon_settings *settings, bool whole) non_null(1);

#endif
