/* key_keeper - a worker's thread for what is to be stored about keys, off the requests' time.
 *
 * Verdicts go into the row of the key, then to all nodes (tg:changed: "key ID EVENT STATE UNTIL");
 * reservations of caps are settled; uses are summed and stored every few seconds. What others have
 * found out comes to the board by those messages, and once a minute from the rows.
 *
 * The queue is bounded. A verdict that finds it full holds on this node only; a settlement is then
 * left to its lease. Verdicts that the database does not take wait, the last one of each of 1,024
 * keys, and are tried again every few seconds.
 *
 * Threads  put, told: any.  Blocks  put: no; free: until the queue is empty.
 */
#ifndef TOLLGATE_ROUTE_KEY_KEEPER_H
#define TOLLGATE_ROUTE_KEY_KEEPER_H

#include "common/key_room/key_room.h"
#include "common/sql/db.h"
#include "fcgi-app/route/key_board.h"

enum tg_key_job_kind { TG_KEY_JOB_MARK, TG_KEY_JOB_GIVE, TG_KEY_JOB_USE };
/* Where a reservation was made: while Redis is away it is in the row itself. */
enum tg_key_place { TG_KEY_NOWHERE, TG_KEY_IN_REDIS, TG_KEY_IN_ROW };

struct tg_key_job {
    enum tg_key_job_kind kind;
    int64_t channel_id, key_id;
    /* MARK */
    int64_t judged_event;
    enum tg_key_state state;
    int64_t until_s;
    const char *reason; /* a constant */
    /* GIVE, USE */
    enum tg_key_place place;
    char ticket[TG_KEY_TICKET_TEXT];
    int64_t period_s, reserved, used;
};

struct tg_key_keeper;
struct tg_key_keeper_conf {
    struct tg_db_pool *main_db;
    struct tg_kv_pool *kv;
    struct tg_key_board *board;
};
enum tg_class tg_key_keeper_new(const struct tg_key_keeper_conf *conf, struct tg_key_keeper **ret,
                                struct tg_error *err) must_check non_null(1, 2);
void tg_key_keeper_free(struct tg_key_keeper *keeper); /* NULL is fine */
/* NULL is fine: nothing is stored. */
void tg_key_keeper_put(struct tg_key_keeper *keeper, const struct tg_key_job *job) non_null(2);
/* A message of tg:changed; true: it was about a key, and the board has it. */
bool tg_key_told(struct tg_key_board *board, const char *message) must_check non_null(1, 2);

#endif
