/* zstd - blocks of records, and the frames that clients send (the only user of libzstd).
 *
 * Errors   TG_CLASS_INTERNAL "zstd_error": the bytes are no whole frame, or larger than allowed.
 * Threads  any.  Blocks  no.
 */
#ifndef TOLLGATE_COMPRESS_ZSTD_H
#define TOLLGATE_COMPRESS_ZSTD_H

#include "common/base/buf.h"
#include "common/base/error.h"

/* Appends one frame to <out>. */
enum tg_class tg_zstd_pack(const void *bytes, size_t len, struct tg_buf *out,
                           struct tg_error *err) must_check non_null(3);
/* Appends the content of one frame, at most <most> bytes of it, to <out>. */
enum tg_class tg_zstd_unpack(struct tg_span frame, size_t most, struct tg_buf *out,
                             struct tg_error *err) must_check non_null(3);

/* Frames of clients, piece by piece; see inflate.h, which is how they are used. */
struct tg_unzstd;
struct tg_inflate_target;

struct tg_unzstd *tg_unzstd_new(void) must_check;
void tg_unzstd_free(struct tg_unzstd *unzstd); /* NULL is fine */
enum tg_class tg_unzstd_feed(struct tg_unzstd *unzstd, struct tg_span bytes,
                             const struct tg_inflate_target *target, struct tg_error *err)
    must_check non_null(1, 3);
bool tg_unzstd_is_whole(const struct tg_unzstd *unzstd) non_null(1);

#endif
