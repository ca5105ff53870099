/* kv_link - one connection to Redis, as kv.c, kv_pool.c and kv_listen.c share it.
 *
 * One deadline bounds writing, waiting and reading together: a read waits for as long as the
 * socket's own limit says, a write never waits inside the call. Once `broken`, a connection can
 * only be closed.
 *
 * Threads  one owner.  Blocks  up to the deadline given (name resolution of tcp: excepted).
 */
#ifndef TOLLGATE_REDIS_KV_LINK_H
#define TOLLGATE_REDIS_KV_LINK_H

#include "common/base/buf.h"
#include "common/redis/kv.h"

struct redisContext;

struct tg_kv {
    struct redisContext *context;
    void *reply;              /* of the last call */
    struct tg_kv_pool *pool;  /* where it goes back to */
    struct tg_kv *next;       /* in the pool's list of idle ones */
    struct tg_span *argv;     /* scratch of the call being sent */
    size_t argv_room;
    struct tg_buf out;        /* the same as it goes over the wire */
    int64_t answered_at_us;   /* when the last reply came */
    int64_t clock_offset_us;  /* server's wall clock minus our monotonic one */
    bool broken;
    char run_id[41];
    struct tg_error error;
};

/* Checks the form "unix:PATH" or "tcp:HOST:PORT". */
enum tg_class tg_kv_address_check(const char *address, struct tg_error *err) must_check
    non_null(1);
/* Connects, authenticates, reads run id and clock. */
enum tg_class tg_kv_open(const struct tg_kv_conf *conf, int64_t deadline_at_us,
                         struct tg_kv **ret, struct tg_error *err) must_check non_null(1, 3);
void tg_kv_close(struct tg_kv *kv); /* NULL is fine */
/* Nothing has arrived on an idle connection: bytes or an end mean that it is of no use. */
bool tg_kv_is_quiet(const struct tg_kv *kv) must_check non_null(1);
/* One message of a connection in Pub/Sub; *ret NULL after a quiet wait. Borrowed as a reply. */
enum tg_class tg_kv_receive(struct tg_kv *kv, int64_t deadline_at_us,
                            const struct tg_kv_reply **ret) must_check non_null(1, 3);

/* A copy of a configuration and its end, for those that outlive the caller's. */
void tg_kv_conf_copy(struct tg_kv_conf *to, const struct tg_kv_conf *from) non_null(1, 2);
void tg_kv_conf_done(struct tg_kv_conf *conf) non_null(1);
const struct tg_kv_conf *tg_kv_pool_conf(const struct tg_kv_pool *pool) non_null(1);

#endif
