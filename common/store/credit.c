#include "common/store/credit.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/base/money.h"
#include "common/json/writer.h"
#include "common/store/read.h"

enum { REASON_LIMIT = 255 };

/* The user exists, and no balance leaves the bounds by this: Redis would refuse the entry for ever.
 * Deposits only lower a balance until they come back, so the row and what is still to be applied
 * say how large it may become. */
static void require_room(struct tg_change *change, const struct tg_credit_new *credit)
{
    static const char sql[] =
        "SELECT u.quota, CAST((SELECT COALESCE(SUM(c.amount_quota), 0) FROM credits c WHERE "
        "c.user_id = u.id AND c.applied_at IS NULL) AS SIGNED) FROM users u WHERE u.id = ? "
        "FOR UPDATE";
    struct tg_db_rows *rows = tg_change_select(change, sql, &TG_DB_I(credit->user_id), 1);
    int64_t quota = 0;

    if (rows == NULL)
        return;
    if (!tg_db_next(rows))
        change->class = tg_fail(change->err, TG_CLASS_NOT_FOUND, "user_not_found",
                                "there is no user %" PRId64, credit->user_id);
    else
        quota = tg_db_int(rows, 0) + tg_db_int(rows, 1) + credit->amount_quota;
    if (quota > TG_QUOTA_MAX || quota < -TG_QUOTA_MAX)
        change->class = tg_fail(change->err, TG_CLASS_INVALID, "balance_bounds",
                                "a balance stays within 18 billion USD on either side of 0");
    tg_db_rows_free(rows);
}

static void note(struct tg_change *change, const struct tg_credit_new *credit,
                 const struct tg_id *entry_id)
{
    char user[24], entry[TG_ID_TEXT];
    struct tg_json_writer out;
    struct tg_buf after;

    snprintf(user, sizeof user, "%" PRId64, credit->user_id);
    tg_id_format(entry_id, entry);
    tg_buf_init(&after, 0);
    tg_json_writer_init(&out, &after);
    tg_json_begin_object(&out);
    tg_json_put_str(&out, "entry_id", entry);
    tg_json_put_int(&out, "amount_quota", credit->amount_quota);
    tg_json_put_str(&out, "kind", credit->kind);
    tg_json_put_str(&out, "reason", credit->reason);
    tg_json_end_object(&out);
    tg_change_audit(change, &(struct tg_audit_note){.action = "credit.add",
                                                    .object_type = "user",
                                                    .object_id = user,
                                                    .after_json = tg_buf_text(&after)});
    tg_buf_done(&after);
}

static bool is_fit(struct tg_change *change, const struct tg_credit_new *credit)
{
    if (change->class != TG_OK)
        return false;
    if (credit->amount_quota == 0 || credit->amount_quota > TG_QUOTA_MAX ||
        credit->amount_quota < -TG_QUOTA_MAX)
        change->class = tg_fail(change->err, TG_CLASS_INVALID, "invalid_amount",
                                "the amount is 0 or out of bounds");
    else if (strlen(credit->reason) > REASON_LIMIT)
        change->class = tg_fail(change->err, TG_CLASS_INVALID, "invalid_reason",
                                "a reason has at most %d bytes", REASON_LIMIT);
    return change->class == TG_OK;
}

void tg_store_credit_put(struct tg_change *change, const struct tg_credit_new *credit,
                         struct tg_entry *ret_entry)
{
    static const char sql[] =
        "INSERT INTO credits (entry_id, user_id, amount_quota, kind, reason, actor_id)"
        " VALUES (?,?,?,?,?,?)";
    const struct tg_entry entry = {.id = tg_id_new(),
                                   .kind = TG_ENTRY_CREDIT,
                                   .user_id = credit->user_id,
                                   .amount_quota = -credit->amount_quota,
                                   .token_unlimited = -1};
    const struct tg_db_value values[] = {TG_DB_B(entry.id.bytes, TG_ID_BYTES),
                                         TG_DB_I(credit->user_id), TG_DB_I(credit->amount_quota),
                                         TG_DB_S(credit->kind), TG_DB_S(credit->reason),
                                         TG_DB_I(change->actor->user_id)};

    if (!is_fit(change, credit))
        return;
    require_room(change, credit);
    tg_change_run(change, sql, values, TG_COUNT_OF(values));
    note(change, credit, &entry.id);
    *ret_entry = entry;
}

enum tg_class tg_store_credit_add(struct tg_db *db, const struct tg_actor *actor,
                                  const struct tg_credit_new *credit, struct tg_entry *ret_entry,
                                  struct tg_error *err)
{
    struct tg_change change;

    tg_change_begin(&change, db, actor, err);
    tg_store_credit_put(&change, credit, ret_entry);
    return tg_change_end(&change);
}
