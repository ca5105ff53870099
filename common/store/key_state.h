/* key_state - what calls have found out about keys, in their rows: states and use.
 *
 * A transition is one conditional UPDATE that raises the row's event number. A verdict on a call
 * that was made under an older event holds only against a weaker automatic state: no late timer
 * and no late success takes a suspension back, and nothing what an operator has set since.
 * An operator's own changes are channel_change.h's.
 *
 * Errors   those of db.h.
 * Threads  as the connection.  Blocks  on the database.
 */
#ifndef TOLLGATE_STORE_KEY_STATE_H
#define TOLLGATE_STORE_KEY_STATE_H

#include "common/sql/db.h"

enum { TG_KEY_STATE_TEXT = 17 };

struct tg_key_mark {
    int64_t key_id;
    int64_t judged_event; /* that the call was made under */
    const char *state;    /* active, resting, exhausted, suspended */
    int64_t until_s;      /* 0: none */
    const char *reason;
};
/* A row as it is. */
struct tg_key_row_state {
    int64_t key_id, event, until_s;
    char state[TG_KEY_STATE_TEXT];
};
/* *ret is the row afterwards, whether the mark holds or not; key_id 0: it is gone. A suspension
 * that holds has an audit row. */
enum tg_class tg_store_key_mark(struct tg_db *db, const struct tg_key_mark *mark,
                                struct tg_key_row_state *ret, struct tg_error *err) must_check
    non_null(1, 2, 3, 4);

typedef void tg_key_row_fn(void *context, const struct tg_key_row_state *row);
/* All keys that something was ever found out about. */
enum tg_class tg_store_key_states(struct tg_db *db, tg_key_row_fn *visit, void *context,
                                  struct tg_error *err) must_check non_null(1, 2, 4);

/* What was used in the day that began at <period_s>, in the cap's unit (without a cap: requests).
 * An older day than the row's is not counted any more. */
struct tg_key_use {
    int64_t key_id, period_s, amount;
};
enum tg_class tg_store_key_use(struct tg_db *db, const struct tg_key_use *use,
                               struct tg_error *err) must_check non_null(1, 2, 3);
/* The same for what is about to be used: only while the row's cap has room for it. For the time
 * without Redis. */
enum tg_class tg_store_key_take(struct tg_db *db, const struct tg_key_use *use, bool *ret_taken,
                                struct tg_error *err) must_check non_null(1, 2, 3, 4);

#endif
