/* spool_watch - the replay of one node's spool files.
 *
 * A place in each file is remembered: every line before it is known to the books. A line is asked
 * for in every round until it is. Lines of a file that is being written are told again only when
 * they were there already two seconds ago, since the worker settles each right after writing it.
 * A file goes when every line in it is known and its writer has moved on or died. Lines that are
 * missing by the numbers of the others, or by the file's own count, are noted (store/doubt.h), and
 * so is a worker that said at its end that every request of it has its line.
 *
 * Source   LEDGER "Replay", AMENDMENTS L2, L13.
 * Threads  one owner.  Blocks  on the disk, Redis and MySQL.
 */
#ifndef TOLLGATE_LEDGER_SPOOL_WATCH_H
#define TOLLGATE_LEDGER_SPOOL_WATCH_H

#include "common/ledger/replay.h"

struct tg_spool_watch;

struct tg_spool_watch *tg_spool_watch_new(const char *folder, const char *node) must_check
    non_null(1, 2);
void tg_spool_watch_free(struct tg_spool_watch *watch); /* NULL is fine */
/* The age from which a line is told again (tests). */
void tg_spool_watch_set_ripe(struct tg_spool_watch *watch, int64_t ripe_us) non_null(1);

/* One round over all files. *ret_clear: every line of every file was known. */
enum tg_class tg_spool_watch_round(struct tg_spool_watch *watch, const struct tg_replay *replay,
                                   bool *ret_clear) must_check non_null(1, 2, 3);
/* Did a file hold more than one round takes? */
bool tg_spool_watch_has_backlog(const struct tg_spool_watch *watch) non_null(1);

/* May holds of <worker> be ended with what they had earned? Its process is dead and every line it
 * wrote is known. */
bool tg_spool_watch_is_done_with(const struct tg_spool_watch *watch, int64_t worker) must_check
    non_null(1);

#endif
