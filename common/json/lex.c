#include "common/json/lex.h"

#include <string.h>

static bool is_continuation(char c)
{
    return ((unsigned char)c & 0xC0) == 0x80;
}

size_t tg_utf8_len(const char *text, size_t len)
{
    const unsigned char *at = (const unsigned char *)text;
    unsigned char least = 0x80, most = 0xBF; /* of the second byte: RFC 3629 section 4 */
    size_t need;

    if (len == 0)
        return 0;
    if (at[0] < 0x80)
        return 1;
    if (at[0] < 0xC2 || at[0] > 0xF4)
        return 0;
    need = at[0] < 0xE0 ? 2 : at[0] < 0xF0 ? 3 : 4;
    if (at[0] == 0xE0)
        least = 0xA0;
    else if (at[0] == 0xED)
        most = 0x9F;
    else if (at[0] == 0xF0)
        least = 0x90;
    else if (at[0] == 0xF4)
        most = 0x8F;
    if (len < need || at[1] < least || at[1] > most)
        return 0;
    for (size_t i = 2; i < need; i++)
        if (!is_continuation(text[i]))
            return 0;
    return need;
}

static size_t utf8_write(uint32_t code, char out[4])
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        out[0] = (char)(0xC0 | code >> 6);
        out[1] = (char)(0x80 | (code & 0x3F));
        return 2;
    }
    if (code < 0x10000) {
        out[0] = (char)(0xE0 | code >> 12);
        out[1] = (char)(0x80 | (code >> 6 & 0x3F));
        out[2] = (char)(0x80 | (code & 0x3F));
        return 3;
    }
    out[0] = (char)(0xF0 | code >> 18);
    out[1] = (char)(0x80 | (code >> 12 & 0x3F));
    out[2] = (char)(0x80 | (code >> 6 & 0x3F));
    out[3] = (char)(0x80 | (code & 0x3F));
    return 4;
}

/* The four hex digits behind "\u" at <text>. */
static bool read_unit(const char *text, size_t len, uint32_t *ret)
{
    uint32_t unit = 0;

    if (len < 6 || text[0] != '\\' || text[1] != 'u')
        return false;
    for (size_t i = 2; i < 6; i++) {
        char c = text[i];

        if (tg_json_is_digit(c))
            unit = unit << 4 | (uint32_t)(c - '0');
        else if ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'))
            unit = unit << 4 | (uint32_t)((c | 0x20) - 'a' + 10);
        else
            return false;
    }
    *ret = unit;
    return true;
}

static const char *read_unicode_escape(const char *text, size_t len, struct tg_json_char *ret)
{
    uint32_t unit, low;

    if (!read_unit(text, len, &unit))
        return "bad \\u escape";
    ret->used = 6;
    if (unit >= 0xDC00 && unit <= 0xDFFF)
        return "lone surrogate";
    if (unit >= 0xD800 && unit <= 0xDBFF) {
        if (!read_unit(text + 6, len - 6, &low) || low < 0xDC00 || low > 0xDFFF)
            return "lone surrogate";
        unit = 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
        ret->used = 12;
    }
    ret->len = utf8_write(unit, ret->bytes);
    return NULL;
}

static const char *read_escape(const char *text, size_t len, struct tg_json_char *ret)
{
    static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    const char *found;

    if (len < 2)
        return "string without end";
    if (text[1] == 'u')
        return read_unicode_escape(text, len, ret);
    found = text[1] != '\0' ? strchr(names, text[1]) : NULL;
    if (found == NULL)
        return "unknown escape";
    ret->bytes[0] = values[found - names];
    ret->len = 1;
    ret->used = 2;
    return NULL;
}

const char *tg_json_char_at(const char *text, size_t len, struct tg_json_char *ret)
{
    if (len == 0)
        return "string without end";
    if ((unsigned char)text[0] < 0x20)
        return "control character in a string";
    if (text[0] == '\\')
        return read_escape(text, len, ret);
    ret->len = ret->used = tg_utf8_len(text, len);
    if (ret->len == 0)
        return "bad UTF-8";
    memcpy(ret->bytes, text, ret->len);
    return NULL;
}

static size_t digits_len(const char *text, size_t len)
{
    size_t count = 0;

    while (count < len && tg_json_is_digit(text[count]))
        count++;
    return count;
}

size_t tg_json_number_len(const char *text, size_t len, bool *ret_is_integer)
{
    size_t at = len > 0 && text[0] == '-', digits = digits_len(text + at, len - at);

    if (digits == 0 || (digits > 1 && text[at] == '0'))
        return 0;
    at += digits;
    *ret_is_integer = true;
    if (at < len && text[at] == '.') {
        digits = digits_len(text + at + 1, len - at - 1);
        if (digits == 0)
            return 0;
        at += 1 + digits;
        *ret_is_integer = false;
    }
    if (at < len && (text[at] == 'e' || text[at] == 'E')) {
        at++;
        at += at < len && (text[at] == '+' || text[at] == '-');
        digits = digits_len(text + at, len - at);
        if (digits == 0)
            return 0;
        at += digits;
        *ret_is_integer = false;
    }
    return at;
}

bool tg_json_integer_fits(const char *text, size_t len)
{
    static const char most_negative[] = "9223372036854775808";
    static const char most_positive[] = "18446744073709551615";
    bool negative = len > 0 && text[0] == '-';
    const char *limit = negative ? most_negative : most_positive;
    size_t limit_len = strlen(limit);

    text += negative;
    len -= negative;
    return len < limit_len || (len == limit_len && memcmp(text, limit, len) <= 0);
}
