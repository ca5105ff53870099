#include "common/compress/unzstd.h"

#include "common/base/memory.h"

#include <stdlib.h>
#include <zstd.h>

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
