/* kv - connections to Redis (the only user of hiredis).
 *
 * Calls take the hash tag ("{s17}") that all their keys carry, so that a slot map and Sentinel
 * discovery fit behind this interface. Only argument vectors are sent, never formats. A context
 * that has failed or timed out is never used again: a late reply would answer another question.
 *
 * A connection knows the run id of its server and the offset of its clock, both read when it was
 * made; a server that restarts closes its connections, so the run id cannot go stale.
 *
 * Errors   TG_CLASS_DOWN      "redis_down"    no answer in time; the call may or may not have run
 *          TG_CLASS_INTERNAL  "redis_error"   the server said no; its words are in the message
 *          TG_CLASS_OVERLOAD  "redis_memory"  out of memory (OOM), write refused
 * Threads  a struct tg_kv belongs to one thread at a time; the pool is for any thread. One thread
 *          per process reconnects, the others fail at once.
 * Blocks   up to the deadline given: waiting for a connection and for the answer share it.
 */
#ifndef TOLLGATE_REDIS_KV_H
#define TOLLGATE_REDIS_KV_H

#include "common/base/error.h"

struct tg_kv;
struct tg_kv_pool;

/* The address of a site without Redis: every call is TG_CLASS_DOWN, at once. */
#define TG_KV_NONE "none"

struct tg_kv_conf {
    const char *address; /* unix:PATH, tcp:HOST:PORT or TG_KV_NONE */
    const char *user;
    const char *password; /* "" for none */
    int connections;
};

enum tg_kv_type { TG_KV_NIL, TG_KV_INT, TG_KV_STRING, TG_KV_STATUS, TG_KV_ARRAY };

struct tg_kv_reply; /* a borrowed view; the root is freed by the connection's next call */

enum tg_class tg_kv_pool_new(const struct tg_kv_conf *conf, struct tg_kv_pool **ret,
                             struct tg_error *err) must_check non_null(1, 2);
void tg_kv_pool_free(struct tg_kv_pool *pool); /* NULL is fine */
enum tg_class tg_kv_acquire(struct tg_kv_pool *pool, int64_t deadline_at_us, struct tg_kv **ret,
                            struct tg_error *err) must_check non_null(1, 3);
void tg_kv_release(struct tg_kv *kv); /* NULL is fine */

const char *tg_kv_run_id(const struct tg_kv *kv) non_null(1);
/* The server's clock, in Unix milliseconds, as far as known here. */
int64_t tg_kv_server_ms(const struct tg_kv *kv) non_null(1);
/* Measures the clock offset again (after a script answered "late"). */
enum tg_class tg_kv_sync_clock(struct tg_kv *kv, int64_t deadline_at_us, struct tg_error *err)
    must_check non_null(1);

struct tg_kv_call {
    const char *tag; /* hash tag that every key of the call carries; NULL: keyless command */
    const struct tg_span *args;
    size_t count;
    int64_t deadline_at_us;
};
/* args[0] is the command. The reply is borrowed until the next call on <kv> or its release. */
enum tg_class tg_kv_command(struct tg_kv *kv, const struct tg_kv_call *call,
                            const struct tg_kv_reply **ret, struct tg_error *err) must_check
    non_null(1, 2, 3);

/* A Lua script embedded at build. */
struct tg_kv_script {
    const char *name;
    const char *text;
    size_t len;
    char sha1[41]; /* of text, computed at build */
};
/* EVALSHA, once more with EVAL after NOSCRIPT. <call>->args are the keys (key_count of them)
 * followed by the arguments. */
enum tg_class tg_kv_run(struct tg_kv *kv, const struct tg_kv_script *script,
                        const struct tg_kv_call *call, size_t key_count,
                        const struct tg_kv_reply **ret) must_check non_null(1, 2, 3, 5);
/* Of the last failed call. */
const struct tg_error *tg_kv_error(const struct tg_kv *kv) non_null(1);

enum tg_kv_type tg_kv_type(const struct tg_kv_reply *reply) non_null(1);
struct tg_span tg_kv_string(const struct tg_kv_reply *reply) non_null(1); /* "" when no string */
/* An integer reply, or a string that is one; false otherwise. */
bool tg_kv_int(const struct tg_kv_reply *reply, int64_t *ret) must_check non_null(1, 2);
size_t tg_kv_len(const struct tg_kv_reply *reply) non_null(1);
const struct tg_kv_reply *tg_kv_at(const struct tg_kv_reply *reply, size_t i) non_null(1);

/* Pub/Sub: a connection of its own outside the pool. Waits at most <wait_us> for one message. */
struct tg_kv_listener;
enum tg_class tg_kv_listen(struct tg_kv_pool *pool, const char *channel,
                           struct tg_kv_listener **ret, struct tg_error *err) must_check
    non_null(1, 2, 3);
/* TG_OK with <ret_got> false after a quiet wait. */
enum tg_class tg_kv_listener_wait(struct tg_kv_listener *listener, int64_t wait_us, bool *ret_got,
                                  char *message, size_t room) must_check non_null(1, 3, 4);
void tg_kv_listener_free(struct tg_kv_listener *listener); /* NULL is fine */

#endif
