/* servers - Redis processes whose state can go back to an earlier moment.
 *
 * After each command the length of the server's append-only file is remembered: cut there and
 * started again, it is what that moment was. "unix:FOLDER/now" leads to the server in use;
 * connections to an older one stay with it, so a failover with a split brain is two processes.
 */
#ifndef TOLLGATE_HISTORIES_SERVERS_H
#define TOLLGATE_HISTORIES_SERVERS_H

#include "common/redis/kv.h"

const char *servers_address(void);
void servers_start(void);
void servers_stop(void);
void servers_fresh(void); /* one, empty */
/* The state is on record from here. Called after every command that may have written. */
void servers_note(const struct tg_kv *kv);

/* kill -9 and up again; <back> states are lost, and with <torn> a part of the next. */
void servers_restart(int back, bool torn);
void servers_empty(void);   /* FLUSHALL */
void servers_replace(void); /* by a new, empty one */
void servers_fail_over(int back); /* to a replica that lacks <back> states; the old one lives on */
void servers_end_old(void);
int servers_states(void); /* that one can go back to */

/* A connection of the driver's own to the server in use. */
struct tg_kv *servers_link(void);

/* A command that is stuck on its way to the server that <kv> is connected to. */
void servers_delay(struct tg_kv *kv, const struct tg_kv_script *script,
                   const struct tg_kv_call *call, size_t key_count);
/* Runs some of them now (all: those of the server in use). */
void servers_deliver(bool all);

#endif
