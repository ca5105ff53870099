/* server - a private server process for one test program, in a temporary folder of its own.
 *
 * It ends with the test, also when the test crashes: it is asked to when its parent dies, and the
 * folder is removed by a watcher process. Failures end the program with the server's log: without
 * the server there is no test.
 */
#ifndef TOLLGATE_TESTS_LIB_SERVER_H
#define TOLLGATE_TESTS_LIB_SERVER_H

#include <sys/types.h>

#include "common/base/base.h"

struct test_server {
    char folder[64];
    pid_t pid;     /* 0: not running */
    int keep_open; /* the watcher removes the folder when this end of the pipe closes */
};

/* Makes the folder /tmp/tollgate-NAME.XXXXXX. */
void test_server_init(struct test_server *server, const char *name) non_null(1, 2);
/* Starts the program with its output in FOLDER/log; it dies with this process. */
void test_server_spawn(struct test_server *server, char *const argv[]) non_null(1, 2);
/* False when it has ended by itself. */
bool test_server_is_running(struct test_server *server) non_null(1);
/* Sends <signal> and waits for its end. */
void test_server_end(struct test_server *server, int signal) non_null(1);
void test_server_done(struct test_server *server) non_null(1);
no_return void test_server_give_up(const struct test_server *server, const char *what)
    non_null(1, 2);

#endif
