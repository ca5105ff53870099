#include "fcgi-app/convert/envelope.h"

#include "common/json/lex.h"

#include <string.h>

static const char *const origins[TG_ORIGIN__COUNT] = {
    [TG_ORIGIN_NONE] = "none",   [TG_ORIGIN_CLAUDE] = "cla", [TG_ORIGIN_REDACTED] = "clr",
    [TG_ORIGIN_GEMINI] = "gem",  [TG_ORIGIN_OPENAI] = "oai",
};
static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/* base64url without padding (RFC 4648 5). */
static void encode(struct tg_span bytes, struct tg_buf *out)
{
    uint32_t word = 0;
    int bits = 0;

    for (size_t i = 0; i < bytes.len; i++) {
        word = word << 8 | (unsigned char)bytes.ptr[i];
        for (bits += 8; bits >= 6; bits -= 6)
            tg_buf_char(out, letters[word >> (bits - 6) & 63]);
    }
    if (bits > 0)
        tg_buf_char(out, letters[word << (6 - bits) & 63]);
}

static bool decode(struct tg_span text, struct tg_buf *out)
{
    uint32_t word = 0;
    int bits = 0;

    for (size_t i = 0; i < text.len; i++) {
        const char *at = memchr(letters, text.ptr[i], sizeof letters - 1);

        if (at == NULL)
            return false;
        word = word << 6 | (uint32_t)(at - letters);
        bits += 6;
        if (bits >= 8) {
            bits -= 8;
            tg_buf_char(out, (char)(word >> bits & 255));
        }
    }
    return text.len % 4 != 1;
}

void tg_envelope_wrap(enum tg_origin origin, struct tg_span payload, struct tg_buf *out)
{
    tg_buf_str(out, "gw1.");
    tg_buf_str(out, origins[origin]);
    tg_buf_char(out, '.');
    encode(payload, out);
}

/* Every payload is text: what is none was not wrapped here, and must not reach a JSON string. */
static bool is_text(const char *at, size_t len)
{
    while (len > 0) {
        size_t step = tg_utf8_len(at, len);

        if (step == 0)
            return false;
        at += step;
        len -= step;
    }
    return true;
}

bool tg_envelope_unwrap(struct tg_span text, enum tg_origin *ret_origin, struct tg_buf *out)
{
    for (int i = 0; i < TG_ORIGIN__COUNT; i++) {
        size_t name = strlen(origins[i]), head = 4 + name + 1, before = out->len;

        if (text.len < head || memcmp(text.ptr, "gw1.", 4) != 0 ||
            memcmp(text.ptr + 4, origins[i], name) != 0 || text.ptr[head - 1] != '.')
            continue;
        if (decode((struct tg_span){text.ptr + head, text.len - head}, out)) {
            *ret_origin = (enum tg_origin)i;
            if (is_text(tg_buf_text(out) + before, out->len - before))
                return true;
            out->len = before;
            *ret_origin = TG_ORIGIN_NONE;
            return true;
        }
        out->len = before;
        return false;
    }
    return false;
}

bool tg_envelope_is(struct tg_span text)
{
    enum tg_origin origin;
    struct tg_buf payload;
    bool is;

    tg_buf_init(&payload, 0);
    is = tg_envelope_unwrap(text, &origin, &payload);
    tg_buf_done(&payload);
    return is;
}
