/* spool - every settlement a worker is about to make, on the node's own disk first.
 *
 * One file per worker process, held with flock for its life: the lock tells whether the writer
 * lives. Each line starts with a newline and carries length and checksum, so that a torn line
 * (disk full, kill -9) costs only itself. One write, no fsync: it survives the process, not the
 * machine (ledger.spool_sync = second adds fdatasync once a second). The worker moves on to a next
 * file at 16 MiB or 60 s; the daemon deletes a file when every line is known and its writer has
 * moved on or died. File name: NODE.WORKER.SEQUENCE.spool; WORKER is unique per incarnation.
 *
 * Lines are numbered and a file that is done with says so, so that a line which is missing shows.
 *
 * Source  AMENDMENTS L2, L12, L13.
 * Threads  append: any.  Blocks  one write(2).
 */
#ifndef TOLLGATE_LEDGER_SPOOL_H
#define TOLLGATE_LEDGER_SPOOL_H

#include "common/ledger/entry.h"

struct tg_spool;

struct tg_spool_conf {
    const char *folder;
    const char *node;
    int64_t worker; /* unique: e.g. start time in ms * 1000 + index */
    bool sync_every_second;
};
enum tg_class tg_spool_open(const struct tg_spool_conf *conf, struct tg_spool **ret,
                            struct tg_error *err) must_check non_null(1, 2);
/* A failed append means: take no more paid requests until one succeeds. */
enum tg_class tg_spool_append(struct tg_spool *spool, const struct tg_entry *entry,
                              struct tg_error *err) must_check non_null(1, 2);
/* After a failure it tries the disk itself once a second. */
bool tg_spool_is_healthy(struct tg_spool *spool) non_null(1);
/* The worker has ended in order: every request of it has its line. */
void tg_spool_end(struct tg_spool *spool) non_null(1);
/* Removes the file when it is empty. NULL is fine. */
void tg_spool_close(struct tg_spool *spool);

/* The daemon's side. */
struct tg_spool_file {
    char path[512];
    int64_t worker;
    bool writer_alive; /* this file is still held by its worker */
};
/* Files of <node>, oldest first. Owns: the arena. */
enum tg_class tg_spool_list(const char *folder, const char *node, struct tg_arena *arena,
                            struct tg_spool_file **ret, size_t *ret_count) must_check
    non_null(1, 2, 3, 4, 5);
/* Is the worker that took a hold still running (holds any spool file)? */
bool tg_spool_worker_is_alive(const char *folder, const char *node, int64_t worker) must_check
    non_null(1, 2);
struct tg_spool_seen {
    int64_t torn;
    bool marked;   /* the file's last line was read: it has <lines> others */
    bool in_order; /* and its worker ended there */
    int64_t lines;
};
/* Calls <visit> for each whole line from byte *offset on; *offset moves behind each of them before
 * the next visit. Torn lines are skipped and counted (a torn last line each time: its writer may be
 * in the middle of it). <visit> false stops before that line. */
typedef bool tg_spool_visit_fn(void *context, const struct tg_entry *entry);
enum tg_class tg_spool_read(const char *path, int64_t *offset, tg_spool_visit_fn *visit,
                            void *context, struct tg_spool_seen *ret_seen)
    must_check non_null(1, 2, 3, 5);

#endif
