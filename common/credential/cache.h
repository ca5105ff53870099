/* cache - credentials in Redis, so that the door asks MySQL once a minute per token.
 *
 *   tg:{<hmac>}:cred   the credential as JSON; TTL 60 s, "unknown" 5 s
 *   tg:{<hmac>}:fence  set while a change runs; the fill script refuses while it exists
 *
 * A change sets the fence (EX 10), deletes the entry, commits, deletes again: so a revocation
 * holds for the very next request. When Redis cannot be told, the change fails instead of half
 * succeeding. When Redis is away, the door reads MySQL. Source  LEDGER "Credentials", AMENDMENTS
 * L14.
 *
 * Threads  any.  Blocks  up to the deadline.
 */
#ifndef TOLLGATE_CREDENTIAL_CACHE_H
#define TOLLGATE_CREDENTIAL_CACHE_H

#include "common/redis/kv.h"
#include "common/store/credential.h"

struct tg_credential_source {
    struct tg_kv_pool *kv;
    struct tg_db_pool *main_db;
    int64_t deadline_at_us;
};
/* *ret NULL: no such token. TG_CLASS_DOWN when neither store answers. Owns: the arena. */
enum tg_class tg_credential_get(const struct tg_credential_source *source, struct tg_arena *arena,
                                const char *hmac_hex, struct tg_credential **ret,
                                struct tg_error *err) must_check non_null(1, 2, 3, 4);

/* Around a transaction that changes a token or its user (once per token of that user). */
enum tg_class tg_credential_change_begin(struct tg_kv_pool *kv, const char *hmac_hex,
                                         struct tg_error *err) must_check non_null(1, 2);
enum tg_class tg_credential_change_end(struct tg_kv_pool *kv, const char *hmac_hex,
                                       struct tg_error *err) must_check non_null(1, 2);

#endif
