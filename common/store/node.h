/* node - the machines that take part, and whether their money was online (AMENDMENTS L1, L2).
 *
 * state: online, offline (no Redis; the gateway says so), gone (`tollgatectl node forget`: its
 * holds are for every daemon to end).
 *
 * Threads  one per connection.  Blocks  on MySQL.
 */
#ifndef TOLLGATE_STORE_NODE_H
#define TOLLGATE_STORE_NODE_H

#include "common/base/arena.h"
#include "common/sql/db.h"

/* Makes the row when there is none, and says that the node lives. A state is left as it is, but
 * for gone: whoever speaks is back. */
enum tg_class tg_node_seen(struct tg_db *db, const char *name, struct tg_error *err) must_check
    non_null(1, 2);
/* Every line of the node's spool was known at this moment. */
enum tg_class tg_node_spool_clear(struct tg_db *db, const char *name, struct tg_error *err)
    must_check non_null(1, 2);
/* "online" or "offline"; makes the row when there is none. */
enum tg_class tg_node_set_state(struct tg_db *db, const char *name, const char *state,
                                struct tg_error *err) must_check non_null(1, 2, 3);
enum tg_class tg_node_forget(struct tg_db *db, const char *name, bool *ret_was_there,
                             struct tg_error *err) must_check non_null(1, 2, 3);
/* Names of the nodes that are gone. Owns: the arena. */
enum tg_class tg_node_gone(struct tg_db *db, struct tg_arena *arena, const char *const **ret,
                           size_t *ret_count, struct tg_error *err) must_check non_null(1, 2, 3, 4);

struct tg_node {
    const char *name, *state, *seen_at, *spool_clear_at; /* times: "" for never */
    int64_t offline_holds, offline_entries;
};
/* All of them, by name. Owns: the arena. */
enum tg_class tg_node_list(struct tg_db *db, struct tg_arena *arena, struct tg_node **ret,
                           size_t *ret_count, struct tg_error *err) must_check non_null(1, 2, 3, 4);

#endif
