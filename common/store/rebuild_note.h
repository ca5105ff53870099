/* rebuild_note - the history of rebuilds (ledger_rebuild), for people and the audit.
 *
 * Threads  one per connection.  Blocks  on MySQL.
 */
#ifndef TOLLGATE_STORE_REBUILD_NOTE_H
#define TOLLGATE_STORE_REBUILD_NOTE_H

#include "common/sql/db.h"

struct tg_rebuild_note {
    int64_t id; /* set by begin */
    int shard;
    int64_t epoch;
    const char *run_id, *node, *reason;
    int64_t entries; /* that were new to the books */
};

enum tg_class tg_rebuild_note_begin(struct tg_db *db, struct tg_rebuild_note *note,
                                    struct tg_error *err) must_check non_null(1, 2);
enum tg_class tg_rebuild_note_end(struct tg_db *db, const struct tg_rebuild_note *note,
                                  struct tg_error *err) must_check non_null(1, 2);

#endif
