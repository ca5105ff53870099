#include "fcgi-app/count/merge.h"

#include "common/base/memory.h"

#include <stdlib.h>

enum { SHORT_MOST = 96 };

/* --- short pieces -------------------------------------------------------------------------- */

/* Parts are the stretches between neighbouring bounds; ranks[i] is that of parts i and i+1
 * together. */
struct parts {
    const struct tg_vocabulary *vocabulary;
    const unsigned char *bytes;
    size_t count; /* of bounds */
    uint8_t bounds[SHORT_MOST + 1];
    uint32_t ranks[SHORT_MOST + 1];
};

static inline uint32_t joined(const struct parts *parts, size_t i)
{
    if (i + 2 >= parts->count)
        return TG_NO_RANK;
    return tg_vocabulary_rank(parts->vocabulary, parts->bytes + parts->bounds[i],
                              (size_t)parts->bounds[i + 2] - parts->bounds[i]);
}

static inline size_t lowest(const struct parts *parts)
{
    size_t best = 0;

    for (size_t i = 1; i + 2 < parts->count; i++)
        if (parts->ranks[i] < parts->ranks[best])
            best = i;
    return best;
}

static void join(struct parts *parts, size_t i)
{
    size_t behind = parts->count - (i + 2);

    memmove(parts->bounds + i + 1, parts->bounds + i + 2, behind * sizeof parts->bounds[0]);
    memmove(parts->ranks + i + 1, parts->ranks + i + 2, behind * sizeof parts->ranks[0]);
    parts->count--;
    parts->ranks[i] = joined(parts, i);
    if (i > 0)
        parts->ranks[i - 1] = joined(parts, i - 1);
}

static void merge_short(const struct tg_vocabulary *vocabulary, const unsigned char *bytes,
                        size_t len, struct tg_tokens *tokens)
{
    struct parts parts;
    size_t best;

    parts.vocabulary = vocabulary;
    parts.bytes = bytes;
    parts.count = len + 1;
    for (size_t i = 0; i <= len; i++) {
        parts.bounds[i] = (uint8_t)i;
        parts.ranks[i] =
            i + 1 < len ? vocabulary->pairs[bytes[i] | bytes[i + 1] << 8] : TG_NO_RANK;
    }
    while (parts.count > 2 && parts.ranks[best = lowest(&parts)] != TG_NO_RANK)
        join(&parts, best);
    if (tokens->ids == NULL) {
        tokens->count += parts.count - 1;
        return;
    }
    for (size_t i = 0; i + 1 < parts.count; i++)
        tg_tokens_add(tokens, tg_vocabulary_rank(vocabulary, bytes + parts.bounds[i],
                                                 (size_t)parts.bounds[i + 1] - parts.bounds[i]));
}

/* --- long pieces --------------------------------------------------------------------------- */

/* A part is known by where it begins. An entry of the heap is rank << 32 | part; one whose rank is
 * no longer the part's is stale. */
struct chain {
    const struct tg_vocabulary *vocabulary;
    const unsigned char *bytes;
    uint32_t len;
    uint32_t *next, *previous, *ranks;
    uint64_t *heap;
    size_t heap_count;
};

static void sift_down(struct chain *chain, size_t at)
{
    uint64_t entry = chain->heap[at];
    size_t child;

    while ((child = at * 2 + 1) < chain->heap_count) {
        if (child + 1 < chain->heap_count && chain->heap[child + 1] < chain->heap[child])
            child++;
        if (chain->heap[child] >= entry)
            break;
        chain->heap[at] = chain->heap[child];
        at = child;
    }
    chain->heap[at] = entry;
}

static void push(struct chain *chain, uint32_t part)
{
    uint64_t entry = (uint64_t)chain->ranks[part] << 32 | part;
    size_t at = chain->heap_count++;

    for (; at > 0 && chain->heap[(at - 1) / 2] > entry; at = (at - 1) / 2)
        chain->heap[at] = chain->heap[(at - 1) / 2];
    chain->heap[at] = entry;
}

static uint64_t pop(struct chain *chain)
{
    uint64_t entry = chain->heap[0];

    chain->heap[0] = chain->heap[--chain->heap_count];
    if (chain->heap_count > 0)
        sift_down(chain, 0);
    return entry;
}

static uint32_t rank_of(const struct chain *chain, uint32_t part)
{
    uint32_t next = chain->next[part];

    if (next == chain->len)
        return TG_NO_RANK;
    return tg_vocabulary_rank(chain->vocabulary, chain->bytes + part, chain->next[next] - part);
}

static void rank_again(struct chain *chain, uint32_t part)
{
    chain->ranks[part] = rank_of(chain, part);
    if (chain->ranks[part] != TG_NO_RANK)
        push(chain, part);
}

static void join_next(struct chain *chain, uint32_t part)
{
    uint32_t gone = chain->next[part];

    chain->next[part] = chain->next[gone];
    if (chain->next[part] < chain->len)
        chain->previous[chain->next[part]] = part;
    chain->ranks[gone] = TG_NO_RANK;
    rank_again(chain, part);
    if (part > 0)
        rank_again(chain, chain->previous[part]);
}

static void make_chain(struct chain *chain)
{
    for (uint32_t i = 0; i < chain->len; i++) {
        chain->next[i] = i + 1;
        chain->previous[i] = i - 1; /* the first one has none and is not asked */
    }
    for (uint32_t i = 0; i < chain->len; i++) {
        chain->ranks[i] = rank_of(chain, i);
        if (chain->ranks[i] != TG_NO_RANK)
            chain->heap[chain->heap_count++] = (uint64_t)chain->ranks[i] << 32 | i;
    }
    for (size_t i = chain->heap_count / 2; i > 0; i--)
        sift_down(chain, i - 1);
}

static void merge_long(const struct tg_vocabulary *vocabulary, const unsigned char *bytes,
                       size_t len, struct tg_tokens *tokens)
{
    /* Each of less than <len> merges takes an entry away and brings at most two. */
    uint64_t *room = tg_malloc(len * (2 * sizeof(uint64_t) + 3 * sizeof(uint32_t)));
    uint32_t *lists = (uint32_t *)(room + 2 * len);
    struct chain chain = {vocabulary, bytes, (uint32_t)len, lists, lists + len, lists + 2 * len,
                          room, 0};

    make_chain(&chain);
    while (chain.heap_count > 0) {
        uint64_t entry = pop(&chain);
        uint32_t part = (uint32_t)entry;

        if (chain.ranks[part] == entry >> 32)
            join_next(&chain, part);
    }
    for (uint32_t part = 0; part < chain.len; part = chain.next[part])
        tg_tokens_add(tokens, tg_vocabulary_rank(vocabulary, bytes + part,
                                                 chain.next[part] - part));
    free(room);
}

void tg_merge(const struct tg_vocabulary *vocabulary, struct tg_span piece,
              struct tg_tokens *tokens)
{
    const unsigned char *bytes = (const unsigned char *)piece.ptr;
    size_t left = piece.len;

    while (left > 0) {
        size_t len = TG_MIN(left, (size_t)TG_MERGE_MOST);
        uint32_t rank = tg_vocabulary_rank(vocabulary, bytes, len);

        if (rank != TG_NO_RANK)
            tg_tokens_add(tokens, rank);
        else if (len <= SHORT_MOST)
            merge_short(vocabulary, bytes, len, tokens);
        else
            merge_long(vocabulary, bytes, len, tokens);
        bytes += len;
        left -= len;
    }
}
