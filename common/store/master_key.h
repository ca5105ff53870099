/* master_key - which master key is sealed with, who can open what, and sealing rows anew.
 *
 * master_key.version is a floor: a transaction that stores a sealed key shares its row and refuses
 * an older version, so that once the floor is raised no older row can appear behind the back of
 * whoever seals rows anew.
 *
 * Errors   those of db.h; TG_CLASS_CONFLICT "master_key_changed".
 * Threads  as the connection.  Blocks  on the database.
 */
#ifndef TOLLGATE_STORE_MASTER_KEY_H
#define TOLLGATE_STORE_MASTER_KEY_H

#include "common/base/arena.h"
#include "common/crypto/secrets.h"
#include "common/store/change.h"

/* Fails the change when something newer than <version> is sealed with. Before the first seal. */
void tg_master_key_share(struct tg_change *change, int64_t version) non_null(1);

struct tg_master_key_state {
    int64_t version;
    bool begun; /* a change to the key with this public key */
    uint8_t next_public[TG_KEY_BYTES];
};
enum tg_class tg_master_key_read(struct tg_db *db, struct tg_master_key_state *ret,
                                 struct tg_error *err) must_check non_null(1, 2);
/* One at a time, of all nodes: until the connection ends. *ret_got false: another has it. */
enum tg_class tg_master_key_lock(struct tg_db *db, bool *ret_got, struct tg_error *err) must_check
    non_null(1, 2);
/* A change begins, to this key; nothing when another has begun. */
enum tg_class tg_master_key_begin(struct tg_db *db, const struct tg_actor *actor,
                                  const uint8_t next_public[TG_KEY_BYTES], struct tg_error *err)
    must_check non_null(1, 2);
/* Nothing older is sealed with from now on. */
enum tg_class tg_master_key_raise(struct tg_db *db, const struct tg_actor *actor, int64_t version,
                                  struct tg_error *err) must_check non_null(1, 2);
/* The change is over. */
enum tg_class tg_master_key_end(struct tg_db *db, const struct tg_actor *actor, int64_t version,
                                struct tg_error *err) must_check non_null(1, 2);

/* The newest key that a node's gateway can open. */
struct tg_master_key_node {
    const char *name;
    int64_t newest;
};
enum tg_class tg_master_key_tell(struct tg_db *db, const struct tg_master_key_node *node,
                                 struct tg_error *err) must_check non_null(1, 2);
/* Names of the nodes that cannot open <own>'s newest key yet but for <own> and those that are
 * gone; "" when there are none, at most 1,000. Owns: the arena. */
enum tg_class tg_master_key_behind(struct tg_db *db, struct tg_arena *arena,
                                   const struct tg_master_key_node *own, const char **ret,
                                   struct tg_error *err) must_check non_null(1, 2, 3, 4);

/* One batch of rows that are sealed with an older key, behind row <after_id>, is sealed with that
 * of <secrets>: in one transaction, and only rows that are as they were read. */
struct tg_reseal {
    int64_t last_id;        /* in: behind this one; out: the last that was looked at */
    int64_t seen;           /* out: how many */
    int64_t done, unopened; /* added to; unopened: no key at hand opens it */
    int64_t first_unopened; /* its id, 0: none */
};
enum tg_class tg_master_key_reseal(struct tg_db *db, const struct tg_secrets *secrets,
                                   struct tg_reseal *batch, struct tg_error *err) must_check
    non_null(1, 2, 3);
/* How many rows there are that are sealed with an older key than <version>. */
enum tg_class tg_master_key_older(struct tg_db *db, int64_t version, int64_t *ret,
                                  struct tg_error *err) must_check non_null(1, 3);

#endif
