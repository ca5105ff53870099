/* snapshot - channels, abilities, prices and groups as one immutable value per process.
 *
 * Rebuilt when the version row in MySQL changed: looked at every snapshot.interval and at once on
 * a Pub/Sub message; read in one consistent transaction. A build that fails keeps the old one; its
 * age shows in /readyz. A request takes a reference only while it chooses and copies what it needs
 * into its arena; acquire and release are under one mutex (AMENDMENTS N1). No request queries
 * MySQL for routing.
 *
 * Threads  any.  Blocks  acquire: no; the refresher thread: on MySQL.
 */
#ifndef TOLLGATE_ROUTE_SNAPSHOT_H
#define TOLLGATE_ROUTE_SNAPSHOT_H

#include "common/crypto/secrets.h"
#include "common/redis/kv.h"
#include "common/store/routing.h"
#include "fcgi-app/route/key_board.h"

struct tg_snapshot;
struct tg_zone;
struct tg_snapshot_holder;

struct tg_snapshot_conf {
    struct tg_db_pool *main_db;
    struct tg_kv_pool *kv;
    const struct tg_secrets *secrets; /* to open channel keys; copied */
    /* Looked at before each reading of the tables, for another master key. NULL: never. */
    const char *console_file, *private_file;
    const char *node; /* told to the database with the newest key that it can open; NULL: nothing */
    int64_t interval_us;
    /* Called by the refresher when it is told of a change, and at every interval: for other data
     * that the same messages speak of. NULL is fine. */
    void (*changed)(void *context);
    void *context;
    struct tg_key_board *keys; /* hears what messages say about keys; NULL is fine */
};
/* Starts the refresher thread; the first build is made before it returns when MySQL answers. */
enum tg_class tg_snapshot_holder_new(const struct tg_snapshot_conf *conf,
                                     struct tg_snapshot_holder **ret, struct tg_error *err)
    must_check non_null(1, 2);
/* NULL is fine; joins the thread. */
void tg_snapshot_holder_free(struct tg_snapshot_holder *holder);
/* NULL before the first successful build. */
const struct tg_snapshot *tg_snapshot_acquire(struct tg_snapshot_holder *holder) non_null(1);
/* The same, but an older version is waited out, for 3 s: what was saved just now is meant. */
const struct tg_snapshot *tg_snapshot_acquire_from(struct tg_snapshot_holder *holder,
                                                   int64_t version) must_check non_null(1);
void tg_snapshot_release(struct tg_snapshot_holder *holder, const struct tg_snapshot *snapshot)
    non_null(1); /* NULL is fine */
void tg_snapshot_hurry(struct tg_snapshot_holder *holder) non_null(1); /* looks at once */
int64_t tg_snapshot_age_us(struct tg_snapshot_holder *holder) non_null(1); /* -1: none yet */
void tg_snapshot_fingerprint(struct tg_snapshot_holder *holder, char ret[TG_FINGERPRINT_TEXT])
    non_null(1);
int64_t tg_snapshot_version(const struct tg_snapshot *snapshot) non_null(1);

/* A key of a channel, opened. State and use are those of the row: the board knows newer ones. */
struct tg_channel_key {
    int64_t id;
    const char *key, *hint;
    struct tg_key_seen row;
    enum tg_cap_unit cap_unit;
    int64_t cap, used, used_since_s;
    int reset_hour;
    const struct tg_zone *zone;
};

/* A channel with the key that was chosen; in the snapshot the first of "keys", by position. */
struct tg_channel {
    int64_t id, priority, weight;
    const char *name, *provider, *base_url, *organisation, *proxy;
    int64_t connect_us, first_byte_us, idle_us; /* 0: the conf's value */
    bool bill_upstream, auto_disable, off; /* off: disabled by itself, for tests only */
    const char *model_mapping; /* JSON object, "" for none */
    const char *loss_policy;   /* allow, safe, strict; "": allow */
    const char *test_model, *balance_from; /* test_model: "" when none is known by its name */
    int64_t key_id;
    const char *key, *key_hint; /* "": it has none */
    enum tg_key_mode key_mode;
    const struct tg_channel_key *keys; /* NULL in a copy */
    size_t key_count;
};

struct tg_ability {
    int64_t priority, weight;
    const struct tg_channel *channel;
};
/* Abilities of (group, model), highest priority first; exact names before patterns. */
const struct tg_ability *tg_snapshot_abilities(const struct tg_snapshot *snapshot,
                                               const char *group, const char *model,
                                               size_t *ret_count) non_null(1, 2, 3, 4);
/* Does any group offer the model? (404 model_not_found against 403 model_not_allowed) */
bool tg_snapshot_knows_model(const struct tg_snapshot *snapshot, const char *model) non_null(1, 2);
/* Exact name, else the longest matching pattern; NULL: unpriced. */
const struct tg_price *tg_snapshot_price(const struct tg_snapshot *snapshot, const char *model)
    non_null(1, 2);
/* Ratio for a user of <user_group> using <used_group>; NULL when it may not. */
const char *tg_snapshot_ratio(const struct tg_snapshot *snapshot, const char *user_group,
                              const char *used_group) non_null(1, 2, 3);
/* The group's own factor on deposits; "": that of the settings. */
const char *tg_snapshot_deposit_factor(const struct tg_snapshot *snapshot, const char *group)
    non_null(1, 2);
/* Is free room spent before paid, whatever the weights say? (order spend_free_first) */
bool tg_snapshot_spends_free_first(const struct tg_snapshot *snapshot, const char *group)
    non_null(1, 2);
/* Model names a group offers, sorted. */
typedef void tg_snapshot_model_fn(void *context, const char *model);
void tg_snapshot_models(const struct tg_snapshot *snapshot, const char *group,
                        tg_snapshot_model_fn *visit, void *context) non_null(1, 2, 3);
/* Does the group offer a model by exactly this name? */
bool tg_snapshot_has_exact(const struct tg_snapshot *snapshot, const char *group,
                           const char *model) non_null(1, 2, 3);
const struct tg_channel *tg_snapshot_channel(const struct tg_snapshot *snapshot, int64_t id)
    non_null(1);
/* California's time; NULL: the system does not know it. */
const struct tg_zone *tg_snapshot_pacific(const struct tg_snapshot *snapshot) non_null(1);
/* Ids of all channels, or only of those that are disabled by themselves. Owns: the arena. */
const int64_t *tg_snapshot_channel_ids(const struct tg_snapshot *snapshot, struct tg_arena *arena,
                                       bool all, size_t *ret_count) must_check non_null(1, 2, 4);

#endif
