/* media - data URLs and raw base64 of images and files.
 *
 * Pure.  Owns  results live in the arena.  Threads  any.  Source  PROTOCOLS B0.9.
 */
#ifndef TOLLGATE_CONVERT_MEDIA_H
#define TOLLGATE_CONVERT_MEDIA_H

#include "common/base/arena.h"

struct tg_media {
    const char *type; /* "image/png" */
    const char *data; /* base64 without blanks */
};

bool tg_media_is_url(struct tg_span text) must_check; /* http or https */
/* A data URL, or base64 alone, whose type is then told from its first bytes. False: neither, or
 * of a type that nobody can tell. */
bool tg_media_parse(struct tg_arena *arena, struct tg_span text, struct tg_media *ret) must_check
    non_null(1, 3);
/* Bytes in base64, with its padding. */
const char *tg_media_base64(struct tg_arena *arena, struct tg_span bytes) must_check non_null(1);
/* The bytes of base64 text; false: it is none. Bytes are no text before somebody has looked. */
bool tg_media_bytes(struct tg_arena *arena, struct tg_span text, struct tg_span *ret) must_check
    non_null(1, 3);
bool tg_media_is_text(struct tg_span bytes) must_check; /* UTF-8 throughout */
/* The bytes themselves. */
struct tg_span tg_media_text(struct tg_arena *arena, const struct tg_media *media) must_check
    non_null(1, 2);

#endif
