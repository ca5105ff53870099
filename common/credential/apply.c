#include "common/credential/apply.h"

#include <string.h>

#include "common/base/clock.h"
#include "common/credential/cache.h"
#include "common/store/user.h"

/* A person waits. */
static const int64_t redis_wait_us = 1500000;

/* ---- fences ---- */

struct fences {
    const char **hmacs;
    size_t count;
};

typedef enum tg_class fence_fn(struct tg_kv_pool *kv, const char *hmac_hex, struct tg_error *err);

static enum tg_class fence_all(struct tg_apply *apply, fence_fn *fence,
                               const struct fences *fences, struct tg_error *err)
{
    enum tg_class class = TG_OK;

    for (size_t i = 0; i < fences->count && class == TG_OK; i++)
        class = fence(apply->kv, fences->hmacs[i], err);
    return class;
}

/* The change is made already: a cached credential that cannot be taken away now is void all the
 * same, since its authver is older, and is gone within the minute. */
static bool lift(struct tg_apply *apply, const struct fences *fences)
{
    struct tg_error unused;

    return fence_all(apply, tg_credential_change_end, fences, &unused) == TG_OK;
}

/* ---- telling ---- */

static bool push(struct tg_apply *apply, const struct tg_entry *entry)
{
    struct tg_error unused;
    enum tg_ledger_answer answer =
        tg_ledger_settle(apply->ledger, entry, tg_now_us() + redis_wait_us, &unused);

    return answer == TG_LEDGER_OK || answer == TG_LEDGER_ENDED;
}

bool tg_apply_tell(struct tg_kv_pool *kv, const char *what)
{
    const struct tg_span words[] = {{"PUBLISH", 7}, {"tg:changed", 10}, {what, strlen(what)}};
    const struct tg_kv_call call = {
        .args = words, .count = 3, .deadline_at_us = tg_now_us() + redis_wait_us};
    const struct tg_kv_reply *reply;
    struct tg_kv *kv_link = NULL;
    struct tg_error unused;
    enum tg_class class = tg_kv_acquire(kv, call.deadline_at_us, &kv_link, &unused);

    if (class == TG_OK)
        class = tg_kv_command(kv_link, &call, &reply, &unused);
    tg_kv_release(kv_link);
    return class == TG_OK;
}

/* ---- the changes ---- */

enum tg_class tg_apply_person(struct tg_apply *apply, const struct tg_person_change *wish,
                              bool *ret_pushed, struct tg_error *err)
{
    struct fences fences = {0};
    struct tg_entry entry;
    enum tg_class class = tg_store_user_token_hmacs(apply->db, wish->id, apply->arena,
                                                    &fences.hmacs, &fences.count);

    if (class != TG_OK) {
        *err = *tg_db_error(apply->db);
        return class;
    }
    class = fence_all(apply, tg_credential_change_begin, &fences, err);
    if (class == TG_OK)
        class = tg_store_person_change(apply->db, apply->actor, wish, &entry, err);
    if (class != TG_OK)
        return class;
    *ret_pushed = lift(apply, &fences) & push(apply, &entry);
    tg_apply_tell(apply->kv, "users");
    return TG_OK;
}

enum tg_class tg_apply_token(struct tg_apply *apply, const struct tg_token_change *wish,
                             bool *ret_pushed, struct tg_error *err)
{
    char hmac[TG_HMAC_HEX];
    const char *hmacs[] = {hmac};
    const struct fences fences = {hmacs, 1};
    struct tg_entry entry;
    enum tg_class class = tg_store_token_hmac(apply->db, wish->id, hmac, err);

    if (class == TG_OK)
        class = fence_all(apply, tg_credential_change_begin, &fences, err);
    if (class == TG_OK)
        class = tg_store_token_change(apply->db, apply->actor, wish, &entry, err);
    if (class != TG_OK)
        return class;
    *ret_pushed = lift(apply, &fences) & push(apply, &entry);
    tg_apply_tell(apply->kv, "users");
    return TG_OK;
}

enum tg_class tg_apply_credit(struct tg_apply *apply, const struct tg_credit_new *credit,
                              struct tg_id *ret_id, bool *ret_pushed, struct tg_error *err)
{
    struct tg_entry entry;
    enum tg_class class = tg_store_credit_add(apply->db, apply->actor, credit, &entry, err);

    if (class != TG_OK)
        return class;
    *ret_id = entry.id;
    *ret_pushed = push(apply, &entry);
    return TG_OK;
}

enum tg_class tg_apply_token_new(struct tg_apply *apply, const struct tg_token_new *wish,
                                 const uint8_t *pepper, struct tg_apply_token_made *ret,
                                 struct tg_error *err)
{
    struct tg_token_new token = *wish;
    char hex[TG_HMAC_HEX];
    uint8_t hmac[TG_HMAC_BYTES];
    enum tg_class class;

    tg_token_new(ret->text);
    tg_hmac(pepper, ret->text, strlen(ret->text), hmac);
    tg_hex(hmac, sizeof hmac, hex);
    token.key_hmac = hex;
    token.hint = ret->text + strlen(ret->text) - 4;
    class = tg_store_token_add(apply->db, apply->actor, &token, &ret->id, err);
    if (class != TG_OK)
        tg_wipe(ret->text, sizeof ret->text);
    return class;
}
