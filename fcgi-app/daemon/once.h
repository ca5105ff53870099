/* once - the rounds of the daemon's threads, for --once.
 *
 * Each does all of its work that can be done now. *ret_moved: there was some.
 *
 * Threads  one.  Blocks  on the stores.
 */
#ifndef TOLLGATE_FCGI_DAEMON_ONCE_H
#define TOLLGATE_FCGI_DAEMON_ONCE_H

#include "fcgi-app/daemon/daemon.h"

enum tg_class daemon_shards_once(struct daemon *daemon, struct daemon_links *links,
                                 bool *ret_moved, struct tg_error *err) must_check
    non_null(1, 2, 3, 4);
enum tg_class daemon_records_once(struct daemon *daemon, struct daemon_links *links,
                                  bool *ret_moved, struct tg_error *err) must_check
    non_null(1, 2, 3, 4);
enum tg_class daemon_replay_once(struct daemon *daemon, struct daemon_links *links,
                                 bool *ret_moved, struct tg_error *err) must_check
    non_null(1, 2, 3, 4);
enum tg_class daemon_jobs_once(struct daemon *daemon, struct daemon_links *links, bool *ret_moved,
                               struct tg_error *err) must_check non_null(1, 2, 3, 4);

#endif
