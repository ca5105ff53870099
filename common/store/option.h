/* option - the rows of options: settings that the console may change for all nodes.
 *
 * Errors   those of db.h; TG_CLASS_INVALID "invalid_option": it cannot be set here, or not so.
 * Threads  as the connection.  Blocks  on the database.
 */
#ifndef TOLLGATE_STORE_OPTION_H
#define TOLLGATE_STORE_OPTION_H

#include "common/base/arena.h"
#include "common/conf/conf.h"
#include "common/store/change.h"

/* All rows, ready to be laid over the conf file. Owns: the arena. */
enum tg_class tg_store_options(struct tg_db *db, struct tg_arena *arena,
                               struct tg_conf_overlay **ret, size_t *ret_count,
                               struct tg_error *err) must_check non_null(1, 2, 3, 4);
/* NULL takes the row away. */
enum tg_class tg_store_option_set(struct tg_db *db, const struct tg_actor *actor, const char *name,
                                  const char *value, struct tg_error *err) must_check
    non_null(1, 2, 3, 5);

#endif
