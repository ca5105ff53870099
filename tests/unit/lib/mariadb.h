/* mariadb - a real, private MariaDB for one test program.
 *
 * A temporary folder with a data directory, a socket of its own and no network. The server ends
 * with the test, also when the test crashes: it is asked to when its parent dies, and the folder
 * is removed by a watcher process.
 *
 *     struct test_mariadb *server = test_mariadb_start();
 *     test_mariadb_dsn(server, "main")   "mysql://USER@localhost/main?socket=…"
 *     test_mariadb_restart(server);
 *     test_mariadb_stop(server);
 *
 * Failures end the program with a message: without the server there is no test.
 */
#ifndef TOLLGATE_TESTS_LIB_MARIADB_H
#define TOLLGATE_TESTS_LIB_MARIADB_H

#include "common/sql/db.h"

struct test_mariadb;

struct test_mariadb *test_mariadb_start(void);
void test_mariadb_stop(struct test_mariadb *server); /* NULL is fine */
void test_mariadb_kill(struct test_mariadb *server);    /* SIGKILL, and waits for its end */
void test_mariadb_again(struct test_mariadb *server);   /* up again over the same data */
void test_mariadb_restart(struct test_mariadb *server); /* SIGTERM, wait, up again */

const char *test_mariadb_folder(const struct test_mariadb *server);
/* Owns: the server, until it is stopped. */
const char *test_mariadb_dsn(struct test_mariadb *server, const char *schema);
/* Runs statements (separated by ';') in <schema>; "" chooses none. Ends the program on failure. */
void test_mariadb_sql(struct test_mariadb *server, const char *schema, const char *sql);
/* A pool on <schema>, which is made when it does not exist. */
struct tg_db_pool *test_mariadb_pool(struct test_mariadb *server, const char *schema,
                                     int connections);

#endif
