#include "common/http/address.h"

#include <string.h>

/* IPv4 ranges of the IANA special-purpose registry that no public server has, with multicast and
 * the reserved space above. */
static const struct {
    uint8_t base[4];
    uint8_t prefix_len;
} refused_v4[] = {
    {{0, 0, 0, 0}, 8},      /* this network, unspecified */
    {{10, 0, 0, 0}, 8},     /* private */
    {{100, 64, 0, 0}, 10},  /* carrier-grade NAT */
    {{127, 0, 0, 0}, 8},    /* loopback */
    {{169, 254, 0, 0}, 16}, /* link-local, cloud metadata */
    {{172, 16, 0, 0}, 12},  /* private */
    {{192, 0, 0, 0}, 24},   /* protocol assignments */
    {{192, 0, 2, 0}, 24},   /* documentation */
    {{192, 88, 99, 0}, 24}, /* 6to4 relays, withdrawn */
    {{192, 168, 0, 0}, 16}, /* private */
    {{198, 18, 0, 0}, 15},  /* benchmarking */
    {{198, 51, 100, 0}, 24}, /* documentation */
    {{203, 0, 113, 0}, 24}, /* documentation */
    {{224, 0, 0, 0}, 4},    /* multicast */
    {{240, 0, 0, 0}, 4},    /* reserved, broadcast */
};

/* Exceptions inside 2000::/3, the only IPv6 space that is public at all. */
static const struct {
    uint8_t base[8];
    uint8_t prefix_len;
} refused_v6[] = {
    {{0x20, 0x01, 0x00, 0x00}, 23}, /* protocol assignments: Teredo, ORCHID, benchmarking */
    {{0x20, 0x01, 0x0d, 0xb8}, 32}, /* documentation */
    {{0x3f, 0xff, 0x00, 0x00}, 20}, /* documentation */
};

static const uint8_t mapped_v4[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
static const uint8_t nat64[12] = {0x00, 0x64, 0xff, 0x9b};

static bool prefix_is(const uint8_t *bytes, const uint8_t *base, int prefix_len)
{
    int whole = prefix_len / 8, rest = prefix_len % 8;

    if (memcmp(bytes, base, (size_t)whole) != 0)
        return false;
    return rest == 0 || ((bytes[whole] ^ base[whole]) >> (8 - rest)) == 0;
}

static bool v4_is_public(const uint8_t *v4)
{
    for (size_t i = 0; i < TG_COUNT_OF(refused_v4); i++)
        if (prefix_is(v4, refused_v4[i].base, refused_v4[i].prefix_len))
            return false;
    return true;
}

static bool v6_is_public(const uint8_t *bytes)
{
    if ((bytes[0] & 0xe0) != 0x20)
        return false;
    for (size_t i = 0; i < TG_COUNT_OF(refused_v6); i++)
        if (prefix_is(bytes, refused_v6[i].base, refused_v6[i].prefix_len))
            return false;
    return true;
}

/* The IPv4 address that a packet to <bytes> ends at, NULL when it is plain IPv6. */
static const uint8_t *embedded_v4(const uint8_t *bytes)
{
    if (memcmp(bytes, mapped_v4, sizeof mapped_v4) == 0)
        return bytes + 12;
    if (memcmp(bytes, nat64, sizeof nat64) == 0)
        return bytes + 12;
    if (bytes[0] == 0x20 && bytes[1] == 0x02)
        return bytes + 2; /* 6to4 */
    return NULL;
}

bool tg_address_is_never_reached(const struct tg_address *address)
{
    static const struct {
        uint8_t base[4];
        uint8_t prefix_len;
    } never_v4[] = {
        {{0, 0, 0, 0}, 8},         /* connects to this machine */
        {{169, 254, 0, 0}, 16},    /* link-local, metadata */
        {{100, 100, 100, 200}, 32}, /* metadata in one cloud, inside carrier-grade NAT */
        {{224, 0, 0, 0}, 4},       /* multicast */
        {{255, 255, 255, 255}, 32},
    };
    static const uint8_t metadata_v6[16] = {0xfd, 0x00, 0x0e, 0xc2, [14] = 0x02, [15] = 0x54};
    static const uint8_t unspecified[16] = {0};
    const uint8_t *bytes = address->bytes, *v4 = embedded_v4(bytes);

    for (size_t i = 0; v4 != NULL && i < TG_COUNT_OF(never_v4); i++)
        if (prefix_is(v4, never_v4[i].base, never_v4[i].prefix_len))
            return true;
    return (bytes[0] == 0xfe && (bytes[1] & 0xc0) == 0x80) || bytes[0] == 0xff ||
           memcmp(bytes, metadata_v6, 16) == 0 || memcmp(bytes, unspecified, 16) == 0;
}

bool tg_address_may_reach(const struct tg_address *address, const struct tg_cidr *allow,
                          size_t allow_count)
{
    const uint8_t *v4 = embedded_v4(address->bytes);
    struct tg_address plain;

    if (tg_address_is_never_reached(address))
        return false;
    if (allow_count > 0 && tg_cidrs_match(allow, allow_count, address))
        return true;
    if (v4 == NULL)
        return v6_is_public(address->bytes);
    memcpy(plain.bytes, mapped_v4, sizeof mapped_v4);
    memcpy(plain.bytes + sizeof mapped_v4, v4, 4);
    return v4_is_public(v4) || (allow_count > 0 && tg_cidrs_match(allow, allow_count, &plain));
}
