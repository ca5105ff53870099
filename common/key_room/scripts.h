/* scripts - the Lua scripts of key caps, embedded at build from common/key_room/lua/.
 *
 * What each does, its keys, arguments and answer stand at the head of its file. Called by
 * key_room.c only.
 */
#ifndef TOLLGATE_KEY_ROOM_SCRIPTS_H
#define TOLLGATE_KEY_ROOM_SCRIPTS_H

#include "common/redis/kv.h"

extern const struct tg_kv_script tg_script_key_take;
extern const struct tg_kv_script tg_script_key_give;

#endif
