#include "fcgi-app/count/vocabulary.h"

#include "common/base/memory.h"

#include <stdlib.h>

static const char magic[8] = {'t', 'g', 'r', 'a', 'n', 'k', 's', '1'};

enum { HEAD = 12, TOKENS_MOST = 1 << 24 };

static enum tg_class invalid(struct tg_error *err, const char *why)
{
    return tg_fail(err, TG_CLASS_CONFIG, "vocabulary_invalid", "the vocabulary %s", why);
}

uint32_t tg_vocabulary_long_rank(const struct tg_vocabulary *vocabulary,
                                 const unsigned char *bytes, size_t len)
{
    const struct tg_long_token *longs = vocabulary->longs;
    uint32_t mask = vocabulary->longs_mask, hash;

    if (len > vocabulary->longest)
        return TG_NO_RANK;
    hash = (uint32_t)tg_vocabulary_hash(bytes, len);
    for (uint32_t slot = hash & mask; longs[slot].rank != TG_NO_RANK; slot = (slot + 1) & mask) {
        const unsigned char *token = vocabulary->bytes + vocabulary->at[longs[slot].rank];

        if (longs[slot].hash == hash && token[-1] == len && memcmp(token, bytes, len) == 0)
            return longs[slot].rank;
    }
    return TG_NO_RANK;
}

/* Finds where each token is; what follows may trust the file. */
static enum tg_class find_tokens(struct tg_vocabulary *vocabulary, struct tg_span file,
                                 struct tg_error *err)
{
    size_t at = HEAD;

    for (uint32_t rank = 0; rank < vocabulary->count; rank++) {
        size_t len = at < file.len ? vocabulary->bytes[at] : 0;

        if (len == 0 || len > file.len - at - 1)
            return invalid(err, "is cut off");
        vocabulary->at[rank] = (uint32_t)at + 1;
        vocabulary->longest = TG_MAX(vocabulary->longest, (uint32_t)len);
        at += 1 + len;
    }
    return at == file.len ? TG_OK : invalid(err, "has bytes behind its end");
}

static void add_short(struct tg_vocabulary *vocabulary, const unsigned char *token, uint32_t rank)
{
    uint32_t len = token[-1], slot;
    uint32_t mask = (uint32_t)(UINT64_MAX >> vocabulary->shorts_shift);
    uint64_t number = tg_vocabulary_short(token, len);

    slot = tg_vocabulary_slot(number, len, vocabulary->shorts_shift);
    while (vocabulary->shorts[slot].len != 0)
        slot = (slot + 1) & mask;
    vocabulary->shorts[slot] = (struct tg_short_token){number, len, rank};
}

static void add_long(struct tg_vocabulary *vocabulary, const unsigned char *token, uint32_t rank)
{
    uint32_t hash = (uint32_t)tg_vocabulary_hash(token, token[-1]);
    uint32_t slot = hash & vocabulary->longs_mask;

    while (vocabulary->longs[slot].rank != TG_NO_RANK)
        slot = (slot + 1) & vocabulary->longs_mask;
    vocabulary->longs[slot] = (struct tg_long_token){hash, rank};
}

static enum tg_class add_tokens(struct tg_vocabulary *vocabulary, struct tg_error *err)
{
    for (uint32_t rank = 0; rank < vocabulary->count; rank++) {
        const unsigned char *token = vocabulary->bytes + vocabulary->at[rank];
        size_t len = token[-1];

        if (tg_vocabulary_rank(vocabulary, token, len) != TG_NO_RANK)
            return invalid(err, "holds a token twice");
        if (len == 1)
            vocabulary->singles[token[0]] = rank;
        else if (len == 2)
            vocabulary->pairs[token[0] | token[1] << 8] = rank;
        else if (len <= TG_VOCABULARY_SHORT)
            add_short(vocabulary, token, rank);
        else
            add_long(vocabulary, token, rank);
    }
    for (size_t byte = 0; byte < 256; byte++)
        if (vocabulary->singles[byte] == TG_NO_RANK)
            return invalid(err, "lacks a byte");
    return TG_OK;
}

/* Tables of at most half full: a miss, the usual answer while merging, ends at once. */
static void make_tables(struct tg_vocabulary *vocabulary)
{
    uint32_t shorts = 0, longs = 0, bits = 4, room = 16;

    for (uint32_t rank = 0; rank < vocabulary->count; rank++)
        if (vocabulary->bytes[vocabulary->at[rank] - 1] <= TG_VOCABULARY_SHORT)
            shorts++;
        else
            longs++;
    while (UINT32_C(1) << bits < shorts * 2)
        bits++;
    while (room < longs * 2)
        room *= 2;
    vocabulary->shorts_shift = 64 - bits;
    vocabulary->shorts = tg_calloc((size_t)1 << bits, sizeof *vocabulary->shorts);
    vocabulary->longs_mask = room - 1;
    vocabulary->longs = tg_malloc(room * sizeof *vocabulary->longs);
    vocabulary->pairs = tg_malloc(65536 * sizeof *vocabulary->pairs);
    memset(vocabulary->longs, 0xff, room * sizeof *vocabulary->longs);
    memset(vocabulary->pairs, 0xff, 65536 * sizeof *vocabulary->pairs);
    memset(vocabulary->singles, 0xff, sizeof vocabulary->singles);
}

enum tg_class tg_vocabulary_init(struct tg_vocabulary *vocabulary, struct tg_span file,
                                 struct tg_error *err)
{
    const unsigned char *bytes = (const unsigned char *)file.ptr;
    enum tg_class class;

    memset(vocabulary, 0, sizeof *vocabulary);
    if (file.len < HEAD || file.len > UINT32_MAX || memcmp(bytes, magic, sizeof magic) != 0)
        return invalid(err, "is none");
    vocabulary->bytes = bytes;
    vocabulary->count = bytes[8] | (uint32_t)bytes[9] << 8 | (uint32_t)bytes[10] << 16 |
                        (uint32_t)bytes[11] << 24;
    if (vocabulary->count > TOKENS_MOST)
        return invalid(err, "claims too many tokens");
    vocabulary->at = tg_calloc(vocabulary->count + 1, sizeof *vocabulary->at);
    class = find_tokens(vocabulary, file, err);
    if (class == TG_OK) {
        make_tables(vocabulary);
        class = add_tokens(vocabulary, err);
    }
    if (class != TG_OK)
        tg_vocabulary_done(vocabulary);
    return class;
}

void tg_vocabulary_done(struct tg_vocabulary *vocabulary)
{
    free(vocabulary->at);
    free(vocabulary->pairs);
    free(vocabulary->shorts);
    free(vocabulary->longs);
    memset(vocabulary, 0, sizeof *vocabulary);
}
