/* channel_watch - what is known of channels beside their settings: tests, breakers.
 *
 * None of it is routing data: writing it tells nobody, and workers do not read it.
 *
 * Errors   those of db.h.
 * Threads  as the connection.  Blocks  on the database.
 */
#ifndef TOLLGATE_STORE_CHANNEL_WATCH_H
#define TOLLGATE_STORE_CHANNEL_WATCH_H

#include "common/sql/db.h"

struct tg_channel_test_row {
    int64_t channel_id, ms;
    const char *code; /* of the error; "": it works */
};
enum tg_class tg_store_channel_tested(struct tg_db *db, const struct tg_channel_test_row *row,
                                      struct tg_error *err) must_check non_null(1, 2);

#endif
