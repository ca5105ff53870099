/* bpe - exact tokens of a text, as OpenAI's models count them.
 *
 * Ordinary text only: what looks like a special token is text, for it comes from clients.
 * The ids are those of tiktoken's encode_ordinary.
 *
 * An encoder is made once, before workers fork, and never written again: they share its pages.
 *
 * Errors   TG_CLASS_CONFIG for a bad vocabulary; TG_CLASS_INVALID, utf8_invalid for a bad text.
 * Threads  any.  Blocks  no.
 */
#ifndef TOLLGATE_COUNT_BPE_H
#define TOLLGATE_COUNT_BPE_H

#include "fcgi-app/count/merge.h"
#include "fcgi-app/count/split.h"

struct tg_bpe;

/* Borrows <file>, the bytes of a *.ranks file, for its life. */
enum tg_class tg_bpe_new(enum tg_split_rules rules, struct tg_span file, struct tg_bpe **ret,
                         struct tg_error *err) must_check non_null(3);
void tg_bpe_free(struct tg_bpe *bpe);

/* Adds the text's tokens to <tokens>; nothing when it fails. */
enum tg_class tg_bpe_encode(const struct tg_bpe *bpe, struct tg_span text,
                            struct tg_tokens *tokens, struct tg_error *err) must_check
    non_null(1, 3);

#endif
