/* server - a tiny HTTP/1.1 upstream inside a test: one thread, one connection at a time.
 *
 * The script is called for each accepted connection and may serve any number of requests on it.
 * Everything it saw is read by the test after test_server_stop or behind a wait for a count.
 *
 * Threads  the script runs on the server's thread.
 */
#ifndef TOLLGATE_TESTS_HTTP_SERVER_H
#define TOLLGATE_TESTS_HTTP_SERVER_H

#include "common/base/buf.h"

#include <pthread.h>

struct test_server;
typedef void test_script(struct test_server *server, int fd, int connection);

struct test_server {
    int listen_fd, port;
    test_script *script;
    void *context;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int connections, requests, closed; /* closed: the peer ended a connection */
    int ended;                         /* connections that the script is done with */
    int fd;                            /* of the connection being served, -1: none */
    bool stopping;
    struct tg_buf head, body; /* of the last request */
};

void test_server_start(struct test_server *server, test_script *script);
void test_server_stop(struct test_server *server);
/* "http://127.0.0.1:PORT<path>" in a static buffer of the calling thread. */
const char *test_server_url(const struct test_server *server, const char *path);

/* Reads one request; a whole one replaces server->head and server->body. False: the peer has
 * closed. */
bool test_read_request(struct test_server *server, int fd);
void test_send(int fd, const void *bytes, size_t len);
void test_send_text(int fd, const char *text);
/* An answer with Content-Length. */
void test_send_answer(int fd, int status, const char *headers, const char *body);
/* Waits until the peer has closed the connection. */
void test_wait_closed(struct test_server *server, int fd);
/* Ends the connection with a reset instead of a goodbye. */
void test_reset(int fd);
/* A counter as it stands. */
int test_count(struct test_server *server, const int *what);
/* Waits (bounded by the test runner) until *count has reached <least>. */
void test_wait_count(struct test_server *server, const int *what, int least);

#endif
