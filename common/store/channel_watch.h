/* channel_watch - what is known of channels beside their settings: tests, breakers.
 *
 * None of it is routing data: writing it tells nobody, and workers do not read it.
 *
 * Errors   those of db.h.
 * Threads  as the connection.  Blocks  on the database.
 */
#ifndef TOLLGATE_STORE_CHANNEL_WATCH_H
#define TOLLGATE_STORE_CHANNEL_WATCH_H

#include "common/json/writer.h"
#include "common/sql/db.h"

struct tg_channel_test_row {
    int64_t channel_id, ms;
    const char *code; /* of the error; "": it works */
};
enum tg_class tg_store_channel_tested(struct tg_db *db, const struct tg_channel_test_row *row,
                                      struct tg_error *err) must_check non_null(1, 2);

struct tg_channel_balance_row {
    int64_t channel_id, quota;
    const char *code; /* of the error, and what was known before stays; "": it is known */
};
enum tg_class tg_store_channel_balance(struct tg_db *db, const struct tg_channel_balance_row *row,
                                       struct tg_error *err) must_check non_null(1, 2);

/* A breaker of a node that is not closed. */
struct tg_breaker_row {
    int64_t channel_id;
    const char *model;
    bool probing;
    int64_t left_us; /* until it is over */
};
/* They are all that the node has. */
enum tg_class tg_store_breakers(struct tg_db *db, const char *node,
                                const struct tg_breaker_row *rows, size_t count,
                                struct tg_error *err) must_check non_null(1, 2);

/* "breakers": node, model, until_at, state (open, probing; half_open: the next call is a probe). */
enum tg_class tg_list_channel_breakers(struct tg_db *db, int64_t channel_id,
                                       struct tg_json_writer *out, struct tg_error *err) must_check
    non_null(1, 3, 4);

#endif
