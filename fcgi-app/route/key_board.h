/* key_board - what all workers of a node know about keys that have failed or have a cap.
 *
 * In node-shared memory: places with atomic words, no lock, none ever given back; what kill -9
 * leaves behind is always whole. A key without a place is as the snapshot's row says; a full board
 * remembers no further ones. The row in the main database is what lasts; its event number says
 * which of the two is newer: a larger one wins, whoever was later.
 *
 * Threads  any, of any worker.  Blocks  no.  Source  AMENDMENTS T4.
 */
#ifndef TOLLGATE_ROUTE_KEY_BOARD_H
#define TOLLGATE_ROUTE_KEY_BOARD_H

#include "fcgi-app/route/key_pick.h"

struct tg_key_board;

/* A key's state as of an event. */
struct tg_key_seen {
    int64_t event;
    enum tg_key_state state;
    int64_t until_s;
};

struct tg_key_board *tg_key_board_new(void) must_check; /* before the fork; lives as long as all */

/* The newer one of the row and what the board has. */
struct tg_key_seen tg_key_board_look(struct tg_key_board *board, int64_t key_id,
                                     const struct tg_key_seen *row) must_check non_null(1, 3);
/* What another node or the database says; nothing when the board has a newer event. */
void tg_key_board_tell(struct tg_key_board *board, int64_t key_id, const struct tg_key_seen *seen)
    non_null(1, 3);

/* May a verdict on a call that was made under <judged_event> change what is known now? Not a
 * stronger state, nor one that an operator or a success has set since. */
bool tg_key_verdict_holds(const struct tg_key_seen *now, int64_t judged_event,
                          enum tg_key_state state, int64_t until_s) must_check non_null(1);
/* Applies it, as the event after <row> and the board's; false: it does not hold. */
bool tg_key_board_judge(struct tg_key_board *board, int64_t key_id, const struct tg_key_seen *row,
                        int64_t judged_event, struct tg_key_seen *seen) must_check
    non_null(1, 3, 5);
/* The right to try an exhausted key whose time is over, alone until <until_s>; false: another has
 * it. */
bool tg_key_board_claim(struct tg_key_board *board, int64_t key_id, const struct tg_key_seen *seen,
                        int64_t until_s) must_check non_null(1, 3);

/* What is used of its cap in the period that began at <period_s>; 0 when nothing is known. */
int64_t tg_key_board_used(struct tg_key_board *board, int64_t key_id, int64_t period_s) must_check
    non_null(1);
void tg_key_board_set_used(struct tg_key_board *board, int64_t key_id, int64_t period_s,
                           int64_t used) non_null(1);
/* The cursor of a channel whose keys are used in turn: each call gives the next number. */
uint32_t tg_key_board_turn(struct tg_key_board *board, int64_t channel_id) must_check non_null(1);

#endif
