/* inflate - what clients compressed (Content-Encoding), piece by piece (the only user of zlib).
 *
 * The sink sees the plain bytes as they come and stops when it has seen too many: a bomb costs
 * only what the sink takes. zstd frames that want a window above 8 MiB are refused (RFC 8878
 * 3.1.1.1.2 asks decoders for no more).
 *
 * Errors   TG_CLASS_INVALID "bad_encoding": the bytes are not of the form announced.
 * Threads  one owner.  Blocks  no.
 */
#ifndef TOLLGATE_COMPRESS_INFLATE_H
#define TOLLGATE_COMPRESS_INFLATE_H

#include "common/base/error.h"

enum tg_encoding {
    TG_ENCODING_IDENTITY,
    TG_ENCODING_GZIP,
    TG_ENCODING_DEFLATE, /* zlib's wrapping; bare deflate, as some send it, is recognised */
    TG_ENCODING_ZSTD
};
/* A Content-Encoding value; false: none that we know, or a chain of several. */
bool tg_encoding_parse(const char *text, enum tg_encoding *ret) must_check non_null(1, 2);

struct tg_inflate;

struct tg_inflate *tg_inflate_new(enum tg_encoding encoding) must_check; /* not IDENTITY */
void tg_inflate_free(struct tg_inflate *inflate);                        /* NULL is fine */

/* False stops: feed then returns TG_OK at once and <sink> is to blame. */
typedef bool tg_inflate_sink(void *context, const void *bytes, size_t len);
struct tg_inflate_target {
    tg_inflate_sink *sink;
    void *context;
};
enum tg_class tg_inflate_feed(struct tg_inflate *inflate, struct tg_span bytes,
                              const struct tg_inflate_target *target, struct tg_error *err)
    must_check non_null(1, 3);
/* Did the compressed form come to its end, with nothing behind it? */
bool tg_inflate_is_whole(const struct tg_inflate *inflate) non_null(1);

#endif
