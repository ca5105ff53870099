#include "common/store/code.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/money.h"
#include "common/crypto/crypto.h"
#include "common/store/credit.h"

static void note(struct tg_change *change, const char *action, const char *hint)
{
    tg_change_audit(change, &(struct tg_audit_note){
                                .action = action, .object_type = "code", .object_id = hint});
}

enum tg_class tg_store_code_add(struct tg_db *db, const struct tg_actor *actor,
                                const struct tg_code_new *code, char ret_text[TG_CODE_TEXT],
                                struct tg_error *err)
{
    static const char sql[] = "INSERT INTO redemption_codes (code_hash, hint, quota, expires_at,"
                              " batch) VALUES (?, ?, ?, ?, ?)";
    char hash[TG_HMAC_HEX], expires[TG_TIME_TEXT], hex[33];
    uint8_t bytes[16];
    struct tg_change change;

    if (code->quota <= 0 || code->quota > TG_QUOTA_MAX)
        return tg_fail(err, TG_CLASS_INVALID, "invalid_amount", "the amount is out of bounds");
    tg_random(bytes, sizeof bytes);
    tg_hex(bytes, sizeof bytes, hex);
    snprintf(ret_text, TG_CODE_TEXT, "tgc-%s", hex);
    tg_sha256_hex(ret_text, strlen(ret_text), hash);
    tg_time_format_sql(code->expires_unix_us, expires);
    const char *hint = ret_text + strlen(ret_text) - 4;
    const struct tg_db_value values[] = {
        TG_DB_S(hash), TG_DB_S(hint), TG_DB_I(code->quota),
        code->expires_unix_us != 0 ? TG_DB_S(expires) : TG_DB_N, TG_DB_S(code->batch)};
    tg_change_begin(&change, db, actor, err);
    tg_change_run(&change, sql, values, TG_COUNT_OF(values));
    note(&change, "code.add", hint);
    return tg_change_end(&change);
}

/* Why the claim failed. */
static void explain(struct tg_change *change, const char *hash)
{
    static const char sql[] = "SELECT status = 'unused' FROM redemption_codes WHERE code_hash = ?";
    const struct tg_db_value values[] = {TG_DB_S(hash)};
    struct tg_db_rows *rows = tg_change_select(change, sql, values, 1);

    if (rows == NULL)
        return;
    if (!tg_db_next(rows))
        change->class =
            tg_fail(change->err, TG_CLASS_NOT_FOUND, "code_unknown", "there is no such code");
    else if (tg_db_int(rows, 0) != 0)
        change->class =
            tg_fail(change->err, TG_CLASS_CONFLICT, "code_expired", "the code has expired");
    else
        change->class =
            tg_fail(change->err, TG_CLASS_CONFLICT, "code_used", "the code was used already");
    tg_db_rows_free(rows);
}

static int64_t claim(struct tg_change *change, const char *hash, int64_t user_id)
{
    static const char update[] =
        "UPDATE redemption_codes SET status = 'used', used_by = ?, used_at = NOW(6)"
        " WHERE code_hash = ? AND status = 'unused'"
        " AND (expires_at IS NULL OR expires_at > NOW(6))";
    static const char select[] = "SELECT quota FROM redemption_codes WHERE code_hash = ?";
    const struct tg_db_value values[] = {TG_DB_I(user_id), TG_DB_S(hash)};
    struct tg_db_rows *rows;
    int64_t quota = 0;

    tg_change_run(change, update, values, 2);
    if (change->class != TG_OK)
        return 0;
    if (change->done.affected == 0) {
        explain(change, hash);
        return 0;
    }
    rows = tg_change_select(change, select, values + 1, 1);
    if (rows != NULL && tg_db_next(rows))
        quota = tg_db_int(rows, 0);
    tg_db_rows_free(rows);
    return quota;
}

enum tg_class tg_store_code_redeem(struct tg_db *db, const struct tg_actor *actor,
                                   const struct tg_code_redeem *redeem,
                                   struct tg_entry *ret_entry, struct tg_error *err)
{
    struct tg_credit_new credit = {
        .user_id = redeem->user_id, .kind = "code", .reason = "redemption code"};
    struct tg_change change;
    char hash[TG_HMAC_HEX];

    tg_sha256_hex(redeem->text, strlen(redeem->text), hash);
    tg_change_begin(&change, db, actor, err);
    credit.amount_quota = claim(&change, hash, redeem->user_id);
    tg_store_credit_put(&change, &credit, ret_entry);
    return tg_change_end(&change);
}
