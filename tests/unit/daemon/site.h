/* site - books (books.h) with a Redis, a ledger and a spool folder, for the daemon's tests.
 *
 * Shards 1 and 2 are on after site_reset; the others are left alone.
 */
#ifndef TOLLGATE_TESTS_DAEMON_SITE_H
#define TOLLGATE_TESTS_DAEMON_SITE_H

#include "common/ledger/audit.h"
#include "common/ledger/rebuild.h"
#include "common/ledger/spool_watch.h"
#include "tests/unit/daemon/books.h"
#include "tests/unit/lib/redis.h"

struct site {
    struct books *books;
    struct test_redis *redis;
    struct tg_kv_pool *kv_pool;
    struct tg_kv *kv; /* NULL while Redis is down; site_connect */
    struct tg_ledger *ledger; /* of worker 77 on node "here", leases of 1 ms */
    char spool[64];
    struct tg_error err;
};

struct site *site_start(void);
void site_stop(struct site *site);
void site_reset(struct site *site);
void site_connect(struct site *site); /* again, after Redis was started anew */

struct tg_apply site_work(struct site *site, int shard);
void site_apply(struct site *site, int shard); /* all there is */
enum tg_rebuild_answer site_rebuild(struct site *site, int shard);
int64_t site_epoch(struct site *site, int shard);

void site_settle(struct site *site, const struct tg_entry *entry);
/* A hold of <amount> for the request that <entry> ends. */
void site_reserve(struct site *site, const struct tg_entry *entry, int64_t amount);
int64_t site_live(struct site *site, int64_t user); /* loads it when missing */
/* The last entry of the shard's journal goes, as a lost tail or a tampering hand would do it. */
void site_drop_last(struct site *site, int shard);

struct tg_replay site_replay(struct site *site);
/* The report of one audit. Owns: static storage. */
const struct tg_audit_report *site_audit(struct site *site);
/* Moves the records first; fails with the first difference. */
void site_is_clean(struct site *site);

#endif
