/* scripts - the ledger's Lua scripts, embedded at build from common/ledger/lua/.
 *
 * What each does, its keys, arguments and answers stand at the head of its file; what all of them
 * check first, in prologue.lua. Called by ledger.c, shard.c and moment.c only.
 *
 * Source  LEDGER "Steps", AMENDMENTS L5-L10.
 */
#ifndef TOLLGATE_LEDGER_SCRIPTS_H
#define TOLLGATE_LEDGER_SCRIPTS_H

#include "common/redis/kv.h"

extern const struct tg_kv_script tg_script_load;
extern const struct tg_kv_script tg_script_reserve;
extern const struct tg_kv_script tg_script_extend;
extern const struct tg_kv_script tg_script_settle;
extern const struct tg_kv_script tg_script_reset;
extern const struct tg_kv_script tg_script_lapse;
extern const struct tg_kv_script tg_script_trim;
extern const struct tg_kv_script tg_script_begin;
extern const struct tg_kv_script tg_script_finish;
extern const struct tg_kv_script tg_script_look;
extern const struct tg_kv_script tg_script_audit;

#endif
