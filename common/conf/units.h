/* units - texts with units, lists of ranges, CIDR lists. Pure.
 *
 * Threads  any.  Blocks  no.
 */
#ifndef TOLLGATE_CONF_UNITS_H
#define TOLLGATE_CONF_UNITS_H

#include "common/base/arena.h"
#include "common/base/error.h"

bool tg_duration_parse(const char *text, int64_t *ret_us) must_check non_null(1, 2);
bool tg_size_parse(const char *text, int64_t *ret_bytes) must_check non_null(1, 2);

/* "100-199, 429": merged, sorted; numbers 100..599. */
struct tg_status_ranges {
    uint16_t from[32], to[32];
    size_t count;
};
bool tg_status_ranges_parse(const char *text, struct tg_status_ranges *ret) must_check
    non_null(1, 2);
bool tg_status_ranges_has(const struct tg_status_ranges *ranges, int status) non_null(1);

/* A network: 16 bytes (v4 as ::ffff:a.b.c.d) and a prefix length of the 128 bits. */
struct tg_address {
    uint8_t bytes[16];
};
struct tg_cidr {
    struct tg_address base;
    uint8_t prefix_len; /* 0..128 */
};
/* "192.0.2.7", "2001:db8::1", with or without brackets; no port, no zone. */
bool tg_address_parse(const char *text, struct tg_address *ret) must_check non_null(1, 2);
bool tg_cidr_parse(const char *text, struct tg_cidr *ret) must_check non_null(1, 2);
/* Comma or blank separated; an empty text is an empty list. Owns: the arena. */
enum tg_class tg_cidrs_parse(struct tg_arena *arena, const char *text, struct tg_cidr **ret,
                             size_t *ret_count, struct tg_error *err) must_check
    non_null(1, 2, 3, 4);
bool tg_cidrs_match(const struct tg_cidr *list, size_t count, const struct tg_address *address)
    non_null(3);

#endif
