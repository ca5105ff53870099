#include "fcgi-app/count/image.h"

#include <string.h>
#include <strings.h>

static int digit_of(unsigned char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    if (c == '+' || c == '-')
        return 62;
    return c == '/' || c == '_' ? 63 : -1;
}

/* Byte <at> of what the base64 text stands for, -1 beyond its end. */
static int byte_at(struct tg_span data, size_t at)
{
    const size_t first = at / 3 * 4 + at % 3;
    int high, low;

    if (first + 1 >= data.len)
        return -1;
    high = digit_of((unsigned char)data.ptr[first]);
    low = digit_of((unsigned char)data.ptr[first + 1]);
    if (high < 0 || low < 0)
        return -1;
    switch (at % 3) {
    case 0:
        return high << 2 | low >> 4;
    case 1:
        return (high & 15) << 4 | low >> 2;
    default:
        return (high & 3) << 6 | low;
    }
}

static bool has(struct tg_span data, size_t at, const char *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (byte_at(data, at + i) != (unsigned char)bytes[i])
            return false;
    return true;
}

/* <count> bytes as a number, the first one highest; -1 when they are not all there. */
static int64_t number_at(struct tg_span data, size_t at, size_t count)
{
    int64_t number = 0;

    for (size_t i = 0; i < count; i++) {
        int byte = byte_at(data, at + i);

        if (byte < 0)
            return -1;
        number = number << 8 | byte;
    }
    return number;
}

static int64_t little_at(struct tg_span data, size_t at, size_t count)
{
    int64_t number = 0;

    for (size_t i = count; i-- > 0;) {
        int byte = byte_at(data, at + i);

        if (byte < 0)
            return -1;
        number = number << 8 | byte;
    }
    return number;
}

static bool give(int64_t width, int64_t height, struct tg_image_size *ret)
{
    if (width <= 0 || height <= 0 || width > INT32_MAX || height > INT32_MAX)
        return false;
    *ret = (struct tg_image_size){width, height};
    return true;
}

static bool webp_size(struct tg_span data, struct tg_image_size *ret)
{
    if (has(data, 12, "VP8 ", 4))
        return give(little_at(data, 26, 2) & 0x3fff, little_at(data, 28, 2) & 0x3fff, ret);
    if (has(data, 12, "VP8X", 4))
        return give(little_at(data, 24, 3) + 1, little_at(data, 27, 3) + 1, ret);
    if (has(data, 12, "VP8L\0", 4) && byte_at(data, 20) == 0x2f) {
        int64_t bits = little_at(data, 21, 4);

        return bits >= 0 && give((bits & 0x3fff) + 1, (bits >> 14 & 0x3fff) + 1, ret);
    }
    return false;
}

/* Segments are walked over until the frame header, which is any of C0 to CF but three. */
static bool jpeg_size(struct tg_span data, struct tg_image_size *ret)
{
    size_t at = 2;

    while (byte_at(data, at) == 0xff) {
        int marker = byte_at(data, at + 1);
        int64_t len = number_at(data, at + 2, 2);

        if (marker == 0xff) { /* a fill byte */
            at++;
            continue;
        }
        if (marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc)
            return give(number_at(data, at + 7, 2), number_at(data, at + 5, 2), ret);
        if (len < 2)
            return false;
        at += 2 + (size_t)len;
    }
    return false;
}

bool tg_image_size(struct tg_span data, struct tg_image_size *ret)
{
    if (has(data, 0, "\x89PNG\r\n\x1a\n", 8))
        return give(number_at(data, 16, 4), number_at(data, 20, 4), ret);
    if (has(data, 0, "GIF8", 4))
        return give(little_at(data, 6, 2), little_at(data, 8, 2), ret);
    if (has(data, 0, "RIFF", 4) && has(data, 8, "WEBP", 4))
        return webp_size(data, ret);
    return has(data, 0, "\xff\xd8", 2) && jpeg_size(data, ret);
}

bool tg_image_size_of_url(struct tg_span url, struct tg_image_size *ret)
{
    const char *comma;

    if (url.len < 5 || strncasecmp(url.ptr, "data:", 5) != 0)
        return false;
    comma = memchr(url.ptr, ',', TG_MIN(url.len, (size_t)256));
    if (comma == NULL || comma - url.ptr < 7 || memcmp(comma - 7, ";base64", 7) != 0)
        return false;
    comma++;
    return tg_image_size((struct tg_span){comma, url.len - (size_t)(comma - url.ptr)}, ret);
}
