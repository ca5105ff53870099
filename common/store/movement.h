/* movement - the sums of a batch, per account, as the JSON parameters of the journal's statements.
 *
 * Order of the entries is the journal's: the last word on `unlimited` wins, authver only rises.
 *
 * Pure.  Threads  any.  Blocks  no.
 */
#ifndef TOLLGATE_STORE_MOVEMENT_H
#define TOLLGATE_STORE_MOVEMENT_H

#include "common/base/buf.h"
#include "common/ledger/entry.h"

/* A request's end; the other kinds are credits and adjustments. */
bool tg_entry_is_request(const struct tg_entry *entry) non_null(1);

/* Each appends one array of arrays; users in ascending order, so that all lock alike.
 *   users   [id, quota out, used, requests, authver (0: leave)]   quota: wallet-funded only
 *   tokens  [id, remain out, used, unlimited (-1: leave)]
 *   plans   [id, remain out, the latest period that began (0: none)] */
void tg_movement_users(const struct tg_entry *const *entries, size_t count, struct tg_buf *out)
    non_null(3);
void tg_movement_tokens(const struct tg_entry *const *entries, size_t count, struct tg_buf *out)
    non_null(3);
void tg_movement_plans(const struct tg_entry *const *entries, size_t count, struct tg_buf *out)
    non_null(3);

#endif
