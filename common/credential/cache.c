#include "common/credential/cache.h"

#include "common/base/clock.h"
#include "common/credential/form.h"
#include "common/credential/scripts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    HMAC_HEX_LEN = 64,
    KEY_TEXT = 96,
    KNOWN_TTL_MS = 60000,
    UNKNOWN_TTL_MS = 5000,
    FENCE_S = 10,
    FILL_WITHIN_MS = 5000, /* of the read from MySQL; well inside a fence's life */
    CACHE_WAIT_US = 250000,
    CHANGE_WAIT_US = 2000000
};

/* All keys of one token carry its digest as hash tag, so that a script may touch both. */
struct keys {
    char tag[KEY_TEXT], entry[KEY_TEXT], fence[KEY_TEXT];
};

static struct keys keys_of(const char *hmac_hex)
{
    struct keys keys;

    tg_assert(strlen(hmac_hex) == HMAC_HEX_LEN);
    snprintf(keys.tag, sizeof keys.tag, "{%s}", hmac_hex);
    snprintf(keys.entry, sizeof keys.entry, "tg:{%s}:cred", hmac_hex);
    snprintf(keys.fence, sizeof keys.fence, "tg:{%s}:fence", hmac_hex);
    return keys;
}

static struct tg_span span(const char *text)
{
    return (struct tg_span){text, strlen(text)};
}

/* True: the cache knows, and *ret is its answer. */
static bool ask_cache(struct tg_kv *kv, const struct keys *keys, int64_t deadline_at_us,
                      struct tg_arena *arena, struct tg_credential **ret)
{
    const struct tg_span args[] = {span("GET"), span(keys->entry)};
    const struct tg_kv_call call = {keys->tag, args, TG_COUNT_OF(args), deadline_at_us};
    const struct tg_kv_reply *reply;
    struct tg_span text;

    if (tg_kv_command(kv, &call, &reply, NULL) != TG_OK || tg_kv_type(reply) != TG_KV_STRING)
        return false;
    text = tg_kv_string(reply);
    return tg_credential_read(text.ptr, text.len, arena, ret, NULL) == TG_OK;
}

static void fill_cache(struct tg_kv *kv, const struct keys *keys, int64_t read_at_server_ms,
                       const struct tg_credential *credential)
{
    struct tg_buf json;
    char life[24], until[24];
    const struct tg_kv_reply *reply;

    tg_buf_init(&json, 0);
    tg_credential_write(credential, &json);
    snprintf(life, sizeof life, "%d", credential != NULL ? KNOWN_TTL_MS : UNKNOWN_TTL_MS);
    snprintf(until, sizeof until, "%" PRId64, read_at_server_ms + FILL_WITHIN_MS);
    {
        const struct tg_span args[] = {span(keys->entry), span(keys->fence),
                                       {json.data, json.len}, span(life), span(until)};
        const struct tg_kv_call call = {keys->tag, args, TG_COUNT_OF(args),
                                        tg_now_us() + CACHE_WAIT_US};

        /* An entry that could not be kept costs a read of MySQL, nothing else. */
        (void)!tg_kv_run(kv, &tg_script_fill, &call, 2, &reply);
    }
    tg_buf_done(&json);
}

static enum tg_class ask_database(const struct tg_credential_source *source,
                                  struct tg_arena *arena, const char *hmac_hex,
                                  struct tg_credential **ret, struct tg_error *err)
{
    struct tg_db *db;
    enum tg_class class = tg_db_acquire(source->main_db, source->deadline_at_us, &db, err);

    if (class != TG_OK)
        return class;
    class = tg_store_credential(db, arena, hmac_hex, ret, err);
    tg_db_release(db);
    return class;
}

enum tg_class tg_credential_get(const struct tg_credential_source *source, struct tg_arena *arena,
                                const char *hmac_hex, struct tg_credential **ret,
                                struct tg_error *err)
{
    int64_t cache_until_us = TG_MIN(source->deadline_at_us, tg_now_us() + CACHE_WAIT_US);
    int64_t read_at_ms = 0;
    const struct keys keys = keys_of(hmac_hex);
    struct tg_kv *kv = NULL;
    enum tg_class class;

    if (tg_kv_acquire(source->kv, cache_until_us, &kv, NULL) == TG_OK) {
        if (ask_cache(kv, &keys, cache_until_us, arena, ret)) {
            tg_kv_release(kv);
            return TG_OK;
        }
        read_at_ms = tg_kv_server_ms(kv);
        tg_kv_release(kv); /* not held while MySQL is asked */
    }
    class = ask_database(source, arena, hmac_hex, ret, err);
    if (class == TG_OK && read_at_ms != 0 &&
        tg_kv_acquire(source->kv, tg_now_us() + CACHE_WAIT_US, &kv, NULL) == TG_OK) {
        fill_cache(kv, &keys, read_at_ms, *ret);
        tg_kv_release(kv);
    }
    return class;
}

/* Sets the fence and drops the entry, as one script would: both are one command each, the fence
 * first. */
static enum tg_class fence_and_drop(struct tg_kv_pool *pool, const char *hmac_hex,
                                    struct tg_error *err)
{
    int64_t deadline_at_us = tg_now_us() + CHANGE_WAIT_US;
    const struct keys keys = keys_of(hmac_hex);
    char life[16];
    struct tg_kv *kv;
    const struct tg_kv_reply *reply;
    enum tg_class class = tg_kv_acquire(pool, deadline_at_us, &kv, err);

    if (class != TG_OK)
        return class;
    snprintf(life, sizeof life, "%d", FENCE_S);
    {
        const struct tg_span set[] = {span("SET"), span(keys.fence), span("1"), span("EX"),
                                      span(life)};
        const struct tg_span del[] = {span("DEL"), span(keys.entry)};
        const struct tg_kv_call set_call = {keys.tag, set, TG_COUNT_OF(set), deadline_at_us};
        const struct tg_kv_call del_call = {keys.tag, del, TG_COUNT_OF(del), deadline_at_us};

        class = tg_kv_command(kv, &set_call, &reply, err);
        if (class == TG_OK)
            class = tg_kv_command(kv, &del_call, &reply, err);
    }
    tg_kv_release(kv);
    return class;
}

enum tg_class tg_credential_change_begin(struct tg_kv_pool *kv, const char *hmac_hex,
                                         struct tg_error *err)
{
    return fence_and_drop(kv, hmac_hex, err);
}

/* The fence stays for its life: a door that read MySQL just before the commit may still be on its
 * way to fill the cache. */
enum tg_class tg_credential_change_end(struct tg_kv_pool *kv, const char *hmac_hex,
                                       struct tg_error *err)
{
    return fence_and_drop(kv, hmac_hex, err);
}
