/* worker - what one worker process holds, shared by its threads.
 *
 * Made after the fork (libcurl, Redis and MySQL handles are not fork-safe); the shared mapping is
 * the master's. Settings and snapshot are immutable and swapped by pointer.
 *
 * Threads  any.
 */
#ifndef TOLLGATE_WORKER_H
#define TOLLGATE_WORKER_H

#include "common/conf/conf.h"
#include "common/conf/units.h"
#include "common/crypto/secrets.h"
#include "common/http/http.h"
#include "common/ledger/ledger.h"
#include "common/ledger/spool.h"
#include "fcgi-app/route/snapshot.h"

#include <stdatomic.h>

struct tg_effects;
struct tg_encoders;
struct tg_key_keeper;
struct tg_known;
struct tg_shared;
struct tg_reload;

/* Values of the conf that requests need, parsed once per (re)load; see settings.h. */
struct tg_settings {
    struct tg_conf *conf;
    struct tg_arena *arena;       /* holds all of this */
    struct tg_settings *previous; /* replaced by these; requests may still read them */
    struct tg_cidr *channel_allow, *trusted_proxies, *metrics_allow;
    size_t channel_allow_count, trusted_proxies_count, metrics_allow_count;
    const char *const *auto_groups; /* of tokens of the group "auto" that name none */
    size_t auto_group_count;
    struct tg_status_ranges retry_statuses, disable_statuses;
    int64_t requests_most; /* that one worker runs: its threads, less some for /healthz and the
                              like, and its descriptors allow no more */
    size_t idle_most;      /* upstream connections that wait for use; the descriptors allow it */
};

struct tg_worker {
    int index;
    int64_t spool_id; /* names this incarnation in holds and spool files */
    const char *node;
    struct tg_shared *shared;
    const struct tg_encoders *encoders; /* the master's; NULL in tests: all is estimated */
    struct tg_secrets secrets;
    struct tg_hmac_key token_pepper; /* the one of <secrets>, made ready */
    struct tg_kv_pool *kv;
    struct tg_db_pool *main_db;
    struct tg_http_pool *http;
    struct tg_ledger *ledger;
    struct tg_spool *spool;
    struct tg_snapshot_holder *snapshots;
    struct tg_effects *effects; /* NULL in tests: none follow */
    struct tg_key_keeper *keys; /* NULL in tests: nothing is stored */
    struct tg_reload *reload; /* the main thread's */
    struct tg_known *known; /* credentials read a moment ago */
    atomic_bool draining; /* about to end: takes no new requests */
    atomic_bool cut;      /* and those that run have had their time */
    int cut_fd;           /* readable from then on */
    /* private: reload.c swaps it, tg_worker_settings reads it */
    struct tg_settings *_Atomic settings;
};

/* The settings in force. Borrowed until the worker's next reload plus the longest request; they
 * are kept for the process's life (a reload is rare and small). */
const struct tg_settings *tg_worker_settings(struct tg_worker *worker) non_null(1);

#endif
