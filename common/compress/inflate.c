#include "common/compress/inflate.h"

#include "common/base/memory.h"
#include "common/compress/zstd.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <zlib.h>

enum { CHUNK = 32 * 1024, WINDOW_ZLIB = 15, WINDOW_GZIP = 15 + 16, WINDOW_BARE = -15 };

struct tg_inflate {
    enum tg_encoding encoding;
    bool started, ended;
    z_stream zlib;
    struct tg_unzstd *zstd;
    unsigned char first; /* of deflate's two that tell the wrapping */
    bool has_first;
    unsigned char out[CHUNK];
};

bool tg_encoding_parse(const char *text, enum tg_encoding *ret)
{
    static const struct {
        const char *word;
        enum tg_encoding encoding;
    } words[] = {
        {"", TG_ENCODING_IDENTITY},    {"identity", TG_ENCODING_IDENTITY},
        {"gzip", TG_ENCODING_GZIP},    {"x-gzip", TG_ENCODING_GZIP},
        {"deflate", TG_ENCODING_DEFLATE}, {"zstd", TG_ENCODING_ZSTD},
    };

    for (size_t i = 0; i < TG_COUNT_OF(words); i++)
        if (strcasecmp(words[i].word, text) == 0) {
            *ret = words[i].encoding;
            return true;
        }
    return false;
}

static void start(struct tg_inflate *inflate, int window)
{
    tg_assert(inflateInit2(&inflate->zlib, window) == Z_OK);
    inflate->started = true;
}

struct tg_inflate *tg_inflate_new(enum tg_encoding encoding)
{
    struct tg_inflate *inflate = tg_calloc(1, sizeof *inflate);

    tg_assert(encoding != TG_ENCODING_IDENTITY);
    inflate->encoding = encoding;
    if (encoding == TG_ENCODING_ZSTD)
        inflate->zstd = tg_unzstd_new();
    else if (encoding == TG_ENCODING_GZIP)
        start(inflate, WINDOW_GZIP);
    return inflate;
}

void tg_inflate_free(struct tg_inflate *inflate)
{
    if (inflate == NULL)
        return;
    if (inflate->started)
        inflateEnd(&inflate->zlib);
    tg_unzstd_free(inflate->zstd);
    free(inflate);
}

static enum tg_class bad(struct tg_error *err, const char *why)
{
    return tg_fail(err, TG_CLASS_INVALID, "bad_encoding",
                   "The request body is not what Content-Encoding says (%s).", why);
}

static enum tg_class feed_zlib(struct tg_inflate *state, struct tg_span bytes,
                               const struct tg_inflate_target *target, struct tg_error *err)
{
    z_stream *zlib = &state->zlib;

    tg_assert(bytes.len <= UINT_MAX);
    zlib->next_in = (z_const Bytef *)(uintptr_t)bytes.ptr;
    zlib->avail_in = (uInt)bytes.len;
    for (;;) {
        int answer;
        size_t made;

        if (state->ended && zlib->avail_in > 0) {
            if (state->encoding != TG_ENCODING_GZIP)
                return bad(err, "bytes behind its end");
            tg_assert(inflateReset(zlib) == Z_OK); /* members may follow (RFC 1952 2.2) */
            state->ended = false;
        }
        zlib->next_out = state->out;
        zlib->avail_out = CHUNK;
        answer = state->ended ? Z_BUF_ERROR : inflate(zlib, Z_NO_FLUSH);
        if (answer != Z_OK && answer != Z_STREAM_END && answer != Z_BUF_ERROR)
            return bad(err, zlib->msg != NULL ? zlib->msg : "broken");
        made = CHUNK - zlib->avail_out;
        if (made > 0 && !target->sink(target->context, state->out, made))
            return TG_OK;
        state->ended = state->ended || answer == Z_STREAM_END;
        if (zlib->avail_in == 0 && (zlib->avail_out > 0 || state->ended))
            return TG_OK;
    }
}

/* Two bytes tell zlib's wrapping (RFC 1950 2.2) from bare deflate. */
static bool looks_wrapped(unsigned char a, unsigned char b)
{
    return (a & 0x0f) == 8 && (a * 256 + b) % 31 == 0;
}

static enum tg_class feed_deflate(struct tg_inflate *inflate, struct tg_span bytes,
                                  const struct tg_inflate_target *target, struct tg_error *err)
{
    const struct tg_span first = {(const char *)&inflate->first, 1};
    enum tg_class class;

    if (inflate->started)
        return feed_zlib(inflate, bytes, target, err);
    if (!inflate->has_first) {
        inflate->first = (unsigned char)bytes.ptr[0];
        inflate->has_first = true;
        bytes.ptr++;
        bytes.len--;
    }
    if (bytes.len == 0)
        return TG_OK;
    start(inflate, looks_wrapped(inflate->first, (unsigned char)bytes.ptr[0]) ? WINDOW_ZLIB
                                                                              : WINDOW_BARE);
    class = feed_zlib(inflate, first, target, err);
    return class == TG_OK ? feed_zlib(inflate, bytes, target, err) : class;
}

enum tg_class tg_inflate_feed(struct tg_inflate *inflate, struct tg_span bytes,
                              const struct tg_inflate_target *target, struct tg_error *err)
{
    if (bytes.len == 0)
        return TG_OK;
    if (inflate->encoding == TG_ENCODING_ZSTD)
        return tg_unzstd_feed(inflate->zstd, bytes, target, err);
    if (inflate->encoding == TG_ENCODING_DEFLATE)
        return feed_deflate(inflate, bytes, target, err);
    return feed_zlib(inflate, bytes, target, err);
}

bool tg_inflate_is_whole(const struct tg_inflate *inflate)
{
    return inflate->encoding == TG_ENCODING_ZSTD ? tg_unzstd_is_whole(inflate->zstd)
                                                 : inflate->ended;
}
