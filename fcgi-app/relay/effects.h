/* effects - what follows from a failed call for its channel, done behind the clients' backs.
 *
 * A bounded queue and one thread per worker: it writes the verdict (status and abilities in one
 * transaction) and tells all nodes. What does not fit into the queue is found again by the next
 * call that fails so.
 *
 * Threads  any; its own thread blocks on the database and Redis.
 */
#ifndef TOLLGATE_RELAY_EFFECTS_H
#define TOLLGATE_RELAY_EFFECTS_H

#include "common/redis/kv.h"
#include "common/sql/db.h"

struct tg_effects;

/* NULL when there is no thread for it. */
struct tg_effects *tg_effects_new(struct tg_db_pool *main_db, struct tg_kv_pool *kv) must_check
    non_null(1, 2);
void tg_effects_free(struct tg_effects *effects); /* joins; NULL is fine */

/* The channel is to be disabled as common/store/channel.h says; <reason> is copied. False: it is
 * about to be already, or the queue is full. */
bool tg_effects_disable(struct tg_effects *effects, int64_t channel_id, int64_t key_id,
                        const char *reason) non_null(1, 4);
/* The same at once, on this thread; true: something was changed, and everybody was told. */
enum tg_effect { TG_EFFECT_DISABLE, TG_EFFECT_ENABLE };
struct tg_channel_verdict;
bool tg_effects_apply(struct tg_db_pool *main_db, struct tg_kv_pool *kv, enum tg_effect effect,
                      const struct tg_channel_verdict *why) non_null(1, 2, 4);

#endif
