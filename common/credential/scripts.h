/* scripts - the credential cache's Lua script, embedded at build from common/credential/lua/. */
#ifndef TOLLGATE_CREDENTIAL_SCRIPTS_H
#define TOLLGATE_CREDENTIAL_SCRIPTS_H

#include "common/redis/kv.h"

extern const struct tg_kv_script tg_script_fill;

#endif
