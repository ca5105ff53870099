/* acts - what workers, daemons and the console do, as actors.
 *
 * Each does what its program does, with the same functions of common/ledger in the same order;
 * what should be in the books afterwards is written down on the way (truth.h).
 */
#ifndef TOLLGATE_HISTORIES_ACTS_H
#define TOLLGATE_HISTORIES_ACTS_H

#include "tests/histories/world.h"

void act_request(struct actor *actor); /* a: number of the request */
void act_credit(struct actor *actor);
/* A rebuild stands still, its connection breaks, and another daemon begins one. */
void lose_lock(struct actor *actor);
void act_period(struct actor *actor);
void act_adjust(struct actor *actor);
void act_apply(struct actor *actor);
void act_replay(struct actor *actor);
void act_sweep(struct actor *actor);
void act_rebuild(struct actor *actor); /* a: 1: by hand */
void act_trim(struct actor *actor);
void act_drop(struct actor *actor);    /* only with that rule put back */
void act_log(struct actor *actor);

#endif
