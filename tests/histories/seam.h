/* seam - between Tollgate's code and its stores: every call of an actor passes here.
 *
 * The linker leads calls of the clock, of ids, of kv.h and of db.h to __wrap_ functions (see
 * local.mk): before each operation another actor may move; then the dice say whether the command
 * runs, runs with its answer lost, runs later, or not at all.
 */
#ifndef TOLLGATE_HISTORIES_SEAM_H
#define TOLLGATE_HISTORIES_SEAM_H

#include "common/redis/kv.h"
#include "common/sql/db.h"

/* The script as the history wants it, at the history's time, without dice. */
enum tg_class seam_run(struct tg_kv *kv, const struct tg_kv_script *script,
                       const struct tg_kv_call *call, size_t key_count,
                       const struct tg_kv_reply **ret);
enum tg_class seam_command(struct tg_kv *kv, const struct tg_kv_call *call,
                           const struct tg_kv_reply **ret);
/* The connection of a killed actor's database, without the named locks it held. */
void seam_forget_locks(struct tg_db *db);

#endif
