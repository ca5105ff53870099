/* listen - the socket where the web server reaches the workers.
 *
 * unix:PATH or tcp:HOST:PORT, or descriptor 0 when that is a listening socket already (spawn-fcgi,
 * systemd). A socket file that was left behind is replaced only when nobody listens on it.
 *
 * Threads  one.  Blocks  on resolving a host name.
 */
#ifndef TOLLGATE_LISTEN_H
#define TOLLGATE_LISTEN_H

#include "common/base/error.h"

struct tg_listener {
    int fd;
    char shown[256];       /* for the log */
    char socket_path[128]; /* the file we made; "" for none */
};

/* <mode> as "0660". Errors: TG_CLASS_CONFIG "listen_…". */
enum tg_class tg_listen(const char *address, const char *mode, struct tg_listener *ret,
                        struct tg_error *err) must_check non_null(1, 2, 3);
/* Closes, and removes the file that we made. */
void tg_listen_done(struct tg_listener *listener) non_null(1);

#endif
