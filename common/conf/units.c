#include "common/conf/units.h"

#include <arpa/inet.h>
#include <string.h>

struct unit {
    const char *name;
    int64_t factor;
};

static bool read_number(const char **text, int64_t *ret)
{
    const char *at = *text;
    int64_t number = 0;

    for (; *at >= '0' && *at <= '9'; at++)
        if (__builtin_mul_overflow(number, INT64_C(10), &number) ||
            __builtin_add_overflow(number, (int64_t)(*at - '0'), &number))
            return false;
    if (at == *text)
        return false;
    *text = at;
    *ret = number;
    return true;
}

static bool read_with_unit(const char *text, const struct unit *units, size_t count, int64_t *ret)
{
    int64_t number;

    if (!read_number(&text, &number))
        return false;
    if (number == 0 && *text == '\0') {
        *ret = 0;
        return true;
    }
    for (size_t i = 0; i < count; i++)
        if (strcmp(text, units[i].name) == 0)
            return !__builtin_mul_overflow(number, units[i].factor, ret);
    return false;
}

bool tg_duration_parse(const char *text, int64_t *ret_us)
{
    static const struct unit units[] = {
        {"us", 1},
        {"ms", 1000},
        {"s", 1000000},
        {"m", INT64_C(60) * 1000000},
        {"h", INT64_C(3600) * 1000000},
        {"d", INT64_C(86400) * 1000000},
    };
    int64_t us;

    if (!read_with_unit(text, units, TG_COUNT_OF(units), &us))
        return false;
    *ret_us = us;
    return true;
}

bool tg_size_parse(const char *text, int64_t *ret_bytes)
{
    /* KB and MB mean different sizes to different people: they are no units here. */
    static const struct unit units[] = {
        {"", 1},
        {"B", 1},
        {"KiB", INT64_C(1) << 10},
        {"MiB", INT64_C(1) << 20},
        {"GiB", INT64_C(1) << 30},
        {"TiB", INT64_C(1) << 40},
    };
    int64_t bytes;

    if (!read_with_unit(text, units, TG_COUNT_OF(units), &bytes))
        return false;
    *ret_bytes = bytes;
    return true;
}

static bool is_separator(char c)
{
    return c == ',' || c == ' ' || c == '\t';
}

/* The next word of a list; false at its end. */
static bool next_word(const char **text, struct tg_span *ret)
{
    const char *at = *text;

    while (is_separator(*at))
        at++;
    ret->ptr = at;
    while (*at != '\0' && !is_separator(*at))
        at++;
    ret->len = (size_t)(at - ret->ptr);
    *text = at;
    return ret->len > 0;
}

enum { STATUS_LEAST = 100, STATUS_MOST = 599 };

/* "429" or "500-503". */
static bool read_range(struct tg_span word, int64_t *from, int64_t *to)
{
    const char *at = word.ptr;

    if (!read_number(&at, from))
        return false;
    *to = *from;
    if (*at == '-') {
        at++;
        if (!read_number(&at, to))
            return false;
    }
    return at == word.ptr + word.len && *from >= STATUS_LEAST && *to <= STATUS_MOST && *from <= *to;
}

bool tg_status_ranges_parse(const char *text, struct tg_status_ranges *ret)
{
    bool has[STATUS_MOST + 2] = {false};
    struct tg_status_ranges ranges = {.count = 0};
    struct tg_span word;
    int64_t from, to;

    while (next_word(&text, &word)) {
        if (!read_range(word, &from, &to))
            return false;
        memset(has + from, true, (size_t)(to - from + 1));
    }
    for (int status = STATUS_LEAST; status <= STATUS_MOST; status++) {
        if (!has[status])
            continue;
        if (ranges.count == TG_COUNT_OF(ranges.from))
            return false;
        ranges.from[ranges.count] = (uint16_t)status;
        while (has[status + 1])
            status++;
        ranges.to[ranges.count++] = (uint16_t)status;
    }
    *ret = ranges;
    return true;
}

bool tg_status_ranges_has(const struct tg_status_ranges *ranges, int status)
{
    for (size_t i = 0; i < ranges->count; i++)
        if (status >= ranges->from[i] && status <= ranges->to[i])
            return true;
    return false;
}

/* Reads an address and says how many bits it has: 32 or 128. */
static bool read_address(struct tg_span text, struct tg_address *ret, int *ret_bits)
{
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
    char copy[INET6_ADDRSTRLEN];
    bool bracketed = text.len >= 2 && text.ptr[0] == '[' && text.ptr[text.len - 1] == ']';

    if (bracketed) {
        text.ptr++;
        text.len -= 2;
    }
    if (text.len >= sizeof copy)
        return false;
    memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';
    if (!bracketed && inet_pton(AF_INET, copy, ret->bytes + 12) == 1) {
        memcpy(ret->bytes, mapped, sizeof mapped);
        *ret_bits = 32;
        return true;
    }
    *ret_bits = 128;
    return inet_pton(AF_INET6, copy, ret->bytes) == 1;
}

bool tg_address_parse(const char *text, struct tg_address *ret)
{
    struct tg_address address;
    int bits;

    if (!read_address((struct tg_span){text, strlen(text)}, &address, &bits))
        return false;
    *ret = address;
    return true;
}

static bool bit_of(const struct tg_address *address, unsigned i)
{
    return address->bytes[i / 8] >> (7 - i % 8) & 1;
}

static bool read_cidr(struct tg_span word, struct tg_cidr *ret)
{
    const char *slash = memchr(word.ptr, '/', word.len);
    size_t address_len = slash != NULL ? (size_t)(slash - word.ptr) : word.len;
    struct tg_cidr cidr;
    int64_t prefix_len;
    int bits;

    if (!read_address((struct tg_span){word.ptr, address_len}, &cidr.base, &bits))
        return false;
    prefix_len = bits;
    if (slash != NULL) {
        slash++;
        if (!read_number(&slash, &prefix_len) || slash != word.ptr + word.len || prefix_len > bits)
            return false;
    }
    cidr.prefix_len = (uint8_t)(128 - bits + prefix_len);
    /* "10.1.2.3/8" is one address or a network: in a list of who may pass, nobody guesses. */
    for (unsigned i = cidr.prefix_len; i < 128; i++)
        if (bit_of(&cidr.base, i))
            return false;
    *ret = cidr;
    return true;
}

bool tg_cidr_parse(const char *text, struct tg_cidr *ret)
{
    return read_cidr((struct tg_span){text, strlen(text)}, ret);
}

enum tg_class tg_cidrs_parse(struct tg_arena *arena, const char *text, struct tg_cidr **ret,
                             size_t *ret_count, struct tg_error *err)
{
    const char *at = text;
    struct tg_cidr *list;
    struct tg_span word;
    size_t count = 0;

    while (next_word(&at, &word))
        count++;
    list = tg_arena_calloc(arena, count > 0 ? count : 1, sizeof *list);
    for (at = text, count = 0; next_word(&at, &word); count++)
        if (!read_cidr(word, &list[count]))
            return tg_fail(err, TG_CLASS_INVALID, "invalid_cidr",
                           "\"%.*s\" is no network like 10.0.0.0/8 or 2001:db8::/32",
                           (int)TG_MIN(word.len, (size_t)60), word.ptr);
    *ret = list;
    *ret_count = count;
    return TG_OK;
}

static bool in_network(const struct tg_cidr *cidr, const struct tg_address *address)
{
    size_t whole = cidr->prefix_len / 8;
    unsigned rest = cidr->prefix_len % 8;

    if (memcmp(cidr->base.bytes, address->bytes, whole) != 0)
        return false;
    return rest == 0 || (cidr->base.bytes[whole] ^ address->bytes[whole]) >> (8 - rest) == 0;
}

bool tg_cidrs_match(const struct tg_cidr *list, size_t count, const struct tg_address *address)
{
    for (size_t i = 0; i < count; i++)
        if (in_network(&list[i], address))
            return true;
    return false;
}
