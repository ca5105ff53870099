/* lex - the words of JSON: one UTF-8 sequence, one character of a string, one number.
 *
 * Shared by the gate, the finder and the writer; nobody else needs it.
 *
 * Pure.  Threads  any.  Blocks  no.
 * Source: RFC 8259 6 and 7, RFC 3629 4.
 */
#ifndef TOLLGATE_JSON_LEX_H
#define TOLLGATE_JSON_LEX_H

#include "common/base/base.h"

#include <string.h>

/* Bytes of the well-formed UTF-8 sequence at <text> (1..4), 0 when there is none: overlong forms,
 * surrogates and what lies beyond U+10FFFF are not well-formed. */
size_t tg_utf8_len(const char *text, size_t len) non_null(1);

/* One character inside a string's quotes, unescaped. */
struct tg_json_char {
    char bytes[4];
    size_t len;  /* of <bytes> */
    size_t used; /* bytes of the text that it took */
};
/* Returns NULL when the character is well-formed, else what is wrong with it. The closing quote
 * is no character: callers look for it first. */
const char *tg_json_char_at(const char *text, size_t len, struct tg_json_char *ret) must_check
    non_null(1, 3);

/* Bytes of the number at <text>; 0 when it is none. */
size_t tg_json_number_len(const char *text, size_t len, bool *ret_is_integer) must_check
    non_null(1, 3);
/* Whether an integer's digits fit int64 or uint64. */
bool tg_json_integer_fits(const char *text, size_t len) must_check non_null(1);

static inline bool tg_json_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Stands in a string as it is: ASCII without controls, quote and backslash. */
static inline bool tg_json_is_plain(char c)
{
    return (unsigned char)c >= 0x20 && (unsigned char)c < 0x80 && c != '"' && c != '\\';
}

/* Has a byte of <word> its highest bit set, or is one below 0x20, a quote or a backslash? May say
 * yes for a word of plain bytes, never no for another. */
static inline bool tg_json_word_is_odd(uint64_t word)
{
    const uint64_t ones = UINT64_C(0x0101010101010101), highs = ones << 7;
    const uint64_t quotes = word ^ (ones * '"'), backslashes = word ^ (ones * '\\');

    return ((word | (word - ones * 0x20) | (quotes - ones) | (backslashes - ones)) & highs) != 0;
}

/* How many of the first bytes are plain. */
static inline size_t tg_json_plain_run(const char *text, size_t len)
{
    size_t at = 0;
    uint64_t word;

    for (; at + sizeof word <= len; at += sizeof word) {
        memcpy(&word, text + at, sizeof word);
        if (tg_json_word_is_odd(word))
            break;
    }
    while (at < len && tg_json_is_plain(text[at]))
        at++;
    return at;
}

static inline bool tg_json_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

#endif
