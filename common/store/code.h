/* code - redemption codes: money for whoever comes first, once.
 *
 * The claim is one conditional update, in the same transaction as the credit: of fifty at once
 * one wins, and whoever dies between the two has done neither.
 *
 * Errors   those of db.h; TG_CLASS_NOT_FOUND "code_unknown"; TG_CLASS_CONFLICT "code_used",
 *          "code_expired"; TG_CLASS_NOT_FOUND "user_not_found"; TG_CLASS_INVALID "invalid_amount".
 * Threads  one per connection.  Blocks  on the database.
 */
#ifndef TOLLGATE_STORE_CODE_H
#define TOLLGATE_STORE_CODE_H

#include "common/ledger/entry.h"
#include "common/store/change.h"

enum { TG_CODE_TEXT = 38 }; /* "tgc-" and 32 hexadecimal digits: 128 random bits */

struct tg_code_new {
    int64_t quota;
    int64_t expires_unix_us; /* 0: never */
    const char *batch;
};
/* <ret_text> is shown once: only its hash is kept. */
enum tg_class tg_store_code_add(struct tg_db *db, const struct tg_actor *actor,
                                const struct tg_code_new *code, char ret_text[TG_CODE_TEXT],
                                struct tg_error *err) must_check non_null(1, 2, 3, 4, 5);

struct tg_code_redeem {
    int64_t user_id;
    const char *text;
};
/* *ret_entry is what tg_ledger_settle takes. */
enum tg_class tg_store_code_redeem(struct tg_db *db, const struct tg_actor *actor,
                                   const struct tg_code_redeem *redeem,
                                   struct tg_entry *ret_entry, struct tg_error *err) must_check
    non_null(1, 2, 3, 4, 5);

#endif
