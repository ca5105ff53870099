/* peer - the web server's end of FastCGI, for tests of ours. Failures end the program.
 *
 * A listening socket of its own, and connections whose records are written one by one, so that a
 * test can stall, cut or garble them at any place.
 */
#ifndef TOLLGATE_TESTS_LIB_PEER_H
#define TOLLGATE_TESTS_LIB_PEER_H

#include "common/base/buf.h"

struct test_door {
    int fd;
    bool on_tcp;
    char path[108]; /* unix */
    int port;       /* tcp, on the loopback */
};
void test_door_open(struct test_door *door, bool on_tcp);
void test_door_close(struct test_door *door);

int test_peer_connect(const struct test_door *door);

enum { TEST_KEEP_CONN = 1 };
void test_peer_begin(int fd, int flags);
/* name, value, name, value, ..., NULL; the stream of parameters stays open. */
void test_peer_params(int fd, const char *name, ...) __attribute__((sentinel));
void test_peer_params_end(int fd);
void test_peer_body(int fd, const void *bytes, size_t len); /* in records of at most 65,535 */
void test_peer_body_end(int fd);
void test_peer_abort(int fd);
void test_peer_raw(int fd, const void *bytes, size_t len);

/* Reads the answer up to END_REQUEST; false when the connection ended without one. <out> gets the
 * bytes of STDOUT. */
bool test_peer_answer(int fd, struct tg_buf *out);
/* True when the connection is at its end (blocks until then). */
bool test_peer_is_closed(int fd);

/* All of a request without a body. */
void test_peer_get(int fd, const char *uri);

#endif
