#include "fcgi-app/count/split.h"

/* --- patterns ------------------------------------------------------------------------------ */

/* Insides of character classes. tiktoken knows Unicode 16, PCRE2 10.42 does Unicode 14: what came
 * between them is named. tests/tokens compares the pieces of every code point. */
#define NEW_UPPER \
    "\\x{1C89}\\x{A7CB}-\\x{A7CC}\\x{A7DA}\\x{A7DC}\\x{10D50}-\\x{10D65}"
#define NEW_LOWER \
    "\\x{1C8A}\\x{A7CD}\\x{A7DB}\\x{10D70}-\\x{10D85}\\x{1DF25}-\\x{1DF2A}"
#define NEW_MODIFIER \
    "\\x{10D4E}\\x{10D6F}\\x{16D40}-\\x{16D42}\\x{16D6B}-\\x{16D6C}" \
    "\\x{1E030}-\\x{1E06D}\\x{1E4EB}"
#define NEW_OTHER \
    "\\x{105C0}-\\x{105F3}\\x{10D4A}-\\x{10D4D}\\x{10D4F}\\x{10EC2}-\\x{10EC4}" \
    "\\x{1123F}-\\x{11240}\\x{11380}-\\x{11389}\\x{1138B}\\x{1138E}" \
    "\\x{11390}-\\x{113B5}\\x{113B7}\\x{113D1}\\x{113D3}\\x{11BC0}-\\x{11BE0}" \
    "\\x{11F02}\\x{11F04}-\\x{11F10}\\x{11F12}-\\x{11F33}\\x{1342F}" \
    "\\x{13441}-\\x{13446}\\x{13460}-\\x{143FA}\\x{16100}-\\x{1611D}" \
    "\\x{16D43}-\\x{16D6A}\\x{18CFF}\\x{1B132}\\x{1B155}\\x{1E4D0}-\\x{1E4EA}" \
    "\\x{1E5D0}-\\x{1E5ED}\\x{1E5F0}\\x{2B739}\\x{2EBF0}-\\x{2EE5D}" \
    "\\x{31350}-\\x{323AF}"
#define NEW_MARK \
    "\\x{897}\\x{CF3}\\x{ECE}\\x{10D69}-\\x{10D6D}\\x{10EFC}-\\x{10EFF}\\x{11241}" \
    "\\x{113B8}-\\x{113C0}\\x{113C2}\\x{113C5}\\x{113C7}-\\x{113CA}" \
    "\\x{113CC}-\\x{113D0}\\x{113D2}\\x{113E1}-\\x{113E2}\\x{11F00}-\\x{11F01}" \
    "\\x{11F03}\\x{11F34}-\\x{11F3A}\\x{11F3E}-\\x{11F42}\\x{11F5A}\\x{13440}" \
    "\\x{13447}-\\x{13455}\\x{1611E}-\\x{1612F}\\x{1E08F}\\x{1E4EC}-\\x{1E4EF}" \
    "\\x{1E5EE}-\\x{1E5EF}"
#define NEW_NUMBER \
    "\\x{10D40}-\\x{10D49}\\x{116D0}-\\x{116E3}\\x{11BF0}-\\x{11BF9}" \
    "\\x{11F50}-\\x{11F59}\\x{16130}-\\x{16139}\\x{16D70}-\\x{16D79}" \
    "\\x{1CCF0}-\\x{1CCF9}\\x{1D2C0}-\\x{1D2D3}\\x{1E4F0}-\\x{1E4F9}" \
    "\\x{1E5F1}-\\x{1E5FA}"
#define LETTER "\\p{L}" NEW_UPPER NEW_LOWER NEW_MODIFIER NEW_OTHER
#define NUMBER "\\p{N}" NEW_NUMBER
#define BOTH "\\p{Lm}\\p{Lo}\\p{M}" NEW_MODIFIER NEW_OTHER NEW_MARK
#define HEAD "[\\p{Lu}\\p{Lt}" NEW_UPPER BOTH "]"
#define TAIL "[\\p{Ll}" NEW_LOWER BOTH "]"
#define SPACE "\\t-\\r \\x{85}\\p{Z}" /* PCRE2's \s would take U+180E as well */
#define ENDING "(?i:'s|'t|'re|'ve|'m|'ll|'d)?"

static const char *const patterns[] = {
    [TG_SPLIT_CL100K] =
        "'(?i:[sdmt]|ll|ve|re)|[^\\r\\n" LETTER NUMBER "]?+[" LETTER "]++|[" NUMBER "]{1,3}+"
        "| ?[^" SPACE LETTER NUMBER "]++[\\r\\n]*+|[" SPACE "]++$|[" SPACE "]*[\\r\\n]"
        "|[" SPACE "]+(?![^" SPACE "])|[" SPACE "]",
    [TG_SPLIT_O200K] =
        "[^\\r\\n" LETTER NUMBER "]?" HEAD "*" TAIL "+" ENDING
        "|[^\\r\\n" LETTER NUMBER "]?" HEAD "+" TAIL "*" ENDING
        "|[" NUMBER "]{1,3}| ?[^" SPACE LETTER NUMBER "]+[\\r\\n/]*|[" SPACE "]*[\\r\\n]+"
        "|[" SPACE "]+(?![^" SPACE "])|[" SPACE "]+",
};

const char *tg_split_pattern(enum tg_split_rules rules)
{
    return patterns[rules];
}

/* --- by hand ------------------------------------------------------------------------------- */

enum kind {
    UPPER = 1,
    LOWER = 2,
    DIGIT = 4,
    BLANK = 8, /* less line ends */
    LINE_END = 16,
    OTHER = 32, /* punctuation and controls */
    SLASH = 64,
    BEYOND = 128 /* not ASCII */
};

static const unsigned char kinds[256] = {
    [0 ... '\b'] = OTHER,
    ['\t'] = BLANK,
    ['\n'] = LINE_END,
    ['\v' ... '\f'] = BLANK,
    ['\r'] = LINE_END,
    ['\r' + 1 ... ' ' - 1] = OTHER,
    [' '] = BLANK,
    [' ' + 1 ... '/' - 1] = OTHER,
    ['/'] = OTHER | SLASH,
    ['0' ... '9'] = DIGIT,
    ['9' + 1 ... 'A' - 1] = OTHER,
    ['A' ... 'Z'] = UPPER,
    ['Z' + 1 ... 'a' - 1] = OTHER,
    ['a' ... 'z'] = LOWER,
    ['z' + 1 ... 127] = OTHER,
    [128 ... 255] = BEYOND,
};

enum { UNDECIDED = 0 };

struct text {
    const unsigned char *bytes;
    size_t len;
};

static inline bool is(struct text text, size_t at, unsigned wanted)
{
    return at < text.len && (kinds[text.bytes[at]] & wanted) != 0;
}

static inline size_t skip(struct text text, size_t at, unsigned wanted)
{
    while (is(text, at, wanted))
        at++;
    return at;
}

static inline bool is_letter(struct text text, size_t at, unsigned char letter)
{
    return at < text.len && (text.bytes[at] | 0x20) == letter;
}

/* Bytes of 's, 't, 're … at <at>, 0 for none. "'" beside a byte that is not ASCII is the caller's
 * to look at: a long s counts as one. */
static inline size_t ending(struct text text, size_t at)
{
    if (!is(text, at + 1, UPPER | LOWER))
        return 0;
    switch (text.bytes[at + 1] | 0x20) {
    case 's':
    case 't':
    case 'm':
    case 'd':
        return 2;
    case 'l':
        return is_letter(text, at + 2, 'l') ? 3 : 0;
    case 'v':
    case 'r':
        return is_letter(text, at + 2, 'e') ? 3 : 0;
    default:
        return 0;
    }
}

/* <at> is a letter. */
static inline size_t word_end(enum tg_split_rules rules, struct text text, size_t at)
{
    if (rules == TG_SPLIT_CL100K) {
        at = skip(text, at, UPPER | LOWER);
        return is(text, at, BEYOND) ? UNDECIDED : at;
    }
    at = skip(text, skip(text, at, UPPER), LOWER);
    if (is(text, at, BEYOND))
        return UNDECIDED;
    if (at == text.len || text.bytes[at] != '\'')
        return at;
    return is(text, at + 1, BEYOND) ? UNDECIDED : at + ending(text, at);
}

static inline size_t number_end(struct text text)
{
    size_t at = 1;

    while (at < 3 && is(text, at, DIGIT))
        at++;
    return at < 3 && is(text, at, BEYOND) ? UNDECIDED : at;
}

static inline size_t other_end(enum tg_split_rules rules, struct text text, size_t at)
{
    at = skip(text, at, OTHER);
    if (is(text, at, BEYOND))
        return UNDECIDED;
    return skip(text, at, rules == TG_SPLIT_CL100K ? LINE_END : LINE_END | SLASH);
}

static inline size_t blank_end(enum tg_split_rules rules, struct text text)
{
    size_t end = skip(text, 1, BLANK | LINE_END), line_end = end;

    if (is(text, end, BEYOND))
        return UNDECIDED;
    if (rules == TG_SPLIT_CL100K && end == text.len)
        return end;
    while (line_end > 0 && !is(text, line_end - 1, LINE_END))
        line_end--;
    if (line_end > 0)
        return line_end;
    /* The last blank belongs to the word behind it. */
    return end == text.len || end == 1 ? end : end - 1;
}

static inline size_t split(enum tg_split_rules rules, struct text text)
{
    unsigned kind = kinds[text.bytes[0]];

    if ((kind & (UPPER | LOWER)) != 0)
        return word_end(rules, text, 0);
    if ((kind & DIGIT) != 0)
        return number_end(text);
    if ((kind & (BLANK | OTHER)) != 0) {
        if (is(text, 1, BEYOND))
            return UNDECIDED;
        if (rules == TG_SPLIT_CL100K && text.bytes[0] == '\'' && ending(text, 0) != 0)
            return ending(text, 0);
        if (is(text, 1, UPPER | LOWER))
            return word_end(rules, text, 1);
    }
    if ((kind & OTHER) != 0)
        return other_end(rules, text, 1);
    if (text.bytes[0] == ' ' && is(text, 1, OTHER))
        return other_end(rules, text, 1);
    return (kind & BEYOND) != 0 ? UNDECIDED : blank_end(rules, text);
}

size_t tg_split_ascii(enum tg_split_rules rules, const unsigned char *text, size_t len)
{
    const struct text whole = {text, len};

    return rules == TG_SPLIT_CL100K ? split(TG_SPLIT_CL100K, whole) : split(TG_SPLIT_O200K, whole);
}
