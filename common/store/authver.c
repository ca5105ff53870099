#include "common/store/authver.h"

#include <inttypes.h>

/* The new value, read under the lock that the update took. */
static int64_t raised(struct tg_change *change, int64_t user_id)
{
    struct tg_db_rows *rows = tg_change_select(
        change, "SELECT authver FROM users WHERE id = ? FOR UPDATE", &TG_DB_I(user_id), 1);
    int64_t authver = 0;

    if (rows != NULL && tg_db_next(rows))
        authver = tg_db_int(rows, 0);
    else if (rows != NULL)
        change->class = tg_fail(change->err, TG_CLASS_NOT_FOUND, "user_not_found",
                                "there is no user %" PRId64, user_id);
    tg_db_rows_free(rows);
    return authver;
}

/* Only those that were valid a moment ago: what was void stays void. */
static void keep_logins(struct tg_change *change, int64_t user_id, int64_t authver)
{
    const struct tg_db_value values[] = {TG_DB_I(authver), TG_DB_I(user_id),
                                         TG_DB_I(authver - 1)};

    tg_change_run(change,
                  "UPDATE console_sessions SET authver = ? WHERE user_id = ? AND authver = ?",
                  values, TG_COUNT_OF(values));
    tg_change_run(change, "UPDATE pats SET authver = ? WHERE user_id = ? AND authver = ?", values,
                  TG_COUNT_OF(values));
}

void tg_authver_raise(struct tg_change *change, const struct tg_authver_raise *raise,
                      struct tg_entry *ret_entry)
{
    struct tg_entry entry = {.id = tg_id_new(),
                             .kind = TG_ENTRY_ADJUST,
                             .user_id = raise->user_id,
                             .token_id = raise->token_id,
                             .token_delta_quota = raise->delta_quota,
                             .token_unlimited = raise->unlimited};

    tg_change_run(change, "UPDATE users SET authver = authver + 1 WHERE id = ?",
                  &TG_DB_I(raise->user_id), 1);
    entry.authver = raised(change, raise->user_id);
    if (raise->keeps_logins)
        keep_logins(change, raise->user_id, entry.authver);
    const struct tg_db_value values[] = {TG_DB_B(entry.id.bytes, TG_ID_BYTES),
                                         TG_DB_I(entry.token_id),
                                         TG_DB_I(entry.user_id),
                                         TG_DB_I(entry.token_delta_quota),
                                         TG_DB_I(entry.token_unlimited),
                                         TG_DB_I(entry.authver),
                                         TG_DB_S(raise->reason),
                                         TG_DB_I(change->actor->user_id)};

    tg_change_run(change,
                  "INSERT INTO adjustments (entry_id, token_id, user_id, delta, unlimited, "
                  "authver, reason, actor) VALUES (?,?,?,?,?,?,?,?)",
                  values, TG_COUNT_OF(values));
    if (change->class == TG_OK)
        *ret_entry = entry;
}
