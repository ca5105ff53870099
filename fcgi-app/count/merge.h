/* merge - the tokens of one piece: byte pairs are merged, the lowest rank first, the leftmost of
 * equals first, until no neighbours make a token.
 *
 * Short pieces are searched through; long ones keep their pairs in a heap, so that a megabyte of
 * one letter takes n log n steps. Beyond TG_MERGE_MOST a piece is cut.
 *
 * Memory   28 bytes per byte of a long piece, while it is merged.
 * Threads  any.  Blocks  no.
 */
#ifndef TOLLGATE_COUNT_MERGE_H
#define TOLLGATE_COUNT_MERGE_H

#include "fcgi-app/count/vocabulary.h"

enum { TG_MERGE_MOST = 2 * 1024 * 1024 };

/* Where tokens go. */
struct tg_tokens {
    uint32_t *ids; /* NULL: only counted */
    size_t room;   /* of <ids>; what does not fit is counted all the same */
    size_t count;
};

static inline void tg_tokens_add(struct tg_tokens *tokens, uint32_t id)
{
    if (tokens->ids != NULL && tokens->count < tokens->room)
        tokens->ids[tokens->count] = id;
    tokens->count++;
}

/* <piece> is not empty. */
void tg_merge(const struct tg_vocabulary *vocabulary, struct tg_span piece,
              struct tg_tokens *tokens) non_null(1, 3);

#endif
