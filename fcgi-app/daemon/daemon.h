/* daemon - what the threads of tollgate-ledger share.
 *
 *   shards   a few threads, each with a set of the 64: rebuild when needed, apply, trim
 *   records  log_batch to the log database
 *   replay   spool, credits, adjustments, plans' periods, offline entries; sweep of silent holds
 *   jobs     partitions ahead, old days folded, old months dropped, the node's row
 *
 * Every thread owns its connections while it works and gives them back when a store is away; it
 * then tries again for ever, with a growing pause. Nothing here must not be done twice: two daemons
 * at once, of one node or of many, are harmless.
 *
 * Threads  as said.  Blocks  daemon_pause: until the time is over or the program ends.
 */
#ifndef TOLLGATE_FCGI_DAEMON_H
#define TOLLGATE_FCGI_DAEMON_H

#include "common/conf/node.h"
#include "common/ledger/ledger.h"

#include <pthread.h>
#include <stdatomic.h>

enum daemon_area { AREA_SHARDS, AREA_RECORDS, AREA_REPLAY, AREA_JOBS, AREA_COUNT };

struct daemon {
    struct tg_conf *_Atomic conf; /* the one in force: load it, read it, and let it go */
    char node[TG_NODE_TEXT];
    struct tg_db_pool *main_pool, *log_pool;
    struct tg_kv_pool *kv_pool;
    struct tg_ledger *ledger;
    bool single; /* a site without Redis: no shards, the replay goes into the books at once */
    atomic_bool shard_on[TG_SHARDS];
    atomic_int troubled[AREA_COUNT]; /* threads of the area that fail */
    pthread_mutex_t lock; /* of <stop>, for the condition */
    pthread_cond_t stopped;
    bool stop;
};

/* Everything a thread works with; which of them depends on the area. */
struct daemon_links {
    struct tg_db *main_db, *log_db;
    struct tg_kv *kv;
};
enum daemon_need { NEED_MAIN = 1, NEED_LOG = 2, NEED_KV = 4 };
/* TG_OK with all that is needed, each having answered, or nothing. */
enum tg_class daemon_connect(struct daemon *daemon, unsigned need, struct daemon_links *ret,
                             struct tg_error *err) must_check non_null(1, 3, 4);
void daemon_disconnect(struct daemon_links *links) non_null(1);

bool daemon_is_stopping(struct daemon *daemon) non_null(1);
void daemon_stop(struct daemon *daemon) non_null(1);
void daemon_pause(struct daemon *daemon, int64_t pause_us) non_null(1);

/* Runs <round> with its connections until the end: pauses for what it asks for, connects again
 * and backs off (100 ms to 1 s) after a failure. The log gets one line when the first thread of an
 * area begins to fail, and one when the last works again. */
typedef enum tg_class daemon_round_fn(void *context, struct daemon_links *links,
                                      int64_t *ret_pause_us, struct tg_error *err);
void daemon_loop(struct daemon *daemon, enum daemon_area area, unsigned need,
                 daemon_round_fn *round, void *context) non_null(1, 4);

/* The threads' bodies; <context> as pthread_create wants it. */
enum { DAEMON_SHARD_THREADS = 4 };
struct daemon_shards {
    struct daemon *daemon;
    int index; /* works shards index, index + DAEMON_SHARD_THREADS, … */
};
void *daemon_shards_thread(void *context);
void *daemon_records_thread(void *context); /* struct daemon */
void *daemon_replay_thread(void *context);
void *daemon_jobs_thread(void *context);

/* --once: everything that can be done now, then back. Errors: a store is away. */
enum tg_class daemon_once(struct daemon *daemon, struct tg_error *err) must_check non_null(1, 2);

#endif
