/* balance - what MySQL knows of an account, for loading it into Redis, and the shards' cursors.
 *
 * users.quota, tokens.remain_quota and subscriptions move by the applier only (LEDGER).
 */
#ifndef TOLLGATE_STORE_BALANCE_H
#define TOLLGATE_STORE_BALANCE_H

#include "common/sql/db.h"

enum { TG_SHARDS = 64, TG_RUN_ID_TEXT = 41, TG_STREAM_ID_TEXT = 44 };

struct tg_balance {
    int64_t epoch; /* of the shard, from the same read */
    bool user_known, token_known, plan_known;
    int64_t user_quota, user_authver;
    int64_t token_remain;
    bool token_unlimited;
    int64_t plan_remain, plan_period;
};
/* token_id, plan_id 0: not asked for. All in one snapshot. */
enum tg_class tg_store_balance(struct tg_db *db, int64_t user_id, int64_t token_id,
                               int64_t plan_id, struct tg_balance *ret) must_check non_null(1, 5);

struct tg_cursor {
    int64_t epoch;
    char run_id[TG_RUN_ID_TEXT];
    char stream_id[TG_STREAM_ID_TEXT]; /* last entry applied, "0-0" for none */
};
enum tg_class tg_store_cursors(struct tg_db *db, struct tg_cursor ret[TG_SHARDS],
                               struct tg_error *err) must_check non_null(1, 2);

#endif
