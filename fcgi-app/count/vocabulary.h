/* vocabulary - the tokens of one encoding and their ranks.
 *
 * Read once from the bytes of a *.ranks file (see make-vocabulary), which stay where they are and
 * must outlive it; never written afterwards, so that processes forked later share its pages.
 *
 * Tokens of up to 8 bytes, three quarters of them, are found by their bytes as one number; longer
 * ones by a hash and a comparison. Tokens of one and two bytes have tables of their own.
 *
 * Errors   TG_CLASS_CONFIG, vocabulary_invalid.
 * Threads  any.  Blocks  no.
 */
#ifndef TOLLGATE_COUNT_VOCABULARY_H
#define TOLLGATE_COUNT_VOCABULARY_H

#include "common/base/error.h"

#include <string.h>

enum { TG_VOCABULARY_SHORT = 8 };
#define TG_NO_RANK UINT32_MAX

struct tg_short_token {
    uint64_t bytes; /* the first one lowest */
    uint32_t len;   /* 0: no token here */
    uint32_t rank;
};

struct tg_long_token {
    uint32_t hash;
    uint32_t rank;
};

/* Members are vocabulary.c's own, and shown for the lookup below. */
struct tg_vocabulary {
    const unsigned char *bytes; /* the file */
    uint32_t count, longest;
    uint32_t *at; /* of each token in the file; the byte before it is its length */
    uint32_t singles[256];
    uint32_t *pairs; /* by first byte + second * 256 */
    struct tg_short_token *shorts;
    struct tg_long_token *longs;
    uint32_t shorts_shift, longs_mask;
};

enum tg_class tg_vocabulary_init(struct tg_vocabulary *vocabulary, struct tg_span file,
                                 struct tg_error *err) must_check non_null(1);
void tg_vocabulary_done(struct tg_vocabulary *vocabulary) non_null(1);

static inline uint64_t tg_vocabulary_load(const unsigned char *bytes, size_t count)
{
    uint64_t number = 0;

    memcpy(&number, bytes, count);
    return number;
}

/* 3 to 8 bytes as one number. */
static inline uint64_t tg_vocabulary_short(const unsigned char *bytes, size_t len)
{
    if (len == 8)
        return tg_vocabulary_load(bytes, 8);
    if (len >= 4)
        return tg_vocabulary_load(bytes, 4) |
               tg_vocabulary_load(bytes + len - 4, 4) << (len - 4) * 8;
    return tg_vocabulary_load(bytes, 2) | (uint64_t)bytes[2] << 16;
}

static inline uint32_t tg_vocabulary_slot(uint64_t number, size_t len, uint32_t shift)
{
    return (uint32_t)((number ^ (uint64_t)len << 56) * UINT64_C(0x9e3779b97f4a7c15) >> shift);
}

/* More than 8 bytes. */
static inline uint64_t tg_vocabulary_hash(const unsigned char *bytes, size_t len)
{
    uint64_t hash = len;

    for (size_t i = 0; i + 8 < len; i += 8) {
        hash = (hash ^ tg_vocabulary_load(bytes + i, 8)) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 29;
    }
    hash = (hash ^ tg_vocabulary_load(bytes + len - 8, 8)) * UINT64_C(0xbf58476d1ce4e5b9);
    return hash ^ hash >> 32;
}

uint32_t tg_vocabulary_long_rank(const struct tg_vocabulary *vocabulary,
                                 const unsigned char *bytes, size_t len) non_null(1, 2);

/* The rank of the token that is these bytes (at least one), TG_NO_RANK when none is. */
static inline uint32_t tg_vocabulary_rank(const struct tg_vocabulary *vocabulary,
                                          const unsigned char *bytes, size_t len)
{
    const struct tg_short_token *shorts = vocabulary->shorts;
    uint64_t number;
    uint32_t slot, mask;

    if (len == 1)
        return vocabulary->singles[bytes[0]];
    if (len == 2)
        return vocabulary->pairs[bytes[0] | bytes[1] << 8];
    if (len > TG_VOCABULARY_SHORT)
        return tg_vocabulary_long_rank(vocabulary, bytes, len);
    number = tg_vocabulary_short(bytes, len);
    slot = tg_vocabulary_slot(number, len, vocabulary->shorts_shift);
    mask = (uint32_t)(UINT64_MAX >> vocabulary->shorts_shift);
    for (; shorts[slot].len != 0; slot = (slot + 1) & mask)
        if (shorts[slot].bytes == number && shorts[slot].len == len)
            return shorts[slot].rank;
    return TG_NO_RANK;
}

#endif
