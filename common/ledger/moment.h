/* moment - what Redis knows of some accounts of a shard, all in the same moment (one read-only
 * script): balances, what open holds keep, and what the books do not have yet.
 *
 * Source   AMENDMENTS L16.
 * Threads  one per connection.  Blocks  up to the deadline of the call.
 */
#ifndef TOLLGATE_LEDGER_MOMENT_H
#define TOLLGATE_LEDGER_MOMENT_H

#include "common/ledger/shard.h"

enum tg_account_kind { TG_ACCOUNT_USER = 'u', TG_ACCOUNT_TOKEN = 't', TG_ACCOUNT_PLAN = 'p' };

struct tg_moment_account {
    enum tg_account_kind kind;
    int64_t id;
    bool live; /* false: not loaded in this epoch; Redis knows no balance */
    int64_t balance, held, pending;
};
enum { TG_MOMENT_ACCOUNTS = 256 };

struct tg_moment {
    struct tg_moment_account *accounts; /* in: kind and id; at most TG_MOMENT_ACCOUNTS */
    size_t count;
    const char *cursor; /* in: the last entry that the books have */
    char first[TG_STREAM_ID_TEXT], last[TG_STREAM_ID_TEXT];
    int64_t waiting; /* entries behind the cursor */
    bool behind;     /* too many of them: nothing else was filled in */
};
/* <call> names the epoch. REBUILDING also when the state is missing or of another server. */
enum tg_shard_answer tg_moment_read(const struct tg_shard_call *call, struct tg_moment *moment)
    must_check non_null(1, 2);

#endif
