#include "common/credential/known.h"

#include "common/base/memory.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
    HMAC_HEX_LEN = 64,
    INDEX_DIGITS = 3, /* of the digest, which is as good as random and not the client's to choose */
    SETS = 1 << (4 * INDEX_DIGITS),
    WAYS = 2,
    STRIPES = 64,
    LARGEST = 2048, /* bytes of one entry: 16 MiB in all at the very most */
    LIFE_US = 10000000
};

struct entry {
    struct tg_credential credential; /* first: release finds the entry by it */
    atomic_int users;                /* the memory's own one included */
    int64_t read_at_us;
    char hmac[HMAC_HEX_LEN];
    _Alignas(max_align_t) char rest[]; /* what the credential points at */
};

struct tg_known {
    pthread_mutex_t stripes[STRIPES];
    struct entry *sets[SETS][WAYS];
};

struct tg_known *tg_known_new(void)
{
    struct tg_known *known = tg_calloc(1, sizeof *known);

    for (int i = 0; i < STRIPES; i++)
        pthread_mutex_init(&known->stripes[i], NULL);
    return known;
}

static void unuse(struct entry *entry)
{
    if (entry != NULL && atomic_fetch_sub_explicit(&entry->users, 1, memory_order_acq_rel) == 1)
        free(entry);
}

void tg_known_free(struct tg_known *known)
{
    if (known == NULL)
        return;
    for (int set = 0; set < SETS; set++)
        for (int way = 0; way < WAYS; way++)
            unuse(known->sets[set][way]);
    for (int i = 0; i < STRIPES; i++)
        pthread_mutex_destroy(&known->stripes[i]);
    free(known);
}

void tg_known_release(const struct tg_credential *credential)
{
    unuse((struct entry *)credential);
}

/* ---- a place ---- */

static unsigned set_of(const char *hmac_hex)
{
    unsigned set = 0;

    tg_assert(strlen(hmac_hex) == HMAC_HEX_LEN);
    for (int i = 0; i < INDEX_DIGITS; i++) {
        char digit = hmac_hex[i];

        set = set * 16 + (unsigned)(digit <= '9' ? digit - '0' : digit - 'a' + 10) % 16;
    }
    return set;
}

static void lock(struct tg_known *known, unsigned set)
{
    pthread_mutex_lock(&known->stripes[set % STRIPES]);
}

static void unlock(struct tg_known *known, unsigned set)
{
    pthread_mutex_unlock(&known->stripes[set % STRIPES]);
}

/* Under the lock: where it is, or NULL. */
static struct entry **place_of(struct entry **ways, const char *hmac_hex)
{
    for (int way = 0; way < WAYS; way++)
        if (ways[way] != NULL && memcmp(ways[way]->hmac, hmac_hex, HMAC_HEX_LEN) == 0)
            return &ways[way];
    return NULL;
}

const struct tg_credential *tg_known_take(struct tg_known *known, const char *hmac_hex,
                                          int64_t now_us)
{
    unsigned set = set_of(hmac_hex);
    struct entry **place, *found = NULL;

    lock(known, set);
    place = place_of(known->sets[set], hmac_hex);
    if (place != NULL && now_us - (*place)->read_at_us < LIFE_US) {
        found = *place;
        atomic_fetch_add_explicit(&found->users, 1, memory_order_relaxed);
    }
    unlock(known, set);
    return found != NULL ? &found->credential : NULL;
}

static struct entry *replace(struct tg_known *known, const char *hmac_hex, struct entry *by)
{
    unsigned set = set_of(hmac_hex);
    struct entry **ways = known->sets[set], **place, *old = NULL;

    lock(known, set);
    place = place_of(ways, hmac_hex);
    if (place == NULL && by != NULL) {
        place = &ways[0];
        for (int way = 1; way < WAYS && *place != NULL; way++)
            if (ways[way] == NULL || ways[way]->read_at_us < (*place)->read_at_us)
                place = &ways[way];
    }
    if (place != NULL) {
        old = *place;
        *place = by;
    }
    unlock(known, set);
    return old;
}

void tg_known_drop(struct tg_known *known, const char *hmac_hex)
{
    unuse(replace(known, hmac_hex, NULL));
}

/* ---- a copy in one piece ---- */

struct copying {
    char *to; /* NULL: only the size is wanted */
    size_t used;
};

static const void *put(struct copying *copying, const void *bytes, size_t len)
{
    const size_t align = _Alignof(max_align_t);
    size_t at = copying->used;

    copying->used += (len + align - 1) & ~(align - 1);
    if (copying->to == NULL)
        return bytes;
    if (len > 0)
        memcpy(copying->to + at, bytes, len);
    return copying->to + at;
}

static const char *put_text(struct copying *copying, const char *text)
{
    return text == NULL ? NULL : put(copying, text, strlen(text) + 1);
}

static const char *const *put_texts(struct copying *copying, const char *const *list,
                                    size_t count)
{
    const char *const *copies = put(copying, list, count * sizeof *list);

    for (size_t i = 0; i < count; i++) {
        const char *text = put_text(copying, list[i]);

        if (copying->to != NULL)
            ((const char **)copies)[i] = text;
    }
    return copies;
}

/* Copies what <credential> points at, and points it at the copies. */
static void put_rest(struct copying *copying, struct tg_credential *credential)
{
    credential->token_name = put_text(copying, credential->token_name);
    credential->team = put_text(copying, credential->team);
    credential->user_group = put_text(copying, credential->user_group);
    credential->group_name = put_text(copying, credential->group_name);
    credential->loss_policy = put_text(copying, credential->loss_policy);
    credential->stream_mode = put_text(copying, credential->stream_mode);
    credential->funding = put_text(copying, credential->funding);
    credential->addresses =
        put(copying, credential->addresses, credential->address_count * sizeof(struct tg_cidr));
    credential->models = put_texts(copying, credential->models, credential->model_count);
    credential->auto_groups =
        put_texts(copying, credential->auto_groups, credential->auto_group_count);
}

static struct entry *copy(const struct tg_credential *credential)
{
    struct tg_credential measured = *credential;
    struct copying copying = {0};
    struct entry *entry;

    put_rest(&copying, &measured);
    if (sizeof *entry + copying.used > LARGEST)
        return NULL;
    entry = tg_calloc(1, sizeof *entry + copying.used);
    entry->credential = *credential;
    copying = (struct copying){.to = entry->rest};
    put_rest(&copying, &entry->credential);
    atomic_init(&entry->users, 1);
    return entry;
}

void tg_known_keep(struct tg_known *known, const char *hmac_hex,
                   const struct tg_credential *credential, int64_t now_us)
{
    struct entry *entry = copy(credential);

    if (entry != NULL) {
        memcpy(entry->hmac, hmac_hex, HMAC_HEX_LEN);
        entry->read_at_us = now_us;
    }
    unuse(replace(known, hmac_hex, entry));
}
