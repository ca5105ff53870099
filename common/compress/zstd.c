#include "common/compress/zstd.h"

#include "common/base/memory.h"

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
