/* redis - a real, private Redis for one test program (see server.h).
 *
 * A socket of its own, no network, appendonly yes.
 *
 *     struct test_redis *server = test_redis_start();
 *     struct tg_kv_pool *pool = test_redis_pool(server, 4);
 *     test_redis_say(server, "HGET", "tg:{s01}:user:1", "quota", NULL)   "1000"
 *     test_redis_stop(server);
 */
#ifndef TOLLGATE_TESTS_LIB_REDIS_H
#define TOLLGATE_TESTS_LIB_REDIS_H

#include "common/redis/kv.h"

struct test_redis;

struct test_redis *test_redis_start(void);
void test_redis_stop(struct test_redis *server);    /* NULL is fine */
void test_redis_kill(struct test_redis *server);    /* SIGKILL, and waits for its end */
void test_redis_again(struct test_redis *server);   /* up again over the same data, new run id */
void test_redis_restart(struct test_redis *server); /* SIGTERM, wait, up again */
void test_redis_pause(struct test_redis *server);   /* SIGSTOP */
void test_redis_resume(struct test_redis *server);

const char *test_redis_address(const struct test_redis *server); /* "unix:/tmp/…" */
struct tg_kv_pool *test_redis_pool(const struct test_redis *server, int connections);
/* Runs one command (words, then NULL) on a connection of its own. The reply as text: arrays are
 * joined by blanks, nil is "(nil)", an error its words. Valid until the next one. */
const char *test_redis_say(struct test_redis *server, ...) __attribute__((sentinel));

#endif
