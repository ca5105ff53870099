/* apply - changes of users and tokens, told to everyone who may remember the old state.
 *
 * Fences around the transaction, the authver pushed to the live books, the workers told: so a
 * change holds for the very next request. When Redis cannot be told beforehand nothing is changed
 * (TG_CLASS_DOWN); when the push afterwards fails the daemon repeats it (*ret_pushed false).
 *
 * Errors   those of the stores.
 * Threads  as the connection in it.  Blocks  on MySQL and Redis.
 */
#ifndef TOLLGATE_CREDENTIAL_APPLY_H
#define TOLLGATE_CREDENTIAL_APPLY_H

#include "common/ledger/ledger.h"
#include "common/store/credit.h"
#include "common/store/person.h"
#include "common/store/token.h"
#include "common/store/token_change.h"

struct tg_apply {
    struct tg_db *db;
    struct tg_kv_pool *kv;
    struct tg_ledger *ledger;
    const struct tg_actor *actor;
    struct tg_arena *arena;
};

enum tg_class tg_apply_person(struct tg_apply *apply, const struct tg_person_change *wish,
                              bool *ret_pushed, struct tg_error *err) must_check
    non_null(1, 2, 3, 4);
enum tg_class tg_apply_token(struct tg_apply *apply, const struct tg_token_change *wish,
                             bool *ret_pushed, struct tg_error *err) must_check
    non_null(1, 2, 3, 4);
/* Money for a user, or taken away. *ret_id: of its entry in the books. */
enum tg_class tg_apply_credit(struct tg_apply *apply, const struct tg_credit_new *credit,
                              struct tg_id *ret_id, bool *ret_pushed, struct tg_error *err)
    must_check non_null(1, 2, 3, 4, 5);
/* Makes a token. Its text leaves through ret->text and nowhere else (wipe it). */
struct tg_apply_token_made {
    int64_t id;
    char text[TG_TOKEN_TEXT];
};
/* key_hmac and hint of <wish> are made here; <pepper> is tg_secrets' token_pepper. */
enum tg_class tg_apply_token_new(struct tg_apply *apply, const struct tg_token_new *wish,
                                 const uint8_t *pepper, struct tg_apply_token_made *ret,
                                 struct tg_error *err) must_check non_null(1, 2, 3, 4, 5);

/* Tells every worker what was changed: "channels", "prices", "groups", "options", "users". False
 * when Redis is away: they see it within snapshot.interval. */
bool tg_apply_tell(struct tg_kv_pool *kv, const char *what) non_null(1, 2);

#endif
