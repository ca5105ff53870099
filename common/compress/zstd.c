#include "common/compress/zstd.h"

#include "common/base/memory.h"
#include "common/compress/inflate.h"

#include <stdlib.h>
#include <zstd.h>

enum { LEVEL = 3 }; /* libzstd's own default: a tenth of JSON's size at 100 MB/s and more */

enum tg_class tg_zstd_pack(const void *bytes, size_t len, struct tg_buf *out, struct tg_error *err)
{
    size_t room = ZSTD_compressBound(len), packed;
    char *frame = tg_malloc(room);
    enum tg_class class = TG_OK;

    packed = ZSTD_compress(frame, room, bytes, len, LEVEL);
    if (ZSTD_isError(packed))
        class = tg_fail(err, TG_CLASS_INTERNAL, "zstd_error", "cannot compress %zu bytes: %s", len,
                        ZSTD_getErrorName(packed));
    else
        tg_buf_add(out, frame, packed);
    free(frame);
    return class;
}

enum tg_class tg_zstd_unpack(struct tg_span frame, size_t most, struct tg_buf *out,
                             struct tg_error *err)
{
    unsigned long long size = ZSTD_getFrameContentSize(frame.ptr, frame.len);
    enum tg_class class = TG_OK;
    size_t got;
    char *bytes;

    if (size == ZSTD_CONTENTSIZE_UNKNOWN || size == ZSTD_CONTENTSIZE_ERROR || size > most)
        return tg_fail(err, TG_CLASS_INTERNAL, "zstd_error",
                       "%zu bytes are no frame of at most %zu bytes", frame.len, most);
    bytes = tg_malloc((size_t)size + 1);
    got = ZSTD_decompress(bytes, (size_t)size, frame.ptr, frame.len);
    if (ZSTD_isError(got) || got != size)
        class = tg_fail(err, TG_CLASS_INTERNAL, "zstd_error", "the frame is damaged");
    else
        tg_buf_add(out, bytes, got);
    free(bytes);
    return class;
}

/* ---- piece by piece ---- */

enum { WINDOW_LOG_MOST = 23 }; /* 8 MiB */

struct tg_unzstd {
    ZSTD_DStream *stream;
    size_t wanted; /* 0 at the end of a frame */
    size_t room;
    char *out;
};

struct tg_unzstd *tg_unzstd_new(void)
{
    struct tg_unzstd *unzstd = tg_calloc(1, sizeof *unzstd);

    unzstd->stream = ZSTD_createDStream();
    tg_assert(unzstd->stream != NULL);
    tg_assert(!ZSTD_isError(
        ZSTD_DCtx_setParameter(unzstd->stream, ZSTD_d_windowLogMax, WINDOW_LOG_MOST)));
    unzstd->wanted = 1;
    unzstd->room = ZSTD_DStreamOutSize();
    unzstd->out = tg_malloc(unzstd->room);
    return unzstd;
}

void tg_unzstd_free(struct tg_unzstd *unzstd)
{
    if (unzstd == NULL)
        return;
    ZSTD_freeDStream(unzstd->stream);
    free(unzstd->out);
    free(unzstd);
}

enum tg_class tg_unzstd_feed(struct tg_unzstd *unzstd, struct tg_span bytes,
                             const struct tg_inflate_target *target, struct tg_error *err)
{
    ZSTD_inBuffer in = {bytes.ptr, bytes.len, 0};
    bool more = true;

    while (in.pos < in.size || more) {
        ZSTD_outBuffer out = {unzstd->out, unzstd->room, 0};

        unzstd->wanted = ZSTD_decompressStream(unzstd->stream, &out, &in);
        if (ZSTD_isError(unzstd->wanted))
            return tg_fail(err, TG_CLASS_INVALID, "bad_encoding",
                           "The request body is not what Content-Encoding says (%s).",
                           ZSTD_getErrorName(unzstd->wanted));
        if (out.pos > 0 && !target->sink(target->context, unzstd->out, out.pos))
            return TG_OK;
        more = out.pos == out.size; /* a full buffer: more may wait inside */
    }
    return TG_OK;
}

bool tg_unzstd_is_whole(const struct tg_unzstd *unzstd)
{
    return unzstd->wanted == 0;
}
