/* breaker_note - which channels this node lets rest, written where the console can read it.
 *
 * The breakers are in the node's memory. Once a second the first worker looks at them, and writes
 * the node's rows of breaker_states anew when something has changed, and every 30 s that they
 * still hold; rows that nobody has confirmed for 90 s are shown no more.
 *
 * Threads  one.  Blocks  up to 2 s on the database.
 */
#ifndef TOLLGATE_RELAY_BREAKER_NOTE_H
#define TOLLGATE_RELAY_BREAKER_NOTE_H

#include "fcgi-app/worker.h"

struct tg_breaker_note {
    uint64_t written;      /* a hash of what the rows say */
    int64_t written_at_us; /* 0: never */
    int64_t looked_at_us;
};
void tg_breaker_note(struct tg_worker *worker, struct tg_breaker_note *note) non_null(1, 2);

#endif
